use super::*;
use proptest::prelude::*;

const BYTES: usize = 1 << 20;

#[test]
fn blocks_are_aligned_and_do_not_overlap() {
    let mut heap = Heap::new(BYTES);
    let a = heap.allocate(1, 1).unwrap();
    let b = heap.allocate(100, 1).unwrap();
    let c = heap.allocate(300, 1).unwrap();
    let d = heap.allocate(PAGE_FROM, 1).unwrap();
    let e = heap.allocate(8, 1 << 16).unwrap();
    assert_eq!((a % GRANULE, b % GRANULE, c % LINE, d % PAGE, e % (1 << 16)), (0, 0, 0, 0, 0));
    assert_eq!(heap.size_of(b), Some(112));
    assert_eq!(heap.usage().blocks, 5);
}

#[test]
fn a_preferred_alignment_gives_way_when_room_is_short() {
    let mut heap = Heap::new(LINE_FROM + GRANULE);
    assert_eq!(heap.allocate(1, 1), Some(0));
    assert_eq!(heap.allocate(LINE_FROM, 1), Some(GRANULE));
    assert_eq!(heap.allocate(1, 1), None);
}

#[test]
fn a_demanded_alignment_does_not() {
    let mut heap = Heap::new(LINE_FROM + GRANULE);
    assert_eq!(heap.allocate(1, 1), Some(0));
    assert_eq!(heap.allocate(LINE_FROM, 128), None);
    assert_eq!(heap.allocate(GRANULE, 128), Some(128));
}

#[test]
fn the_fit_that_only_chance_offers_is_found() {
    let mut heap = Heap::new(4 * GRANULE);
    let blocks: Vec<_> = (0..4).map(|_| heap.allocate(1, 1).unwrap()).collect();
    heap.free(blocks[1]).unwrap();
    heap.free(blocks[2]).unwrap();
    // The gap is 16..48: only one place in it suits a block of 16 at a multiple of 32.
    assert_eq!(heap.allocate(GRANULE, 2 * GRANULE), Some(2 * GRANULE));
}

#[test]
fn a_freed_block_is_found_again() {
    let mut heap = Heap::new(BYTES);
    let blocks: Vec<_> = (0..4).map(|_| heap.allocate(LINE_FROM, 1).unwrap()).collect();
    heap.free(blocks[1]).unwrap();
    assert_eq!(heap.allocate(LINE_FROM, 1), Some(blocks[1]));
}

#[test]
fn exhaustion_is_an_answer_and_everything_comes_back() {
    let mut heap = Heap::new(BYTES);
    let mut blocks = Vec::new();
    while let Some(block) = heap.allocate(48, 1) {
        blocks.push(block);
    }
    assert_eq!(blocks.len(), BYTES / 48);
    assert_eq!(heap.usage().largest, BYTES % 48);
    for size in [BYTES, BYTES + 1, usize::MAX, usize::MAX - GRANULE] {
        assert_eq!(heap.allocate(size, 1), None);
    }
    // Free in an order that coalesces on both sides.
    for parity in [0, 1] {
        for block in blocks.iter().skip(parity).step_by(2) {
            assert_eq!(heap.free(*block), Ok(48));
        }
    }
    assert_eq!(heap.usage(), Usage { used: 0, free: BYTES, largest: BYTES, blocks: 0 });
    assert_eq!(heap.allocate(BYTES, 1), Some(0));
}

#[test]
fn garbage_is_not_freed() {
    let mut heap = Heap::new(BYTES);
    let a = heap.allocate(64, 1).unwrap();
    let b = heap.allocate(64, 1).unwrap();
    for garbage in [a + 1, a + 16, b - 16, BYTES, BYTES - 16, usize::MAX, 1 << 40] {
        assert_eq!(heap.free(garbage), Err(NotABlock));
        assert_eq!(heap.resize(garbage, 1), Err(NotABlock));
    }
    assert_eq!(heap.free(a), Ok(64));
    assert_eq!(heap.free(a), Err(NotABlock), "freed twice");
    assert_eq!(heap.nearest(a), Some((b, 64)));
    assert_eq!(heap.nearest(b + 63), Some((b, 64)));
    assert_eq!(heap.usage().used, 64);
}

#[test]
fn resizing_in_place_uses_and_leaves_the_gap_behind() {
    let mut heap = Heap::new(BYTES);
    let a = heap.allocate(64, 1).unwrap();
    let b = heap.allocate(64, 1).unwrap();
    let c = heap.allocate(64, 1).unwrap();
    assert_eq!(heap.resize(a, 65), Ok(false));
    heap.free(b).unwrap();
    assert_eq!(heap.resize(a, 129), Ok(false));
    assert_eq!(heap.resize(a, 128), Ok(true));
    assert_eq!(heap.size_of(a), Some(128));
    assert_eq!(heap.resize(a, 16), Ok(true));
    assert_eq!(heap.allocate(112, 1), Some(a + 16));
    assert_eq!(heap.resize(c, usize::MAX), Ok(false));
    assert_eq!(heap.resize(c, BYTES - c), Ok(true));
    assert_eq!(heap.usage().free, 0);
}

