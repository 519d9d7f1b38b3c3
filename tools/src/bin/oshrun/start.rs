//! The plan for a job's PEs, and how they are started one by one.

use super::binding::{self, Binding, Placement};
use super::debug::Debuggers;
use super::failure::{Failure, cannot};
use super::guard::Guard;
use super::input;
use super::library_path;
use super::options::{Options, Program, Pty};
use super::picture;
use super::process::{Process, Recipe, Streams};
use super::program;
use super::stdout::{self, Stdout};
use super::steps::failed_step;
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::unistd::isatty;
use onenode_core::sys::cgroup;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_tools::cli::values::Pes;
use oneshmem_tools::topology::Topology;
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The PEs to start. Creating the plan finds all errors that can be found before the job exists.
pub struct Plan<'a> {
    topology: Topology,
    bindings: Vec<Binding>,
    /// As of [`Placement`].
    is_restricted: bool,
    report_bindings: bool,
    /// Whether PEs have terminals: always, never, or if the launcher has one.
    pty: Pty,
    /// The PEs of this node.
    near: Range<usize>,
    /// Whether a hub feeds PE 0.
    has_hub: bool,
    /// The PEs to debug.
    debug: Option<&'a Pes>,
    /// Descriptors that this command opens for each PE: two pipes, and perhaps two files.
    files_per_pe: usize,
    /// Each part of the command line with its executable and number of PEs.
    parts: Vec<(&'a Program, PathBuf, usize)>,
}

impl<'a> Plan<'a> {
    /// Finds programs and CPUs.
    pub fn new(options: &'a Options) -> Result<Self, Failure> {
        let topology = Topology::usable()
            .map_err(|error| Failure::own(format!("cannot read the usable CPUs: {error}")))?;
        let topology = match &options.cpu_set {
            Some(cpus) => {
                topology.only(cpus).map_err(|why| Failure::own(format!("--cpu-set: {why}")))?
            }
            None => topology,
        };
        let placement = Placement {
            topology: &topology,
            bind: options.bind,
            map: options.map,
            cpus_per_pe: options.cpus_per_pe,
            is_restricted: options.cpu_set.is_some(),
        };
        let quota = cgroup::cpu_quota().map_or(MAX_PES, |quota| {
            cgroup::whole_cpus(quota / options.cpus_per_pe.unwrap_or(1) as f64)
        });
        let places = placement.places().map_err(Failure::own)?.min(quota).min(MAX_PES);
        let parts = options.parts.iter().map(|part| {
            let wdir = part.wdir.as_deref().map_or(Path::new("."), Path::new);
            program::check_directory(wdir)?;
            // Search the PEs' own PATH, as a shell would.
            let path = part.variable("PATH");
            let path = program::find(&part.program[0], wdir, path.as_deref())?;
            program::check_library(&wdir.join(&path))?;
            Ok((part, path, part.npes.unwrap_or(places)))
        });
        let parts: Vec<_> = parts.collect::<Result<_, Failure>>()?;
        let npes: usize = parts.iter().map(|(_, _, npes)| npes).sum();
        let bindings = placement.plan(npes).map_err(Failure::own)?;
        let is_restricted = placement.is_restricted;
        Ok(Self {
            topology,
            bindings,
            is_restricted,
            report_bindings: options.report_bindings,
            pty: options.pty,
            near: 0..npes,
            has_hub: false,
            debug: options.debug.as_ref(),
            files_per_pe: if options.output.is_some() { 4 } else { 2 },
            parts,
        })
    }

    /// Restricts the plan to these PEs, on one node of the job.
    pub fn on_node(mut self, near: Range<usize>) -> Self {
        self.bindings.truncate(near.len());
        Self { near, has_hub: true, ..self }
    }

    /// The CPUs to which this node's agent is bound.
    pub fn agent(&self) -> Binding {
        binding::of_agent(&self.topology, self.is_restricted, &self.bindings)
    }

    /// The number of PEs in the job.
    pub fn npes(&self) -> usize {
        self.parts.iter().map(|(_, _, npes)| npes).sum()
    }
}

/// Starts the PEs.
pub struct Starter<'a> {
    plan: &'a Plan<'a>,
    /// One for each part.
    recipes: Vec<Recipe<'a>>,
    guard: &'a Guard,
    debuggers: Option<Debuggers<'a>>,
    /// Whether the next PE gets a terminal.
    terminals: Cell<bool>,
}

