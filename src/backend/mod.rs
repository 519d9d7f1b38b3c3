//! How a slot is exported and how a peer's is attached: the one seam between the
//! ways to map memory. No backend is consulted on the data path.

mod memfd;
mod xpmem;

use crate::env;
use crate::error::Error;
use crate::job::control::Control;
use crate::memory::layout::Layout;
use crate::memory::segment::DataSegment;

/// The backend that works everywhere.
pub use memfd::Memfd as Recommended;

/// One way to map peers' slots. A session (first init to last finalize) is one
/// `export`, any number of `attach`, one `withdraw`.
pub trait Backend: Send + Sync {
    /// Its name, as `SHMEM_BACKEND` spells it.
    fn name(&self) -> &'static str;

    /// Makes this PE's slot attachable. The data segment keeps its address and
    /// content, the heap appears at `layout.heap`, zeroed.
    ///
    /// Writes that other threads make to the data segment meanwhile can be lost.
    fn export(
        &self,
        control: &Control,
        pe: usize,
        layout: &Layout,
        data: &DataSegment,
    ) -> Result<(), Error>;

    /// Maps the slot of `pe`, whose heap is as large as this PE's, at its mirror's
    /// place in the window.
    fn attach(&self, control: &Control, pe: usize, layout: &Layout) -> Result<(), Error>;

    /// Gives the heap's memory back, and the mirrors. Nobody uses either any more;
    /// the data segment stays as it is.
    fn withdraw(&self, control: &Control, pe: usize, layout: &Layout);

    /// Whether data segment and heap are shared memory, so that a forked child needs
    /// copies of its own.
    fn is_shared(&self) -> bool;
}

/// A backend, and why it was chosen.
pub struct Choice {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// The reason, for people.
    pub reason: String,
}

/// The backend that `SHMEM_BACKEND` asks for: one that is named and cannot work is
/// an error, never a silent fallback.
pub fn choose() -> Result<Choice, Error> {
    let memfd = |reason| Choice { backend: Box::new(Recommended::default()), reason };
    let xpmem = |backend, reason| Choice { backend: Box::new(backend), reason };
    match env::BACKEND.word()? {
        Some("memfd") => Ok(memfd("SHMEM_BACKEND=memfd".into())),
        Some("xpmem") => xpmem::Xpmem::open()
            .map(|backend| xpmem(backend, "SHMEM_BACKEND=xpmem".into()))
            .map_err(|error| Error::Slot(format!("SHMEM_BACKEND=xpmem cannot work: {error}"))),
        _ => Ok(match xpmem::Xpmem::open() {
            Ok(backend) => xpmem(backend, "/dev/xpmem is usable".into()),
            Err(error) => memfd(format!("no xpmem: {error}")),
        }),
    }
}
