//! `SHMEM_STATS` and `--comm-matrix` report exactly what a program did, however it is compiled. The
//! program's calls are known in full.

use crate::directives::{Program, Variant};
use crate::launch::{Outcome, Running};
use crate::{Result, compile, launch, nodes, tree};
use libtest_mimic::Trial;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A trial for each variant on several numbers of PEs.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for variant in variants() {
        for pes in [1, 2, 3, 8] {
            let title = format!("statistics/{}/{pes}", variant.name());
            trials.push(Trial::test(title, move || counted(variant, pes)));
        }
    }
    trials.push(Trial::test("statistics/off", silent));
    trials.push(Trial::test("statistics/matrix-csv", table));
    trials.push(over_nodes("statistics/nodes/table", table_over_nodes));
    trials.push(over_nodes("statistics/nodes/picture", picture_over_nodes));
    trials.push(over_nodes("statistics/nodes/lost", node_lost));
    let cannot_tell = !Path::new("/proc/self/schedstat").exists();
    trials.push(Trial::test("statistics/lost", lost).with_ignored_flag(cannot_tell));
    trials.push(Trial::test("statistics/json", json));
    trials.push(Trial::test("statistics/csv", csv));
    trials.push(Trial::test("statistics/bad-value", bad_value));
    trials
}

fn variants() -> [Variant; 3] {
    [Variant::usual(), Variant::Static, Variant::Inline]
}

fn program(variant: Variant) -> Result<PathBuf> {
    let program = Program::of(tree::repository("tests/programs/statistics.c"));
    compile::executable(&program, variant)
}

/// The expected counters of PE `pe` of `pes`, as the columns of its line up to the quiets.
fn expected(pe: usize, pes: usize) -> Vec<String> {
    // PEs 0 and 1 send each other one additional signal.
    let signals = 2 + usize::from(pes > 1 && pe < 2);
    let numbers = [pe, 11, 336, 2, 40, 6, 48, signals, 2];
    numbers.iter().map(usize::to_string).collect()
}

