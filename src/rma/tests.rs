use super::*;
use crate::context::Default as World;
use crate::testing::{FakeJob, SLOT};
use oneshmem_job::error::Called::Blocking;
use proptest::prelude::*;

const R: Routine = &Blocking("test");

#[test]
fn put_and_get_move_bytes_to_and_from_the_pe_named() {
    let job = FakeJob::start(3);
    let source: Vec<u8> = (0..100).collect();
    put(R, World, job.array(3990, 100), source[..].into(), 2);
    assert_eq!(job.slot(2)[3990..4090], source[..]);
    assert!(job.slot(2)[..3990].iter().chain(&job.slot(2)[4090..]).all(|byte| *byte == 0));
    assert!(job.slot(0).iter().chain(&job.slot(1)).all(|byte| *byte == 0));

    let mut dest = [0xffu8; 102];
    get(R, World, (&mut dest[1..101]).into(), job.array(3990, 100), 2);
    assert_eq!(dest[1..101], source[..]);
    assert_eq!((dest[0], dest[101]), (0xff, 0xff));
}

#[test]
fn a_pe_reaches_itself() {
    let job = FakeJob::start(2);
    p(R, World, job.at::<u32>(8), 7, 0);
    assert_eq!(g(R, World, job.at::<u32>(8), 0), 7);
    assert_eq!((job.read::<u32>(0, 8), job.read::<u32>(1, 8)), (7, 0));
}

#[test]
fn single_elements_of_every_size_at_any_alignment() {
    fn both<T: Copy + PartialEq + std::fmt::Debug>(job: &FakeJob, offset: usize, value: T) {
        p(R, World, job.at::<T>(offset), value, 1);
        assert_eq!(job.read::<T>(1, offset), value);
        assert_eq!(g(R, World, job.at::<T>(offset), 1), value);
    }
    let job = FakeJob::start(2);
    for offset in [0, 1, 3, 4, 7, SLOT - 16] {
        both(&job, offset, 0xa5u8);
        both(&job, offset, -12345i16);
        both(&job, offset, f32::MIN_POSITIVE);
        both(&job, offset, i64::MIN + 1);
        both(&job, offset, u128::MAX / 3);
    }
}

#[test]
fn the_upper_half_of_the_argument_register_is_not_part_of_the_number() {
    assert_eq!(crate::translate::pe_number(0xdead_beef_0000_0003), 3);
    assert_eq!(crate::translate::pe_number(0xffff_ffff), -1);
}

/// The number of elements that `nblocks` blocks cover.
fn extent(stride: isize, bsize: usize, nblocks: usize) -> usize {
    (nblocks - 1) * stride as usize + bsize
}

/// Puts blocks with gaps of so many elements between them (there, here) and gets them back.
fn strided_forms_are_loops(gaps: (isize, isize), bsize: usize, nblocks: usize) {
    let (dst, sst) = (bsize as isize + gaps.0, bsize as isize + gaps.1);
    let job = FakeJob::start(2);
    let source: Vec<u16> = (1..=extent(sst, bsize, nblocks) as u16).collect();
    let mut expected = vec![0u16; extent(dst, bsize, nblocks)];
    for block in 0..nblocks {
        for i in 0..bsize {
            expected[block * dst as usize + i] = source[block * sst as usize + i];
        }
    }
    let at = job.array::<u16>(2, expected.len());
    if bsize == 1 {
        iput(R, World, at, source[..].into(), Blocks::elements(dst, sst, nblocks), 1);
    } else {
        iput(R, World, at, source[..].into(), Blocks::new(dst, sst, bsize, nblocks), 1);
    }
    let there: Vec<u16> = (0..expected.len()).map(|i| job.read(1, 2 + 2 * i)).collect();
    assert_eq!(&there, &expected);
    assert_eq!(job.read::<u16>(1, 2 + 2 * expected.len()), 0);

    // Back, with the strides exchanged: the gaps stay as they were.
    let mut back = vec![0u16; source.len()];
    if bsize == 1 {
        iget(R, World, back.as_mut_slice().into(), at, Blocks::elements(sst, dst, nblocks), 1);
    } else {
        iget(R, World, back.as_mut_slice().into(), at, Blocks::new(sst, dst, bsize, nblocks), 1);
    }
    for (i, value) in back.iter().enumerate() {
        let in_block = i % (sst as usize) < bsize;
        assert_eq!(*value, if in_block { source[i] } else { 0 });
    }
}

