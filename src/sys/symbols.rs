//! The names of the program's own functions and variables, from its symbol table on disk: the loader knows
//! only exported ones, usually few. Does not allocate, for use in signal handlers, but for [`variable_at`].
#![allow(unsafe_code)]

use crate::atomics::{AtomicPtr, AtomicUsize, Ordering};
use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, fstat};
use onenode_core::sys::mutex;
use onenode_core::sys::process::passed_by_kernel;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::slice;
use std::sync::{Mutex, OnceLock};

/// Offsets and sizes of the parts that are read of an ELF header, a section header and a symbol
/// (`elf(5)`, 64 bits).
const SECTION_HEADERS: usize = 40;
const SECTION_COUNT: usize = 60;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const SHT_SYMTAB: u64 = 2;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;

/// The symbol table of a file.
#[derive(Clone, Copy)]
pub struct Symbols<'a> {
    symbols: &'a [u8],
    names: &'a [u8],
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let mut word = [0; 8];
    word[..width].copy_from_slice(bytes.get(at..at.checked_add(width)?)?);
    Some(u64::from_ne_bytes(word))
}

fn part(bytes: &[u8], at: Option<u64>, length: Option<u64>) -> Option<&[u8]> {
    let (at, length) = (at? as usize, length? as usize);
    bytes.get(at..at.checked_add(length)?)
}

impl<'a> Symbols<'a> {
    /// The table in a file's contents, if there is one.
    pub fn of(file: &'a [u8]) -> Option<Self> {
        if !file.starts_with(b"\x7fELF\x02") {
            return None;
        }
        let headers = number(file, SECTION_HEADERS, 8)? as usize;
        let section = |index: u64| {
            let at = headers.checked_add((index as usize).checked_mul(SECTION_BYTES)?)?;
            file.get(at..at.checked_add(SECTION_BYTES)?)
        };
        let content = |section: &[u8]| part(file, number(section, 24, 8), number(section, 32, 8));
        let table = (0..number(file, SECTION_COUNT, 2)?)
            .filter_map(section)
            .find(|section| number(section, 4, 4) == Some(SHT_SYMTAB))?;
        let names = content(section(number(table, 40, 4)?)?)?;
        Some(Self { symbols: content(table)?, names })
    }

    /// The function that contains an address (relative to the file), and the offset within it.
    pub fn function(&self, address: u64) -> Option<(&'a str, u64)> {
        let (name, place) = self.find(STT_FUNC, address)?;
        Some((name, address - place.start))
    }

    /// The static variable that contains an address (relative to the file), and where it is.
    fn variable(&self, address: u64) -> Option<(&'a str, Range<u64>)> {
        self.find(STT_OBJECT, address)
    }

    fn find(&self, kind: u8, address: u64) -> Option<(&'a str, Range<u64>)> {
        let symbols = self.symbols.chunks_exact(SYMBOL_BYTES);
        symbols.filter(|symbol| symbol[4] & 0xf == kind).find_map(|symbol| {
            let (start, bytes) = (number(symbol, 8, 8)?, number(symbol, 16, 8)?);
            let place = start..start.checked_add(bytes)?;
            if !place.contains(&address) {
                return None;
            }
            let name = self.names.get(number(symbol, 0, 4)? as usize..)?;
            let name = &name[..name.iter().position(|byte| *byte == 0)?];
            Some((std::str::from_utf8(name).ok()?, place))
        })
    }
}

/// This program's file, mapped at the first call; empty if that fails.
pub fn program_file() -> &'static [u8] {
    static START: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    static BYTES: AtomicUsize = AtomicUsize::new(0);
    if START.load(Ordering::Acquire).is_null() {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        let Ok(file) = open(c"/proc/self/exe", flags, Mode::empty()) else { return &[] };
        let Ok(bytes) = fstat(&file).map(|status| status.st_size as usize) else { return &[] };
        let (read, private) = (libc::PROT_READ, libc::MAP_PRIVATE);
        // SAFETY: a new mapping, which replaces nothing.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, read, private, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return &[];
        }
        // If several threads come here, or a handler, each maps the same file, and the last one's mapping is
        // used.
        BYTES.store(bytes, Ordering::Relaxed);
        START.store(start.cast(), Ordering::Release);
    }
    // SAFETY: such a mapping of so many bytes, which stays. A program's file cannot be written while it runs
    // (ETXTBSY).
    unsafe { slice::from_raw_parts(START.load(Ordering::Acquire), BYTES.load(Ordering::Relaxed)) }
}

