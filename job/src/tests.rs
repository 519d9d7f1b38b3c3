//! Compares the page that lists the file's bytes, `job/FORMAT.md`, with the code.

use crate::jobfile::{self, LAYOUT, control, nodes, waiting};
use crate::partition::order;
use crate::stats::{line, row};
use crate::timeline::ring;
use std::fmt::Write;

const PAGE: &str = include_str!("../FORMAT.md");

/// Where the fields of a struct in the file are.
pub(crate) struct Fields {
    pub name: &'static str,
    pub bytes: usize,
    /// Offset, bytes and name of each.
    pub fields: Vec<(usize, usize, &'static str)>,
}

/// The [`Fields`] of a struct, of which all must be named.
macro_rules! fields {
    ($name:literal, $type:ident { $($field:ident),* }) => {{
        fn bytes_of<T, F>(_: fn(&T) -> &F) -> usize {
            size_of::<F>()
        }
        let _all = |$type { $($field: _),* }: &$type| ();
        $crate::tests::Fields {
            name: $name,
            bytes: size_of::<$type>(),
            fields: vec![$((
                std::mem::offset_of!($type, $field),
                bytes_of(|it: &$type| &it.$field),
                stringify!($field),
            )),*],
        }
    }};
}
pub(crate) use fields;

/// The rows of the table below a heading: the first cells of each.
fn rows(heading: &str, cells: usize) -> Vec<String> {
    let Some((_, rest)) = PAGE.split_once(&format!("\n{heading}\n")) else { return Vec::new() };
    let table = rest.lines().skip_while(|line| !line.starts_with('|'));
    let rows = table.take_while(|line| line.starts_with('|')).skip(2);
    let cells =
        |row: &str| row.split('|').skip(1).take(cells).map(|cell| format!("|{cell}")).collect();
    rows.map(cells).collect()
}

#[test]
fn the_page_lists_every_field() {
    let mut wrong = String::new();
    for Fields { name, bytes, fields } in [
        jobfile::layout::fields(),
        jobfile::layout::member(),
        nodes::layout::fields(),
        control::layout::header(),
        control::layout::record(),
        order::layout::fields(),
        waiting::layout::fields(),
        row::layout::fields(),
        line::layout::fields(),
        ring::layout::fields(),
    ] {
        let heading = format!("### {name}, {bytes} bytes");
        let row =
            |(at, bytes, name): &(usize, usize, &str)| format!("| {at} | {bytes} | `{name}` ");
        let expected: Vec<_> = fields.iter().map(row).collect();
        if rows(&heading, 3) != expected {
            let _ = writeln!(wrong, "{heading}\n{}", expected.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "job/FORMAT.md should have:\n{wrong}");
}

#[test]
fn the_page_says_where_everything_is() {
    for (heading, places) in [
        ("## The file", &jobfile::layout::PLACES[..]),
        ("## A generation", &control::layout::PLACES),
        ("## A slot", &control::layout::SLOT),
    ] {
        let expected: Vec<_> =
            places.iter().map(|(at, what)| format!("| {at:#x} | {what} ")).collect();
        assert_eq!(rows(heading, 2), expected, "{heading}");
    }
    assert!(PAGE.contains(&format!("This is layout {LAYOUT}.")), "layout {LAYOUT}");
}
