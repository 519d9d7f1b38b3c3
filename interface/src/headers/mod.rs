//! The C headers: templates, with the parts that depend on the table filled in.
//!
//! | file | what it is |
//! |---|---|
//! | `shmem.h` | types, constants, and every routine with its documentation |
//! | `shmem_generic.h` | the type-generic macros of C11; included by `shmem.h` |
//! | `shmem_overloads.h` | overloads in their place for C++; included by `shmem.h` |
//! | `shmem_inline.h` | routines that are compiled into programs if wanted; included by `shmem.h` |
//! | `shmem_python.h` | what the Python bindings ask; included by `shmem.h` |
//! | `pshmem.h` | the twin of every routine, for profiling tools |
//! | `pshmemx.h` | the same for extensions |
//! | `shmemx.h` | extensions |
//! | `mpp/*.h` | the same under the names that old programs include |

mod cxx;
mod generic;
mod inline;
mod shmem;

use crate::table::Interface;
use std::io;
use std::path::Path;

/// All headers: file name and text.
pub fn all(table: &Interface) -> Vec<(&'static str, String)> {
    vec![
        ("shmem.h", shmem::shmem_h(table)),
        ("shmem_generic.h", generic::shmem_generic_h(table)),
        ("shmem_overloads.h", cxx::shmem_overloads_h(table)),
        ("shmem_inline.h", inline::shmem_inline_h(table)),
        ("shmem_python.h", include_str!("../../templates/shmem_python.h").into()),
        ("pshmem.h", shmem::pshmem_h(table)),
        ("pshmemx.h", shmem::pshmemx_h()),
        ("shmemx.h", include_str!("../../templates/shmemx.h").into()),
        ("mpp/shmem.h", old_place("shmem.h")),
        ("mpp/shmemx.h", old_place("shmemx.h")),
        ("mpp/pshmem.h", old_place("pshmem.h")),
        ("mpp/pshmemx.h", old_place("pshmemx.h")),
    ]
}

/// Writes all headers into `folder`: see [`crate::write_changed`].
pub fn write(folder: &Path) -> io::Result<()> {
    crate::write_changed(folder, all(&Interface::openshmem()))
}

/// The header `name` at the location where old programs expect it.
fn old_place(name: &str) -> String {
    format!("/* mpp/{name} - the old place of {name}. */\n#include \"../{name}\"\n")
}

/// Fills in the placeholders of a template. `@NAME@` alone on a line becomes a text,
/// `@HEADING title@` a heading.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    for line in template.lines() {
        let placeholder = line.strip_prefix('@').and_then(|l| l.strip_suffix('@'));
        if let Some(name) = placeholder {
            let part = parts.iter().find(|(known, _)| *known == name);
            match (part, name.strip_prefix("HEADING ")) {
                (Some((_, text)), _) => out += text,
                (None, Some(title)) => out += &heading(title),
                (None, None) => panic!("nothing to fill in for @{name}@"),
            }
        } else {
            out += &line.replace("@GENERATED@", GENERATED);
            out += "\n";
        }
    }
    out
}

const GENERATED: &str =
    "Generated from interface/routines.txt and interface/constants.txt by `make headers`.";

/// Columns of a line in a header.
const WIDTH: usize = 100;

/// A heading over a part of a header.
fn heading(title: &str) -> String {
    format!("/* ---- {title} {} */\n\n", "-".repeat(WIDTH - 12 - title.len()))
}

/// Breaks `text` after commas so that its lines fit; lines after the first are indented.
fn broken(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for part in text.split_inclusive(", ") {
        if column > 0 && column + part.trim_end().len() > WIDTH {
            out.truncate(out.trim_end().len());
            out.push_str("\n    ");
            column = 4;
        }
        out.push_str(part);
        column += part.len();
    }
    out
}

/// The name of a C type on 64-bit Linux, with the names of `stdint.h` and `stddef.h` resolved:
/// identical types get the same name.
fn resolved(ctype: &'static str) -> &'static str {
    match ctype {
        "int8_t" => "signed char",
        "int16_t" => "short",
        "int32_t" => "int",
        "int64_t" | "ptrdiff_t" => "long",
        "uint8_t" => "unsigned char",
        "uint16_t" => "unsigned short",
        "uint32_t" => "unsigned int",
        "uint64_t" | "size_t" => "unsigned long",
        other => other,
    }
}

/// The distinct C types of a table: the resolved type and the first TYPENAME for it. `_Generic` and
/// overloads can have each type only once.
fn distinct(table: &Interface, types: &str) -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for &typename in &table.type_table(types).entries {
        let ctype = resolved(table.ctype(typename));
        if !found.iter().any(|(known, _)| *known == ctype) {
            found.push((ctype, typename));
        }
    }
    found
}
