//! Detects the kernel. The same executable runs on Kitten and on Linux, where it has to place the
//! slots itself.
#![allow(unsafe_code)]

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};

/// A kernel this library can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Kitten: the loader has set up the slots, and there are no memory files.
    Kitten,
    /// Linux: the process has to place the slots.
    Linux,
    /// A system with neither memory files nor SMARTMAP.
    Neither,
}

/// Detects the kernel. Accesses no memory that might be unmapped.
pub fn which() -> Kernel {
    // With flags that no kernel knows it creates nothing.
    let file = memfd_create(c"", MFdFlags::from_bits_retain(libc::c_uint::MAX));
    debug_assert!(file.is_err());
    if !matches!(file, Err(Errno::ENOSYS)) {
        return Kernel::Linux;
    }
    // Kitten lacks this call, too, and returns the same error for any address. A Linux that forbids
    // memory files has the call.
    let own = &raw const PROBE as usize & !0xfff;
    let mut resident = 0u8;
    // SAFETY: the call queries one page, and writes its answer to the local variable.
    let known = unsafe { libc::mincore(own as *mut _, 1, &mut resident) };
    if known != 0 && Errno::last() == Errno::ENOSYS { Kernel::Kitten } else { Kernel::Neither }
}

/// A variable that certainly lies in this process's memory.
static PROBE: u8 = 0;

#[cfg(test)]
mod tests {
    #[test]
    fn tests_run_on_linux() {
        assert_eq!(super::which(), super::Kernel::Linux);
    }
}
