//! The system's huge pages, as it reports them.

use std::fs;

const POOLS: &str = "/sys/kernel/mm/hugepages";
const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

/// The sizes of explicit huge pages that this system can have, in bytes, ascending.
pub fn sizes() -> Vec<usize> {
    let mut sizes: Vec<usize> = fs::read_dir(POOLS)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let kib = name.to_str()?.strip_prefix("hugepages-")?.strip_suffix("kB")?;
            Some(kib.parse::<usize>().ok()? << 10)
        })
        .collect();
    sizes.sort_unstable();
    sizes
}

/// The default size of explicit huge pages, in bytes.
pub fn default_size() -> Option<usize> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? << 10)
}

/// How many explicit huge pages of a size are neither in use nor reserved, and how many there are.
pub fn available(size: usize) -> Option<(usize, usize)> {
    let number = |what: &str| -> Option<usize> {
        let path = format!("{POOLS}/hugepages-{}kB/{what}_hugepages", size >> 10);
        fs::read_to_string(path).ok()?.trim().parse().ok()
    };
    Some((number("free")?.saturating_sub(number("resv")?), number("nr")?))
}

/// Whether the kernel makes transparent huge pages where advised to; if not, the reason.
pub fn transparent(shared: bool) -> Result<(), String> {
    let path = format!("{TRANSPARENT}/{}", if shared { "shmem_enabled" } else { "enabled" });
    let text =
        fs::read_to_string(&path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match chosen.map_or("", |(chosen, _)| chosen) {
        "always" | "advise" | "madvise" | "within_size" | "force" => Ok(()),
        other => Err(format!("{path} says {other:?}")),
    }
}
