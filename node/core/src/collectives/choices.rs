//! Chooses the algorithm that a collective runs: the named one, or else the one that a table gives
//! as the quickest for the number of members and bytes ([`rules`](super::rules)).
//!
//! All members must make the same choice, so it depends only on what all of them know: operation,
//! number of members, bytes, names and table.

use super::algorithm::{Algorithm, Operation};
use super::operation::OPERATIONS;
use super::rules::{RuleTable, mix};
use crate::atomics::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// A client's choices.
#[derive(Debug)]
pub struct Choices {
    /// The number of the algorithm named for each operation, `AUTO` if none was.
    named: [AtomicUsize; OPERATIONS],
    /// Children per node in trees.
    degree: AtomicUsize,
    table: OnceLock<RuleTable>,
}

const AUTO: usize = 0;
const DEFAULT_DEGREE: usize = 4;

/// The named algorithm cannot serve the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unable {
    /// Its name.
    pub algorithm: &'static str,
    /// Its requirement, in words.
    pub needs: &'static str,
}

impl Choices {
    /// No algorithm named, and no table yet.
    pub const fn new() -> Self {
        Self {
            named: [const { AtomicUsize::new(AUTO) }; OPERATIONS],
            degree: AtomicUsize::new(DEFAULT_DEGREE),
            table: OnceLock::new(),
        }
    }

    /// Makes `operation` run `algorithm` from now on; `auto` leaves the choice to the table. All
    /// members must call this at the same point between collectives. Returns false if there is no
    /// such algorithm.
    pub fn name(&self, operation: Operation, algorithm: &str) -> bool {
        let number = operation.algorithms().iter().position(|name| *name == algorithm);
        if let Some(number) = number {
            self.named[operation as usize].store(number, Ordering::Relaxed);
        }
        number.is_some()
    }

    /// How many children a node has in the k-ary and k-nomial trees of barriers and broadcasts.
    pub fn degree(&self) -> usize {
        self.degree.load(Ordering::Relaxed)
    }

    /// Sets the [`degree`](Self::degree).
    pub fn set_degree(&self, degree: usize) {
        self.degree.store(degree, Ordering::Relaxed);
    }

    /// The table. The first call creates it with `make`.
    #[inline]
    pub fn table(&self, make: impl FnOnce() -> RuleTable) -> &RuleTable {
        self.table.get_or_init(make)
    }

    /// A hash of the names and the degree.
    pub fn fingerprint(&self) -> u64 {
        let words = self.named.iter().chain([&self.degree]);
        mix(&words.map(|word| word.load(Ordering::Relaxed) as u64).collect::<Vec<_>>())
    }

    /// The algorithm for a collective of `members` members that contribute `bytes` bytes each.
    ///
    /// # Errors
    /// If the named algorithm cannot serve the case.
    #[inline(always)]
    pub fn choose<A: Algorithm>(
        &self,
        table: &RuleTable,
        members: usize,
        bytes: usize,
    ) -> Result<A, Unable> {
        let serves = |algorithm: &A| algorithm.serves(members, bytes);
        self.pick(table, A::OPERATION, members, bytes, A::numbered, serves)
            .map(|found| found.unwrap_or(A::ALL[0]))
    }

    /// As [`choose`](Self::choose), but returns the algorithm's index in [`Operation::algorithms`],
    /// for display.
    ///
    /// # Errors
    /// As for [`choose`](Self::choose).
    pub fn chosen(
        &self,
        table: &RuleTable,
        operation: Operation,
        members: usize,
        bytes: usize,
    ) -> Result<usize, Unable> {
        let numbered = |number| (number != AUTO).then_some(number);
        let serves = |number: &usize| operation.serves(*number, members, bytes);
        self.pick(table, operation, members, bytes, numbered, serves)
            .map(|found| found.unwrap_or(AUTO + 1))
    }

    /// The named algorithm, else the one that the table gives.
    #[inline(always)]
    fn pick<R>(
        &self,
        table: &RuleTable,
        operation: Operation,
        members: usize,
        bytes: usize,
        numbered: impl Fn(usize) -> Option<R>,
        serves: impl Fn(&R) -> Result<(), &'static str>,
    ) -> Result<Option<R>, Unable> {
        let number = self.named[operation as usize].load(Ordering::Relaxed);
        match numbered(number) {
            Some(named) => match serves(&named) {
                Ok(()) => Ok(Some(named)),
                Err(needs) => Err(Unable { algorithm: operation.algorithms()[number], needs }),
            },
            None => Ok(table.find(operation, members, bytes, |number| {
                numbered(number).filter(|algorithm| serves(algorithm).is_ok())
            })),
        }
    }
}

impl Default for Choices {
    fn default() -> Self {
        Self::new()
    }
}
