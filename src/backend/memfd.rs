//! The default backend: slots live in the job's sealed memfd. Works on stock
//! Linux, in any container, without privilege.
#![allow(unsafe_code)]

use super::Backend;
use crate::atomics::{AtomicBool, Ordering};
use crate::error::Error;
use crate::job::control::Control;
use crate::memory::layout::Layout;
use crate::memory::segment::DataSegment;
use crate::sys::{fd, map, program};

/// Slots in the job's memory file.
#[derive(Debug, Default)]
pub struct Memfd {
    /// The data segment is in the file for good after the first session.
    moved: AtomicBool,
}

impl Backend for Memfd {
    fn name(&self) -> &'static str {
        "memfd"
    }

    fn export(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error> {
        let (file, to) = (control.file(), control.data_offset(pe));
        let copy = |pages: std::ops::Range<usize>| {
            let offset = to + (pages.start - data.pages.start) as u64;
            // SAFETY: pages of the program's own data segment are readable.
            unsafe { fd::write_all(file, pages.start, pages.len(), offset) }
        };
        // SAFETY: the heap's place was reserved for it. The data segment's pages
        // that hold anything are in the file before the file takes their place.
        // Nothing between the copy and the mapping writes to static data.
        unsafe {
            map::shared_over(layout.heap.start, layout.heap.len(), file, control.heap_offset(pe))?;
            if self.moved.swap(true, Ordering::Relaxed) {
                return Ok(());
            }
            // Initialised data exists in the program's file, touched or not.
            copy(data.pages.start..data.file_end)?;
            program::touched(data.file_end..data.pages.end, map::page_size(), copy)?;
            map::shared_over(data.pages.start, data.pages.len(), file, to)
        }
    }

    fn attach(&self, control: &Control, pe: usize, layout: &Layout) -> Result<(), Error> {
        let file = control.file();
        for (range, offset) in
            [(&layout.data, control.data_offset(pe)), (&layout.heap, control.heap_offset(pe))]
        {
            let at = layout.mirrored(pe, range.start);
            // SAFETY: the place lies in the window reserved for this mirror, which
            // nobody uses before `translate` learns of it.
            unsafe { map::shared_over(at, range.len(), file, offset)? };
            map::mark_foreign(at, range.len());
        }
        Ok(())
    }

    fn withdraw(&self, control: &Control, pe: usize, layout: &Layout) {
        // The mirrors stay: the next session maps over them.
        fd::punch(control.file(), control.heap_offset(pe), layout.heap.len() as u64);
    }

    fn is_shared(&self) -> bool {
        true
    }
}
