//! Tells a PE from the processes that it starts (`system`, a debugger, another OpenSHMEM program), which
//! inherit the variables of a foreign launcher. The PE cannot remove them, because MPI may need them in
//! this process later. So it adds a variable, its *claim*: its process ID, and a hash of the launcher's
//! variables. A process with the same hash and another ID was started by the PE, and is not a PE itself. A
//! process of a nested launcher has other variables, so another hash.

use onenode_core::sys::hash::fnv1a;
use onenode_core::sys::process;
use oneshmem_job::sys::environment;
use std::os::unix::fs::MetadataExt;

/// The variable: claims, separated by blanks, of a PE, of the PE that started its launcher, etc.
const VARIABLE: &str = "ONESHMEM_CLAIMED";
/// The variable of PMI's channel to the launcher.
const CHANNEL: &str = "PMI_FD";

/// The variables that a launcher has given this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    values: u128,
    /// The inode of the socket of PMI's channel, if that is among the variables; 0 if there is none.
    /// The numbers alone may be the same in a nested job.
    socket: u64,
}

impl Assignment {
    /// The launcher by these variables.
    pub fn by<'v>(variables: impl Iterator<Item = &'v str>) -> Self {
        let (mut text, mut socket) = (Vec::new(), None);
        for name in variables {
            let Some(value) = environment::variable(name) else { continue };
            text.extend_from_slice(name.as_bytes());
            text.push(b'=');
            text.extend_from_slice(value.as_encoded_bytes());
            text.push(0);
            if name == CHANNEL {
                socket = environment::socket(name);
            }
        }
        let inode = socket.and_then(|socket| socket.metadata().ok()).map_or(0, |it| it.ino());
        Self { values: fnv1a(text), socket: inode }
    }

    /// Whether it was given to a PE that has started this process.
    pub fn is_anothers(self) -> bool {
        claims().iter().any(|claim| claim.covers(self, (process::pid(), process::own_start())))
    }

    /// Claims it for the process `owner`, by its number and start, against the processes that it
    /// starts.
    pub fn claim(self, owner: (u32, u64)) {
        let claim = Claim { owner, assignment: self };
        let mut claims = claims();
        if !claims.contains(&claim) {
            claims.push(claim);
            let text: Vec<_> = claims.iter().map(Claim::text).collect();
            environment::set_variable(VARIABLE, Some(&text.join(" ")));
        }
    }
}

/// A PE's claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claim {
    owner: (u32, u64),
    assignment: Assignment,
}

impl Claim {
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(':');
        let owner = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let values = u128::from_str_radix(fields.next()?, 16).ok()?;
        let assignment = Assignment { values, socket: fields.next()?.parse().ok()? };
        Some(Self { owner, assignment })
    }

    fn text(&self) -> String {
        let Self { owner: (pid, started), assignment: Assignment { values, socket } } = self;
        format!("{pid}:{started}:{values:x}:{socket}")
    }

    /// Whether `process`, which has been given `assignment`, is another than the owner. A process whose
    /// starter has closed the channel was not started by the launcher.
    fn covers(&self, assignment: Assignment, process: (u32, u64)) -> bool {
        self.assignment.values == assignment.values
            && (assignment.socket == self.assignment.socket || assignment.socket == 0)
            && self.owner != process
    }
}

fn claims() -> Vec<Claim> {
    let text = environment::variable(VARIABLE).unwrap_or_default();
    text.to_string_lossy().split(' ').filter_map(Claim::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_against_other_processes_with_one_assignment() {
        let assignment = Assignment { values: 1 << 100 | 7, socket: 9 };
        let claim = Claim { owner: (5, 6), assignment };
        assert_eq!(Claim::parse(&claim.text()), Some(claim));
        assert!(!claim.covers(assignment, (5, 6)), "the PE itself, with another program");
        assert!(claim.covers(assignment, (5, 7)) && claim.covers(assignment, (8, 9)));
        assert!(
            claim.covers(Assignment { socket: 0, ..assignment }, (8, 9)),
            "its channel is closed"
        );
        assert!(
            !claim.covers(Assignment { socket: 4, ..assignment }, (8, 9)),
            "of a nested launcher"
        );
        assert!(
            !claim.covers(Assignment { values: 8, ..assignment }, (8, 9)),
            "of a nested launcher"
        );
        for text in ["", "1", "1:2:3", "1:2:x:4", "-1:2:3:4"] {
            assert_eq!(Claim::parse(text), None, "{text}");
        }
    }
}