impl<'a> Starter<'a> {
    /// Prepares to start the PEs of this plan, in the job of `file`.
    pub fn new(plan: &'a Plan, file: &'a JobFile, guard: &'a Guard) -> Result<Self, Failure> {
        let open_files = allow_files(plan.files_per_pe * plan.near.len())?;
        let files: Vec<_> = std::iter::once(file.file()?).chain(file.huge_file()?).collect();
        let library = library_path::folder()?;
        let recipe = |(part, path, _): &'a (&'a Program, PathBuf, usize)| Recipe {
            path,
            part,
            library_path: library
                .as_deref()
                .map(|folder| library_path::with(part.variable(library_path::VARIABLE), folder)),
            files: files.clone(),
            npes: plan.npes(),
            open_files,
        };
        let terminals = match plan.pty {
            Pty::Auto => isatty(io::stdout()).unwrap_or(false),
            Pty::Yes => true,
            Pty::No => false,
        };
        let recipes = plan.parts.iter().map(recipe).collect();
        let debuggers = plan.debug.map(|pes| Debuggers::new(pes, plan.npes())).transpose()?;
        Ok(Self { plan, recipes, guard, debuggers, terminals: terminals.into() })
    }

    /// Whether PEs are debugged.
    pub fn is_debugging(&self) -> bool {
        self.debuggers.is_some()
    }

    /// The PEs to start.
    pub fn near(&self) -> Range<usize> {
        self.plan.near.clone()
    }

    /// Starts PE `pe`. Also returns a note for the user, if any.
    pub fn start(&self, pe: usize) -> Result<(Process, Streams, Option<String>), Failure> {
        let (plan, recipe) = (self.plan, self.recipe(pe));
        let (stdout, mut note) = self.stdout(pe)?;
        let debuggers = self.debuggers.as_ref().filter(|debuggers| debuggers.has(pe));
        let input = input::stdio(pe, plan.has_hub)?;
        let (process, streams) = Process::start(
            recipe,
            self.guard,
            pe,
            self.binding(pe),
            input,
            stdout,
            debuggers.is_some(),
        )
        .map_err(|error| start_failure(recipe, pe, error))?;
        if let Some(debuggers) = debuggers {
            let (more, group) = debuggers.open(pe, process.pid())?;
            group.into_iter().for_each(|group| self.guard.add(group));
            note = note.into_iter().chain(more).reduce(|note, more| format!("{note}; {more}"));
        }
        Ok((process, streams, note))
    }

    /// Standard output for PE `pe`. Falls back to a pipe if there is no terminal, unless the user
    /// has asked for terminals.
    fn stdout(&self, pe: usize) -> Result<(Stdout, Option<String>), Failure> {
        let fail =
            |what: &str, errno: Errno| format!("cannot give PE {pe} {what}: {}", errno.desc());
        let mut note = None;
        if self.terminals.get() {
            match stdout::terminal() {
                Ok(terminal) => return Ok((terminal, None)),
                Err(errno) if self.plan.pty == Pty::Yes => {
                    return Err(Failure::own(fail("a pseudo-terminal", errno)));
                }
                Err(errno) => {
                    self.terminals.set(false);
                    let why = fail("a pseudo-terminal", errno);
                    note = Some(format!("{why}; it and the following PEs get pipes (--no-pty)"));
                }
            }
        }
        let pipe = stdout::pipe().map_err(|errno| Failure::own(fail("a pipe", errno)))?;
        Ok((pipe, note))
    }

    /// The recipe of PE `pe`: ranks are numbered across parts.
    fn recipe(&self, pe: usize) -> &Recipe<'a> {
        let mut first = 0;
        let counts = self.plan.parts.iter().map(|(_, _, npes)| *npes);
        let part = counts.take_while(|npes| {
            first += npes;
            first <= pe
        });
        &self.recipes[part.count()]
    }

    /// Describes where PE `pe` is bound, if the user has asked for that.
    pub fn report(&self, pe: usize) -> Option<String> {
        self.describe(self.binding(pe))
    }

    /// Describes where the node's agent is bound, if the user has asked for that.
    pub fn report_agent(&self) -> Option<String> {
        self.describe(&self.plan.agent())
    }

    fn describe(&self, binding: &Binding) -> Option<String> {
        let plan = self.plan;
        plan.report_bindings.then(|| binding::describe(&plan.topology, binding))
    }

    /// Draws where the PEs are bound, if the user has asked for that and any is.
    pub fn picture(&self) -> Option<String> {
        let plan = self.plan;
        plan.report_bindings
            .then(|| picture::draw(&plan.topology, &plan.bindings, plan.near.start))
            .flatten()
    }

    fn binding(&self, pe: usize) -> &Binding {
        &self.plan.bindings[pe - self.plan.near.start]
    }
}

/// Raises the limit on open files if this many pipes and files need it. Returns the limit to
/// restore in the PEs, if it was raised.
pub fn allow_files(files: usize) -> Result<Option<(rlim_t, rlim_t)>, Failure> {
    /// Other descriptors of the launcher, and room for those of the standard library.
    const OTHERS: usize = 32;
    let needed = (files + OTHERS) as rlim_t;
    let (soft, hard) =
        getrlimit(Resource::RLIMIT_NOFILE).map_err(cannot("read the limit on open files"))?;
    if needed <= soft {
        return Ok(None);
    }
    if needed > hard {
        return Err(Failure::own(format!(
            "this job needs {needed} open files; the limit (ulimit -Hn) is {hard}"
        )));
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard)
        .map_err(cannot("raise the limit on open files"))?;
    Ok(Some((soft, hard)))
}

fn start_failure(recipe: &Recipe, pe: usize, error: io::Error) -> Failure {
    use io::ErrorKind;
    let error = match failed_step(error) {
        Ok(step) => return Failure::own(format!("cannot start PE {pe}: {step}")),
        Err(error) => error,
    };
    let program = recipe.part.program[0].to_string_lossy();
    match error.kind() {
        // The file exists, so the interpreter that it names is missing.
        ErrorKind::NotFound => Failure {
            status: program::NOT_FOUND,
            message: format!("{program}: its interpreter or loader is not found"),
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
