//! The routines that `shmemx.h` declares. As with those of the specification, the strong symbols are the profiling
//! twins; `build.rs` makes the others.
#![allow(unsafe_code)]

use oneshmem::internals::argument::memory::{Block, In, Out, PSyncArray};
use oneshmem::internals::argument::{not_null, required};
use oneshmem::internals::collectives::arrays::{Arrays, Table};
use oneshmem::internals::collectives::{self, Alltoallv, active_set, select};
use oneshmem::internals::partition::{self, Whereabouts};
use oneshmem::internals::translate::PeArg;
use oneshmem::internals::{clock, heap, message, query, team};
use oneshmem_job::error::{Called::Blocking, Routine};
use oneshmem_job::partition::Device;
use std::ffi::{CStr, c_char, c_int, c_long, c_ulonglong};

/// `shmemx_set_algorithm`.
///
/// # Safety
/// Each argument is null or a string that ends with a zero byte.
#[unsafe(export_name = "pshmemx_set_algorithm")]
pub unsafe extern "C" fn shmemx_set_algorithm(
    operation: *const c_char,
    algorithm: *const c_char,
) -> c_int {
    let text = |string: *const c_char| {
        // SAFETY: checked not to be null, so the caller guarantees a string that ends with a zero
        // byte.
        (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) }.to_str().ok()).flatten()
    };
    match (text(operation), text(algorithm)) {
        (Some(operation), Some(algorithm)) => c_int::from(!select::set(operation, algorithm)),
        _ => 1,
    }
}

/// `shmemx_wtime`.
#[unsafe(export_name = "pshmemx_wtime")]
pub extern "C" fn shmemx_wtime() -> f64 {
    clock::seconds()
}

/// `shmemx_equal_addresses`.
#[unsafe(export_name = "pshmemx_equal_addresses")]
pub extern "C" fn shmemx_equal_addresses() -> c_int {
    c_int::from(query::equal_addresses(&Blocking("shmemx_equal_addresses")))
}

