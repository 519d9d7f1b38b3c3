//! The mappings of this process (proc(5), `/proc/self/maps`), and the descriptor of a mapped file.

mod query;

use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

/// The protection of memory as programs usually have it.
pub const READ_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;
/// The protection of memory that nobody may access.
pub const INACCESSIBLE: i32 = libc::PROT_NONE;

/// One mapping, cut to the requested range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its addresses.
    pub range: Range<usize>,
    /// The accesses allowed: bits of `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`.
    pub protection: i32,
    /// Whether other processes that map the file see what is written.
    pub shared: bool,
    /// The file: its device, as the system writes it, and its inode. Inode 0: no file.
    pub file: (String, u64),
    /// The file offset of the start of `range`.
    pub offset: u64,
    /// The file's name.
    pub name: String,
}

impl Mapping {
    /// Parses a line of the file.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        let rights = fields.next()?;
        Some(Self {
            range: hex(start)?..hex(end)?,
            protection: rights
                .chars()
                .zip([('r', libc::PROT_READ), ('w', libc::PROT_WRITE), ('x', libc::PROT_EXEC)])
                .map(|(has, (name, bit))| if has == name { bit } else { 0 })
                .sum(),
            shared: rights.ends_with('s'),
            offset: hex(fields.next()?)? as u64,
            file: (fields.next()?.into(), fields.next()?.parse().ok()?),
            name: fields.next().unwrap_or_default().trim_start().into(),
        })
    }

    /// Whether it is readable and writable.
    pub fn is_writable(&self) -> bool {
        self.protection & READ_WRITE == READ_WRITE
    }

    /// The part within `range`.
    fn within(mut self, range: &Range<usize>) -> Option<Self> {
        let start = self.range.start.max(range.start);
        let end = self.range.end.min(range.end);
        self.offset += (start - self.range.start.min(start)) as u64;
        self.range = start..end;
        (start < end).then_some(self)
    }
}

/// All mappings in `range`, in order.
pub fn within(range: &Range<usize>) -> Result<Vec<Mapping>, Error> {
    let failed = |source| Error::System { call: "reading /proc/self/maps", source };
    let mut table = File::open("/proc/self/maps").map_err(failed)?;
    let found = query::within(&table, range).or_else(|_| read(&mut table)).map_err(failed)?;
    Ok(found.into_iter().filter_map(|mapping| mapping.within(range)).collect())
}

/// The parts of `range` that are protected in a way of their own (mprotect(2)), and what may be done with them:
/// guard pages, code, pages that are to be read only. None where the system does not say (no `/proc`).
pub fn protected(range: &Range<usize>) -> Vec<(Range<usize>, i32)> {
    let mut parts: Vec<(Range<usize>, i32)> = Vec::new();
    for Mapping { range, protection, .. } in within(range).unwrap_or_default() {
        match parts.last_mut() {
            Some((last, same)) if (last.end, *same) == (range.start, protection) => {
                last.end = range.end;
            }
            _ if protection == READ_WRITE => {}
            _ => parts.push((range, protection)),
        }
    }
    parts
}

/// All mappings there are, for older systems, which cannot be asked for some.
fn read(table: &mut File) -> io::Result<Vec<Mapping>> {
    let mut text = Vec::new();
    table.read_to_end(&mut text)?;
    // Paths may contain any bytes.
    Ok(String::from_utf8_lossy(&text).lines().filter_map(Mapping::parse).collect())
}

/// The mapping that an address is in, from there on; `None` if it is in none.
pub fn at(address: usize) -> Result<Option<Mapping>, Error> {
    Ok(within(&(address..address.saturating_add(1)))?.pop())
}

/// How many mappings this process has. Takes no memory, which may need another mapping.
fn count() -> io::Result<usize> {
    let mut maps = File::open("/proc/self/maps")?;
    let (mut buffer, mut count) = ([0; 4096], 0);
    loop {
        match maps.read(&mut buffer)? {
            0 => return Ok(count),
            bytes => count += buffer[..bytes].iter().filter(|byte| **byte == b'\n').count(),
        }
    }
}

/// Why a mapping is refused with this error. The system has one for a lack of memory and for too many mappings.
#[cold]
pub(crate) fn refused(error: io::Error) -> io::Error {
    /// A mapping into the middle of another one makes three of one.
    const MORE: usize = 3;
    let most = || fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok();
    let lacks = error.raw_os_error() == Some(libc::ENOMEM);
    match lacks.then(count).and_then(Result::ok).zip(most()) {
        Some((count, most)) if count + MORE > most => io::Error::other(format!(
            "this process has {count} mappings, and the system allows {most} (vm.max_map_count)"
        )),
        _ => error,
    }
}

