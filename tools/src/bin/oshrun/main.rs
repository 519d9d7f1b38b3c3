//! `oshrun`: starts the PEs of a job, on this machine or over several, and supervises them to the
//! end.

mod agent;
mod begin;
mod binding;
mod debug;
mod ending;
mod env_file;
mod failure;
mod files;
mod finish;
mod foreign;
mod fork;
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
mod orphans;
mod output;
mod picture;
mod process;
mod program;
mod remote;
mod report;
mod signals;
mod sinks;
mod source_lines;
mod source_lookup;
mod standstill;
mod start;
mod stdout;
mod steps;
mod stream;
mod text_file;
mod timeline;
mod top;
mod verdict;
mod watch;

use failure::{Failure, cannot};
use files::Files;
use guard::Guard;
use job::Job;
use matrix::Matrix;
use matrix::file::MatrixFile;
use nix::sys::resource::{Resource, getrlimit, rlim_t};
use onenode_core::atomics::Ordering;
use oneshmem_job::engine::probe;
use oneshmem_job::engine::started;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::pages;
use options::Options;
use orphans::Orphans;
use output::{Outputs, To};
use signals::Signals;
use sinks::Sinks;
use start::{Plan, Starter};
use std::sync::Arc;
use std::time::Instant;
use timeline::Timeline;
use top::Top;

/// The stack that this command needs.
const STACK: rlim_t = 64 << 10;

fn main() {
    // Before anything that could overflow it, of which nobody would learn more than a signal.
    let stack = getrlimit(Resource::RLIMIT_STACK).map_or(STACK, |(soft, _)| soft);
    if stack < STACK {
        let (limit, needed) = (stack >> 10, STACK >> 10);
        eprintln!(
            "oshrun: the limit on the stack (ulimit -s) is {limit} kB; expected {needed} or more"
        );
        std::process::exit(failure::OWN_FAILURE.into());
    }
    with_stack()
}

#[inline(never)]
fn with_stack() {
    let mut words = std::env::args_os().skip(1);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    let status = if first == node::OPTION && words.next().is_none() {
        node::run(second.as_deref())
    } else if std::env::args_os().skip(1).eq([source_lookup::OPTION]) {
        source_lookup::run()
    } else if first == started::OPTION {
        agent::serve_for_pe(second)
    } else if first == probe::OPTION {
        agent::probe_for_pe(second)
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

    let signals = Signals::take()?;
    // Declared before the processes, so that it is dropped after them.
    let guard = Guard::start()?;
    let orphans = Orphans::adopt(guard.pid());
    let mut file = JobFile::create(plan.npes())?;
    if let Some(huge) = pages::file(|name| options.parts[0].variable(name)) {
        file = file.create_huge(huge)?;
    }
    let matrix = options.comm_matrix.as_deref().map(MatrixFile::create).transpose()?;
    file.header().statistics.store(matrix.is_some().into(), Ordering::Relaxed);
    file.sign_as_launcher();
    let file = Arc::new(file);
    let starter = Starter::new(&plan, &file, &guard)?;
    let files = Files::of(options.output.as_deref(), plan.npes())?;
    let sinks = Sinks::new(options.tag_output, files)?;
    let outputs = Outputs::new(To::Streams(sinks), 0)?;
    let trace = options.trace.as_deref().map(Timeline::create).transpose()?;
    let mut job = Job::new(&file, starter, orphans, outputs, signals, options.timeout, begin);
    job.top = options.top.and_then(|every| Top::new(&file, every, begin));
    let status = job.run().map_err(cannot("wait for events"))?;
    let status = trace.map_or(status, |trace| trace.finish(&file, status));
    let Some(matrix) = matrix else { return Ok(status) };
    let counts = Matrix::read(&file, matrix.most_cells());
    Ok(matrix.finish(counts, &[], &options.parts[0].program[0].to_string_lossy(), status))
}
