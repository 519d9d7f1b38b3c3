//! `SHMEM_STATS` and `--comm-matrix` tell what a program did that is known to the last
//! call, whichever way it is compiled.

use crate::directives::{Program, Variant};
use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;

/// Each variant on several numbers of PEs.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for variant in variants() {
        for pes in [1, 2, 3, 8] {
            let title = format!("statistics/{}/{pes}", variant.name());
            trials.push(Trial::test(title, move || Ok(counted(variant, pes)?)));
        }
    }
    trials.push(Trial::test("statistics/off", || Ok(silent()?)));
    trials.push(Trial::test("statistics/csv", || Ok(table()?)));
    trials
}

fn variants() -> [Variant; 3] {
    [Variant::usual(), Variant::Static, Variant::Inline]
}

/// Compiles what the trials run, for a place that has no compiler.
pub fn prepare() -> Result<(), String> {
    variants().into_iter().try_for_each(|variant| program(variant).map(|_| ()))
}

fn program(variant: Variant) -> Result<PathBuf, String> {
    let program = Program::of(tree::repository("tests/programs/statistics.c"));
    compile::executable(&program, variant)
}

/// What PE `pe` of `pes` did, as the columns of its line, up to the quiets.
fn expected(pe: usize, pes: usize) -> Vec<String> {
    // PEs 0 and 1 send each other one signal more.
    let signals = 2 + usize::from(pes > 1 && pe < 2);
    let numbers = [pe, 11, 336, 2, 40, 6, 48, signals, 2];
    numbers.iter().map(usize::to_string).collect()
}

fn counted(variant: Variant, pes: usize) -> Result<(), String> {
    let picture = tree::scratch(&format!("matrix-{}-{pes}.svg", variant.name()));
    let program = program(variant)?;
    let mut command = launch::oshrun(pes, std::path::Path::new("--comm-matrix"));
    command.arg(&picture).arg(program).env("SHMEM_STATS", "1");
    let outcome = launch::run(command)?;
    outcome.success()?;
    let fail = |problem: String| Err(outcome.report(&problem));

    let lines: Vec<Vec<&str>> =
        outcome.stderr.lines().map(|line| line.split_whitespace().collect()).collect();
    let Some(head) = lines.iter().position(|words| words.first() == Some(&"PE")) else {
        return fail("no table".into());
    };
    for pe in 0..pes {
        let words = &lines[head + 1 + pe];
        if words[..9] != expected(pe, pes)[..] {
            return fail(format!("PE {pe}: {words:?}, expected {:?}", expected(pe, pes)));
        }
        // malloc, barrier_all, broadcast, free, finalize; the broadcast gives 80 bytes.
        if words[11..13] != ["5", "80"] {
            return fail(format!("PE {pe}: collectives {:?}", &words[11..13]));
        }
        let peers = (pes - 1).min(2).to_string();
        if words[14] != peers {
            return fail(format!("PE {pe} talked to {} PEs, expected {peers}", words[14]));
        }
        // PE 1 waits for PE 0, which sleeps meanwhile.
        let waits: u64 = words[9].parse().map_err(|_| format!("no number: {}", words[9]))?;
        if pes > 1 && pe == 1 && (waits == 0 || words[10] == "0.000") {
            return fail(format!("PE 1 has waited {waits} times, {} s", words[10]));
        }
    }
    if lines[head + 1 + pes][..3] != ["all", &(11 * pes).to_string(), &short(336 * pes)] {
        return fail(format!("the sums are {:?}", lines[head + 1 + pes]));
    }

    let svg = std::fs::read_to_string(&picture).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(&picture);
    let title = |pe: usize, peer: usize, bytes, calls| {
        format!("<title>PE {pe} to PE {peer}: {bytes} bytes in {calls} calls</title>")
    };
    let cells = if pes > 2 { 2 * pes } else { pes };
    if svg.matches(" to PE ").count() != cells || svg.matches(" to all: ").count() != pes {
        return fail(format!("the picture has not the cells it should have:\n{svg}"));
    }
    if pes > 3 && !(svg.contains(&title(3, 4, 400, 19)) && svg.contains(&title(3, 2, 40, 2))) {
        return fail(format!("PE 3 is not as expected:\n{svg}"));
    }
    Ok(())
}

/// The matrix as a table.
fn table() -> Result<(), String> {
    let path = tree::scratch("matrix.csv");
    let mut command = launch::oshrun(5, std::path::Path::new("--comm-matrix"));
    command.arg(&path).arg(program(Variant::usual())?);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let csv = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(&path);
    let lines: Vec<&str> = csv.lines().collect();
    let expected = ["3,2,2,40", "3,4,19,400"];
    let of_3: Vec<&str> = lines.iter().copied().filter(|line| line.starts_with("3,")).collect();
    if lines.first() != Some(&"caller,peer,calls,bytes") || lines.len() != 11 || of_3 != expected {
        return Err(outcome.report(&format!("the table is not as expected:\n{csv}")));
    }
    Ok(())
}

/// As the table writes bytes.
fn short(bytes: usize) -> String {
    if bytes < 1000 { bytes.to_string() } else { format!("{:.1}k", bytes as f64 / 1024.0) }
}

/// Nobody who has not asked gets statistics.
fn silent() -> Result<(), String> {
    let outcome = launch::run(launch::oshrun(2, &program(Variant::usual())?))?;
    outcome.success()?;
    match outcome.stderr.is_empty() {
        true => Ok(()),
        false => Err(outcome.report("there is something on standard error")),
    }
}
