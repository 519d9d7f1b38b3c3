//! Tuning files in jobs, valid and invalid ones, and `oshtune`, which writes them.

use crate::launch::{self, Outcome, Running};
use crate::{Result, compile, nodes, tree};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, killpg};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const TUNING: &str = "SHMEM_TUNING";
const CONFIG: &str = "XDG_CONFIG_HOME";
const IGNORED: &str = "ignored: ";
/// The output of `sum_order` where PEs add in rank order, and where they add in pairs.
const IN_ORDER: &str = "sum 1\n";
const BY_PAIRS: &str = "sum 0\n";

/// The trials.
pub fn trials() -> Vec<Trial> {
    type Test = fn() -> Result;
    let tests: [(&str, Test); 14] = [
        ("none", none),
        ("named", named),
        ("in-the-config-folder", in_the_config_folder),
        ("malformed", || bad("oneshmem tuning 1\nreduce 1 any fastest\n", "line 2: \"fastest\"")),
        ("no-tuning-file", || bad("hello\n", "its first line is not")),
        ("foreign", || {
            bad(&file("64 Some Other CPU"), "made for the machine \"64 Some Other CPU\"")
        }),
        ("absent", absent),
        ("no-regular-file", no_regular_file),
        ("copies", copies),
        ("pes-differ", pes_differ),
        ("oshtune", oshtune),
        ("oshtune-refuses", oshtune_refuses),
        ("oshtune-interrupted", oshtune_interrupted),
        ("oshtune-unwritten", oshtune_unwritten),
    ];
    let over_nodes: [(&str, Test); 2] =
        [("nodes/named", named_over_nodes), ("nodes/oshtune", oshtune_over_nodes)];
    let skipped = nodes::no_ucx();
    let tests = tests.into_iter().map(|test| (test, false));
    tests
        .chain(over_nodes.into_iter().map(|test| (test, skipped)))
        .map(|((name, test), skipped)| {
            let trial = Trial::test(format!("tuning/{name}"), test);
            trial.with_ignored_flag(skipped)
        })
        .collect()
}

/// An empty folder for one trial.
fn folder(name: &str) -> Result<PathBuf> {
    let folder = tree::scratch("tuning").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A valid file for `machine`, with which PEs add in pairs.
fn file(machine: &str) -> String {
    format!("oneshmem tuning 1\nmachine {machine}\n# by hand\nreduce 1 any recursive_doubling\n")
}

/// The library's name for this machine.
pub(crate) fn machine() -> Result<String> {
    let info = fs::read_to_string("/proc/cpuinfo")?;
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let online = fs::read_to_string("/sys/devices/system/cpu/online")?;
    let cpus: usize = online
        .trim()
        .split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?)
        })
        .sum::<Option<usize>>()
        .ok_or_else(|| format!("CPUs {online}?"))?;
    Ok(format!("{cpus} {}", model.map_or("unknown", |(_, model)| model.trim())))
}

/// Runs the sum of four PEs with these variables and without a user's configuration.
fn sum(environment: &[(&str, &Path)]) -> Result<Outcome> {
    let program = compile::plain("tests/programs/sum_order.c", &[])?;
    let mut command = launch::oshrun(4, &program);
    command.env(CONFIG, folder("nothing")?).env_remove(TUNING).envs(environment.iter().copied());
    launch::run(command)
}

fn expect(outcome: &Outcome, sum: &str, messages: usize) -> Result {
    outcome.success()?;
    outcome.require(outcome.stdout == sum, format!("expected {sum}"))?;
    match outcome.stderr.matches(IGNORED).count() {
        count if count == messages => Ok(()),
        count => Err(outcome.report(format!("{count} messages instead of {messages}"))),
    }
}

fn none() -> Result {
    expect(&sum(&[])?, IN_ORDER, 0)
}

fn named() -> Result {
    let path = folder("named")?.join("my tuning");
    tree::write(&path, file(&machine()?))?;
    expect(&sum(&[(TUNING, &path)])?, BY_PAIRS, 0)
}

/// The rules for members on several nodes count there, and only those.
fn named_over_nodes() -> Result {
    let path = folder("named-over-nodes")?.join("tuning");
    let program = compile::plain("tests/programs/sum_order.c", &[])?;
    for (rules, expected) in [
        ("over nodes\nreduce 1 any linear\n", IN_ORDER),
        ("over nodes\nreduce 1 any recursive_doubling\n", BY_PAIRS),
        ("reduce 1 any recursive_doubling\nover nodes\nreduce 1 any linear\n", IN_ORDER),
    ] {
        tree::write(&path, format!("oneshmem tuning 1\nmachine {}\n{rules}", machine()?))?;
        let mut command = nodes::oshrun("a,b", 4, nodes::DIRECT, &[]);
        command.arg(&program).env(TUNING, &path);
        expect(&launch::run(command)?, expected, 0)?;
    }
    Ok(())
}

