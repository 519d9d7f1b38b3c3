//! SMARTMAP's addresses on Linux: slots live in the job's memory file, as ever, and their
//! aliases are mapped one by one.
#![allow(unsafe_code)]

use crate::backend::Backend;
use crate::backend::memfd::Memfd;
use crate::error::Error;
use crate::job::control::Control;
use crate::memory::layout::Layout;
use crate::memory::segment::DataSegment;
use crate::sys::map;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Slots in the job's memory file, mirrors at their aliases.
#[derive(Debug, Default)]
pub struct Placed {
    slots: Memfd,
    /// The PEs whose aliases are mapped: for good, they never move.
    mapped: Mutex<BTreeSet<usize>>,
}

impl Placed {
    fn map_aliases(&self, control: &Control, pe: usize, layout: &Layout) -> Result<(), Error> {
        let mut mapped = self.mapped.lock().unwrap_or_else(|e| e.into_inner());
        if mapped.contains(&pe) {
            return Ok(());
        }
        // The heap first: it is the larger, and the likelier to be refused.
        for (range, offset) in
            [(&layout.heap, control.heap_offset(pe)), (&layout.data, control.data_offset(pe))]
        {
            let at = layout.mirrored(pe, range.start);
            if map::reserve_at(at, range.len()).is_none() {
                return Err(Error::Slot(format!(
                    "{at:#x}..{:#x}, where its {:#x}..{:#x} has to appear, is not free in this \
                     process",
                    at + range.len(),
                    range.start,
                    range.end
                )));
            }
            // SAFETY: the place was reserved just now, and nobody uses it before
            // `translate` learns of it.
            unsafe { map::shared_over(at, range.len(), control.file(), offset)? };
            map::mark_foreign(at, range.len());
        }
        mapped.insert(pe);
        Ok(())
    }
}

impl Backend for Placed {
    fn name(&self) -> &'static str {
        "smartmap"
    }

    fn export(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error> {
        self.slots.export(control, pe, layout, data)?;
        // As on Kitten, a PE has an alias of its own memory, too.
        self.map_aliases(control, pe, layout)
    }

    fn attach(&self, control: &Control, pe: usize, layout: &Layout) -> Result<(), Error> {
        self.map_aliases(control, pe, layout)
    }

    fn withdraw(&self, control: &Control, pe: usize, layout: &Layout) {
        self.slots.withdraw(control, pe, layout);
    }

    fn is_shared(&self) -> bool {
        true
    }
}
