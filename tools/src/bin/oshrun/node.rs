//! One node of a job over several: its launcher, which communicates with the hub.
//!
//! ```text
//!  hub  --remote shell-->  oshrun --node  --starts-->  PEs of the node
//!       <-----frames------                             the node's agent
//! ```
//!
//! This launcher does for its node everything that the launcher of a job on one machine does, with
//! the same code. Lines, messages and verdicts go to the hub instead of the user, and the user's
//! requests come from the hub.

use super::agent::Agent;
use super::begin::{Hello, JobDescription, identity};
use super::failure::{Failure, OWN_FAILURE, cannot};
use super::finish::ending;
use super::frames::{Frame, FrameKind};
use super::guard::Guard;
use super::job::Job;
use super::link::{Link, LinkLoss, LinkToken};
use super::on_node::OnNode;
use super::orphans::Orphans;
use super::output::{Outputs, To};
use super::signals::Signals;
use super::start::{Plan, Starter};
use super::top::Top;
use nix::poll::{PollFd, PollTimeout, poll};
use onenode_core::atomics::Ordering;
use onenode_core::sys::cgroup;
use oneshmem_job::engine::probe;
use oneshmem_job::env::TRANSPORT;
use oneshmem_job::jobfile::JobFile;
use oneshmem_job::jobfile::abort::{self, AbortKind};
use oneshmem_job::pages;
use oneshmem_job::remote::network::{self, Preference};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

/// The option that runs the command as a node. The only other argument is the user's preference of a
/// transport, if there is one.
pub const OPTION: &str = "--node";

/// Runs a node from start to end.
pub fn run(preference: Option<&OsStr>) -> Result<i32, Failure> {
    let begin = Instant::now();
    let site = probe::own_site(Preference::of(preference).map_err(Failure::own)?);
    let mut link = take_streams().map_err(cannot("take over standard input and output"))?;
    let hello = Hello { identity: identity(), memory: cgroup::memory(), site: Some(site) };
    link.send(FrameKind::Hello, 0, &hello.encode());
    let mut frames = first_frames(&mut link)?.into_iter();
    let Some(frame) = frames.next() else {
        // There is nobody to report to, and nothing to end.
        return Ok(OWN_FAILURE.into());
    };
    let task = match frame.kind {
        FrameKind::Begin => JobDescription::decode(&frame.bytes),
        _ => None,
    };
    let Some(task) = task else {
        return Err(Failure::own("the hub sent something else than the start of a job"));
    };
    let signals = Signals::take()?;
    let guard = Guard::start()?;
    let mut orphans = Orphans::adopt(guard.pid());
    match prepare(&task) {
        Err(failure) => {
            let word = abort::encode(AbortKind::Launcher, 0, failure.status.into());
            let message = format!("on {}: {}", task.nodes[task.node].host, failure.message);
            link.send(FrameKind::Fail, 0, &ending(word, &message));
            link.send(FrameKind::Done, 0, &[]);
            finish(&mut link);
            Ok(failure.status.into())
        }
        Ok((plan, file)) => {
            let starter = Starter::new(&plan, &file, &guard)?;
            let environment = &task.options.parts[0].environment;
            let agent = Agent::start(&file, &mut link, environment, &plan.agent())?;
            if let Some(agent) = &agent {
                orphans.except(agent.pid());
                guard.add(agent.pid());
            }
            let first = file.near().start;
            let outputs = Outputs::new(To::Hub(link), first)?;
            let mut job = Job::new(&file, starter, orphans, outputs, signals, None, begin);
            job.top = task.options.top.and_then(|every| Top::new(&file, every, begin));
            job.on_node = Some(OnNode {
                node: task.node,
                host: task.nodes[task.node].host.clone(),
                interactive: task.interactive,
                cells: task.cells,
                agent,
                early: frames.collect(),
                lost: None,
                may_leave: false,
                looked: 0,
            });
            job.run().map_err(cannot("wait for events"))
        }
    }
}

/// The link over standard input and output. Nothing else uses these from now on.
fn take_streams() -> Result<Link, std::io::Error> {
    let input = stdin().as_fd().try_clone_to_owned()?;
    let output = stdout().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdin(File::open("/dev/null")?)?;
    nix::unistd::dup2_stdout(stderr())?;
    Ok(Link::new(input, output)?)
}

/// Waits for frames. Returns none if the hub has gone.
fn first_frames(link: &mut Link) -> Result<Vec<Frame>, Failure> {
    loop {
        poll_link(link, PollTimeout::NONE).map_err(cannot("wait for the hub"))?;
        let frames = link.ready(LinkToken::Input);
        link.ready(LinkToken::Output);
        if !frames.is_empty() {
            return Ok(frames);
        }
        match link.lost() {
            None => {}
            Some(LinkLoss::Closed) => return Ok(Vec::new()),
            Some(LinkLoss::InvalidFrame(text)) => {
                return Err(Failure::own(format!(
                    "{OPTION} is for oshrun's own use: it reads frames from another oshrun, not {text}"
                )));
            }
        }
    }
}

fn poll_link(link: &Link, timeout: PollTimeout) -> nix::Result<i32> {
    let mut polled: Vec<PollFd> = link.interests(true).map(|(_, fd)| fd).collect();
    poll(&mut polled, timeout)
}

/// Sends what is queued and waits until the hub lets this node leave, or hangs up.
fn finish(link: &mut Link) {
    let mut may_leave = false;
    while !may_leave && link.lost().is_none() {
        let _ = poll_link(link, PollTimeout::NONE);
        may_leave = link.ready(LinkToken::Input).iter().any(|frame| frame.kind == FrameKind::Leave);
        link.ready(LinkToken::Output);
    }
}

/// Finds everything the job needs on this node, and creates its file.
fn prepare(task: &JobDescription) -> Result<(Plan<'_>, Arc<JobFile>), Failure> {
    std::env::set_current_dir(&task.directory).map_err(|error| {
        let directory = task.directory.to_string_lossy();
        Failure::own(format!(
            "cannot change to the directory {directory}: {error} (--wdir names another)"
        ))
    })?;
    let options = &task.options;
    let mut file = JobFile::create_on_nodes(task.node, &task.nodes)?;
    let plan = Plan::new(options)?.on_node(file.near());
    if let Some(huge) = pages::file(|name| options.parts[0].variable(name)) {
        file = file.create_huge(huge)?;
    }
    if task.nodes.len() > 1 {
        file.header().default_heap.store(task.default_heap, Ordering::Relaxed);
        file.set_secret(&task.secret);
    }
    if let Some(nodes) = file.nodes() {
        nodes.set_sites(&task.sites);
        let name = |node: usize| task.nodes[node].host.clone();
        let variable = |name| options.parts[0].variable(name);
        let preference = Preference::of(variable(TRANSPORT.name).as_deref());
        let chosen = variable(network::VARIABLE);
        let route = preference.and_then(|preference| {
            network::route(&task.sites, task.node, name, preference, chosen.as_deref())
        });
        route.and_then(|route| nodes.set_route(&route)).map_err(Failure::own)?;
    }
    file.header().statistics.store(task.cells.is_some().into(), Ordering::Relaxed);
    file.sign_as_launcher();
    Ok((plan, Arc::new(file)))
}
