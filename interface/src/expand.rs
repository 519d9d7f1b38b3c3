//! Expands prototypes with placeholders to the routines of the library.

use crate::table::{Deprecated, Expansion, Family, Interface, Param, Prototype, Section};
use std::fmt;

/// One function of the library.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// As in `shmem_ctx_long_put`.
    pub name: String,
    /// The C type it returns.
    pub ret: String,
    /// Its parameters, including a context.
    pub params: Vec<Param>,
    /// The TYPENAME in its name.
    pub typename: Option<&'static str>,
    /// The SIZE in its name.
    pub size: Option<&'static str>,
    /// Whether its first parameter is a context.
    pub ctx: bool,
    /// The section it belongs to.
    pub section: &'static str,
    /// The family it belongs to.
    pub family: &'static str,
    /// Whether it is deprecated.
    pub deprecated: Option<Deprecated>,
}

impl Symbol {
    /// The parameter list in C, without its parentheses.
    pub fn parameter_list(&self) -> String {
        parameter_list(&self.params)
    }

    /// Whether its prototype needs C's complex types.
    pub fn is_complex(&self) -> bool {
        self.params.iter().any(|p| p.ctype.contains("_Complex"))
    }
}

impl fmt::Display for Symbol {
    /// The prototype in C, without a semicolon.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}({})", declarator(&self.ret), self.name, self.parameter_list())
    }
}

/// A name for several routines, which are selected by the types of arguments.
#[derive(Clone, Debug)]
pub struct Generic<'a> {
    /// As in `shmem_put`.
    pub name: String,
    /// The prototypes it stands for: one, possibly with a second one that is deprecated.
    pub prototypes: Vec<&'a Prototype>,
}

impl Generic<'_> {
    /// The prototype that all of them have in common.
    pub fn prototype(&self) -> &Prototype {
        self.prototypes[0]
    }

    /// The tables of types that it covers; empty if it does not depend on types.
    pub fn tables(&self) -> Vec<&'static str> {
        let table = |p: &&Prototype| match p.over {
            Expansion::Types(table) => Some(table),
            _ => None,
        };
        self.prototypes.iter().filter_map(table).collect()
    }

    /// The index (not counting a context) of the argument whose type selects the routine.
    pub fn decides(&self) -> usize {
        self.prototype().params.iter().position(Param::points_to_type).unwrap_or(0)
    }

    /// Whether that argument points to constant elements.
    pub fn decides_const(&self) -> bool {
        self.prototype().params.get(self.decides()).is_some_and(|p| p.ctype == "const TYPE *")
    }
}

impl Interface {
    /// Every function of the library, in the order of the table.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut all = Vec::new();
        for (section, family) in self.families() {
            for prototype in &family.prototypes {
                all.extend(self.expand(section, family, prototype));
            }
        }
        all
    }

    /// The functions that `prototype` stands for, those without a context first.
    pub fn expand(&self, section: &Section, family: &Family, prototype: &Prototype) -> Vec<Symbol> {
        let mut found = Vec::new();
        for ctx in [false, true] {
            if ctx && !prototype.ctx {
                continue;
            }
            let mut add = |typename, size| {
                found.push(self.symbol(section, family, prototype, ctx, typename, size));
            };
            match prototype.over {
                Expansion::Nothing => add(None, None),
                Expansion::Types(table) => {
                    self.type_table(table).entries.iter().for_each(|t| add(Some(*t), None));
                }
                Expansion::Sizes(table) => {
                    self.size_table(table).entries.iter().for_each(|s| add(None, Some(*s)));
                }
            }
        }
        found
    }

    fn symbol(
        &self,
        section: &Section,
        family: &Family,
        prototype: &Prototype,
        ctx: bool,
        typename: Option<&'static str>,
        size: Option<&'static str>,
    ) -> Symbol {
        let ctype = typename.map_or("TYPE", |t| self.ctype(t));
        let mut params = Vec::new();
        if ctx {
            params.push(Param { ctype: "shmem_ctx_t".into(), name: "ctx" });
        }
        for param in &prototype.params {
            params.push(Param { ctype: param.ctype.replace("TYPE", ctype), name: param.name });
        }
        Symbol {
            name: prototype
                .name
                .replace("[_ctx]", if ctx { "_ctx" } else { "" })
                .replace("TYPENAME", typename.unwrap_or_default())
                .replace("SIZE", size.unwrap_or_default()),
            ret: prototype.ret.replace("TYPE", ctype),
            params,
            typename,
            size,
            ctx,
            section: section.name,
            family: family.name,
            deprecated: prototype.deprecated,
        }
    }

    /// Every type-generic name, in the order of the table.
    pub fn generics(&self) -> Vec<Generic<'_>> {
        let mut all: Vec<Generic<'_>> = Vec::new();
        for prototype in self.families().flat_map(|(_, family)| &family.prototypes) {
            let Some(name) = &prototype.generic else { continue };
            match all.iter_mut().find(|g| g.name == *name) {
                Some(generic) => generic.prototypes.push(prototype),
                None => all.push(Generic { name: name.clone(), prototypes: vec![prototype] }),
            }
        }
        all
    }
}

/// A parameter list in C, without its parentheses.
pub fn parameter_list(params: &[Param]) -> String {
    if params.is_empty() {
        return "void".into();
    }
    let one = |p: &Param| format!("{}{}", declarator(&p.ctype), p.name).trim_end().to_string();
    params.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A C type, ready for a name to be appended.
pub fn declarator(ctype: &str) -> String {
    if ctype.is_empty() || ctype.ends_with('*') { ctype.into() } else { format!("{ctype} ") }
}
