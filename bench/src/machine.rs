//! Facts about the machine on which the figures depend, and how quiet it is meanwhile.

use std::fs;
use std::process::Command;

use anyhow::Context;
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
    load: String,
    before: Option<Times>,
}

/// CPU times since boot, in the kernel's ticks, and what of them this process and its descendants took that have been waited for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    all: u64,
    busy: u64,
    stolen: u64,
    ours: u64,
}

impl Watch {
    /// Starts to observe.
    pub fn start() -> Self {
        let load = read("/proc/loadavg").and_then(|text| Some(text.split(' ').next()?.to_owned()));
        Self { load: load.unwrap_or_else(|| "unknown".into()), before: times() }
    }

    /// How quiet the machine was, as a sentence, with how far the runs of points were from each other.
    pub fn end(self, mut spreads: Vec<f64>) -> String {
        let mut text = format!("Load before: {}", self.load);
        if let Some((before, after)) = self.before.zip(times()).filter(|(b, a)| a.all > b.all) {
            let percent = |ticks: u64| ticks as f64 / (after.all - before.all) as f64 * 100.0;
            // The kernel's counters may decrease (proc(5)); that counts as nothing.
            let stolen = percent(after.stolen.saturating_sub(before.stolen));
            let busy = after.busy.saturating_sub(before.busy);
            let others = percent(busy.saturating_sub(after.ours.saturating_sub(before.ours)));
            text += &format!(
                "; CPU time taken meanwhile by other things: {others:.0} %, by the host: {stolen:.1} %"
            );
        }
        spreads.retain(|spread| !spread.is_nan());
        spreads.sort_by(f64::total_cmp);
        if !spreads.is_empty() {
            let at = |share: usize| figures::spread(spreads[spreads.len() * share / 10]);
            let (half, most) = (at(5), at(9));
            text += &format!(
                "; spread of the runs: {half} at half of the points, {most} at nine of ten"
            );
        }
        text + "."
    }
}

fn times() -> Option<Times> {
    parse_times(&read("/proc/stat")?, &read("/proc/self/stat")?)
}

/// From the first line of /proc/stat, user nice system idle iowait irq softirq steal, and from /proc/self/stat.
fn parse_times(all: &str, own: &str) -> Option<Times> {
    let number = |field: &str| field.parse::<u64>().ok();
    let fields: Vec<u64> = all.strip_prefix("cpu ")?.split_whitespace().map_while(number).collect();
    // The command's name is in parentheses; of what follows, the 12th to 15th: user and system, of children, too.
    let own = own.rsplit_once(") ")?.1.split_whitespace().skip(11).take(4);
    let all = fields.get(..8)?.iter().sum();
    // Not busy: idle, waiting for I/O, or stolen.
    let busy = all - fields[3] - fields[4] - fields[7];
    Some(Times { all, busy, stolen: fields[7], ours: own.map(number).sum::<Option<u64>>()? })
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
        let own = "7 (a (b) c) S 1 2 3 4 -1 6 7 8 9 10 100 20 3 4 99";
        assert_eq!(
            parse_times(text, own),
            Some(Times { all: 106, busy: 17, stolen: 7, ours: 127 })
        );
        assert_eq!(parse_times("cpu  10 1", own), None);
    }
}
