//! XPMEM: a process exports a range of its address space, and other processes map it into theirs.
//! This crate uses `/dev/xpmem` directly and needs no library.
//!
//! * [`bindings`]: the kernel interface, generated from `abi/xpmem_abi.h`.
//! * [`Device`]: the process's only connection; [`Segment`]: an export of its own memory;
//!   [`Permit`]: access to another process's segment; [`Attachment`]: a part of such a segment,
//!   mapped here.
//!
//! Each holds what it depends on, so that they are released in the order the module needs:
//! attachments, permits, segments, device.
//!
//! The module has traps, which this crate guards against:
//!
//! * Closing any descriptor of `/dev/xpmem` destroys all XPMEM state of the process: the device is
//!   opened once, with `O_CLOEXEC`, and never closed.
//! * Attaching silently replaces ordinary mappings: only [`Permit::attach`] does so, and its caller
//!   promises that the range is a reservation.
//! * Detaching leaves a hole that any later `mmap` could take: [`Attachment`] puts the reservation
//!   back.
//! * `munmap`, `mremap` or `mprotect` inside an attachment kill the process or the machine: the
//!   address range is private to [`Attachment`], and nothing here makes such a call.
//! * In a forked child the kernel answers with errno 2004 until the device is opened again:
//!   reported as [`Error::Forked`].

#[allow(missing_docs, non_camel_case_types, dead_code, clippy::pub_underscore_fields)]
pub mod bindings;
mod device;
mod segment;

pub use device::Device;
pub use segment::{Attachment, Permit, Segment, SegmentId};

/// Why a call to the module failed.
#[derive(thiserror::Error)]
pub enum Error {
    /// The device does not exist: the module is not loaded.
    #[error("/dev/xpmem does not exist: the xpmem module is not loaded")]
    NoDevice,
    /// The process has no permission to open the device.
    #[error("/dev/xpmem cannot be opened: permission denied (udev gives it mode 0666 by default)")]
    Permission,
    /// This crate does not know the module's version.
    #[error("the xpmem module has version {0:#x}; expected 2.6 or 2.7 (0x26000 to 0x27fff)")]
    Version(u32),
    /// The program has closed the descriptor of the device.
    #[error(
        "{0}: this program has closed a descriptor of /dev/xpmem that is not its own; \
         that withdraws all its memory"
    )]
    Closed(&'static str),
    /// The module has no state for this process: it is a forked child, or has closed a copy of the
    /// device's descriptor.
    #[error(
        "this process has no access to xpmem of its own: it was forked from one that has, or has \
         closed a descriptor of /dev/xpmem"
    )]
    Forked,
    /// The exporting process or its segment is gone.
    #[error(
        "{0}: the exporting process has ended, closed a descriptor of /dev/xpmem, or withdrawn its \
         segment"
    )]
    Gone(&'static str),
    /// Another failure.
    #[error("{call} failed: {source}")]
    Call {
        /// The call.
        call: &'static str,
        /// The operating system's reason.
        source: std::io::Error,
    },
}

/// The sentence: a `main` that returns an error prints it in this form.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
