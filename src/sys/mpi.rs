//! An MPI that the same process uses. Most MPIs send and receive only while the process calls them. So a PE
//! that waits in this library would keep back a message that another PE waits for in MPI, which may be the one
//! that is to end the wait: two progress engines in one process, a deadlock.
//!
//! Long waits therefore call MPI's `MPI_Iprobe`, which makes progress, where MPI is initialised and its thread
//! level lets this thread call. It asks for a message that hardly any program sends, with the highest tag that
//! every MPI has: asked for any message, MPI returns at the first that it has received, without progress. It
//! asks on `MPI_COMM_WORLD`: MPICH makes no progress for a question on `MPI_COMM_SELF`. Handles and constants
//! depend on the MPI: one that is neither Open MPI nor of MPICH's family is left alone.
#![allow(unsafe_code)]

use nix::unistd::{Pid, getpid, gettid};
use onenode_core::sys::{mutex, program};
use oneshmem_job::sys::library::{is_defined, symbol, typed};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, TryLockError};

/// The MPI that this process has loaded, if it is one that is known.
static MPI: OnceLock<Mpi> = OnceLock::new();

/// Held while a thread calls MPI.
static CALLS: Mutex<Option<Calls>> = Mutex::new(None);

/// Who may call MPI, which then has told that it will tell its end.
struct Calls {
    /// The thread that initialised MPI, and finalizes it.
    main: Pid,
    are_of_main_only: bool,
    /// The number of processes in `MPI_COMM_WORLD`.
    processes: c_int,
    /// Whether MPI has told that it is about to be finalized.
    are_over: bool,
}

/// Calls that ask for a number.
type Ask = extern "C" fn(answer: &mut c_int) -> c_int;
/// Calls on a communicator, whose handle is a `C`.
type Probe<C> = extern "C" fn(c_int, c_int, C, &mut c_int, &mut Status) -> c_int;
type CommSize<C> = extern "C" fn(C, &mut c_int) -> c_int;
type SetAttribute<C> = extern "C" fn(C, c_int, Option<NonNull<c_void>>) -> c_int;

struct Mpi {
    initialized: Ask,
    finalized: Ask,
    query_thread: Ask,
    is_thread_main: Ask,
    create_keyval: extern "C" fn(Copied, Deleted, &mut c_int, Option<NonNull<c_void>>) -> c_int,
    communicators: Communicators,
}

/// Communicators, and the calls on them.
enum Communicators {
    OfMpich(CommunicatorFunctions<c_int>),
    OfOpenMpi(CommunicatorFunctions<Handle>),
}

/// The functions that take a communicator; its handle is a `C`.
struct CommunicatorFunctions<C> {
    /// `MPI_COMM_WORLD`.
    world: C,
    /// `MPI_COMM_SELF`.
    own: C,
    /// `MPI_ANY_SOURCE`.
    any_source: c_int,
    probe: Probe<C>,
    size: CommSize<C>,
    set_attribute: SetAttribute<C>,
}

/// The address of an object of Open MPI.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Handle(NonNull<c_void>);

// SAFETY: an address that is only passed on to MPI.
unsafe impl Send for Handle {}
// SAFETY: a shared value has nothing to change.
unsafe impl Sync for Handle {}

/// Room for an `MPI_Status`, which takes 20 to 24 bytes in the known MPIs.
type Status = [u64; 16];

/// Callbacks of an attribute. The communicator is a number or an address: it is passed in one register
/// either way, and not looked at.
type Copied = extern "C" fn(usize, c_int, usize, usize, usize, &mut c_int) -> c_int;
type Deleted = extern "C" fn(usize, c_int, usize, usize) -> c_int;

/// A tag that every MPI has, and hardly any program uses.
const TAG: c_int = 32767;

// Levels of threads: the same numbers in all MPIs.
const FUNNELED: c_int = 1;
const MULTIPLE: c_int = 3;

/// Looks for an MPI among what this process has loaded so far, and asks it to tell its end if it is initialised.
pub fn find() {
    if !program::is_static() && MPI.get().is_none() && is_defined(c"PMPI_Iprobe") {
        if let Some(mpi) = Mpi::of_process() {
            let mpi = MPI.get_or_init(|| mpi);
            *mutex::lock(&CALLS) = mpi.begin_calls();
        }
    }
}

