//! Which algorithm a collective runs: the one that the program or a variable of the
//! environment has named, else the one that a table says is the quickest for the number
//! of members and bytes ([`tuning`]): the user's own, which `oshtune` measures, or one of
//! the two compiled in, for jobs of more PEs than CPUs and for others.
//!
//! All members must come to the same choice, so it depends on nothing but what all of
//! them know: operation, number of members, bytes, and tables, which they compare.

use super::tuning;
use crate::atomics::{AtomicU64, Ordering};
use crate::engine::{Action, Amo, CONTROL, Far};
use crate::env::{self, ValueKind, Variable};
use crate::error::{Error, Routine};
use crate::failure;
use crate::job::control::PeRecord;
use crate::job::{self, Job};
use onenode::collectives::algorithm::Algorithm;
pub use onenode::collectives::algorithm::Operation;
use onenode::collectives::choices::{Choices, Unable};
pub use onenode::collectives::rules;
use rules::Table;
use std::mem::offset_of;
use std::sync::OnceLock;

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

/// As [`choose`], of members on several nodes.
#[cold]
pub(super) fn choose_far<A: Algorithm>(routine: Routine, members: usize, bytes: usize) -> A {
    match CHOICES.choose(table_over_nodes(), members, bytes) {
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
            let told = |pe: usize| &job.control().pe(pe).choices;
            told(job.pe()).store(mine(&table), Ordering::SeqCst);
            let near = job.near().map(|pe| (pe, told(pe).load(Ordering::SeqCst)));
            agree(job.pe(), mine(&table), near);
        }
        table
    })
}

/// The table in force for members on several nodes.
fn table_over_nodes() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table = tuning::load_over_nodes();
        if let (Some(job), Some(nodes)) = (job::existing(), job::existing().and_then(Job::nodes)) {
            let told = |pe: usize| &job.control().pe(pe).far_choices;
            told(job.pe()).store(mine(&table), Ordering::SeqCst);
            // The first PE of a node compares with those of the nodes beside it, the others with
            // it: of two PEs that differ, two that compare are in between.
            let beside = [nodes.own() + nodes.count() - 1, nodes.own() + 1];
            let firsts = beside.map(|node| nodes.pes(node % nodes.count()).start);
            let firsts = firsts.into_iter().filter(|_| job.pe() == job.near().start);
            let others = firsts.filter_map(|pe| Some((pe, told_far(job, pe)?)));
            let near = job.near().map(|pe| (pe, told(pe).load(Ordering::SeqCst)));
            agree(job.pe(), mine(&table), near.chain(others));
        }
        table
    })
}

/// What a PE of another node has told.
fn told_far(job: &Job, pe: usize) -> Option<u64> {
    let engine = job.engine_to(pe)?;
    let within = offset_of!(PeRecord, far_choices) as u64;
    let at = Far { pe, offset: CONTROL + job.control().record_offset(pe) + within };
    Some(engine.fetch(at, Amo { action: Action::Add, operand: 0, bytes: 8 }))
}

/// What this process's choices depend on, as one number.
fn mine(table: &Table) -> u64 {
    rules::mix(&[table.fingerprint(), ENVIRONMENT.load(Ordering::Relaxed)]).max(1)
}

/// Compares what this process's choices depend on with what others have told: of two that differ,
/// the later one finds out, before it runs a collective.
fn agree(me: usize, mine: u64, others: impl Iterator<Item = (usize, u64)>) {
    for (pe, theirs) in others {
        if theirs != 0 && theirs != mine {
            failure::fatal(format_args!(
                "PE {pe} chooses the algorithms of collectives in another way than PE {me}: \
                 SHMEM_*_ALGORITHM, SHMEM_TREE_DEGREE, SHMEM_DEBUG and the tuning file must be \
                 the same for all PEs"
            ));
        }
    }
}