#[test]
fn one_element_is_one_block_without_gaps() {
    strided_forms_are_loops((0, 0), 1, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn strided_forms_are_the_naive_loops(
        gaps in (0isize..5, 0isize..5),
        bsize in 1usize..6,
        nblocks in 1usize..40,
    ) {
        strided_forms_are_loops(gaps, bsize, nblocks);
    }
}

/// That this many bytes, and no more, are in the piece of the slot that an offset is in.
fn has_room(job: &FakeJob, offset: usize, room: usize) {
    let address = job.at::<u8>(0).address().wrapping_add(offset);
    assert!(room == 0 || TABLE.has_room(address, room), "{room} from {offset}");
    assert!(!TABLE.has_room(address, room + 1), "{} from {offset}", room + 1);
}

#[test]
fn room_ends_with_the_segment() {
    let job = FakeJob::start(2);
    let half = SLOT / 2;
    for (offset, room) in [(0, half), (1, half - 1), (half - 1, 1), (half, half), (SLOT - 1, 1)] {
        has_room(&job, offset, room);
    }
    let start = job.at::<u8>(0).address();
    for outside in [0, start - 1, start + SLOT, start + SLOT + 1, usize::MAX] {
        has_room(&job, outside.wrapping_sub(start), 0);
    }
}

#[test]
fn room_ends_with_the_partition() {
    let half = SLOT / 2;
    let partitions = [half + 100..half + 500, half + 600..half + 700, half + 700..half + 800];
    let job = FakeJob::with_partitions(2, &partitions, half + 1000);
    for (offset, room) in [
        (0, half),
        (half - 1, 1),
        (half + 100, 400),
        (half + 499, 1),
        (half + 600, 100),
        (half + 699, 1),
        (half + 700, 100),
        (half + 799, 1),
        (half + 1000, half - 1000),
        (SLOT - 1, 1),
    ] {
        has_room(&job, offset, room);
    }
    for gap in [half, half + 99, half + 500, half + 599, half + 800, half + 999, SLOT] {
        has_room(&job, gap, 0);
    }
}

#[test]
fn a_transfer_may_end_with_the_last_byte() {
    let job = FakeJob::start(2);
    let source = [7u8; 3000];
    let (mut back, at) = ([0u8; 3000], job.array::<u8>(SLOT - 3000, 3000));
    put(R, World, at, source[..].into(), 1);
    get(R, World, back.as_mut_slice().into(), at, 1);
    iput(
        R,
        World,
        job.array(SLOT - 2999, 2999),
        source[..].into(),
        Blocks::elements(2, 1, 1500),
        1,
    );
    assert_eq!(back, source);
}

#[test]
fn operands_are_as_long_as_the_call_makes_them() {
    let job = FakeJob::start(2);
    let refused = |call: &dyn Fn()| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).expect_err("it is too short");
    };
    let source = [7u8; 5];
    refused(&|| put(R, World, job.array(64, 4), source[..].into(), 1));
    refused(&|| get(R, World, (&mut [0; 4][..]).into(), job.array(64, 5), 1));
    refused(&|| p(R, World, job.array(64, 0), 7u8, 1));
    refused(&|| iput(R, World, job.array(64, 8), source[..].into(), Blocks::elements(2, 1, 5), 1));
    refused(&|| iput(R, World, job.array(64, 9), source[..].into(), Blocks::elements(1, 2, 4), 1));
    refused(&|| {
        iget(R, World, (&mut [0u8; 6][..]).into(), job.array(64, 6), Blocks::new(4, 3, 3, 2), 1)
    });
    assert!(job.slot(1).iter().all(|byte| *byte == 0));
    iput(R, World, job.array(64, 9), source[..].into(), Blocks::elements(2, 1, 5), 1);
    assert_eq!(job.read::<[u8; 9]>(1, 64), [7, 0, 7, 0, 7, 0, 7, 0, 7]);
}
