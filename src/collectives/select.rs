//! Which algorithm a collective runs: the one that the program or a variable of the
//! environment has named, else the one that a table says is the quickest for the number
//! of members and bytes ([`tuning`]): the user's own, which `oshtune` measures, or one of
//! the two compiled in, for jobs of more PEs than CPUs and for others.
//!
//! All members must come to the same choice, so it depends on nothing but what all of
//! them know: operation, number of members, bytes, and tables, which they compare.

use super::tuning;
use crate::atomics::{AtomicU64, AtomicUsize, Ordering};
use crate::env::{self, Variable};
use crate::error::{Error, Routine};
use crate::failure;
use crate::job::{self, Job};
use onenode::collectives::algorithms::{Choice, OPERATIONS};
pub use onenode::collectives::{algorithms::Operation, rules};
use rules::Table;
use std::sync::OnceLock;

/// The variable that names the operation's algorithm.
pub fn variable(operation: Operation) -> &'static Variable {
    match operation {
        Operation::Barrier => &env::BARRIER_ALGORITHM,
        Operation::Broadcast => &env::BROADCAST_ALGORITHM,
        Operation::Collect => &env::COLLECT_ALGORITHM,
        Operation::Fcollect => &env::FCOLLECT_ALGORITHM,
        Operation::Alltoall => &env::ALLTOALL_ALGORITHM,
        Operation::Alltoalls => &env::ALLTOALLS_ALGORITHM,
        Operation::Reduce => &env::REDUCE_ALGORITHM,
        Operation::Scan => &env::SCAN_ALGORITHM,
    }
}

/// Numbers of the algorithms that were named, `AUTO` where none was.
static NAMED: [AtomicUsize; OPERATIONS] = [const { AtomicUsize::new(AUTO) }; OPERATIONS];
const AUTO: usize = 0;
/// Children of a node in trees.
static DEGREE: AtomicUsize = AtomicUsize::new(DEFAULT_DEGREE);
const DEFAULT_DEGREE: usize = 4;
/// What the environment says, as one number.
static ENVIRONMENT: AtomicU64 = AtomicU64::new(0);

/// Takes over what the environment says, at initialisation.
pub(crate) fn read_environment() -> Result<(), Error> {
    for operation in Operation::ALL {
        if let Some(word) = variable(operation).word()? {
            name(operation, word);
        }
    }
    if let Some(degree) = env::TREE_DEGREE.count()? {
        DEGREE.store(degree, Ordering::Relaxed);
    }
    let words = NAMED.iter().chain([&DEGREE]).map(|word| word.load(Ordering::Relaxed) as u64);
    // Under SHMEM_DEBUG there are collectives that other PEs would not come to.
    let words: Vec<_> = words.chain([u64::from(env::debugging())]).collect();
    ENVIRONMENT.store(rules::mix(&words), Ordering::Relaxed);
    Ok(())
}

fn name(operation: Operation, algorithm: &str) -> bool {
    let index = operation.algorithms().iter().position(|name| *name == algorithm);
    if let Some(index) = index {
        NAMED[operation as usize].store(index, Ordering::Relaxed);
    }
    index.is_some()
}

/// `shmemx_set_algorithm`: from now on `operation` runs `algorithm`, or with `auto` the
/// one that the table says. To be called by all PEs at the same point between
/// collectives. False if there is no such operation or algorithm.
pub fn set(operation: &str, algorithm: &str) -> bool {
    Operation::named(operation).is_some_and(|operation| name(operation, algorithm))
}

/// How many children a node has in the k-ary and k-nomial trees of barriers and broadcasts.
pub(super) fn degree() -> usize {
    DEGREE.load(Ordering::Relaxed)
}

/// The algorithm for a collective of so many members, of which each contributes `bytes`.
#[inline]
pub(super) fn choose<C: Choice>(routine: Routine, members: usize, bytes: usize) -> C {
    let operation = C::OPERATION;
    // Before anything is chosen, by name or not: with the table the members' choices are compared.
    let table = table();
    match C::numbered(NAMED[operation as usize].load(Ordering::Relaxed)) {
        Some(named) => match named.serves(members, bytes) {
            Ok(()) => named,
            Err(needs) => cannot_serve(routine, operation, named.name(), members, bytes, needs),
        },
        None => table
            .find(operation, members, |rule| {
                let choice = C::numbered(rule.algorithm)?;
                (bytes <= rule.bytes && choice.serves(members, bytes).is_ok()).then_some(choice)
            })
            .unwrap_or(C::DIRECT),
    }
}

/// As [`choose`] for people: the number of the algorithm, of [`Operation::algorithms`]; what
/// the one that is named needs, if it cannot serve the case.
pub fn chosen(operation: Operation, members: usize, bytes: usize) -> Result<usize, &'static str> {
    match NAMED[operation as usize].load(Ordering::Relaxed) {
        AUTO => Ok(table().choice(operation, members, bytes)),
        named => operation.serves(named, members, bytes).map(|()| named),
    }
}

#[cold]
fn cannot_serve(
    routine: Routine,
    operation: Operation,
    name: &str,
    members: usize,
    bytes: usize,
    needs: &str,
) -> ! {
    failure::misuse(
        routine,
        format_args!(
            "algorithm \"{name}\", which {} or shmemx_set_algorithm names, for {members} PEs and \
             {bytes} bytes",
            variable(operation).name
        ),
        format_args!("expected {needs}, or another algorithm"),
    )
}

/// The table in force.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table = tuning::load();
        if let Some(job) = job::existing() {
            agree(job, &table);
        }
        table
    })
}

/// Tells the other PEs what this process's choices depend on, and compares with those who
/// have told: of two that differ, the later one finds out, before it runs a collective.
fn agree(job: &Job, table: &Table) {
    let named = [table.fingerprint(), ENVIRONMENT.load(Ordering::Relaxed)];
    let mine = rules::mix(&named).max(1);
    let told = |pe: usize| &job.control().pe(pe).choices;
    told(job.pe()).store(mine, Ordering::SeqCst);
    for pe in 0..job.npes() {
        let theirs = told(pe).load(Ordering::SeqCst);
        if theirs != 0 && theirs != mine {
            failure::fatal(format_args!(
                "PE {pe} chooses the algorithms of collectives in another way than PE {}: \
                 SHMEM_*_ALGORITHM, SHMEM_TREE_DEGREE, SHMEM_DEBUG and the tuning file must be \
                 the same for all PEs",
                job.pe()
            ));
        }
    }
}
