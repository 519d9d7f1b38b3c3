//! How many operations this PE has issued, and how many have taken effect.

/// How far this PE's operations without a result have come, by their numbers.
#[derive(Default)]
pub struct Progress {
    /// The last one issued.
    pub issued: u64,
    /// The last one that a quiet has to wait for.
    pub owed: u64,
    /// The last one that is known to be complete, with all before.
    pub complete: u64,
    /// How many have been issued since the last quiet.
    since_quiet: u64,
    /// Whether there was one between the last two quiets.
    single: bool,
}

impl Progress {
    /// Counts an operation; returns its number. `owed`: quiets wait for it.
    pub fn count(&mut self, owed: bool) -> u64 {
        self.issued += 1;
        if owed {
            self.since_quiet += 1;
            self.owed = self.issued;
        }
        self.issued
    }

    /// Whether a quiet is likely to follow the next operation, because one followed the last. Notes
    /// the operation, which is to be completed at once in this case.
    pub fn quiet_follows(&mut self) -> bool {
        let likely = self.single && self.since_quiet == 0;
        self.since_quiet += u64::from(likely);
        likely
    }

    /// Notes a quiet; returns the number of the last operation that it has to wait for.
    pub fn quiet(&mut self) -> u64 {
        if self.since_quiet > 0 {
            self.single = self.since_quiet == 1;
            self.since_quiet = 0;
        }
        self.owed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_is_expected_after_one_has_followed_a_single_operation() {
        let mut progress = Progress::default();
        assert!(!progress.quiet_follows(), "nothing is known yet");
        progress.count(true);
        progress.count(false);
        assert_eq!(progress.quiet(), 1);
        for _ in 0..3 {
            assert!(progress.quiet_follows());
            progress.quiet();
            progress.quiet();
        }
        assert!(progress.quiet_follows() && !progress.quiet_follows(), "a second one in a row");
        progress.count(true);
        progress.quiet();
        assert!(!progress.quiet_follows(), "the last quiet followed two");
    }
}
