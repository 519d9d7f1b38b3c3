//! Whether this is still the process that made a value, or a forked child of it. Needs no system
//! call each time: a special page is zeroed in every child.
#![allow(unsafe_code)]

use crate::atomics::{AtomicU32, Ordering};
use crate::sys::map::{self, OwnMapping};
use crate::sys::process;

/// The process that made this value.
#[derive(Debug)]
pub struct Origin {
    pid: u32,
    /// A page that starts with a 1 here and with zeros in forked children. `None`: the system has no
    /// such pages (Linux has them since 4.14).
    page: Option<OwnMapping>,
}

impl Origin {
    /// This process.
    pub fn here() -> Self {
        let page = OwnMapping::private(map::page_size()).ok().filter(OwnMapping::wipe_on_fork);
        page.iter().for_each(|page| word(page).store(1, Ordering::Relaxed));
        Self { pid: process::pid(), page }
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether this process made the value.
    #[inline(always)]
    pub fn is_here(&self) -> bool {
        match &self.page {
            None => process::pid() == self.pid,
            Some(page) => word(page).load(Ordering::Relaxed) == 1,
        }
    }
}

/// The first word of a page.
#[inline(always)]
fn word(page: &OwnMapping) -> &AtomicU32 {
    // SAFETY: aligned, readable and writable, and mapped while `page` is borrowed. It is reached as an
    // atomic only, and any bytes are one.
    unsafe { &*(page.range().start as *const AtomicU32) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::{ForkResult, fork};

    #[test]
    fn a_forked_child_is_another_process() {
        let origin = Origin::here();
        assert!(origin.is_here() && origin.pid() == process::pid());
        // SAFETY: the child only reads memory and ends.
        match unsafe { fork() }.expect("a child") {
            ForkResult::Child => process::exit_now(origin.is_here().into()),
            ForkResult::Parent { child } => {
                assert_eq!(waitpid(child, None), Ok(WaitStatus::Exited(child, 0)));
            }
        }
        assert!(origin.is_here());
    }
}
