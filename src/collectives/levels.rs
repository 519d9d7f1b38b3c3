//! Compares the thread levels of all PEs: unless one of them has `SHMEM_THREAD_MULTIPLE`, each PE makes one
//! library call at a time.

use crate::atomics::Ordering;
use crate::pause::Pause;
use crate::pe::Job;
use crate::pe::about::About;
use crate::pe::threads::{Comparisons, ONE, SEVERAL, THREAD_MULTIPLE, UNKNOWN};
use onenode_core::sys::mutex;
use oneshmem_job::jobfile::control::PeRecord;
use oneshmem_job::jobfile::nodes::Nodes;
use oneshmem_job::remote::{Action, Amo, Engine};
use std::mem::offset_of;

impl Job {
    /// Whether each PE makes one library call at a time: no PE has `SHMEM_THREAD_MULTIPLE`. All PEs get
    /// the same answer. Called by all PEs, in a collective of all: the first call in a lifetime waits for
    /// them. `about` says what for.
    #[inline]
    pub(crate) fn has_one_call_at_a_time(&self, about: impl FnOnce() -> About) -> bool {
        match self.calls.load(Ordering::Relaxed) {
            UNKNOWN => self.compare_levels(about()),
            calls => calls == ONE,
        }
    }

    #[cold]
    fn compare_levels(&self, about: About) -> bool {
        // At `SHMEM_THREAD_MULTIPLE` several threads may be here, in collectives of different sets.
        let mut comparisons = mutex::lock(&self.comparisons);
        match self.calls.load(Ordering::Relaxed) {
            UNKNOWN => {}
            calls => return calls == ONE,
        }
        let is_multiple = |pe| {
            self.await_begun(pe);
            self.control.pe(pe).thread_level.load(Ordering::Relaxed) == THREAD_MULTIPLE
        };
        let mut multiple = self.near().any(is_multiple);
        if let (Some(network), Some(nodes)) = (self.network(), self.nodes()) {
            multiple = comparisons.with_nodes(self, network.engine(), nodes, multiple, about);
        }
        self.calls.store(if multiple { SEVERAL } else { ONE }, Ordering::Relaxed);
        !multiple
    }
}

impl Comparisons {
    /// Whether there is a PE with `SHMEM_THREAD_MULTIPLE`, of those on this node (`multiple`) or on
    /// another: the first PE of each node adds to a counter of each other node's first PE, and writes
    /// the result for its own node.
    fn with_nodes(
        &mut self,
        job: &Job,
        engine: &dyn Engine,
        nodes: &Nodes,
        mut multiple: bool,
        about: About,
    ) -> bool {
        /// A node with `SHMEM_THREAD_MULTIPLE` adds this besides 1.
        const MULTIPLE: u64 = 1 << 32;
        self.made += 1;
        let first = job.near().start;
        let record = job.control.pe(first);
        let mut pause = Pause::about(about);
        if job.pe == first {
            let operand = 1 + if multiple { MULTIPLE } else { 0 };
            for pe in (0..nodes.count()).map(|node| nodes.pes(node).start).filter(|pe| *pe != first)
            {
                let at = job.far_record(pe, offset_of!(PeRecord, levels));
                engine.update(at, Amo::on_u64(Action::Add, operand));
            }
            engine.quiet();
            // No node is in the next comparison before this PE has left this one's collective.
            let awaited = self.made * (nodes.count() as u64 - 1);
            let counted = || record.levels.load(Ordering::Acquire);
            while counted() % MULTIPLE < awaited {
                pause.step();
            }
            let before = std::mem::replace(&mut self.multiple, counted() / MULTIPLE);
            multiple |= self.multiple > before;
            record.highest.store(self.made << 1 | u64::from(multiple), Ordering::Release);
        }
        loop {
            let highest = record.highest.load(Ordering::Acquire);
            if highest >> 1 == self.made {
                return highest & 1 == 1;
            }
            pause.step();
        }
    }
}
