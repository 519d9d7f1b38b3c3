//! The node: this process and its peers.
#![allow(unsafe_code)]

use crate::argument::{limit, meaning, object, place, record, taken, value};
use crate::failure::OK;
use onenode::{BackendChoice, Card, Config, Crowd, Error, Fork, JobFile, Node};
use onenode_core::sys::fd;
use std::ffi::{c_int, c_void};
use std::os::fd::OwnedFd;

/// `ONENODE_NO_RANKS`.
const NO_RANKS: u32 = u32::MAX;

type Progress = unsafe extern "C" fn(*mut c_void) -> c_int;

/// `onenode_config`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Settings {
    size: u32,
    backend: u32,
    rank: u32,
    fork: u32,
    crowd: u32,
    regions: u32,
    extra: u64,
    progress: Option<Progress>,
    progress_arg: *mut c_void,
    file: c_int,
    zero: u32,
    offset: u64,
    stride: u64,
}

/// The client's function and its argument.
struct Called(Progress, *mut c_void);

// SAFETY: by the header, any thread may call any function, and each one that waits calls this.
unsafe impl Send for Called {}
// SAFETY: by the header, several threads may call it at a time.
unsafe impl Sync for Called {}

impl Called {
    fn turn(&self) -> Result<(), Error> {
        // SAFETY: the client's own function, with the client's own argument.
        match unsafe { self.0(self.1) } {
            0 => Ok(()),
            _ => Err(Error::Stopped),
        }
    }
}

impl Settings {
    /// # Safety
    /// The client keeps the rules of the header for the function, its argument and the descriptor.
    unsafe fn config(&self) -> Result<Config, Error> {
        let backend = meaning("backend", self.backend, BACKENDS)?;
        let fork = meaning("fork", self.fork, FORKS)?;
        let crowd = meaning("crowd", self.crowd, CROWDS)?;
        if self.zero != 0 {
            return Err(Error::argument("zero", self.zero, "0"));
        }
        let progress = self.progress.map(|progress| {
            let called = Called(progress, self.progress_arg);
            Box::new(move || called.turn()) as Box<onenode::Progress>
        });
        let file = match self.file {
            -1 => None,
            number => {
                let file = duplicate("file", number)?;
                Some(JobFile { file, offset: self.offset, stride: self.stride })
            }
        };
        Ok(Config {
            backend,
            rank: (self.rank != NO_RANKS).then_some(self.rank),
            fork,
            crowd,
            regions: self.regions,
            extra: self.extra,
            progress,
            file,
        })
    }
}

const BACKENDS: &[(u32, BackendChoice)] =
    &[(0, BackendChoice::Auto), (1, BackendChoice::Memfd), (2, BackendChoice::Xpmem)];
const FORKS: &[(u32, Fork)] = &[(0, Fork::Shares), (2, Fork::Drops)];
const CROWDS: &[(u32, Crowd)] = &[(0, Crowd::FindOut), (1, Crowd::Shared), (2, Crowd::Alone)];

/// Duplicates the client's descriptor.
pub(crate) fn duplicate(argument: &'static str, number: c_int) -> Result<OwnedFd, Error> {
    fd::copy_of_number(number).map_err(|error| match error.raw_os_error() {
        Some(libc::EBADF) => Error::argument(argument, number, "an open descriptor"),
        _ => onenode_core::Error::of("duplicating the client's descriptor")(error).into(),
    })
}

functions! {
    /// `int onenode_open(const onenode_config *config, onenode_t **node)`
    fn onenode_open(config: *const Settings, node: *mut *mut Node) -> number {
        let (settings, node) = (record("config", config)?, place("node", node)?);
        node.write(Box::into_raw(Box::new(Node::open(settings.config()?)?)));
        Ok(OK)
    }

    /// `int onenode_close(onenode_t *node)`
    fn onenode_close(node: *mut Node) -> number {
        taken("node", node)?.close();
        Ok(OK)
    }

    /// `int onenode_get_card(onenode_t *node, onenode_card *card)`
    fn onenode_get_card(node: *mut Node, card: *mut Card) -> number {
        place("card", card)?.write(object("node", node)?.card()?);
        Ok(OK)
    }

    /// `int onenode_know(onenode_t *node, uint32_t *rank, const onenode_card *card)`
    fn onenode_know(node: *mut Node, rank: *mut u32, card: *const Card) -> number {
        let (node, card) = (object("node", node)?, value("card", card)?);
        let wanted = value("rank", rank)?;
        rank.write(node.know((wanted != NO_RANKS).then_some(wanted), &card)?);
        Ok(OK)
    }

    /// `int onenode_rank_of(onenode_t *node, const onenode_card *card, uint32_t *rank)`
    fn onenode_rank_of(node: *mut Node, card: *const Card, rank: *mut u32) -> number {
        let (node, card) = (object("node", node)?, value("card", card)?);
        place("rank", rank)?.write(node.rank_of(&card)?);
        Ok(OK)
    }

    /// `int onenode_meet(onenode_t *node, const void *key, size_t bytes, uint32_t ranks, uint64_t ns)`
    fn onenode_meet(
        node: *mut Node,
        key: *const u8,
        bytes: usize,
        ranks: u32,
        ns: u64,
    ) -> number {
        let key = std::slice::from_raw_parts(place("key", key.cast_mut())?, bytes);
        object("node", node)?.meet(key, ranks, limit(ns))?;
        Ok(OK)
    }

    /// `int onenode_state(onenode_t *node, uint32_t rank)`
    fn onenode_state(node: *mut Node, rank: u32) -> number {
        Ok(object("node", node)?.state(rank)? as c_int)
    }

    /// `int onenode_attach(onenode_t *node, uint32_t rank, uint64_t ns)`
    fn onenode_attach(node: *mut Node, rank: u32, ns: u64) -> number {
        object("node", node)?.attach(rank, limit(ns))?;
        Ok(OK)
    }

    /// `int onenode_attach_many(onenode_t *node, const uint32_t *ranks, uint32_t n, uint64_t ns,
    /// uint32_t *near)`
    fn onenode_attach_many(
        node: *mut Node,
        ranks: *const u32,
        n: u32,
        ns: u64,
        near: *mut u32,
    ) -> number {
        let (node, limit) = (object("node", node)?, limit(ns));
        let near = if near.is_null() { None } else { Some(place("near", near)?) };
        let here = if ranks.is_null() {
            node.attach_many(0..n, limit)?
        } else {
            let ranks = std::slice::from_raw_parts(place("ranks", ranks.cast_mut())?, n as usize);
            node.attach_many(ranks.iter().copied(), limit)?
        };
        if let Some(near) = near {
            near.write(here as u32);
        }
        Ok(OK)
    }

    /// `int onenode_detach(onenode_t *node, uint32_t rank)`
    fn onenode_detach(node: *mut Node, rank: u32) -> number {
        object("node", node)?.detach(rank)?;
        Ok(OK)
    }

    /// `void *onenode_extra(onenode_t *node, uint32_t rank)`
    fn onenode_extra(node: *mut Node, rank: u32) -> address {
        Ok(object("node", node)?.extra(rank)?.as_ptr() as usize)
    }
}
