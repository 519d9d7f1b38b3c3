//! The default backend: slots live in the job's sealed memfd. Works on stock
//! Linux, in any container, without privilege.
#![allow(unsafe_code)]

use super::Backend;
use crate::error::Error;
use crate::job::control::Control;
use crate::memory::layout::Layout;
use crate::memory::segment::DataSegment;
use crate::sys::{fd, map, program};

/// Slots in the job's memory file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memfd;

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
            // Initialised data exists in the program's file, touched or not.
            copy(data.pages.start..data.file_end)?;
            program::touched(data.file_end..data.pages.end, map::page_size(), copy)?;
            map::shared_over(data.pages.start, data.pages.len(), file, to)
        }
    }

    fn attach(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        heap_bytes: usize,
    ) -> Result<(), Error> {
        let data = layout.mirrored(pe, layout.data.start);
        let heap = layout.mirrored(pe, layout.heap.start);
        let file = control.file();
        // SAFETY: both places lie in the window reserved for this mirror, which
        // nobody uses before `translate` learns of it.
        unsafe {
            map::shared_over(data, layout.data.len(), file, control.data_offset(pe))?;
            map::shared_over(heap, heap_bytes, file, control.heap_offset(pe))?;
        }
        map::mark_foreign(data, layout.data.len());
        map::mark_foreign(heap, heap_bytes);
        Ok(())
    }
}
