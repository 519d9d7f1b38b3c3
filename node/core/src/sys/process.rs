//! This process and this machine.
#![allow(unsafe_code)]

use super::raw::{Plain, plain};
use crate::error::Error;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::sys::personality::{self, Persona};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::kill;
use nix::sys::sysinfo::sysinfo;
use nix::unistd::{Pid, geteuid};
use std::ops::Range;
use std::time::Duration;

// Functions of the C library that get numbers and access no memory of their caller's.
unsafe extern "C" {
    safe fn sysconf(name: libc::c_int) -> libc::c_long;
    safe fn getauxval(name: libc::c_ulong) -> libc::c_ulong;
    safe fn sched_getcpu() -> libc::c_int;
    safe fn _exit(status: libc::c_int) -> !;
}

unsafe extern "C" {
    // Fills in the time, if there is such a clock.
    safe fn clock_gettime(clock: libc::clockid_t, time: &mut libc::timespec) -> libc::c_int;
}

/// Ends the process at once, without exit handlers or flushing buffers, which another process may also
/// hold.
pub fn exit_now(status: i32) -> ! {
    _exit(status)
}

/// This process's number.
pub fn pid() -> u32 {
    std::process::id()
}

/// The number of the parent process.
pub fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// Yields the CPU once. Not through the C library: a return is slow right after a switch of
/// processes.
#[inline(always)]
pub fn yield_cpu() {
    plain(Plain::SchedYield, []);
}

/// Nanoseconds since some moment in the past.
#[inline(always)]
pub fn clock() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// How many nanoseconds this thread has used a CPU.
pub fn time_of_thread() -> u64 {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// How many times the system has given the CPU of this thread to another while this one could run; 0 if it does
/// not tell. A yield counts if it had a taker.
pub fn switches_of_thread() -> i64 {
    getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.involuntary_context_switches())
}

/// How many times this thread has slept; 0 if the system does not tell.
pub fn sleeps_of_thread() -> i64 {
    getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.voluntary_context_switches())
}

/// How many nanoseconds the threads of a process have used CPUs; 0 if the system does not tell.
pub fn time_of(pid: u32) -> u64 {
    /// `CPUCLOCK_SCHED` of the kernel. Above it in a clock's number is the complement of the process's.
    const SCHEDULED: libc::clockid_t = 2;
    read_clock(!(pid as libc::clockid_t) << 3 | SCHEDULED)
}

/// How many nanoseconds the first thread of a process has run, and for how many it was ready to run while others
/// had the CPU (`schedstat` of proc(5)); `None` if the system does not tell.
pub fn ran_and_ready(pid: u32) -> Option<[u64; 2]> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let mut words = text.split_whitespace().map(|word| word.parse().ok());
    Some([words.next()??, words.next()??])
}

/// Nanoseconds that a clock shows; 0 if there is no such clock.
#[inline(always)]
fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    clock_gettime(clock, &mut time);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The CPU that this thread is on, if the system tells.
pub fn cpu() -> Option<u32> {
    u32::try_from(sched_getcpu()).ok()
}

/// Sleeps for this time and hardly longer: a timer of the kernel may otherwise come 50 us late.
pub fn nap(time: Duration) {
    let slack = plain(Plain::Prctl, [libc::PR_GET_TIMERSLACK as usize]);
    plain(Plain::Prctl, [libc::PR_SET_TIMERSLACK as usize, 1]);
    sleep(time);
    plain(Plain::Prctl, [libc::PR_SET_TIMERSLACK as usize, slack.max(0) as usize]);
}

/// Sleeps for this time. By the oldest call for that: the standard library makes one that Kitten
/// lacks, and panics then.
pub fn sleep(time: Duration) {
    let mut left = libc::timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    let place = &raw mut left as usize;
    // SAFETY: the call reads the local, and if a signal ends it, writes the rest of the time there.
    while unsafe { super::raw::syscall(libc::SYS_nanosleep, [place, place]) } == EINTR {}
}
const EINTR: isize = -libc::EINTR as isize;

