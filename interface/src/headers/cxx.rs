//! `shmem_overloads.h`: overloads for C++, which has no `_Generic`. They are an extension: the
//! specification gives C++ only the C interface.

use super::{distinct, fill};
use crate::expand::{Generic, parameter_list};
use crate::table::{Interface, Param, Prototype};

/// The types of a set of overloads: the C type and its TYPENAME.
type Types = Vec<(&'static str, &'static str)>;

/// The text of `shmem_overloads.h`.
pub(super) fn shmem_overloads_h(table: &Interface) -> String {
    let (typed, untyped): (Vec<_>, Vec<_>) =
        table.generics().into_iter().partition(|g| !g.tables().is_empty());
    let mut out: String = untyped.iter().map(overload_for_handle).collect();
    out += "\n";
    out += &with_std_complex(table);
    let mut groups: Vec<(Types, String)> = Vec::new();
    for generic in typed {
        let types = types_to_overload(table, &generic);
        let overloads = overloads_for_type(&generic);
        match groups.iter_mut().find(|(known, _)| *known == types) {
            Some((_, text)) => text.push_str(&overloads),
            None => groups.push((types, overloads)),
        }
    }
    out += &groups.iter().map(|(types, overloads)| group(types, overloads)).collect::<String>();
    fill(include_str!("../../templates/shmem_overloads.h"), &[("OVERLOADS", out)])
}

/// The routines for complex types with those of C++, which have the same representation.
fn with_std_complex(table: &Interface) -> String {
    let mut out = String::from("#ifdef ONESHMEM_STD_COMPLEX\n");
    for symbol in table.symbols().iter().filter(|symbol| symbol.is_complex()) {
        let (mut params, mut arguments) = (Vec::new(), Vec::new());
        for Param { ctype, name } in &symbol.params {
            let Some((real, end)) = ctype.split_once(" _Complex") else {
                params.push(Param { ctype: ctype.clone(), name });
                arguments.push((*name).to_owned());
                continue;
            };
            let (constant, real) =
                real.strip_prefix("const ").map_or(("", real), |real| ("const ", real));
            params.push(Param { ctype: format!("{constant}std::complex<{real}>{end}"), name });
            arguments.push(format!("reinterpret_cast<{ctype}>({name})"));
        }
        out += &calling(&symbol.ret, &symbol.name, &params, &symbol.name, &arguments.join(", "));
    }
    out + "#endif\n\n"
}

/// Overloads for the same types, as a macro and its uses.
fn group(types: &Types, overloads: &str) -> String {
    let mut out = String::from("#define ONESHMEM_OVERLOADS(TYPENAME, TYPE) \\\n");
    out += overloads.trim_end_matches(['\\', '\n', ' ']);
    out += "\n\n";
    for (ctype, typename) in types {
        let call = format!("ONESHMEM_OVERLOADS({typename}, {ctype})\n");
        out += &match ctype.strip_suffix(" _Complex") {
            Some(real) => format!(
                "#ifdef ONESHMEM_COMPLEX\n{call}#endif\n#ifdef ONESHMEM_STD_COMPLEX\n\
                 ONESHMEM_OVERLOADS({typename}, std::complex<{real}>)\n#endif\n"
            ),
            None => call,
        };
    }
    out + "#undef ONESHMEM_OVERLOADS\n\n"
}

/// The types for which `generic` is not already a C function.
fn types_to_overload(table: &Interface, generic: &Generic<'_>) -> Types {
    let mut types: Types = generic.tables().iter().flat_map(|t| distinct(table, t)).collect();
    if let Some(function) = table.symbols().iter().find(|s| s.name == generic.name) {
        let pointer = &function.params[generic.decides()].ctype;
        types.retain(|(ctype, _)| format!("{ctype} *") != *pointer);
    }
    types
}

/// The overloads of `generic` for one TYPE, as lines of a macro.
fn overloads_for_type(generic: &Generic<'_>) -> String {
    let prototype = generic.prototype();
    let op = generic.name.replacen("shmem_", "_", 1);
    let mut out = overload(generic, &prototype.params, &format!("shmem_##TYPENAME##{op}"));
    if prototype.ctx {
        out += &overload(generic, &with_ctx(prototype), &format!("shmem_ctx_##TYPENAME##{op}"));
    }
    out.replace('\n', " \\\n")
}

/// The overload, for a context or a team, of a name that is also a C function.
fn overload_for_handle(generic: &Generic<'_>) -> String {
    let prototype = generic.prototype();
    match prototype.ctx {
        true => overload(generic, &with_ctx(prototype), &prototype.name.replace("[_ctx]", "_ctx")),
        false => overload(generic, &prototype.params, prototype.name),
    }
}

fn with_ctx(prototype: &Prototype) -> Vec<Param> {
    let ctx = Param { ctype: "shmem_ctx_t".into(), name: "ctx" };
    std::iter::once(ctx).chain(prototype.params.iter().cloned()).collect()
}

fn overload(generic: &Generic<'_>, params: &[Param], routine: &str) -> String {
    let arguments: Vec<_> = params.iter().map(|p| p.name).collect();
    calling(generic.prototype().ret, &generic.name, params, routine, &arguments.join(", "))
}

/// The inline function `name`, which calls `routine` with these arguments.
fn calling(ret: &str, name: &str, params: &[Param], routine: &str, arguments: &str) -> String {
    let result = if ret == "void" { "" } else { "return " };
    let params = parameter_list(params);
    format!(
        "    ONESHMEM_INLINE {ret} {name}({params})\n    {{ {result}{routine}({arguments}); }}\n"
    )
}
