//! Private memory that an algorithm needs for the length of a call.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

/// What the memory is made of: 64 bytes suffice to align any element.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line(#[allow(dead_code)] [u8; 64]);

/// Some bytes, uninitialised, aligned for any element.
pub struct Scratch {
    start: *mut u8,
    _memory: Vec<MaybeUninit<Line>>,
}

impl Scratch {
    /// At least `bytes` bytes. Ends the program if there is no memory.
    pub fn new(bytes: usize) -> Self {
        let mut memory: Vec<MaybeUninit<Line>> =
            Vec::with_capacity(bytes.div_ceil(size_of::<Line>()));
        Self { start: memory.as_mut_ptr().cast(), _memory: memory }
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }
}
