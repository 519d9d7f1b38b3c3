//! The Rust interface: typed and safe, on the same core as the C interface.

mod amo;
mod collectives;
mod context;
mod device;
mod flags;
mod memory;
mod nonblocking;
mod partition;
mod rma;
mod signal;
mod slice;
mod team;
mod team_context;
mod threads;
mod wait;

pub use crate::amo::{Integer, Word};
pub use crate::collectives::reduce::{And, Max, Min, Or, Prod, Sum, Xor};
pub use crate::collectives::{Element, ReduceOp};
pub use crate::memory::heap::Usage;
pub use crate::wait::Waitable;
pub use context::Context;
pub use device::{DeviceArray, DeviceSlice};
pub use flags::{ContextOptions, Hints, SessionOptions};
pub use memory::Symmetric;
pub use nonblocking::Nonblocking;
pub use oneshmem_job::error::{Called::Blocking, NoTeam, Result};
pub use oneshmem_job::partition::Kind;
pub use partition::Partition;
pub use rma::Blocks;
pub use signal::Signal;
pub use slice::{Part, SymmetricSlice};
pub use team::{Team, TeamConfig};
pub use team_context::TeamContext;
pub use threads::{Shareable, Shared, Threads};
pub use wait::{Comparison, Values};

use self::context::register;
use crate::collectives as core;
use crate::context::Default as DefaultContext;
use crate::query;
use crate::start::setup;
use crate::team::{TEAM_SHARED, TEAM_WORLD};
use std::ops::Deref;

/// How many threads of a PE call the library, and how (specification, section 9.2). In Rust only
/// [`Multiple`](Self::Multiple) lets a second thread in: the compiler cannot see threads take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum ThreadLevel {
    /// The program has one thread.
    Single = setup::THREAD_SINGLE,
    /// Only the thread that initialised the library calls it.
    Funneled = setup::THREAD_FUNNELED,
    /// Any thread may call, one at a time.
    Serialized = setup::THREAD_SERIALIZED,
    /// Any thread may call at any time.
    Multiple = setup::THREAD_MULTIPLE,
}

/// Makes this process a PE of its job. Does not wait for other PEs.
///
/// ```standalone_crate
/// fn main() -> oneshmem::Result<()> {
///     let shmem = oneshmem::init()?;
///     println!("PE {} of {}", shmem.my_pe(), shmem.n_pes());
///     shmem.finalize();
///     Ok(())
/// }
/// ```
///
/// # Errors
/// The launcher, the environment or the system keeps the process from being a PE; or another thread
/// than this has begun the lifetime, at a level below [`ThreadLevel::Multiple`].
pub fn init() -> Result<Shmem> {
    init_thread(ThreadLevel::Single)
}

/// As [`init`], for a program with threads. Provides every level. The first initialisation of a
/// lifetime fixes the level. [`Threads`] shows how other threads use the library.
///
/// ```standalone_crate
/// use oneshmem::ThreadLevel;
/// let shmem = oneshmem::init_thread(ThreadLevel::Multiple)?;
/// assert_eq!(shmem.query_thread(), ThreadLevel::Multiple);
/// # shmem.finalize();
/// # Ok::<(), oneshmem::Error>(())
/// ```
///
/// # Errors
/// As for [`init`].
pub fn init_thread(level: ThreadLevel) -> Result<Shmem> {
    setup::init_in_one_thread(&Blocking("oneshmem::init"), level as i32)?;
    Ok(Shmem::new())
}

/// Whether this process is a PE now: between the first [`init`] and the last
/// [`finalize`](Shmem::finalize). May be called at any time.
pub fn initialized() -> bool {
    setup::query_initialized()
}

/// The version of the specification that the library implements: major, minor.
pub const fn info_get_version() -> (u32, u32) {
    (1, 6)
}

/// The library's name and version.
pub const fn info_get_name() -> &'static str {
    concat!("oneshmem ", env!("CARGO_PKG_VERSION"))
}

/// This process as a PE, from [`init`] to [`finalize`](Self::finalize). It is also the default
/// [`Context`]: `shmem.put(..)` puts on that context.
///
/// ```standalone_crate
/// assert!(!oneshmem::initialized());
/// let shmem = oneshmem::init()?;
/// assert!(oneshmem::initialized());
/// println!("PE {} of {}", shmem.my_pe(), shmem.n_pes());
/// assert!(shmem.pe_accessible(0) && !shmem.pe_accessible(shmem.n_pes()));
/// shmem.finalize();
/// assert_eq!(oneshmem::info_get_version(), (1, 6));
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Debug)]
pub struct Shmem {
    default: Context<'static, DefaultContext>,
    world: Team<'static>,
    shared: Team<'static>,
}

impl Deref for Shmem {
    type Target = Context<'static, DefaultContext>;

    fn deref(&self) -> &Self::Target {
        &self.default
    }
}

impl Shmem {
    /// Requires an initialised library.
    const fn new() -> Self {
        Self {
            default: Context::new(DefaultContext),
            world: Team::new(TEAM_WORLD),
            shared: Team::new(TEAM_SHARED),
        }
    }

    /// This PE's number, 0 to [`n_pes`](Self::n_pes) - 1.
    pub fn my_pe(&self) -> usize {
        query::my_pe(&Blocking("my_pe")) as usize
    }

    /// The number of PEs.
    pub fn n_pes(&self) -> usize {
        query::n_pes(&Blocking("n_pes")) as usize
    }

    /// Whether PE `pe` exists.
    pub fn pe_accessible(&self, pe: usize) -> bool {
        query::pe_accessible(&Blocking("pe_accessible"), register(pe))
    }

    /// The thread level of this lifetime.
    pub fn query_thread(&self) -> ThreadLevel {
        match setup::query_thread() {
            setup::THREAD_SINGLE => ThreadLevel::Single,
            setup::THREAD_FUNNELED => ThreadLevel::Funneled,
            setup::THREAD_SERIALIZED => ThreadLevel::Serialized,
            _ => ThreadLevel::Multiple,
        }
    }

    /// Lets other threads use the library at [`ThreadLevel::Multiple`]. `None` at other levels.
    pub fn threads(&self) -> Option<Threads<'_>> {
        Threads::new(self)
    }

    /// The team of all PEs.
    pub fn world(&self) -> &Team<'_> {
        &self.world
    }

    /// The team of the PEs whose memory this PE can load and store: all PEs, on one node.
    pub fn shared(&self) -> &Team<'_> {
        &self.shared
    }

    /// Creates a context. `None` if no more can be created. Not collective.
    pub fn ctx_create(&self, options: ContextOptions) -> Option<TeamContext<'_>> {
        self.world.create_ctx(options)
    }

    /// Collective: completes all puts of all PEs, and waits until every PE has called it.
    pub fn barrier_all(&self) {
        core::barrier_all(&Blocking("barrier_all"));
    }

    /// Collective: waits until every PE has called it. Completes no communication.
    pub fn sync_all(&self) {
        core::sync_all(&Blocking("sync_all"));
    }

    /// Ends all PEs immediately with `status`, this one as [`std::process::exit`] does: handlers of `atexit` run.
    pub fn global_exit(&self, status: i32) -> ! {
        setup::global_exit(&Blocking("global_exit"), status)
    }

    /// Collective: completes all communication and ends the lifetime. Nothing that borrows from this
    /// can be used any more; what has not been freed or destroyed is gone.
    pub fn finalize(self) {
        setup::finalize(&Blocking("finalize"), self.unused());
    }
}

#[cfg(test)]
mod tests;