fn in_the_config_folder() -> Result {
    let config = folder("config")?;
    fs::create_dir(config.join("oneshmem"))?;
    tree::write(config.join("oneshmem/tuning"), file(&machine()?))?;
    expect(&sum(&[(CONFIG, &config)])?, BY_PAIRS, 0)?;
    // An empty value means no file at all.
    expect(&sum(&[(CONFIG, &config), (TUNING, Path::new(""))])?, IN_ORDER, 0)
}

/// An invalid file is reported once, and not used.
fn bad(text: &str, why: &str) -> Result {
    let name: String = why.chars().filter(char::is_ascii_alphanumeric).collect();
    let path = folder(&name)?.join("tuning");
    tree::write(&path, text)?;
    let outcome = sum(&[(TUNING, &path)])?;
    expect(&outcome, IN_ORDER, 1)?;
    outcome.require(
        outcome.stderr.contains(why) && outcome.stderr.contains(&*path.to_string_lossy()),
        "it does not say which file, and why",
    )
}

fn absent() -> Result {
    let outcome = sum(&[(TUNING, Path::new("/nonexistent/tuning"))])?;
    expect(&outcome, IN_ORDER, 1)?;
    outcome.require(outcome.stderr.contains("/nonexistent/tuning"), "it does not say which file")
}

/// A path that is not a short regular file is neither waited for nor read endlessly.
fn no_regular_file() -> Result {
    let folder = folder("special")?;
    let (fifo, large) = (folder.join("fifo"), folder.join("large"));
    let made = Command::new("mkfifo").arg(&fifo).status()?;
    if !made.success() {
        return Err(format!("mkfifo: {made}").into());
    }
    tree::write(&large, format!("{}{}", file(&machine()?), "# more of it\n".repeat(100_000)))?;
    for (path, why) in [
        (fifo.as_path(), "it is no regular file"),
        (&folder, "it is no regular file"),
        (Path::new("/dev/zero"), "it is no regular file"),
        (&large, "it has more than 1048576 bytes"),
    ] {
        let outcome = sum(&[(TUNING, path)])?;
        expect(&outcome, IN_ORDER, 1)?;
        outcome.require(
            outcome.stderr.contains(&format!("{} ignored: {why}", path.display())),
            format!("expected {why:?}"),
        )?;
    }
    Ok(())
}

/// Copies follow the limits of a file, and arrive whole, whatever these are.
fn copies() -> Result {
    let path = folder("copies")?.join("tuning");
    let program = compile::plain("tests/programs/copies.c", &[])?;
    for (limits, shown) in [
        ("string_from 1\nstring_apart 1\n", "string instruction from 1 byte"),
        ("string_from 5000\nstring_apart 32\n", "string instruction from 5000 bytes"),
        ("string_from never\ncached_to never\n", "through the caches at any size"),
        ("cached_to 1\npages_abreast 1\n", "past the caches above 1 byte, 1 page at a time"),
        ("cached_to 300000\npages_abreast 3\n", "above 300000 bytes, 3 pages at a time"),
    ] {
        tree::write(&path, format!("oneshmem tuning 1\nmachine {}\ncopies\n{limits}", machine()?))?;
        let jobs = [(&program, "copies are right\n"), (&tree::prefix("bin/oshinfo"), shown)];
        for (program, expected) in jobs {
            let mut command = launch::oshrun(2, program);
            command.env(TUNING, &path);
            launch::run(command)?.prints(&[expected])?;
        }
    }
    Ok(())
}

/// If one PE has a different choice, the job ends before a collective goes wrong.
fn pes_differ() -> Result {
    let first = folder("differ")?.join("first");
    let program = compile::plain("tests/programs/sum_order.c", &[])?;
    let mut command = launch::oshrun(4, &program);
    command.env(CONFIG, folder("differ-config")?).env_remove(TUNING).arg(first);
    launch::run(command)?.fails(&["must be the same for all PEs"])
}

