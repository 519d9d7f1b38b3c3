//! The machine's memories that are faster than the one next to the processor on which this process
//! runs, as reported by the kernel.

use super::lists;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory in which the kernel describes its nodes and tiers.
const SYSTEM: &str = "/sys/devices";

/// The fastest of the nodes `allowed`, ascending, if some are faster than others: nodes without
/// processors that are read faster by their neighbours than `own` reads its own memory, according
/// to the firmware's bandwidths. If there are none, the kernel's first tier of several.
pub fn quickest(own: usize, allowed: &[usize]) -> Vec<usize> {
    Machine(SYSTEM.into()).quickest(own, allowed)
}

/// A machine, as the files in this directory describe it.
struct Machine(PathBuf);

impl Machine {
    fn quickest(&self, own: usize, allowed: &[usize]) -> Vec<usize> {
        let usual = self.bandwidth(own);
        let faster = usual.map(|usual| self.faster_than(usual, allowed)).unwrap_or_default();
        if faster.is_empty() { self.first_tier(allowed) } else { faster }
    }

    fn faster_than(&self, usual: u64, allowed: &[usize]) -> Vec<usize> {
        let without_cpus = allowed.iter().copied().filter(|node| !self.has_cpus(*node));
        let known: Vec<(usize, u64)> = without_cpus
            .filter_map(|node| Some((node, self.bandwidth(node).filter(|it| *it > usual)?)))
            .collect();
        let most = known.iter().map(|(_, bandwidth)| *bandwidth).max();
        known.into_iter().filter(|(_, it)| Some(*it) == most).map(|(node, _)| node).collect()
    }

    /// The allowed nodes of the first tier that has any, provided that another tier has some, too.
    /// A lower number is faster.
    fn first_tier(&self, allowed: &[usize]) -> Vec<usize> {
        let entries = fs::read_dir(self.0.join("virtual/memory_tiering"));
        let mut tiers: Vec<(u32, Vec<usize>)> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let number =
                    entry.file_name().to_str()?.strip_prefix("memory_tier")?.parse().ok()?;
                let nodes = lists::of_file(&text(&entry.path().join("nodelist"))?)?;
                let nodes: Vec<_> = nodes.into_iter().filter(|it| allowed.contains(it)).collect();
                (!nodes.is_empty()).then_some((number, nodes))
            })
            .collect();
        tiers.sort();
        match tiers.len() {
            0 | 1 => Vec::new(),
            _ => tiers.swap_remove(0).1,
        }
    }

    fn has_cpus(&self, node: usize) -> bool {
        text(&self.node(node).join("cpulist")).is_none_or(|list| !list.is_empty())
    }

    /// In MB/s, from the processors with the best access to it.
    fn bandwidth(&self, node: usize) -> Option<u64> {
        text(&self.node(node).join("access0/initiators/read_bandwidth"))?.parse().ok()
    }

    fn node(&self, node: usize) -> PathBuf {
        self.0.join(format!("system/node/node{node}"))
    }
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine in a directory that is removed with it.
    struct Described(Machine);

    impl Drop for Described {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0.0);
        }
    }

    /// A machine with nodes, each with a list of processors and a bandwidth, and with tiers.
    fn machine(name: &str, nodes: &[(&str, Option<u64>)], tiers: &[(u32, &str)]) -> Described {
        let name = format!("onenode-tiers-{name}-{}", std::process::id());
        let described = Described(Machine(std::env::temp_dir().join(name)));
        let write = |path: String, text: &str| {
            let path = described.0.0.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, format!("{text}\n")).expect("a file");
        };
        for (number, (cpus, bandwidth)) in nodes.iter().enumerate() {
            write(format!("system/node/node{number}/cpulist"), cpus);
            if let Some(bandwidth) = bandwidth {
                let name = "access0/initiators/read_bandwidth";
                write(format!("system/node/node{number}/{name}"), &bandwidth.to_string());
            }
        }
        for (number, list) in tiers {
            write(format!("virtual/memory_tiering/memory_tier{number}/nodelist"), list);
        }
        described
    }

    const NONE: [usize; 0] = [];

    #[test]
    fn memory_without_processors_that_is_faster() {
        let nodes = [("0-3", Some(200)), ("4-7", Some(200)), ("", Some(800)), ("", Some(800))];
        let many = machine("many", &nodes, &[(4, "0-3")]);
        assert_eq!(many.0.quickest(0, &[0, 1, 2, 3]), [2, 3]);
        assert_eq!(many.0.quickest(0, &[0, 1, 3]), [3]);
        assert_eq!(many.0.quickest(0, &[0, 1]), NONE);
        let slower = machine("slower", &[("0", Some(200)), ("", Some(50))], &[(4, "0-1")]);
        assert_eq!(slower.0.quickest(0, &[0, 1]), NONE);
    }

    #[test]
    fn the_first_tier_of_several() {
        let nodes = [("0-3", None), ("", None)];
        let far = machine("far", &nodes, &[(961, "1"), (4, "0")]);
        assert_eq!(far.0.quickest(0, &[0, 1]), [0]);
        assert_eq!(far.0.quickest(0, &[0]), NONE, "there is no choice");
        let known = [("0", Some(200)), ("", Some(50))];
        let slower = machine("known", &known, &[(961, "1"), (4, "0")]);
        assert_eq!(slower.0.quickest(0, &[0, 1]), [0]);
        assert_eq!(machine("alike", &nodes, &[(4, "0-1")]).0.quickest(0, &[0, 1]), NONE);
        assert_eq!(machine("old", &nodes, &[]).0.quickest(0, &[0, 1]), NONE);
    }
}
