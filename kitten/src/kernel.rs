//! Which kernel a program runs on: the same executable is to work on Kitten and, where it
//! has to place the slots itself, on Linux.
#![allow(unsafe_code)]

/// A kernel this library can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Kitten: the loader has set the slots up, and there are no memory files.
    Kitten,
    /// Linux: slots have to be placed.
    Linux,
    /// Something that has neither memory files nor SMARTMAP.
    Neither,
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Finds out. Touches no memory that might not be there.
pub fn which() -> Kernel {
    // SAFETY: the name is a C string, and flags no kernel knows make nothing.
    let file = unsafe { libc::memfd_create(c"".as_ptr(), libc::c_uint::MAX) };
    debug_assert!(file < 0);
    if last_error() != libc::ENOSYS {
        return Kernel::Linux;
    }
    // Kitten does not have this call either, and answers so for any address. A Linux that
    // was forbidden memory files has it.
    let own = &raw const PROBE as usize & !0xfff;
    let mut resident = 0u8;
    // SAFETY: one page is asked about, and the answer goes to the local.
    let known = unsafe { libc::mincore(own as *mut _, 1, &mut resident) };
    if known != 0 && last_error() == libc::ENOSYS { Kernel::Kitten } else { Kernel::Neither }
}

/// Something that certainly lies in memory of this process.
static PROBE: u8 = 0;

#[cfg(test)]
mod tests {
    #[test]
    fn tests_run_on_linux() {
        assert_eq!(super::which(), super::Kernel::Linux);
    }
}
