//! Explains faults in the window of mirrors, or elsewhere in a routine of this library, before they
//! take their course. A PE that dies by a signal reports where it was.

use crate::atomics::Ordering;
use crate::pe::launcher::Launcher;
use crate::pe::{Job, about, existing, is_child};
use crate::sys::signal::{self, Event, Fault};
use crate::sys::{backtrace, symbols};
use onenode_core::sys::{process, program};
use oneshmem_job::jobfile::abort::{self, AbortKind};
use oneshmem_job::jobfile::life;
use std::fmt::{self, Write};
use std::sync::OnceLock;

/// How a fault ends the process where the library knows better than by its signal.
pub struct FaultActions {
    /// Ends this process if the peer, whose memory is gone, has died.
    pub leave_if_dead: fn(&Job, usize),
    /// Says that a routine cannot use an address, because it is not symmetric.
    pub refuse: fn(&Job, &Refused),
    /// Ends the job after that.
    pub end: fn() -> !,
}
static ACTIONS: OnceLock<FaultActions> = OnceLock::new();

/// An address that is not symmetric, which a routine has taken for one.
pub struct Refused {
    /// The routine.
    pub routine: &'static str,
    /// Its argument.
    pub argument: &'static str,
    /// The address on this PE, in the argument's object.
    pub address: usize,
    /// The instruction of the fault.
    pub instruction: usize,
}

/// Installs the handler that explains faults.
pub(crate) fn explain(ends: FaultActions) {
    ACTIONS.get_or_init(|| ends);
    symbols::program_headers();
    signal::explain(report);
}

/// A message built without allocation, because this runs in a signal handler.
struct LineBuffer {
    bytes: [u8; 512],
    used: usize,
}

impl Write for LineBuffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.used..];
        let fits = text.len().min(room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.used += fits;
        Ok(())
    }
}

/// Writes one line to standard error. Safe in a signal handler if displaying `text` is.
pub(super) fn say_line(job: &Job, text: fmt::Arguments<'_>) {
    let mut line = LineBuffer { bytes: [0; 512], used: 0 };
    let _ = writeln!(line, "oneshmem: PE {}: {text}", job.pe);
    line.bytes[line.bytes.len() - 1] = b'\n'; // If it was cut.
    signal::write_stderr(&line.bytes[..line.used]);
}

/// Reports what this PE is waiting for, if it has waited for long. Safe in a signal handler.
pub(super) fn report_own_wait(job: &Job) {
    if let Some(wait) = about::own(job) {
        say_line(job, format_args!("{wait}, for {:.1?}", wait.lasted));
    }
}

fn report(event: &Event) {
    let Some(job) = existing().filter(|_| !is_child()) else { return };
    let address = event.fault.and_then(|fault| fault.address);
    let mirrored = address.and_then(|address| mirrored(job, address));
    // Under XPMEM, access to the memory of a PE that has died ends like this.
    if let (Some(Mirrored::Memory { pe, .. }), libc::SIGBUS) = (mirrored, event.signal) {
        job.control.job().member(job.pe).blamed.store(pe as u32 + 1, Ordering::Release);
        if let Some(ends) = ACTIONS.get() {
            (ends.leave_if_dead)(job, pe);
        }
    }
    if let (Some(Mirrored::Nothing { own, .. }), Some(fault)) = (mirrored, &event.fault) {
        if backtrace::is_in_library(event.instruction) {
            refuse(job, event, fault, own);
        }
    }
    // UCX ends its process if the partner of a half-open connection ends. The launcher knows why that has ended,
    // and ends this process, too, unless it was not so.
    if event.signal == libc::SIGABRT
        && job.network().is_some()
        && backtrace::is_below(event.instruction, "/libucs.so")
    {
        process::sleep(abort::NOTICED);
    }
    // Peers are told first: what follows may hang or fault again.
    let is_cause = event.deadly && notify_peers(job, event.signal);
    let report = || {
        explain_fault(job, event, mirrored);
        if is_cause {
            report_calls(job, event);
        }
    };
    match event.deadly {
        true => guarded(job, event, report),
        false => report(),
    }
}

/// Reports what this process is about to end for.
fn guarded(job: &Job, event: &Event, report: impl FnOnce()) {
    // Kitten's alarm hangs the kernel.
    match job.launcher == Launcher::Kitten {
        true => report(),
        false => signal::guarded(event.signal, report, report_damage),
    }
}

/// Ends the job as for any argument that is not symmetric: the hot path's one comparison lets through the
/// addresses between the pieces of the slot, such as those of the program's constants.
fn refuse(job: &Job, event: &Event, fault: &Fault, address: usize) {
    let Some(ends) = ACTIONS.get() else { return };
    let instruction = event.instruction;
    guarded(job, event, || {
        let routine = backtrace::routine(instruction).unwrap_or(SOME_ROUTINE);
        let argument = match fault.writes {
            _ if routine.ends_with("_lock") => "lock",
            _ if routine.starts_with("shmem_signal_") => "sig_addr",
            _ if routine.contains("_signal") => "dest or sig_addr",
            writes => accessed(writes),
        };
        (ends.refuse)(job, &Refused { routine, argument, address, instruction });
    });
    (ends.end)()
}

/// The routines' name of the memory that they write, or read.
fn accessed(writes: bool) -> &'static str {
    if writes { "dest" } else { "source" }
}

/// Tells peers that this PE dies. `false` if the job is already ending.
fn notify_peers(job: &Job, signal: i32) -> bool {
    let is_cause = abort::raise(job.control.job(), AbortKind::Dying, job.pe, 128 + signal);
    if job.launcher == Launcher::Kitten {
        // Nobody else does, while the kernel still lists the process.
        life::notify_all(&job.control, job.near(), job.pe);
    }
    is_cause
}

