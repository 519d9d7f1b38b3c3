//! `shmem_inline.h`: routines that programs can have compiled in. The template contains the text
//! for one type; this module lists the types.

use super::fill;
use crate::table::{Expansion, Interface};

/// The text of `shmem_inline.h`.
pub(super) fn shmem_inline_h(table: &Interface) -> String {
    let over = |family: &str| {
        let mut found = table.families().filter(|(_, f)| f.name == family);
        let (_, family) = found.next().expect("a family of the table");
        &family.prototypes
    };
    let types = |family: &str| {
        let Some(Expansion::Types(types)) = over(family).first().map(|p| &p.over) else {
            panic!("{family} is not about types")
        };
        table.type_table(types).entries.iter().map(|t| (*t, table.ctype(t)))
    };
    let each = |family: &str, macro_name: &str| -> String {
        types(family).map(|(t, ctype)| format!("ONESHMEM_{macro_name}({t}, {ctype})\n")).collect()
    };
    // In this library a transfer is complete when it returns, so the non-blocking form is the same.
    let both = |put: &str, get: &str, rest: &str| {
        ["", "_nbi"].map(|nbi| format!("ONESHMEM_FEW({put}{nbi}, {get}{nbi}, {rest})\n")).concat()
    };
    let mut few: String = types("rma.put")
        .map(|(t, ctype)| {
            both(&format!("{t}_put"), &format!("{t}_get"), &format!("{ctype}, sizeof({ctype})"))
        })
        .collect();
    for prototype in over("rma.put") {
        if let Expansion::Sizes(sizes) = prototype.over {
            for size in &table.size_table(sizes).entries {
                let bytes = size.parse::<usize>().map_or(1, |bits| bits / 8);
                let rest = format!("void, {bytes}");
                few += &both(&format!("put{size}"), &format!("get{size}"), &rest);
            }
        }
    }
    let atomics = each("amo.set", "SET_AND_FETCH") + &each("amo.fetch_add", "ADD");
    let parts = [("SINGLE", each("rma.p", "SINGLE")), ("FEW", few), ("ATOMICS", atomics)];
    fill(include_str!("../../templates/shmem_inline.h"), &parts)
}
