//! Exports, permits and attachments.
#![allow(unsafe_code)]

use crate::bindings::{
    XPMEM_PERMIT_MODE, XPMEM_RDWR, xpmem_cmd_attach, xpmem_cmd_get, xpmem_cmd_make,
};
use crate::{Device, Error};
use std::ops::Range;
use std::sync::Arc;

/// Only processes of the same user may attach.
const OWNER_ONLY: u64 = 0o600;

/// A segment's identifier, to be passed to the process that attaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentId(pub i64);

/// An exported range of this process. Dropping it ends the export: processes that have attached it
/// get SIGBUS on their next access.
#[derive(Debug)]
pub struct Segment {
    device: &'static Device,
    id: SegmentId,
}

impl Segment {
    /// Exports `range` (whole pages) to processes of the same user. The pages stay where they are.
    /// Peers can access them regardless of their protection here.
    ///
    /// # Safety
    /// While the segment lives, the range is accessed only as memory that others write at any time:
    /// by atomics, or by copies of raw pointers. No Rust reference leads there.
    ///
    /// # Errors
    /// The module's refusal, for example a range that is not whole pages.
    pub unsafe fn make(device: &'static Device, range: Range<usize>) -> Result<Self, Error> {
        let mut record = xpmem_cmd_make {
            vaddr: range.start as u64,
            size: range.len() as u64,
            permit_type: XPMEM_PERMIT_MODE as i32,
            permit_value: OWNER_ONLY,
            segid: 0,
        };
        device.make(&mut record)?;
        Ok(Self { device, id: SegmentId(record.segid) })
    }

    /// Its identifier.
    pub fn id(&self) -> SegmentId {
        self.id
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // It fails only if the segment is gone already.
        let _ = self.device.remove(self.id.0);
    }
}

/// Access to a segment of another process (or of this one).
#[derive(Debug)]
pub struct Permit {
    device: &'static Device,
    apid: i64,
}

impl Permit {
    /// Requests read and write access.
    ///
    /// # Errors
    /// [`Error::Gone`] if the segment does not exist (any more); the module's refusal if it belongs
    /// to another user.
    pub fn get(device: &'static Device, segment: SegmentId) -> Result<Arc<Self>, Error> {
        let mut record = xpmem_cmd_get {
            segid: segment.0,
            flags: XPMEM_RDWR as i32,
            permit_type: XPMEM_PERMIT_MODE as i32,
            permit_value: 0,
            apid: 0,
        };
        device.get_access(&mut record)?;
        Ok(Arc::new(Self { device, apid: record.apid }))
    }

    /// Maps `bytes` of the segment, from `offset` on, at `address`.
    ///
    /// # Safety
    /// `address..address + bytes` lies within a `PROT_NONE` reservation that the caller owns and
    /// leaves to the attachment. Nobody unmaps, remaps or protects any of it while the attachment
    /// lives.
    ///
    /// # Errors
    /// The module's refusal; the reservation is then unchanged.
    pub unsafe fn attach(
        self: &Arc<Self>,
        address: usize,
        bytes: usize,
        offset: usize,
    ) -> Result<Attachment, Error> {
        let mut record = xpmem_cmd_attach {
            apid: self.apid,
            offset: offset as i64,
            size: bytes as u64,
            vaddr: address as u64,
            fd: 0,
            flags: 0,
        };
        self.device.attach(&mut record)?;
        let attachment =
            Attachment { permit: Arc::clone(self), start: record.vaddr as usize, bytes };
        if attachment.start == address {
            Ok(attachment)
        } else {
            Err(Error::Call {
                call: "xpmem_attach at a chosen address",
                source: std::io::Error::other("the module mapped it elsewhere"),
            })
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Succeeds even if the exporter is gone.
        let _ = self.device.release(self.apid);
    }
}

/// A part of a peer's segment, mapped here. Dropping it unmaps the part and reserves the range
/// again.
#[derive(Debug)]
pub struct Attachment {
    permit: Arc<Permit>,
    start: usize,
    bytes: usize,
}

impl Attachment {
    /// Its address range.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.bytes
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if self.permit.device.detach(self.start as u64).is_err() {
            return;
        }
        let flags = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: the detach has just left a hole there, and MAP_FIXED_NOREPLACE cannot replace
        // what another thread may have mapped there meanwhile.
        unsafe {
            libc::mmap(self.start as *mut _, self.bytes, libc::PROT_NONE, flags, -1, 0);
        }
    }
}
