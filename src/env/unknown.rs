//! Variables that are named like the library's but are none: spelling mistakes, mostly.

use super::{ALL, SYMMETRIC_SIZE, partitions};
use crate::sys::environment;

/// Read by this project's other commands, or by other implementations, whose users may have
/// set them: names, and with a star, beginnings of names.
const OTHERS: &[&str] = &[
    // oshcc, oshc++
    "SHMEM_CC",
    "SHMEM_CXX",
    // where build scripts and modules say that an implementation is
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

/// What other implementations call a variable of this one.
const ELSEWHERE: [(&str, &str); 1] = [("SHMEM_SYMMETRIC_HEAP_SIZE", SYMMETRIC_SIZE.name)];

/// How alike two names must be, from 0 to 1, for one to be a misspelling of the other.
const ALIKE: f64 = 0.7;
/// More complaints than this are only counted.
const MOST: usize = 8;

/// What to tell the user about the variables `SHMEM_*` and `SMA_*` that are set and that
/// nothing reads: a line for each.
pub fn complaints() -> Vec<String> {
    let mut names: Vec<_> =
        environment::variable_names().into_iter().filter(|n| is_unknown(n)).collect();
    names.sort_unstable();
    let mut lines: Vec<_> = names.iter().take(MOST).map(|name| complaint(name)).collect();
    if let Some(more) = names.len().checked_sub(MOST + 1) {
        lines.push(format!("and {} more variables that are not known", more + 1));
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
    ALL.iter().flat_map(|variable| [Some(variable.name), variable.alias]).flatten()
}

fn complaint(name: &str) -> String {
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(name, known);
    let elsewhere = ELSEWHERE.iter().find(|(there, _)| *there == name).map(|(_, here)| *here);
    let closest = known().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match elsewhere.or(closest.filter(|known| likeness(known) >= ALIKE)) {
        Some(known) => format!("the variable {name} is not known; did you mean {known}?"),
        None => format!("the variable {name} is not known; oshinfo lists those that are"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_told_with_the_right_one() {
        for (name, meant) in [
            ("SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"),
            ("SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"),
            ("SHMEM_STAT", "SHMEM_STATS"),
            ("SHMEM_TUNNING", "SHMEM_TUNING"),
            ("SHMEM_BARRIER_ALGO", "SHMEM_BARRIER_ALGORITHM"),
            ("SMA_STATS", "SHMEM_STATS"),
            ("SMA_SYMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"),
        ] {
            assert!(is_unknown(name), "{name}");
            let end = format!("{name} is not known; did you mean {meant}?");
            assert!(complaint(name).ends_with(&end), "{}", complaint(name));
        }
        assert!(complaint("SHMEM_XYZZY").ends_with("oshinfo lists those that are"));
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
