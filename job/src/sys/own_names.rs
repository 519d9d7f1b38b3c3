//! Which functions are this library's, in a program that it is part of, by their names.

/// Whether a function of a program that contains this library belongs to the library, or to what
/// Rust's library lends it. The names are as they stand in the file.
pub fn is_librarys(name: &str) -> bool {
    const CRATES: [&str; 6] = ["oneshmem", "oneshmem_job", "onenode_core", "core", "std", "alloc"];
    if let Some(path) = name.strip_prefix("_ZN") {
        let Some(first) = first_name(path) else { return false };
        // Of `<impl TRAIT for TYPE>` and `<TYPE as TRAIT>` the first; the rest may be the user's.
        return match first.strip_prefix("_$LT$") {
            Some(path) => {
                let path = path.strip_prefix("impl$u20$").unwrap_or(path);
                path.split_once("..").is_some_and(|(name, _)| CRATES.contains(&name))
            }
            None => CRATES.contains(&first),
        };
    }
    if name.starts_with("_R") {
        // The first crate: `Cs`, a number, an underscore.
        let named = name.split_once("Cs").and_then(|(_, rest)| first_name(rest.split_once('_')?.1));
        return named.is_some_and(|name| CRATES.contains(&name));
    }
    let name = name.strip_prefix('p').unwrap_or(name);
    ["shmem_", "shmemx_", "oneshmem_"].iter().any(|start| name.starts_with(start))
        || OLD_NAMES.contains(&name)
}

/// Routines without the usual beginning: those that OpenSHMEM has deprecated.
const OLD_NAMES: [&str; 6] = ["start_pes", "_my_pe", "_num_pes", "shmalloc", "shfree", "shrealloc"];

/// The name that stands behind its length.
fn first_name(text: &str) -> Option<&str> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    text[digits..].get(..text[..digits].parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_functions_are_told_from_the_programs() {
        for name in [
            "shmem_long_p",
            "pshmem_putmem",
            "shmemx_wtime",
            "_ZN8oneshmem4slow7resolve17h0123456789abcdefE",
            "_ZN12onenode_core4copy5large17h0123456789abcdefE",
            "_ZN12oneshmem_job7jobfile7control7Control2of17h0123456789abcdefE",
            "_ZN65_$LT$oneshmem..run..Broadcast$u20$as$u20$oneshmem..Collective$GT$3run17hE",
            "_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE",
            "_RNvNtCs4fqI2P2rA04_8oneshmem4slow7resolve",
        ] {
            assert!(is_librarys(name), "{name}");
        }
        for name in [
            "main",
            "put_with_shmem_long_p",
            "_ZN4ring4main17h0123456789abcdefE",
            "_ZN10core_tools4main17h0123456789abcdefE",
            "_ZN48_$LT$ring..Cell$u20$as$u20$oneshmem..Element$GT$3put17h0123456789abcdefE",
            "_RINvNtCs4fqI2P2rA04_4ring4main8exchangeNtCs1234_8oneshmem3PutE",
            "_ZN4Ring4pushEv",
        ] {
            assert!(!is_librarys(name), "{name}");
        }
    }
}
