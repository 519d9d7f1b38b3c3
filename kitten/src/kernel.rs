//! Detects the kernel. The same executable runs on Kitten and on Linux, where it has to place the
//! slots itself.
#![allow(unsafe_code)]

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

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Detects the kernel. Accesses no memory that might be unmapped.
pub fn which() -> Kernel {
    // SAFETY: the name is a C string, and a call with flags that no kernel knows creates nothing.
    let file = unsafe { libc::memfd_create(c"".as_ptr(), libc::c_uint::MAX) };
    debug_assert!(file < 0);
    if last_error() != libc::ENOSYS {
        return Kernel::Linux;
    }
    // Kitten lacks this call, too, and returns the same error for any address. A Linux that forbids
    // memory files has the call.
    let own = &raw const PROBE as usize & !0xfff;
    let mut resident = 0u8;
    // SAFETY: the call queries one page, and writes its answer to the local variable.
    let known = unsafe { libc::mincore(own as *mut _, 1, &mut resident) };
    if known != 0 && last_error() == libc::ENOSYS { Kernel::Kitten } else { Kernel::Neither }
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
