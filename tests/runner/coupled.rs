//! Jobs whose PEs run different executables.

use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
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
        }
        for (what, routine, argument) in REFUSED {
            trials.push(Trial::test(format!("coupled/static/{what}/{way}"), move || {
                let parts = executables(way, options)?;
                let told = format!("{routine}: {argument} = 0x");
                let why = "it is static data, and PE ";
                Ok(refused(job(&parts, what, &[]), &[&told, why, "runs another executable"])?)
            }));
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
    let part = |command: &mut Command, pes: &str, program: &Path| {
        command.args(["-n", pes]);
        settings.iter().for_each(|setting| {
            command.args(["-x", setting]);
        });
        command.arg(program).args([what, "1"]);
    };
    part(&mut command, "1", &parts[0]);
    command.arg(":");
    part(&mut command, "2", &parts[1]);
    command
}

fn refused(command: Command, words: &[&str]) -> Result<(), String> {
    let outcome = launch::run(command)?;
    let is_told = words.iter().all(|word| outcome.stderr.contains(word));
    match !outcome.hung && outcome.status != 0 && is_told {
        true => Ok(()),
        false => Err(outcome.report(&format!("expected {words:?}"))),
    }
}
