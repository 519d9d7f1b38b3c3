//! The pages of the symmetric heap: huge pages where the system has them, a message where it does
//! not, and the owner's NUMA node on a machine with several.

use crate::launch::{self, Outcome, all_succeed};
use crate::launchers::Launcher;
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const USE: &str = "SHMEM_SYMMETRIC_HEAP_USE_HUGE_PAGES";
const PAGE_SIZE: &str = "SHMEM_SYMMETRIC_HEAP_PAGE_SIZE";
const POPULATE: &str = "SHMEM_SYMMETRIC_HEAP_POPULATE";
const HEAP: (&str, &str) = ("SHMEM_SYMMETRIC_SIZE", "16m");
const SAYS_SO: &str = "going on with ordinary pages";
/// Memory needed for two heaps of 16 MiB in several concurrent trials.
const POOL: usize = 64 << 20;

/// The trials. Those that need pages missing on this system are ignored.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("heap-pages/too-few", || {
            complains("ordinary", &[(USE, "explicit"), (HEAP.0, "200g")], "huge pages of")
        }),
        Trial::test("heap-pages/no-such-size", || {
            complains("ordinary", &[(USE, "yes"), (PAGE_SIZE, "3000"), HEAP], "=3000")
        }),
        Trial::test("heap-pages/no-word", || refused(&[(USE, "perhaps")], &[USE, "transparent"])),
        Trial::test("heap-pages/no-size", || refused(&[(PAGE_SIZE, "big")], &[PAGE_SIZE])),
        Trial::test("heap-pages/off", || works(&["ordinary"], &[(USE, "0"), HEAP])),
        Trial::test("heap-pages/populated", || {
            works(&["populated", "7168"], &[(POPULATE, "7m"), HEAP])
        }),
        Trial::test("heap-pages/oshinfo", told),
    ];
    for backend in backends() {
        for &kib in &explicit_sizes() {
            let title = format!("heap-pages/explicit-{kib}/{backend}");
            trials.push(Trial::test(title, move || explicit(kib, backend)));
        }
        let title = format!("heap-pages/transparent/{backend}");
        let trial = Trial::test(title, move || transparent(backend));
        trials.push(trial.with_ignored_flag(!transparent_allowed(backend)));
        let title = format!("heap-pages/numa/{backend}");
        let trial = Trial::test(title, move || numa(backend));
        trials.push(trial.with_ignored_flag(!Path::new("/sys/devices/system/node/node1").exists()));
    }
    for launcher in Launcher::ALL {
        let title = format!("heap-pages/explicit/{}", launcher.name());
        let trial = Trial::test(title, move || under(launcher));
        trials.push(
            trial.with_ignored_flag(launcher.is_absent() || !explicit_sizes().contains(&2048)),
        );
    }
    trials
}

/// The backends available here.
pub fn backends() -> Vec<&'static str> {
    let xpmem = fs::File::options().read(true).write(true).open("/dev/xpmem").is_ok();
    match tree::is_smartmap() {
        true => vec!["smartmap"],
        false if xpmem => vec!["memfd", "xpmem"],
        false => vec!["memfd"],
    }
}

/// The sizes, in KiB, of explicit huge pages of which enough are free.
pub fn explicit_sizes() -> Vec<usize> {
    fs::read_dir("/sys/kernel/mm/hugepages")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?;
            let kib: usize = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
            let free = fs::read_to_string(path.join("free_hugepages")).ok()?;
            let free: usize = free.trim().parse().ok()?;
            (free >= 4 && free * (kib << 10) >= POOL).then_some(kib)
        })
        .collect()
}

fn transparent_allowed(backend: &str) -> bool {
    let file = if backend == "xpmem" { "enabled" } else { "shmem_enabled" };
    let text = fs::read_to_string(format!("/sys/kernel/mm/transparent_hugepage/{file}"));
    text.is_ok_and(|text| !text.contains("[never]") && !text.contains("[deny]"))
}

fn program() -> Result<PathBuf> {
    compile::plain("tests/programs/heap_pages.c", &[])
}

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Outcome> {
    let mut command = launch::oshrun(2, &program()?);
    command.args(arguments).envs(environment.iter().copied());
    launch::run(command)
}

/// Checks that the job succeeds without a message.
fn works(arguments: &[&str], environment: &[(&str, &str)]) -> Result {
    run(arguments, environment)?.silent()
}

/// Checks that the program goes on, and that one PE says once why its request was not met.
fn complains(what: &str, environment: &[(&str, &str)], why: &str) -> Result {
    let outcome = run(&[what], environment)?;
    outcome.success()?;
    outcome.require(
        outcome.stderr.contains(why) && outcome.stderr.matches(SAYS_SO).count() == 1,
        format!("expected once: {SAYS_SO}, and {why}"),
    )
}

fn refused(environment: &[(&str, &str)], words: &[&str]) -> Result {
    run(&["ordinary"], environment)?.fails(words)
}

fn explicit(kib: usize, backend: &str) -> Result {
    let size = format!("{kib}k");
    let mut environment =
        vec![(USE, "explicit"), (PAGE_SIZE, &size), ("SHMEM_BACKEND", backend), HEAP];
    // An XPMEM attachment has its own page table entries, whatever the pages.
    if backend != "xpmem" {
        environment.push(("MIRRORS_TOO", "1"));
    }
    works(&["explicit", &kib.to_string()], &environment)
}

fn transparent(backend: &str) -> Result {
    works(&["transparent"], &[(USE, "transparent"), ("SHMEM_BACKEND", backend), HEAP])
}

fn numa(backend: &str) -> Result {
    let mut command = Command::new(tree::prefix("bin/oshrun"));
    command.args(["-n", "2", "--map-by", "numa"]).arg(program()?).arg("numa");
    command.env("SHMEM_BACKEND", backend);
    launch::run(command)?.success()
}

/// PEs find the job's file of huge pages under every launcher.
fn under(launcher: Launcher) -> Result {
    let environment = [(USE, "explicit"), (PAGE_SIZE, "2m"), HEAP];
    all_succeed(&launcher.run(2, &program()?, &["explicit", "2048"], &environment)?)
}

/// `oshinfo` reports what was requested and what was provided.
fn told() -> Result {
    let mut command = launch::oshrun(2, &tree::prefix("bin/oshinfo"));
    command.env(USE, "explicit").env(PAGE_SIZE, "3000");
    let outcome = launch::run(command)?;
    outcome.success()?;
    let words = ["=explicit", "ordinary pages of 4 KiB"];
    let line = outcome.stdout.lines().find(|line| line.starts_with("Heap pages"));
    let is_told = line.is_some_and(|line| words.iter().all(|words| line.contains(words)));
    outcome.require(is_told, "it does not say what was asked and what was got")
}