/// How many processes `MPI_COMM_WORLD` has, if MPI was found initialised, by its main thread.
pub fn processes() -> Option<c_int> {
    mutex::lock(&CALLS).as_ref().map(|calls| calls.processes)
}

/// Whether there is an MPI to be driven.
#[inline]
pub fn is_there() -> bool {
    MPI.get().is_some()
}

/// Lets MPI make progress, if it is there, initialised and not finalized, and if this thread may call it. Does
/// nothing while another thread does the same, nor in a callback of MPI.
#[cold]
pub fn drive() {
    let Some(mpi) = MPI.get() else { return };
    let mut calls = match CALLS.try_lock() {
        Ok(calls) => calls,
        Err(TryLockError::Poisoned(calls)) => calls.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    // Initialised after this library: its main thread may be finalizing it while another one asks here.
    if calls.is_none() && gettid() == getpid() {
        *calls = mpi.begin_calls();
    }
    let may_call =
        |calls: &Calls| !calls.are_over && (!calls.are_of_main_only || calls.main == gettid());
    if calls.as_ref().is_some_and(may_call) {
        mpi.communicators.probe();
    }
}

fn answer(ask: Ask) -> c_int {
    let mut answer = 0;
    ask(&mut answer);
    answer
}

impl Mpi {
    fn of_process() -> Option<Self> {
        let communicators = Communicators::of_process()?;
        // SAFETY: the functions are declared as in the MPI standard (MPI 4.1, sections 7.7 and 11). They write
        // the number that they are given a place for; the last one keeps the callbacks, which stay.
        unsafe {
            Some(Self {
                initialized: typed(symbol(c"PMPI_Initialized")?),
                finalized: typed(symbol(c"PMPI_Finalized")?),
                query_thread: typed(symbol(c"PMPI_Query_thread")?),
                is_thread_main: typed(symbol(c"PMPI_Is_thread_main")?),
                create_keyval: typed(symbol(c"PMPI_Comm_create_keyval")?),
                communicators,
            })
        }
    }

    /// Who may call MPI from now on, if it is initialised, this is its main thread, and it tells its end: it then
    /// deletes the attributes of `MPI_COMM_SELF` before anything else (MPI 4.1, section 11.2.4). Only the main
    /// thread finalizes MPI, so it does not while this asks.
    fn begin_calls(&self) -> Option<Calls> {
        if answer(self.initialized) == 0
            || answer(self.finalized) != 0
            || answer(self.is_thread_main) == 0
        {
            return None;
        }
        let are_of_main_only = match answer(self.query_thread) {
            ..=FUNNELED => true,
            // MPICH takes no locks any more from the beginning of its end, before it tells of it: a call of
            // another thread would leave a lock taken.
            MULTIPLE => matches!(self.communicators, Communicators::OfMpich(_)),
            // At `MPI_THREAD_SERIALIZED`, another thread may be calling.
            _ => return None,
        };
        let mut key = 0;
        let tells = (self.create_keyval)(not_copied, about_to_end, &mut key, None) == 0
            && self.communicators.set_own_attribute(key) == 0;
        let processes = self.communicators.size_of_world();
        tells.then(|| Calls { main: gettid(), are_of_main_only, processes, are_over: false })
    }
}

extern "C" fn not_copied(
    _: usize,
    _: c_int,
    _: usize,
    _: usize,
    _: usize,
    is_copied: &mut c_int,
) -> c_int {
    *is_copied = 0;
    0
}

/// No thread calls MPI any more when this returns.
extern "C" fn about_to_end(_: usize, _: c_int, _: usize, _: usize) -> c_int {
    if let Some(calls) = mutex::lock(&CALLS).as_mut() {
        calls.are_over = true;
    }
    0
}

impl Communicators {
    fn of_process() -> Option<Self> {
        let (world, own) = (symbol(c"ompi_mpi_comm_world"), symbol(c"ompi_mpi_comm_self"));
        // SAFETY: the handles are of the type that the MPI has: Open MPI's `mpi.h` defines them as the addresses
        // of these objects, that of MPICH's family as these numbers.
        unsafe {
            if let (Some(world), Some(own)) = (world, own) {
                return Some(Self::OfOpenMpi(CommunicatorFunctions::of_process(
                    Handle(world),
                    Handle(own),
                    -1,
                )?));
            }
            match is_of_mpich()? {
                true => Some(Self::OfMpich(CommunicatorFunctions::of_process(
                    0x4400_0000,
                    0x4400_0001,
                    -2,
                )?)),
                false => None,
            }
        }
    }

    fn probe(&self) {
        match self {
            Self::OfMpich(on) => on.probe(),
            Self::OfOpenMpi(on) => on.probe(),
        }
    }

    fn size_of_world(&self) -> c_int {
        match self {
            Self::OfMpich(on) => on.size_of_world(),
            Self::OfOpenMpi(on) => on.size_of_world(),
        }
    }

    /// Gives `MPI_COMM_SELF` an attribute of no value. Returns MPI's error code.
    fn set_own_attribute(&self, key: c_int) -> c_int {
        match self {
            Self::OfMpich(on) => (on.set_attribute)(on.own, key, None),
            Self::OfOpenMpi(on) => (on.set_attribute)(on.own, key, None),
        }
    }
}

impl<C: Copy> CommunicatorFunctions<C> {
    /// # Safety
    /// `C` is the type of a communicator's handle in this process's MPI, and these are two of them.
    unsafe fn of_process(world: C, own: C, any_source: c_int) -> Option<Self> {
        // SAFETY: declared as in the MPI standard (MPI 4.1, sections 3.8.1, 7.4.1 and 7.7.2) and, the caller says,
        // this MPI. A probe writes an int and a status, for which there is more room than any has.
        let (probe, size, set_attribute) = unsafe {
            (
                typed(symbol(c"PMPI_Iprobe")?),
                typed(symbol(c"PMPI_Comm_size")?),
                typed(symbol(c"PMPI_Comm_set_attr")?),
            )
        };
        Some(Self { world, own, any_source, probe, size, set_attribute })
    }

    fn size_of_world(&self) -> c_int {
        let mut size = 0;
        (self.size)(self.world, &mut size);
        size
    }

    fn probe(&self) {
        let (mut is_there, mut status) = (0, Status::default());
        // If it fails, MPI's error handler has said so.
        (self.probe)(self.any_source, TAG, self.world, &mut is_there, &mut status);
    }
}

/// Whether the MPI of this process has the binary interface that MPICH, Intel's, Cray's and MVAPICH share, and
/// not the later one of the MPI standard.
fn is_of_mpich() -> Option<bool> {
    /// `MPI_MAX_LIBRARY_VERSION_STRING` is 8192 in MPICH, less in others.
    const ROOM: usize = 1 << 14;
    const FAMILY: [&str; 3] = ["MPICH", "MVAPICH", "Intel(R) MPI"];
    type Describe = extern "C" fn(&mut [u8; ROOM], &mut c_int) -> c_int;
    type Version = extern "C" fn(&mut c_int, &mut c_int) -> c_int;
    // SAFETY: declared as in the MPI standard. The one (MPI 4.1, section 9.1.1) writes a C string of at most
    // `MPI_MAX_LIBRARY_VERSION_STRING` bytes, and its length, the other (MPI 5.0, chapter 20) two numbers. They
    // may be called before MPI is initialised.
    let (describe, version): (Describe, Option<Version>) = unsafe {
        let version = symbol(c"PMPI_Abi_get_version").map(|it| typed(it));
        (typed(symbol(c"PMPI_Get_library_version")?), version)
    };
    let (mut text, mut length) = ([0; ROOM], 0);
    describe(&mut text, &mut length);
    let text = CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy();
    let is_standard = version.is_some_and(|version| {
        let (mut major, mut minor) = (-1, -1);
        version(&mut major, &mut minor);
        major >= 0
    });
    Some(!is_standard && FAMILY.iter().any(|name| text.contains(name)))
}
