//! Which backend maps the job's memory, and why.

use crate::pe::launcher::Launcher;
use onenode_core::backend::{self, Backend, Naming};
use onenode_core::layout::{Layout, Sizes};
use onenode_core::packed;
use onenode_core::segment::DataSegment;
use onenode_core::sys::cgroup;
use oneshmem_job::env;
use oneshmem_job::error::Error;

/// A backend, and why it was chosen.
pub struct ChosenBackend {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// The reason, for users.
    pub reason: String,
}

/// Kitten commits memory when it is requested, from what the loader gave the process: 16 MiB with
/// the simplest of its loaders.
const KITTENS_HEAP: u64 = 4 << 20;

impl ChosenBackend {
    /// Whether slots lie in the job's files, so that forked children see them, too.
    pub fn is_in_files(&self) -> bool {
        self.backend.naming() == Naming::File
    }

    /// The default size of a symmetric heap in bytes. The memory that the node, or its control
    /// group, has is divided among the PEs, so a job that stays within its heaps stays within it.
    pub fn default_heap(&self, npes: usize) -> u64 {
        match self.backend.naming() {
            Naming::Address => KITTENS_HEAP,
            _ => (cgroup::memory() / npes as u64).max(64 << 20),
        }
    }

    /// Finds places for the heap, the partitions and the peers' mirrors: see [`Layout::reserve`].
    pub fn layout(
        &self,
        program: &DataSegment,
        sizes: &Sizes,
        npes: usize,
        chance: u64,
    ) -> Result<Layout, onenode_core::Error> {
        #[cfg(feature = "smartmap")]
        if self.backend.naming() == Naming::Address {
            return Layout::in_own_heap(program, sizes, npes);
        }
        Layout::reserve(program, sizes, npes, chance)
    }

    /// How a PE with the backend of this name, as a word, differs.
    pub fn difference(&self, other: u64) -> Option<String> {
        let (own, reason) = (self.backend.name(), &self.reason);
        (other != packed::word(own.as_bytes())).then(|| {
            format!(
                "its backend is {}, this PE's {own} ({reason}); all PEs need the same one: with \
                 SHMEM_BACKEND=auto all or none of them must be able to use /dev/xpmem, and memfd always \
                 works",
                packed::name([other])
            )
        })
    }
}

/// The backend for this job. If `SHMEM_BACKEND` names one that cannot work, that is an error, never
/// a silent fallback.
#[cfg(not(feature = "smartmap"))]
pub fn choose(_: Launcher, has_nodes: bool) -> Result<ChosenBackend, Error> {
    match env::BACKEND.word()? {
        Some("xpmem") if has_nodes => Err(Error::Slot(
            "SHMEM_BACKEND=xpmem is for jobs on one node; over several it is memfd".into(),
        )),
        Some("smartmap") => Err(Error::Slot(
            "SHMEM_BACKEND=smartmap needs a library built with the feature smartmap; this one is not"
                .into(),
        )),
        Some(name) if name != "auto" => {
            let why = |error| Error::Slot(format!("SHMEM_BACKEND={name} cannot work: {error}"));
            let backend = backend::open(name).map_err(why)?;
            Ok(ChosenBackend { backend, reason: format!("SHMEM_BACKEND={name}") })
        }
        // Memory attached through XPMEM cannot be registered with a network.
        _ if has_nodes => Ok(ChosenBackend {
            backend: backend::open("memfd")?,
            reason: "the job has several nodes".into(),
        }),
        _ => {
            let (backend, reason) = backend::best();
            Ok(ChosenBackend { backend, reason })
        }
    }
}

/// The backend of this kernel. `SHMEM_BACKEND` can only agree: the addresses that the data path
/// uses were decided when the library was built.
#[cfg(feature = "smartmap")]
pub fn choose(launcher: Launcher, has_nodes: bool) -> Result<ChosenBackend, Error> {
    if has_nodes {
        return Err(Error::Slot(
            "a library built with the feature smartmap serves jobs on one node only".into(),
        ));
    }
    match env::BACKEND.word()? {
        None | Some("auto" | "smartmap") => {}
        Some(other) => {
            return Err(Error::Slot(format!(
                "SHMEM_BACKEND={other} needs a library built without the feature smartmap"
            )));
        }
    }
    Ok(match launcher {
        Launcher::Kitten => ChosenBackend {
            backend: Box::new(backend::Kitten),
            reason: "Kitten maps all ranks".into(),
        },
        _ => ChosenBackend {
            backend: backend::open("smartmap")?,
            reason: "the kernel has no SMARTMAP: slots are placed at its addresses".into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_both_backends_and_the_reason() {
        let reason = "no xpmem: /dev/xpmem: No such file or directory".to_owned();
        let backend = backend::open("memfd").expect("it works everywhere");
        let choice = ChosenBackend { backend, reason };
        assert_eq!(choice.difference(packed::word(b"memfd")), None);
        let difference = choice.difference(packed::word(b"xpmem")).expect("they differ");
        assert!(
            difference
                .starts_with("its backend is xpmem, this PE's memfd (no xpmem: /dev/xpmem: No")
        );
    }
}
