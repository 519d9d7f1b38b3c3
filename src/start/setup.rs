//! Library setup and exit (specification, sections 9.1 and 9.2). Calls are counted: each
//! initialisation needs its finalisation. The time from the first to the last is a *lifetime* of
//! the library, after which another may begin.

use crate::collectives::team_ending;
pub use crate::pe::threads::{THREAD_FUNNELED, THREAD_MULTIPLE, THREAD_SERIALIZED, THREAD_SINGLE};

use super::announce::{announce, report_once, say_child_is_lost};
use super::launch;
use super::place::Membership;
use super::settings::{JobSettings, Settings};
use crate::argument::memory::Unused;
use crate::atomics::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use crate::call::job;
use crate::device::Devices;
use crate::engine::Ucx;
use crate::failure::{self, ending, fault};
use crate::memory::guards;
use crate::memory::pool::Pool;
use crate::memory::space::Space;
use crate::message;
use crate::pause::liveness;
use crate::pe::launcher::Launcher;
use crate::pe::partitions::{self, Partition};
use crate::pe::{JOB, Job, existing, fork, threads};
use crate::report::timeline;
use crate::slow;
use crate::sys;
use crate::timeline::steps::Steps;
use crate::translate::{ALL_OR_NONE, Mirrored, TABLE};
use crate::{collectives, context, pause, report, stats, team};
use onenode_core::arch;
use onenode_core::attachments::Attachments;
use onenode_core::packed;
use onenode_core::pause::Share;
use onenode_core::sys::mutex;
use onenode_core::sys::{cgroup::Cpus, threads as sys_threads};
use oneshmem_job::env;
use oneshmem_job::error::{Called::Blocking, Error, Routine};
use oneshmem_job::jobfile::abort::{self, AbortKind};
use oneshmem_job::jobfile::control::{Control, Stage};
use oneshmem_job::jobfile::life;
use oneshmem_job::partition::Spec;
use oneshmem_job::remote::{DeviceMemory, Network};
use std::sync::{Arc, Mutex};

static INITIALISATIONS: AtomicU32 = AtomicU32::new(0);
/// Makes initialisation and finalisation mutually exclusive. Holds the thread that began the lifetime.
static CHANGE: Mutex<u32> = Mutex::new(0);

/// `shmem_init`: ends the job on failure, because the routine cannot return an error.
pub fn init(routine: Routine) {
    match init_thread(routine, THREAD_SINGLE) {
        Ok(_) => {}
        Err(Error::Reported) => failure::fatal_and_reported(),
        Err(error) => failure::fatal(format_args!("{routine}: {error}")),
    }
}

/// `shmem_init_thread`: begins a lifetime or joins the current one. Returns the thread level, which
/// the first initialisation of a lifetime fixes. Every level is provided: the library keeps no
/// state that threads could corrupt.
///
/// # Errors
/// If the job cannot start.
pub fn init_thread(routine: Routine, requested: i32) -> Result<i32, Error> {
    join(routine, requested, |_| true)
}

/// As [`init_thread`], for callers whose compiler keeps the library in the thread that began the
/// lifetime, unless its level is `SHMEM_THREAD_MULTIPLE`: another thread is refused.
///
/// # Errors
/// As for [`init_thread`], and in a second thread of a level for one.
pub fn init_in_one_thread(routine: Routine, requested: i32) -> Result<i32, Error> {
    let is_let_in = |began| query_thread() == THREAD_MULTIPLE || began == sys_threads::current();
    join(routine, requested, is_let_in)
}

/// Begins a lifetime, or joins the current one if `is_let_in` of the thread that began it.
fn join(
    routine: Routine,
    requested: i32,
    is_let_in: impl FnOnce(u32) -> bool,
) -> Result<i32, Error> {
    if !(THREAD_SINGLE..=THREAD_MULTIPLE).contains(&requested) {
        failure::misuse(
            routine,
            format_args!("requested = {requested}"),
            "expected one of the SHMEM_THREAD_* levels, 0 to 3",
        );
    }
    let mut began = mutex::lock(&CHANGE);
    if fork::is_child() {
        failure::misuse(
            routine,
            "called in a child of fork",
            "only the process that the launcher started is a PE",
        );
    }
    if INITIALISATIONS.load(Ordering::Relaxed) == 0 {
        match existing() {
            None => first_lifetime(routine, requested)?,
            Some(job) => {
                let mut steps = Steps::begin(timeline::is_wanted());
                begin(job, routine, requested, &mut steps)?;
                steps.record();
            }
        }
        collectives::tuning::apply_to_copies();
        *began = sys_threads::current();
    } else if !is_let_in(*began) {
        return Err(Error::SecondThread(threads::name(query_thread())));
    }
    INITIALISATIONS.fetch_add(1, Ordering::Relaxed);
    Ok(query_thread())
}

