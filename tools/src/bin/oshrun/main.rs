//! `oshrun`: starts the PEs of a job on this machine and stays with them to the end.

mod binding;
mod ending;
mod failure;
mod foreign;
mod guard;
mod input;
mod job;
mod line;
mod matrix;
mod options;
mod orphans;
mod output;
mod process;
mod program;
mod signals;
mod start;
mod usage;
mod verdict;

use failure::Failure;
use guard::Guard;
use input::Input;
use job::Job;
use oneshmem::atomics::Ordering;
use oneshmem::job::control::Control;
use oneshmem::memory::pages;
use options::Options;
use orphans::Orphans;
use output::{Outputs, Stream};
use signals::Signals;
use start::{Plan, Starter};
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
    let plan = Plan::new(options)?;
    let npes = plan.npes();

    // Declared before the processes, so dropped after them.
    let guard = Guard::start()?;
    let mut orphans = Orphans::adopt(guard.pid());
    let signals = Signals::take().map_err(Failure::own)?;
    let mut control = Control::create(npes)?;
    if let Some(file) = pages::file(|name| options.parts[0].variable(name)) {
        control = control.create_huge(file)?;
    }
    // Before the job runs, so that it does not run for nothing.
    let picture = options.comm_matrix.as_deref().map(Picture::create).transpose()?;
    control.header().statistics.store(picture.is_some().into(), Ordering::Relaxed);
    control.header().launcher.store(std::process::id(), Ordering::Release);
    let starter = Starter::new(&plan, &control, &guard)?;

    let mut outputs = Outputs::new(options.tag_output).map_err(Failure::own)?;
    let mut input = None;
    let mut processes = Vec::with_capacity(npes);
    for pe in 0..npes {
        let (process, streams) = starter.start(pe)?;
        if let Some(where_to) = starter.report(pe) {
            outputs.say(&format!("PE {pe} (pid {}) is {where_to}", process.pid()));
        }
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
