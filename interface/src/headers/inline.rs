//! `shmem_inline.h`: what programs can have compiled in. The template holds the text for
//! one type; here is for which ones.

use super::fill;
use crate::table::{Over, Table};

/// The text of `shmem_inline.h`.
pub(super) fn shmem_inline_h(table: &Table) -> String {
    let over = |family: &str| {
        let mut found = table.families().filter(|(_, f)| f.name == family);
        let (_, family) = found.next().expect("a family of the table");
        &family.prototypes
    };
    let types = |family: &str, macro_name: &str| -> String {
        let Some(Over::Types(types)) = over(family).first().map(|p| &p.over) else {
            panic!("{family} is not about types")
        };
        let entries = &table.type_table(types).entries;
        let line = |t: &&'static str| format!("ONESHMEM_{macro_name}({t}, {})\n", table.ctype(t));
        entries.iter().map(line).collect()
    };
    // Here a transfer is over when it returns, so it is the same without blocking.
    let both = |put: &str, get: &str, rest: String| {
        ["", "_nbi"].map(|nbi| format!("ONESHMEM_FEW({put}{nbi}, {get}{nbi}, {rest})\n")).concat()
    };
    let mut few: String = types("rma.put", "FEW")
        .lines()
        .filter_map(|line| line.strip_prefix("ONESHMEM_FEW(")?.strip_suffix(')')?.split_once(", "))
        .map(|(t, ctype)| {
            both(&format!("{t}_put"), &format!("{t}_get"), format!("{ctype}, sizeof({ctype})"))
        })
        .collect();
    for prototype in over("rma.put") {
        if let Over::Sizes(sizes) = prototype.over {
            for size in &table.size_table(sizes).entries {
                let bytes = size.parse::<usize>().map_or(1, |bits| bits / 8);
                few +=
                    &both(&format!("put{size}"), &format!("get{size}"), format!("void, {bytes}"));
            }
        }
    }
    let atomics = types("amo.set", "SET_AND_FETCH") + &types("amo.fetch_add", "ADD");
    let parts = [("SINGLE", types("rma.p", "SINGLE")), ("FEW", few), ("ATOMICS", atomics)];
    fill(include_str!("../../templates/shmem_inline.h"), &parts)
}
