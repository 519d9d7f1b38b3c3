//! How many cores share a cache, as the kernel describes the machine under `/sys`. All processes on a
//! machine find the same number, wherever they may run.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Where the system reports nothing.
const USUAL: usize = 8;

/// The number of cores that share their last cache with the first one; those of its NUMA node if the
/// system reports no such cache; 8 if it reports neither.
pub fn cores_of_a_cache() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| cores(Path::new("/sys/devices/system")).unwrap_or(USUAL).max(2))
}

/// The same from a tree like `/sys/devices/system`.
fn cores(system: &Path) -> Option<usize> {
    let cpu = system.join("cpu/cpu0");
    let count = |map: &Path| fs::read_to_string(map).ok().map(|map| cpus(&map)).filter(|n| *n > 0);
    let of_cache = || count(&cpu.join("cache/index3/shared_cpu_map"));
    let of_node = || count(&system.join("node/node0/cpumap"));
    let threads = count(&cpu.join("topology/thread_siblings")).unwrap_or(1);
    Some(of_cache().or_else(of_node)?.div_ceil(threads))
}

/// The number of CPUs in a map: hexadecimal digits with a bit for each CPU, in groups.
fn cpus(map: &str) -> usize {
    let digits = map.chars().filter_map(|digit| digit.to_digit(16));
    digits.map(|digit| digit.count_ones() as usize).sum()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A machine as the kernel describes it: maps of CPU 0's threads, last cache and NUMA node.
    #[derive(Clone, Copy, Debug)]
    pub struct Machine {
        pub threads: &'static str,
        pub cache: &'static str,
        pub node: &'static str,
        /// The number of cores that share a cache or, without one, a NUMA node.
        pub cores: usize,
    }

    /// Emulated machines.
    pub const MACHINES: [Machine; 6] = [
        // Zen 3: 8 cores of two threads to a cache. Second threads have numbers from 64 on.
        Machine {
            threads: "00000001,00000000,00000001",
            cache: "000000ff,00000000,000000ff",
            node: "ffffffff,ffffffff,ffffffff,ffffffff",
            cores: 8,
        },
        // The same processor with 6 cores to a cache, and no second threads.
        Machine { threads: "00000001", cache: "0000003f", node: "00ffffff", cores: 6 },
        // Intel: two sockets of 36 cores, a cache for each. Threads of a core follow each other.
        Machine {
            threads: "0000,00000000,00000003",
            cache: "00ff,ffffffff,ffffffff",
            node: "00ff,ffffffff,ffffffff",
            cores: 36,
        },
        // Numbers take turns between two sockets of 24 cores.
        Machine { threads: "0001", cache: "5555,55555555", node: "5555,55555555", cores: 24 },
        // A virtual machine with two NUMA nodes of 4 CPUs, which reports no cache.
        Machine { threads: "1", cache: "", node: "f", cores: 4 },
        // One that reports nothing.
        Machine { threads: "", cache: "", node: "", cores: USUAL },
    ];

    impl Machine {
        /// What the library finds on it.
        pub fn found(&self, name: &str) -> usize {
            let root = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            let write = |place: &str, map: &str| {
                let place: PathBuf = root.join(place);
                if let (false, Some(folder)) = (map.is_empty(), place.parent()) {
                    fs::create_dir_all(folder).expect("a folder");
                    fs::write(place, format!("{map}\n")).expect("a file");
                }
            };
            write("cpu/cpu0/topology/thread_siblings", self.threads);
            write("cpu/cpu0/cache/index3/shared_cpu_map", self.cache);
            write("node/node0/cpumap", self.node);
            let found = cores(&root).unwrap_or(USUAL);
            let _ = fs::remove_dir_all(root);
            found
        }
    }

    #[test]
    fn the_cores_of_a_cache_are_counted() {
        for (i, machine) in MACHINES.iter().enumerate() {
            assert_eq!(machine.found(&format!("caches-{i}")), machine.cores, "{machine:?}");
        }
    }
}
