//! Facts about the machine on which the figures depend, and how quiet it is meanwhile.

use std::fs;
use std::process::Command;
use std::time::Instant;

use anyhow::Context;
use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};
use oneshmem_plots::figures;
use oneshmem_tools::topology::Topology;
use time::OffsetDateTime;

/// Facts that lscpu tells.
const CPUS: [&str; 10] = [
    "Model name",
    "Thread(s) per core",
    "Core(s) per socket",
    "Socket(s)",
    "NUMA node(s)",
    "Hypervisor vendor",
    "L1d cache",
    "L1i cache",
    "L2 cache",
    "L3 cache",
];
/// Facts that are a file.
const FILES: [(&str, &str); 5] = [
    ("frequency governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("virtual machine", "/sys/class/dmi/id/product_name"),
    ("transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("the same for shared memory", "/sys/kernel/mm/transparent_hugepage/shmem_enabled"),
    ("kernel", "/proc/sys/kernel/osrelease"),
];
/// Facts that are first lines of what a command prints.
const COMMANDS: [(&str, &[&str]); 3] = [
    ("page size in bytes", &["getconf", "PAGESIZE"]),
    ("C library", &["getconf", "GNU_LIBC_VERSION"]),
    ("C compiler", &["cc", "--version"]),
];

/// Facts about this machine as names and values, in display order. Says so where the system does not provide one.
pub fn facts(cpus: &[usize]) -> Vec<(String, String)> {
    let printed = |words: &[&str]| {
        let output = Command::new(words[0]).args(&words[1..]).env("LC_ALL", "C").output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    let cpu = printed(&["lscpu"]);
    let of_cpu = CPUS.iter().map(|what| (*what, field(&cpu, what)));
    let memory = read("/proc/meminfo").and_then(|text| field(&text, "MemTotal"));
    let of_files = FILES.iter().map(|(what, path)| (*what, read(path)));
    let line = |words: &[&str]| printed(words).lines().next().map(str::to_owned);
    let of_commands = COMMANDS.iter().map(|(what, words)| (*what, line(words)));
    let usable = format!("{} ({}), PE i on the i-th of them", cpus.len(), listed(cpus));
    let more = [("CPUs usable", Some(usable)), ("memory", memory)];
    let told = |(what, value): (&str, Option<String>)| {
        (what.to_owned(), value.unwrap_or_else(|| "not told by this system".into()))
    };
    of_cpu.chain(more).chain(of_files).chain(of_commands).map(told).collect()
}

/// The CPUs that this process may use, one hardware thread of each core first, so that PEs get
/// cores of their own while there are enough.
pub fn usable_cpus() -> anyhow::Result<Vec<usize>> {
    let topology = Topology::usable().context("cannot tell which CPUs may be used")?;
    let cores = topology.cores();
    let mut cpus: Vec<(usize, usize)> =
        cores.iter().flat_map(|core| core.iter().map(|cpu| cpu.id).enumerate()).collect();
    cpus.sort_unstable();
    Ok(cpus.into_iter().map(|(_, cpu)| cpu).collect())
}

/// Formats CPUs as programs expect them: `0,1,2`.
pub fn listed(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The current time in UTC, as in `2026-01-31 13:05`.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    format!("{} {:02}:{:02}", now.date(), now.hour(), now.minute())
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The value in a line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (what, value) = line.split_once(':')?;
        (what.trim() == name).then(|| value.trim().to_owned())
    })
}

/// The size of the last cache of the first CPU, in bytes.
pub fn last_cache() -> Option<u64> {
    let size = |index| read(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"));
    let last = (0..8).rev().find_map(size)?;
    let (number, scale) = match last.strip_suffix('M') {
        Some(number) => (number, 1 << 20),
        None => (last.strip_suffix('K')?, 1 << 10),
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

/// Observes the machine from creation to [`Self::end`].
#[derive(Debug)]
pub struct Watch {
    load: f64,
    before: Option<Times>,
    began: Instant,
    ours: f64,
}

/// CPU times since boot, in the kernel's ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    all: u64,
    busy: u64,
    stolen: u64,
}

impl Watch {
    /// Starts to observe.
    pub fn start() -> Self {
        let load = fs::read_to_string("/proc/loadavg").ok();
        let load = load.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0.0);
        Self { load, before: times(), began: Instant::now(), ours: ours() }
    }

    /// How quiet the machine was, as a sentence, with how far the runs of points were from each other.
    pub fn end(self, mut spreads: Vec<f64>) -> String {
        let (mut stolen, mut others) = (0.0, 0.0);
        if let Some((before, after)) = self.before.zip(times()).filter(|(b, a)| a.all > b.all) {
            // The kernel's counters may decrease (proc(5)); that counts as nothing.
            let taken = after.stolen.saturating_sub(before.stolen);
            let busy = seconds(after.busy.saturating_sub(before.busy)) - (ours() - self.ours);
            stolen = taken as f64 / (after.all - before.all) as f64 * 100.0;
            others = (busy / self.began.elapsed().as_secs_f64()).max(0.0);
        }
        spreads.retain(|spread| !spread.is_nan());
        spreads.sort_by(f64::total_cmp);
        let at = |share: usize| figures::spread(spreads[spreads.len() * share / 10]);
        let spread = match spreads.len() {
            0 => String::new(),
            _ => format!(
                "; spread of the runs: {} at half of the points, {} at nine of ten",
                at(5),
                at(9)
            ),
        };
        format!(
            "Load before {:.2}; CPUs busy with other things meanwhile {others:.2}; CPU time taken by the host {stolen:.1} %{spread}.",
            self.load
        )
    }
}

/// CPU times since boot, from the first line of /proc/stat: user nice system idle iowait irq
/// softirq steal.
fn times() -> Option<Times> {
    parse_times(&fs::read_to_string("/proc/stat").ok()?)
}

fn parse_times(text: &str) -> Option<Times> {
    let fields: Vec<u64> = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let all = fields.get(..8)?.iter().sum();
    // Not busy: idle, waiting for I/O, or stolen.
    Some(Times { all, busy: all - fields[3] - fields[4] - fields[7], stolen: fields[7] })
}

/// Converts the kernel's unit of CPU time to seconds.
fn seconds(ticks: u64) -> f64 {
    let hertz = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    ticks as f64 / hertz as f64
}

/// Seconds of CPU time used so far by this process and by its descendants that have been waited
/// for.
fn ours() -> f64 {
    let spent = |who| {
        getrusage(who).map_or(0.0, |usage| {
            [usage.user_time(), usage.system_time()]
                .iter()
                .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
                .sum()
        })
    };
    spent(UsageWho::RUSAGE_SELF) + spent(UsageWho::RUSAGE_CHILDREN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(listed(&[2, 0]), "2,0");
        assert!(!usable_cpus().unwrap().is_empty());
    }

    #[test]
    fn fields() {
        assert_eq!(field("a\t: 1\nmodel name : X  \n", "model name").as_deref(), Some("X"));
        assert_eq!(field("a: 1", "b"), None);
    }

    #[test]
    fn cpu_times() {
        let text = "cpu  10 1 5 80 2 0 1 7 0 0\ncpu0 1 2 3\n";
        assert_eq!(parse_times(text), Some(Times { all: 106, busy: 17, stolen: 7 }));
        assert_eq!(parse_times("cpu  10 1"), None);
    }
}
