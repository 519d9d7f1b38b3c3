//! Exchange between the PEs of a measuring job.

use anyhow::Context;
use oneshmem::{Shmem, Symmetric};
use std::io::Write;
use std::time::Instant;

/// Words in which PEs tell each other numbers.
pub struct Meeting<'s> {
    shmem: &'s Shmem,
    /// On PE 0: each PE's time for a sample.
    took: Symmetric<'s, u64>,
    /// The decision of PE 0.
    decision: Symmetric<'s, u64>,
}

impl<'s> Meeting<'s> {
    /// Called by all PEs.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(shmem: &'s Shmem) -> anyhow::Result<Self> {
        let (took, decision) = (shmem.alloc(shmem.n_pes())?, shmem.alloc(1)?);
        Ok(Self { shmem, took, decision })
    }

    /// Called by all PEs.
    pub fn free(self) {
        self.shmem.free(self.decision);
        self.shmem.free(self.took);
    }

    /// The largest of all PEs' numbers. Only PE 0 knows the result.
    pub fn largest(&self, mine: u64) -> u64 {
        self.shmem.put(self.took.at(self.shmem.my_pe()), &[mine], 0);
        self.shmem.barrier_all();
        self.took.all().to_vec().into_iter().max().unwrap_or(0)
    }

    /// Prints a line for a sample on PE 0, and returns whether the job's time is over. All PEs leave
    /// together: those that stayed would wait for the others.
    ///
    /// # Errors
    /// On PE 0, if the line cannot be printed.
    pub fn print(&self, point: usize, sweep: usize, ns: f64, end: Instant) -> anyhow::Result<bool> {
        let mut printed = Ok(());
        if self.shmem.my_pe() == 0 {
            printed = writeln!(std::io::stdout(), "{point} {sweep} {ns:.1}");
        }
        let over = self.agree(u64::from(printed.is_err() || Instant::now() > end)) != 0;
        printed.context("cannot write samples").map(|()| over)
    }

    /// Distributes PE 0's number to every PE. There is always a sample between two calls.
    pub fn agree(&self, mine: u64) -> u64 {
        if self.shmem.my_pe() == 0 {
            for pe in 0..self.shmem.n_pes() {
                self.shmem.put(self.decision.all(), &[mine], pe);
            }
        }
        self.shmem.barrier_all();
        self.decision.at(0).get()
    }
}
