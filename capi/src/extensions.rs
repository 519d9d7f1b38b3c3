//! What `shmemx.h` declares.
#![allow(unsafe_code)]

use oneshmem::argument::not_null;
use oneshmem::collectives::select;
use oneshmem::error::Routine;
use oneshmem::memory::partition::Device;
use oneshmem::memory::symmetric;
use oneshmem::message;
use oneshmem::partition::{self, Whereabouts};
use oneshmem::translate::PeArg;
use std::ffi::{CStr, c_char, c_int, c_ulonglong};

/// `shmemx_set_algorithm`.
///
/// # Safety
/// Both are null or strings that end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_set_algorithm(
    operation: *const c_char,
    algorithm: *const c_char,
) -> c_int {
    let text = |string: *const c_char| {
        // SAFETY: not null, so a string by the caller's promise.
        (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) }.to_str().ok()).flatten()
    };
    match (text(operation), text(algorithm)) {
        (Some(operation), Some(algorithm)) => c_int::from(!select::set(operation, algorithm)),
        _ => 1,
    }
}

/// Defines routines that allocate and free.
macro_rules! partitions {
    ($($(#[$text:meta])* $name:ident($($arg:ident: $t:ty),*) $(-> $ret:ty)? = $call:path;)*) => {$(
        $(#[$text])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $t),*) $(-> $ret)? {
            $call(&stringify!($name), $($arg),*)
        }
    )*};
}

partitions! {
    /// A block of a partition, collective.
    shmemx_partition_malloc(size: usize, id: c_int) -> *mut u8 = partition::malloc;
    /// The same.
    shmem_partition_malloc(size: usize, id: c_int) -> *mut u8 = partition::malloc;
    /// An aligned block of a partition, collective.
    shmemx_partition_align(alignment: usize, size: usize, id: c_int) -> *mut u8 = partition::align;
    /// The same.
    shmem_partition_align(alignment: usize, size: usize, id: c_int) -> *mut u8 = partition::align;
    /// A block of zeros of a partition, collective.
    shmemx_partition_calloc(count: usize, size: usize, id: c_int) -> *mut u8 = partition::calloc;
    /// The same.
    shmem_partition_calloc(count: usize, size: usize, id: c_int) -> *mut u8 = partition::calloc;
    /// Frees a block, collective.
    shmemx_partition_free(ptr: *mut u8) = symmetric::free;
    /// The same.
    shmem_partition_free(ptr: *mut u8) = symmetric::free;
    /// A block of a partition, local.
    shmemx_partition_take(size: usize, id: c_int) -> *mut u8 = partition::take;
    /// Frees a block, local.
    shmemx_partition_give(ptr: *mut u8) = partition::give;
}

/// `shmemx_partition_persist`.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_partition_persist(ptr: *const u8, bytes: usize) -> c_int {
    const NAME: Routine = &"shmemx_partition_persist";
    match partition::persist(NAME, ptr, bytes) {
        Ok(done) => c_int::from(!done),
        Err(error) => {
            message::say(format_args!("{NAME}: {error}"));
            1
        }
    }
}

/// `shmemx_partition_of`.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_partition_of(ptr: *const u8) -> c_int {
    match partition::of(&"shmemx_partition_of", ptr) {
        Whereabouts::Partition(id) => id as c_int,
        Whereabouts::Slot => -1,
        Whereabouts::Elsewhere => -2,
    }
}

/// `shmemx_device_ptr`.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_device_ptr(ptr: *const u8, pe: PeArg) -> *mut u8 {
    partition::device_ptr(&"shmemx_device_ptr", ptr, pe)
}

/// `shmemx_partition_info_t`.
#[repr(C)]
pub struct PartitionInfo {
    id: c_int,
    device: c_int,
    size: usize,
    free: usize,
    largest: usize,
    caps: c_ulonglong,
    kind: [c_char; 16],
}

/// Everything: put and get, collectives, atomics, load and store.
const HOST_CAPS: c_ulonglong = 1 | 2 | 4 | 8;
/// The same without load and store.
const DEVICE_CAPS: c_ulonglong = 1 | 2 | 4;

/// `shmemx_partition_info`.
///
/// # Safety
/// `info` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_partition_info(id: c_int, info: *mut PartitionInfo) -> c_int {
    not_null(&"shmemx_partition_info", "info", info);
    let Some((partition, usage)) = partition::info(&"shmemx_partition_info", id) else { return 1 };
    let mut kind = [0; 16];
    let name = partition.spec().kind.name().bytes();
    kind.iter_mut().zip(name).for_each(|(to, from)| *to = from as c_char);
    let told = PartitionInfo {
        id,
        device: match partition.spec().device {
            Some(Device::Number(number)) => number as c_int,
            _ => -1,
        },
        size: partition.space().range().len(),
        free: usage.free,
        largest: usage.largest,
        caps: if partition.is_mapped() { HOST_CAPS } else { DEVICE_CAPS },
        kind,
    };
    // SAFETY: not null, so writable by the caller's promise.
    unsafe { info.write(told) };
    0
}
