//! Which backend maps the job's memory, and why.

use crate::job::launcher::Launcher;
use onenode_core::backend::Backend;
use onenode_core::packed;
use oneshmem_job::env;
use oneshmem_job::error::Error;

/// A backend, and why it was chosen.
pub struct ChosenBackend {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// The reason, for users.
    pub reason: String,
}

impl ChosenBackend {
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
    use onenode_core::backend::{memfd::Memfd, xpmem::Xpmem};
    let memfd = |reason| ChosenBackend { backend: Box::new(Memfd::default()), reason };
    let xpmem = |backend, reason| ChosenBackend { backend: Box::new(backend), reason };
    match env::BACKEND.word()? {
        Some("memfd") => Ok(memfd("SHMEM_BACKEND=memfd".into())),
        Some("xpmem") if has_nodes => Err(Error::Slot(
            "SHMEM_BACKEND=xpmem is for jobs on one node; over several it is memfd".into(),
        )),
        Some("xpmem") => Xpmem::open()
            .map(|backend| xpmem(backend, "SHMEM_BACKEND=xpmem".into()))
            .map_err(|error| Error::Slot(format!("SHMEM_BACKEND=xpmem cannot work: {error}"))),
        Some("smartmap") => Err(Error::Slot(
            "SHMEM_BACKEND=smartmap needs a library built with the feature smartmap; this one is not"
                .into(),
        )),
        // Memory attached through XPMEM cannot be registered with a network.
        _ if has_nodes => Ok(memfd("the job has several nodes".into())),
        _ => Ok(match Xpmem::open() {
            Ok(backend) => xpmem(backend, "/dev/xpmem is usable".into()),
            Err(error) => memfd(format!("no xpmem: {error}")),
        }),
    }
}

/// The backend of this kernel. `SHMEM_BACKEND` can only agree: the addresses that the data path
/// uses were decided when the library was built.
#[cfg(feature = "smartmap")]
pub fn choose(launcher: Launcher, has_nodes: bool) -> Result<ChosenBackend, Error> {
    use onenode_core::backend::smartmap::{Kitten, Placed};
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
        Launcher::Kitten => {
            ChosenBackend { backend: Box::new(Kitten), reason: "Kitten maps all ranks".into() }
        }
        _ => ChosenBackend {
            backend: Box::new(Placed::default()),
            reason: "the kernel has no SMARTMAP: slots are placed at its addresses".into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::ChosenBackend;
    use onenode_core::backend::memfd::Memfd;
    use onenode_core::packed;

    #[test]
    fn a_difference_names_both_backends_and_the_reason() {
        let reason = "no xpmem: /dev/xpmem: No such file or directory".to_owned();
        let choice = ChosenBackend { backend: Box::new(Memfd::default()), reason };
        assert_eq!(choice.difference(packed::word(b"memfd")), None);
        let difference = choice.difference(packed::word(b"xpmem")).expect("they differ");
        assert!(
            difference
                .starts_with("its backend is xpmem, this PE's memfd (no xpmem: /dev/xpmem: No")
        );
    }
}
