//! A compiler's command line: what it does, and what has to be added.

use oneshmem_tools::installation::Installation;
use std::ffi::{OsStr, OsString};

/// Something to print instead of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// The whole command.
    Command,
    /// The flags added for compiling.
    Compile,
    /// The flags added for linking.
    Link,
    /// The compiler, and the flags added for compiling.
    CompileCommand,
    /// The compiler, and the flags added for linking.
    LinkCommand,
    /// The compiler.
    Compiler,
    /// The header directories.
    IncludeDirectories,
    /// The library directories.
    LibraryDirectories,
    /// The library names.
    Libraries,
    /// The version.
    Version,
    /// How to use the command.
    Help,
}

const SHOW: [(&str, Show); 9] = [
    ("", Show::Command),
    ("compile", Show::Compile),
    ("link", Show::Link),
    ("command", Show::Compiler),
    ("incdirs", Show::IncludeDirectories),
    ("libdirs", Show::LibraryDirectories),
    ("libs", Show::Libraries),
    ("version", Show::Version),
    ("help", Show::Help),
];

/// The names that MPICH's wrappers use for some of them. Their output begins with the compiler.
const INFO: [(&str, Show); 5] = [
    ("info", Show::Command),
    ("compile_info", Show::CompileCommand),
    ("compile-info", Show::CompileCommand),
    ("link_info", Show::LinkCommand),
    ("link-info", Show::LinkCommand),
];

/// Options that end the compiler's work before linking.
const NO_LINK: [&str; 8] =
    ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--preprocess", "--assemble"];
/// Options whose value is the next argument, which is then not an input file. From the option lists
/// in GCC's and Clang's manuals.
const WITH_VALUE: [&str; 40] = [
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-x",
    "-l",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-B",
    "-F",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-imacros",
    "-isystem",
    "-idirafter",
    "-iquote",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "--sysroot",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-mllvm",
    "-target",
    "--target",
    "-arch",
    "--param",
    "-aux-info",
    "-dumpdir",
    "-wrapper",
];
/// The system libraries that the static library needs: those of the Rust standard library
/// (`rustc --print native-static-libs`) and C's mathematics.
const STATIC_NEEDS: [&str; 4] = ["-lpthread", "-ldl", "-lrt", "-lm"];

/// A library built for SMARTMAP serves position-dependent programs only. These flags come before
/// the user's, so that the user can override them.
const COMPILE: &[&str] =
    if cfg!(feature = "smartmap") { &["-fno-pie", "-DONESHMEM_SMARTMAP"] } else { &[] };
const LINK: &[&str] = if cfg!(feature = "smartmap") { &["-no-pie"] } else { &[] };

/// A parsed command line.
#[derive(Debug, Default)]
pub struct CommandLine {
    arguments: Vec<OsString>,
    /// Information to print instead of compiling, if any.
    pub show: Option<Show>,
    /// An option that asks to print something unknown.
    pub unknown: Option<String>,
    /// Whether the compiler prints its help, and the wrapper its own before.
    pub is_help: bool,
    /// Whether there is anything to compile or link.
    has_input: bool,
    stops_before_linking: bool,
    is_static: bool,
    /// Whether OpenMP's target regions run on a device.
    offloads: bool,
}

