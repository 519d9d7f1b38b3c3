//! OpenSHMEM for Rust programs: the same core as the C interface, at the same
//! speed, safe to use.
//!
//! ```standalone_crate
//! let shmem = oneshmem::init()?;
//! let (me, npes) = (shmem.my_pe(), shmem.n_pes());
//!
//! // Symmetric memory: the same object on every PE, allocated by all together.
//! let inbox = shmem.alloc::<u64>(npes).expect("the symmetric heap is large enough");
//! for pe in 0..npes {
//!     shmem.put(inbox.at(me), &[me as u64 * 100], pe);
//! }
//! shmem.barrier_all();
//! assert_eq!(inbox.all().to_vec(), (0..npes as u64).map(|pe| pe * 100).collect::<Vec<_>>());
//!
//! shmem.free(inbox);
//! shmem.finalize();
//! # Ok::<(), oneshmem::error::Error>(())
//! ```
//!
//! Compiled with cargo, a program runs as `oshrun -n 4 target/release/program`.
//!
//! What makes it safe: symmetric memory holds only types for which any bits are a
//! value ([`Element`]), and is reached by copies, never by references; so a peer
//! that writes at the wrong time spoils values, not the program. What cannot be
//! carried out (a PE that does not exist, say) ends the job with a message, as in C;
//! an index out of bounds panics, as in Rust.
//!
//! Collective calls, [`Shmem::alloc`] and [`Shmem::free`] among them, are made by
//! all PEs in the same order. Nothing is collective by being dropped: memory that is
//! not freed stays allocated until [`Shmem::finalize`], and a program that ends
//! without it is reported by the launcher.
//!
//! Specification, sections in brackets: setup [9.2], memory [9.3], teams [9.4],
//! contexts [9.5], RMA [9.6], atomics [9.7], signals [9.8], collectives [9.9],
//! point-to-point synchronization [9.10], locks [9.12].

mod memory;
mod operations;
mod team;

pub use crate::amo::{Integer, Word};
pub use crate::collectives::reduce::{And, Max, Min, Or, Prod, Sum, Xor};
pub use crate::collectives::{Element, ReduceOp};
pub use crate::wait::Waitable;
pub use memory::{Part, Symmetric};
pub use operations::{Comparison, Context, Signal};
pub use team::{Team, TeamContext};

use crate::context;
use crate::error::Error;
use crate::job::session;
use crate::{collectives, order};
use std::marker::PhantomData;
use std::ops::Deref;

/// How many threads of a PE call OpenSHMEM, and how (specification, section 9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum ThreadLevel {
    /// The program has one thread.
    Single = session::THREAD_SINGLE,
    /// Only the thread that initialised calls.
    Funneled = session::THREAD_FUNNELED,
    /// Any thread calls, one at a time.
    Serialized = session::THREAD_SERIALIZED,
    /// Any thread calls at any time.
    Multiple = session::THREAD_MULTIPLE,
}

/// Makes this process a PE of its job. Waits for nobody.
///
/// # Errors
/// Why the process cannot be one: the launcher, the environment or the system.
pub fn init() -> Result<Shmem, Error> {
    init_thread(ThreadLevel::Single)
}

/// As [`init`], for a program with threads.
///
/// # Errors
/// As for [`init`].
pub fn init_thread(level: ThreadLevel) -> Result<Shmem, Error> {
    session::init_thread(&"oneshmem::init", level as i32)?;
    Ok(Shmem { default: Context::new(context::Default) })
}

/// This process as a PE, from [`init`] to [`finalize`](Self::finalize). It is also
/// the default [`Context`]: `shmem.put(..)` is a put on it.
#[derive(Debug)]
pub struct Shmem {
    default: Context<'static, context::Default>,
}

impl Deref for Shmem {
    type Target = Context<'static, context::Default>;

    fn deref(&self) -> &Self::Target {
        &self.default
    }
}

impl Shmem {
    /// This PE's number, 0 to [`n_pes`](Self::n_pes) - 1.
    pub fn my_pe(&self) -> usize {
        session::my_pe(&"my_pe") as usize
    }

    /// Number of PEs.
    pub fn n_pes(&self) -> usize {
        session::n_pes(&"n_pes") as usize
    }

    /// The team of all PEs.
    pub fn world(&self) -> Team<'_> {
        Team::world(PhantomData)
    }

    /// Collective: allocates `len` elements on every PE, all zero. `None`, on all
    /// PEs, if the symmetric heap has no room (`SHMEM_SYMMETRIC_SIZE` sets its size).
    pub fn alloc<T: Element>(&self, len: usize) -> Option<Symmetric<T>> {
        Symmetric::alloc(len)
    }

    /// Collective: frees what [`alloc`](Self::alloc) gave, on every PE.
    pub fn free<T: Element>(&self, memory: Symmetric<T>) {
        memory.free();
    }

    /// Collective: waits until all PEs have come here and what they have put is where it
    /// belongs.
    pub fn barrier_all(&self) {
        collectives::barrier_all(&"barrier_all");
    }

    /// Orders: what was put before arrives before what is put after.
    pub fn fence(&self) {
        order::fence();
    }

    /// Completes: what was put before is visible to all PEs.
    pub fn quiet(&self) {
        order::quiet(&"quiet");
    }

    /// Ends all PEs at once with `status`.
    pub fn global_exit(&self, status: i32) -> ! {
        session::global_exit(&"global_exit", status)
    }

    /// Collective: completes all communication and ends the session.
    pub fn finalize(self) {
        session::finalize(&"finalize");
    }
}
