//! How a C program says what is to be done with it: comment lines at its top.
//!
//! ```text
//! // pes: 1 2 4                  the numbers of PEs it is started with
//! // variants: all               how it is linked: pie, no-pie, static, static-pie, or all
//! //                             of them; without this, the first three
//! // inline: no                  it replaces routines of the library, or calls none that can be
//! //                             compiled in, so it is not also compiled with -DSHMEM_INLINE,
//! //                             as all others are
//! // partition: no               its heap is what it tests, so it is not also run with memory of
//! //                             a partition in the heap's place, as all others that allocate are
//! // device: no                  not with a device's memory in the heap's place, either: it does
//! //                             with its heap what only the processor's memory can do
//! // backends: memfd           skipped unless SHMEM_BACKEND (memfd if unset) is one of these;
//! //                             without this, it runs over all; backend=memfd says so of a case
//! // cflags: -std=c11            further options for the compiler
//! // env: NAME=value             environment of every case
//! // case: name argument | status=3 stderr=word stdout=word env=NAME=value
//! //                             one way to start it; there can be several, and without
//! //                             any it is started once, without arguments, and must
//! //                             end with 0. `status=nonzero` takes any other.
//! ```
//!
//! `FAILS("name", "words")` before a statement (`tests/c/check.h`) is `// case: name name |
//! status=nonzero` with a `stderr=` for each word, where the statement stands.

use crate::tree;
use std::path::{Path, PathBuf};

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Position independent, shared library: what compilers do by default.
    Pie,
    /// At a fixed address, shared library.
    NoPie,
    /// Static, at a fixed address.
    Static,
    /// Static and position independent.
    StaticPie,
    /// As by default, with the routines of `shmem_inline.h` compiled in.
    Inline,
    /// As by default, with a partition's memory instead of the heap's.
    Partition,
    /// As the last, and the partition is on a device.
    Device,
}

impl Variant {
    /// All ways to link, the default first.
    pub const ALL: [Self; 4] = [Self::Pie, Self::NoPie, Self::Static, Self::StaticPie];

    /// Its name in directives, test names and folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pie => "pie",
            Self::NoPie => "no-pie",
            Self::Static => "static",
            Self::StaticPie => "static-pie",
            Self::Inline => "inline",
            Self::Partition => "partition",
            Self::Device => "partition-device",
        }
    }

    /// The variant built by the library's wrappers without options.
    pub fn usual() -> Self {
        if tree::is_smartmap() { Self::NoPie } else { Self::Pie }
    }

    /// The ways to link a program that has no directive.
    pub const COMMON: [Self; 3] = [Self::Pie, Self::NoPie, Self::Static];

    /// Whether the tested library supports such programs.
    fn is_served(self) -> bool {
        !tree::is_smartmap()
            || matches!(self, Self::NoPie | Self::Static | Self::Inline | Self::Partition)
    }

    /// The compiler's options for it.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::Pie => &["-fPIE", "-pie"],
            Self::NoPie => &["-fno-pie", "-no-pie"],
            Self::Static => &["-fno-pie", "-static"],
            Self::StaticPie => &["-fPIE", "-static-pie"],
            Self::Inline if tree::is_smartmap() => &["-DSHMEM_INLINE", "-fno-pie", "-no-pie"],
            Self::Inline => &["-DSHMEM_INLINE", "-fPIE", "-pie"],
            Self::Partition if tree::is_smartmap() => {
                &["-DCHECK_PARTITION=0", "-fno-pie", "-no-pie"]
            }
            Self::Partition | Self::Device => &["-DCHECK_PARTITION=0", "-fPIE", "-pie"],
        }
    }

    /// The compiler's option for its code, if other variants have the same.
    pub fn code(self) -> Option<&'static str> {
        Self::ALL.contains(&self).then(|| self.options()[0])
    }

    /// The variable that it needs in the environment.
    pub fn environment(self) -> Option<(&'static str, &'static str)> {
        let variable = "SHMEM_SYMMETRIC_PARTITION0";
        match self {
            Self::Partition => Some((variable, "256M")),
            Self::Device => Some((variable, "256M:KIND=CUDA")),
            _ => None,
        }
    }
}

/// The required exit status of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Exactly this one.
    Status(i32),
    /// Any but 0.
    Nonzero,
}

impl From<i32> for Expected {
    fn from(status: i32) -> Self {
        Self::Status(status)
    }
}

/// One way to start a program, and the required results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name. Empty for a program's only case.
    pub name: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// Its environment: names and values.
    pub environment: Vec<(String, String)>,
    /// The required exit status.
    pub status: Expected,
    /// Words required in its standard error.
    pub stderr: Vec<String>,
    /// Words required in its standard output.
    pub stdout: Vec<String>,
    /// The backends to which it applies. Empty for all.
    pub backends: Vec<String>,
}

