//! The last cache and how many cores share it, as the kernel describes the machine under `/sys`. All
//! processes on a machine find the same, wherever they may run.

use super::process;
use std::sync::OnceLock;

/// Where the system reports nothing.
const USUAL: usize = 8;

/// The number of cores that share their last cache with the first one; those of its NUMA node if the
/// system reports no such cache; 8 if it reports neither.
pub fn cores_of_a_cache() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| cores(read).unwrap_or(USUAL).max(2))
}

/// The number of last caches that the machine has, if all are like the first one.
pub fn last_caches() -> usize {
    let sharing = read(CACHE).map_or(0, |map| cpus(&map));
    process::online_cpus().checked_div(sharing).unwrap_or(1).max(1)
}

/// The bytes of the last cache that the first CPU has, if the system reports it. On AMD's processors,
/// `sysconf` of glibc 2.36 counts the last caches of all cores together.
pub fn last_cache_size() -> Option<usize> {
    last(read).or_else(process::last_cache_size)
}

fn read(file: &str) -> Option<String> {
    std::fs::read_to_string(format!("/sys/devices/system/{file}")).ok()
}

const THREADS: &str = "cpu/cpu0/topology/thread_siblings";
const CACHE: &str = "cpu/cpu0/cache/index3/shared_cpu_map";
const NODE: &str = "node/node0/cpumap";

/// The number of cores that share the last cache, by the lists of CPUs that `read` returns.
fn cores(read: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let count = |map: &str| read(map).map(|map| cpus(&map)).filter(|n| *n > 0);
    let threads = count(THREADS).unwrap_or(1);
    Some(count(CACHE).or_else(|| count(NODE))?.div_ceil(threads))
}

const SIZES: [&str; 2] = ["cpu/cpu0/cache/index3/size", "cpu/cpu0/cache/index2/size"];

/// The size of the last cache, as `read` finds it.
fn last(read: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let size = |file: &str| read(file)?.trim().strip_suffix('K')?.parse::<usize>().ok();
    SIZES.into_iter().find_map(size).map(|kib| kib << 10).filter(|bytes| *bytes > 0)
}

/// The number of CPUs in a map: hexadecimal digits with a bit for each CPU, in groups.
fn cpus(map: &str) -> usize {
    let digits = map.chars().filter_map(|digit| digit.to_digit(16));
    digits.map(|digit| digit.count_ones() as usize).sum()
}

#[cfg(test)]
#[allow(missing_docs)] // Used by tests.
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

    #[test]
    fn the_size_of_the_last_cache_is_read() {
        let sizes = |third: &'static str, second: &'static str| {
            last(move |file| {
                let size = if file == SIZES[0] { third } else { second };
                (!size.is_empty()).then(|| size.to_owned())
            })
        };
        assert_eq!(sizes("32768K\n", "1024K\n"), Some(32 << 20));
        assert_eq!(sizes("", "1024K\n"), Some(1 << 20));
        assert_eq!(sizes("0K\n", ""), None);
        assert_eq!(sizes("", "a lot\n"), None);
    }
}
