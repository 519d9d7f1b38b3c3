//! How the library copies.

use onenode_core::copy::Methods;

/// The limits between the methods, in words.
pub fn description(methods: &Methods) -> String {
    let string = match methods.string_from {
        usize::MAX => "moves of any size".into(),
        from => format!("string instruction from {}", count(from, "byte")),
    };
    let past = match methods.cached_to {
        usize::MAX => "through the caches at any size".into(),
        to => format!(
            "past the caches above {}, {} at a time",
            count(to, "byte"),
            count(methods.abreast, "page")
        ),
    };
    format!("{string}; {past}")
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", super::s(number))
}