impl Case {
    /// Whether it applies to the tested backend.
    pub fn is_served(&self) -> bool {
        let asked = std::env::var("SHMEM_BACKEND");
        let tested = match asked.as_deref() {
            Ok(backend) => backend,
            Err(_) if tree::is_smartmap() => "smartmap",
            Err(_) => "memfd",
        };
        self.backends.is_empty() || self.backends.iter().any(|backend| backend == tested)
    }
}

impl Default for Case {
    fn default() -> Self {
        Self {
            name: String::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            status: Expected::Status(0),
            stderr: Vec::new(),
            stdout: Vec::new(),
            backends: Vec::new(),
        }
    }
}

/// A C or C++ program and its directives.
#[derive(Clone, Debug)]
pub struct Program {
    /// The source file.
    pub source: PathBuf,
    /// The numbers of PEs.
    pub pes: Vec<usize>,
    /// The ways to link it.
    pub variants: Vec<Variant>,
    /// Further options for the compiler.
    pub cflags: Vec<String>,
    /// The ways to start it.
    pub cases: Vec<Case>,
}

impl Program {
    /// Reads a program's directives.
    pub fn read(source: &Path) -> Result<Self, String> {
        let text =
            std::fs::read_to_string(source).map_err(|error| format!("{source:?}: {error}"))?;
        Self::parse(source, &text).map_err(|error| format!("{}: {error}", source.display()))
    }

