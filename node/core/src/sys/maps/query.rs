//! Asks the system for single mappings (`PROCMAP_QUERY`, since Linux 6.11), whose cost does not grow with the
//! number of all mappings, as that of reading the table does.
#![allow(unsafe_code)]

use super::Mapping;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// `struct procmap_query` of `<linux/fs.h>`.
#[repr(C)]
#[derive(Default)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    start: u64,
    end: u64,
    rights: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    major: u32,
    minor: u32,
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

/// `PROCMAP_QUERY`: `_IOWR('f', 17, struct procmap_query)`.
const PROCMAP_QUERY: u32 = 3 << 30 | (size_of::<Query>() as u32) << 16 | (b'f' as u32) << 8 | 17;
/// `PROCMAP_QUERY_COVERING_OR_NEXT_VMA`
const COVERING_OR_NEXT: u64 = 0x10;
/// `PROCMAP_QUERY_VMA_READABLE`, `_WRITABLE`, `_EXECUTABLE`, `_SHARED`
const READABLE: u64 = 1;
const WRITABLE: u64 = 2;
const EXECUTABLE: u64 = 4;
const SHARED: u64 = 8;

/// Room for the longest name: a path, its mark as a deleted one, and a zero byte.
const LONGEST: usize = libc::PATH_MAX as usize + 16;

/// The mapping at `address` or the next one; `None` if there is no more. `table` is `/proc/self/maps`.
fn next(table: &File, address: usize) -> io::Result<Option<Mapping>> {
    let mut name = [0u8; LONGEST];
    let mut query = Query {
        size: size_of::<Query>() as u64,
        flags: COVERING_OR_NEXT,
        address: address as u64,
        name_size: LONGEST as u32,
        name: name.as_mut_ptr().expose_provenance() as u64,
        ..Query::default()
    };
    // SAFETY: the system writes to the two locals only: to the record as much as its size says, and to the name
    // at most as many bytes as the record says that it has.
    let outcome = unsafe {
        libc::ioctl(table.as_raw_fd(), PROCMAP_QUERY.into(), std::ptr::from_mut(&mut query))
    };
    if outcome != 0 {
        return match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::NotFound => Ok(None),
            error => Err(error),
        };
    }
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(Mapping {
        range: query.start as usize..query.end as usize,
        protection: [
            (READABLE, libc::PROT_READ),
            (WRITABLE, libc::PROT_WRITE),
            (EXECUTABLE, libc::PROT_EXEC),
        ]
        .map(|(right, bit)| if query.rights & right != 0 { bit } else { 0 })
        .iter()
        .sum(),
        shared: query.rights & SHARED != 0,
        file: (format!("{:02x}:{:02x}", query.major, query.minor), query.inode),
        offset: query.offset,
        name,
    }))
}

/// All mappings that have addresses in `range`, in order.
pub(super) fn within(table: &File, range: &Range<usize>) -> io::Result<Vec<Mapping>> {
    let (mut found, mut address) = (Vec::new(), range.start);
    while address < range.end {
        match next(table, address)? {
            Some(mapping) if mapping.range.start < range.end => {
                address = mapping.range.end;
                found.push(mapping);
            }
            _ => break,
        }
    }
    Ok(found)
}
