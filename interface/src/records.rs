//! The structures of `onenode.h`, for the synopses of its reference pages.

/// The header.
pub const HEADER: &str = include_str!("../../node/include/onenode.h");

/// The declaration of the structure `name`, without comments. `None` if the header does not declare
/// it.
pub fn declaration(name: &str) -> Option<String> {
    let start = HEADER.find(&format!("typedef struct {name} {{"))?;
    let (fields, _) = HEADER[start..].split_once(&format!("\n}} {name};"))?;
    let lines = uncommented(fields);
    let lines = lines.lines().map(str::trim_end).filter(|line| !line.is_empty());
    Some(lines.collect::<Vec<_>>().join("\n") + &format!("\n}} {name};\n"))
}

/// C without its comments.
pub fn uncommented(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut out = String::from(parts.next().unwrap_or_default());
    parts.for_each(|part| out += part.split_once("*/").map_or("", |(_, code)| code));
    out
}

#[cfg(test)]
mod tests {
    use super::{declaration, uncommented};

    #[test]
    fn comments_go() {
        assert_eq!(uncommented("a /* b\n * c */ d /* e */\nf"), "a  d \nf");
    }

    #[test]
    fn structures_are_found() {
        let table = declaration("onenode_table").unwrap();
        assert!(
            table.starts_with("typedef struct onenode_table {\n    uintptr_t origin;\n"),
            "{table}"
        );
        assert!(table.ends_with("    size_t    capacity;\n} onenode_table;\n"), "{table}");
        assert_eq!(declaration("onenode_nothing"), None);
    }
}
