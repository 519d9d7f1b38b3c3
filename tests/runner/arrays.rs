//! Distributed arrays (`array/`): what they do on any number of PEs, on one node and over two, and what they refuse.

use crate::far::on_hosts;
use crate::nodes::no_namespaces;
use crate::{Result, examples, launch};
use libtest_mimic::Trial;

/// The programs, and what PE 0 says if all is well.
const PROGRAMS: [(&str, &str); 5] = [
    ("arrays", "verified"),
    ("array_gups", "verified"),
    ("array_heat", "verified"),
    ("array_histogram", "verified"),
    ("kernels", "DONE"),
];

/// Mistakes that `arrays` makes, the message for each, and whether it takes two PEs.
const MISUSE: [(&str, &str, bool); 23] = [
    ("get", "DistArray::get: index is 10; expected less than 10, the number of elements", false),
    ("put", "DistArray::put: index is 18446744073709551615; expected less than 10", false),
    ("add", "DistArray::add: index is 12; expected less than 10", false),
    ("add_many", "DistArray::add_many: index is 10; expected less than 10", false),
    ("get_many", "DistArray::get_many: index is 11; expected less than 10", false),
    (
        "get_many-lengths",
        "DistArray::get_many: values has 1 elements; expected 2, one for each of indices",
        false,
    ),
    ("owner_of", "DistArray::owner_of: index is 10; expected less than 10", false),
    ("index_of", "DistArray::index_of: offset is 10; expected less than", false),
    ("index_of-pe", "DistArray::index_of: pe is 2; expected less than 2, the number of PEs", true),
    ("empty", "DistArray::get: index is 0; expected less than 0, the number of elements", false),
    ("grid-get", "DistGrid::get: row is 10 and column 3; expected less than 10 and 4", false),
    ("grid-put", "DistGrid::put: row is 3 and column 4; expected less than 10 and 4", false),
    ("grid-rows_on", "DistGrid::rows_on: pe is 2; expected less than 2, the number of PEs", true),
    ("tile-row", "Tile::row: row is 10; expected one of 4..10", true),
    ("tile-row_mut", "Tile::row_mut: row is 10; expected one of 0..5", true),
    (
        "len",
        "DistArray::new: len is 11 on this PE, and 10 to 11 on all; expected the same on all PEs",
        true,
    ),
    ("distribution", "DistArray::new: distribution (0: Block, 1: Cyclic) is 1 on this PE", true),
    ("type", "DistArray::new: the size of an element is 3 on this PE, and 3 to 8 on all", true),
    ("columns", "DistGrid::new: columns is 1 on this PE, and 0 to 1 on all", true),
    ("memory", "Error: no symmetric memory for", false),
    ("memory-overflow", "Error: no symmetric memory for", false),
    ("grid-memory", "Error: no symmetric memory for", false),
    ("teams", "DistArray::new: no team for the array; expected that arrays no longer", false),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, says) in PROGRAMS {
        for pes in [1, 2, 3, 4, 7] {
            trials.push(Trial::test(format!("arrays/{name}/{pes}"), move || {
                launch::run(launch::oshrun(pes, &examples::made_by_cargo(name)?))?.prints(&[says])
            }));
        }
        for pes in [3, 7] {
            let trial =
                Trial::test(format!("arrays/{name}/nodes/{pes}"), move || far(name, says, pes));
            trials.push(trial.with_ignored_flag(no_namespaces()));
        }
    }
    for (case, words, takes_two) in MISUSE {
        for pes in [1, 2].into_iter().filter(|pes| *pes == 2 || !takes_two) {
            trials.push(Trial::test(format!("arrays/misuse/{case}/{pes}"), move || {
                let mut job = launch::oshrun(pes, &examples::made_by_cargo("arrays")?);
                job.arg(case);
                launch::run(job)?.fails(&[words])
            }));
        }
    }
    trials
}

/// A program over two nodes.
fn far(name: &str, says: &str, pes: usize) -> Result {
    let program = examples::made_by_cargo(name)?;
    // Fewer updates than on one node: each is a message.
    let arguments: &[&str] = match name {
        "array_gups" => &["12"],
        "kernels" => &["iters=1"],
        _ => &[],
    };
    let heap = ["SHMEM_SYMMETRIC_SIZE=64m".to_owned()];
    launch::run(on_hosts("node0,node1", &program, pes, &heap, arguments))?.prints(&[says])
}
