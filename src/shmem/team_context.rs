//! Contexts that the program creates from teams.

use super::context::Context;
use super::flags::ContextOptions;
use super::team::Team;
use crate::context::{self, Creation, Handle};
use oneshmem_job::error::Called::Blocking;
use std::ops::Deref;

impl Team<'_> {
    /// Creates a context that numbers PEs as this team does. `None` if no more can be created. Not
    /// collective.
    ///
    /// ```standalone_crate
    /// # let shmem = oneshmem::init()?;
    /// # let word = shmem.alloc::<u64>(1)?;
    /// let backwards = shmem.world().split_strided(shmem.n_pes() - 1, -1, shmem.n_pes(), None)?;
    /// let backwards = backwards.expect("all PEs are in it");
    /// let ctx = backwards.create_ctx(oneshmem::ContextOptions::empty()).expect("a context");
    /// ctx.p(word.at(0), shmem.my_pe() as u64, ctx.get_team().my_pe());
    /// assert_eq!(word.at(0).get(), shmem.my_pe() as u64);
    /// drop(ctx);
    /// backwards.destroy();
    /// # shmem.free(word);
    /// # shmem.finalize();
    /// # Ok::<(), oneshmem::Error>(())
    /// ```
    pub fn create_ctx(&self, options: ContextOptions) -> Option<TeamContext<'_>> {
        TeamContext::create(self, options)
    }
}

/// A context that the program created: a [`Context`] whose PE numbers are those of its team.
/// Dropping it completes its communication and destroys it, which is not collective, and does nothing
/// once its team is destroyed or the library finalised. Created by [`Team::create_ctx`] and
/// [`Shmem::ctx_create`](super::Shmem::ctx_create).
#[derive(Debug)]
pub struct TeamContext<'a> {
    context: Context<'a, Handle>,
    team: &'a Team<'a>,
    _end: DestroyOnDrop,
}

/// Destroys a context that still exists. It borrows from nothing, so the compiler lets a context be
/// dropped, though not be used, after what it borrows from: a program can finalise before the end of
/// the block that its contexts live in.
#[derive(Debug)]
struct DestroyOnDrop(Creation);

impl Drop for DestroyOnDrop {
    fn drop(&mut self) {
        context::destroy_if_there(&Blocking("TeamContext::drop"), self.0);
    }
}

impl<'a> TeamContext<'a> {
    /// Creates the context. `None` if no more can be created.
    pub(super) fn create(team: &'a Team<'_>, options: ContextOptions) -> Option<Self> {
        let mut handle = context::CTX_INVALID;
        let (name, told) = (&Blocking("Team::create_ctx"), Some((&mut handle).into()));
        let status = context::team_create(name, team.handle(), options.bits(), told);
        (status == 0).then(|| Self {
            context: Context::new(Handle::new(handle)),
            team,
            _end: DestroyOnDrop(context::creation(handle)),
        })
    }

    /// The team whose PEs this context communicates with.
    pub fn get_team(&self) -> &'a Team<'a> {
        self.team
    }
}

impl<'a> Deref for TeamContext<'a> {
    type Target = Context<'a, Handle>;

    fn deref(&self) -> &Self::Target {
        &self.context
    }
}
