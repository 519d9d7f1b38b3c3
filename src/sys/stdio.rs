//! Makes C's standard output line-buffered under `oshrun`, as for a terminal, though it is a pipe.
//! So the output of a PE is not lost when the PE dies.
#![allow(unsafe_code)]

use nix::sys::stat::{FileStat, fstat};
use oneshmem_job::env::PASSED_STDOUT;
use oneshmem_job::sys::environment;

/// Runs before the program's `main`, so that the program's own choice comes later and takes effect.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = by_lines;

unsafe extern "C" {
    /// C's standard output (stdio(3)).
    static stdout: *mut libc::FILE;
}

extern "C" fn by_lines() {
    let Some(pipe) = environment::variable(PASSED_STDOUT) else { return };
    if pipe.to_str().is_some_and(|pipe| pipe.parse() == Ok(number_of_pipe())) {
        // SAFETY: the C library is initialised before objects that need it, and nothing has been
        // written yet, as setvbuf(3) demands. With null, the C library chooses the buffer.
        unsafe { libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, 0) };
    }
}

/// The inode number of the pipe that is standard output; 0 if it is not a pipe.
fn number_of_pipe() -> u64 {
    let is_pipe = |stat: &FileStat| stat.st_mode & libc::S_IFMT == libc::S_IFIFO;
    fstat(std::io::stdout()).ok().filter(is_pipe).map_or(0, |stat| stat.st_ino)
}