fn tune(arguments: &[&str]) -> Command {
    let mut command = Command::new(tree::prefix("bin/oshtune"));
    command.args(arguments).env_remove(TUNING);
    command
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What `oshtune` writes, where, and that jobs use it.
fn oshtune() -> Result {
    let config = folder("written")?;
    let mut command = tune(&["--time", "1", "--pes", "3,2"]);
    command.env(CONFIG, &config);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let place = config.join("oneshmem");
    outcome.require(
        names(&place) == ["tuning", "tuning.svg"],
        format!("it left {:?}", names(&place)),
    )?;
    let text = fs::read_to_string(place.join("tuning"))?;
    let limits = ["string_from ", "string_apart ", "cached_to ", "pages_abreast ", "together_to "];
    let has_limits = text.contains("\ncopies\n") && limits.iter().all(|name| text.contains(name));
    let has_machine = text.contains(&format!("\nmachine {}\n", machine()?));
    if !has_machine || !has_limits || text.lines().count() < 3 + 16 + 6 {
        return Err(format!("an odd file:\n{text}").into());
    }
    let mut command = launch::oshrun(3, &tree::prefix("bin/oshinfo"));
    command.env(CONFIG, &config).env_remove(TUNING);
    let info = launch::run(command)?;
    let row = format!("Tuning table     {}\n", place.join("tuning").display());
    info.require(
        info.stdout.contains(&row) && info.stderr.is_empty(),
        "it does not show the table",
    )?;

    let folder = folder("dry")?;
    let output = folder.join("tuning").display().to_string();
    let outcome = launch::run(tune(&["--time=1", "--pes=2", "--dry-run", "--output", &output]))?;
    outcome.success()?;
    match names(&folder)[..] {
        [] => Ok(()),
        ref names => Err(outcome.report(format!("a dry run left {names:?}"))),
    }
}

/// `oshtune` over hosts writes the rules for several nodes, and keeps the others.
fn oshtune_over_nodes() -> Result {
    let folder = folder("over-nodes")?;
    let path = folder.join("tuning");
    tree::write(&path, file(&machine()?))?;
    let output = path.display().to_string();
    let over = ["--host", "a,b", "--launch-agent", nodes::DIRECT];
    let options = ["--time", "2", "--pes", "4,2", "--output", &output];
    let outcome = launch::run(tune(&[&over[..], &options].concat()))?;
    outcome.success()?;
    outcome.require(
        names(&folder) == ["tuning", "tuning.nodes.svg"],
        format!("it left {:?}", names(&folder)),
    )?;
    let text = fs::read_to_string(&path)?;
    let words = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let lines = words(&text);
    let start = lines.iter().position(|line| line == "over nodes").ok_or("no rules over nodes")?;
    let (near, far) = lines.split_at(start);
    // At least a rule for each operation and number of PEs.
    if near[3..] != ["reduce 1 any recursive_doubling"] || far.len() < 1 + 16 {
        return Err(format!("an odd file:\n{text}").into());
    }
    // A later run on one machine keeps the rules over nodes.
    launch::run(tune(&["--time", "1", "--pes", "2", "--output", &output]))?.success()?;
    let text = fs::read_to_string(&path)?;
    let lines = words(&text);
    match lines.iter().position(|line| line == "over nodes") {
        Some(start) if lines[start..] == *far && start >= 3 + 8 => {}
        _ => return Err(format!("the rules over nodes have not stayed:\n{text}").into()),
    }
    let few = ["--host", "a,b,c", "--launch-agent", nodes::DIRECT, "--pes", "2", "--dry-run"];
    launch::run(tune(&few))?.ends(1, &["--pes 2 is fewer than there are hosts"])
}

fn oshtune_refuses() -> Result {
    let config = folder("refused")?;
    let written = config.join("folder");
    fs::create_dir(&written)?;
    let written = written.display().to_string();
    for (arguments, status, says) in [
        (&["--pes", "1"][..], 2, "from 2 to"),
        (&["--time", "0.1"], 2, "at least 1"),
        (&["--output", &written], 1, "is a folder"),
        (&["--output", "/proc/nothing/tuning"], 1, "cannot make the folder"),
        (&["more"], 2, "more"),
    ] {
        let outcome = launch::run(tune(arguments))?;
        outcome.ends(status, &[says])?;
    }
    launch::run(launch::oshrun(2, &tree::prefix("bin/oshtune")))?
        .fails(&["must not be run by a launcher"])
}

/// A PE of a measuring job that cannot write its samples ends the job together with the others.
fn oshtune_unwritten() -> Result {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "2", "sh", "-c", "exec \"$0\" pe 1000 0 direct > /dev/full"]);
    command.arg(tree::prefix("bin/oshtune"));
    let outcome = launch::run(command)?;
    let told = outcome.stderr.matches("cannot write samples").count();
    match outcome.status {
        1 if told == 1 && !outcome.hung => Ok(()),
        _ => Err(outcome.report("expected status 1, and one message about samples")),
    }
}

/// An interrupt leaves the older file unchanged, and nothing else behind.
fn oshtune_interrupted() -> Result {
    let folder = folder("interrupted")?;
    let path = folder.join("tuning");
    tree::write(&path, "as it was\n")?;
    let output = path.display().to_string();
    let running = Running::start(tune(&["--time", "1000", "--pes", "2", "--output", &output]))?;
    let deadline = Instant::now() + launch::LIMIT;
    // The launcher and two PEs.
    while running.descendants().len() < 3 {
        if Instant::now() > deadline {
            return Err("no job was started".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // As from the keyboard: the launcher gets it, too.
    killpg(running.pid(), Signal::SIGINT)?;
    let outcome = running.finish()?;
    let text = fs::read_to_string(&path)?;
    outcome.require(
        outcome.status != 0 && text == "as it was\n" && names(&folder) == ["tuning"],
        format!("it left {:?}, with {text:?}", names(&folder)),
    )
}
