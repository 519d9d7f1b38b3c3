//! Facts about the machine on which the figures depend.

use std::fs;
use std::process::Command;

use anyhow::Context;
use oneshmem_tools::topology::Topology;
use time::OffsetDateTime;

/// Prints facts, as `name: value`.
const FACTS: &str = r#"
export LC_ALL=C
lscpu | grep -E '^ *(Model name|Thread|Core|Socket|NUMA node.s.|Hypervisor vendor|L[123][di]? cache).*:'
tell() { value=$("$@" 2> /dev/null | head -n 1); echo "$name: ${value:-not told by this system}"; }
name='memory' tell sed -n 's/MemTotal: *//p' /proc/meminfo
name='frequency governor' tell cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
name='virtual machine' tell cat /sys/class/dmi/id/product_name
name='transparent huge pages' tell cat /sys/kernel/mm/transparent_hugepage/enabled
name='the same for shared memory' tell cat /sys/kernel/mm/transparent_hugepage/shmem_enabled
name='kernel' tell uname -r
name='page size in bytes' tell getconf PAGESIZE
name='C library' tell getconf GNU_LIBC_VERSION
name='C compiler' tell cc --version
"#;

/// Facts about this machine as names and values.
pub fn facts(cpus: &[usize]) -> Vec<(String, String)> {
    let mut facts = told(Command::new("sh").args(["-c", FACTS]));
    let usable = format!("{} ({}), PE i on the i-th of them", cpus.len(), listed(cpus));
    facts.push(("CPUs usable".into(), usable));
    facts
}

/// The lines `name: value` that a command prints.
pub fn told(command: &mut Command) -> Vec<(String, String)> {
    let output = command.output().map(|it| it.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
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