fn explain_fault(job: &Job, event: &Event, mirrored: Option<Mirrored>) {
    let Some(fault) = event.fault else { return };
    if fault.address.is_some_and(|address| on_a_device(job, address)) {
        return;
    }
    match (fault.address, mirrored) {
        (Some(address), Some(mirrored)) => in_a_mirror(job, address, mirrored),
        _ if [libc::SIGSEGV, libc::SIGBUS].contains(&event.signal) => {
            argument(job, &fault, event.instruction);
        }
        _ => {}
    }
}

fn report_calls(job: &Job, event: &Event) {
    let name = signal::name(event.signal);
    match event.fault.and_then(|fault| fault.address) {
        Some(address) => say_line(job, format_args!("{name} at address {address:#x}, in")),
        None => say_line(job, format_args!("{name} in")),
    }
    let mut is_free = false;
    event.with_caller(|caller| {
        backtrace::each_call(event.instruction, caller, |index, call| {
            is_free |= call.is_free();
            say_line(job, format_args!("  {index:>2} {call}"))
        });
    });
    if is_free {
        say_line(
            job,
            format_args!(
                "if this is a block of shmem_malloc: shmem_free releases it and shmem_realloc changes \
                 its size, not free and realloc"
            ),
        );
    }
}

/// Says why no more calls are told.
fn report_damage() {
    let Some(job) = existing() else { return };
    say_line(
        job,
        format_args!(
            "  the calls before cannot be told: the stack is overwritten, for example by a write past the \
             end of a local array"
        ),
    );
}

/// Explains a fault in a device's memory; `false` if it is elsewhere.
fn on_a_device(job: &Job, address: usize) -> bool {
    let Some(partition) = job.partition_of(address).filter(|it| !it.is_mapped()) else {
        return false;
    };
    say_line(
        job,
        format_args!(
            "fault at {address:#x}: a device's memory (partition {}), which the processor does not \
             reach: the program, or a routine that got it as the place of a result, has used it",
            partition.spec().id
        ),
    );
    true
}

/// The memory that an address in the window of mirrors stands for.
#[derive(Clone, Copy)]
enum Mirrored {
    /// Memory of a PE, at this address there.
    Memory { pe: usize, own: usize },
    /// Nothing: this address, as if it were symmetric, for this PE.
    Nothing { pe: usize, own: usize },
}

/// The memory that this address stands for, if it is in the window of mirrors.
fn mirrored(job: &Job, address: usize) -> Option<Mirrored> {
    // Check for a null pointer first: its translation may lie past the end of the preceding mirror.
    let null = job.layout.unmirrored_null(address, job.npes).map(|pe| (pe, 0));
    let (pe, own) = null.or_else(|| job.layout.unmirrored(address))?;
    Some(match pe < job.npes && job.layout.contains(own) {
        true => Mirrored::Memory { pe, own },
        false => Mirrored::Nothing { pe, own },
    })
}

/// Explains a fault in the window of mirrors.
fn in_a_mirror(job: &Job, address: usize, mirrored: Mirrored) {
    match mirrored {
        Mirrored::Nothing { pe, own } => say_line(
            job,
            format_args!(
                "fault at {address:#x}: address {own:#x} of this PE was used as a symmetric \
                 address of PE {pe}, or a copy ran over an end; symmetric are {} (memory \
                 from malloc is not)",
                job.segments()
            ),
        ),
        Mirrored::Memory { pe, own } => say_line(
            job,
            format_args!(
                "fault at {address:#x}: the copy of {own:#x} on PE {pe} cannot be reached: the \
                 PE is not attached, or its memory is gone"
            ),
        ),
    }
}

/// Explains a fault at an address that was passed to a routine.
fn argument(job: &Job, fault: &Fault, instruction: usize) {
    let null = fault.address.filter(|address| *address < NEVER_MAPPED);
    let own = program::object_at(argument as *const () as usize);
    let object = program::object_at(instruction);
    let is_own = own.zip(object).is_some_and(|(own, object)| own.base == object.base);
    let name = object.and_then(|object| object.function).and_then(|name| name.to_str().ok());
    // The symbols are those of the profiling interface.
    let name = name.map(|name| name.strip_prefix('p').unwrap_or(name));
    let routine = name.filter(|name| is_own && name.starts_with("shmem"));

    let mut line = LineBuffer { bytes: [0; 512], used: 0 };
    let argument = accessed(fault.writes);
    let done = if fault.writes { "written" } else { "read" };
    let _ = write!(line, "oneshmem: PE {}: ", job.pe);
    let _ = match (routine, null) {
        // A statically linked library cannot be told apart from the program.
        (None, Some(address)) if program::contains(own) => writeln!(
            line,
            "fault at {address:#x}: a null pointer as {argument} of a routine, or in the program"
        ),
        (None, _) if !is_own || program::contains(own) => return,
        (_, Some(address)) => writeln!(
            line,
            "{}: fault at {address:#x}: {argument} is a null pointer",
            routine.unwrap_or(SOME_ROUTINE)
        ),
        (_, None) => {
            let _ = write!(line, "{}: ", routine.unwrap_or(SOME_ROUTINE));
            match fault.address {
                Some(address) => writeln!(
                    line,
                    "fault at {address:#x}: {argument}, or its end, cannot be {done}"
                ),
                None => writeln!(line, "a pointer that was given is no address"),
            }
        }
    };
    signal::write_stderr(&line.bytes[..line.used]);
}

const SOME_ROUTINE: &str = "a routine of the library";
/// Linux maps nothing below this address (`vm.mmap_min_addr`).
const NEVER_MAPPED: usize = 1 << 16;
