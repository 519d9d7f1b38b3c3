//! One PE as a process: how it is started, watched, signalled and collected.
//!
//! Each PE leads its own process group, so that a signal also reaches the processes that it has
//! started (a PE may be a shell script). The launcher notices when a PE ends, but collects it only
//! when the job is over: while the PE is a zombie, the system cannot reuse its process ID or group
//! ID.
#![allow(unsafe_code)]

use super::binding::cpu_set;
use super::fork::before_exec;
use super::guard::Guard;
use super::library_path;
use super::options::Program;
use super::signals;
use super::stdout::Stdout;
use super::steps::Step;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::sched_setaffinity;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::ptrace;
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgid, getpid, getppid};
use onenode_core::sys::fd;
use onenode_core::sys::raw::{Plain, plain};
use oneshmem_job::env;
use oneshmem_job::env::{PASSED_PE, PASSED_STDOUT};
use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// How long PEs wait for others that are being debugged, in seconds.
const NEVER: &str = "1e9";

/// The settings shared by all PEs of one part of the command line.
pub struct Recipe<'a> {
    /// The file to execute, relative to the working directory of `part`.
    pub path: &'a Path,
    /// The user's settings.
    pub part: &'a Program,
    /// Where the loader looks for libraries, if different from the environment.
    pub library_path: Option<OsString>,
    /// The job's files: the one with the control area, and the one of huge pages if it exists.
    pub files: Vec<BorrowedFd<'a>>,
    /// The number of PEs in the job.
    pub npes: usize,
    /// The limit on open files to restore for the PEs, if it was raised here.
    pub open_files: Option<(rlim_t, rlim_t)>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// This signal killed it; whether it dumped core.
    Killed(i32, bool),
}

/// A PE's process. Dropping it kills its process group and collects it.
pub struct Process {
    child: Child,
    end: Option<End>,
}

/// The descriptors for communication with a PE.
pub struct Streams {
    /// Its standard input, if the launcher feeds it.
    pub input: Option<OwnedFd>,
    /// Its standard output.
    pub output: OwnedFd,
    /// Its standard error.
    pub error: OwnedFd,
}

