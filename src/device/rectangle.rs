//! Strided blocks as the driver wants them described: as rows of a rectangle.

use oneshmem_job::remote::StridedBlocks;
use std::ffi::{c_uint, c_void};

/// `CU_MEMORYTYPE_UNIFIED`: the address itself says which memory it is in.
const UNIFIED: c_uint = 4;

/// One side of a [`Rectangle`].
#[repr(C)]
struct RectangleSide {
    x_bytes: usize,
    y: usize,
    memory_type: c_uint,
    host: *const c_void,
    device: u64,
    array: *mut c_void,
    pitch: usize,
}

impl RectangleSide {
    fn at(address: usize, pitch: usize) -> Self {
        Self {
            x_bytes: 0,
            y: 0,
            memory_type: UNIFIED,
            host: std::ptr::null(),
            device: address as u64,
            array: std::ptr::null_mut(),
            pitch,
        }
    }
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
pub struct Rectangle {
    from: RectangleSide,
    to: RectangleSide,
    width: usize,
    height: usize,
}

impl Rectangle {
    /// Blocks at these addresses.
    pub fn of(to: usize, from: usize, blocks: StridedBlocks) -> Self {
        let StridedBlocks { count, bytes, to_stride, from_stride } = blocks;
        let (from, to) = (RectangleSide::at(from, from_stride), RectangleSide::at(to, to_stride));
        Self { from, to, width: bytes, height: count }
    }
}
