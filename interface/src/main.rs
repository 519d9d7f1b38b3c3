//! Writes the files that are generated from the table of the interface.
//!
//! ```text
//! oneshmem-interface headers DIRECTORY    the C headers
//! oneshmem-interface exports              all names that the library exports
//! oneshmem-interface version-script       the same as a version script for the linker
//! ```

use oneshmem_interface::{Interface, constants, extensions, headers, twin};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["headers", directory] => headers::write(Path::new(directory)),
        ["exports"] => {
            exports().iter().for_each(|name| println!("{name}"));
            Ok(())
        }
        ["version-script"] => {
            println!("ONESHMEM_1 {{\nglobal:");
            exports().iter().for_each(|name| println!("    {name};"));
            println!("local:\n    *;\n}};");
            Ok(())
        }
        _ => {
            eprintln!("usage: oneshmem-interface headers DIRECTORY | exports | version-script");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oneshmem-interface: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Every routine, those that `shmemx.h` declares included, and its profiling name, the handles, and the data that
/// `shmem_inline.h` reads.
fn exports() -> Vec<String> {
    let routines = Interface::openshmem().symbols().into_iter().map(|s| s.name);
    let routines = routines.chain(extensions()).flat_map(|name| [twin(&name), name]);
    let handles = constants::handles().into_iter().map(|handle| handle.name.into());
    routines.chain(handles).chain([INLINE_DATA.into()]).collect()
}

/// The data that inlined routines read. The name contains the version of the layout: see
/// `interface/capi/src/inline.rs`.
const INLINE_DATA: &str = "oneshmem_reach_2";
