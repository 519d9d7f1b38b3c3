//! The algorithms that collectives use, and those available.

use oneshmem::internals::collectives::select::{self, Operation, rules};
use std::fmt::Write;

/// Sizes for which the choice is shown: one PE's contribution, in bytes.
pub const SIZES: [(usize, &str); 4] =
    [(8, "8 B"), (2 << 10, "2 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")];

/// The origin of the table in force for a job of `pes` PEs.
pub fn table(pes: usize) -> String {
    match &select::table().file {
        Some(file) => file.display().to_string(),
        None if rules::crowded(pes) => "built in, for more PEs than CPUs".into(),
        None => "built in".into(),
    }
}

/// The choices for a job of `pes` PEs.
pub fn choices(pes: usize) -> String {
    let mut text = String::new();
    for operation in Operation::ALL {
        let names = operation.algorithms();
        let _ = writeln!(text, "  {:<10} {}", operation.name(), of(operation, pes));
        let _ = writeln!(text, "      of {}", names[1..].join(", "));
    }
    text
}

/// The choices for one operation, by size unless all sizes use the same algorithm.
fn of(operation: Operation, pes: usize) -> String {
    let name = |bytes| match select::chosen(operation, pes, bytes) {
        Ok(algorithm) => operation.algorithms()[algorithm].to_owned(),
        Err(unable) => format!("an error (the algorithm named needs {})", unable.needs),
    };
    let choices = SIZES.map(|(bytes, size)| (name(bytes), size));
    let mut parts: Vec<String> = choices
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            let sizes: Vec<&str> = same.iter().map(|(_, size)| *size).collect();
            format!("{} ({})", same[0].0, sizes.join(", "))
        })
        .collect();
    if let [_] = parts[..] {
        parts = vec![choices[0].0.clone()];
    }
    parts.join(", ")
}