    /// A program without directives.
    pub fn of(source: PathBuf) -> Self {
        Self {
            source,
            pes: Vec::new(),
            variants: Variant::COMMON.to_vec(),
            cflags: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// The name of its tests and executables.
    pub fn name(&self) -> &str {
        self.source.file_stem().and_then(|stem| stem.to_str()).unwrap_or("unnamed")
    }

    /// Whether it is written in C++.
    pub fn is_cpp(&self) -> bool {
        self.source.extension().is_some_and(|extension| extension == "cc")
    }

    fn parse(source: &Path, text: &str) -> Result<Self, String> {
        let mut program = Self::of(source.to_owned());
        let mut environment = Vec::new();
        let mut backends = Vec::new();
        let mut inline = true;
        let allocates = ["shmem_malloc", "shmem_calloc", "shmem_align"];
        let mut device = !tree::is_smartmap();
        let mut partition = text.contains("#include \"c")
            && allocates.iter().any(|routine| text.contains(&format!("{routine}(")));
        for line in text.lines() {
            if let Some(failing) = line.trim_start().strip_prefix("FAILS(") {
                program.cases.push(failing_case(failing)?);
            }
            let Some(line) = line.strip_prefix("// ") else { continue };
            let Some((key, value)) = line.split_once(':') else { continue };
            let words = || value.split_whitespace();
            match key {
                "pes" => {
                    program.pes = words()
                        .map(|word| {
                            word.parse().map_err(|_| format!("not a number of PEs: {word}"))
                        })
                        .collect::<Result<_, _>>()?;
                }
                "variants" => {
                    program.variants =
                        words().map(variants).collect::<Result<Vec<_>, _>>()?.concat()
                }
                "inline" => inline = yes_unless_no(key, value)?,
                "partition" => partition = yes_unless_no(key, value)?,
                "device" => device = yes_unless_no(key, value)?,
                "backends" => backends.extend(words().map(str::to_owned)),
                "cflags" => program.cflags = words().map(str::to_owned).collect(),
                "env" => {
                    for word in words() {
                        environment.push(assignment(word)?);
                    }
                }
                "case" => program.cases.push(case(value)?),
                _ => {}
            }
        }
        if program.pes.is_empty() {
            return Err("no line `// pes: ...` says how many PEs to start".into());
        }
        program.variants.retain(|variant| variant.is_served());
        if program.variants.is_empty() {
            program.variants.push(Variant::usual());
        }
        if inline {
            program.variants.push(Variant::Inline);
        }
        if partition {
            program.variants.push(Variant::Partition);
            program.variants.extend(device.then_some(Variant::Device));
        }
        if program.cases.is_empty() {
            program.cases.push(Case::default());
        }
        for case in &mut program.cases {
            case.environment.splice(0..0, environment.iter().cloned());
            case.backends.extend(backends.iter().cloned());
        }
        Ok(program)
    }
}

/// The value of a directive that can only say no.
fn yes_unless_no(key: &str, value: &str) -> Result<bool, String> {
    match value.trim() {
        "no" => Ok(false),
        _ => Err(format!("expected `{key}: no`, got {value}")),
    }
}

fn variants(word: &str) -> Result<Vec<Variant>, String> {
    if word == "all" {
        return Ok(Variant::ALL.to_vec());
    }
    Variant::ALL
        .into_iter()
        .find(|variant| variant.name() == word)
        .map(|variant| vec![variant])
        .ok_or_else(|| format!("no such variant: {word}"))
}

fn assignment(word: &str) -> Result<(String, String), String> {
    word.split_once('=')
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("expected NAME=value, got {word}"))
}

fn case(text: &str) -> Result<Case, String> {
    let (start, expectations) = text.split_once('|').unwrap_or((text, ""));
    let mut words = start.split_whitespace().map(str::to_owned);
    let mut case = Case { name: words.next().ok_or("a case without a name")?, ..Case::default() };
    case.arguments = words.collect();
    expect(&mut case, expectations.split_whitespace())?;
    Ok(case)
}

/// A case in which a statement fails; `text` follows the parenthesis.
fn failing_case(text: &str) -> Result<Case, String> {
    let [_, name, _, words, ..] = text.split('"').collect::<Vec<_>>()[..] else {
        return Err(format!("expected FAILS(\"name\", \"words\"), got FAILS({text}"));
    };
    let mut case = Case {
        name: name.to_owned(),
        arguments: vec![name.to_owned()],
        status: Expected::Nonzero,
        ..Case::default()
    };
    for word in words.split_whitespace() {
        match ["env=", "backend="].iter().any(|key| word.starts_with(key)) {
            true => expect(&mut case, [word].into_iter())?,
            false => case.stderr.push(word.to_owned()),
        }
    }
    Ok(case)
}

/// Adds what words such as `stderr=word` ask for.
fn expect<'a>(case: &mut Case, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
    for word in words {
        let (key, value) = assignment(word)?;
        match key.as_str() {
            "status" if value == "nonzero" => case.status = Expected::Nonzero,
            "status" => {
                let status = value.parse().map_err(|_| format!("not a status: {value}"))?;
                case.status = Expected::Status(status);
            }
            "stderr" => case.stderr.push(value),
            "stdout" => case.stdout.push(value),
            "env" => case.environment.push(assignment(&value)?),
            "backend" => case.backends.push(value),
            _ => {
                let expected = "status=, stderr=, stdout=, env= or backend=";
                return Err(format!("expected {expected}, got {word}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read() {
        let text = "// pes: 1 2\n// variants: pie static\n// env: A=1\n\
                    // case: bad x y | status=3 stderr=oh env=B=2=3\n// case: good\n\
                    int main;\n    FAILS(\"sits\", \"oh no: env=C=4\") shmem_quiet();\n";
        let program = Program::parse(Path::new("dir/name.c"), text).unwrap();
        assert_eq!(program.name(), "name");
        assert_eq!(program.pes, [1, 2]);
        let asked = [Variant::Pie, Variant::Static, Variant::Inline];
        let served: Vec<_> = asked.into_iter().filter(|it| it.is_served()).collect();
        assert_eq!(program.variants, served);
        let [bad, good, sits] = &program.cases[..] else { panic!("{:?}", program.cases) };
        assert_eq!((bad.name.as_str(), &bad.arguments[..]), ("bad", &["x".into(), "y".into()][..]));
        assert_eq!(bad.status, Expected::Status(3));
        assert_eq!(bad.stderr, ["oh"]);
        assert_eq!(bad.environment, [("A".into(), "1".into()), ("B".into(), "2=3".into())]);
        assert_eq!(good.status, Expected::Status(0));
        assert_eq!((sits.name.as_str(), &sits.arguments[..]), ("sits", &["sits".into()][..]));
        assert_eq!((sits.status, sits.stderr.join(" ")), (Expected::Nonzero, "oh no:".into()));
        assert_eq!(sits.environment[1], ("C".into(), "4".into()));
    }

    #[test]
    fn mistakes_are_told() {
        for (text, message) in [
            ("// pes: 1\n// inline: maybe", "inline: no"),
            ("// pes: 1\n// partition: maybe", "partition: no"),
            ("int main;", "how many PEs"),
            ("// pes: two", "number of PEs"),
            ("// pes: 1\n// variants: dynamic", "variant"),
            ("// pes: 1\n// case: a | status=x", "status"),
            ("// pes: 1\n// case: a | output=x", "expected status="),
            ("// pes: 1\n// env: A", "NAME=value"),
            ("// pes: 1\n    FAILS(name) shmem_quiet();", "FAILS(\"name\", \"words\")"),
        ] {
            let error = Program::parse(Path::new("name.c"), text).unwrap_err();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}
