//! The limits that this process's control groups set, of both versions of the interface (cgroups(7)).

use super::process;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the system shows control groups.
const ROOT: &str = "/sys/fs/cgroup";

/// The memory in bytes that this process and others of its control group may use: the machine's, or
/// less.
pub fn memory() -> u64 {
    memory_limit().unwrap_or(u64::MAX).min(process::machine_memory())
}

/// The limit on memory in bytes, if there is one below the machine's memory.
pub fn memory_limit() -> Option<u64> {
    let limit = Groups::own("memory").memory_limit();
    limit.filter(|limit| *limit < process::machine_memory())
}

/// The CPUs of a job's processes.
#[derive(Clone, Copy, Debug)]
pub struct Cpus {
    /// On how many CPUs they may run.
    pub number: usize,
    /// How many of them the control groups let them use all the time.
    pub quota: usize,
}

impl Cpus {
    /// The CPUs of this process, as its affinity and its control groups limit them.
    pub fn of_job() -> Self {
        Self { number: process::cpus_of_job(), quota: cpu_quota().map_or(usize::MAX, whole_cpus) }
    }
}

/// How many CPUs' time the control groups allow, if they limit it.
pub fn cpu_quota() -> Option<f64> {
    Groups::own("cpu").cpu_quota()
}

/// As a number of whole CPUs, at least one.
pub fn whole_cpus(quota: f64) -> usize {
    (quota as usize).max(1)
}

/// How many processes of this control group the kernel has killed for lack of memory, if it says.
pub fn oom_kills() -> Option<u64> {
    Groups::own("memory").oom_kills()
}

/// The folders of a controller: this process's control group, then those around it.
struct Groups(Vec<PathBuf>);

impl Groups {
    fn own(controller: &str) -> Self {
        let table = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::of(Path::new(ROOT), &table, controller)
    }

    /// From the table `/proc/self/cgroup`. A controller belongs to the first version if a line names
    /// it, otherwise to the second one, which has no names.
    fn of(root: &Path, table: &str, controller: &str) -> Self {
        let lines: Vec<_> = table
            .lines()
            .filter_map(|line| {
                let mut fields = line.splitn(3, ':');
                fields.next()?;
                Some((fields.next()?, fields.next()?))
            })
            .collect();
        let first = lines.iter().find(|(names, _)| names.split(',').any(|it| it == controller));
        let (root, path) = match (first, lines.iter().find(|(names, _)| names.is_empty())) {
            (Some((_, path)), _) => (root.join(controller), path),
            (None, Some((_, path))) => (root.to_owned(), path),
            (None, None) => return Self(Vec::new()),
        };
        // In a container, the path may be that of the machine, which is not shown there.
        let own = Some(root.join(path.trim_start_matches('/'))).filter(|own| own.is_dir());
        let own = own.unwrap_or_else(|| root.clone());
        Self(own.ancestors().take_while(|it| it.starts_with(&root)).map(Path::to_owned).collect())
    }

    /// The first of some files that a group has.
    fn read(group: &Path, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| fs::read_to_string(group.join(name)).ok())
    }

    fn memory_limit(&self) -> Option<u64> {
        // "max" is no number, and no limit.
        let limit = |group: &PathBuf| {
            Self::read(group, &["memory.max", "memory.limit_in_bytes"])?.trim().parse().ok()
        };
        self.0.iter().filter_map(limit).min()
    }

    fn cpu_quota(&self) -> Option<f64> {
        let quota = |group: &PathBuf| {
            let both = match Self::read(group, &["cpu.max"]) {
                Some(both) => both,
                None => [["cpu.cfs_quota_us"], ["cpu.cfs_period_us"]]
                    .map(|name| Self::read(group, &name).unwrap_or_default())
                    .join(" "),
            };
            let mut numbers = both.split_whitespace().map(str::parse::<f64>);
            match (numbers.next()?.ok()?, numbers.next()?.ok()?) {
                // -1 is no limit.
                (quota, period) if quota > 0.0 && period > 0.0 => Some(quota / period),
                _ => None,
            }
        };
        self.0.iter().filter_map(quota).reduce(f64::min)
    }

    fn oom_kills(&self) -> Option<u64> {
        let events = Self::read(self.0.first()?, &["memory.events", "memory.oom_control"])?;
        events.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files, removed on drop.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("cgroup-{name}-{}", std::process::id()));
            for (file, text) in files {
                let file = root.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_tightest_limit_of_all_groups_counts() {
        let tree = Tree::new(
            "second",
            &[
                ("job/step/memory.max", "max\n"),
                ("job/step/memory.events", "low 0\noom 3\noom_kill 2\n"),
                ("job/step/cpu.max", "250000 100000\n"),
                ("job/memory.max", "1048576\n"),
                ("job/cpu.max", "max 100000\n"),
                ("other/memory.max", "1\n"),
            ],
        );
        let groups = |controller| Groups::of(&tree.0, "0::/job/step\n", controller);
        assert_eq!(groups("memory").memory_limit(), Some(1 << 20));
        assert_eq!(groups("memory").oom_kills(), Some(2));
        assert_eq!(groups("cpu").cpu_quota(), Some(2.5));
        assert_eq!(Groups::of(&tree.0, "", "cpu").cpu_quota(), None);
    }

    #[test]
    fn the_first_version_has_a_tree_for_each_controller() {
        let tree = Tree::new(
            "first",
            &[
                ("memory/a/memory.limit_in_bytes", "4096\n"),
                ("memory/a/memory.oom_control", "under_oom 0\noom_kill 7\n"),
                ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("cpu/b/cpu.cfs_quota_us", "-1\n"),
                ("cpu/b/cpu.cfs_period_us", "100000\n"),
                ("cpu/cpu.cfs_quota_us", "50000\n"),
                ("cpu/cpu.cfs_period_us", "100000\n"),
            ],
        );
        let groups =
            |controller| Groups::of(&tree.0, "4:memory:/a\n2:cpuacct,cpu:/b\n0::/\n", controller);
        assert_eq!(groups("memory").memory_limit(), Some(4096));
        assert_eq!(groups("memory").oom_kills(), Some(7));
        assert_eq!(groups("cpu").cpu_quota(), Some(0.5));
        // A container shows its own groups only, and calls them by the machine's path.
        let inside = Groups::of(&tree.0, "2:cpu:/docker/1234\n", "cpu");
        assert_eq!(inside.cpu_quota(), Some(0.5));
    }

    #[test]
    fn part_of_a_cpu_is_one() {
        assert_eq!([0.5, 1.0, 2.5].map(whole_cpus), [1, 1, 2]);
    }
}
