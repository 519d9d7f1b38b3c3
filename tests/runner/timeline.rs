//! `--trace` and `SHMEM_TRACE` write what a program did. The program's calls are known in full.

use crate::directives::{Program, Variant};
use crate::launch::Outcome;
use crate::statistics::OF_PE_3;
use crate::{Result, compile, launch, nodes, tree};
use libtest_mimic::Trial;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRACED: &str = "tests/programs/traced.c";
/// The most events that a PE keeps.
const KEPT: u64 = 32 << 10;
/// A remote shell that gives host b a clock that is far ahead.
const AHEAD: &str = "sh -c 'host=$1; shift; [ $host = a ] && exec \"$@\"; \
                     exec unshare --time --monotonic 5000 \"$@\"' agent";

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for variant in [Variant::usual(), Variant::Static, Variant::Inline] {
        let name = format!("timeline/events/{}", variant.name());
        trials.push(Trial::test(name, move || events(variant)));
    }
    trials.push(Trial::test("timeline/lost", lost));
    trials.push(Trial::test("timeline/collect", collect));
    trials.push(Trial::test("timeline/failed", failed));
    trials.push(Trial::test("timeline/variable", variable));
    trials.push(Trial::test("timeline/off", off));
    trials.push(Trial::test("timeline/refused", refused));
    let mut other_clock = Command::new("unshare");
    other_clock.args(["--time", "--monotonic", "5000", "true"]);
    let has_clocks = other_clock.output().is_ok_and(|it| it.status.success());
    let skipped = nodes::no_ucx() || !has_clocks && tree::may_be_absent();
    trials.push(Trial::test("timeline/nodes", clocks).with_ignored_flag(skipped));
    trials
}

/// A timeline that was written.
struct Timeline {
    data: Value,
    outcome: Outcome,
}

impl Timeline {
    /// Runs a command that writes to this file.
    fn of(command: Command, path: &Path) -> Result<Self> {
        let outcome = launch::run(command)?;
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let data = serde_json::from_str(&text)
            .map_err(|error| outcome.report(format!("{}: {error}", path.display())))?;
        let it = Self { data, outcome };
        it.check()?;
        Ok(it)
    }

    fn require(&self, condition: bool, problem: impl AsRef<str>) -> Result {
        self.outcome.require(condition, problem)
    }

    fn events(&self) -> impl Iterator<Item = &Value> {
        self.data["traceEvents"].as_array().into_iter().flatten()
    }

    fn of_pe(&self, pe: usize) -> impl Iterator<Item = &Value> {
        self.events().filter(move |event| event["pid"] == pe + 1)
    }

    /// Whether PE `pe` has such an event, with these arguments.
    fn has(&self, pe: usize, category: &str, arguments: &[(&str, Value)]) -> bool {
        self.of_pe(pe).any(|event| {
            event["cat"] == category
                && arguments.iter().all(|(name, value)| event["args"][name] == *value)
        })
    }

    /// The file is complete, and events of a track lie beside or in each other.
    fn check(&self) -> Result {
        let mut tracks: HashMap<(u64, u64), Vec<(f64, f64)>> = HashMap::new();
        for event in self.events().filter(|event| event["ph"] == "X") {
            let number = |name: &str| event[name].as_f64().unwrap_or(-1.0);
            let (begin, length) = (number("ts"), number("dur"));
            self.require(begin >= 0.0 && length >= 0.0, format!("times in {event}"))?;
            let track = (number("pid") as u64, number("tid") as u64);
            tracks.entry(track).or_default().push((begin, begin + length));
        }
        for &(pid, tid) in tracks.keys() {
            self.require(
                pid > 0 && tid > 0,
                "to viewers, 0 is the kernel's idle process or thread",
            )?;
            let (pe, thread) = (pid - 1, tid - 1);
            let is_named = |kind: &str, name: String| {
                self.events().any(|event| {
                    event["name"] == kind
                        && event["pid"] == pid
                        && (event["tid"].is_null() || event["tid"] == tid)
                        && event["args"]["name"].as_str().is_some_and(|it| it.starts_with(&name))
                })
            };
            let are_named = is_named("process_name", format!("PE {pe}"))
                && is_named("thread_name", format!("PE {pe}, thread {thread}"));
            self.require(are_named, format!("the names of thread {thread} of PE {pe}"))?;
        }
        for ((pid, _), mut slices) in tracks {
            // Longer ones first, where several begin together.
            slices.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
            let mut open: Vec<f64> = Vec::new();
            for (begin, end) in slices {
                // Times have three decimals.
                open.retain(|until| *until > begin + 0.0005);
                let fits = open.last().is_none_or(|until| end <= until + 0.0015);
                self.require(
                    fits,
                    format!("process {pid}: an event at {begin} overlaps the next"),
                )?;
                open.push(end);
            }
        }
        Ok(())
    }