/// Makes this process a PE. Does not wait for other PEs.
fn first_lifetime(routine: Routine, level: i32) -> Result<(), Error> {
    let mut steps = Steps::begin(timeline::is_wanted());
    let place = launch::join()?;
    steps.end("handshake");
    let (job, habits) = make_job(routine, place, &mut steps)?;
    register(job, habits)?;
    steps.end("registration");
    begin(job, routine, level, &mut steps)?;
    // Not before: while the data segment is being moved, no thread may write to it.
    if let Some(network) = job.network() {
        network.start_progress_thread()?;
    }
    announce(job);
    steps.end("start");
    if habits.eager {
        job.reach_all();
        steps.end("peers");
    }
    steps.record();
    Ok(())
}

/// Reads the settings, prepares the engines, and publishes this PE's record.
fn make_job(
    routine: Routine,
    place: Membership,
    steps: &mut Steps,
) -> Result<(&'static Job, JobSettings), Error> {
    let (file, pe) = (Arc::new(place.job), place.pe);
    let (npes, near) = (file.npes(), file.near());
    // A program that starts after the job has ended must end as well.
    ending::leave_if_late(&file, place.exchange.is_some());
    let settings = Settings::read(&file, place.launcher);
    let Settings { choice, data, pages, specs, in_slot, on_devices, layout, habits } =
        settings.map_err(|error| report_once(routine, &file, pe, error))?;
    steps.end("layout");
    let network = match file.nodes() {
        Some(nodes) => Some(Box::new(Ucx::open(&file, nodes)?) as Box<dyn Network>),
        None => None,
    };
    if network.is_some() {
        steps.end("network");
    }
    life::show(&file, pe)?;
    // A PE that ends the job from here on sees this PE; one that did before could not notify it.
    fence(Ordering::SeqCst);
    ending::leave_if_late(&file, place.exchange.is_some());
    let control = Control::begin(file, pe)?;
    let offsets: Vec<_> = (0..in_slot.len()).map(|it| layout.partition_offset(it)).collect();
    control.set_partitions(pe, &specs, &in_slot, &offsets)?;
    let devices = open_devices(routine, &control, &on_devices, pe)?;
    let record = &control.pe(pe).slot;
    record.data_bytes.store(layout.data().len() as u64, Ordering::Relaxed);
    record.heap_bytes.store(layout.heap().len() as u64, Ordering::Relaxed);
    record.heap_address.store(layout.heap().start as u64, Ordering::Relaxed);
    record.image.store(data.fingerprint(), Ordering::Relaxed);
    record.backend.store(packed::word(choice.backend.name().as_bytes()), Ordering::Relaxed);

    let made = JOB.set(Job {
        pe,
        npes,
        near,
        launcher: place.launcher,
        heap: Space::new(layout.heap().clone(), Pool::of_heap(layout.heap().len())),
        partitions: partitions::laid(in_slot, layout.partitions(), on_devices, devices.as_deref()),
        lifetime: AtomicU32::new(0),
        calls: AtomicU32::new(threads::UNKNOWN),
        comparisons: Mutex::default(),
        exchange: place.exchange.map(Mutex::new),
        looked: AtomicUsize::new(0),
        attachments: Attachments::none(npes),
        network,
        devices,
        pages,
        heap_pages: Mutex::new(None),
        control,
        choice,
        resources: Mutex::default(),
        layout,
        data,
    });
    assert!(made.is_ok(), "initialisation is serialised");
    let job = existing().ok_or_else(|| Error::Slot("the job was not kept".into()))?;
    Ok((job, habits))
}

/// Makes the partitions on devices, and publishes what names them; `None` if there are none.
fn open_devices(
    routine: Routine,
    control: &Control,
    wanted: &[Spec],
    pe: usize,
) -> Result<Option<Box<dyn DeviceMemory>>, Error> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let devices = Devices::open(wanted, pe, pe - control.job().near().start)
        .map_err(|error| report_once(routine, control.job(), pe, error))?;
    for part in 0..devices.parts() {
        control.set_handle(pe, part, devices.handle(part))?;
    }
    Ok(Some(Box::new(devices)))
}

