//! Which algorithm a collective runs: the one that was named, else the one that a table
//! says is the quickest for the number of members and bytes ([`rules`](super::rules)).
//!
//! All members must come to the same choice, so it depends on nothing but what all of
//! them know: operation, number of members, bytes, names and table.

use super::algorithm::{Algorithm, Operation};
use super::operation::OPERATIONS;
use super::rules::{Table, mix};
use crate::atomics::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// A client's choices.
#[derive(Debug)]
pub struct Choices {
    /// Numbers of the algorithms that were named, `AUTO` where none was.
    named: [AtomicUsize; OPERATIONS],
    /// Children of a node in trees.
    degree: AtomicUsize,
    table: OnceLock<Table>,
}

const AUTO: usize = 0;
const DEFAULT_DEGREE: usize = 4;

/// An algorithm was named that cannot serve the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unable {
    /// Its name.
    pub algorithm: &'static str,
    /// What it needs, in words.
    pub needs: &'static str,
}

impl Choices {
    /// No names, and no table yet.
    pub const fn new() -> Self {
        Self {
            named: [const { AtomicUsize::new(AUTO) }; OPERATIONS],
            degree: AtomicUsize::new(DEFAULT_DEGREE),
            table: OnceLock::new(),
        }
    }

    /// From now on `operation` runs `algorithm`, or with `auto` the one that the table says. To
    /// be called by all members at the same point between collectives. False if there is no
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

    /// Sets that.
    pub fn set_degree(&self, degree: usize) {
        self.degree.store(degree, Ordering::Relaxed);
    }

    /// The table, which `make` makes when it is asked for first.
    #[inline]
    pub fn table(&self, make: impl FnOnce() -> Table) -> &Table {
        self.table.get_or_init(make)
    }

    /// A number that differs where names or degrees differ.
    pub fn fingerprint(&self) -> u64 {
        let words = self.named.iter().chain([&self.degree]);
        mix(&words.map(|word| word.load(Ordering::Relaxed) as u64).collect::<Vec<_>>())
    }

    /// The algorithm for a collective of so many members, of which each contributes `bytes`.
    ///
    /// # Errors
    /// If the one that was named cannot serve the case.
    #[inline(always)]
    pub fn choose<A: Algorithm>(
        &self,
        table: &Table,
        members: usize,
        bytes: usize,
    ) -> Result<A, Unable> {
        let serves = |algorithm: &A| algorithm.serves(members, bytes);
        self.pick(table, A::OPERATION, members, bytes, A::numbered, serves)
            .map(|found| found.unwrap_or(A::ALL[0]))
    }

    /// As [`choose`](Self::choose) for people: the number of the algorithm, of
    /// [`Operation::algorithms`].
    ///
    /// # Errors
    /// As there.
    pub fn chosen(
        &self,
        table: &Table,
        operation: Operation,
        members: usize,
        bytes: usize,
    ) -> Result<usize, Unable> {
        let numbered = |number| (number != AUTO).then_some(number);
        let serves = |number: &usize| operation.serves(*number, members, bytes);
        self.pick(table, operation, members, bytes, numbered, serves)
            .map(|found| found.unwrap_or(AUTO + 1))
    }

    /// What was named, else what the table finds.
    #[inline(always)]
    fn pick<R>(
        &self,
        table: &Table,
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
