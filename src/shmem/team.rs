//! Teams: the PEs of a collective, numbered from 0.

use super::context::register;
use super::slice::SymmetricSlice;
use crate::argument::memory::In;
use crate::collectives::team_split::NewTeam;
use crate::collectives::{Element, team_ending, team_split};
use crate::query;
use crate::team::{self, NUM_CONTEXTS, TEAM_INVALID};
use oneshmem_job::error::{Called::Blocking, NoTeam};
use std::marker::PhantomData;

pub use crate::team::Config as TeamConfig;

/// Some PEs of the job, numbered from 0 (specification, section 9.4). [`destroy`](Self::destroy)
/// destroys it. Dropping it does not. All methods except the queries are collective over the team.
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
/// # Ok::<(), oneshmem::Error>(())
/// ```
#[derive(Debug)]
pub struct Team<'a> {
    handle: usize,
    // Not `Send` or `Sync`: see `Threads` on sharing a PE.
    session: PhantomData<(&'a (), *const ())>,
}

/// A configuration and its mask in the core's types.
fn wanted<'m>(config: Option<&'m TeamConfig>, handle: &'m mut usize) -> NewTeam<'m> {
    let mask = if config.is_some() { NUM_CONTEXTS } else { 0 };
    NewTeam { config: config.map(In::from), mask, team: Some(handle.into()) }
}

impl<'a> Team<'a> {
    /// The team of a valid handle.
    pub(super) const fn new(handle: usize) -> Self {
        Self { handle, session: PhantomData }
    }

    pub(super) fn handle(&self) -> usize {
        self.handle
    }

    /// This PE's number in the team.
    pub fn my_pe(&self) -> usize {
        team::my_pe(&Blocking("Team::my_pe"), self.handle) as usize
    }

    /// The number of PEs in the team.
    pub fn n_pes(&self) -> usize {
        team::n_pes(&Blocking("Team::n_pes"), self.handle) as usize
    }

    /// The team's configuration.
    pub fn get_config(&self) -> TeamConfig {
        let mut config = TeamConfig::default();
        let told = Some((&mut config).into());
        team::get_config(&Blocking("Team::get_config"), self.handle, NUM_CONTEXTS, told);
        config
    }

    /// The number in `dest` of PE `src_pe` of this team; `None` if the PE is not in both.
    pub fn translate_pe(&self, src_pe: usize, dest: &Team<'_>) -> Option<usize> {
        let pe = i32::try_from(src_pe).ok()?;
        let there =
            team::translate_pe(&Blocking("Team::translate_pe"), self.handle, pe, dest.handle);
        usize::try_from(there).ok()
    }

    /// The address of the copy of `dest` on PE `pe` of this team, for loads and stores by this PE.
    /// `None` if the PE does not exist or is on another node. Accesses there are not checked.
    pub fn ptr<T: Element>(&self, dest: SymmetricSlice<'_, T>, pe: usize) -> Option<*mut T> {
        let address = dest.pointer().cast_const().cast();
        let there = query::team_ptr(&Blocking("Team::ptr"), self.handle, address, register(pe));
        (!there.is_null()).then_some(there.cast())
    }

    /// Creates a team of this team's PEs `start + i * stride`, `i < size`. Returns `Ok(None)` on
    /// the other PEs.
    ///
    /// # Errors
    /// The arguments describe no such team, or it cannot be created.
    pub fn split_strided(
        &self,
        start: usize,
        stride: isize,
        size: usize,
        config: Option<&TeamConfig>,
    ) -> Result<Option<Team<'a>>, NoTeam> {
        // A number that does not fit a C `int` names no PE: the core rejects it on all PEs.
        let [start, size] = [start, size].map(|n| i32::try_from(n).unwrap_or(-1));
        let stride = i32::try_from(stride).unwrap_or(i32::MAX);
        let (name, mut new) = (&Blocking("Team::split_strided"), TEAM_INVALID);
        let wanted = wanted(config, &mut new);
        let status = team_split::split_strided(name, self.handle, [start, stride, size], wanted);
        match (status, new) {
            (0, TEAM_INVALID) => Ok(None),
            (0, handle) => Ok(Some(Self::new(handle))),
            _ => Err(NoTeam),
        }
    }

    /// Arranges the PEs in rows of `xrange`. Returns the team of this PE's row and the team of its
    /// column.
    ///
    /// # Errors
    /// The teams cannot be created.
    pub fn split_2d(
        &self,
        xrange: usize,
        xaxis_config: Option<&TeamConfig>,
        yaxis_config: Option<&TeamConfig>,
    ) -> Result<(Team<'a>, Team<'a>), NoTeam> {
        // A row longer than the number of PEs holds them all.
        let xrange = i32::try_from(xrange).unwrap_or(i32::MAX);
        let (mut row, mut column) = (TEAM_INVALID, TEAM_INVALID);
        let (name, team) = (&Blocking("Team::split_2d"), self.handle);
        let (x, y) = (wanted(xaxis_config, &mut row), wanted(yaxis_config, &mut column));
        let status = team_split::split_2d(name, team, xrange, x, y);
        (status == 0).then(|| (Self::new(row), Self::new(column))).ok_or(NoTeam)
    }

    /// Destroys the team.
    pub fn destroy(self) {
        team_ending::destroy(&Blocking("Team::destroy"), self.handle);
    }
}
