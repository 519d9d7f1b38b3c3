//! Steps of a new process before it executes its program, and which of them the system has refused. The standard
//! library passes on an error's number only, so the step's number is put above it.

use nix::errno::Errno;
use onenode_core::Error;
use std::io;

/// A step.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// It leads its own process group.
    Group,
    /// Its signals are reset.
    Signals,
    /// It ends with the launcher.
    Death,
    /// It is bound to its CPUs.
    Affinity,
    /// It gets the user's limit on open files.
    Limit,
    /// It keeps the job's file.
    Pass,
    /// It asks to be traced.
    Trace,
}

const SHIFT: u32 = 16;

impl Step {
    const ALL: [Self; 7] = [
        Self::Group,
        Self::Signals,
        Self::Death,
        Self::Affinity,
        Self::Limit,
        Self::Pass,
        Self::Trace,
    ];

    /// The system call, and what for.
    fn call(self) -> &'static str {
        match self {
            Self::Group => "setpgid, for a process group of its own,",
            Self::Signals => "rt_sigaction or rt_sigprocmask, to reset its signals,",
            Self::Death => "prctl(PR_SET_PDEATHSIG), to end with oshrun,",
            Self::Affinity => "sched_setaffinity, to bind it to its CPUs,",
            Self::Limit => "setrlimit of open files",
            Self::Pass => "fcntl, to keep the job's file,",
            Self::Trace => "ptrace(PTRACE_TRACEME), for a debugger,",
        }
    }

    /// Makes the error to return in the new process.
    pub fn failed(self) -> impl FnOnce(Errno) -> io::Error {
        move |errno| io::Error::from_raw_os_error((self as i32 + 1) << SHIFT | errno as i32)
    }
}

/// The failed step, with the system's reason, if the process was refused one; else the error itself.
pub fn failed_step(error: io::Error) -> Result<Error, io::Error> {
    let number = error.raw_os_error().unwrap_or(0);
    let step = usize::try_from(number >> SHIFT).ok().and_then(|step| step.checked_sub(1));
    match step.and_then(|step| Step::ALL.get(step)) {
        Some(step) => {
            Ok(Error::of(step.call())(io::Error::from_raw_os_error(number & ((1 << SHIFT) - 1))))
        }
        None => Err(error),
    }
}

/// Why a process could not be started, in words.
pub fn in_words(error: io::Error) -> String {
    failed_step(error).map_or_else(|error| error.to_string(), |step| step.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_named_with_the_reason() {
        for step in Step::ALL {
            let error = failed_step(step.failed()(Errno::EPERM)).expect("a step");
            let expected = format!("{} failed: Operation not permitted (os error 1)", step.call());
            assert_eq!(error.to_string(), expected);
        }
        let none = failed_step(io::Error::from_raw_os_error(libc::ENOEXEC)).expect_err("no step");
        assert_eq!(none.raw_os_error(), Some(libc::ENOEXEC));
        assert!(failed_step(io::Error::other("x")).is_err());
    }
}
