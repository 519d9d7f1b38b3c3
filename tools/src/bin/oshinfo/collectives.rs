//! Which algorithms the collectives run, and which there are.

use oneshmem::collectives::select::{self, Operation, rules};
use std::fmt::Write;

/// Sizes for which the choice is shown, in bytes of one PE's contribution.
pub const SIZES: [(usize, &str); 4] =
    [(8, "8 B"), (2 << 10, "2 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")];

/// Where the table in force, of a job of so many PEs, is from.
pub fn table(pes: usize) -> String {
    match &select::table().file {
        Some(file) => file.display().to_string(),
        None if rules::crowded(pes) => "compiled in, for more PEs than CPUs".into(),
        None => "compiled in".into(),
    }
}

/// The choices of a job of so many PEs.
pub fn choices(pes: usize) -> String {
    let mut text = String::new();
    for operation in Operation::ALL {
        let names = operation.algorithms();
        let _ = writeln!(text, "  {:<10} {}", operation.name(), of(operation, pes));
        let _ = writeln!(text, "      of {}", names[1..].join(", "));
    }
    text
}

/// One operation's: by size, unless it is one for all.
fn of(operation: Operation, pes: usize) -> String {
    let name = |bytes| match select::chosen(operation, pes, bytes) {
        Ok(algorithm) => operation.algorithms()[algorithm].to_owned(),
        Err(unable) => format!("an error (what is named needs {})", unable.needs),
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
