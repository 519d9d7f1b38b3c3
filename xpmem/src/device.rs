//! The process's only connection to the module.
#![allow(unsafe_code)]

use crate::Error;
use crate::bindings::{
    XPMEM_CMD_ATTACH, XPMEM_CMD_DETACH, XPMEM_CMD_GET, XPMEM_CMD_MAKE, XPMEM_CMD_RELEASE,
    XPMEM_CMD_REMOVE, XPMEM_CMD_VERSION, xpmem_cmd_attach, xpmem_cmd_detach, xpmem_cmd_get,
    xpmem_cmd_make, xpmem_cmd_release, xpmem_cmd_remove, xpmem_command,
};
use nix::sys::signal::{SigSet, SigmaskHow};
use static_assertions::{const_assert, const_assert_eq};
use std::fs::File;
use std::io::ErrorKind;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::{Mutex, OnceLock};

const_assert_eq!(size_of::<xpmem_cmd_make>(), 40);
const_assert_eq!(offset_of!(xpmem_cmd_make, permit_type), 16);
const_assert_eq!(offset_of!(xpmem_cmd_make, permit_value), 24);
const_assert_eq!(offset_of!(xpmem_cmd_make, segid), 32);
const_assert_eq!(size_of::<xpmem_cmd_get>(), 32);
const_assert_eq!(offset_of!(xpmem_cmd_get, flags), 8);
const_assert_eq!(offset_of!(xpmem_cmd_get, permit_type), 12);
const_assert_eq!(offset_of!(xpmem_cmd_get, apid), 24);
const_assert_eq!(size_of::<xpmem_cmd_attach>(), 40);
const_assert_eq!(offset_of!(xpmem_cmd_attach, vaddr), 24);
const_assert_eq!(offset_of!(xpmem_cmd_attach, fd), 32);
const_assert_eq!(offset_of!(xpmem_cmd_attach, flags), 36);
const_assert_eq!(size_of::<xpmem_cmd_remove>(), 8);
const_assert_eq!(size_of::<xpmem_cmd_release>(), 8);
const_assert_eq!(size_of::<xpmem_cmd_detach>(), 8);
const_assert!(XPMEM_CMD_VERSION == 0x7800);

/// The module's error in a process that was forked from one using it.
const EFORKED: i32 = 2004;

/// The connection. A process has at most one, and never closes it: when any descriptor of the
/// device is closed, the module destroys everything the process has.
#[derive(Debug)]
pub struct Device {
    file: File,
    /// The device number of the descriptor's file, since a program can close the descriptor and
    /// reuse its number.
    node: Option<u64>,
    version: u32,
}

static DEVICE: OnceLock<Device> = OnceLock::new();
static OPENING: Mutex<()> = Mutex::new(());

impl Device {
    /// The process's connection, opened on first use.
    ///
    /// # Errors
    /// The reason that the module cannot be used.
    pub fn get() -> Result<&'static Self, Error> {
        let _opening = OPENING.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(device) = DEVICE.get() {
            return Ok(device);
        }
        let file = open()?;
        let mut device = Self { node: node(&file), file, version: 0 };
        let version = device.command(XPMEM_CMD_VERSION, "asking for the version", &mut ())?;
        // Closing the descriptor again does no harm yet: there is no state.
        device.version = version as u32;
        if !(0x26000..0x28000).contains(&device.version) {
            return Err(Error::Version(device.version));
        }
        Ok(DEVICE.get_or_init(|| device))
    }

    /// The module's version, 0xMMmmm: 2.7.4 is 0x27004.
    pub fn version(&self) -> u32 {
        self.version
    }

    pub(crate) fn make(&self, record: &mut xpmem_cmd_make) -> Result<(), Error> {
        self.command(XPMEM_CMD_MAKE, "xpmem_make", record).map(drop)
    }
    pub(crate) fn remove(&self, segid: i64) -> Result<(), Error> {
        self.command(XPMEM_CMD_REMOVE, "xpmem_remove", &mut xpmem_cmd_remove { segid }).map(drop)
    }
    pub(crate) fn get_access(&self, record: &mut xpmem_cmd_get) -> Result<(), Error> {
        self.command(XPMEM_CMD_GET, "xpmem_get", record).map(drop)
    }
    pub(crate) fn release(&self, apid: i64) -> Result<(), Error> {
        self.command(XPMEM_CMD_RELEASE, "xpmem_release", &mut xpmem_cmd_release { apid }).map(drop)
    }
    pub(crate) fn attach(&self, record: &mut xpmem_cmd_attach) -> Result<(), Error> {
        self.command(XPMEM_CMD_ATTACH, "xpmem_attach", record).map(drop)
    }
    pub(crate) fn detach(&self, vaddr: u64) -> Result<(), Error> {
        self.command(XPMEM_CMD_DETACH, "xpmem_detach", &mut xpmem_cmd_detach { vaddr }).map(drop)
    }

    fn command<T>(
        &self,
        command: xpmem_command,
        call: &'static str,
        record: &mut T,
    ) -> Result<i32, Error> {
        // If another file has the number now, it belongs to the program and must not be touched.
        if node(&self.file) != self.node {
            return Err(Error::Closed(call));
        }
        // SAFETY: the record has the type and size that the command takes (asserted above), and is
        // live and writable for the call.
        let answer = unsafe {
            libc::ioctl(self.file.as_raw_fd(), command.into(), std::ptr::from_mut(record))
        };
        if answer >= 0 {
            return Ok(answer);
        }
        let source = std::io::Error::last_os_error();
        Err(match source.raw_os_error() {
            Some(EFORKED) => Error::Forked,
            Some(libc::ENOENT) => Error::Gone(call),
            _ => Error::Call { call, source },
        })
    }
}

/// A file's device number; `None` if no file is open at its descriptor.
fn node(file: &File) -> Option<u64> {
    file.metadata().ok().map(|file| file.rdev())
}

/// Opens the device. From here on the module watches the process's address space. The kernel
/// refuses that while a signal is pending, and the module then reports a bad address.
fn open() -> Result<File, Error> {
    without_signals(|| {
        File::options().read(true).write(true).custom_flags(libc::O_CLOEXEC).open("/dev/xpmem")
    })
    .map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoDevice,
        ErrorKind::PermissionDenied => Error::Permission,
        _ => Error::Call { call: "opening /dev/xpmem", source },
    })
}

/// Blocks all signals in this thread during the call.
fn without_signals<R>(call: impl FnOnce() -> R) -> R {
    // Neither fails: both set a whole mask.
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK);
    let result = call();
    let _ = before.and_then(|before| before.thread_set_mask());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose descriptor now belongs to another file.
    #[test]
    fn a_closed_descriptor_is_told() {
        let file = File::options().read(true).write(true).open("/dev/null").expect("opened");
        let other = File::open("/dev/zero").expect("opened");
        let device = Device { node: node(&other), file, version: 0x27004 };
        let error = device.release(1).expect_err("not the module");
        assert!(matches!(error, Error::Closed("xpmem_release")), "{error}");
        let device = Device { node: node(&device.file), ..device };
        assert!(matches!(device.release(1), Err(Error::Call { .. })));
    }
}
