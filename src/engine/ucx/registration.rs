//! Memory of this process that others reach through UCX.
#![allow(unsafe_code)]

use super::bindings::{self as ucx, Handle};
use super::worker::Worker;
use crate::error::Error;
use std::ptr::{NonNull, null_mut};

/// Memory that others can reach.
pub struct Registration(Handle);

impl Worker {
    /// Makes the `bytes` bytes at `base` accessible to others; returns the key for them.
    ///
    /// # Errors
    /// If UCX cannot register the memory.
    ///
    /// # Safety
    /// The memory is mapped for as long as it is registered, and nothing here depends on what
    /// others write there.
    pub unsafe fn register(
        &self,
        base: NonNull<u8>,
        bytes: usize,
    ) -> Result<(Registration, Vec<u8>), Error> {
        let params = ucx::MemMapParams {
            field_mask: ucx::MEM_ADDRESS | ucx::MEM_LENGTH | ucx::MEM_FLAGS,
            address: base.as_ptr().cast(),
            length: bytes,
            flags: ucx::MAP_NONBLOCK,
            prot: 0,
            memory_type: 0,
        };
        let mut memory = null_mut();
        // SAFETY: the caller guarantees that `base` is mapped for `bytes` bytes as long as it is
        // registered. The call reads one local and writes another.
        let status =
            unsafe { (self.ucx.ucp_mem_map)(self.context, &raw const params, &raw mut memory) };
        self.check("ucp_mem_map", status)?;
        let memory = Registration(memory);
        let (mut key, mut length) = (null_mut(), 0);
        // SAFETY: memory that was just registered, and two words to write to.
        let status = unsafe {
            (self.ucx.ucp_rkey_pack)(self.context, memory.0, &raw mut key, &raw mut length)
        };
        if let Err(error) = self.check("ucp_rkey_pack", status) {
            self.unregister(memory)?;
            return Err(error);
        }
        // SAFETY: the key has `length` bytes, and is released once.
        let copy = unsafe {
            let copy = std::slice::from_raw_parts(key.cast::<u8>(), length).to_vec();
            (self.ucx.ucp_rkey_buffer_release)(key);
            copy
        };
        Ok((memory, copy))
    }

    /// Ends a registration.
    ///
    /// # Errors
    /// If UCX cannot end it.
    pub fn unregister(&self, memory: Registration) -> Result<(), Error> {
        // SAFETY: a registration of this context, released once.
        let status = unsafe { (self.ucx.ucp_mem_unmap)(self.context, memory.0) };
        self.check("ucp_mem_unmap", status)
    }
}