impl CommandLine {
    /// Parses the arguments of the wrapper.
    pub fn read(arguments: impl Iterator<Item = OsString>) -> Self {
        let mut line = Self::default();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            if let Some(show) = show(&text) {
                line.show = Some(show);
                continue;
            }
            // No compiler has such an option.
            if text.trim_start_matches('-').starts_with("showme:") && text.starts_with('-') {
                line.unknown = Some(text.into_owned());
                continue;
            }
            line.is_help |= matches!(&*text, "--help" | "-help");
            line.stops_before_linking |= NO_LINK.contains(&&*text);
            line.is_static |= matches!(&*text, "-static" | "--static" | "-static-pie");
            line.offloads |= text.starts_with("-fopenmp-targets=");
            // A lone dash is standard input. A library counts as something to link.
            line.has_input |= !text.starts_with('-') || text == "-" || text.starts_with("-l");
            let has_value = WITH_VALUE.contains(&&*text);
            line.arguments.push(argument);
            if has_value {
                line.arguments.extend(arguments.next());
            }
        }
        line
    }

    /// The compiler's command. Adds nothing if there is no input (`--version`, for example).
    pub fn command(&self, installation: &Installation, compiler: &[OsString]) -> Vec<OsString> {
        let mut command = compiler.to_vec();
        if !self.has_input {
            command.extend_from_slice(&self.arguments);
            return command;
        }
        command.extend(compile(installation));
        if !self.stops_before_linking {
            command.extend(LINK.iter().map(Into::into));
        }
        command.extend_from_slice(&self.arguments);
        if !self.stops_before_linking {
            command.extend(self.link(installation));
        }
        command
    }

    /// The text to print.
    pub fn shown(
        &self,
        show: Show,
        installation: &Installation,
        compiler: &[OsString],
    ) -> Vec<OsString> {
        match show {
            // With nothing to compile, show what would be done if there were.
            Show::Command if !self.has_input => {
                let link = if self.stops_before_linking {
                    vec![]
                } else {
                    self.all_for_linking(installation)
                };
                [compiler.to_vec(), compile(installation), self.arguments.clone(), link].concat()
            }
            Show::Command => self.command(installation, compiler),
            Show::Compile => compile(installation),
            Show::Link => self.all_for_linking(installation),
            Show::CompileCommand => [compiler.to_vec(), compile(installation)].concat(),
            Show::LinkCommand => [compiler.to_vec(), self.all_for_linking(installation)].concat(),
            Show::Compiler => compiler.to_vec(),
            Show::IncludeDirectories => vec![installation.include().into()],
            Show::LibraryDirectories => vec![installation.lib().into()],
            Show::Libraries => vec!["shmem".into()],
            Show::Version => vec!["oneshmem".into(), env!("CARGO_PKG_VERSION").into()],
            Show::Help => vec![],
        }
    }

    fn all_for_linking(&self, installation: &Installation) -> Vec<OsString> {
        LINK.iter().map(OsString::from).chain(self.link(installation)).collect()
    }

    fn link(&self, installation: &Installation) -> Vec<OsString> {
        let lib = installation.lib();
        let mut flags = vec![joined("-L", lib.as_os_str())];
        if self.is_static {
            flags.push("-lshmem".into());
            flags.extend(STATIC_NEEDS.map(OsString::from));
        } else {
            flags.push(joined("-Wl,-rpath,", lib.as_os_str()));
            if self.offloads {
                // Before the compiler's own library, which the compiler adds at the end.
                flags.push("-loneshmem_openmp".into());
            }
            flags.push("-lshmem".into());
        }
        flags
    }
}

fn compile(installation: &Installation) -> Vec<OsString> {
    let include = joined("-I", installation.include().as_os_str());
    [include].into_iter().chain(COMPILE.iter().map(OsString::from)).collect()
}

/// The error for an option that asks to print something unknown.
pub fn unknown(option: &str) -> String {
    let names = SHOW.map(|(name, _)| name).into_iter().filter(|name| !name.is_empty());
    let names: Vec<_> = names.map(|name| format!("-showme:{name}")).collect();
    format!("there is no {option}; expected -showme, {}", names.join(", "))
}

fn joined(flag: &str, value: &OsStr) -> OsString {
    let mut text = OsString::from(flag);
    text.push(value);
    text
}

fn show(argument: &str) -> Option<Show> {
    let name = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'))?;
    if let Some((_, show)) = INFO.iter().find(|(text, _)| *text == name) {
        return Some(*show);
    }
    let rest = name.strip_prefix("showme").or_else(|| name.strip_prefix("show"))?;
    let what = rest.strip_prefix([':', '-']).unwrap_or(rest);
    if !rest.is_empty() && what == rest {
        return None;
    }
    SHOW.iter().find(|(text, _)| *text == what).map(|(_, show)| *show)
}

/// Quotes a command for a shell.
pub fn quoted(command: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(c);
    let quote = |argument: &OsString| {
        let text = argument.to_string_lossy();
        match !text.is_empty() && text.chars().all(plain) {
            true => text.into_owned(),
            false => format!("'{}'", text.replace('\'', r"'\''")),
        }
    };
    command.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(all(test, not(feature = "smartmap")))]
mod tests {
    use super::*;
    use std::path::Path;

    fn command(arguments: &str) -> String {
        let installation = Installation::at(Path::new("/opt/one"));
        let line = CommandLine::read(arguments.split_whitespace().map(OsString::from));
        match line.show {
            Some(show) => quoted(&line.shown(show, &installation, &["cc".into()])),
            None => quoted(&line.command(&installation, &["cc".into()])),
        }
    }

