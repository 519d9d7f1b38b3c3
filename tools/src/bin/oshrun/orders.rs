//! The hub's requests to a job on a node, and the job's reports to the hub.

use super::agent::Agent;
use super::ending::Ending;
use super::failure::OWN_FAILURE;
use super::finish::{ending, ending_of, whose, whose_number};
use super::frames::{Frame, FrameKind};
use super::job::Job;
use super::link::LinkLoss;
use super::matrix::{Grid, Row};
use super::on_node::OnNode;
use super::report::ReportScope;
use nix::sys::signal::Signal;
use oneshmem_job::engine::agent::Report;
use oneshmem_job::jobfile::abort::{self, AbortKind};
use oneshmem_job::jobfile::nodes::RECORD_BYTES;
use std::time::{Duration, Instant};

/// How long after the end of an agent to wait for its cause: UCX ends an agent if PEs of other nodes die while
/// they connect, and the hub says so.
const CAUSE: Duration = Duration::from_millis(500);

impl Job<'_> {
    /// The host of this node's PEs, to append to a PE's process ID.
    pub fn place(&self) -> String {
        self.on_node.as_ref().map_or(String::new(), |node| format!(" on {}", node.host))
    }

    /// Prefixes a message with this node's host.
    pub fn on_host(&self, message: &str) -> String {
        match &self.on_node {
            Some(node) => format!("on {}: {message}", node.host),
            None => message.into(),
        }
    }

    /// Sends a frame to the hub, if there is one.
    pub fn notify_hub(&mut self, kind: FrameKind, who: u32, bytes: &[u8]) {
        if let Some(link) = self.outputs.link() {
            link.send(kind, who, bytes);
        }
    }

    /// Reports to the hub that the job has to end.
    pub fn notify_end(&mut self, word: u64, message: &str, notify: Option<ReportScope>) {
        self.notify_hub(FrameKind::Fail, whose_number(notify), &ending(word, message));
    }

    /// Handles the hub's frames.
    pub fn take_frames(&mut self, frames: Vec<Frame>) -> nix::Result<()> {
        for frame in frames {
            self.take_frame(frame)?;
        }
        if let Some(lost) = self.outputs.link().and_then(|link| link.lost().cloned()) {
            self.lose_hub(lost);
        }
        Ok(())
    }

    fn take_frame(&mut self, Frame { kind, who, bytes }: Frame) -> nix::Result<()> {
        match kind {
            FrameKind::Table if bytes.len() <= RECORD_BYTES => {
                if let Some(nodes) =
                    self.file.nodes().filter(|nodes| (who as usize) < nodes.count())
                {
                    nodes.publish(who as usize, &bytes);
                }
            }
            FrameKind::Input => match &mut self.input {
                Some(input) => input.feed(&bytes),
                None => self.notify_hub(FrameKind::Input, u32::MAX, &[]),
            },
            FrameKind::Signal => {
                if let Ok(signal) = Signal::try_from(who as i32) {
                    self.forward(signal)?;
                }
            }
            FrameKind::Kill => self.end_with_others(whose(who), &bytes),
            FrameKind::Still => {
                let message =
                    self.with_states(self.on_host("the PEs are in these states"), ReportScope::All);
                self.outputs.say(&message);
            }
            FrameKind::Cut => self.outputs.cut((who as usize).min(1)),
            FrameKind::Leave => {
                if let Some(node) = &mut self.on_node {
                    node.may_leave = true;
                }
            }
            _ => self.lose_hub(LinkLoss::InvalidFrame(format!("a frame {kind:?}"))),
        }
        Ok(())
    }

    /// Ends the job because of another node or at the user's request.
    fn end_with_others(&mut self, notify: Option<ReportScope>, bytes: &[u8]) {
        let Some((word, _)) = ending_of(bytes) else {
            return self.lose_hub(LinkLoss::InvalidFrame("an end without a cause".into()));
        };
        if self.ending.is_some() {
            return;
        }
        if let Some(whose) = notify {
            let message = self.with_states(String::new(), whose);
            if let Some(states) = message.strip_prefix("\noshrun: ") {
                let states = self.on_host(states);
                self.outputs.say(&states);
            }
        }
        let Some(cause) = abort::decode(word) else { return };
        // The PEs leave with the first cause, which may be theirs or this one.
        abort::raise(self.file, cause.kind, cause.pe, cause.status);
        self.ending = Some(Ending::start(cause.status));
    }

    /// Ends the job: it cannot run without the hub.
    fn lose_hub(&mut self, lost: LinkLoss) {
        if let Some(link) = self.outputs.link() {
            link.close();
        }
        if let Some(node) = &mut self.on_node {
            node.may_leave = true;
        }
        if self.ending.is_none() {
            if let LinkLoss::InvalidFrame(text) = lost {
                eprintln!("oshrun: the hub sent invalid data: {text}; ending the job");
            }
            abort::raise(self.file, AbortKind::Launcher, self.file.near().start, 1);
            self.ending = Some(Ending::start(OWN_FAILURE.into()));
        }
    }

    /// Forwards the agent's report.
    pub fn hear_agent(&mut self) {
        let Some(node) = &mut self.on_node else { return };
        let number = node.node as u32;
        match node.agent.as_mut().and_then(Agent::hear) {
            None => {}
            Some(Report::Record(record)) => self.notify_hub(FrameKind::Agent, number, &record),
            Some(Report::Failure(why)) => self.lose_agent(&format!("cannot serve: {why}")),
        }
    }

    /// Checks the agent: without it the node cannot be reached.
    pub fn look_at_agent(&mut self) {
        let Some(node) = &mut self.on_node else { return };
        let now = Instant::now();
        if let Some(how) = node.agent.as_mut().and_then(Agent::look) {
            node.lost = Some((now + CAUSE, how));
        }
        match node.lost.take_if(|(due, _)| *due <= now) {
            Some((_, how)) => self.lose_agent(&how),
            None => {
                let due = node.lost.as_ref().map(|(due, _)| *due);
                self.look = self.look.into_iter().chain(due).min();
            }
        }
    }

    fn lose_agent(&mut self, why: &str) {
        if self.ending.is_none() {
            let message = format!("the agent, which serves other hosts, {why}; ending the job");
            let message = self.on_host(&message);
            self.end(&message, self.file.near().start, OWN_FAILURE.into());
        }
    }

    /// Sends the rows of this node's PEs for the communication matrix, if there is to be one.
    fn send_rows(&mut self) {
        let Some(OnNode { node, cells: Some(most), .. }) = self.on_node else { return };
        let sizes = match self.file.nodes() {
            Some(nodes) => (0..nodes.count()).map(|node| nodes.pes(node).len()).collect(),
            None => vec![self.file.npes()],
        };
        let grid = Grid::new(&sizes, most);
        for row in grid.of_node(node) {
            match Row::read(self.file, &grid, row) {
                Ok(counts) => self.notify_hub(FrameKind::Row, row as u32, &counts.encode()),
                Err(error) => {
                    let message = self.on_host(&format!("the communication matrix: {error}"));
                    self.outputs.say(&message);
                }
            }
        }
    }

    /// Waits for other nodes: this node's PEs have ended, but others may still need its agent.
    pub fn await_others(&mut self) -> nix::Result<()> {
        self.send_rows();
        self.notify_hub(FrameKind::Done, 0, &[]);
        while self.on_node.as_ref().is_some_and(|node| !node.may_leave) {
            self.wait(None)?;
            self.look_if_due();
        }
        // Collect the agent before the job's file is removed.
        if let Some(node) = &mut self.on_node {
            node.agent = None;
        }
        Ok(())
    }
}