    /// Beginning and end of each arrow: PE and time.
    fn arrows(&self) -> Vec<[(u64, f64); 2]> {
        let ends = |phase: &'static str| {
            self.events().filter(move |event| event["ph"] == phase).map(|event| {
                let pe = event["pid"].as_u64().map_or(u64::MAX, |pid| pid - 1);
                (event["id"].as_u64(), (pe, event["ts"].as_f64().unwrap_or(-1.0)))
            })
        };
        let finish: HashMap<_, _> = ends("f").collect();
        ends("s").filter_map(|(id, from)| Some([from, *finish.get(&id)?])).collect()
    }
}

fn program(variant: Variant) -> Result<PathBuf> {
    let mut program = Program::of(tree::repository("tests/programs/statistics.c"));
    if variant != Variant::Static {
        return compile::executable(&program, variant);
    }
    program.cflags.push("-Wl,--strip-debug".into());
    compile::executable_in(&program, variant, "timeline-static")
}

fn file(name: &str) -> Result<PathBuf> {
    let path = tree::place(format!("timeline-{name}.json"))?;
    let _ = std::fs::remove_file(&path);
    Ok(path)
}

fn traced(pes: usize, path: &Path, program: &Path) -> Command {
    let mut command = launch::oshrun(pes, Path::new("--trace"));
    command.arg(path).arg(program);
    command
}

/// Calls and bytes of each routine and class are those of the program, whether or not they are joined.
fn events(variant: Variant) -> Result {
    let path = file(variant.name())?;
    let it = Timeline::of(traced(4, &path, &program(variant)?), &path)?;
    it.outcome.success()?;
    it.require(it.data["otherData"]["lost"] == 0, "nothing is lost")?;
    // Recording ends before the last barrier.
    for (class, name, calls, bytes) in OF_PE_3.into_iter().filter(|it| it.1 != "shmem_finalize") {
        let these = |event: &&Value| event["cat"] == class && event["args"]["routine"] == name;
        let sum = |what: &str| {
            it.of_pe(3).filter(these).filter_map(|event| event["args"][what].as_u64()).sum::<u64>()
        };
        it.require(
            (sum("calls"), sum("bytes")) == (calls, bytes),
            format!("{class} {name}: {} calls, {} bytes", sum("calls"), sum("bytes")),
        )?;
    }
    for pe in 0..4 {
        for step in ["handshake", "layout", "registration", "memory", "start"] {
            let is_there = it.has(pe, "init", &[("routine", step.into())]);
            it.require(is_there, format!("PE {pe}: the step {step} of shmem_init"))?;
        }
        let broadcast = [
            ("routine", "shmem_broadcastmem".into()),
            ("bytes", 80.into()),
            ("algorithm", "small".into()),
        ];
        let malloc = [("routine", "shmem_malloc".into()), ("bytes", 1000.into())];
        it.require(it.has(pe, "collective", &broadcast), "the broadcast's algorithm")?;
        it.require(it.has(pe, "allocated", &malloc), "the allocation")?;
        it.require(it.has(pe, "freed", &[("routine", "shmem_free".into())]), "the release")?;
        it.require(it.has(pe, "pe", &[("finalized", true.into())]), "the whole PE")?;
        it.require(it.has(pe, "put", &[("pe", ((pe + 1) % 4).into())]), "a put to the right")?;
        // The static program has no debugging information.
        let has_line = |event: &Value| match (event["args"]["called"].as_str(), variant) {
            (Some(address), Variant::Static) => address.starts_with("0x"),
            (called, _) => called.and_then(|called| called.split_once(".c:")).is_some(),
        };
        let is_call =
            |event: &&Value| event["args"]["routine"].is_string() && event["cat"] != "blocked";
        let mut calls = it.of_pe(pe).filter(is_call);
        let without = calls.find(|event| !has_line(event));
        it.require(without.is_none(), format!("a line for {without:?}"))?;
    }
    // PE 1 waits while PE 0 sleeps for 0.2 s.
    let long = |event: &&Value| event["cat"] == "wait" && event["dur"].as_f64() > Some(100_000.0);
    it.require(it.of_pe(1).filter(long).count() == 1, "PE 1's wait")?;
    let arrow = |[(from, begin), (to, end)]: &[(u64, f64); 2]| {
        (*from, *to) == (0, 1) && (begin - end).abs() < 100_000.0
    };
    it.require(it.arrows().iter().any(arrow), "an arrow from PE 0's signal to PE 1's wait")
}

