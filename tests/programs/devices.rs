//! Arrays on devices, from Rust; run over an imitation of the driver's library.

use oneshmem::Kind;

fn main() -> Result<(), oneshmem::Error> {
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe() as u64, shmem.n_pes());
    let (left, right) = ((me + npes as u64 - 1) % npes as u64, (shmem.my_pe() + 1) % npes);
    let partition = shmem.partition(1).expect("SHMEM_SYMMETRIC_PARTITION1 asks for it");
    assert_eq!(partition.kind(), Kind::Cuda);
    assert!(partition.alloc::<u64>(10).is_none(), "the processor does not reach it");
    assert!(partition.alloc_device::<u64>(1 << 40).is_none());
    let (array, other) = (partition.alloc_device::<u64>(1000), partition.alloc_device(1000));
    let (array, other) = (array.expect("room"), other.expect("room"));
    assert_eq!((array.len(), array.is_empty(), partition.usage().blocks), (1000, false, 2));
    assert!(!array.device_ptr().is_null());

    let mut values = [7; 4];
    array.read(996..1000, &mut values);
    assert_eq!(values, [0; 4]);
    array.put(3..6, &[me, 10 + me, 20 + me], right);
    shmem.barrier_all();
    array.read(2..6, &mut values);
    assert_eq!(values, [0, left, 10 + left, 20 + left]);
    array.get(2..6, &mut values, right);
    assert_eq!(values, [0, me, 10 + me, 20 + me]);
    other.write(0..2, &[100 + me, 200 + me]);
    array.put_from(10..12, &other, 0..2, right);
    shmem.barrier_all();
    array.read(9..13, &mut values);
    assert_eq!(values, [0, 100 + left, 200 + left, 0]);

    shmem.free_device(other);
    shmem.free_device(array);
    let none = partition.alloc_device::<u32>(0).expect("always");
    none.write(0..0, &[]);
    shmem.free_device(none);
    assert_eq!(partition.usage().blocks, 0);
    if me == 0 {
        println!("verified on {npes} PEs");
    }
    shmem.finalize();
    Ok(())
}
