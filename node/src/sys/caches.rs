//! How many cores share a cache, as the kernel describes the machine under `/sys`. All processes on a
//! machine find the same number, wherever they may run.

use std::sync::OnceLock;

/// Where the system reports nothing.
const USUAL: usize = 8;

/// The number of cores that share their last cache with the first one; those of its NUMA node if the
/// system reports no such cache; 8 if it reports neither.
pub fn cores_of_a_cache() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let read = |map: &str| std::fs::read_to_string(format!("/sys/devices/system/{map}")).ok();
    *CORES.get_or_init(|| cores(read).unwrap_or(USUAL).max(2))
}

const THREADS: &str = "cpu/cpu0/topology/thread_siblings";
const CACHE: &str = "cpu/cpu0/cache/index3/shared_cpu_map";
const NODE: &str = "node/node0/cpumap";

/// The same from these maps, as `read` finds them.
fn cores(read: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let count = |map: &str| read(map).map(|map| cpus(&map)).filter(|n| *n > 0);
    let threads = count(THREADS).unwrap_or(1);
    Some(count(CACHE).or_else(|| count(NODE))?.div_ceil(threads))
}

/// The number of CPUs in a map: hexadecimal digits with a bit for each CPU, in groups.
fn cpus(map: &str) -> usize {
    let digits = map.chars().filter_map(|digit| digit.to_digit(16));
    digits.map(|digit| digit.count_ones() as usize).sum()
}

#[cfg(test)]
pub mod tests {
    use super::*;

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

    #[test]
    fn the_cores_of_a_cache_are_counted() {
        for machine in MACHINES {
            let maps = [(THREADS, machine.threads), (CACHE, machine.cache), (NODE, machine.node)];
            let read = |wanted: &str| {
                let (_, map) =
                    maps.iter().find(|(name, map)| *name == wanted && !map.is_empty())?;
                Some(format!("{map}\n"))
            };
            assert_eq!(cores(read).unwrap_or(USUAL), machine.cores, "{machine:?}");
        }
    }
}
