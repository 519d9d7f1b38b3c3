//! Arrays on devices, from Rust; run over an imitation of the driver's library.

use oneshmem::Comparison::{Eq, Ge};
use oneshmem::{DeviceArray, Kind, Max, Partition, Shmem, Signal, Sum, Values};

fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let partition = shmem.partition(1).expect("SHMEM_SYMMETRIC_PARTITION1 asks for it");
    assert_eq!(partition.kind(), Kind::Cuda);
    assert!(partition.alloc::<u64>(10).is_err(), "the processor does not reach it");
    assert!(partition.alloc_device::<u64>(1 << 40).is_err());
    for family in [transfers, atomics, signals, waits, collectives] {
        let array = partition.alloc_device::<u64>(1000)?;
        family(&shmem, partition, &array)?;
        shmem.barrier_all();
        shmem.free_device(array);
    }
    let none = partition.alloc_device::<u32>(0)?;
    none.all().write(&[]);
    shmem.free_device(none);
    assert_eq!(partition.usage().blocks, 0);
    if shmem.my_pe() == 0 {
        println!("verified on {} PEs", shmem.n_pes());
    }
    shmem.finalize();
    Ok(())
}

/// This PE, the one before it and the one after it, also as numbers to compute with.
fn ring(shmem: &Shmem) -> (u64, u64, usize) {
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    (me as u64, ((me + npes - 1) % npes) as u64, (me + 1) % npes)
}

/// This PE's elements in a range.
fn own<const N: usize>(array: &DeviceArray<u64>, start: usize) -> [u64; N] {
    let mut values = [7; N];
    array.slice(start..start + N).read(&mut values);
    values
}

type Outcome = oneshmem::Result<()>;

fn transfers(shmem: &Shmem, partition: Partition<'_>, array: &DeviceArray<u64>) -> Outcome {
    let (me, left, right) = ring(shmem);
    assert_eq!((array.len(), array.is_empty(), partition.usage().blocks), (1000, false, 1));
    assert_eq!((array.slice(5..).len(), array.at(5).slice(1..).is_empty()), (995, true));
    assert!(!array.device_ptr().is_null());
    assert_eq!(own(array, 996), [0; 4]);
    shmem.put(array.slice(3..6), &[me, 10 + me, 20 + me], right);
    shmem.p(array.at(6), 30 + me, right);
    shmem.barrier_all();
    assert_eq!(own(array, 2), [0, left, 10 + left, 20 + left, 30 + left, 0]);
    let mut values = [7; 4];
    shmem.get(&mut values, array.slice(2..6), right);
    assert_eq!(values, [0, me, 10 + me, 20 + me]);
    assert_eq!(shmem.g(array.at(6), right), 30 + me);
    shmem.barrier_all();

    // Between arrays of the device, and of the heap.
    let (other, heap) = (partition.alloc_device::<u64>(10)?, shmem.alloc::<u64>(10)?);
    other.slice(0..2).write(&[100 + me, 200 + me]);
    shmem.put_from(array.slice(10..12), other.slice(0..2), right);
    shmem.put_from(heap.slice(0..2), other.slice(0..2), right);
    shmem.barrier_all();
    assert_eq!(own(array, 9), [0, 100 + left, 200 + left, 0]);
    assert_eq!(heap.slice(0..3).to_vec(), [100 + left, 200 + left, 0]);
    shmem.get_into(other.slice(2..4), heap.slice(0..2), right);
    assert_eq!(own(&other, 2), [100 + me, 200 + me]);
    shmem.iput(array.slice(20..), &[1, 2, 3], 2, 1, 3, right);
    shmem.barrier_all();
    assert_eq!(own(array, 20), [1, 0, 2, 0, 3, 0]);
    shmem.free(heap);
    shmem.free_device(other);
    Ok(())
}

