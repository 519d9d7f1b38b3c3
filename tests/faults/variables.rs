//! Values that nobody would choose.

use super::random::Random;
use crate::{launch, tree};
use std::fmt::Write;
use std::process::Command;
use std::sync::OnceLock;

/// The library's variables and their old names, as listed by `oshinfo`.
fn names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let info = launch::run(Command::new(tree::prefix("bin/oshinfo")));
        let info = info.map_or_else(|_| String::new(), |info| info.stdout);
        let names = info.lines().filter_map(|line| line.strip_prefix("  SHMEM_"));
        let names = names.filter_map(|line| line.split_whitespace().next());
        names.filter(|name| !["CC", "CXX"].contains(name)).map(|n| format!("SHMEM_{n}")).collect()
    })
}

const VALUES: &[&str] = &[
    "",
    " ",
    "0",
    "1",
    "-1",
    "yes",
    "No",
    "off",
    "x",
    "4096",
    "3k",
    "1m",
    "2m",
    "64M",
    "10g",
    "1t",
    "900t",
    "0.5",
    ".5m",
    "1..2",
    "1e9",
    "nan",
    "inf",
    "-inf",
    "99999999999999999999",
    "%s%n%s",
    "/dev/zero",
    "/nonexistent/file",
    "/",
    "auto",
    "direct",
    "linear",
    "kary",
    "dissemination",
    "small",
    "ring",
    "bruck",
    "recursive_doubling",
    "rabenseifner",
    "memfd",
    "xpmem",
    "smartmap",
    "explicit",
    "transparent",
    "\u{e9}\u{4e2d}",
    "a=b",
    "\n",
    "\t2",
    "64",
    "65",
    "2",
];

/// A few variables with random values. The heap stays small where pages are allocated at once.
pub fn environment(random: &mut Random) -> Vec<(String, String)> {
    let names = names();
    if names.is_empty() {
        return Vec::new();
    }
    let mut settings: Vec<(String, String)> = Vec::new();
    for _ in 0..1 + random.below(4) {
        let name = names[random.below(names.len())].clone();
        let value = match random.below(20) {
            0 => "9".repeat(1 + random.below(3000)),
            _ => random.pick(VALUES).to_owned(),
        };
        // Any other word is the name of a file, in the current folder.
        let is_file = name == "SHMEM_TRACE" && !value.starts_with('/');
        let value = if is_file { "off".into() } else { value };
        settings.retain(|(other, _)| *other != name);
        settings.push((name, value));
    }
    if settings.iter().any(|(name, _)| name.contains("POPULATE") || name.contains("HUGE")) {
        settings.retain(|(name, _)| !name.contains("SYMMETRIC_SIZE"));
        settings.push(("SHMEM_SYMMETRIC_SIZE".into(), "4m".into()));
    }
    settings
}

/// The text of a tuning file, more or less valid.
pub fn tuning_file(random: &mut Random, machine: &str) -> Vec<u8> {
    let words = [
        "barrier",
        "broadcast",
        "collect",
        "fcollect",
        "alltoall",
        "alltoalls",
        "reduce",
        "scan",
        "direct",
        "linear",
        "kary",
        "knomial",
        "small",
        "ring",
        "bruck",
        "recursive_doubling",
        "any",
        "0",
        "1",
        "2",
        "3",
        "8",
        "64",
        "4096",
        "-1",
        "18446744073709551616",
        "machine",
        "#",
        "oneshmem",
        "tuning",
        "auto",
        "\u{4e2d}",
        "1e3",
    ];
    let mut text = match random.below(8) {
        0 => String::new(),
        1 => "oneshmem tuning 2\n".into(),
        _ => format!("oneshmem tuning 1\nmachine {machine}\n"),
    };
    for _ in 0..random.below(30) {
        let well_formed = random.below(3) > 0;
        if well_formed {
            let operation = random.pick(&words[..8]);
            let (pes, bytes) = (random.pick(&["1", "2", "4"]), random.pick(&["8", "4096", "any"]));
            let _ = writeln!(text, "{operation} {pes} {bytes} {}", random.pick(&words[8..16]));
        } else {
            for _ in 0..random.below(6) {
                let _ = write!(text, "{} ", random.pick(&words));
            }
            text.push('\n');
        }
    }
    let mut bytes = text.into_bytes();
    if random.below(4) == 0 {
        for _ in 0..1 + random.below(8) {
            let at = random.below(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
    }
    bytes
}