fn counted(variant: Variant, pes: usize) -> Result {
    let picture = tree::scratch(format!("matrix-{}-{pes}.svg", variant.name()));
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
    let peers = (pes - 1).min(2);
    let reached = format!("attached or connected to: {peers}.0 on average, at most {peers}\n");
    if !tree::is_smartmap() && !outcome.stderr.contains(&reached) {
        return fail(format!("expected {reached}"));
    }
    if lines[head + 1 + pes][..3] != ["all", &(11 * pes).to_string(), &short(336 * pes)] {
        return fail(format!("the sums are {:?}", lines[head + 1 + pes]));
    }

    let svg = std::fs::read_to_string(&picture)?;
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

/// The communication matrix as a table.
fn table() -> Result {
    let path = tree::scratch("matrix.csv");
    let mut command = launch::oshrun(5, std::path::Path::new("--comm-matrix"));
    command.arg(&path).arg(program(Variant::usual())?);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let csv = std::fs::read_to_string(&path)?;
    let _ = std::fs::remove_file(&path);
    let lines: Vec<&str> = csv.lines().collect();
    let expected = ["3,2,2,40", "3,4,19,400"];
    let of_3: Vec<&str> = lines.iter().copied().filter(|line| line.starts_with("3,")).collect();
    outcome.require(
        lines.first() == Some(&"caller,peer,calls,bytes") && lines.len() == 11 && of_3 == expected,
        format!("the table is not as expected:\n{csv}"),
    )
}

/// A trial over emulated nodes.
fn over_nodes(title: &str, trial: fn() -> Result) -> Trial {
    Trial::test(title, trial).with_ignored_flag(nodes::no_ucx())
}

/// Runs a job over nodes a and b, which are this machine. Returns its matrix, too.
fn matrix_over_nodes(
    pes: usize,
    name: &str,
    program: &Path,
    arguments: &[&str],
    between: impl FnOnce(&Running) -> Result,
) -> Result<(Outcome, String)> {
    let path = tree::scratch(name);
    let mut command = nodes::oshrun("a,b", pes, nodes::DIRECT, &["--comm-matrix"]);
    command.arg(&path).arg(program).args(arguments);
    let running = Running::start(command)?;
    between(&running)?;
    let outcome = running.finish()?;
    let text = std::fs::read_to_string(&path)?;
    let _ = std::fs::remove_file(&path);
    Ok((outcome, text))
}

/// The table of a job over two nodes says which pairs are far from each other.
fn table_over_nodes() -> Result {
    let program = program(Variant::usual())?;
    let (outcome, csv) = matrix_over_nodes(5, "far.csv", &program, &[], |_| Ok(()))?;
    outcome.success()?;
    let mut lines: Vec<&str> = csv.lines().collect();
    // PEs 0 and 1 send each other one additional signal; all use their neighbours.
    let mut expected: Vec<String> = (0..5)
        .flat_map(|pe| {
            [((pe + 1) % 5, 19, 400), ((pe + 4) % 5, 2, 40)].map(|(peer, calls, bytes)| {
                let more = usize::from(pe < 2 && peer < 2);
                let far = usize::from((pe < 3) != (peer < 3));
                format!("{pe},{peer},{},{},{far}", calls + more, bytes + 8 * more)
            })
        })
        .collect();
    expected.sort_unstable();
    let head = lines.remove(0);
    outcome.require(
        head == "caller,peer,calls,bytes,far" && lines == expected,
        format!("the table is not as expected:\n{csv}"),
    )
}

/// The picture of a job over two nodes.
fn picture_over_nodes() -> Result {
    let program = program(Variant::usual())?;
    let (outcome, svg) = matrix_over_nodes(4, "far.svg", &program, &[], |_| Ok(()))?;
    outcome.success()?;
    let words = [
        "4 PEs, 1.7 KiB in 86 calls in total, 880 B in 42 calls between the 2 nodes",
        "PE 2 to PE 3: 400 bytes in 19 calls",
        "PE 1 to PE 2, on another node: 400 bytes in 19 calls",
    ];
    match words.iter().find(|word| !svg.contains(**word)) {
        None => Ok(()),
        Some(word) => Err(outcome.report(format!("expected {word} in the picture:\n{svg}"))),
    }
}

/// If a node is lost, the matrix has the rows of the others, and a message says so.
fn node_lost() -> Result {
    let mark = tree::scratch("lost-node");
    let place = mark.display().to_string();
    let marks: Vec<PathBuf> = (0..4).map(|pe| mark.with_extension(pe.to_string())).collect();
    let kill_node_b = |running: &Running| {
        nodes::await_files(&marks)?;
        nodes::kill_last_node(running)
    };
    let program = nodes::program()?;
    let arguments = ["linger", &place];
    let (outcome, csv) = matrix_over_nodes(4, "lost.csv", &program, &arguments, kill_node_b)?;
    let said = "lost.csv: the rows of PEs 2 to 3 are missing: host b has not sent them";
    let is_told = outcome.stderr.contains(said) && outcome.stderr.contains("is lost");
    outcome.require(
        outcome.status == 1 && is_told && csv.starts_with("caller,peer,calls,bytes,far\n"),
        format!("expected {said:?}; the table is\n{csv}"),
    )
}

/// Runs the program with this value of the variable.
fn run_with(value: &str) -> Result<Outcome> {
    let mut command = launch::oshrun(4, &program(Variant::usual())?);
    command.env("SHMEM_STATS", value);
    launch::run(command)
}

/// The expected counters of PE 3 of 4, by routine: class, name, calls, bytes.
pub(crate) const OF_PE_3: [(&str, &str, u64, u64); 19] = [
    ("put", "shmem_ctx_int64_p", 1, 8),
    ("put", "shmem_long_iput", 1, 32),
    ("put", "shmem_long_p", 5, 40),
    ("put", "shmem_long_put", 3, 240),
    ("put", "shmem_putmem_signal", 1, 16),
    ("get", "shmem_long_g", 1, 8),
    ("get", "shmem_long_get", 1, 32),
    ("atomic", "shmem_long_atomic_compare_swap", 1, 8),
    ("atomic", "shmem_long_atomic_fetch", 1, 8),
    ("atomic", "shmem_long_atomic_fetch_add", 1, 8),
    ("atomic", "shmem_long_atomic_inc", 1, 8),
    ("atomic", "shmem_long_atomic_set", 1, 8),
    ("atomic", "shmem_long_atomic_swap", 1, 8),
    ("signal", "shmem_putmem_signal", 1, 8),
    ("signal", "shmem_signal_add", 1, 8),
    ("quiet", "shmem_quiet", 2, 0),
    ("collective", "shmem_barrier_all", 1, 0),
    ("collective", "shmem_broadcastmem", 1, 80),
    ("collective", "shmem_finalize", 1, 0),
];

/// JSON on standard error, as one object.
fn json() -> Result {
    let outcome = run_with("json")?;
    outcome.success()?;
    let data: Value = serde_json::from_str(&outcome.stderr)
        .map_err(|error| outcome.report(format!("no JSON: {error}")))?;
    let of_pe = &data["by_pe"][3];
    let routines = of_pe["routines"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (class, name, calls, bytes) in OF_PE_3 {
        let found = |routines: &[Value], calls, bytes| {
            routines.iter().any(|it| {
                it["class"] == class
                    && it["name"] == name
                    && it["calls"] == calls
                    && it["bytes"] == bytes
            })
        };
        let all = data["routines"].as_array().map(Vec::as_slice).unwrap_or_default();
        // PEs 0 and 1 do the same, except for the signals to each other.
        outcome.require(
            found(routines, calls, bytes) && found(all, 4 * calls, 4 * bytes),
            format!("{class} {name} is not as expected"),
        )?;
    }
    let of_all = of_pe["seconds"].as_f64().zip(of_pe["lost_seconds"].as_f64());
    outcome.require(
        of_all.is_some_and(|(all, lost)| 0.0 <= lost && lost <= all),
        "PE 3 cannot have lost that much of its time",
    )?;
    let puts = &of_pe["put"];
    let peers = of_pe["peers"].as_array().map_or(0, Vec::len);
    outcome.require(
        data["pes"] == 4 && puts["calls"] == 11 && puts["bytes"] == 336 && peers == 2,
        "the sums of PE 3 are not as expected",
    )?;
    // PE 1 waits while PE 0 sleeps.
    let waits = data["by_pe"][1]["routines"].as_array().into_iter().flatten();
    let blocked = |it: &Value| it["blocked_seconds"].as_f64().is_some_and(|time| time > 0.0);
    let mut waits = waits.filter(|it| it["class"] == "wait" && blocked(it));
    outcome.require(
        waits.any(|it| it["name"] == "shmem_signal_wait_until"),
        "PE 1 has not waited in shmem_signal_wait_until",
    )
}

/// CSV in a file.
fn csv() -> Result {
    let path = tree::scratch("statistics.csv");
    let outcome = run_with(&format!("csv:{}", path.display()))?;
    outcome.success()?;
    let csv = std::fs::read_to_string(&path)?;
    let _ = std::fs::remove_file(&path);
    let mut lines = csv.lines();
    outcome.require(
        lines.next() == Some("pe,class,routine,calls,bytes,blocked_seconds"),
        format!("no heading:\n{csv}"),
    )?;
    let lines: Vec<&str> = lines.collect();
    for (class, name, calls, bytes) in OF_PE_3 {
        let start = format!("3,{class},{name},{calls},{bytes},");
        if !lines.iter().any(|line| line.starts_with(&start)) {
            return Err(outcome.report(format!("no line {start}\n{csv}")));
        }
    }
    outcome.require(outcome.stderr.is_empty(), "there is something on standard error")
}

/// A value that is neither a switch nor a format ends the job before it begins.
fn bad_value() -> Result {
    for (value, expected) in [
        ("xml:file", "SHMEM_STATS=xml:file: expected 1, heap, json, csv, json:FILE or csv:FILE"),
        ("json:/nowhere/file", "the file cannot be written: No such file"),
    ] {
        run_with(value)?.fails(&[expected])?;
    }
    Ok(())
}

/// Time that a PE loses to a busy process is reported, and how it waits.
fn lost() -> Result {
    let program = compile::plain("tests/programs/beside_others.c", &[])?;
    let mut command = launch::oshrun(2, &program);
    command.env("SHMEM_STATS", "1").env("SHMEM_WAIT", "spin");
    let outcome = launch::run(command)?;
    outcome.success()?;
    let is_told = |line: &str| {
        line.starts_with("PE 0 lost ") && line.contains("% of its time to other processes on CPU ")
    };
    outcome.require(
        outcome.stderr.lines().any(is_told)
            && outcome.stderr.contains("\nWaits spin, since SHMEM_WAIT says so\n"),
        "the loss of PE 0 is not told",
    )
}

/// Formats bytes as the table does.
fn short(bytes: usize) -> String {
    if bytes < 1000 { bytes.to_string() } else { format!("{:.1}k", bytes as f64 / 1024.0) }
}

/// Without a request there are no statistics.
fn silent() -> Result {
    launch::run(launch::oshrun(2, &program(Variant::usual())?))?.silent()
}
