//! `oshcc`, `oshc++`, `oshCC`, `oshcxx`: run the C or C++ compiler with the paths of this
//! installation's headers and library. All other arguments pass through.

mod line;

use line::{CommandLine, Show};
use oneshmem_tools::cli::oshcc::{self, C, CXX};
use oneshmem_tools::installation::Installation;
use std::ffi::{OsStr, OsString};
use std::io::{Write, stdout};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Tells a wrapper, in its environment, that it is run by the compiler of another one, and which that is.
const INSIDE: &str = "ONESHMEM_WRAPPED";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let name = Path::new(&name).file_name().unwrap_or(OsStr::new("oshcc")).to_owned();
    // Distributions append a vendor: oshc++.oneshmem.
    let language = match name.as_encoded_bytes().split(|byte| *byte == b'.').next() {
        Some(b"oshc++" | b"oshCC" | b"oshcxx") => CXX,
        _ => C,
    };
    let complain = |message: String| {
        eprintln!("{}: {message}", name.to_string_lossy());
        ExitCode::FAILURE
    };
    let installation = match Installation::of_this_command() {
        Ok(installation) => installation,
        Err(error) => {
            return complain(format!(
                "cannot find the installation that this command belongs to: {error}"
            ));
        }
    };
    let line = CommandLine::read(arguments);
    if let Some(option) = &line.unknown {
        return complain(line::unknown(option));
    }
    if line.show == Some(Show::Help) || line.is_help {
        let mut printed = oshcc::command(&name.to_string_lossy(), &language).print_help();
        if line.is_help {
            printed = printed.and_then(|()| writeln!(stdout(), "\nThe compiler's own:\n"));
        }
        if let Err(error) = printed.and_then(|()| stdout().flush()) {
            return complain(format!("cannot write to standard output: {error}"));
        }
        if !line.is_help {
            return ExitCode::SUCCESS;
        }
    }

    // The variable may also hold options or a wrapper: "ccache gcc".
    let compiler = std::env::var(language.variable).unwrap_or_default();
    let mut compiler: Vec<OsString> = compiler.split_whitespace().map(Into::into).collect();
    if compiler.is_empty() {
        compiler.push(language.default.into());
    }
    if let Some(show) = line.show {
        println!("{}", line::quoted(&line.shown(show, &installation, &compiler)));
        return ExitCode::SUCCESS;
    }
    if let Some(outer) = std::env::var_os(INSIDE) {
        let outer = outer.to_string_lossy();
        return complain(format!("{outer} leads back to oshcc: it has to name a compiler"));
    }
    let command = line.command(&installation, &compiler);
    let outer = format!("{}={}", language.variable, line::quoted(&compiler));
    let error = Command::new(&command[0]).args(&command[1..]).env(INSIDE, outer).exec();
    complain(format!(
        "cannot run the {} compiler {}: {error} (set {} to use another)",
        language.name,
        command[0].to_string_lossy(),
        language.variable
    ));
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}
