//! Teams (specification, section 9.4): sets of PEs with their own numbering.
//!
//! A team is a triplet (start, stride, size) of world PEs, with a slot of control words in the
//! job's control area. Its handle is the slot's number plus one: the same on all its PEs, and a
//! constant for the predefined teams. The table of this process's teams is indexed by slot, so a
//! lookup by handle is one load.
#![allow(unsafe_code)]

pub(crate) mod known;
pub(crate) mod slots;

use crate::argument::memory::Out;
use crate::atomics::{AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use crate::call::job;
use crate::failure;
use crate::pe::Job;
use crate::translate::TABLE;
use known::FarMemberState;
use onenode_core::collectives::epoch::Epoch;
use onenode_core::collectives::words::ControlWords;
use onenode_core::sys::mutex;
use oneshmem_job::error::Routine;
use oneshmem_job::jobfile::control::TEAM_SLOTS;
use std::ffi::{c_int, c_long};
use std::sync::{Arc, Mutex};

/// `SHMEM_TEAM_INVALID`.
pub const TEAM_INVALID: usize = 0;
/// `SHMEM_TEAM_WORLD`.
pub const TEAM_WORLD: usize = 1;
/// `SHMEM_TEAM_SHARED`: the PEs of this node.
pub const TEAM_SHARED: usize = 2;

/// `SHMEM_TEAM_NUM_CONTEXTS`.
pub const NUM_CONTEXTS: c_long = 1;

/// Slots of the predefined teams, which are never released.
pub(crate) const PREDEFINED: usize = 2;

/// `shmem_team_config_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// How many contexts the program will create from the team. A hint only: more may be created
    /// while contexts are left.
    pub num_contexts: c_int,
}

/// A team that this PE belongs to. Its PE `i` is PE `start + i * stride` of the world.
pub struct Team {
    slot: usize,
    /// 0 while this process does not use the slot. Written last.
    size: AtomicUsize,
    start: AtomicUsize,
    /// Two's complement: strides may be negative.
    stride: AtomicUsize,
    me: AtomicUsize,
    num_contexts: AtomicI32,
    words: AtomicPtr<ControlWords>,
    /// The known control words of members on other nodes, if any.
    known: Mutex<Option<Arc<[FarMemberState]>>>,
    epoch: Epoch,
}

pub(crate) static TEAMS: [Team; TEAM_SLOTS] = {
    let mut teams = [const { Team::unused() }; TEAM_SLOTS];
    let mut slot = 0;
    while slot < TEAM_SLOTS {
        teams[slot].slot = slot;
        slot += 1;
    }
    teams
};

/// How many slots have been used at some time, with those before the last of them.
static SLOTS_USED: AtomicUsize = AtomicUsize::new(0);

/// A triplet (start, stride, size) of world PEs, and this PE's number among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triplet {
    /// World number of the first PE.
    pub start: usize,
    /// Distance between PEs, in two's complement.
    pub stride: usize,
    /// Number of PEs.
    pub size: usize,
    /// This PE's number in the triplet.
    pub me: usize,
}

impl Team {
    const fn unused() -> Self {
        Self {
            slot: 0,
            size: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            stride: AtomicUsize::new(0),
            me: AtomicUsize::new(0),
            num_contexts: AtomicI32::new(0),
            words: AtomicPtr::new(std::ptr::null_mut()),
            known: Mutex::new(None),
            epoch: Epoch::new([const { AtomicU64::new(0) }; 4]),
        }
    }

    /// Makes `triplet` the slot's team. Its collectives continue from the slot's epoch.
    pub(crate) fn establish(&self, job: &'static Job, triplet: Triplet, config: Config) {
        self.words.store(job.control().team(self.slot).as_ptr(), Ordering::Relaxed);
        self.start.store(triplet.start, Ordering::Relaxed);
        self.stride.store(triplet.stride, Ordering::Relaxed);
        self.me.store(triplet.me, Ordering::Relaxed);
        self.num_contexts.store(config.num_contexts, Ordering::Relaxed);
        let members = |index: usize| triplet.start.wrapping_add(index.wrapping_mul(triplet.stride));
        if job.network().is_some() && (0..triplet.size).any(|i| !job.is_near(members(i))) {
            let known = (0..triplet.size).map(|_| FarMemberState::new()).collect();
            *mutex::lock(&self.known) = Some(known);
        }
        SLOTS_USED.fetch_max(self.slot + 1, Ordering::Relaxed);
        self.size.store(triplet.size, Ordering::Release);
    }

    /// Forgets the team in this process.
    pub(crate) fn retire(&self) {
        *mutex::lock(&self.known) = None;
        self.size.store(0, Ordering::Release);
    }

    /// The known control words of its members, if some members are on other nodes.
    pub(crate) fn known(&self) -> Option<Arc<[FarMemberState]>> {
        mutex::lock(&self.known).clone()
    }

    /// The team's slot of control words.
    pub(crate) fn slot(&self) -> usize {
        self.slot
    }