impl Process {
    /// Starts PE `pe` on the CPUs of `binding` (on any if that is empty), with these streams, and adds
    /// its process group to the guard's. A PE to be debugged is stopped at its first instruction.
    pub fn start(
        recipe: &Recipe,
        guard: &Guard,
        pe: usize,
        binding: &[usize],
        input: Stdio,
        stdout: Stdout,
        is_debugged: bool,
    ) -> io::Result<(Self, Streams)> {
        let (launcher, add) = (getpid(), guard.adder());
        let files: Vec<RawFd> = recipe.files.iter().map(AsRawFd::as_raw_fd).collect();
        let open_files = recipe.open_files;
        let cpus = cpu_set(binding)?;
        let mut command = Command::new(recipe.path);
        let part = recipe.part;
        command
            .arg0(&part.program[0])
            .args(&part.program[1..])
            .envs(part.environment.iter().map(|(name, value)| (name, value)))
            .env(PASSED_PE, place(pe, recipe.npes, launcher, &files))
            .stdin(input)
            .stdout(stdout.theirs)
            .stderr(Stdio::piped());
        if let Some(path) = &recipe.library_path {
            command.env(library_path::VARIABLE, path);
        }
        match stdout.pipe {
            Some(number) => command.env(PASSED_STDOUT, number.to_string()),
            None => command.env_remove(PASSED_STDOUT),
        };
        if let Some(wdir) = &part.wdir {
            command.current_dir(wdir);
        }
        let prepare = move || {
            signals::set_apart()?;
            set_pdeathsig(Signal::SIGKILL).map_err(Step::Death.failed())?;
            if getppid() != launcher {
                // The launcher died before the kernel could notify us.
                return Err(Errno::ESRCH.into());
            }
            add();
            if let Some(cpus) = &cpus {
                sched_setaffinity(Pid::from_raw(0), cpus).map_err(Step::Affinity.failed())?;
            }
            if let Some((soft, hard)) = open_files {
                let set = setrlimit(Resource::RLIMIT_NOFILE, soft, hard);
                set.map_err(Step::Limit.failed())?;
            }
            for file in &files {
                fd::pass_on(*file).map_err(Step::Pass.failed())?;
            }
            if is_debugged {
                let any = libc::PR_SET_PTRACER_ANY as usize;
                // Fails harmlessly where nothing restricts debuggers.
                plain(Plain::Prctl, [libc::PR_SET_PTRACER as usize, any]);
                ptrace::traceme().map_err(Step::Trace.failed())?;
            }
            Ok(())
        };
        before_exec(&mut command, prepare);

        if is_debugged && !env::STARTUP_TIMEOUT.names().any(|name| part.variable(name).is_some()) {
            command.env(env::STARTUP_TIMEOUT.name, NEVER);
        }

        let mut child = command.spawn()?;
        let input = child.stdin.take().map(OwnedFd::from);
        let error = child.stderr.take().map(OwnedFd::from);
        let process = Self { child, end: None };
        if is_debugged {
            stop(Pid::from_raw(process.child.id() as i32))?;
        }
        let Some(error) = error else { unreachable!("it was asked to be a pipe") };
        let output = stdout.ours;
        for pipe in [Some(&output), Some(&error), input.as_ref()].into_iter().flatten() {
            fcntl(pipe.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        Ok((process, Streams { input, output, error }))
    }

    /// Its process ID.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended. `None` while it runs, as of the last [`Self::look`].
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Checks whether it has ended. Reports the end only once.
    pub fn look(&mut self) -> Option<End> {
        if self.end.is_some() {
            return None;
        }
        self.end = peek(self.child.id());
        self.end
    }

    /// Signals the process and its group. If the process has moved to another group, returns that
    /// group: its members have to be found (see [`super::orphans`]).
    pub fn signal(&self, signal: Signal) -> Option<u32> {
        let pid = Pid::from_raw(self.child.id() as i32);
        // If this fails (a set-user-ID program), there is nothing else to do.
        let _ = killpg(pid, signal);
        let moved = getpgid(Some(pid)).ok().filter(|group| *group != pid)?;
        let _ = kill(pid, signal);
        Some(moved.as_raw() as u32)
    }
}

/// Leaves a child that asked to be traced stopped at the first instruction of its program, so that
/// a debugger can attach.
fn stop(pid: Pid) -> nix::Result<()> {
    let exec = WaitPidFlag::WEXITED | WaitPidFlag::WSTOPPED;
    match waitid(Id::Pid(pid), exec | WaitPidFlag::WNOWAIT)? {
        // It has already died. It is collected with the others.
        WaitStatus::Exited(..) | WaitStatus::Signaled(..) => Ok(()),
        _ => {
            waitid(Id::Pid(pid), WaitPidFlag::WSTOPPED)?;
            ptrace::detach(pid, Signal::SIGSTOP)
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// A PE's place in its job, in the format that the library reads.
fn place(pe: usize, npes: usize, launcher: Pid, files: &[RawFd]) -> String {
    let (control, huge) = (files[0], &files[1..]);
    let huge: String = huge.iter().map(|file| format!(":{file}")).collect();
    format!("{pe}:{npes}:{control}:{launcher}{huge}")
}

/// How the child `pid` ended, without collecting it. Uses `libc`, as `nix` does not support
/// real-time signals.
fn peek(pid: u32) -> Option<End> {
    let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the call fills the local, of which all-zero bytes are a value, too. The fields are those
    // of a child.
    let (rc, code, who, status) = unsafe {
        let rc = libc::waitid(libc::P_PID, pid, info.as_mut_ptr(), flags);
        let info = info.assume_init();
        (rc, info.si_code, info.si_pid(), info.si_status())
    };
    match code {
        _ if rc != 0 || who == 0 => None,
        libc::CLD_EXITED => Some(End::Exited(status)),
        code => Some(End::Killed(status, code == libc::CLD_DUMPED)),
    }
}
