//! Facts about the machine on which the figures depend.

use std::fs;
use std::process::Command;

use anyhow::Context;
use oneshmem_tools::topology::{Topology, lists};
use serde::Serialize;
use time::OffsetDateTime;

/// Facts as names and values, in display order.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Machine {
    /// The facts.
    pub facts: Vec<(String, String)>,
}

impl Machine {
    /// Collects the facts about this machine. Says so where the system does not provide one.
    pub fn here(cpus: &[usize]) -> Self {
        let mut facts = Vec::new();
        let mut fact = |what: &str, value: Option<String>| {
            facts
                .push((what.to_owned(), value.unwrap_or_else(|| "not told by this system".into())));
        };
        let cpuinfo = read("/proc/cpuinfo");
        fact("CPU", cpuinfo.as_deref().and_then(|text| field(text, "model name")));
        fact("CPUs usable", Some(format!("{} ({})", cpus.len(), listed(cpus))));
        fact(
            "CPU order for pinning",
            Some("PE i on the i-th of these; unpinned where PEs outnumber them".into()),
        );
        fact("hardware threads per core", threads_per_core());
        fact(
            "NUMA nodes",
            read("/sys/devices/system/node/online")
                .and_then(|list| Some(lists::of_file(&list)?.len().to_string())),
        );
        fact("caches of one CPU", caches());
        fact("frequency governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
        fact("frequency boost", boost());
        let virtual_machine =
            cpuinfo.as_deref().and_then(|text| field(text, "flags")).map(|flags| {
                if flags.split(' ').any(|flag| flag == "hypervisor") { "yes" } else { "no" }
                    .to_owned()
            });
        fact("virtual machine", virtual_machine);
        fact("memory", read("/proc/meminfo").and_then(|text| field(&text, "MemTotal")));
        fact("page size", output("getconf", &["PAGESIZE"]).map(|bytes| format!("{bytes} B")));
        fact("transparent huge pages", read("/sys/kernel/mm/transparent_hugepage/enabled"));
        fact(
            "the same for shared memory",
            read("/sys/kernel/mm/transparent_hugepage/shmem_enabled"),
        );
        fact("kernel", read("/proc/sys/kernel/osrelease"));
        fact("C library", output("getconf", &["GNU_LIBC_VERSION"]));
        fact(
            "C compiler",
            output("cc", &["--version"]).and_then(|text| text.lines().next().map(str::to_owned)),
        );
        Self { facts }
    }

    /// The value of one fact.
    pub fn get(&self, what: &str) -> Option<&str> {
        self.facts.iter().find(|(name, _)| name == what).map(|(_, value)| value.as_str())
    }
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

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn threads_per_core() -> Option<String> {
    read("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
        .and_then(|list| Some(lists::of_file(&list)?.len().to_string()))
}

fn boost() -> Option<String> {
    let intel = read("/sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|no| if no == "0" { "on" } else { "off" });
    let other = || {
        read("/sys/devices/system/cpu/cpufreq/boost").map(|on| if on == "1" { "on" } else { "off" })
    };
    intel.or_else(other).map(str::to_owned)
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

fn caches() -> Option<String> {
    let parts: Vec<String> = (0..8)
        .map(|index| format!("/sys/devices/system/cpu/cpu0/cache/index{index}"))
        .filter_map(|cache| {
            let part = |name: &str| read(&format!("{cache}/{name}"));
            let letter = match part("type")?.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            Some(format!("L{}{letter} {}", part("level")?, part("size")?))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
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
}