#[test]
fn a_heap_of_nothing_has_no_room() {
    let mut heap = Heap::new(GRANULE - 1);
    assert_eq!(heap.allocate(1, 1), None);
    assert_eq!(heap.usage(), Usage { used: 0, free: 0, largest: 0, blocks: 0 });
}

/// One call, with block numbers instead of offsets.
#[derive(Clone, Debug)]
enum Call {
    Allocate(usize, u32),
    Free(usize),
    Resize(usize, usize),
}

fn call() -> impl Strategy<Value = Call> {
    let size = || prop_oneof![1usize..64, 64usize..4096, 4096usize..400_000];
    prop_oneof![
        4 => (size(), 0u32..14).prop_map(|(size, shift)| Call::Allocate(size, shift)),
        3 => any::<usize>().prop_map(Call::Free),
        2 => (any::<usize>(), size()).prop_map(|(block, size)| Call::Resize(block, size)),
    ]
}

/// The model: one flag per granule. Slow, but plainly right.
struct Model(Vec<bool>);

impl Model {
    fn granules(start: usize, size: usize) -> std::ops::Range<usize> {
        start / GRANULE..(start + size) / GRANULE
    }
    fn set(&mut self, start: usize, size: usize, used: bool) {
        for granule in &mut self.0[Self::granules(start, size)] {
            assert_ne!(*granule, used, "{start:#x}+{size:#x}");
            *granule = used;
        }
    }
    /// Lengths of the gaps with their starts, in bytes.
    fn gaps(&self) -> Vec<(usize, usize)> {
        let mut gaps = Vec::new();
        let mut start = 0;
        for run in self.0.chunk_by(|a, b| a == b) {
            if !run[0] {
                gaps.push((start * GRANULE, run.len() * GRANULE));
            }
            start += run.len();
        }
        gaps
    }
    fn fits(&self, size: usize, align: usize) -> bool {
        self.gaps().iter().any(|(start, room)| {
            start.next_multiple_of(align) + size.next_multiple_of(GRANULE) <= start + room
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn behaves_like_the_model(calls in prop::collection::vec(call(), 1..200)) {
        let mut heap = Heap::new(BYTES);
        let mut twin = Heap::new(BYTES);
        let mut model = Model(vec![false; BYTES / GRANULE]);
        let mut blocks: Vec<usize> = Vec::new();
        for call in calls {
            match call {
                Call::Allocate(size, shift) => {
                    let align = 1 << shift;
                    let block = heap.allocate(size, align);
                    prop_assert_eq!(block, twin.allocate(size, align), "the same on every PE");
                    match block {
                        Some(start) => {
                            prop_assert_eq!(start % align.max(GRANULE), 0);
                            let room = heap.size_of(start).unwrap();
                            prop_assert!(room >= size && room < size + GRANULE);
                            model.set(start, room, true);
                            blocks.push(start);
                        }
                        None => prop_assert!(!model.fits(size, align.max(GRANULE))),
                    }
                }
                Call::Free(number) if !blocks.is_empty() => {
                    let start = blocks.swap_remove(number % blocks.len());
                    let size = heap.free(start).unwrap();
                    prop_assert_eq!(twin.free(start), Ok(size));
                    model.set(start, size, false);
                }
                Call::Resize(number, size) if !blocks.is_empty() => {
                    let start = blocks[number % blocks.len()];
                    let old = heap.size_of(start).unwrap();
                    let done = heap.resize(start, size).unwrap();
                    prop_assert_eq!(twin.resize(start, size), Ok(done));
                    model.set(start, old, false);
                    let new = if done { size.next_multiple_of(GRANULE) } else { old };
                    prop_assert_eq!(heap.size_of(start), Some(new));
                    model.set(start, new, true);
                }
                _ => {}
            }
            let gaps = model.gaps();
            let free = gaps.iter().map(|(_, room)| room).sum::<usize>();
            let largest = gaps.iter().map(|(_, room)| *room).max().unwrap_or(0);
            let usage = heap.usage();
            prop_assert_eq!((usage.free, usage.largest, usage.blocks), (free, largest, blocks.len()));
            prop_assert_eq!(usage.used + usage.free, BYTES);
            let last = model.0.iter().rposition(|used| *used).map_or(0, |g| (g + 1) * GRANULE);
            prop_assert!(heap.untouched() >= last);
        }
    }
}
