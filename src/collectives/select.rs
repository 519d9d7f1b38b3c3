//! Which algorithm a collective runs: the one that the program or a variable of the
//! environment has named, else the one that a table says is the quickest for the number
//! of members and bytes ([`tuning`]): the user's own, which `oshtune` measures, or one of
//! the two compiled in, for jobs of more PEs than CPUs and for others.
//!
//! All members must come to the same choice, so it depends on nothing but what all of
//! them know: operation, number of members, bytes, and tables, which they compare.

use super::tuning;
use crate::atomics::{AtomicU64, Ordering};
use crate::env::{self, ValueKind, Variable};
use crate::error::{Error, Routine};
use crate::failure;
use crate::job::{self, Job};
use onenode::collectives::algorithm::Algorithm;
pub use onenode::collectives::algorithm::Operation;
use onenode::collectives::choices::{Choices, Unable};
pub use onenode::collectives::rules;
use rules::Table;

/// What environment, program and tuning file have chosen.
pub(super) static CHOICES: Choices = Choices::new();
/// What the environment says, as one number.
static ENVIRONMENT: AtomicU64 = AtomicU64::new(0);

/// The variable that names the operation's algorithm.
pub fn variable(operation: Operation) -> &'static Variable {
    let names = |variable: &&&Variable| variable.kind == ValueKind::Algorithm(operation);
    match env::ALL.iter().find(names) {
        Some(variable) => variable,
        None => unreachable!("every operation has a variable"),
    }
}

/// Takes over what the environment says, at initialisation.
pub(crate) fn read_environment() -> Result<(), Error> {
    for variable in env::ALL {
        if let ValueKind::Algorithm(operation) = variable.kind
            && let Some(word) = variable.word()?
        {
            CHOICES.name(operation, word);
        }
    }
    if let Some(degree) = env::TREE_DEGREE.count()? {
        CHOICES.set_degree(degree);
    }
    // Under SHMEM_DEBUG there are collectives that other PEs would not come to.
    let words = [CHOICES.fingerprint(), u64::from(env::debugging())];
    ENVIRONMENT.store(rules::mix(&words), Ordering::Relaxed);
    Ok(())
}

/// `shmemx_set_algorithm`: from now on `operation` runs `algorithm`, or with `auto` the
/// one that the table says. To be called by all PEs at the same point between
/// collectives. False if there is no such operation or algorithm.
pub fn set(operation: &str, algorithm: &str) -> bool {
    Operation::named(operation).is_some_and(|operation| CHOICES.name(operation, algorithm))
}

/// The algorithm for a collective of so many members, of which each contributes `bytes`.
#[inline]
pub(super) fn choose<A: Algorithm>(routine: Routine, members: usize, bytes: usize) -> A {
    // Before anything is chosen, by name or not: with the table the members' choices are compared.
    let table = table();
    match CHOICES.choose(table, members, bytes) {
        Ok(algorithm) => algorithm,
        Err(unable) => cannot_serve(routine, A::OPERATION, members, bytes, unable),
    }
}

/// As [`choose`] for people: the number of the algorithm, of [`Operation::algorithms`].
pub fn chosen(operation: Operation, members: usize, bytes: usize) -> Result<usize, Unable> {
    CHOICES.chosen(table(), operation, members, bytes)
}

#[cold]
fn cannot_serve(
    routine: Routine,
    operation: Operation,
    members: usize,
    bytes: usize,
    Unable { algorithm, needs }: Unable,
) -> ! {
    failure::misuse(
        routine,
        format_args!(
            "algorithm \"{algorithm}\", which {} or shmemx_set_algorithm names, for {members} PEs \
             and {bytes} bytes",
            variable(operation).name
        ),
        format_args!("expected {needs}, or another algorithm"),
    )
}

/// The table in force.
#[inline]
pub fn table() -> &'static Table {
    CHOICES.table(|| {
        let table = tuning::load();
        if let Some(job) = job::existing() {
            agree(job, &table);
        }
        table
    })
}

/// Tells the other PEs of this node what this process's choices depend on, and compares with those who
/// have told: of two that differ, the later one finds out, before it runs a collective.
fn agree(job: &Job, table: &Table) {
    let named = [table.fingerprint(), ENVIRONMENT.load(Ordering::Relaxed)];
    let mine = rules::mix(&named).max(1);
    let told = |pe: usize| &job.control().pe(pe).choices;
    told(job.pe()).store(mine, Ordering::SeqCst);
    for pe in job.near() {
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
