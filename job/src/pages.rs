//! The pages that the symmetric heap is made of: those requested, and those obtained.
//!
//! *Explicit* huge pages are a pool that the system's administrator has set aside; a heap gets all
//! its pages from it at initialisation, or none. *Transparent* huge pages are made by the kernel
//! where it can. A request that cannot be met is reported once per job, and ordinary pages are
//! used.

use super::partition;
use crate::env::{self, parse_size};
use onenode_core::Error;
use onenode_core::pages::{Bytes, Pages};
use onenode_core::sys::{fd, huge, map, numa};
use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::os::fd::OwnedFd;

/// The pages that the environment requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPages {
    /// The variable and its value; `None` if nothing was requested.
    asked: Option<String>,
    /// The size of the explicit pages if they were requested, or why there can be none.
    explicit: Option<Result<usize, String>>,
    transparent: bool,
    /// Bytes to populate at initialisation.
    populate: usize,
}

impl RequestedPages {
    /// Reads the variables.
    pub fn from_environment() -> Result<Self, crate::error::Error> {
        let size = env::SYMMETRIC_HEAP_PAGE_SIZE.bytes()?;
        let word = env::SYMMETRIC_HEAP_USE_HUGE_PAGES.word()?;
        let (explicit, transparent) = match word {
            None => (false, false),
            Some(word) if env::is_off(word) => (false, false),
            Some("explicit") => (true, false),
            Some("transparent") => (false, true),
            // Naming a size asks for explicit pages.
            Some(_) => (true, size.is_none()),
        };
        let populate = env::SYMMETRIC_HEAP_POPULATE.bytes()?.unwrap_or(0) as usize;
        Ok(Self {
            asked: word
                .filter(|_| explicit || transparent)
                .map(|_| env::SYMMETRIC_HEAP_USE_HUGE_PAGES.shown()),
            explicit: explicit.then(|| explicit_size(size)),
            transparent,
            populate,
        })
    }

    /// The heap's size and address must be multiples of this.
    pub fn unit(&self) -> usize {
        match self.explicit {
            Some(Ok(size)) => size,
            _ => map::page_size(),
        }
    }

    /// Checks the variables against the size of the heap.
    ///
    /// # Errors
    /// If more is to be populated than there is.
    pub fn check(&self, heap: usize) -> Result<(), crate::error::Error> {
        match self.populate > heap {
            true => Err(env::SYMMETRIC_HEAP_POPULATE
                .refused(format!("expected at most the heap's size, {}", Bytes(heap)))),
            false => Ok(()),
        }
    }

    /// Maps the heap with `lay`, using the best pages available; if `placed`, on this PE's node.
    ///
    /// # Errors
    /// If not even ordinary pages are available.
    pub fn lay(
        &self,
        heap: &Range<usize>,
        placed: bool,
        lay: impl Fn(Pages) -> Result<(), Error>,
    ) -> Result<HeapPages, Error> {
        let mut failures = Vec::new();
        let mut pages = Pages::Normal;
        let explicit = self.explicit.iter().cloned().map(|size| size.map(Pages::Explicit));
        let transparent = self.transparent.then_some(Ok(Pages::Transparent));
        for wanted in explicit.chain(transparent) {
            let laid = wanted.and_then(|wanted| {
                lay(wanted).map(|()| wanted).map_err(|error| {
                    let why = why_not(wanted, heap.len(), &error);
                    format!("a symmetric heap ({}): {why}", env::SYMMETRIC_SIZE.name)
                })
            });
            match laid {
                Ok(wanted) => {
                    pages = wanted;
                    break;
                }
                Err(why) => failures.push(why),
            }
        }
        if pages == Pages::Normal {
            lay(pages)?;
        }
        let node = placed.then(numa::own_node).flatten();
        let node = node.map(|node| (node, numa::prefer(heap, node)));
        let mut got = HeapPages { pages, failures, node: None, populated: 0, complaint: None };
        got.node = node.map(|(node, placed)| match placed {
            // The kernel keeps no memory policy for a file of explicit pages.
            Ok(()) if matches!(pages, Pages::Explicit(_)) => {
                format!("on NUMA node {node} where this PE touches them first")
            }
            Ok(()) => format!("on NUMA node {node}"),
            Err(error) => format!("on any NUMA node (mbind: {error})"),
        });
        self.populate(heap, &mut got);
        if let (Some(asked), Pages::Normal) = (&self.asked, pages) {
            let why = got.failures.join("; ");
            got.complaint = Some(format!("{asked}: {why}; going on with {pages}"));
        }
        Ok(got)
    }

    fn populate(&self, heap: &Range<usize>, got: &mut HeapPages) {
        let bytes = self.populate.next_multiple_of(got.pages.size());
        if bytes == 0 {
            return;
        }
        match map::populate(heap.start, bytes) {
            Ok(()) => got.populated = bytes,
            // A kernel before 5.14.
            Err(error) => {
                got.complaint = Some(format!(
                    "{}: {bytes} bytes could not be made at start (madvise: {error}); going on \
                     with pages made as they are touched",
                    env::SYMMETRIC_HEAP_POPULATE.name
                ));
            }
        }
    }
}

/// The heap's pages in one lifetime.
#[derive(Clone, Debug)]
pub struct HeapPages {
    /// The pages it is made of.
    pub pages: Pages,
    /// Why each preferred kind of pages was not available.
    failures: Vec<String>,
    /// Where they are, on a machine with several memories.
    node: Option<String>,
    /// Bytes populated so far.
    populated: usize,
    /// A warning for the user.
    pub complaint: Option<String>,
}

