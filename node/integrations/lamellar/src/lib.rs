//! The shared memory that a lamellae of [lamellar](https://github.com/pnnl/lamellar-runtime) needs,
//! over the crate `onenode`: memory that some or all PEs allocate together, its addresses at each
//! of them, copies, and a barrier. Nothing here depends on lamellar; `onenode_comm.rs` beside this
//! crate connects the two.
//!
//! ```text
//!  alloc by PEs 0, 2:  one region under one key at each of them, one view of it
//!  at(2, own)          own address -> where PE 2's counterpart is mapped here
//!  theirs(2, own)      own address -> the same byte as PE 2 knows it
//!  own(2, theirs)      the way back
//! ```
#![allow(unsafe_code)]

mod region;

use onenode::{Config, Error, Node, Pages};
use region::{Regions, key_of};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// The maximum number of regions of a PE at a time.
const REGIONS: u32 = 1 << 16;
/// How long [`Shared::join`] waits for the other PEs.
const PATIENCE: Duration = Duration::from_secs(60);

/// This PE within its job. All PEs run on this machine.
pub struct Shared {
    pe: usize,
    pes: usize,
    regions: RwLock<Regions>,
    /// How often each list of PEs has allocated memory.
    counts: Mutex<HashMap<Vec<usize>, u64>>,
    world: Mutex<onenode::Group>,
    node: Node,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PE {} of {}", self.pe, self.pes)
    }
}

/// Locks a mutex, even if a thread panicked while it held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Joins job `job`, whose `pes` PEs belong to one user, as PE `pe`. Returns when all have
    /// joined.
    ///
    /// # Errors
    /// If they do not join within a minute, or memory cannot be shared here.
    pub fn join(job: u64, pe: usize, pes: usize) -> Result<Self, Error> {
        let count = u32::try_from(pes).ok().filter(|count| pe < *count as usize);
        let Some(count) = count else {
            return Err(Error::Argument {
                argument: "pe",
                value: pe.to_string(),
                expected: format!("a number below that of the PEs, {pes}"),
            });
        };
        let config = Config { rank: Some(pe as u32), regions: REGIONS, ..Config::default() };
        let node = Node::open(config)?;
        node.meet(format!("lamellar job {job}").as_bytes(), count, PATIENCE)?;
        let ranks: Vec<u32> = (0..count).collect();
        let world = Mutex::new(onenode::Group::new(&node, 0, &ranks)?);
        let regions = RwLock::new(Regions::new(pes));
        Ok(Self { pe, pes, regions, counts: Mutex::default(), world, node })
    }

    /// This PE's number.
    pub fn pe(&self) -> usize {
        self.pe
    }

    /// The number of PEs.
    pub fn pes(&self) -> usize {
        self.pes
    }

    /// Allocates `bytes` bytes of zeroed memory at each of the PEs `members`, which must all call
    /// this with the same list, equally often. Returns the address here when all have allocated it.
    ///
    /// # Errors
    /// If there is no room, or a member has ended.
    pub fn alloc(
        &self,
        bytes: usize,
        members: impl IntoIterator<Item = usize>,
    ) -> Result<usize, Error> {
        let members: Vec<usize> = members.into_iter().collect();
        let key = {
            let mut counts = lock(&self.counts);
            let count = counts.entry(members.clone()).or_default();
            *count += 1;
            key_of(&members, *count)
        };
        let own = self.node.alloc(key, bytes.max(1), Pages::Normal)?;
        match Regions::open(&self.node, &own, &members, self.pes) {
            Ok(region) => Ok(self.regions_mut().insert(region)),
            Err(error) => {
                self.unregion(key)?;
                Err(error)
            }
        }
    }

    /// Frees memory by the address that [`alloc`](Self::alloc) has returned. Each member frees its
    /// own part, when nobody uses that any more.
    ///
    /// # Errors
    /// If there is no such memory.
    pub fn free(&self, start: usize) -> Result<(), Error> {
        let key = self.regions_mut().remove(start)?;
        self.unregion(key)
    }

    /// Gives up memory that is no longer among the regions, or not yet.
    fn unregion(&self, key: onenode::Key) -> Result<(), Error> {
        // SAFETY: nobody uses it, by the contract of lamellar's `free`, or because its address has not been returned.
        unsafe { self.node.unregion(key) }
    }

    /// Where PE `pe`'s counterpart of `own` is mapped here.
    ///
    /// # Errors
    /// If `own` is not in memory that both have allocated.
    #[inline]
    pub fn at(&self, pe: usize, own: usize) -> Result<*mut u8, Error> {
        self.regions().at(pe, own).map(|at| at as *mut u8)
    }

    /// The address in this PE that corresponds to `theirs`, an address in PE `pe`.
    ///
    /// # Errors
    /// If it is not in memory that both have allocated.
    pub fn own(&self, pe: usize, theirs: usize) -> Result<usize, Error> {
        self.regions().own(pe, theirs)
    }

    /// The address in PE `pe` that corresponds to `own`.
    ///
    /// # Errors
    /// If it is not in memory that both have allocated.
    pub fn theirs(&self, pe: usize, own: usize) -> Result<usize, Error> {
        self.regions().theirs(pe, own)
    }

    /// Waits until all PEs have called this equally often.
    ///
    /// # Errors
    /// If one of them has ended.
    pub fn barrier(&self) -> Result<(), Error> {
        lock(&self.world).barrier(Duration::MAX)
    }

    /// Copies `bytes` bytes. The ranges may overlap.
    ///
    /// # Safety
    /// Both ranges are mapped.
    pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // Only memory of one PE overlaps.
        let are_apart = to.addr().abs_diff(from.addr()) >= bytes;
        // SAFETY: mapped, as the caller guarantees, and apart where they have to be.
        unsafe {
            match are_apart {
                true => onenode::copy(to, from, bytes),
                false => std::ptr::copy(from, to, bytes),
            }
        }
    }

    fn regions(&self) -> std::sync::RwLockReadGuard<'_, Regions> {
        self.regions.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn regions_mut(&self) -> std::sync::RwLockWriteGuard<'_, Regions> {
        self.regions.write().unwrap_or_else(PoisonError::into_inner)
    }
}
