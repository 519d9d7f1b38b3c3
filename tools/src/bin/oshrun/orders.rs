//! What the hub wants of a job on a node, and what the job tells it.

use super::agent::{Agent, Told};
use super::ending::Ending;
use super::failure::OWN_FAILURE;
use super::finish::{ending, ending_of, whose, whose_number};
use super::frames::{Frame, Kind};
use super::job::Job;
use super::link::Lost;
use super::report::Whose;
use nix::sys::signal::Signal;
use oneshmem::job::abort::{self, AbortKind};
use oneshmem::job::nodes::RECORD_BYTES;

impl Job<'_> {
    /// Where the PEs of this node are, to follow a PE's process number.
    pub fn place(&self) -> String {
        self.on_node.as_ref().map_or(String::new(), |node| format!(" on {}", node.host))
    }

    /// A message of this node.
    pub fn on_host(&self, message: &str) -> String {
        match &self.on_node {
            Some(node) => format!("on {}: {message}", node.host),
            None => message.into(),
        }
    }

    /// Tells the hub, if there is one.
    pub fn tell_hub(&mut self, kind: Kind, who: u32, bytes: &[u8]) {
        if let Some(link) = self.outputs.link() {
            link.send(kind, who, bytes);
        }
    }

    /// Tells the hub that the job has to end.
    pub fn tell_end(&mut self, word: u64, message: &str, tell: Option<Whose>) {
        self.tell_hub(Kind::Fail, whose_number(tell), &ending(word, message));
    }

    /// Does what the hub wants.
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
            Kind::Table if bytes.len() <= RECORD_BYTES => {
                if let Some(nodes) =
                    self.file.nodes().filter(|nodes| (who as usize) < nodes.count())
                {
                    nodes.publish(who as usize, &bytes);
                }
            }
            Kind::Input => match &mut self.input {
                Some(input) => input.feed(&bytes),
                None => self.tell_hub(Kind::Input, u32::MAX, &[]),
            },
            Kind::Signal => {
                if let Ok(signal) = Signal::try_from(who as i32) {
                    self.forward(signal)?;
                }
            }
            Kind::Kill => self.end_with_others(whose(who), &bytes),
            Kind::Still => {
                let message = self.with_states(self.on_host("these are their states"), Whose::All);
                self.outputs.say(&message);
            }
            Kind::Cut => self.outputs.cut((who as usize).min(1)),
            Kind::Leave => {
                if let Some(node) = &mut self.on_node {
                    node.may_leave = true;
                }
            }
            _ => self.lose_hub(Lost::Garbage(format!("a frame {kind:?}"))),
        }
        Ok(())
    }

    /// The job ends because of another node, or by the user's wish.
    fn end_with_others(&mut self, tell: Option<Whose>, bytes: &[u8]) {
        let Some((word, _)) = ending_of(bytes) else {
            return self.lose_hub(Lost::Garbage("an end without a cause".into()));
        };
        if self.ending.is_some() {
            return;
        }
        if let Some(whose) = tell {
            let message = self.with_states(String::new(), whose);
            if let Some(states) = message.strip_prefix("\noshrun: ") {
                let states = self.on_host(states);
                self.outputs.say(&states);
            }
        }
        let Some(cause) = abort::decode(word) else { return };
        // The PEs leave with the first cause, theirs or this one.
        abort::raise(self.file, cause.kind, cause.pe, cause.status);
        self.ending = Some(Ending::start(cause.status));
    }

    /// Without the hub there is no job.
    fn lose_hub(&mut self, lost: Lost) {
        if let Some(link) = self.outputs.link() {
            link.close();
        }
        if let Some(node) = &mut self.on_node {
            node.may_leave = true;
        }
        if self.ending.is_none() {
            if let Lost::Garbage(text) = lost {
                eprintln!("oshrun: what came from the hub makes no sense: {text}; ending the job");
            }
            abort::raise(self.file, AbortKind::Launcher, self.file.near().start, 1);
            self.ending = Some(Ending::start(OWN_FAILURE.into()));
        }
    }

    /// The agent has told how it is reached.
    pub fn hear_agent(&mut self) {
        let Some(node) = &mut self.on_node else { return };
        let number = node.node as u32;
        match node.agent.as_mut().and_then(Agent::hear) {
            None => {}
            Some(Told::Record(record)) => self.tell_hub(Kind::Agent, number, &record),
            Some(Told::Failure(why)) => self.lose_agent(&format!("cannot serve: {why}")),
        }
    }

    /// Without its agent a node cannot be reached.
    pub fn look_at_agent(&mut self) {
        let Some(node) = &mut self.on_node else { return };
        let Some(why) = node.agent.as_mut().and_then(Agent::look) else { return };
        self.lose_agent(&why);
    }

    fn lose_agent(&mut self, why: &str) {
        if self.ending.is_none() {
            let message = format!("the agent, which serves other hosts, {why}; ending the job");
            let message = self.on_host(&message);
            self.end(&message, self.file.near().start, OWN_FAILURE.into());
        }
    }

    /// The PEs of this node have ended, but those of others may still need its agent.
    pub fn await_others(&mut self) -> nix::Result<()> {
        self.tell_hub(Kind::Done, 0, &[]);
        while self.on_node.as_ref().is_some_and(|node| !node.may_leave) {
            self.wait(None)?;
            self.look_if_due();
        }
        // Collected before the job's file goes.
        if let Some(node) = &mut self.on_node {
            node.agent = None;
        }
        Ok(())
    }
}
