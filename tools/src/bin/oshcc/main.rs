//! `oshcc`, `oshc++`, `oshCC`, `oshcxx`: the C and C++ compilers, told where this
//! installation's headers and library are. Everything else passes through.

mod line;

use line::{Line, Show};
use oneshmem_tools::installation::Installation;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A language, and how its compiler is chosen.
struct Language {
    name: &'static str,
    /// The variable that names the compiler.
    variable: &'static str,
    default: &'static str,
}

const C: Language = Language { name: "C", variable: "SHMEM_CC", default: "cc" };
const CXX: Language = Language { name: "C++", variable: "SHMEM_CXX", default: "c++" };

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let name = Path::new(&name).file_name().unwrap_or(OsStr::new("oshcc")).to_owned();
    // Distributions add a vendor: oshc++.oneshmem.
    let language = match name.as_encoded_bytes().split(|byte| *byte == b'.').next() {
        Some(b"oshc++" | b"oshCC" | b"oshcxx") => CXX,
        _ => C,
    };
    let complain = |message: String| {
        eprintln!("{}: {message}", name.display());
        ExitCode::FAILURE
    };
    let installation = match Installation::of_this_command() {
        Ok(installation) => installation,
        Err(error) => return complain(format!("cannot find its own installation: {error}")),
    };
    let line = Line::read(arguments);
    if line.show == Some(Show::Help) {
        print!("{}", help(&name.to_string_lossy(), &language));
        return ExitCode::SUCCESS;
    }

    // The variable may hold options too, or a wrapper: "ccache gcc".
    let compiler = std::env::var(language.variable).unwrap_or_default();
    let mut compiler: Vec<OsString> = compiler.split_whitespace().map(Into::into).collect();
    if compiler.is_empty() {
        compiler.push(language.default.into());
    }
    if let Some(show) = line.show {
        println!("{}", line::quoted(&line.shown(show, &installation, &compiler)));
        return ExitCode::SUCCESS;
    }
    let command = line.command(&installation, &compiler);
    let error = Command::new(&command[0]).args(&command[1..]).exec();
    complain(format!(
        "cannot run the {} compiler {}: {error} ({} names another)",
        language.name,
        command[0].display(),
        language.variable
    ));
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}

fn help(name: &str, Language { name: language, variable, default }: &Language) -> String {
    format!(
        "\
Usage: {name} [OPTIONS OF THE COMPILER] FILES

Compiles and links OpenSHMEM programs in {language}: runs the {language} compiler with this installation's
headers, library and run path. With -static or -static-pie the static library is linked.

  -showme, -show    print the command instead of running it
  -showme:compile   print what is added for compiling
  -showme:link      print what is added for linking
  -showme:command   print the compiler
  -showme:incdirs   print the directories of headers
  -showme:libdirs   print the directories of libraries
  -showme:libs      print the names of libraries
  -showme:version   print the version of oneshmem
  -showme:help      print this

  (-show:..., -show-... and --showme... are taken as well.)

  -compile_info     print the compiler and what is added for compiling
  -link_info        print the compiler and what is added for linking
  -info             as -show

  {variable}   the compiler to run [default: {default}]

OpenSHMEM has had no Fortran interface since version 1.5, and there is no oshfort.
"
    )
}
