//! A process of its own, which finds lines of source in debugging information (DWARF): the files are
//! whichever a message names, so a hang, a crash or much memory must not be the launcher's.
//!
//! It reads requests from standard input, an address and a path in each line, and writes a line for each:
//! file and line, or nothing.

use super::failure::{Failure, cannot};
use addr2line::{Context, gimli};
use nix::sys::prctl::{set_name, set_pdeathsig};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use object::read::ReadCache;
use object::{Object, ObjectSection};
use oneshmem_job::sys::own_names::is_librarys;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Write, stdin, stdout};
use std::path::Path;

/// The option that runs the command as this process. It is the only argument.
pub const OPTION: &str = "--source-lines";

/// Its limits: seconds of a CPU, and bytes of memory.
const SECONDS: u64 = 5;
const MEMORY: u64 = 4 << 30;

/// Debugging information, and its file's bytes as far as they are read.
type Lines<'d> = Context<gimli::EndianSlice<'d, gimli::NativeEndian>>;

/// Answers all requests.
pub fn run() -> Result<i32, Failure> {
    let _ = set_name(c"oshrun-lines");
    let limit = set_pdeathsig(Signal::SIGKILL)
        .and_then(|()| setrlimit(Resource::RLIMIT_CPU, SECONDS, SECONDS))
        .and_then(|()| setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY));
    limit.map_err(cannot("limit what it uses"))?;
    let mut requests = Vec::new();
    for line in stdin().lines() {
        let line = line.map_err(cannot("read requests"))?;
        let request = line.split_once(' ').and_then(|(address, path)| {
            Some((u64::from_str_radix(address, 16).ok()?, path.to_owned()))
        });
        requests.push(request.ok_or_else(|| {
            Failure::own(format_args!("{OPTION} is for oshrun's own use: it reads addresses"))
        })?);
    }
    let paths = requests.iter().map(|(_, path)| path);
    let files: HashMap<_, _> =
        paths.filter_map(|path| Some((path, ReadCache::new(open(path)?)))).collect();
    let files: HashMap<_, _> =
        files.iter().filter_map(|(path, file)| Some((*path, lines(file)?))).collect();
    for (address, path) in &requests {
        let source = files.get(path).and_then(|lines| source(lines, *address)).unwrap_or_default();
        // One call each: what is found before a limit is reached arrives.
        let written = stdout().write_all(format!("{source}\n").as_bytes());
        written.and_then(|()| stdout().flush()).map_err(cannot("answer"))?;
    }
    Ok(0)
}

/// Opens a file that has contents: opening some others waits, or does something.
fn open(path: &str) -> Option<File> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()
}

fn lines(file: &ReadCache<File>) -> Option<Lines<'_>> {
    let object = object::File::parse(file).ok()?;
    let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let section = object.section_by_name(id.name());
        // A compressed one does not count.
        let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
        Ok(gimli::EndianSlice::new(data, gimli::NativeEndian))
    };
    Context::from_dwarf(gimli::Dwarf::load(section).ok()?).ok()
}

/// The line of source at an address: where the library is inlined, that of the program which calls it.
fn source(lines: &Lines, address: u64) -> Option<String> {
    let mut frames = lines.find_frames(address).skip_all_loads().ok()?;
    let (mut of_program, mut of_library) = (Vec::new(), None);
    while let Ok(Some(frame)) = frames.next() {
        let place = frame.location.and_then(|it| Some((it.file?, it.line?)));
        let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
        if name.as_ref().is_some_and(|name| is_librarys(name)) {
            of_library = place.or(of_library);
            continue;
        }
        of_program.extend(place);
        // Rust's information about lines only has names without their crates: this may be the library yet.
        let is_whole = name.is_some_and(|name| name.starts_with("_ZN") || name.starts_with("_R"));
        if is_whole || !place.is_some_and(|(file, _)| file.ends_with(".rs")) {
            break;
        }
    }
    let (file, line) = innermost(&of_program).or(of_library)?;
    Some(format!("{file}:{line}"))
}

/// The first of these places, from the innermost outwards, that is in the folder of the last, which is the
/// program's, or below it.
fn innermost<'f>(places: &[(&'f str, u32)]) -> Option<(&'f str, u32)> {
    let folder = Path::new(places.last()?.0).parent()?;
    places.iter().copied().find(|(file, _)| Path::new(file).starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::innermost;

    #[test]
    fn places_of_the_program_are_in_its_folder() {
        let main = ("/me/ring/src/main.rs", 8);
        let library = ("/me/oneshmem/src/rma.rs", 82);
        assert_eq!(innermost(&[]), None);
        assert_eq!(innermost(&[main]), Some(main));
        assert_eq!(innermost(&[library, main]), Some(main));
        let helper = ("/me/ring/src/exchange/halo.rs", 2);
        assert_eq!(innermost(&[library, helper, main]), Some(helper));
    }
}
