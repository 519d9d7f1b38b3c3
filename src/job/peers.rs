//! Attaches peers, each at its first use.

use super::Job;
use super::about::About;
use super::health;
use super::partitions::{Partition, difference};
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::failure;
use crate::pause::Pause;
use crate::translate::{ALL_OR_NONE, TABLE};

impl Job {
    /// Ensures that PE `pe`'s mirror is attached, and returns where it starts. The first use of a
    /// peer waits until that peer has initialised.
    pub fn mirror(&self, pe: usize) -> usize {
        if pe == self.pe {
            return self.layout.start();
        }
        if !self.is_near(pe) {
            self.not_near(pe);
        }
        self.await_begun(pe);
        self.attach_once(pe);
        if ALL_OR_NONE {
            // Attach all peers that have initialised, to avoid doing so one by one later.
            for peer in self.near().filter(|peer| *peer != self.pe && self.has_begun(*peer)) {
                self.attach_once(peer);
            }
        }
        self.layout.mirror(pe)
    }

    /// Ends the job: PE `pe` is on another node, whose memory cannot be mapped.
    #[cold]
    fn not_near(&self, pe: usize) -> ! {
        let host = self.nodes().map(|nodes| nodes.host(nodes.node_of(pe))).unwrap_or_default();
        failure::fatal(format_args!(
            "PE {pe} is on another node, {host}, and its memory cannot be mapped here"
        ))
    }

    /// Whether PE `pe` has begun the lifetime that this PE is in.
    fn has_begun(&self, pe: usize) -> bool {
        self.control.pe(pe).lifetime() >= self.lifetime.load(Ordering::Relaxed)
    }

    /// Waits until PE `pe` has begun the lifetime that this PE is in.
    pub(super) fn await_begun(&self, pe: usize) {
        let mut pause = Pause::about(About::Initialisation(pe));
        while !self.has_begun(pe) {
            pause.step();
        }
    }

    fn attach_once(&self, pe: usize) {
        let attach = || {
            if let Err(error) = self.attach(pe) {
                if !matches!(error, Error::Slot(_)) {
                    health::leave_if_dead(self, pe);
                }
                failure::fatal(format_args!("attaching PE {pe} failed: {error}"));
            }
            TABLE.set_mirror(pe, self.layout.mirror(pe));
        };
        let mut pause = Pause::about(About::Unsaid);
        self.attachments.ensure(pe, attach, || pause.step());
    }

    /// Records that PE `pe`'s heap and partitions are mapped here.
    pub(super) fn note_mirrors(&self, pe: usize) {
        for space in std::iter::once(self.heap())
            .chain(self.mapped_partitions().iter().map(Partition::space))
        {
            space.add_mirror(&self.layout, pe);
        }
    }

    fn attach(&self, pe: usize) -> Result<(), Error> {
        let record = &self.control.pe(pe).slot;
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let sizes = [word(&record.data_bytes), word(&record.heap_bytes)].map(|n| n as usize);
        self.check_slot(sizes, word(&record.image), word(&record.backend))?;
        if let Some(difference) = difference(&self.control, pe, self.pe) {
            return Err(Error::Slot(format!(
                "its {difference}; SHMEM_SYMMETRIC_PARTITION<number> must be the same on all PEs"
            )));
        }
        self.choice.backend.attach(&self.control, pe, &self.layout)?;
        self.note_mirrors(pe);
        Ok(())
    }

    /// Compares another PE's record of its slot with this PE's, the sizes of data and heap first.
    pub(crate) fn check_slot(
        &self,
        [data_bytes, heap_bytes]: [usize; 2],
        image: u64,
        backend: u64,
    ) -> Result<(), Error> {
        if data_bytes != self.layout.data().len() || image != self.data.fingerprint() {
            return Err(Error::Slot(format!(
                "it runs another program: its data segment has {data_bytes} bytes and layout \
                 {image:#x}, this PE's {} bytes and layout {:#x}; all PEs must run one executable",
                self.layout.data().len(),
                self.data.fingerprint()
            )));
        }
        if heap_bytes != self.layout.heap().len() {
            return Err(Error::Slot(format!(
                "its symmetric heap has {heap_bytes} bytes, this PE's {}; \
                 SHMEM_SYMMETRIC_SIZE must be the same on all PEs",
                self.layout.heap().len()
            )));
        }
        if backend != backend_word(self.backend()) {
            return Err(Error::Slot(format!(
                "it does not use the backend {}; SHMEM_BACKEND must be the same on all PEs",
                self.backend()
            )));
        }
        Ok(())
    }
}

/// A backend's name as one word of a PE's record.
pub(super) fn backend_word(name: &str) -> u64 {
    assert!(name.len() <= size_of::<u64>(), "names of backends are compared by one word");
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
    u64::from_le_bytes(bytes)
}