/// The oldest events give way.
fn lost() -> Result {
    let path = file("lost")?;
    let program = compile::plain(TRACED, &[])?;
    let mut command = traced(2, &path, &program);
    command.arg("20000");
    let it = Timeline::of(command, &path)?;
    it.outcome.success()?;
    for pe in 0..2 {
        let lost = it.of_pe(pe).find(|event| event["cat"] == "pe").map(|it| &it["args"]["lost"]);
        let lost = lost.and_then(Value::as_u64).unwrap_or(0);
        let kept = it.of_pe(pe).filter(|event| event["args"]["routine"].is_string()).count() as u64;
        // Puts, gets and the barriers, in which it may be blocked.
        it.require(kept == KEPT, format!("{kept} events"))?;
        it.require((40_000 - KEPT..=40_010 - KEPT).contains(&lost), format!("{lost} are lost"))?;
        let says = format!("{lost} events before this one are lost");
        it.require(it.of_pe(pe).any(|event| event["name"] == *says), "that events are lost")?;
        let barrier = [("routine", "shmem_barrier_all".into())];
        it.require(it.has(pe, "collective", &barrier), "the last event is there")?;
    }
    let sum = &it.data["otherData"]["lost"];
    it.require(sum.as_u64() >= Some(2 * (40_000 - KEPT)), format!("{sum} are lost"))
}

/// A collect, whose members contribute differently, has each one's bytes and the algorithm of all, and where it
/// is called.
fn collect() -> Result {
    let path = file("collect")?;
    let source = tree::repository(TRACED);
    let text = tree::read(&source)?;
    let line =
        text.lines().position(|line| line.contains("shmem_long_collect")).ok_or("no line")?;
    let called = format!("{}:{}", source.display(), line + 1);
    let program = compile::plain(TRACED, &[])?;
    let it = Timeline::of(traced(3, &path, &program), &path)?;
    it.outcome.success()?;
    for pe in 0..3 {
        let name = "shmem_long_collect";
        let calls = it.of_pe(pe).filter(|it| it["cat"] == "collective" && it["name"] == name);
        let calls: Vec<_> = calls.map(|event| &event["args"]).collect();
        let bytes: Vec<_> = calls.iter().filter_map(|args| args["bytes"].as_u64()).collect();
        let own = 8 * (pe as u64 + 1);
        it.require(bytes == [own, 100 * own], format!("bytes of {calls:?}"))?;
        let algorithms: Vec<_> =
            calls.iter().filter_map(|args| args["algorithm"].as_str()).collect();
        let is_there =
            |args: &&Value| called.ends_with(args["called"].as_str().unwrap_or("nowhere"));
        it.require(calls.iter().all(is_there), format!("{called} in {calls:?}"))?;
        let is_right = matches!(algorithms[..], ["small", long] if long != "small");
        it.require(is_right, format!("algorithms of {calls:?}"))?;
    }
    Ok(())
}