/// The number of CPUs that this process may run on.
pub fn usable_cpus() -> usize {
    cpus_of(0)
}

/// The number of CPUs that the PEs of a job may run on. A PE that is bound to one CPU has a
/// launcher that is not.
pub fn cpus_of_job() -> usize {
    usable_cpus().max(cpus_of(parent()))
}

/// The number of CPUs that a process may run on; 1 if it cannot be queried.
pub fn cpus_of(pid: u32) -> usize {
    match sched_getaffinity(Pid::from_raw(pid as i32)) {
        Ok(set) => {
            let may_run_on = |cpu: &usize| set.is_set(*cpu) == Ok(true);
            (0..CpuSet::count()).filter(may_run_on).count().max(1)
        }
        // A parent in another container cannot be queried.
        Err(_) if pid != 0 => 1,
        // More CPUs than the set holds, so certainly not few.
        Err(_) => CpuSet::count(),
    }
}

/// The C library's value for this name of the machine (sysconf(3)), if it knows it.
pub(super) fn configured(name: libc::c_int) -> Option<usize> {
    usize::try_from(sysconf(name)).ok()
}

/// The kernel's value for the program under this name (getauxval(3)); 0 if none.
pub fn passed_by_kernel(name: libc::c_ulong) -> usize {
    getauxval(name) as usize
}

/// The size in bytes of the cache nearest to memory, if the C library reports it.
pub fn last_cache_size() -> Option<usize> {
    let caches = [libc::_SC_LEVEL3_CACHE_SIZE, libc::_SC_LEVEL2_CACHE_SIZE];
    caches.into_iter().filter_map(configured).find(|bytes| *bytes > 0)
}

/// The number of CPUs that are online.
pub fn online_cpus() -> usize {
    configured(libc::_SC_NPROCESSORS_ONLN).unwrap_or(1).max(1)
}

/// The machine's memory in bytes.
pub fn machine_memory() -> u64 {
    sysinfo().map_or(0, |info| info.ram_total())
}

/// Whether a process with this number exists, even if this one may not signal it.
pub fn exists(pid: i32) -> bool {
    matches!(kill(Pid::from_raw(pid), None), Ok(()) | Err(Errno::EPERM))
}

/// The status of a process in `/proc` (proc_pid_stat(5)).
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// Its state: `R` for running, `Z` for one that has ended and was not waited for, ...
    pub state: char,
    /// Its parent's number.
    pub parent: u32,
    /// The number of its process group.
    pub group: u32,
    /// The time that all its threads have run, in user and in system mode.
    pub run: Duration,
    /// When it started, in ticks since the machine did. Together with the number this identifies a
    /// process uniquely.
    pub started: u64,
    /// Whether it has ended: it only waits to be reaped, or is releasing its resources.
    pub ended: bool,
}

/// `PF_EXITING`, in the kernel's flags of a process.
const EXITING: u64 = 4;

/// A tick of the times in `/proc`. It is the same on all architectures but Alpha and IA-64.
pub const TICK: Duration = Duration::from_millis(10);

/// The status of a process; `None` if there is no such process, or no `/proc`.
pub fn status(pid: u32) -> Option<Status> {
    // The name in parentheses may contain any bytes, so fields are counted from its end.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let mut after = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = after.next()?.chars().next()?;
    let parent = after.next()?.parse().ok()?;
    let group = after.next()?.parse().ok()?;
    let flags: u64 = after.nth(3)?.parse().ok()?;
    let [user, system]: [u64; 2] = [after.nth(4)?.parse().ok()?, after.next()?.parse().ok()?];
    let started = after.nth(6)?.parse().ok()?;
    let ended = matches!(state, 'Z' | 'X' | 'x') || flags & EXITING != 0;
    // More than 32 bits of ticks: threads on a hundred CPUs run that long in five days.
    let run = Duration::from_millis(TICK.as_millis() as u64 * user.saturating_add(system));
    Some(Status { state, parent, group, run, started, ended })
}

/// When this process started, as in [`Status::started`]; 0 if `/proc` does not report it.
pub fn own_start() -> u64 {
    status(pid()).map_or(0, |status| status.started)
}

