//! Jobs whose PEs run different executables.

use crate::nodes::{NAMESPACES, among_namespaces, no_namespaces};
use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// How both executables are compiled, and a name for that.
const WAYS: [(&str, [&[&str]; 2]); 5] = [
    ("pie", [&[], &[]]),
    ("no-pie", [&["-no-pie"], &["-no-pie"]]),
    ("mixed", [&[], &["-no-pie"]]),
    ("inline", [&["-DSHMEM_INLINE"], &["-DSHMEM_INLINE"]]),
    ("fixed-inline", [&["-DSHMEM_INLINE", "-no-pie"], &["-DSHMEM_INLINE"]]),
];

/// Uses of static data of a PE with another executable: the program's argument, and routine and
/// argument of the message.
const REFUSED: [(&str, &str, &str); 8] = [
    ("p", "shmem_long_p", "dest"),
    ("put", "shmem_long_put", "dest"),
    ("get", "shmem_long_get", "source"),
    ("iput", "shmem_long_iput", "dest"),
    ("atomic", "shmem_long_atomic_inc", "dest"),
    ("lock", "shmem_set_lock", "lock"),
    ("broadcast", "shmem_long_broadcast", "source"),
    ("barrier", "shmem_barrier", "pSync"),
];

/// The trials. With SMARTMAP's addresses there is just one: that all PEs run one executable.
pub fn trials() -> Vec<Trial> {
    if tree::is_smartmap() {
        return vec![Trial::test("coupled/refused", || {
            let parts = executables("no-pie", [&["-no-pie"], &["-no-pie"]])?;
            Ok(refused(job(&parts, "heap", &[]), &["all PEs must run one"])?)
        })];
    }
    let mut trials = Vec::new();
    for (way, options) in WAYS {
        for (name, settings) in [
            ("", &[] as &[&str]),
            ("/debug", &["SHMEM_DEBUG=1"]),
            ("/partition", &["SHMEM_SYMMETRIC_PARTITION1=SIZE=8m"]),
        ] {
            trials.push(Trial::test(format!("coupled/heap/{way}{name}"), move || {
                Ok(launch::run(job(&executables(way, options)?, "heap", settings))?.success()?)
            }));
            // Executables differ between the nodes, and within one.
            for pes in [[1, 1], [2, 2], [1, 2], [3, 2]] {
                let [one, other] = pes;
                let name = format!("coupled/far/heap/{way}{name}/{one}-{other}");
                let run = move || {
                    let parts = executables(way, options)?;
                    Ok(launch::run(over_nodes(&parts, pes, "heap", settings))?.success()?)
                };
                trials.push(Trial::test(name, run).with_ignored_flag(no_namespaces()));
            }
        }
        let why = "it is static data, and PE ";
        for (what, routine, argument) in REFUSED {
            trials.push(Trial::test(format!("coupled/static/{what}/{way}"), move || {
                let parts = executables(way, options)?;
                let told = format!("{routine}: {argument} = 0x");
                Ok(refused(job(&parts, what, &[]), &[&told, why, "runs another executable"])?)
            }));
            for pes in [[1, 2], [2, 1]] {
                let [one, other] = pes;
                let name = format!("coupled/far/static/{what}/{way}/{one}-{other}");
                let run = move || {
                    let parts = executables(way, options)?;
                    let told = format!("{routine}: {argument} = 0x");
                    let words = [&told, why, "runs another executable"];
                    Ok(refused(over_nodes(&parts, pes, what, &[]), &words)?)
                };
                trials.push(Trial::test(name, run).with_ignored_flag(no_namespaces()));
            }
        }
    }
    trials.push(Trial::test("coupled/static/same-layout", || {
        // Only the build differs.
        let program = tree::repository("tests/programs/coupled.c");
        let [one, other] = ["-DPART=1", "-DPART=3"]
            .map(|part| compile::plain_in(&program, &[part], &format!("coupled{part}")));
        Ok(refused(job(&[one?, other?], "get", &[]), &["runs another executable"])?)
    }));
    trials
}

/// Both executables.
fn executables(way: &'static str, options: [&[&str]; 2]) -> Result<[PathBuf; 2], String> {
    let build = |part: &str, options: &[&str]| {
        let program = tree::repository("tests/programs/coupled.c");
        compile::plain_in(&program, &[&[part], options].concat(), &format!("coupled-{way}{part}"))
    };
    Ok([build("-DPART=1", options[0])?, build("-DPART=2", options[1])?])
}

/// A job of a PE with the first executable and two with the second.
fn job(parts: &[PathBuf; 2], what: &str, settings: &[&str]) -> Command {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    add_parts(&mut command, parts, [1, 2], what, settings);
    command
}

/// A job of so many PEs with each executable over two hosts.
fn over_nodes(parts: &[PathBuf; 2], pes: [usize; 2], what: &str, settings: &[&str]) -> Command {
    let mut command = among_namespaces(2);
    command.arg(tree::prefix("bin/oshrun"));
    command.args(["--host", "node0,node1", "--launch-agent", NAMESPACES]);
    let settings = [settings, &["SHMEM_SYMMETRIC_SIZE=16m"]].concat();
    add_parts(&mut command, parts, pes, what, &settings);
    command
}

fn add_parts(
    command: &mut Command,
    parts: &[PathBuf; 2],
    pes: [usize; 2],
    what: &str,
    settings: &[&str],
) {
    for (number, (part, count)) in parts.iter().zip(pes).enumerate() {
        if number > 0 {
            command.arg(":");
        }
        command.args(["-n", &count.to_string()]);
        settings.iter().for_each(|setting| {
            command.args(["-x", setting]);
        });
        command.arg(part).args([what, &pes[0].to_string()]);
    }
}

fn refused(command: Command, words: &[&str]) -> Result<(), String> {
    let outcome = launch::run(command)?;
    let is_told = words.iter().all(|word| outcome.stderr.contains(word));
    match !outcome.hung && outcome.status != 0 && is_told {
        true => Ok(()),
        false => Err(outcome.report(&format!("expected {words:?}"))),
    }
}
