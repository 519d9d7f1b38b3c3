//! SMARTMAP as the Kitten kernel provides it: nothing to publish, nothing to attach. All memory is part of
//! the process's own heap.
#![allow(unsafe_code)]

use super::{Backend, BackendResource, FilePlace, Move, Naming, Published, Segment, unlike};
use crate::error::Error;
use crate::pages::Pages;
use crate::sys::map::Reserved;
use oneshmem_kitten::addressing::unalias;
use std::ops::Range;

/// Segments that the kernel provides to all processes.
#[derive(Debug)]
pub struct Kitten;

// SAFETY: segments are this process's own memory, given to it for good. The kernel itself has each peer's
// memory at its alias.
unsafe impl Backend for Kitten {
    fn name(&self) -> &'static str {
        "smartmap"
    }

    fn naming(&self) -> Naming {
        Naming::Address
    }

    fn make(&self, at: &Reserved, pages: Pages, _: Option<FilePlace>) -> Result<(), Error> {
        if pages != Pages::Normal {
            return Err(Error::NoWay("Kitten decides itself what its memory is made of".into()));
        }
        let Range { start, end } = *at.range();
        // SAFETY: of the writable memory that the layout has asked for, whose holder could map over it.
        unsafe { std::ptr::write_bytes(start as *mut u8, 0, end - start) };
        Ok(())
    }

    fn free(&self, _: &Reserved, _: Option<FilePlace>) {}

    unsafe fn publish(&self, _: &Range<usize>, _: Option<Move>) -> Result<Published, Error> {
        Ok(Published::default())
    }

    unsafe fn attach(
        &self,
        at: &Reserved,
        _: Pages,
        segment: Segment,
    ) -> Result<Option<BackendResource>, Error> {
        let Segment::Address(theirs) = segment else { return Err(unlike(self.name(), segment)) };
        match unalias(at.range().start) {
            Some((_, here)) if here != theirs => Err(Error::NoWay(format!(
                "its symmetric heap is at {theirs:#x}, this PE's at {here:#x}; all PEs must have \
                 allocated the same memory before shmem_init"
            ))),
            _ => Ok(None),
        }
    }
}
