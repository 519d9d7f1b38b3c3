//! The operations and their tables.

use super::algorithm::{Algorithm, Operation};
use super::{alltoall, barrier, broadcast, collect, reduce, scan};

/// Facts of an operation, whatever its calls look like.
struct OperationProperties {
    operation: Operation,
    name: &'static str,
    algorithms: &'static [&'static str],
    serves: fn(usize, usize, usize) -> Result<(), &'static str>,
}

/// The table entry for the algorithms `A`.
const fn table<A: Algorithm>(name: &'static str) -> OperationProperties {
    OperationProperties {
        operation: A::OPERATION,
        name,
        algorithms: A::NAMES,
        serves: |number, members, bytes| {
            A::numbered(number).map_or(Ok(()), |algorithm| algorithm.serves(members, bytes))
        },
    }
}

/// How many operations there are.
pub const OPERATIONS: usize = TABLES.len();

const TABLES: &[OperationProperties] = &[
    table::<barrier::Algorithm>("barrier"),
    table::<broadcast::Algorithm>("broadcast"),
    table::<collect::Algorithm>("collect"),
    table::<collect::EqualAlgorithm>("fcollect"),
    table::<alltoall::Algorithm>("alltoall"),
    table::<alltoall::StridedAlgorithm>("alltoalls"),
    table::<reduce::Algorithm>("reduce"),
    table::<scan::Algorithm>("scan"),
];

impl Operation {
    /// All operations.
    pub const ALL: [Self; OPERATIONS] = {
        let mut all = [Self::Barrier; OPERATIONS];
        let mut place = 0;
        while place < OPERATIONS {
            all[place] = TABLES[place].operation;
            place += 1;
        }
        all
    };

    const fn table(self) -> &'static OperationProperties {
        &TABLES[self as usize]
    }

    /// Its name in files and environment variables.
    pub const fn name(self) -> &'static str {
        self.table().name
    }

    /// The operation of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// The names of its algorithms. The first is `auto`, the choice by table.
    pub const fn algorithms(self) -> &'static [&'static str] {
        self.table().algorithms
    }

    /// Checks that algorithm number `number` (of [`algorithms`](Self::algorithms)) can serve this
    /// many members and bytes: the bytes that one member contributes, for collect their mean.
    ///
    /// # Errors
    /// If it cannot, its requirement in words.
    pub fn serves(self, number: usize, members: usize, bytes: usize) -> Result<(), &'static str> {
        (self.table().serves)(number, members, bytes)
    }
}

#[cfg(test)]
#[test]
fn every_operation_is_at_its_place_and_its_first_algorithm_serves_all() {
    for (place, operation) in Operation::ALL.into_iter().enumerate() {
        assert_eq!(operation as usize, place);
        assert_eq!(Operation::named(operation.name()), Some(operation));
        for members in 1..40 {
            for bytes in [0, 1, 113, 8193, usize::MAX] {
                assert_eq!(operation.serves(1, members, bytes), Ok(()));
            }
        }
    }
}