/// Whether a process has the file with that inode mapped, as far as this one may know.
pub fn has_file(pid: u32, inode: u64) -> bool {
    let table = File::open(format!("/proc/{pid}/maps")).and_then(|mut table| read(&mut table));
    table.is_ok_and(|all| all.iter().any(|mapping| mapping.file.1 == inode))
}

/// A new descriptor for the file of a mapping, for reading and writing, if this process has the
/// file open.
pub fn descriptor(mapping: &Mapping) -> Option<OwnedFd> {
    let is_it = |status: &fs::Metadata| {
        let device = status.dev();
        let spelt = format!("{:02x}:{:02x}", libc::major(device), libc::minor(device));
        (spelt, status.ino()) == mapping.file
    };
    fs::read_dir("/proc/self/fd").ok()?.flatten().find_map(|entry| {
        let path = entry.path();
        fs::metadata(&path).ok().filter(is_it)?;
        let file = File::options().read(true).write(true).open(&path).ok()?;
        file.metadata().is_ok_and(|status| is_it(&status)).then(|| file.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::map::OwnMapping;
    use crate::sys::{fd, map};
    use std::os::fd::AsFd;

    #[test]
    fn a_line_is_a_mapping() {
        let line = "7f00-8f00 rw-s 00001000 00:01 1056                       /memfd:a b (deleted)";
        let all = Mapping::parse(line).expect("a mapping");
        assert_eq!((all.range.clone(), all.shared), (0x7f00..0x8f00, true));
        assert!(all.is_writable() && all.protection == READ_WRITE);
        assert_eq!((all.file.1, all.name.as_str()), (1056, "/memfd:a b (deleted)"));
        let part = all.clone().within(&(0x8000..0x8100)).expect("a part");
        assert_eq!((part.range, part.offset), (0x8000..0x8100, 0x1100));
        assert_eq!(all.within(&(0x8f00..0x9000)), None);
        let anonymous = Mapping::parse("1000-2000 r--p 00000000 00:00 0").expect("a mapping");
        assert_eq!(
            (anonymous.protection, anonymous.shared, anonymous.file.1),
            (libc::PROT_READ, false, 0)
        );
        assert_eq!(Mapping::parse("nothing"), None);
    }

    #[test]
    fn what_the_system_is_asked_for_is_what_it_lists() {
        let page = map::page_size();
        let start = map::private_anywhere(8 * page).expect("memory");
        let file = fd::memfd(c"a name").expect("a memory file");
        fd::resize_and_seal(file.as_fd(), 4 * page as u64).expect("its size");
        let shared =
            OwnMapping::shared(file.as_fd(), page as u64, 2 * page).expect("mapped").keep();
        let mut table = File::open("/proc/self/maps").expect("/proc");
        let listed = read(&mut table).expect("listed");
        let part = |all: Vec<Mapping>, range: &Range<usize>| -> Vec<_> {
            all.into_iter().filter_map(|mapping| mapping.within(range)).collect()
        };
        let code = read as *const () as usize;
        for range in [start + page..start + 3 * page, shared..shared + page, code..code + 1] {
            let from_list = part(listed.clone(), &range);
            assert_eq!(from_list.len(), 1);
            match query::within(&table, &range) {
                Ok(asked) => assert_eq!(part(asked, &range), from_list),
                Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOTTY), "before 6.11"),
            }
        }
        assert!(within(&(0..page)).expect("looked").is_empty());
    }

    #[test]
    fn the_file_of_a_mapping_is_found() {
        let file = fd::memfd(c"maps").expect("a memory file");
        let page = map::page_size();
        fd::resize_and_seal(file.as_fd(), 4 * page as u64).expect("its size");
        let at = OwnMapping::shared(file.as_fd(), page as u64, 2 * page).expect("mapped").keep();
        let found = within(&(at + page..at + 2 * page)).expect("listed");
        assert_eq!(found.len(), 1);
        assert!(found[0].shared && found[0].is_writable());
        assert_eq!(found[0].offset, 2 * page as u64);
        let again = descriptor(&found[0]).expect("a descriptor");
        assert_eq!(fd::inode(again.as_fd()).expect("its inode"), found[0].file.1);
        drop((file, again));
        assert!(descriptor(&found[0]).is_none(), "no descriptor is open any more");
    }
}
