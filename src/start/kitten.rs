//! A job on the Kitten kernel: the loader has mapped all ranks for each other, and the control area
//! is a static object of rank 0, which the others access through their alias of rank 0.
#![allow(unsafe_code)]

use super::place::Membership;
use crate::pe::launcher::Launcher;
use oneshmem_job::error::Error;
use oneshmem_job::jobfile::JobFile;
use oneshmem_kitten::addressing::{SLOT_BYTES, alias};
use oneshmem_kitten::kernel::{self, Kernel};
use oneshmem_kitten::place;
use std::cell::UnsafeCell;
use std::ptr::NonNull;

/// Room for 700 teams of 4 PEs, or 11 of 254. Under Linux it stays untouched and costs no memory.
const BYTES: usize = 8 << 20;

#[repr(C, align(4096))]
struct Area(UnsafeCell<[u8; BYTES]>);

// SAFETY: only `JobFile` and `Control` access it, and only as atomics.
unsafe impl Sync for Area {}

static AREA: Area = Area(UnsafeCell::new([0; BYTES]));

/// This rank's place, if the kernel is Kitten.
pub(super) fn join() -> Result<Option<Membership>, Error> {
    let bad = |why: String| Error::Launcher { launcher: Launcher::Kitten.name(), why };
    match kernel::which() {
        Kernel::Linux => return Ok(None),
        Kernel::Neither => {
            return Err(bad("the kernel offers neither memory files nor SMARTMAP".into()));
        }
        Kernel::Kitten => {}
    }
    let own = AREA.0.get() as usize;
    if own >= SLOT_BYTES {
        return Err(bad(format!(
            "the program lies at {own:#x}, beyond the {SLOT_BYTES:#x} bytes of a slot; link it \
             with -static -no-pie"
        )));
    }
    let place = place::find().map_err(|error| bad(error.to_string()))?;
    let base = NonNull::new(alias(own, 0) as *mut u8).ok_or_else(|| bad("null".into()))?;
    // SAFETY: a static of rank 0, at the same address in all ranks because all run one executable
    // at fixed addresses. The loader mapped it before any rank ran, and nothing else uses it.
    let job = unsafe { JobFile::over(base, BYTES, place.size) }?;
    Ok(Some(Membership { launcher: Launcher::Kitten, pe: place.rank, job, exchange: None }))
}
