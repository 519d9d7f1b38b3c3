//! One after the other: each member takes its predecessor's sums and adds its own
//! summands. `size - 1` rounds; each member moves the bytes three times, and once or
//! twice more if the scan is exclusive.
#![allow(unsafe_code)]

use super::Scan;
use crate::collectives::group::{Buffer, Group, Outcome};
use crate::collectives::scratch::Scratch;

/// A member that has its sums has read its predecessor's.
const SUMMED: usize = 1;

/// # Safety
/// As [`super::direct::run`].
pub unsafe fn run<G: Group>(group: &G, call: Scan) -> Outcome<G> {
    let (me, bytes) = (group.index(), call.bytes());
    group.steps(SUMMED, |steps| {
        let [sums, own, before] = [(); 3].map(|()| Scratch::new(bytes));
        // SAFETY: scratch memory is private and long enough; the predecessor waits for
        // this PE before it writes its sums again, and this PE for its successor.
        unsafe {
            group.copy(call.source, own.start(), bytes);
            let sums = if me == 0 {
                std::ptr::write_bytes(before.start(), 0, bytes);
                own.start()
            } else {
                steps.await_member(SUMMED, me - 1)?;
                group.copy(group.of(Buffer::Dest, call.dest, me - 1)?, sums.start(), bytes);
                if !call.inclusive {
                    group.copy(sums.start(), before.start(), bytes);
                }
                call.kernel.combine(sums.start(), sums.start(), own.start(), call.n);
                sums.start()
            };
            group.copy(sums, call.dest, bytes);
            steps.announce(SUMMED);
            steps.await_each(SUMMED, (me + 1..group.size()).take(1))?;
            if !call.inclusive {
                group.copy(before.start(), call.dest, bytes);
            }
        }
        Ok(())
    })
}
