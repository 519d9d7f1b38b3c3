//! One PE as a process: how it is started, watched, signalled and collected.
//!
//! Each PE leads a process group of its own, so that a signal also reaches what it
//! has started (a PE may be a shell script). A PE that has ended is looked at but
//! not collected until the job is over: while it is a zombie, neither its process
//! number nor its group's can be given to a stranger.
#![allow(unsafe_code)]

use super::library_path;
use super::options::Program;
use super::signals;
use super::stdout::Stdout;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgid, getpid, getppid};
use oneshmem::job::launch::{STDOUT, VARIABLE};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What PEs of the same part of the command line have in common.
pub struct Recipe<'a> {
    /// The file to execute, relative to the directory of `part`.
    pub path: &'a Path,
    /// What the user has asked for.
    pub part: &'a Program,
    /// Where the loader is to look for libraries, if that is not what the environment says.
    pub library_path: Option<OsString>,
    /// The job's files: the one with the control area, and one of huge pages if there is one.
    pub files: Vec<BorrowedFd<'a>>,
    /// Number of PEs of the job.
    pub npes: usize,
    /// The limit on open files to give back to the PEs, if it was raised here.
    pub open_files: Option<(rlim_t, rlim_t)>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// This signal killed it; whether it left a core dump.
    Killed(i32, bool),
}

/// A PE's process. Dropped, it is killed with all its group and collected.
pub struct Process {
    child: Child,
    end: Option<End>,
}

/// The descriptors a PE talks through.
pub struct Streams {
    /// Its standard input, where the launcher feeds it.
    pub input: Option<OwnedFd>,
    /// Its standard output.
    pub output: OwnedFd,
    /// Its standard error.
    pub error: OwnedFd,
}

impl Process {
    /// Starts PE `pe` on the CPUs of `binding` (anywhere if it is empty), with these streams.
    pub fn start(
        recipe: &Recipe,
        pe: usize,
        binding: &[usize],
        input: Stdio,
        stdout: Stdout,
    ) -> io::Result<(Self, Streams)> {
        let launcher = getpid();
        let files: Vec<RawFd> = recipe.files.iter().map(AsRawFd::as_raw_fd).collect();
        let open_files = recipe.open_files;
        let cpus = cpu_set(binding)?;
        let mut command = Command::new(recipe.path);
        let part = recipe.part;
        command
            .arg0(&part.program[0])
            .args(&part.program[1..])
            .envs(part.environment.iter().map(|(name, value)| (name, value)))
            .env(VARIABLE, place(pe, recipe.npes, launcher, &files))
            .stdin(input)
            .stdout(stdout.theirs)
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(path) = &recipe.library_path {
            command.env(library_path::VARIABLE, path);
        }
        match stdout.pipe {
            Some(number) => command.env(STDOUT, number.to_string()),
            None => command.env_remove(STDOUT),
        };
        if let Some(wdir) = &part.wdir {
            command.current_dir(wdir);
        }
        let prepare = move || {
            signals::reset_in_child()?;
            set_pdeathsig(Signal::SIGKILL)?;
            if getppid() != launcher {
                // The launcher died before its death could have been noticed.
                return Err(Errno::ESRCH.into());
            }
            if let Some(cpus) = &cpus {
                sched_setaffinity(Pid::from_raw(0), cpus)?;
            }
            if let Some((soft, hard)) = open_files {
                setrlimit(Resource::RLIMIT_NOFILE, soft, hard)?;
            }
            for file in &files {
                // SAFETY: it is open in the parent for as long as PEs are started.
                let file = unsafe { BorrowedFd::borrow_raw(*file) };
                fcntl(file, FcntlArg::F_SETFD(FdFlag::empty()))?;
            }
            Ok(())
        };
        // SAFETY: the launcher has one thread, and `prepare` makes system calls only.
        unsafe { command.pre_exec(prepare) };

        let mut child = command.spawn()?;
        let input = child.stdin.take().map(OwnedFd::from);
        let error = child.stderr.take().map(OwnedFd::from);
        let process = Self { child, end: None };
        let Some(error) = error else { unreachable!("it was asked to be a pipe") };
        let output = stdout.ours;
        for pipe in [Some(&output), Some(&error), input.as_ref()].into_iter().flatten() {
            fcntl(pipe.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        Ok((process, Streams { input, output, error }))
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended; `None` while it runs, as far as [`Self::look`] has seen.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Looks whether it has ended since; tells so once.
    pub fn look(&mut self) -> Option<End> {
        if self.end.is_some() {
            return None;
        }
        self.end = peek(self.child.id());
        self.end
    }

    /// Sends a signal to the process and all of its group. Gives the group that the process has
    /// moved to, if it has: its members have to be found (see [`super::strays`]).
    pub fn signal(&self, signal: Signal) -> Option<u32> {
        let pid = Pid::from_raw(self.child.id() as i32);
        // What fails (a set-user-ID program) leaves nothing to be done.
        let _ = killpg(pid, signal);
        let moved = getpgid(Some(pid)).ok().filter(|group| *group != pid)?;
        let _ = kill(pid, signal);
        Some(moved.as_raw() as u32)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// A PE's place in its job, as the library reads it.
fn place(pe: usize, npes: usize, launcher: Pid, files: &[RawFd]) -> String {
    let (control, huge) = (files[0], &files[1..]);
    let huge: String = huge.iter().map(|file| format!(":{file}")).collect();
    format!("{pe}:{npes}:{control}:{launcher}{huge}")
}

fn cpu_set(binding: &[usize]) -> nix::Result<Option<CpuSet>> {
    let mut cpus = CpuSet::new();
    for cpu in binding {
        cpus.set(*cpu)?;
    }
    Ok((!binding.is_empty()).then_some(cpus))
}

/// How the child `pid` ended, leaving it uncollected. By `libc`, as `nix` knows no
/// real-time signals.
fn peek(pid: u32) -> Option<End> {
    // SAFETY: all-zero bytes are a valid `siginfo_t`.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: the call fills the local `info`.
    let rc = unsafe { libc::waitid(libc::P_PID, pid, &mut info, flags) };
    // SAFETY: after `waitid`, or zeroed, these fields are the ones in use.
    let (who, status) = unsafe { (info.si_pid(), info.si_status()) };
    match info.si_code {
        _ if rc != 0 || who == 0 => None,
        libc::CLD_EXITED => Some(End::Exited(status)),
        code => Some(End::Killed(status, code == libc::CLD_DUMPED)),
    }
}
