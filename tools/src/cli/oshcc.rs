//! The options of the compiler wrappers, for help, manual page and completions. The wrappers find
//! them among the compiler's options themselves.

use super::{STYLES, flag};
use clap::Command;

/// The options that print something instead of compiling, with their help.
pub const OPTIONS: [(&str, &str); 13] = [
    ("showme", "Print the command instead of running it"),
    ("showme:compile", "Print the options that are added for compiling"),
    ("showme:link", "Print the options that are added for linking"),
    ("showme:command", "Print the compiler"),
    ("showme:incdirs", "Print the directories of headers"),
    ("showme:libdirs", "Print the directories of libraries"),
    ("showme:libs", "Print the names of libraries"),
    ("showme:version", "Print the version of oneshmem"),
    ("showme:help", "Print this help"),
    ("help", "Print this help, and then the compiler's"),
    ("compile_info", "Print the compiler and the options that are added for compiling"),
    ("link_info", "Print the compiler and the options that are added for linking"),
    ("info", "Same as --showme"),
];

const NOTES: &str = "\
One dash is accepted in place of two, -show in place of -showme, and a dash in place of the colon.
All other options are the compiler's. With -static or -static-pie the static library is linked.

OpenSHMEM has had no Fortran interface since version 1.5, so there is no oshfort.";

/// A language, and how its compiler is chosen.
#[derive(Debug)]
pub struct Language {
    /// Its name.
    pub name: &'static str,
    /// The environment variable that names the compiler.
    pub variable: &'static str,
    /// The compiler used if the variable is not set.
    pub default: &'static str,
}

/// C.
pub const C: Language = Language { name: "C", variable: "SHMEM_CC", default: "cc" };
/// C++.
pub const CXX: Language = Language { name: "C++", variable: "SHMEM_CXX", default: "c++" };

/// Defines the wrapper of this name.
pub fn command(name: &str, language: &Language) -> Command {
    let Language { name: called, variable, default } = language;
    let mut command = Command::new("oshcc")
        .bin_name(name)
        .styles(STYLES)
        .about(format!("Compiles and links OpenSHMEM programs in {called}"))
        .override_usage(format!("{name} [COMPILER OPTIONS] FILES"))
        .after_help(format!(
            "{NOTES}\n\nEnvironment:\n  {variable}  The compiler to run [default: {default}]"
        ))
        .disable_help_flag(true)
        .disable_version_flag(true);
    for (name, help) in OPTIONS {
        command = command.arg(flag(name).help(help));
    }
    command
}
