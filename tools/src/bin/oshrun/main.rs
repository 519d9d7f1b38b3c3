//! `oshrun`: starts the PEs of a job, on this machine or over several, and stays with them to the
//! end.

mod agent;
mod begin;
mod binding;
mod ending;
mod env_file;
mod failure;
mod files;
mod finish;
mod foreign;
mod frames;
mod guard;
mod heard;
mod hosts;
mod hub;
mod hub_input;
mod input;
mod job;
mod library_path;
mod line;
mod link;
mod matrix;
mod node;
mod on_node;
mod options;
mod orders;
mod output;
mod place;
mod process;
mod program;
mod remote;
mod report;
mod signals;
mod sinks;
mod standstill;
mod start;
mod stdout;
mod strays;
mod stream;
mod usage;
mod verdict;
mod watch;

use failure::Failure;
use files::Files;
use guard::Guard;
use job::Job;
use onenode::atomics::Ordering;
use oneshmem::job::file::JobFile;
use oneshmem::memory::pages;
use options::Options;
use output::{Outputs, To};
use signals::Signals;
use sinks::Sinks;
use start::{Plan, Starter};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use strays::Strays;

fn main() {
    let status = if std::env::args_os().skip(1).eq([node::OPTION]) {
        node::run()
    } else {
        let mut options = options::parse(std::env::args_os());
        match options.hosts.take() {
            Some(hosts) => hub::run(options, &hosts),
            None => run(&options),
        }
    };
    let status = status.unwrap_or_else(|failure| {
        eprintln!("oshrun: {}", failure.message);
        i32::from(failure.status)
    });
    std::process::exit(status)
}

fn run(options: &Options) -> Result<i32, Failure> {
    let begin = Instant::now();
    let plan = Plan::new(options)?;

    // Declared before the processes, so dropped after them.
    let guard = Guard::start()?;
    let strays = Strays::adopt(guard.pid());
    let signals = Signals::take().map_err(Failure::own)?;
    let mut file = JobFile::create(plan.npes())?;
    if let Some(huge) = pages::file(|name| options.parts[0].variable(name)) {
        file = file.create_huge(huge)?;
    }
    // Before the job runs, so that it does not run for nothing.
    let picture = options.comm_matrix.as_deref().map(Picture::create).transpose()?;
    file.header().statistics.store(picture.is_some().into(), Ordering::Relaxed);
    file.sign_as_launcher();
    let file = Arc::new(file);
    let starter = Starter::new(&plan, &file, &guard)?;
    let files = Files::of(options.output.as_deref(), plan.npes())?;
    let sinks = Sinks::new(options.tag_output, files).map_err(Failure::own)?;
    let outputs = Outputs::new(To::Streams(sinks), 0).map_err(Failure::own)?;
    let job = Job::new(&file, starter, strays, outputs, signals, options.timeout, begin);
    let status = job.run().map_err(Failure::own)?;
    let program = options.parts[0].program[0].to_string_lossy();
    picture.map(|picture| picture.draw(&file, &program)).transpose()?;
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

    fn draw(mut self, job: &Arc<JobFile>, program: &str) -> Result<(), Failure> {
        let path = self.path.display();
        let is_table = self.path.extension().is_some_and(|extension| extension == "csv");
        let text = if is_table { matrix::csv(job)? } else { matrix::picture(job, program)? };
        let Some(text) = text else {
            return Err(Failure::own(format!(
                "--comm-matrix {path}: no PE has called shmem_init, so there is nothing to draw"
            )));
        };
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| Failure::own(format!("--comm-matrix {path}: {error}")))
    }
}