fn atomics(shmem: &Shmem, partition: Partition<'_>, array: &DeviceArray<u64>) -> Outcome {
    let (me, _, right) = ring(shmem);
    let npes = shmem.n_pes() as u64;
    for _ in 0..10 {
        shmem.atomic_add(array.at(0), me + 1, 0);
    }
    assert!(shmem.atomic_fetch_inc(array.at(1), 0) < npes);
    shmem.atomic_or(array.at(2), 1 << me, 0);
    shmem.barrier_all();
    assert_eq!(shmem.atomic_fetch(array.at(0), 0), 5 * npes * (npes + 1));
    assert_eq!(shmem.atomic_fetch(array.at(1), 0), npes);
    assert_eq!(shmem.atomic_fetch(array.at(2), 0), (1 << npes) - 1);
    shmem.barrier_all();
    shmem.atomic_set(array.at(3), 7, right);
    assert_eq!(shmem.atomic_swap(array.at(3), 8, right), 7);
    assert_eq!(shmem.atomic_compare_swap(array.at(3), 9, 1, right), 8);
    assert_eq!(shmem.atomic_compare_swap(array.at(3), 8, 0b1100, right), 8);
    assert_eq!(shmem.atomic_fetch_and(array.at(3), 0b0110, right), 0b1100);
    assert_eq!(shmem.atomic_fetch_xor(array.at(3), 0b0101, right), 0b0100);
    assert_eq!(shmem.atomic_fetch_add(array.at(3), u64::MAX, right), 1);
    shmem.barrier_all();
    assert_eq!(own(array, 3), [0]);

    let words = partition.alloc_device::<i32>(4)?;
    shmem.atomic_add(words.at(1), -3, right);
    shmem.barrier_all();
    let mut values = [0; 4];
    words.all().read(&mut values);
    assert_eq!(values, [0, -3, 0, 0]);
    shmem.free_device(words);
    Ok(())
}

fn signals(shmem: &Shmem, _: Partition<'_>, array: &DeviceArray<u64>) -> Outcome {
    let (me, left, right) = ring(shmem);
    shmem.put_signal(array.slice(1..3), &[me, me + 1], array.at(0), Signal::Set(5), right);
    assert_eq!(shmem.signal_wait_until(array.at(0), Ge, 5), 5);
    assert_eq!(own(array, 1), [left, left + 1]);
    let flag = shmem.alloc::<u64>(1)?;
    shmem.put_signal(array.slice(3..4), &[me], flag.at(0), Signal::Add(1), right);
    assert_eq!(shmem.signal_wait_until(flag.at(0), Eq, 1), 1);
    assert_eq!(own(array, 3), [left]);
    shmem.free(flag);
    Ok(())
}

fn waits(shmem: &Shmem, _: Partition<'_>, array: &DeviceArray<u64>) -> Outcome {
    let (_, _, right) = ring(shmem);
    let flags = array.slice(..4);
    assert!(!shmem.test(array.at(0), Eq, 3));
    shmem.barrier_all();
    shmem.atomic_set(array.at(2), 3, right);
    assert_eq!(shmem.wait_until_any(flags, None, Eq, Values::All(3)), Some(2));
    shmem.barrier_all();
    shmem.put(flags, &[3; 4], right);
    shmem.wait_until_all(flags, None, Eq, Values::Each(&[3; 4]));
    shmem.wait_until(array.at(3), Ge, 3);
    assert!(shmem.test_all(flags, None, Eq, Values::All(3)));
    Ok(())
}

fn collectives(shmem: &Shmem, partition: Partition<'_>, array: &DeviceArray<u64>) -> Outcome {
    let (me, _, _) = ring(shmem);
    let (world, npes) = (shmem.world(), shmem.n_pes());
    let (n, last) = (npes as u64, npes - 1);
    let source = partition.alloc_device::<u64>(2 * npes)?;
    let heap = shmem.alloc::<u64>(2)?;
    let mine: Vec<_> = (0..2 * n).map(|i| 100 * me + i).collect();
    source.all().write(&mine);
    shmem.barrier_all();
    world.broadcast(array.slice(..2), source.slice(..2), last);
    assert_eq!(own(array, 0), [100 * (n - 1), 100 * (n - 1) + 1]);
    world.fcollect(array.slice(..2 * npes), source.slice(..2));
    assert_eq!(own(array, 2 * last), [100 * (n - 1), 100 * (n - 1) + 1]);
    assert_eq!(world.collect(array.all(), source.slice(..1)), npes);
    assert_eq!(own(array, last), [100 * (n - 1)]);
    world.alltoall(array.slice(..2 * npes), source.all());
    assert_eq!(own(array, 2 * last), [100 * (n - 1) + 2 * me, 100 * (n - 1) + 2 * me + 1]);
    world.reduce::<_, Sum>(array.slice(..2), source.slice(..2));
    assert_eq!(own(array, 0), [50 * n * (n - 1), 50 * n * (n - 1) + n]);
    // To the processor.
    world.reduce::<_, Max>(heap.all(), source.slice(..2));
    assert_eq!(heap.all().to_vec(), [100 * (n - 1), 100 * (n - 1) + 1]);
    world.sum_inscan(array.slice(..1), source.slice(1..2));
    assert_eq!(own(array, 0), [50 * me * (me + 1) + me + 1]);
    shmem.free(heap);
    shmem.free_device(source);
    Ok(())
}
