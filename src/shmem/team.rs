//! Teams: the PEs of a collective, numbered from 0.
#![allow(unsafe_code)]

use super::context::register;
use super::memory::SymmetricSlice;
use crate::collectives::Element;
use crate::job::query;
use crate::team::{self, NUM_CONTEXTS, TEAM_INVALID, split};
use std::ffi::c_long;
use std::fmt;
use std::marker::PhantomData;

pub use crate::team::Config as TeamConfig;

/// Some PEs of the job, numbered from 0 (specification, section 9.4). Destroyed by
/// [`destroy`](Self::destroy), never by being dropped. All methods but the
/// questions are collective over the team.
///
/// ```standalone_crate
/// # let shmem = oneshmem::init()?;
/// let (me, npes) = (shmem.my_pe(), shmem.n_pes());
/// let world = shmem.world();
///
/// // The PEs with even numbers.
/// let even = world.split_strided(0, 2, npes.div_ceil(2), None)?;
/// assert_eq!(even.is_some(), me % 2 == 0);
/// if let Some(even) = even {
///     assert_eq!(even.translate_pe(even.my_pe(), world), Some(me));
///     even.sync();
///     even.destroy();
/// }
///
/// // Rows of 2.
/// let (row, column) = world.split_2d(2, None, None)?;
/// assert_eq!((row.my_pe(), column.my_pe()), (me % 2, me / 2));
/// column.destroy();
/// row.destroy();
/// # shmem.finalize();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Team<'a> {
    handle: usize,
    // The pointer: see `Threads` about who may share a PE.
    session: PhantomData<(&'a (), *const ())>,
}

/// A split that did not come about, on all PEs of the parent alike: the new team would
/// have had a PE that the parent has not, or there is no more room for teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTeam;

impl fmt::Display for NoTeam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such team of the parent's PEs, or no more room for teams")
    }
}

impl std::error::Error for NoTeam {}

/// A configuration as the core takes it, with its mask.
fn wanted(config: Option<&TeamConfig>) -> (*const TeamConfig, c_long) {
    config.map_or((std::ptr::null(), 0), |config| (std::ptr::from_ref(config), NUM_CONTEXTS))
}

impl<'a> Team<'a> {
    /// The team of a handle that is one.
    pub(super) const fn new(handle: usize) -> Self {
        Self { handle, session: PhantomData }
    }

    pub(super) fn handle(&self) -> usize {
        self.handle
    }

    /// This PE's number in the team.
    pub fn my_pe(&self) -> usize {
        team::my_pe(&"Team::my_pe", self.handle) as usize
    }

    /// Number of PEs in the team.
    pub fn n_pes(&self) -> usize {
        team::n_pes(&"Team::n_pes", self.handle) as usize
    }

    /// What the team was configured for.
    pub fn get_config(&self) -> TeamConfig {
        let mut config = TeamConfig::default();
        // SAFETY: the configuration is a local.
        unsafe { team::get_config(&"Team::get_config", self.handle, NUM_CONTEXTS, &mut config) };
        config
    }

    /// What PE `src_pe` of this team is numbered in `dest`, if it is in both.
    pub fn translate_pe(&self, src_pe: usize, dest: &Team<'_>) -> Option<usize> {
        let pe = i32::try_from(src_pe).ok()?;
        let there = team::translate_pe(&"Team::translate_pe", self.handle, pe, dest.handle);
        usize::try_from(there).ok()
    }

    /// Where PE `pe` of this team has its copy of `dest`, for loads and stores by this PE.
    /// What is done there is not checked.
    pub fn ptr<T: Element>(&self, dest: SymmetricSlice<'_, T>, pe: usize) -> Option<*mut T> {
        let address = dest.pointer().cast_const().cast();
        let there = query::team_ptr(&"Team::ptr", self.handle, address, register(pe));
        (!there.is_null()).then_some(there.cast())
    }

    /// A team of this team's PEs `start + i * stride`, `i < size`. `Ok(None)` on the
    /// PEs that are not among them.
    ///
    /// # Errors
    /// There is no such team.
    pub fn split_strided(
        &self,
        start: usize,
        stride: isize,
        size: usize,
        config: Option<&TeamConfig>,
    ) -> Result<Option<Team<'a>>, NoTeam> {
        // A number that no C `int` holds names no PE: the core refuses it on all PEs.
        let [start, size] = [start, size].map(|n| i32::try_from(n).unwrap_or(-1));
        let stride = i32::try_from(stride).unwrap_or(i32::MAX);
        let ((config, mask), mut new) = (wanted(config), TEAM_INVALID);
        let name = &"Team::split_strided";
        // SAFETY: the handle is a local, the configuration a reference's.
        let status = unsafe {
            split::split_strided(name, self.handle, start, stride, size, config, mask, &mut new)
        };
        match (status, new) {
            (0, TEAM_INVALID) => Ok(None),
            (0, handle) => Ok(Some(Self::new(handle))),
            _ => Err(NoTeam),
        }
    }

    /// Arranges the PEs in rows of `xrange`: the team of this PE's row, and the team of
    /// its column.
    ///
    /// # Errors
    /// There are no such teams.
    pub fn split_2d(
        &self,
        xrange: usize,
        xaxis_config: Option<&TeamConfig>,
        yaxis_config: Option<&TeamConfig>,
    ) -> Result<(Team<'a>, Team<'a>), NoTeam> {
        // Rows longer than there are PEs are one row.
        let xrange = i32::try_from(xrange).unwrap_or(i32::MAX);
        let ((x, x_mask), (y, y_mask)) = (wanted(xaxis_config), wanted(yaxis_config));
        let (mut row, mut column) = (TEAM_INVALID, TEAM_INVALID);
        let (name, team) = (&"Team::split_2d", self.handle);
        // SAFETY: the handles are locals, the configurations references'.
        let status = unsafe {
            split::split_2d(name, team, xrange, x, x_mask, &mut row, y, y_mask, &mut column)
        };
        (status == 0).then(|| (Self::new(row), Self::new(column))).ok_or(NoTeam)
    }

    /// Ends the team.
    pub fn destroy(self) {
        team::destroy(&"Team::destroy", self.handle);
    }
}
