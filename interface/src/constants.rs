//! The constants and handles of the C interface, from `constants.txt`.

const TEXT: &str = include_str!("../constants.txt");

/// A named value of the C interface.
#[derive(Clone, Debug)]
pub struct Constant {
    /// As in `SHMEM_CMP_EQ`.
    pub name: &'static str,
    /// Its value in C.
    pub value: String,
    /// Whether it is also known as `_SHMEM_...`.
    pub old_name: bool,
    /// The version of the specification since which it is deprecated.
    pub deprecated: Option<&'static str>,
    /// Its meaning, if the name does not make it clear.
    pub doc: &'static str,
}

impl Constant {
    /// The type of a handle, which is a symbol, too, and its number; `None` for other constants.
    pub fn handle(&self) -> Option<(&str, &str)> {
        self.value.strip_prefix("((")?.strip_suffix(')')?.split_once(')')
    }
}

/// Constants for the same purpose.
#[derive(Clone, Debug)]
pub struct ConstantGroup {
    /// Their purpose, as lines.
    pub doc: Vec<&'static str>,
    /// The constants.
    pub constants: Vec<Constant>,
}

/// The handles among them.
pub fn handles() -> Vec<Constant> {
    let constants = constants().into_iter().flat_map(|group| group.constants);
    constants.filter(|constant| constant.handle().is_some()).collect()
}

/// All constants. `@VERSION@` in a value is the version of this library.
pub fn constants() -> Vec<ConstantGroup> {
    let mut groups: Vec<ConstantGroup> = Vec::new();
    for (i, line) in TEXT.lines().enumerate() {
        let line = line.trim();
        if line == "group" {
            groups.push(ConstantGroup { doc: Vec::new(), constants: Vec::new() });
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(group) = groups.last_mut() else {
            panic!("constants.txt:{}: a group comes first", i + 1)
        };
        match line.strip_prefix('|') {
            Some(text) => group.doc.push(text.trim()),
            None => group.constants.push(
                constant(line).unwrap_or_else(|| panic!("constants.txt:{}: no constant", i + 1)),
            ),
        }
    }
    groups
}

/// Parses `NAME VALUE  remarks  # text`; two spaces end the value.
fn constant(line: &'static str) -> Option<Constant> {
    let (line, doc) = line.split_once("  # ").unwrap_or((line, ""));
    let (name, rest) = line.trim().split_once(' ')?;
    let (value, remarks) = rest.trim().split_once("  ").unwrap_or((rest.trim(), ""));
    let mut constant = Constant {
        name,
        value: value.replace("@VERSION@", env!("CARGO_PKG_VERSION")),
        old_name: false,
        deprecated: None,
        doc: doc.trim(),
    };
    for remark in remarks.split(',').map(str::trim).filter(|r| !r.is_empty()) {
        match remark.split_once(' ') {
            None if remark == "old" => constant.old_name = true,
            Some(("deprecated", since)) => constant.deprecated = Some(since),
            _ => return None,
        }
    }
    Some(constant)
}
