//! The choice between the backends of an ordinary build.

use super::Choice;
use super::memfd::Memfd as Recommended;
use super::xpmem::Xpmem;
use crate::env;
use crate::error::Error;
use crate::job::launcher::Launcher;

/// The backend that `SHMEM_BACKEND` asks for: one that is named and cannot work is
/// an error, never a silent fallback.
pub fn choose(_: Launcher) -> Result<Choice, Error> {
    let memfd = |reason| Choice { backend: Box::new(Recommended::default()), reason };
    let xpmem = |backend, reason| Choice { backend: Box::new(backend), reason };
    match env::BACKEND.word()? {
        Some("memfd") => Ok(memfd("SHMEM_BACKEND=memfd".into())),
        Some("xpmem") => Xpmem::open()
            .map(|backend| xpmem(backend, "SHMEM_BACKEND=xpmem".into()))
            .map_err(|error| Error::Slot(format!("SHMEM_BACKEND=xpmem cannot work: {error}"))),
        Some("smartmap") => Err(Error::Slot(
            "SHMEM_BACKEND=smartmap needs a library built with the feature smartmap; this one is not"
                .into(),
        )),
        _ => Ok(match Xpmem::open() {
            Ok(backend) => xpmem(backend, "/dev/xpmem is usable".into()),
            Err(error) => memfd(format!("no xpmem: {error}")),
        }),
    }
}
