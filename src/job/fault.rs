//! A fault inside the window of mirrors, or of a routine of this library elsewhere, is
//! explained before it takes its course.

use super::{Job, existing};
use crate::sys::program;
use crate::sys::signal::{self, Fault};
use std::fmt::Write;

/// Has faults explained from now on.
pub(super) fn explain() {
    signal::explain_faults(report);
}

/// A message built without allocation: this runs in a signal handler.
struct Line {
    bytes: [u8; 512],
    used: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.used..];
        let fits = text.len().min(room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.used += fits;
        Ok(())
    }
}

fn report(fault: &Fault) {
    let Some(job) = existing() else { return };
    if !fault.address.is_some_and(|address| in_a_mirror(job, address)) {
        argument(job, fault);
    }
}

/// Explains a fault in the window of mirrors; false if it is elsewhere.
fn in_a_mirror(job: &Job, address: usize) -> bool {
    // A null pointer first: where it leads may lie past the end of the mirror before.
    let null = job.layout.unmirrored_null(address, job.npes).map(|pe| (pe, 0));
    let Some((pe, own)) = null.or_else(|| job.layout.unmirrored(address)) else { return false };
    let mut line = Line { bytes: [0; 512], used: 0 };
    let (data, heap) = (&job.layout.data, &job.layout.heap);
    let _ = write!(line, "oneshmem: PE {}: fault at {address:#x}: ", job.pe);
    let _ = if pe >= job.npes || !job.layout.contains(own) {
        writeln!(
            line,
            "address {own:#x} of this PE was used as a symmetric address of PE {pe}, or a copy ran \
             over an end; symmetric are the data segment {:#x}..{:#x} and the symmetric heap \
             {:#x}..{:#x} (memory from malloc is not)",
            data.start, data.end, heap.start, heap.end
        )
    } else {
        writeln!(
            line,
            "the copy of {own:#x} on PE {pe} cannot be reached: the PE is not attached, or its \
             memory is gone"
        )
    };
    signal::write_stderr(&line.bytes[..line.used]);
    true
}

/// Explains a fault at an address that a routine was given.
fn argument(job: &Job, fault: &Fault) {
    let null = fault.address.filter(|address| *address < NEVER_MAPPED);
    let own = program::object_at(argument as *const () as usize);
    let object = program::object_at(fault.instruction);
    let is_own = own.zip(object).is_some_and(|(own, object)| own.base == object.base);
    let name = object.and_then(|object| object.function).and_then(|name| name.to_str().ok());
    // The symbols are those of the profiling twins.
    let name = name.map(|name| name.strip_prefix('p').unwrap_or(name));
    let routine = name.filter(|name| is_own && name.starts_with("shmem"));

    let mut line = Line { bytes: [0; 512], used: 0 };
    let (argument, done) = if fault.writes { ("dest", "written") } else { ("source", "read") };
    let _ = write!(line, "oneshmem: PE {}: ", job.pe);
    let _ = match (routine, null) {
        // Linked into the program, the library cannot be told from it.
        (None, Some(address)) if program::contains(own) => writeln!(
            line,
            "fault at {address:#x}: a null pointer as {argument} of a routine, or in the program"
        ),
        (None, _) if !is_own || program::contains(own) => return,
        (_, Some(address)) => writeln!(
            line,
            "{}: fault at {address:#x}: {argument} is a null pointer",
            routine.unwrap_or(SOME_ROUTINE)
        ),
        (_, None) => {
            let _ = write!(line, "{}: ", routine.unwrap_or(SOME_ROUTINE));
            match fault.address {
                Some(address) => writeln!(
                    line,
                    "fault at {address:#x}: {argument}, or its end, cannot be {done}"
                ),
                None => writeln!(line, "a pointer that was given is no address"),
            }
        }
    };
    signal::write_stderr(&line.bytes[..line.used]);
}

const SOME_ROUTINE: &str = "a routine of the library";
/// Linux maps nothing below (`vm.mmap_min_addr`).
const NEVER_MAPPED: usize = 1 << 16;