    const LINK: &str = "-L/opt/one/lib -Wl,-rpath,/opt/one/lib -lshmem";

    #[test]
    fn compiling_and_linking() {
        assert_eq!(command("a.c -o a"), format!("cc -I/opt/one/include a.c -o a {LINK}"));
        assert_eq!(command("a.o -lm"), format!("cc -I/opt/one/include a.o -lm {LINK}"));
        assert_eq!(
            command("-fopenmp-targets=x86_64 a.c"),
            "cc -I/opt/one/include -fopenmp-targets=x86_64 a.c -L/opt/one/lib \
             -Wl,-rpath,/opt/one/lib -loneshmem_openmp -lshmem"
        );
        assert_eq!(command("-xc -"), format!("cc -I/opt/one/include -xc - {LINK}"));
        assert_eq!(
            command("-static a.c"),
            "cc -I/opt/one/include -static a.c -L/opt/one/lib -lshmem -lpthread -ldl -lrt -lm"
        );
    }

    #[test]
    fn nothing_to_link() {
        for option in ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"] {
            let expected = format!("cc -I/opt/one/include {option} a.c -o x");
            assert_eq!(command(&format!("{option} a.c -o x")), expected);
        }
        // Writing dependencies as a side effect does not stop compilation.
        assert!(command("-MMD -MF a.d a.c").ends_with(LINK));
    }

    #[test]
    fn nothing_to_compile() {
        for line in ["--version", "-v", "-dumpmachine", "-o a -I x", "-print-prog-name=ld"] {
            assert_eq!(command(line), format!("cc {line}"));
        }
    }

    #[test]
    fn what_is_shown() {
        for dashes in ["-showme", "--showme", "-show", "--show"] {
            assert_eq!(
                command(&format!("{dashes} a.c")),
                format!("cc -I/opt/one/include a.c {LINK}")
            );
            assert_eq!(command(&format!("{dashes}:link")), LINK);
            assert_eq!(command(&format!("{dashes}-compile")), "-I/opt/one/include");
        }
        assert_eq!(command("-showme"), format!("cc -I/opt/one/include {LINK}"));
        assert_eq!(command("-showme:libs"), "shmem");
        // Like MPICH's wrappers: scripts drop the first word, the compiler.
        for dashes in ["-", "--"] {
            assert_eq!(command(&format!("{dashes}compile_info")), "cc -I/opt/one/include");
            assert_eq!(command(&format!("{dashes}compile-info")), "cc -I/opt/one/include");
            assert_eq!(command(&format!("{dashes}link_info")), format!("cc {LINK}"));
            assert_eq!(command(&format!("{dashes}link-info")), format!("cc {LINK}"));
            assert_eq!(command(&format!("{dashes}info")), format!("cc -I/opt/one/include {LINK}"));
        }
        let line = |text: &str| CommandLine::read([OsString::from(text)].into_iter());
        assert_eq!(line("-showme:nothing").unknown.as_deref(), Some("-showme:nothing"));
        assert_eq!(line("showme:nothing").unknown, None);
        assert!(unknown("-showme:x").ends_with("-showme:libs, -showme:version, -showme:help"));
        // Not our option: the compiler complains.
        assert_eq!(command("-showmenot a.o -c"), "cc -I/opt/one/include -showmenot a.o -c");
    }

    #[test]
    fn quoting() {
        assert_eq!(quoted(&["-DX=a b".into(), "it's".into()]), r"'-DX=a b' 'it'\''s'");
    }
}

#[cfg(all(test, feature = "smartmap"))]
mod smartmap_tests {
    use super::*;
    use std::path::Path;

    fn command(arguments: &str) -> String {
        let installation = Installation::at(Path::new("/opt/one"));
        let line = CommandLine::read(arguments.split_whitespace().map(OsString::from));
        quoted(&line.command(&installation, &["cc".into()]))
    }

    #[test]
    fn programs_are_position_dependent_unless_told_otherwise() {
        assert!(
            command("a.c")
                .starts_with("cc -I/opt/one/include -fno-pie -DONESHMEM_SMARTMAP -no-pie a.c -L")
        );
        assert_eq!(command("-c a.c"), "cc -I/opt/one/include -fno-pie -DONESHMEM_SMARTMAP -c a.c");
        assert!(command("-fPIE -pie a.c").contains("-no-pie -fPIE -pie"));
    }
}