/// The program's static variable at this address, and the offset within it, if its symbol table says so. The table
/// may be long, and programs wait for the same variables again and again, so those found are kept. Not for signal
/// handlers.
pub fn variable_at(address: usize) -> Option<(&'static str, u64)> {
    static FOUND: Mutex<Vec<(&str, Range<u64>)>> = Mutex::new(Vec::new());
    let file = program_file();
    let address = address.wrapping_sub(load_address(file)) as u64;
    let mut found = mutex::lock(&FOUND);
    let at = match found.iter().position(|(_, place)| place.contains(&address)) {
        Some(at) => at,
        None => {
            found.push(Symbols::of(file)?.variable(address)?);
            found.len() - 1
        }
    };
    let (name, place) = &found[at];
    Some((*name, address - place.start))
}

/// The address of this program's program headers in memory. The kernel's word for it lies on the stack, which a
/// program that fails may have overwritten: ask once before.
pub fn program_headers() -> usize {
    static HEADERS: OnceLock<usize> = OnceLock::new();
    *HEADERS.get_or_init(|| passed_by_kernel(libc::AT_PHDR))
}

/// The address that corresponds to address 0 in this program's `file`.
pub fn load_address(file: &[u8]) -> usize {
    const ET_DYN: u64 = 3;
    match (number(file, 16, 2), number(file, 32, 8)) {
        (Some(ET_DYN), Some(headers)) => program_headers().wrapping_sub(headers as usize),
        _ => 0,
    }
}

/// The addresses that this program's `file` takes in memory; empty if it cannot be read.
pub fn image(file: &[u8]) -> Range<usize> {
    const PT_LOAD: u64 = 1;
    const BYTES: usize = 56;
    let segment = |index: u64| {
        let at = number(file, 32, 8)?.checked_add(index * BYTES as u64)? as usize;
        let header = part(file, Some(at as u64), Some(BYTES as u64))?;
        let (start, bytes) = (number(header, 16, 8)? as usize, number(header, 40, 8)? as usize);
        (number(header, 0, 4)? == PT_LOAD).then(|| start..start.saturating_add(bytes))
    };
    let base = load_address(file);
    let segments = (0..number(file, 56, 2).unwrap_or(0)).filter_map(segment);
    let whole = segments.reduce(|whole, next| whole.start.min(next.start)..whole.end.max(next.end));
    whole.map_or(0..0, |whole| base.wrapping_add(whole.start)..base.wrapping_add(whole.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_this_program_has_its_name() {
        let file = program_file();
        let symbols = Symbols::of(file).expect("tests are not stripped");
        let here = a_function_of_this_program_has_its_name as *const () as usize;
        let address = here - load_address(file);
        let (name, within) = symbols.function(address as u64 + 1).expect("a function");
        assert!(name.contains("a_function_of_this_program_has_its_name"), "{name}");
        assert_eq!(within, 1);
        assert!(image(file).contains(&here));
        assert!(!image(file).contains(&0));
        assert!(!image(file).contains(&(Box::leak(Box::new(0)) as *const i32 as usize)));
    }

    #[test]
    fn a_variable_of_this_program_has_its_name() {
        static A_VARIABLE: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
        let (name, within) = variable_at(A_VARIABLE.as_ptr() as usize + 8).expect("a variable");
        assert!(name.contains("A_VARIABLE") && within == 8, "{name}+{within}");
        assert_eq!(variable_at(8), None);
        assert_eq!(variable_at(A_VARIABLE.as_ptr() as usize), Some((name, 0)));
    }

    #[test]
    fn what_is_no_table_has_no_names() {
        assert!(Symbols::of(b"").is_none());
        assert!(Symbols::of(b"\x7fELF\x02").is_none());
        let mut file = program_file()[..4096].to_vec();
        assert!(Symbols::of(&file).is_none_or(|symbols| symbols.function(1).is_none()));
        file[40..48].fill(0xff);
        assert!(Symbols::of(&file).is_none());
    }
}