impl HeapPages {
    /// Bytes from the heap's start that were populated at initialisation.
    pub fn populated(&self) -> usize {
        self.populated
    }
}

impl fmt::Display for HeapPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pages)?;
        if let Some(node) = &self.node {
            write!(f, ", {node}")?;
        }
        if self.populated > 0 {
            write!(f, ", {} made at start", Bytes(self.populated))?;
        }
        match &self.complaint {
            Some(complaint) => write!(f, " ({complaint})"),
            None if self.failures.is_empty() => Ok(()),
            None => write!(f, " ({})", self.failures.join("; ")),
        }
    }
}

/// The size of explicit pages, if this system has them.
fn explicit_size(asked: Option<u64>) -> Result<usize, String> {
    let sizes = huge::sizes();
    let Some(size) = asked.map(|size| size as usize).or_else(huge::default_size) else {
        return Err("the system has no explicit huge pages".into());
    };
    if sizes.contains(&size) {
        return Ok(size);
    }
    let known: Vec<_> = sizes.into_iter().map(|size| Bytes(size).to_string()).collect();
    Err(format!(
        "{}: the system has huge pages of {} only",
        env::SYMMETRIC_HEAP_PAGE_SIZE.shown(),
        if known.is_empty() { "no size".into() } else { known.join(", ") }
    ))
}

/// Explains why memory of `bytes` bytes could not be made of these pages.
pub fn why_not(pages: Pages, bytes: usize, error: &Error) -> String {
    let out_of_memory = |error: &Error| matches!(error, Error::System { source, .. } if source.raw_os_error() == Some(libc::ENOMEM));
    match pages {
        Pages::Explicit(size) if out_of_memory(error) => {
            let (free, all) = huge::available(size).unwrap_or((0, 0));
            format!(
                "{bytes} bytes need {} huge pages of {}, and {free} of the system's {all} are free \
                 (see vm.nr_hugepages of the system)",
                bytes.div_ceil(size),
                Bytes(size)
            )
        }
        _ => error.to_string(),
    }
}

/// The file for all heaps and partitions of a job that are made of explicit huge pages, if the
/// variables (looked up by `value_of`) request such pages and the system has them. If it does not,
/// the PEs report it.
pub fn file(value_of: impl Fn(&str) -> Option<OsString>) -> Option<OwnedFd> {
    let text = |name: &str| Some(value_of(name)?.to_string_lossy().trim().to_ascii_lowercase());
    let is_explicit = |word: String| word != "transparent" && !env::is_off(&word);
    if !text(env::SYMMETRIC_HEAP_USE_HUGE_PAGES.name).is_some_and(is_explicit) {
        let size = partition::explicit_page(value_of)?;
        return fd::huge_memfd(c"oneshmem-huge", Some(size)).ok();
    }
    let size = match text(env::SYMMETRIC_HEAP_PAGE_SIZE.name) {
        Some(size) => Some(
            parse_size(&size).map(|size| size as usize).filter(|size| size.is_power_of_two())?,
        ),
        None => None,
    };
    fd::huge_memfd(c"oneshmem-huge", size).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn wanted(explicit: Option<Result<usize, String>>, transparent: bool) -> RequestedPages {
        RequestedPages { asked: Some("ASKED=so".into()), explicit, transparent, populate: 0 }
    }

    /// Maps an imaginary heap on a system that has only `possible`, and returns what was tried.
    fn lay(wanted: &RequestedPages, possible: &[Pages]) -> (HeapPages, Vec<Pages>) {
        let tried = RefCell::new(Vec::new());
        let got = wanted.lay(&(0..0), false, |pages| {
            tried.borrow_mut().push(pages);
            if possible.contains(&pages) { Ok(()) } else { Err(Error::NoWay("no".into())) }
        });
        (got.unwrap(), tried.into_inner())
    }

    #[test]
    fn the_best_that_can_be_had_is_taken() {
        use Pages::{Explicit, Normal, Transparent};
        let both = wanted(Some(Ok(HUGE)), true);
        let all = [Normal, Transparent, Explicit(HUGE)];
        for (possible, tried) in [
            (&all[..], &[Explicit(HUGE)][..]),
            (&all[..2], &[Explicit(HUGE), Transparent]),
            (&all[..1], &[Explicit(HUGE), Transparent, Normal]),
        ] {
            let (got, order) = lay(&both, possible);
            assert_eq!(order, tried);
            assert_eq!(got.pages, tried[tried.len() - 1]);
            assert_eq!(got.complaint.is_some(), got.pages == Normal);
        }
        let (got, _) = lay(&wanted(Some(Err("no such size".into())), false), &all);
        assert!(got.complaint.unwrap().contains("no such size; going on with ordinary pages"));
    }

    const HUGE: usize = 2 << 20;

    #[test]
    fn pages_survive_the_word() {
        for pages in [Pages::Normal, Pages::Transparent, Pages::Explicit(HUGE)] {
            assert_eq!(Pages::from_word(pages.word()), pages);
        }
    }

    #[test]
    fn a_file_is_made_only_if_it_is_asked_for() {
        for value in ["no", "0", "off", "transparent", " NO "] {
            assert!(file(|_| Some(value.into())).is_none(), "{value}");
        }
        assert!(file(|_| None).is_none());
    }
}
