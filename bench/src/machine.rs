//! Facts about the machine that figures depend on.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// Facts: what, value. In the order in which they are shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The facts.
    pub facts: Vec<(String, String)>,
}

impl Machine {
    /// What can be found out here. A fact that this system does not tell is stated as such.
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
            read("/sys/devices/system/node/online").map(|list| expand(&list).len().to_string()),
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

    /// One fact's value.
    pub fn get(&self, what: &str) -> Option<&str> {
        self.facts.iter().find(|(name, _)| name == what).map(|(_, value)| value.as_str())
    }
}

/// The CPUs this process may use: one hardware thread of each core first, so that PEs get cores of
/// their own as long as there are enough.
pub fn usable_cpus() -> anyhow::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0)).context("cannot tell which CPUs may be used")?;
    let mut cpus: Vec<usize> =
        (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect();
    let nth_of_its_core = |cpu: usize| {
        let siblings =
            read(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
        siblings
            .map_or(0, |list| expand(&list).iter().position(|&sibling| sibling == cpu).unwrap_or(0))
    };
    cpus.sort_by_key(|&cpu| (nth_of_its_core(cpu), cpu));
    Ok(cpus)
}

/// A list of CPUs as the kernel writes it, `0-3,8`, one by one.
fn expand(list: &str) -> Vec<usize> {
    let parts = list.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    parts.flatten().collect()
}

/// CPUs as programs take them: `0,1,2`.
pub fn listed(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The time in UTC, `2026-01-31 13:05`.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    utc(seconds)
}

/// Days to a date after Howard Hinnant's `civil_from_days`.
fn utc(seconds: u64) -> String {
    let days = seconds / 86400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153; // months, March is 0
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60)
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The value after `name :` in a text of such lines.
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
        .map(|list| expand(&list).len().to_string())
}

fn boost() -> Option<String> {
    let intel = read("/sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|no| if no == "0" { "on" } else { "off" });
    let other = || {
        read("/sys/devices/system/cpu/cpufreq/boost").map(|on| if on == "1" { "on" } else { "off" })
    };
    intel.or_else(other).map(str::to_owned)
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
        assert_eq!(expand("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(listed(&[2, 0]), "2,0");
        assert!(!usable_cpus().unwrap().is_empty());
    }

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01 00:00");
        assert_eq!(utc(951_825_599), "2000-02-29 11:59");
        assert_eq!(utc(1_767_225_599), "2025-12-31 23:59");
    }

    #[test]
    fn fields() {
        assert_eq!(field("a\t: 1\nmodel name : X  \n", "model name").as_deref(), Some("X"));
        assert_eq!(field("a: 1", "b"), None);
    }
}
