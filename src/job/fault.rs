//! A fault inside the window of mirrors is explained before it takes its course.

use super::existing;
use crate::sys::signal;
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

fn report(address: usize) {
    let Some(job) = existing() else { return };
    // A null pointer first: where it leads may lie past the end of the mirror before.
    let null = job.layout.unmirrored_null(address, job.npes).map(|pe| (pe, 0));
    let Some((pe, own)) = null.or_else(|| job.layout.unmirrored(address)) else { return };
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
}
