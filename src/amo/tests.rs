use super::*;
use crate::context::Default as World;
use crate::testing::FakeJob;
use oneshmem_job::error::Called::Blocking;

const R: Routine = &Blocking("test");

/// Compares every operation of an integer type with plain arithmetic, at the limits of the type.
macro_rules! integer {
    ($type:ident) => {
        #[test]
        fn $type() {
            let job = FakeJob::start(2);
            let at = job.at::<$type>(64);
            let there = || job.read::<$type>(1, 64);
            for old in [0, 1, 0x55, $type::MIN, $type::MAX] {
                for value in [0, 1, 0x0f, $type::MIN, $type::MAX] {
                    let start = || job.write(1, 64, old);
                    start();
                    assert_eq!(fetch(R, World, at, 1), old);
                    set(R, World, at, value, 1);
                    assert_eq!(there(), value);
                    start();
                    assert_eq!((swap(R, World, at, value, 1), there()), (old, value));
                    start();
                    assert_eq!(compare_swap(R, World, at, old, value, 1), old);
                    assert_eq!(there(), value);
                    start();
                    let other = old.wrapping_add(1);
                    assert_eq!(compare_swap(R, World, at, other, value, 1), old);
                    assert_eq!(there(), old);
                    assert_eq!(fetch_inc(R, World, at, 1), old);
                    assert_eq!(there(), old.wrapping_add(1));
                    inc(R, World, at, 1);
                    assert_eq!(there(), old.wrapping_add(2));
                    start();
                    assert_eq!(fetch_add(R, World, at, value, 1), old);
                    assert_eq!(there(), old.wrapping_add(value));
                    start();
                    add(R, World, at, value, 1);
                    assert_eq!(there(), old.wrapping_add(value));
                    start();
                    assert_eq!((fetch_and(R, World, at, value, 1), there()), (old, old & value));
                    start();
                    and(R, World, at, value, 1);
                    assert_eq!(there(), old & value);
                    start();
                    assert_eq!((fetch_or(R, World, at, value, 1), there()), (old, old | value));
                    start();
                    or(R, World, at, value, 1);
                    assert_eq!(there(), old | value);
                    start();
                    assert_eq!((fetch_xor(R, World, at, value, 1), there()), (old, old ^ value));
                    start();
                    xor(R, World, at, value, 1);
                    assert_eq!(there(), old ^ value);
                }
            }
            let neighbours =
                (job.read::<$type>(1, 64 - size_of::<$type>()), job.read::<u64>(1, 72));
            assert_eq!(neighbours, (0, 0), "exactly the type's width");
            assert_eq!(job.read::<$type>(0, 64), 0);
        }
    };
}

integer!(i32);
integer!(u32);
integer!(i64);
integer!(u64);
integer!(isize);
integer!(usize);

#[test]
fn floats_move_as_bit_patterns() {
    let job = FakeJob::start(2);
    let quiet_nan = f64::from_bits(0x7ff8_dead_beef_0001);
    set(R, World, job.at::<f64>(8), quiet_nan, 1);
    assert_eq!(fetch(R, World, job.at::<f64>(8), 1).to_bits(), quiet_nan.to_bits());
    assert_eq!(swap(R, World, job.at::<f64>(8), -0.0, 1).to_bits(), quiet_nan.to_bits());
    assert_eq!(job.read::<u64>(1, 8), 1 << 63);
    set(R, World, job.at::<f32>(4), 1.5, 1);
    assert_eq!(swap(R, World, job.at::<f32>(4), 2.5, 1), 1.5);
    assert_eq!(fetch(R, World, job.at::<f32>(4), 1), 2.5);
}

#[test]
fn no_update_is_lost_between_threads() {
    const EACH: u64 = 20_000;
    let job = FakeJob::start(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    inc(R, World, job.at::<u64>(128), 1);
                }
            });
        }
    });
    assert_eq!(job.read::<u64>(1, 128), 2 * EACH);
}
