//! `oshrun`: starts the PEs of a job on this machine and stays with them to the end.

mod binding;
mod ending;
mod failure;
mod guard;
mod input;
mod job;
mod matrix;
mod options;
mod orphans;
mod output;
mod process;
mod program;
mod signals;
mod verdict;

use failure::Failure;
use guard::Guard;
use input::Input;
use job::Job;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use oneshmem::atomics::Ordering;
use oneshmem::job::control::Control;
use oneshmem::memory::pages;
use oneshmem::translate::MAX_PES;
use oneshmem_tools::topology::Topology;
use options::Options;
use orphans::Orphans;
use output::{Outputs, Stream};
use process::{Process, Recipe};
use signals::Signals;
use std::fs::File;
use std::io::Write;
use std::path::Path;

fn main() {
    let options = options::parse(std::env::args_os());
    let status = run(&options).unwrap_or_else(|failure| {
        eprintln!("oshrun: {}", failure.message);
        i32::from(failure.status)
    });
    std::process::exit(status)
}

fn run(options: &Options) -> Result<i32, Failure> {
    let wdir = options.wdir.as_deref().unwrap_or(Path::new("."));
    program::check_directory(wdir)?;
    // The PEs' own PATH counts, as it would in a shell.
    let path = options.variable("PATH").unwrap_or_default();
    let path = program::find(&options.program[0], wdir, &path)?;

    let topology = Topology::usable()
        .map_err(|error| Failure::own(format!("cannot read the usable CPUs: {error}")))?;
    let npes = options.npes.unwrap_or(topology.cpus().len().min(MAX_PES));
    let bindings = binding::plan(&topology, options.bind, options.map, npes);

    // Declared before the processes, so dropped after them.
    let guard = Guard::start()?;
    let mut orphans = Orphans::adopt(guard.pid());
    let signals = Signals::take().map_err(Failure::own)?;
    let mut control = Control::create(npes)?;
    if let Some(file) = pages::file(|name| options.variable(name)) {
        control = control.create_huge(file)?;
    }
    // Before the job runs, so that it does not run for nothing.
    let picture = options.comm_matrix.as_deref().map(Picture::create).transpose()?;
    control.header().statistics.store(picture.is_some().into(), Ordering::Relaxed);
    control.header().launcher.store(std::process::id(), Ordering::Release);
    let recipe = Recipe {
        path,
        program: &options.program,
        wdir: options.wdir.clone(),
        environment: &options.environment,
        files: std::iter::once(control.file()).chain(control.huge_file()).collect(),
        npes,
        open_files: allow_files(npes)?,
    };

    let mut outputs = Outputs::new(options.tag_output).map_err(Failure::own)?;
    let mut input = None;
    let mut processes = Vec::with_capacity(npes);
    for (pe, binding) in bindings.iter().enumerate() {
        let (process, streams) = Process::start(&recipe, pe, binding, input::stdio(pe))
            .map_err(|error| start_failure(&recipe, pe, &error))?;
        if options.report_bindings {
            let where_to = binding::describe(&topology, binding);
            outputs.say(&format!("PE {pe} (pid {}) is {where_to}", process.pid()));
        }
        guard.add(process.pid());
        orphans.except(process.pid());
        processes.push(process);
        outputs.add(pe, Stream::Out, streams.output);
        outputs.add(pe, Stream::Err, streams.error);
        input = input.or(streams.input.map(Input::new));
    }
    let status = Job::new(&control, processes, orphans, outputs, input, signals, options.timeout)
        .run()
        .map_err(Failure::own)?;
    picture.map(|picture| picture.draw(&control)).transpose()?;
    Ok(status)
}

/// The file of `--comm-matrix`.
struct Picture<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> Picture<'a> {
    fn create(path: &'a Path) -> Result<Self, Failure> {
        let file = File::create(path)
            .map_err(|error| Failure::own(format!("--comm-matrix {}: {error}", path.display())))?;
        Ok(Self { path, file })
    }

    fn draw(mut self, control: &Control) -> Result<(), Failure> {
        let path = self.path.display();
        let Some(picture) = matrix::picture(control)? else {
            return Err(Failure::own(format!(
                "--comm-matrix {path}: no PE has called shmem_init, so there is nothing to draw"
            )));
        };
        let written = self.file.write_all(picture.as_bytes());
        written.map_err(|error| Failure::own(format!("--comm-matrix {path}: {error}")))
    }
}

/// Three pipes a PE can be more than the usual limit on open files. Gives the
/// limit to put back in the PEs, if it had to be raised.
fn allow_files(npes: usize) -> Result<Option<(rlim_t, rlim_t)>, Failure> {
    /// Those the launcher has besides, and room for the standard library's own.
    const OTHERS: usize = 32;
    let needed = (2 * npes + OTHERS) as rlim_t;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(Failure::own)?;
    if needed <= soft {
        return Ok(None);
    }
    if needed > hard {
        return Err(Failure::own(format!(
            "{npes} PEs need {needed} open files; the limit (ulimit -Hn) is {hard}"
        )));
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard).map_err(Failure::own)?;
    Ok(Some((soft, hard)))
}

fn start_failure(recipe: &Recipe, pe: usize, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind;
    let program = recipe.program[0].display();
    match error.kind() {
        // The file is there, so it is the interpreter that it names which is not.
        ErrorKind::NotFound => Failure {
            status: program::NOT_FOUND,
            message: format!("{program}: its interpreter (or loader) is not found"),
        },
        ErrorKind::PermissionDenied | ErrorKind::ExecutableFileBusy => Failure {
            status: program::NOT_EXECUTABLE,
            message: format!("{program}: cannot be executed: {error}"),
        },
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => Failure {
            status: program::NOT_EXECUTABLE,
            message: format!("{program}: cannot be executed: {error}"),
        },
        _ => Failure::own(format!("cannot start PE {pe}: {error}")),
    }
}
