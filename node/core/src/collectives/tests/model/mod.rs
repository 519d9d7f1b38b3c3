//! The cost of collectives of 8 bytes on machines of up to 256 CPUs: the algorithms themselves, run
//! in virtual time. `docs/scaling.md` has the figures, and the choices compiled in follow from
//! them.

mod coherence;
mod member;
mod processor;

use super::calls::{Call, Elements};
use super::machine::Machine;
use super::plan::is_few;
use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::algorithm::Operation;
use crate::collectives::epoch::Epoch;
use crate::collectives::epoch_group::{Controlled, EpochGroup};
use crate::collectives::rules::{self, BUILT_IN, RuleTable};
use crate::collectives::words::ControlWords;
use crate::counter::Counter;
use coherence::Coherence;
use member::Timed;
use processor::{EPYC, Picoseconds, Processor, XEON};
use std::path::Path;

/// A machine on whose counters something sleeps, so that a group that raises one wakes it.
fn slept_on(npes: usize) -> Machine {
    let machine = Machine::new(npes);
    for ControlWords { progress, heard, notifications, mailboxes } in
        machine.pes.iter().map(|pe| &pe.words)
    {
        let counters: [&Counter; 3] = [progress, &heard.step, notifications];
        let steps = mailboxes.iter().map(|mailbox| &mailbox.step);
        counters.into_iter().chain(steps).for_each(Counter::add_sleeper);
    }
    machine
}

/// The time from when all members begin a call until the last one has ended it.
fn cost(processor: Processor, npes: usize, call: &Call, algorithm: usize) -> Picoseconds {
    let machine = slept_on(npes);
    let coherence = Coherence::new(processor, npes);
    let total = AtomicU64::new(0);
    machine.run(|member| {
        coherence.run(member.me, || {
            let epoch = Epoch::new([0; 4].map(Into::into));
            epoch.set(0, member.words(member.me));
            let group = EpochGroup::new(Timed { member, coherence: &coherence }, &epoch);
            let (dest, source) = (machine.dest(member.me), machine.source(member.me));
            for measured in [false, true] {
                coherence.touch(member.me, source.at().addr(), 8, true);
                let begin = coherence.meet(member.me);
                call.carry_out(algorithm, &group, dest, source);
                let end = coherence.meet(member.me);
                // In the first call, nobody has a copy of another's words yet.
                if measured && member.me == 0 {
                    total.store(end - begin, Ordering::Relaxed);
                }
            }
        });
    });
    total.into_inner()
}

fn calls() -> [Call; 3] {
    [
        Call::Sync,
        Call::Broadcast { bytes: 8, root: 0, root_too: true },
        Call::Reduce { elements: Elements::SumI64, n: 1, in_place: false },
    ]
}

/// Numbers of PEs: the columns of the table in `docs/scaling.md`.
const NPES: [usize; 6] = [8, 16, 32, 64, 128, 256];

type Costs = [Picoseconds; NPES.len()];

/// The costs of all algorithms for one node and small messages.
fn costs(processor: Processor, call: &Call) -> Vec<(usize, Costs)> {
    let operation = call.operation();
    let other =
        ["two_level", "scatter_collect", "rabenseifner", "linear", "binomial", "sliced", "whole"];
    let algorithms = call.algorithms(NPES[0]).into_iter();
    algorithms
        .filter(|by| !other.contains(&operation.algorithms()[*by]))
        .map(|by| (by, NPES.map(|npes| cost(processor, npes, call, by))))
        .collect()
}

/// A line of the table, in nanoseconds.
fn line(processor: Processor, operation: Operation, (by, costs): &(usize, Costs)) -> String {
    let scattered = if processor.scattered { ", not bound" } else { "" };
    let operation_name = format!("{operation:?}").to_lowercase();
    let algorithm = operation.algorithms()[*by];
    let ns = costs.map(|cost| cost.div_ceil(1000).to_string()).join(" | ");
    format!("| {}{scattered} | {operation_name} | `{algorithm}` | {ns} |\n", processor.name)
}

/// The compiled-in choice may cost this much more than the best, for this many PEs.
const WORSE: f64 = 1.4;
const CHOSEN_FOR: usize = 128;

#[test]
fn the_documented_costs_are_those_of_the_model_and_the_choices_near_the_best() {
    let rules = rules::parse(BUILT_IN, None).expect("the compiled-in table");
    let table = RuleTable::new(&rules.on_a_node, None);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scaling.md");
    let docs = std::fs::read_to_string(docs).expect("docs/scaling.md");
    let mut missing = String::new();
    let processors = [EPYC, Processor { scattered: true, ..EPYC }, XEON];
    let tried = if is_few() { 1 } else { processors.len() };
    for processor in processors.into_iter().take(tried) {
        for call in calls() {
            let costs = costs(processor, &call);
            for (npes, column) in NPES.iter().zip(0..) {
                let chosen = table.choice(call.operation(), *npes, call.bytes());
                let of = |(_, costs): &(usize, Costs)| costs[column];
                let best = costs.iter().map(of).min().expect("an algorithm");
                let (_, chosen) = costs.iter().find(|(by, _)| *by == chosen).expect("its costs");
                let worse = chosen[column] as f64 / best as f64;
                assert!(
                    *npes > CHOSEN_FOR || worse < WORSE,
                    "{npes} PEs, {processor:?}, {call:?}: {worse} of the best"
                );
            }
            let lines = costs.iter().map(|costs| line(processor, call.operation(), costs));
            missing.extend(lines.filter(|line| !docs.contains(&**line)));
        }
    }
    assert!(missing.is_empty(), "not in docs/scaling.md:\n{missing}");
}
