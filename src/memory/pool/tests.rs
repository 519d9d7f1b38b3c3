use super::super::heap::GRANULE;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const BYTES: usize = 16 << 20;

#[test]
fn a_heap_is_as_ever() {
    let (mut pool, mut heap) = (Pool::of_heap(BYTES), Heap::new(BYTES));
    for size in [1, 100, 5000, 300_000, 48] {
        assert_eq!(pool.allocate(size, 1), heap.allocate(size, 1));
    }
    assert_eq!(pool.usage(), heap.usage());
}

#[test]
fn small_blocks_share_a_chunk_and_large_ones_do_not() {
    let mut pool = Pool::of_partition(BYTES, true);
    let (a, b) = (pool.allocate(1, 1).unwrap(), pool.allocate(buddy::LARGEST, 1).unwrap());
    let c = pool.allocate(buddy::LARGEST + 1, 1).unwrap();
    assert_eq!((a / CHUNK, b / CHUNK), (0, 0));
    assert!(c >= CHUNK);
    assert_eq!((pool.size_of(a), pool.size_of(b)), (Some(64), Some(buddy::LARGEST)));
    assert_eq!(pool.usage().blocks, 3);
    assert_eq!(pool.resize(a, 64), Ok(true));
    assert_eq!(pool.resize(a, 65), Ok(false));
    assert_eq!(pool.nearest(a + 64), Some((a, 64)));
}

#[test]
fn an_empty_chunk_goes_back() {
    let mut pool = Pool::of_partition(BYTES, true);
    let blocks: Vec<_> = (0..200_000).map_while(|_| pool.allocate(64, 1)).collect();
    assert_eq!(pool.usage().used, 64 * blocks.len());
    assert_eq!(pool.allocate(BYTES / 2, 1), None);
    for block in blocks {
        assert_eq!(pool.free(block), Ok(64));
    }
    assert_eq!(pool.usage(), Usage { used: 0, free: BYTES, largest: BYTES, blocks: 0 });
    assert_eq!(pool.allocate(BYTES, 1), Some(0));
}

#[test]
fn neighbours_merge_at_the_latest_when_their_room_is_needed() {
    let mut pool = Pool::of_partition(CHUNK, true);
    let blocks: Vec<_> = std::iter::from_fn(|| pool.allocate(64, 1)).collect();
    assert_eq!(blocks.len(), CHUNK / 64);
    assert_eq!((pool.free(0), pool.free(64)), (Ok(64), Ok(64)));
    assert_eq!(pool.allocate(128, 1), Some(0));
    assert_eq!(pool.allocate(64, 1), None);
}

#[test]
fn the_last_block_freed_is_the_next_one_of_its_size() {
    let mut pool = Pool::of_partition(BYTES, true);
    let blocks: Vec<_> = (0..8).map(|_| pool.allocate(256, 1).unwrap()).collect();
    for block in [blocks[2], blocks[5]] {
        assert_eq!(pool.free(block), Ok(256));
        assert_eq!(pool.size_of(block), None);
        assert_eq!(pool.free(block), Err(NotABlock), "freed twice");
        assert_eq!(pool.allocate(256, 1), Some(block));
    }
    assert_eq!(pool.usage().blocks, 8);
}

#[test]
fn a_partition_smaller_than_a_chunk_serves_small_blocks() {
    let mut pool = Pool::of_partition(4096, true);
    assert_eq!(pool.allocate(64, 1), Some(0));
    assert_eq!(pool.allocate(64, 1), Some(64));
    assert_eq!(pool.free(0), Ok(64));
}

#[test]
fn garbage_is_not_freed() {
    let mut pool = Pool::of_partition(BYTES, true);
    let a = pool.allocate(64, 1).unwrap();
    let large = pool.allocate(CHUNK, 1).unwrap();
    for garbage in [a + 1, a + 64, a + 128, large + 16, BYTES, usize::MAX, 1 << 40] {
        assert_eq!(pool.free(garbage), Err(NotABlock), "{garbage:#x}");
        assert_eq!(pool.resize(garbage, 1), Err(NotABlock), "{garbage:#x}");
        assert_eq!(pool.size_of(garbage), None, "{garbage:#x}");
    }
    assert_eq!(pool.free(a), Ok(64));
    assert_eq!(pool.free(a), Err(NotABlock), "freed twice");
}

#[test]
fn memory_that_may_not_be_zero_never_counts_as_such() {
    assert_eq!(Pool::of_partition(BYTES, false).zero_from(), BYTES);
    let mut pool = Pool::of_partition(BYTES, true);
    assert_eq!(pool.zero_from(), 0);
    pool.allocate(1, 1).unwrap();
    assert_eq!(pool.zero_from(), CHUNK);
}

