//! The symmetric heap's allocator.

/// The allocator.
#[derive(Debug)]
pub struct Heap {
    bytes: usize,
}

impl Heap {
    /// A heap of `bytes`, all free.
    pub fn new(bytes: usize) -> Self {
        Self { bytes }
    }
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
