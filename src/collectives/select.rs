//! Chooses the algorithm of a collective: the one that the program or an environment variable
//! names, otherwise the fastest for the number of members and bytes according to a table
//! ([`tuning`]). The table is the user's own, measured by `oshtune`, or one of the two compiled in:
//! one for jobs of more PEs than CPUs, one for all others.
//!
//! All members must make the same choice, so it depends only on what all of them know: operation,
//! number of members, bytes, and tables, which they compare.

use super::tuning;
use crate::atomics::{AtomicU64, Ordering};
use crate::failure;
use crate::pe::{self, Job};
use onenode_core::collectives::algorithm::Algorithm;
pub use onenode_core::collectives::algorithm::Operation;
use onenode_core::collectives::choices::{Choices, Unable};
pub use onenode_core::collectives::rules;
use onenode_core::lock::Word as _;
use oneshmem_job::env::{self, ValueKind, Variable};
use oneshmem_job::error::{Error, Routine};
use oneshmem_job::jobfile::control::PeRecord;
use oneshmem_job::remote::Word;
use rules::RuleTable;
use std::mem::offset_of;
use std::sync::OnceLock;

/// The choices made by environment, program and tuning file.
pub(super) static CHOICES: Choices = Choices::new();
/// The environment's settings, as one number.
static ENVIRONMENT: AtomicU64 = AtomicU64::new(0);

/// The variable that names the operation's algorithm.
pub fn variable(operation: Operation) -> &'static Variable {
    let names = |variable: &&&Variable| variable.kind == ValueKind::Algorithm(operation);
    match env::ALL.iter().find(names) {
        Some(variable) => variable,
        None => unreachable!("every operation has a variable"),
    }
}

/// Reads the environment's settings, at initialisation.
pub(crate) fn read_environment() -> Result<(), Error> {
    for variable in env::ALL {
        let ValueKind::Algorithm(operation) = variable.kind else { continue };
        if let Some(word) = variable.word()? {
            CHOICES.name(operation, word);
        }
    }
    if let Some(degree) = env::TREE_DEGREE.count()? {
        CHOICES.set_degree(degree);
    }
    // Under SHMEM_DEBUG there are additional collectives, in which PEs without it would not take
    // part.
    let words = [CHOICES.fingerprint(), u64::from(env::debugging())];
    ENVIRONMENT.store(rules::mix(&words), Ordering::Relaxed);
    Ok(())
}

/// `shmemx_set_algorithm`: `operation` uses `algorithm` from now on, or with `auto` the one that
/// the table gives. To be called by all PEs at the same point between collectives. `false` if there
/// is no such operation or algorithm.
pub fn set(operation: &str, algorithm: &str) -> bool {
    Operation::named(operation).is_some_and(|operation| CHOICES.name(operation, algorithm))
}

/// The algorithm for a collective of this many members, each of which contributes `bytes`.
#[inline]
pub(super) fn choose<A: Algorithm>(routine: Routine, members: usize, bytes: usize) -> A {
    // Load the table first, even if an algorithm is named: loading it compares the members'
    // choices.
    let table = table();
    match CHOICES.choose(table, members, bytes) {
        Ok(algorithm) => algorithm,
        Err(unable) => cannot_serve(routine, A::OPERATION, members, bytes, unable),
    }
}

/// As [`choose`], for members on several nodes.
#[cold]
pub(super) fn choose_far<A: Algorithm>(routine: Routine, members: usize, bytes: usize) -> A {
    match CHOICES.choose(table_over_nodes(), members, bytes) {
        Ok(algorithm) => algorithm,
        Err(unable) => cannot_serve(routine, A::OPERATION, members, bytes, unable),
    }
}

/// As [`choose`], for display: the algorithm's index in [`Operation::algorithms`].
///
/// # Errors
/// If the user names an algorithm that cannot serve them.
pub fn chosen(operation: Operation, members: usize, bytes: usize) -> Result<usize, Unable> {
    CHOICES.chosen(table(), operation, members, bytes)
}

/// The name of the algorithm that [`choose`] or [`choose_far`] gives.
pub(super) fn shown(
    operation: Operation,
    members: usize,
    bytes: usize,
    over_nodes: bool,
) -> Option<&'static str> {
    let table = if over_nodes { table_over_nodes() } else { table() };
    let chosen = CHOICES.chosen(table, operation, members, bytes).ok()?;
    operation.algorithms().get(chosen).copied()
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

/// The current table.
#[inline]
pub fn table() -> &'static RuleTable {
    CHOICES.table(|| {
        let table = tuning::load();
        if let Some(job) = pe::existing() {
            let told = |pe: usize| &job.control().pe(pe).choices;
            told(job.pe()).store(mine(&table), Ordering::SeqCst);
            let near = job.near().map(|pe| (pe, told(pe).load(Ordering::SeqCst)));
            agree(job.pe(), mine(&table), near);
        }
        table
    })
}

/// The current table for members on several nodes.
fn table_over_nodes() -> &'static RuleTable {
    static TABLE: OnceLock<RuleTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let table = tuning::load_over_nodes();
        if let (Some(job), Some(nodes)) = (pe::existing(), pe::existing().and_then(Job::nodes)) {
            let told = |pe: usize| &job.control().pe(pe).far_choices;
            told(job.pe()).store(mine(&table), Ordering::SeqCst);
            // The first PE of a node compares with those of the adjacent nodes, the others with it.
            // If any two PEs differ, two PEs that compare with each other differ, too.
            let beside = [nodes.own() + nodes.count() - 1, nodes.own() + 1];
            let firsts = beside.map(|node| nodes.pes(node % nodes.count()).start);
            let firsts = firsts.into_iter().filter(|_| job.pe() == job.near().start);
            let others = firsts.filter_map(|pe| Some((pe, far_choice(job, pe)?)));
            let near = job.near().map(|pe| (pe, told(pe).load(Ordering::SeqCst)));
            agree(job.pe(), mine(&table), near.chain(others));
        }
        table
    })
}

/// The report of a PE on another node.
fn far_choice(job: &Job, pe: usize) -> Option<u64> {
    let at = job.far_record(pe, offset_of!(PeRecord, far_choices));
    Some(Word::Far(job.engine_to(pe)?, at).load(Ordering::SeqCst))
}

/// Everything that this process's choices depend on, as one number.
fn mine(table: &RuleTable) -> u64 {
    rules::mix(&[table.fingerprint(), ENVIRONMENT.load(Ordering::Relaxed)]).max(1)
}

/// Compares what this process's choices depend on with what others have reported. If two PEs
/// differ, the later one detects it before it runs a collective.
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