/// Defines allocation and release routines.
macro_rules! partitions {
    ($($(#[$text:meta])* $name:ident($($arg:ident: $t:ty),*) $(-> $ret:ty)? = $call:path;)*) => {$(
        $(#[$text])*
        #[unsafe(export_name = concat!("p", stringify!($name)))]
        pub extern "C" fn $name($($arg: $t),*) $(-> $ret)? {
            $call(&Blocking(stringify!($name)), $($arg),*)
        }
    )*};
}

partitions! {
    /// Allocates a block of a partition. Collective.
    shmemx_partition_malloc(size: usize, id: c_int) -> *mut u8 = partition::malloc;
    /// Alias of the above.
    shmem_partition_malloc(size: usize, id: c_int) -> *mut u8 = partition::malloc;
    /// Allocates an aligned block of a partition. Collective.
    shmemx_partition_align(alignment: usize, size: usize, id: c_int) -> *mut u8 = partition::align;
    /// Alias of the above.
    shmem_partition_align(alignment: usize, size: usize, id: c_int) -> *mut u8 = partition::align;
    /// Allocates a zeroed block of a partition. Collective.
    shmemx_partition_calloc(count: usize, size: usize, id: c_int) -> *mut u8 = partition::calloc;
    /// Alias of the above.
    shmem_partition_calloc(count: usize, size: usize, id: c_int) -> *mut u8 = partition::calloc;
    /// Allocates a block of a partition. Local.
    shmemx_partition_take(size: usize, id: c_int) -> *mut u8 = partition::take;
}

/// Defines routines that free a block.
macro_rules! frees {
    ($($(#[$text:meta])* $name:ident = $call:path;)*) => {$(
        $(#[$text])*
        ///
        /// # Safety
        /// The program does not use the block any more.
        #[unsafe(export_name = concat!("p", stringify!($name)))]
        pub unsafe extern "C" fn $name(ptr: *mut u8) {
            // SAFETY: the caller guarantees that the program does not use the block any more.
            $call(&Blocking(stringify!($name)), unsafe { Block::new(ptr) })
        }
    )*};
}

frees! {
    /// Frees a block. Collective.
    shmemx_partition_free = heap::free;
    /// Alias of the above.
    shmem_partition_free = heap::free;
    /// Frees a block. Local.
    shmemx_partition_give = partition::give;
}

/// `shmemx_alltoallv`: as Cray SHMEM has it.
///
/// # Safety
/// On each PE that takes part: the tables have an element for each member; all memory that they name exists if
/// it is symmetric, and dest and source overlap with nothing else; and no PE accesses any of it except in the call.
#[unsafe(export_name = "pshmemx_alltoallv")]
pub unsafe extern "C" fn shmemx_alltoallv(
    dest: *mut u8,
    t_offsets: *const usize,
    t_sizes: *mut usize,
    source: *const u8,
    s_offsets: *const usize,
    s_sizes: *const usize,
    start: c_int,
    log_stride: c_int,
    size: c_int,
    psync: *mut c_long,
) {
    const NAME: Routine = &Blocking("shmemx_alltoallv");
    // SAFETY: the caller has the memory that the arguments name, and keeps it for the call, in which alone it is used.
    let (call, psync) = unsafe {
        let blocks = [dest.cast_const(), source];
        let call = alltoallv(NAME, blocks, (t_offsets, t_sizes), (s_offsets, s_sizes), size);
        (call, PSyncArray::new(psync))
    };
    active_set::alltoallv(NAME, (start, log_stride, size), call, psync);
}

/// `shmemx_alltoallvmem`: the same on a team. Returns 0.
///
/// # Safety
/// As for [`shmemx_alltoallv`].
#[unsafe(export_name = "pshmemx_alltoallvmem")]
pub unsafe extern "C" fn shmemx_alltoallvmem(
    team: usize,
    dest: *mut u8,
    t_offsets: *const usize,
    t_sizes: *mut usize,
    source: *const u8,
    s_offsets: *const usize,
    s_sizes: *const usize,
) -> c_int {
    const NAME: Routine = &Blocking("shmemx_alltoallvmem");
    let size = team::n_pes(NAME, team);
    let blocks = [dest.cast_const(), source];
    // SAFETY: the caller has the memory that the arguments name, and keeps it for the call, in which alone it is used.
    let call = unsafe { alltoallv(NAME, blocks, (t_offsets, t_sizes), (s_offsets, s_sizes), size) };
    collectives::alltoallv(NAME, team, call);
    0
}

/// The arguments of an all-to-all of blocks of different lengths.
///
/// # Safety
/// As for [`shmemx_alltoallv`], for all of `'m`.
unsafe fn alltoallv<'m>(
    name: Routine,
    [dest, source]: [*const u8; 2],
    (t_offsets, t_sizes): (*const usize, *mut usize),
    (s_offsets, s_sizes): (*const usize, *const usize),
    members: c_int,
) -> Alltoallv<'m> {
    // A negative number is refused by the call.
    let len = usize::try_from(members).unwrap_or(0);
    // SAFETY: the caller promises for all of `'m` that each table has `len` elements, and dest and source their blocks.
    unsafe {
        Alltoallv {
            arrays: Arrays::new(dest.cast_mut(), source),
            t_offsets: required(name, "t_offsets", In::new(t_offsets, len)),
            t_sizes: required(name, "t_sizes", Out::new(t_sizes, len)),
            s_offsets: required(name, "s_offsets", Table::new(s_offsets, len)),
            s_sizes: required(name, "s_sizes", Table::new(s_sizes, len)),
            unit: 1,
            most: [usize::MAX; 2],
        }
    }
}

/// `shmemx_partition_persist`.
#[unsafe(export_name = "pshmemx_partition_persist")]
pub extern "C" fn shmemx_partition_persist(ptr: *const u8, bytes: usize) -> c_int {
    const NAME: Routine = &Blocking("shmemx_partition_persist");
    match partition::persist(NAME, ptr, bytes) {
        Ok(done) => c_int::from(!done),
        Err(error) => {
            message::say(format_args!("{NAME}: {error}"));
            1
        }
    }
}

/// `shmemx_partition_of`.
#[unsafe(export_name = "pshmemx_partition_of")]
pub extern "C" fn shmemx_partition_of(ptr: *const u8) -> c_int {
    match partition::of(&Blocking("shmemx_partition_of"), ptr) {
        Whereabouts::Partition(id) => id as c_int,
        Whereabouts::Slot => -1,
        Whereabouts::Elsewhere => -2,
    }
}

/// `shmemx_device_ptr`.
#[unsafe(export_name = "pshmemx_device_ptr")]
pub extern "C" fn shmemx_device_ptr(ptr: *const u8, pe: PeArg) -> *mut u8 {
    partition::device_ptr(&Blocking("shmemx_device_ptr"), ptr, pe)
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

/// All capabilities: put and get, collectives, atomics, load and store.
const HOST_CAPS: c_ulonglong = 1 | 2 | 4 | 8;
/// All capabilities except load and store.
const DEVICE_CAPS: c_ulonglong = 1 | 2 | 4;

/// `shmemx_partition_info`.
///
/// # Safety
/// `info` is null or writable.
#[unsafe(export_name = "pshmemx_partition_info")]
pub unsafe extern "C" fn shmemx_partition_info(id: c_int, info: *mut PartitionInfo) -> c_int {
    not_null(&Blocking("shmemx_partition_info"), "info", info);
    let Some((partition, usage)) = partition::info(&Blocking("shmemx_partition_info"), id) else {
        return 1;
    };
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
    // SAFETY: checked not to be null, so the caller guarantees that it is writable.
    unsafe { info.write(told) };
    0
}
