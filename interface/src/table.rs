//! The table of routines, as in `routines.txt`.

/// The name of a C type within names of routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// As in `shmem_longdouble_put`.
    pub name: &'static str,
    /// As in `long double`.
    pub c: &'static str,
}

/// A named list of types, or of element sizes.
#[derive(Clone, Debug)]
pub struct TypeTable {
    /// The table's name.
    pub name: &'static str,
    /// The names of its types, or its sizes, in order; included tables are expanded.
    pub entries: Vec<&'static str>,
    /// The table that it is another name for, if any.
    pub same_as: Option<&'static str>,
}

/// The set of types or sizes over which a prototype is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// Nothing: it is one routine.
    Nothing,
    /// One routine for each type of this table.
    Types(&'static str),
    /// One routine for each size of this table.
    Sizes(&'static str),
}

/// One parameter. A variable argument list has the type `...` and no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The C type; `TYPE` stands for the type of the table.
    pub ctype: String,
    /// Its name in the prototype.
    pub name: &'static str,
}

impl Param {
    /// Whether it points to the type of the table: such parameters select the routine that a
    /// type-generic name means.
    pub fn points_to_type(&self) -> bool {
        matches!(self.ctype.as_str(), "TYPE *" | "const TYPE *")
    }
}

/// Since when a routine is deprecated, and its replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecated {
    /// The version of the specification.
    pub since: &'static str,
    /// The routine to use, if there is one.
    pub instead: Option<&'static str>,
}

/// A prototype with placeholders.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// The type it returns.
    pub ret: &'static str,
    /// Its name, as in `shmem[_ctx]_TYPENAME_put`.
    pub name: &'static str,
    /// Its parameters, without the context.
    pub params: Vec<Param>,
    /// Whether it has a form with a context.
    pub ctx: bool,
    /// The set over which it is expanded.
    pub over: Expansion,
    /// The type-generic name for it.
    pub generic: Option<String>,
    /// Whether it is deprecated.
    pub deprecated: Option<Deprecated>,
}

/// Routines that do the same thing.
#[derive(Clone, Debug)]
pub struct Family {
    /// As in `rma.put`.
    pub name: &'static str,
    /// A description of the routines, as lines.
    pub doc: Vec<&'static str>,
    /// Their prototypes.
    pub prototypes: Vec<Prototype>,
}

/// A section of the interface.
#[derive(Clone, Debug)]
pub struct Section {
    /// As in `rma`.
    pub name: &'static str,
    /// As in `Remote memory access`.
    pub title: &'static str,
    /// Its families.
    pub families: Vec<Family>,
}

/// The whole interface.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// All names of types.
    pub typenames: Vec<TypeName>,
    /// All tables of types.
    pub types: Vec<TypeTable>,
    /// All tables of sizes.
    pub sizes: Vec<TypeTable>,
    /// All sections.
    pub sections: Vec<Section>,
}

impl Interface {
    /// All families with their sections.
    pub fn families(&self) -> impl Iterator<Item = (&Section, &Family)> {
        self.sections.iter().flat_map(|section| section.families.iter().map(move |f| (section, f)))
    }

    /// The C type that `name` stands for.
    pub fn ctype(&self, name: &str) -> &'static str {
        let found = self.typenames.iter().find(|t| t.name == name);
        found.unwrap_or_else(|| panic!("no TYPENAME {name}")).c
    }

    /// The table of types `name`.
    pub fn type_table(&self, name: &str) -> &TypeTable {
        self.types.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no table {name}"))
    }

    /// The table of sizes `name`.
    pub fn size_table(&self, name: &str) -> &TypeTable {
        self.sizes.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no sizes {name}"))
    }
}
