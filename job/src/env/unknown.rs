//! Variables that are named like the library's but are unknown: usually spelling mistakes.

use super::{ALL, partitions};
use crate::sys::environment;

/// Variables read by this project's other commands, or by other implementations whose users may
/// have set them. A star ends a prefix.
const OTHERS: &[&str] = &[
    // oshcc, oshc++
    "SHMEM_CC",
    "SHMEM_CXX",
    // Where an implementation is installed, for build scripts and modules.
    "SHMEM_DIR",
    "SHMEM_HOME",
    "SHMEM_INC*",
    "SHMEM_INSTALL*",
    "SHMEM_LIB*",
    "SHMEM_PATH",
    "SHMEM_PREFIX",
    "SHMEM_ROOT",
    // Sandia OpenSHMEM
    "SHMEM_BACKTRACE",
    "SHMEM_BARRIERS_FLUSH",
    "SHMEM_BOUNCE_SIZE",
    "SHMEM_CMA_*",
    "SHMEM_COLL_*",
    "SHMEM_DISABLE_ASLR_CHECK",
    "SHMEM_MAX_BOUNCE_BUFFERS",
    "SHMEM_OFI_*",
    "SHMEM_PORTALS4_*",
    "SHMEM_PROGRESS_*",
    "SHMEM_SYMMETRIC_HEAP_USE_MALLOC",
    "SHMEM_TEAMS_MAX",
    "SHMEM_TEAM_SHARED_ONLY_SELF",
    "SHMEM_TRAP_ON_ABORT",
    "SHMEM_UCX_*",
    // OSSS-UCX
    "SHMEM_LOGGING*",
    // SGI
    "SMA_GLOBAL_*",
];

/// How similar two names must be, from 0 to 1, for one to count as a misspelling of the other.
const ALIKE: f64 = 0.7;
/// At most this many complaints are shown; further ones are only counted.
const MOST: usize = 8;

/// Complaints about variables `SHMEM_*` and `SMA_*` that are set but that nothing reads: one line
/// each.
pub fn complaints() -> Vec<String> {
    let mut names: Vec<_> =
        environment::variable_names().into_iter().filter(|n| is_unknown(n)).collect();
    names.sort_unstable();
    let mut lines: Vec<_> = names.iter().take(MOST).map(|name| complaint(name)).collect();
    if let Some(more) = names.len().checked_sub(MOST + 1) {
        lines.push(format!("and {} more unknown variables", more + 1));
    }
    lines
}

fn is_unknown(name: &str) -> bool {
    let is_other = |other: &&str| match other.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *other,
    };
    (name.starts_with("SHMEM_") || name.starts_with("SMA_"))
        && !known().any(|known| known == name)
        && partitions::id_of(name).is_none()
        && !OTHERS.iter().any(is_other)
}

fn known() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|variable| variable.names())
}

fn complaint(name: &str) -> String {
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(name, known);
    let closest = known().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match closest.filter(|known| likeness(known) >= ALIKE) {
        Some(known) => format!("unknown variable {name}; did you mean {known}?"),
        None => format!("unknown variable {name}; oshinfo lists all variables"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_told_with_the_right_one() {
        for (name, meant) in [
            ("SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"),
            ("SHMEM_SYMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE"),
            ("SHMEM_STAT", "SHMEM_STATS"),
            ("SHMEM_TUNNING", "SHMEM_TUNING"),
            ("SHMEM_BARRIER_ALGO", "SHMEM_BARRIER_ALGORITHM"),
            ("SMA_STATS", "SHMEM_STATS"),
            ("SMA_SYMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"),
        ] {
            assert!(is_unknown(name), "{name}");
            let end = format!("unknown variable {name}; did you mean {meant}?");
            assert!(complaint(name).ends_with(&end), "{}", complaint(name));
        }
        assert!(complaint("SHMEM_XYZZY").ends_with("oshinfo lists all variables"));
    }

    #[test]
    fn what_others_read_is_not_told() {
        let names = known().chain([
            "SHMEM_CC",
            "SHMEM_OFI_PROVIDER",
            "SHMEM_HOME",
            "SHMEM_LOGGING",
            "NVSHMEM_STAT",
            "SHMEMSTATS",
            "shmem_stats",
        ]);
        for name in names {
            assert!(!is_unknown(name), "{name}");
        }
    }
}
