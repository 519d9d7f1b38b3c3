//! Attaches peers, each at its first use.

use crate::atomics::{AtomicU64, Ordering};
use crate::failure;
use crate::pause::{Pause, liveness};
use crate::pe::Job;
use crate::pe::about::About;
use crate::pe::partitions::{Partition, difference};
use crate::translate::{ALL_OR_NONE, Mirrored, TABLE};
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::control::{PeRecord, SlotRecord};
use oneshmem_job::remote::Network;
use std::mem::offset_of;

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

    /// Attaches or connects to every peer. Waits until all have initialised.
    pub(crate) fn reach_all(&self) {
        // Each PE begins after itself, so that not all ask one peer at a time.
        for pe in (1..self.npes).map(|nth| (self.pe + nth) % self.npes) {
            match self.is_near(pe) {
                true => {
                    self.mirror(pe);
                }
                // The first question connects.
                false => {
                    self.runs_the_same(pe);
                }
            }
        }
    }

    /// How many peers this PE has attached or connected to, for collectives, too.
    pub(crate) fn reached(&self) -> usize {
        self.attachments.count() + self.network().map_or(0, Network::reached)
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
    pub(crate) fn await_begun(&self, pe: usize) {
        let mut pause = Pause::about(About::Initialisation(pe));
        while !self.has_begun(pe) {
            pause.step();
        }
    }

    fn attach_once(&self, pe: usize) {
        let attach = || match self.attach(pe) {
            Ok(mirrored) => TABLE.set_mirror(pe, self.layout.mirror(pe), mirrored),
            Err(error) => {
                if !matches!(error, Error::Slot(_)) {
                    liveness::leave_if_dead(self, pe);
                }
                failure::fatal(format_args!("attaching PE {pe} failed: {error}"));
            }
        };
        let mut pause = Pause::about(About::Unsaid);
        self.attachments.ensure(pe, attach, || pause.step());
    }

    /// Records that PE `pe`'s heap and partitions are mapped here.
    pub(crate) fn note_mirrors(&self, pe: usize) {
        for space in std::iter::once(self.heap())
            .chain(self.mapped_partitions().iter().map(Partition::space))
        {
            space.add_mirror(&self.layout, pe);
        }
    }

    /// Whether PE `pe` runs this PE's executable. Then static data are symmetric, too. A PE of this node
    /// has begun.
    pub fn runs_the_same(&self, pe: usize) -> bool {
        if let Some(network) = self.network().filter(|_| !self.is_near(pe)) {
            return network.runs_the_same(pe);
        }
        let record = &self.control.pe(pe).slot;
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        self.is_own_image(word(&record.image), word(&record.data_bytes) as usize)
    }

    /// Where PE `pe`'s heap is in that PE's address space, and so where its partitions are. Waits until it has
    /// begun.
    pub fn heap_address(&self, pe: usize) -> u64 {
        match self.network().filter(|_| !self.is_near(pe)) {
            Some(network) => {
                // The first access to a PE waits until that has begun.
                let at = offset_of!(PeRecord, slot) + offset_of!(SlotRecord, heap_address);
                network.engine().word(self.far_record(pe, at))
            }
            None => {
                self.await_begun(pe);
                self.control.pe(pe).slot.heap_address.load(Ordering::Relaxed)
            }
        }
    }

    /// Whether an executable with this number and so many bytes of static data is this PE's.
    pub(crate) fn is_own_image(&self, image: u64, data_bytes: usize) -> bool {
        image == self.data.fingerprint() && data_bytes == self.layout.data().len()
    }

    fn attach(&self, pe: usize) -> Result<Mirrored, Error> {
        let record = &self.control.pe(pe).slot;
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let same = self.runs_the_same(pe);
        if !same && ALL_OR_NONE {
            return Err(Error::Slot(
                "it runs another executable; with the feature smartmap all PEs must run one".into(),
            ));
        }
        self.check_sizes(word(&record.heap_bytes) as usize, word(&record.backend))?;
        if let Some(difference) = difference(&self.control, pe, self.pe) {
            return Err(Error::Slot(format!(
                "its {difference}; SHMEM_SYMMETRIC_PARTITION<number> must be the same on all PEs"
            )));
        }
        self.attach_slot(pe, same)?;
        self.note_mirrors(pe);
        Ok(if same { Mirrored::All } else { Mirrored::HeapOnly })
    }

    /// Compares what all PEs of a job have alike, whatever they run.
    pub(crate) fn check_sizes(&self, heap_bytes: usize, backend: u64) -> Result<(), Error> {
        if heap_bytes != self.layout.heap().len() {
            return Err(Error::Slot(format!(
                "its symmetric heap has {heap_bytes} bytes, this PE's {}; \
                 SHMEM_SYMMETRIC_SIZE must be the same on all PEs",
                self.layout.heap().len()
            )));
        }
        self.choice.difference(backend).map_or(Ok(()), |difference| Err(Error::Slot(difference)))
    }
}
