//! Names of functions and variables, as their authors wrote them.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// The longest name that is shown.
const BYTES: usize = 1024;

/// The text, with the first name that a compiler of Rust or C++ has mangled as its author wrote it. Anybody may
/// have made up the text: a name that would be long, or does something to a terminal, stays as it is.
pub fn demangled(text: &str) -> Cow<'_, str> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'));
    let name = text.split(is_end).find(|word| word.starts_with("_R") || word.starts_with("_Z"));
    let shown = name.and_then(|name| Some((name, of_rust(name).or_else(|| of_cpp(name))?)));
    let shown = shown.filter(|(_, shown)| !shown.contains(char::is_control));
    shown.map_or(text.into(), |(name, shown)| text.replacen(name, &shown, 1).into())
}

fn of_rust(name: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(name).ok()?;
    let mut shown = BoundedText(String::new());
    write!(shown, "{name:#}").ok()?;
    Some(shown.0)
}

fn of_cpp(name: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    let mut shown = BoundedText(String::new());
    symbol.structured_demangle(&mut shown, &options).ok()?;
    Some(shown.0)
}

/// Text of at most [`BYTES`] bytes: a short name can stand for a very long one.
struct BoundedText(String);

impl Write for BoundedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_they_were_written() {
        for (text, expected) in [
            (
                "called from _ZN4ring4main17h676e42a3547b4515E+0x1c4 in /ring",
                "called from ring::main+0x1c4 in /ring",
            ),
            ("called from _ZN4Ring4pushEi+0x4 in", "called from Ring::push(int)+0x4 in"),
            ("_Z3putIlEvPT_+0x4", "put<long>(long*)+0x4"),
            ("an update of _ZN2ns4flagE, the data", "an update of ns::flag, the data"),
            ("an update of _ZZ4mainE4flag + 0x8", "an update of main::flag + 0x8"),
            ("called from _Rx+0x1 in /ring", "called from _Rx+0x1 in /ring"),
            ("called from _Zx+0x1 in /ring", "called from _Zx+0x1 in /ring"),
            ("main+0x1 in ring", "main+0x1 in ring"),
        ] {
            assert_eq!(demangled(text), expected);
        }
    }

    #[test]
    fn a_name_that_would_be_long_stays() {
        // Each pair is of the pair before it, twice.
        let digits = "0123456789ABCDEFGHIJKLMNOP".chars();
        let pairs: String = digits.map(|last| format!("S_IS{last}_S{last}_E")).collect();
        let long = format!("_Z1fSt4pairIiiE{pairs}");
        assert_eq!(demangled(&long), long);
        assert_ne!(demangled(&long[..long.len() - 240]), long[..long.len() - 240]);
        let long = format!("_Z{0}{1}v", 2000, "x".repeat(2000));
        assert_eq!(demangled(&long), long);
    }
}
