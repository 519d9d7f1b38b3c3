//! The hub's reactions to frames from nodes.

use super::begin::{Hello, JobDescription, carried, identity};
use super::failure::OWN_FAILURE;
use super::finish::{ending_of, whose_number};
use super::frames::{Frame, FrameKind};
use super::hub::Hub;
use super::options::{Options, Pty};
use super::remote::{Remote, Stage};
use super::report::ReportScope;
use super::standstill::Standstill;
use super::stream::Stream;
use nix::unistd::isatty;
use oneshmem_job::jobfile::nodes::{NodeOf, RECORD_BYTES};
use oneshmem_job::remote::secret::Secret;

/// How much of another version's identity is shown.
const IDENTITY_SHOWN: usize = 100;

impl Hub {
    /// Handles a frame from a node.
    pub fn take(&mut self, index: usize, frame: Frame) {
        let Frame { kind, who, bytes } = frame;
        let stage = self.remotes[index].stage;
        let pes = self.pes(index);
        let is_own = pes.contains(&(who as usize));
        match kind {
            FrameKind::Hello if stage == Stage::Called => self.greet(index, &bytes),
            _ if stage < Stage::Runs || stage == Stage::Gone => {
                self.distrust(index, &format!("an unexpected frame {kind:?}"));
            }
            FrameKind::Output if is_own => self.sinks.pass(who as usize, Stream::Out, &bytes),
            FrameKind::Error if is_own => self.sinks.pass(who as usize, Stream::Err, &bytes),
            FrameKind::Say => self.sinks.say(&String::from_utf8_lossy(&bytes)),
            FrameKind::Agent if bytes.len() <= RECORD_BYTES => self.introduce(index, bytes),
            FrameKind::Input => self.input.has_gone_on(who),
            FrameKind::Exit if is_own => {
                let status = bytes.try_into().map_or(1, i32::from_le_bytes);
                if self.status == 0 {
                    self.status = status;
                }
            }
            FrameKind::Fail => match ending_of(&bytes) {
                Some((word, message)) => {
                    let notify = (who == whose_number(Some(ReportScope::Waiting)))
                        .then_some(ReportScope::Waiting);
                    self.end(word, &message, notify);
                }
                None => self.distrust(index, "an end without a cause"),
            },
            FrameKind::Still => self.note_standstill(index, who == 1),
            FrameKind::Row
                if self.matrix.as_mut().is_some_and(|m| m.take(index, who as usize, &bytes)) => {}
            FrameKind::Done => {
                self.remotes[index].stage = Stage::Done;
                self.leave_if_done();
            }
            _ => self.distrust(index, &format!("a frame {kind:?} for {who}")),
        }
    }

    pub fn pes(&self, index: usize) -> std::ops::Range<usize> {
        let first = self.remotes[..index].iter().map(|remote| remote.node.pes).sum();
        first..first + self.remotes[index].node.pes
    }

    /// Handles a launcher's introduction. Once all launchers have answered, the job begins.
    fn greet(&mut self, index: usize, bytes: &[u8]) {
        let ours = identity();
        let host = &self.remotes[index].node.host;
        match Hello::decode(bytes) {
            Some(Hello { identity, memory, site: Some(site) }) if identity == ours => {
                self.remotes[index].memory = memory;
                self.remotes[index].site = Some(site);
                self.remotes[index].stage = Stage::There;
            }
            hello => {
                let theirs = hello.map_or("something else".into(), |hello| hello.identity);
                let visible = |c: &char| !c.is_control();
                let theirs: String = theirs.chars().filter(visible).take(IDENTITY_SHOWN).collect();
                let message = format!(
                    "host {host} has {theirs}, this host has {ours}: all hosts need the same \
                     version (--prefix names its directory on the hosts)"
                );
                return self.end_as_launcher(&message, OWN_FAILURE.into(), None);
            }
        }
        if self.all(Stage::There) && self.ending.is_none() {
            self.answers = None;
            self.begin();
        }
    }

    fn begin(&mut self) {
        let secret = match Secret::new() {
            Ok(secret) => secret,
            Err(error) => {
                return self.end_as_launcher(&error.to_string(), OWN_FAILURE.into(), None);
            }
        };
        let nodes: Vec<NodeOf> = self.remotes.iter().map(|remote| remote.node.clone()).collect();
        let sites = self.remotes.iter().filter_map(|remote| remote.site.clone()).collect();
        // As on one node, each PE gets an equal share of memory: here that of the node with the
        // smallest share.
        let share = |remote: &Remote| (remote.memory / remote.node.pes as u64).max(64 << 20);
        let default_heap = self.remotes.iter().map(share).min().unwrap_or(0);
        let terminals = match self.options.pty {
            Pty::Auto if !isatty(std::io::stdout()).unwrap_or(false) => Pty::No,
            Pty::Auto => Pty::Yes,
            chosen => chosen,
        };
        let directory = std::env::current_dir().unwrap_or_else(|_| "/".into()).into_os_string();
        let carried = carried();
        let parts = self.options.parts.iter().cloned().map(|mut part| {
            part.environment = [carried.clone(), part.environment].concat();
            part
        });
        let Options { bind, map, cpus_per_pe, report_bindings, top, .. } = self.options;
        let options = Options {
            bind,
            map,
            cpus_per_pe,
            cpu_set: self.options.cpu_set.clone(),
            report_bindings,
            top,
            pty: terminals,
            ..Options::of(parts.collect())
        };
        let interactive = self.input.is_interactive();
        let cells = self.cells;
        let node = 0;
        let mut begin = JobDescription {
            node,
            nodes,
            sites,
            default_heap,
            secret,
            interactive,
            cells,
            directory,
            options,
        };
        for (node, remote) in self.remotes.iter_mut().enumerate() {
            begin.node = node;
            remote.stage = Stage::Runs;
            remote.link.send(FrameKind::Begin, 0, &begin.encode());
        }
        self.input.begin();
    }

    /// Sends an agent's record to all other nodes.
    fn introduce(&mut self, index: usize, record: Vec<u8>) {
        for (_, remote) in self.remotes.iter_mut().enumerate().filter(|(other, _)| *other != index)
        {
            remote.link.send(FrameKind::Table, index as u32, &record);
        }
        self.remotes[index].agent = Some(record);
    }

    fn note_standstill(&mut self, index: usize, stands: bool) {
        self.remotes[index].stands_still = stands;
        let all =
            self.remotes.iter().all(|remote| remote.stands_still || remote.stage >= Stage::Done);
        if all && stands && !self.stands_still {
            self.sinks.say(&Standstill::message());
            self.send_all(FrameKind::Still, 0, &[]);
        }
        self.stands_still = all;
    }

    /// Handles invalid data from a node.
    fn distrust(&mut self, index: usize, what: &str) {
        let host = &self.remotes[index].node.host;
        let message = format!("host {host} sent invalid data: {what}");
        self.end_as_launcher(&message, OWN_FAILURE.into(), None);
        self.remotes[index].kill();
    }
}
