//! Facts about the machine on which the figures depend.

use std::fs;
use std::process::Command;

use anyhow::Context;
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
/// Facts that are the first lines of what commands print.
const COMMANDS: [(&str, &str); 9] = [
    ("memory", "sed -n 's/MemTotal: *//p' /proc/meminfo"),
    ("frequency governor", "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("virtual machine", "cat /sys/class/dmi/id/product_name"),
    ("transparent huge pages", "cat /sys/kernel/mm/transparent_hugepage/enabled"),
    ("the same for shared memory", "cat /sys/kernel/mm/transparent_hugepage/shmem_enabled"),
    ("kernel", "uname -r"),
    ("page size in bytes", "getconf PAGESIZE"),
    ("C library", "getconf GNU_LIBC_VERSION"),
    ("C compiler", "cc --version"),
];

/// Facts about this machine as names and values, in display order. Says so where the system does not provide one.
pub fn facts(cpus: &[usize]) -> Vec<(String, String)> {
    let printed = |command: &str| {
        let output = Command::new("sh").args(["-c", command]).env("LC_ALL", "C").output();
        String::from_utf8_lossy(&output.map(|it| it.stdout).unwrap_or_default()).into_owned()
    };
    let of_cpus = printed("lscpu");
    let of_cpu = |what: &'static str| {
        let mut lines = of_cpus.lines().filter_map(|line| line.split_once(':'));
        let line = lines.find(|(name, _)| name.trim() == what);
        (what, line.map(|(_, value)| value.trim().to_owned()))
    };
    let first = |(what, command)| (what, printed(command).lines().next().map(str::to_owned));
    let usable = format!("{} ({}), PE i on the i-th of them", cpus.len(), listed(cpus));
    let told = |(what, value): (&str, Option<String>)| {
        (what.to_owned(), value.unwrap_or_else(|| "not told by this system".into()))
    };
    let all = CPUS.into_iter().map(of_cpu).chain([("CPUs usable", Some(usable))]);
    all.chain(COMMANDS.into_iter().map(first)).map(told).collect()
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

/// Formats numbers as programs expect them: `0,1,2`.
pub fn listed(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The current time in UTC, as in `2026-01-31 13:05`.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    format!("{} {:02}:{:02}", now.date(), now.hour(), now.minute())
}

/// The size of the last cache of the first CPU, in bytes. The system has it in KiB: `32768K`.
pub fn last_cache() -> Option<u64> {
    let size = |index| format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
    let last = (0..8).rev().find_map(|index| fs::read_to_string(size(index)).ok())?;
    last.trim().strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1024)
}

/// How many processes run or wait for a CPU, on average over the last minute.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(listed(&[2, 0]), "2,0");
        assert!(!usable_cpus().unwrap().is_empty());
    }
}