    /// The team's handle.
    pub fn handle(&self) -> usize {
        self.slot + 1
    }
    /// The number of PEs in the team.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }
    /// This PE's number in the team.
    #[inline(always)]
    pub fn me(&self) -> usize {
        self.me.load(Ordering::Relaxed)
    }
    /// World number of PE `index`, which must be less than the size.
    #[inline(always)]
    pub fn member(&self, index: usize) -> usize {
        let offset = index.wrapping_mul(self.stride.load(Ordering::Relaxed));
        self.start.load(Ordering::Relaxed).wrapping_add(offset)
    }
    /// World number of PE `pe` of this team, if it exists.
    pub fn world_pe(&self, pe: c_int) -> Option<usize> {
        let index = usize::try_from(pe).ok().filter(|pe| *pe < self.size())?;
        Some(self.member(index))
    }
    /// The number in this team of world PE `pe`, if it is a member.
    pub fn index_of(&self, pe: usize) -> Option<usize> {
        let distance = pe.wrapping_sub(self.start.load(Ordering::Relaxed)) as isize;
        let index = match self.stride.load(Ordering::Relaxed) as isize {
            0 => distance,
            stride if distance % stride == 0 => distance / stride,
            _ => return None,
        };
        let index = usize::try_from(index).ok().filter(|index| *index < self.size())?;
        (self.member(index) == pe).then_some(index)
    }
    /// The team's numbering, for contexts.
    pub(crate) fn triplet(&self) -> Triplet {
        Triplet {
            start: self.start.load(Ordering::Relaxed),
            stride: self.stride.load(Ordering::Relaxed),
            size: self.size(),
            me: self.me(),
        }
    }
    /// This PE's progress in the team's collectives.
    pub(crate) fn epoch(&self) -> &Epoch {
        &self.epoch
    }
    /// The control words of PE `index` of the team.
    #[inline(always)]
    pub(crate) fn words(&self, index: usize) -> &ControlWords {
        debug_assert!(index < self.size());
        let slot = self.words.load(Ordering::Relaxed);
        // SAFETY: `establish` has set it to the words of this slot, one for each PE of the job, in
        // the control area, which stays mapped for the life of the process.
        unsafe { &*slot.add(self.member(index)) }
    }
}

/// The team of a handle; `None` for `SHMEM_TEAM_INVALID`. Any other invalid handle is reported and
/// ends the job.
#[inline]
pub fn get(routine: Routine, handle: usize) -> Option<&'static Team> {
    match TEAMS.get(handle.wrapping_sub(1)) {
        Some(team) if team.size() > 0 && TABLE.ready() => Some(team),
        _ => no_team(routine, handle),
    }
}

#[cold]
fn no_team(routine: Routine, handle: usize) -> Option<&'static Team> {
    job(routine);
    if handle == TEAM_INVALID {
        return None;
    }
    failure::misuse(
        routine,
        format_args!("team = {handle:#x}"),
        "expected a team that exists: SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, or one from a split that has \
         not been destroyed",
    )
}

/// The team of a handle that must not be `SHMEM_TEAM_INVALID`.
#[inline]
pub fn required(routine: Routine, handle: usize) -> &'static Team {
    get(routine, handle).unwrap_or_else(|| {
        failure::misuse(
            routine,
            "team = SHMEM_TEAM_INVALID",
            "expected a team that this PE is a member of",
        )
    })
}

/// The team of a handle in the usual case: it exists, statistics and checks are off, and all PEs
/// are on this node. Otherwise the caller uses [`required`].
#[inline]
pub(crate) fn in_use(handle: usize) -> Option<&'static Team> {
    TEAMS.get(handle.wrapping_sub(1)).filter(|team| team.size() > 0 && TABLE.is_whole())
}

/// `shmem_team_my_pe`: -1 for `SHMEM_TEAM_INVALID`.
pub fn my_pe(routine: Routine, handle: usize) -> c_int {
    get(routine, handle).map_or(-1, |team| team.me() as c_int)
}

/// `shmem_team_n_pes`: -1 for `SHMEM_TEAM_INVALID`.
pub fn n_pes(routine: Routine, handle: usize) -> c_int {
    get(routine, handle).map_or(-1, |team| team.size() as c_int)
}

/// `shmem_team_translate_pe`: the number in `dest_team` of PE `pe` of `src_team`; -1 if it has
/// none.
pub fn translate_pe(routine: Routine, src_team: usize, pe: c_int, dest_team: usize) -> c_int {
    let (src, dest) = (get(routine, src_team), get(routine, dest_team));
    src.and_then(|src| src.world_pe(pe))
        .and_then(|world_pe| dest?.index_of(world_pe))
        .map_or(-1, |index| index as c_int)
}

/// `shmem_team_get_config`: writes the fields of `config` that `mask` names; 0 on success.
pub fn get_config(
    routine: Routine,
    handle: usize,
    mask: c_long,
    config: Option<Out<'_, Config>>,
) -> c_int {
    let Some(team) = get(routine, handle) else { return -1 };
    if mask & !NUM_CONTEXTS != 0 {
        return -1;
    }
    if mask & NUM_CONTEXTS != 0 {
        let Some(config) = config else {
            failure::misuse(
                routine,
                "config = NULL",
                "expected the address of a shmem_team_config_t",
            )
        };
        // Sets the only field.
        config.set(0, Config { num_contexts: team.num_contexts.load(Ordering::Relaxed) });
    }
    0
}

/// Creates the predefined teams at initialisation. Their epochs continue from an earlier lifetime,
/// equally on all PEs.
pub(crate) fn open(job: &'static Job) {
    let world = Triplet { start: 0, stride: 1, size: job.npes(), me: job.pe() };
    let near = job.near();
    let shared =
        Triplet { start: near.start, stride: 1, size: near.len(), me: job.pe() - near.start };
    for (team, triplet) in TEAMS.iter().zip([world, shared]) {
        team.establish(job, triplet, Config::default());
    }
}

/// Steps that the collectives of all teams have taken so far, in this process, modulo 2^64.
pub(crate) fn steps() -> u64 {
    let used = &TEAMS[..SLOTS_USED.load(Ordering::Relaxed)];
    used.iter().fold(0, |sum, team| sum.wrapping_add(team.epoch().steps()))
}

/// Steps that the world team's collectives have taken so far: the same number on all PEs that have
/// made the same calls.
pub(crate) fn steps_of_world() -> u64 {
    TEAMS[TEAM_WORLD - 1].epoch().steps()
}