/// The launcher writes what was recorded of a job that fails.
fn failed() -> Result {
    let path = file("failed")?;
    let program = compile::plain(TRACED, &[])?;
    let mut command = traced(2, &path, &program);
    command.arg("101");
    let it = Timeline::of(command, &path)?;
    it.outcome.ends(3, &["PE 1"])?;
    let put = [("routine", "shmem_long_p".into()), ("pe", 0.into())];
    it.require(it.has(1, "put", &put), "PE 1's puts")?;
    it.require(it.has(1, "pe", &[("finalized", false.into())]), "that it has not finalised")?;
    // Nothing can be written if there is nothing.
    let mut command = traced(2, &path, Path::new("true"));
    command.current_dir("/");
    launch::run(command)?.ends(1, &["no PE has called shmem_init, so there is nothing to write"])
}

/// The variable does the same under any launcher.
fn variable() -> Result {
    let path = file("variable")?;
    let mut command = Command::new(compile::plain(TRACED, &[])?);
    command.arg("1").env("SHMEM_TRACE", &path);
    let it = Timeline::of(command, &path)?;
    it.outcome.success()?;
    let put = [("routine", "shmem_long_p".into()), ("pe", 0.into()), ("calls", 1.into())];
    it.require(it.has(0, "put", &put), "the put")?;
    let is_address = |event: &Value| event["args"]["called"].as_str()?.strip_prefix("0x").map(drop);
    let mut puts = it.of_pe(0).filter(|event| event["cat"] == "put");
    it.require(puts.all(|event| is_address(event).is_some()), "where it is called")
}

fn off() -> Result {
    let folder = tree::Folder::new("timeline-off")?;
    let mut command = launch::oshrun(1, &compile::plain(TRACED, &[])?);
    command.env("SHMEM_TRACE", "off").current_dir(&*folder);
    let outcome = launch::run(command)?;
    outcome.silent()?;
    outcome.require(std::fs::read_dir(&*folder)?.next().is_none(), "no file")
}

fn refused() -> Result {
    let program = compile::plain(TRACED, &[])?;
    let outcome = launch::run(traced(1, Path::new("/nowhere/trace"), &program))?;
    outcome.fails(&["oshrun: --trace /nowhere/trace: No such file"])?;
    for (value, why) in [("/nowhere/trace", "the file cannot be written"), ("", "expected a path")]
    {
        let mut command = launch::oshrun(2, &program);
        command.env("SHMEM_TRACE", value);
        launch::run(command)?.fails(&[&format!("SHMEM_TRACE={value}: {why}")])?;
    }
    Ok(())
}

/// The hosts' clocks differ, and yet what happens later is later.
fn clocks() -> Result {
    let path = file("nodes")?;
    let mut command = nodes::oshrun("a,b", 2, AHEAD, &["--trace"]);
    command.arg(&path).arg(program(Variant::usual())?);
    let it = Timeline::of(command, &path)?;
    it.outcome.success()?;
    it.require(it.of_pe(1).any(|event| event["args"]["name"] == "PE 1 on node 1"), "a name")?;
    let ends = it
        .events()
        .filter(|event| event["cat"] == "pe")
        .filter_map(|event| Some(event["ts"].as_f64()? + event["dur"].as_f64()?));
    let ends: Vec<f64> = ends.collect();
    // Both end after a barrier.
    let apart = (ends[0] - ends[1]).abs();
    it.require(apart < 1e6, format!("PEs end {apart} us apart"))?;
    let forward = |[(from, begin), (to, end)]: &[(u64, f64); 2]| {
        (*from, *to) == (0, 1) && (begin - end).abs() < 1e6
    };
    it.require(it.arrows().iter().any(forward), "an arrow from PE 0's signal to PE 1's wait")
}