/// Whether the process `pid` that started at that time still runs, whatever its program.
pub fn is_running(pid: u32, started: u64) -> bool {
    status(pid).is_some_and(|status| !status.ended && status.started == started)
}

/// The PID namespace of this process. Process numbers mean the same to all processes in it. 0 if
/// `/proc` does not report it.
pub fn pid_namespace() -> u64 {
    // Its name is "pid:[NUMBER]". Of calls for that, this is the one that Kitten has, too.
    let name = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = name.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// The network namespace of this process: processes in it have the same network devices. 0 if `/proc`
/// does not report it.
pub fn network_namespace() -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/net").map_or(0, |it| it.ino())
}

/// A number that distinguishes this boot of the system from all others, on any machine; 0 if
/// `/proc` does not report it.
pub fn boot() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16).unwrap_or(0);
    (number >> 64) as u64 ^ number as u64
}

/// 64 random bits.
pub fn random() -> Result<u64, Error> {
    // A function of the C library, with a type that leaves nothing to promise.
    unsafe extern "C" {
        safe fn getrandom(to: &mut u64, bytes: Bytes, flags: libc::c_uint) -> isize;
    }
    #[repr(usize)]
    enum Bytes {
        OfWord = size_of::<u64>(),
    }
    let mut bits = 0u64;
    let got = getrandom(&mut bits, Bytes::OfWord, 0);
    if got == size_of::<u64>() as isize { Ok(bits) } else { Err(Error::last("getrandom")) }
}

/// Registers `prepare` and `parent` to run before and after each `fork` in the parent, and `child`
/// in the child.
pub fn at_fork(
    prepare: extern "C" fn(),
    parent: extern "C" fn(),
    child: extern "C" fn(),
) -> Result<(), Error> {
    // A function of the C library, with a type that leaves nothing to promise.
    unsafe extern "C" {
        safe fn pthread_atfork(
            prepare: extern "C" fn(),
            parent: extern "C" fn(),
            child: extern "C" fn(),
        ) -> libc::c_int;
    }
    match pthread_atfork(prepare, parent, child) {
        0 => Ok(()),
        _ => Err(Error::last("pthread_atfork")),
    }
}

/// Whether the C library blocks all signals from the last handler of `prepare` until after the
/// first of `child`, as glibc does since 2.41.
pub fn fork_blocks_signals() -> bool {
    // SAFETY: the function returns a static string.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    let mut numbers = version.to_str().unwrap_or_default().split('.').map(|n| n.parse().ok());
    (numbers.next().flatten(), numbers.next().flatten()) >= (Some(2), Some(41))
}

/// Whether this process has privileges that its starter may lack: its program has the set-user-ID
/// or set-group-ID bit, or file capabilities (`AT_SECURE`, getauxval(3)).
pub fn is_privileged() -> bool {
    passed_by_kernel(libc::AT_SECURE) != 0
}

/// The effective user of this process.
pub fn user() -> u32 {
    geteuid().as_raw()
}

/// Whether the system chooses this process's addresses at random: setarch(8) and debuggers turn that off.
pub fn has_random_addresses() -> bool {
    !personality::get().is_ok_and(|it| it.contains(Persona::ADDR_NO_RANDOMIZE))
}

/// Addresses that are certainly on the first thread's stack. Below its top the kernel keeps a range
/// free of other mappings: as much as the stack may grow, and a gap of 1 MiB.
pub fn first_stack() -> Range<usize> {
    // The kernel puts these bytes above all frames.
    let top = passed_by_kernel(libc::AT_RANDOM);
    top.saturating_sub(1 << 20)..top
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_a_name_that_is_no_text() {
        const NAME: &str = "/proc/self/comm";
        let before = std::fs::read(NAME).expect("a name");
        std::fs::write(NAME, b"caf\xc3").expect("another one");
        let status = status(pid());
        std::fs::write(NAME, before).expect("the first one again");
        assert!(status.is_some_and(|status| !status.ended && status.started > 0));
    }
}