/// One call, with block numbers instead of offsets.
#[derive(Clone, Debug)]
enum Call {
    Allocate(usize, u32),
    Free(usize),
    Resize(usize, usize),
}

fn call() -> impl Strategy<Value = Call> {
    let size = || prop_oneof![1usize..64, 64usize..4096, 4096usize..100_000, 0usize..4_000_000];
    prop_oneof![
        4 => (size(), 0u32..18).prop_map(|(size, shift)| Call::Allocate(size, shift)),
        3 => any::<usize>().prop_map(Call::Free),
        2 => (any::<usize>(), size()).prop_map(|(block, size)| Call::Resize(block, size)),
    ]
}

/// The model: the blocks that exist.
#[derive(Default)]
struct Model(BTreeMap<usize, usize>);

impl Model {
    fn add(&mut self, start: usize, size: usize) {
        let before = self.0.range(..=start).next_back();
        assert!(before.is_none_or(|(at, size)| at + size <= start), "{start:#x}");
        let behind = self.0.range(start..).next();
        assert!(behind.is_none_or(|(at, _)| start + size <= *at), "{start:#x}");
        assert!(start + size <= BYTES);
        self.0.insert(start, size);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn blocks_never_overlap_and_all_pes_agree(calls in prop::collection::vec(call(), 1..300)) {
        let mut pool = Pool::of_partition(BYTES, true);
        let mut twin = Pool::of_partition(BYTES, true);
        let mut model = Model::default();
        let mut blocks: Vec<usize> = Vec::new();
        for call in calls {
            match call {
                Call::Allocate(size, shift) => {
                    let align = 1 << shift;
                    let largest = pool.usage().largest;
                    let block = pool.allocate(size, align);
                    prop_assert_eq!(block, twin.allocate(size, align), "the same on every PE");
                    match block {
                        Some(start) => {
                            prop_assert_eq!(start % align.max(GRANULE), 0);
                            let room = pool.size_of(start).unwrap();
                            prop_assert!(room >= size);
                            model.add(start, room);
                            blocks.push(start);
                        }
                        None => prop_assert!(largest < size.max(1) + align),
                    }
                }
                Call::Free(number) if !blocks.is_empty() => {
                    let start = blocks.swap_remove(number % blocks.len());
                    let size = pool.free(start).unwrap();
                    prop_assert_eq!(twin.free(start), Ok(size));
                    prop_assert_eq!(model.0.remove(&start), Some(size));
                }
                Call::Resize(number, size) if !blocks.is_empty() => {
                    let start = blocks[number % blocks.len()];
                    let old = pool.size_of(start).unwrap();
                    let done = pool.resize(start, size).unwrap();
                    prop_assert_eq!(twin.resize(start, size), Ok(done));
                    let new = pool.size_of(start).unwrap();
                    let is_right = if done { new >= size } else { new == old };
                    prop_assert!(is_right, "{} of {}", new, size);
                    model.0.remove(&start);
                    model.add(start, new);
                }
                _ => {}
            }
            let usage = pool.usage();
            let used = model.0.values().sum::<usize>();
            prop_assert_eq!((usage.used, usage.free, usage.blocks), (used, BYTES - used, blocks.len()));
            let last = model.0.iter().next_back().map_or(0, |(at, size)| at + size);
            prop_assert!(pool.untouched() >= last);
            for (start, size) in &model.0 {
                prop_assert_eq!(pool.size_of(*start), Some(*size));
            }
        }
    }
}

/// Nanoseconds to free and allocate a block with this many live blocks, in a heap and in a
/// partition.
#[test]
#[ignore = "a measurement, of optimised code: cargo test --release -- --ignored --nocapture"]
fn time_of_a_turn() {
    for live in [8usize, 100, 1000, 10_000] {
        let time = |mut pool: Pool| {
            let mut seed = 88_172_645_463_325_252u64;
            let mut next = || {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed
            };
            let mut size = || 256usize << (next() % 9);
            let mut blocks: Vec<_> = (0..live).map(|_| pool.allocate(size(), 1).unwrap()).collect();
            let mut best = f64::MAX;
            for _ in 0..9 {
                let start = std::time::Instant::now();
                for turn in 0..100_000 {
                    let block = &mut blocks[turn * 7919 % live];
                    pool.free(*block).unwrap();
                    *block = pool.allocate(size(), 1).unwrap();
                }
                best = best.min(start.elapsed().as_nanos() as f64 / 1e5);
            }
            best
        };
        let (heap, pool) = (time(Pool::of_heap(1 << 30)), time(Pool::of_partition(1 << 30, true)));
        println!("{live} blocks: heap {heap:.0} ns, partition {pool:.0} ns");
    }
}