/// Sets how this PE waits, and registers what is to be called at signals, forks and the end.
fn register(job: &'static Job, habits: JobSettings) -> Result<(), Error> {
    // On Kitten every PE has a CPU to itself.
    let (sleeps, pes) = (job.launcher != Launcher::Kitten, job.near().len());
    let share = if sleeps { Share::of(pes, Cpus::of_job()) } else { Share::Whole };
    let share = if job.network().is_some() { share.served() } else { share };
    pause::set_wait_policy(share, sleeps, liveness::crowd(pes), habits.locks_in_order);
    pause::WAIT_POLICY.fix(habits.wait);
    job.note_cpu();
    if habits.drives_mpi {
        sys::mpi::find();
    }
    fork::prepare(say_child_is_lost)?;
    fault::explain(fault::FaultActions {
        leave_if_dead: liveness::leave_if_dead,
        refuse: slow::say_refused,
        end: failure::fatal_and_reported,
    });
    ending::leave_on_signal();
    ending::report_wait_on_signal(job);
    sys::ending::at_exit(leaving);
    sys::ending::at_last(ending::leave_unfinalised);
    Ok(())
}

/// Opens the data path and lets peers attach.
fn begin(job: &'static Job, routine: Routine, level: i32, steps: &mut Steps) -> Result<(), Error> {
    lay_heap(job)?;
    lay_partitions(job).map_err(|error| report_once(routine, job.control.job(), job.pe, error))?;
    job.publish_slot()?;
    steps.end("memory");
    if ALL_OR_NONE {
        // A PE has an alias of its own memory, too.
        job.attach_slot(job.pe, true)?;
        job.note_mirrors(job.pe);
    }
    let used = &job.control.pe(job.pe).heap_used;
    used.store(0, Ordering::Relaxed);
    *job.heap.pool() = Pool::of_heap(job.layout.heap().len()).counted_in(used);
    guards::forget_all();
    let lifetime = job.lifetime.fetch_add(1, Ordering::Relaxed);
    job.control.pe(job.pe).order.begin(lifetime);
    let counted = report::prepare(job)?;
    arch::prepare();
    TABLE.publish(&job.layout.bounds(), job.npes, job.network.is_none());
    // With devices, a private source or destination can be in a device's memory.
    if let Some(devices) = job.devices() {
        let ranges: Vec<_> = (0..devices.parts()).map(|part| devices.range(part)).collect();
        TABLE.divert_copies(&ranges);
    }
    if counted || env::debugging() {
        TABLE.divert();
    }
    TABLE.set_mirror(job.pe, job.layout.start(), Mirrored::All);
    team::open(job);
    context::open(job);
    job.set_thread_level(level);
    job.control.pe(job.pe).last_step.store(0, Ordering::Relaxed);
    job.control.pe(job.pe).advance();
    Ok(())
}

/// Maps the heap, with the requested pages if they are available.
fn lay_heap(job: &Job) -> Result<(), Error> {
    // Kitten's loader has chosen where the memory is.
    let placed = job.launcher != Launcher::Kitten;
    let got = job.pages.lay(job.layout.heap(), placed, |pages| job.make_heap(pages))?;
    job.control.pe(job.pe).slot.heap_pages.store(got.pages.word(), Ordering::Relaxed);
    // Once per job: other PEs usually have the same complaint.
    if let Some(complaint) = &got.complaint {
        if job.control.header().complained.swap(1, Ordering::Relaxed) == 0 {
            message::say(complaint);
        }
    }
    if placed {
        job.heap.begin(&job.layout, got.pages.size(), got.populated());
    }
    *mutex::lock(&job.heap_pages) = Some(got);
    Ok(())
}

/// Maps the partitions.
fn lay_partitions(job: &Job) -> Result<(), Error> {
    job.partitions.iter().filter(|it| !it.is_mapped()).for_each(Partition::clear);
    for (index, partition) in job.mapped_partitions().iter().enumerate() {
        let map = || job.make_partition(index);
        // All PEs usually have the same complaint.
        if let Some(complaint) = partition.lay(&job.layout, job.pe, map)?.filter(|_| job.pe == 0) {
            message::say(complaint);
        }
    }
    Ok(())
}

