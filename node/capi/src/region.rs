//! Regions: memory of this process that peers can reach.
#![allow(unsafe_code)]

use crate::argument::{meaning, object, record};
use crate::failure::OK;
use crate::node::duplicate;
use onenode::{Alloc, Error, Key, Node, Pages, Region};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::with_exposed_provenance_mut;

/// `onenode_memory`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Memory {
    size: u32,
    source: u32,
    start: *mut c_void,
    bytes: u64,
    align: u64,
    pages: u32,
    fd: c_int,
    offset: u64,
}

/// `enum onenode_source`.
#[derive(Clone, Copy, Debug)]
enum Source {
    Alloc,
    Adopt,
    Program,
    Export,
    File,
}

const SOURCES: &[(u32, Source)] = &[
    (1, Source::Alloc),
    (2, Source::Adopt),
    (3, Source::Program),
    (4, Source::Export),
    (5, Source::File),
];

impl Memory {
    /// The range of existing memory.
    fn range(&self) -> Result<Range<usize>, Error> {
        let start = self.start.expose_provenance();
        match start.checked_add(self.bytes as usize) {
            Some(end) if start != 0 && self.bytes > 0 => Ok(start..end),
            _ => {
                let value = format!("{} bytes at {start:#x}", self.bytes);
                Err(Error::argument("memory", value, "memory of this process"))
            }
        }
    }

    /// Checks that fields without a meaning for this source are 0.
    fn check(&self, source: Source) -> Result<(), Error> {
        use Source::{Alloc, File, Program};
        let fields = [
            ("memory.start", self.start.addr() as u64, !matches!(source, Program)),
            ("memory.bytes", self.bytes, !matches!(source, Program)),
            ("memory.align", self.align, matches!(source, Alloc)),
            ("memory.pages", self.pages.into(), matches!(source, Alloc)),
            ("memory.offset", self.offset, matches!(source, File)),
        ];
        match fields.iter().find(|(_, value, meant)| *value != 0 && !meant) {
            Some((field, value, _)) => {
                Err(Error::argument(field, value, format!("0, as memory.source is {source:?}")))
            }
            None => Ok(()),
        }
    }

    /// # Safety
    /// As for the [`Node`] function of that source.
    unsafe fn region(&self, node: &Node, key: Key) -> Result<Region, Error> {
        let source = meaning("memory.source", self.source, SOURCES)?;
        self.check(source)?;
        // SAFETY: the caller guarantees what the function of that source requires.
        unsafe {
            match source {
                Source::Alloc => node.alloc_as(key, &self.alloc()),
                Source::Adopt => node.adopt(key, self.range()?),
                Source::Program => node.adopt_program(key),
                Source::Export => node.export(key, self.range()?),
                Source::File => {
                    let file = duplicate("memory.fd", self.fd)?;
                    node.file(key, self.range()?, file.as_fd(), self.offset)
                }
            }
        }
    }

    fn alloc(&self) -> Alloc {
        let pages = Pages::from_word(u64::from(self.pages));
        Alloc {
            bytes: self.bytes as usize,
            pages,
            align: self.align as usize,
            hint: self.start.addr(),
        }
    }
}

/// Stores where a region begins and how long it is, as far as the client wants to know.
///
/// # Safety
/// `start` and `bytes` can be written, or are null.
unsafe fn store(region: &Region, start: *mut *mut c_void, bytes: *mut u64) {
    // SAFETY: checked not to be null, so the caller guarantees that they can be written.
    unsafe {
        if !start.is_null() {
            start.write(with_exposed_provenance_mut(region.start));
        }
        if !bytes.is_null() {
            bytes.write(region.bytes as u64);
        }
    }
}

functions! {
    /// `int onenode_region(onenode_t *node, uint64_t key, const onenode_memory *memory, void **start,
    /// uint64_t *bytes)`
    fn onenode_region(
        node: *mut Node,
        key: u64,
        memory: *const Memory,
        start: *mut *mut c_void,
        bytes: *mut u64,
    ) -> number {
        let (node, memory) = (object("node", node)?, record("memory", memory)?);
        let region = memory.region(node, Key(key))?;
        store(&region, start, bytes);
        Ok(OK)
    }

    /// `int onenode_region_of(onenode_t *node, const void *own, uint64_t *key, void **start, uint64_t
    /// *bytes)`
    fn onenode_region_of(
        node: *mut Node,
        own: *const c_void,
        key: *mut u64,
        start: *mut *mut c_void,
        bytes: *mut u64,
    ) -> number {
        let region = object("node", node)?.region_of(own.addr())?;
        if !key.is_null() {
            key.write(region.key.0);
        }
        store(&region, start, bytes);
        Ok(OK)
    }

    /// `int onenode_unregion(onenode_t *node, uint64_t key)`
    fn onenode_unregion(node: *mut Node, key: u64) -> number {
        object("node", node)?.unregion(Key(key))?;
        Ok(OK)
    }
}