/// `shmem_finalize`: the last call ends the lifetime, the others are barriers. A surplus call is
/// ignored: programs that finalise in an exit handler, too, mean no harm.
pub fn finalize(routine: Routine, _: Unused) {
    conclude(routine);
}

/// [`finalize`]. A thread that initialises meanwhile begins the next lifetime: what it gets is not of
/// one that is about to end.
fn conclude(routine: Routine) {
    if fork::is_child() {
        job(routine); // Says so. Another thread of the parent may have had the lock.
    }
    let _change = mutex::lock(&CHANGE);
    if existing().is_some() && INITIALISATIONS.load(Ordering::Relaxed) == 0 {
        if env::debugging() {
            message::say(format_args!("{routine}: ignored: the library is finalised already"));
        }
        return;
    }
    let job = job(routine);
    if INITIALISATIONS.load(Ordering::Relaxed) > 1 {
        collectives::barrier_all(routine);
        INITIALISATIONS.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    report::conclude(job);
    let last = team::steps_of_world() + 1;
    job.control.pe(job.pe).last_step.store(last, Ordering::Relaxed);
    job.network().inspect(|network| network.finish());
    collectives::barrier_all(routine);
    if env::debugging() {
        failure::if_any(routine, guards::damage_of_any());
    }
    if job.nodes().is_some() {
        // The last PE to come through a barrier may only then contact other nodes for the first
        // time, and must not find a PE there that has finalised. A PE that has left this barrier
        // has already been contacted.
        collectives::barrier_all(routine);
    }
    report::print(job);
    if job.exchange.is_some() && stats::are_taken() {
        // Nor may a node's agent end while statistics are read from there.
        collectives::barrier_all(routine);
    }
    INITIALISATIONS.store(0, Ordering::Relaxed);
    context::close();
    team_ending::close();
    TABLE.retire();
    // This heap and these mirrors are no longer in use: all PEs have passed the barrier.
    job.attachments.forget();
    if let Some(network) = job.network() {
        network.quiet();
        network.reset();
    }
    // Agents end with the PEs that started them, so all PEs stay until no agent is needed.
    if let Some(exchange) = &job.exchange {
        if mutex::lock(exchange).barrier().is_err() {
            // MPI_Finalize has already disconnected this process from the launcher. The agents wait
            // for the PEs of other nodes instead.
            job.control.job().header().linger.store(1, Ordering::Release);
        }
    }
    if let Some(devices) = job.devices() {
        devices.reset();
    }
    job.withdraw_slot();
    job.control.pe(job.pe).advance();
    if LEAVING.load(Ordering::Relaxed) {
        disconnect(job);
    }
}

/// `start_pes`: repeated calls do nothing, and the end of the program finalises.
pub fn start_pes(routine: Routine, _: Unused) {
    if !query_initialized() {
        init(routine);
        job(routine).control.pe(job(routine).pe).implicit_finalize.store(1, Ordering::Relaxed);
    }
}

/// Whether the program's handlers of `exit` run. They may finalise.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// Exit handler: finalises if `start_pes` promised it.
extern "C" fn leaving() {
    const ROUTINE: Routine = &Blocking("exit");
    let Some(job) = existing().filter(|_| !fork::is_child()) else { return };
    let record = job.control.pe(job.pe);
    let finalises = record.stage() == Stage::Ready && !ending::is_exiting();
    if finalises && record.implicit_finalize.load(Ordering::Relaxed) != 0 {
        INITIALISATIONS.store(1, Ordering::Relaxed);
        conclude(ROUTINE);
    }
    if record.stage() == Stage::Finalized {
        disconnect(job);
    }
    LEAVING.store(true, Ordering::Relaxed);
}

/// Tells the launcher of a job on several nodes that this process ends as it should.
fn disconnect(job: &Job) {
    if let Some(exchange) = &job.exchange {
        mutex::lock(exchange).end();
    }
}

/// `shmem_global_exit`: ends all PEs with `status`.
pub fn global_exit(routine: Routine, status: i32) -> ! {
    let job = job(routine);
    // If PEs call this with different statuses, the first becomes the job's.
    abort::raise(job.control.job(), AbortKind::GlobalExit, job.pe, status);
    ending::exit_job(job, status)
}

/// `shmem_query_initialized`.
pub fn query_initialized() -> bool {
    INITIALISATIONS.load(Ordering::Relaxed) > 0 && !fork::is_child()
}

/// `shmem_query_thread`.
pub fn query_thread() -> i32 {
    threads::level()
}
