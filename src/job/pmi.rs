//! PMI-1, the "simple" protocol of Hydra on the descriptor that `PMI_FD` names: which PE is on
//! which node, and what nodes tell each other before a job over several can begin.

use super::nodes::NodeOf;
use crate::sys::environment;
use onenode::sys::fd;
use std::fs::File;
use std::io::{Read, Write};

/// The launcher's end of the protocol.
pub(super) struct Pmi {
    socket: File,
    space: String,
    /// Most bytes of a value, and one.
    most: usize,
}

impl Pmi {
    /// Begins to talk.
    pub fn open() -> Result<Self, String> {
        let number = environment::variable("PMI_FD").and_then(|text| text.to_str()?.parse().ok());
        let socket = number.and_then(fd::socket).ok_or(
            "it offers no PMI-1 (PMI_FD), by which PEs of several nodes find each other: all must be on \
             one; for several start them with oshrun --host",
        )?;
        let mut pmi = Self { socket, space: String::new(), most: 0 };
        pmi.ask("cmd=init pmi_version=1 pmi_subversion=1", "rc")?;
        let most = pmi.ask("cmd=get_maxes", "vallen_max")?;
        pmi.most = most.parse().map_err(|_| format!("PMI: values of {most} bytes"))?;
        pmi.space = pmi.ask("cmd=get_my_kvsname", "kvsname")?;
        Ok(pmi)
    }

    /// Sends a request and reads one field of the answer.
    fn ask(&mut self, request: &str, wanted: &str) -> Result<String, String> {
        let failed = |why: &dyn std::fmt::Display| format!("PMI: {request}: {why}");
        self.socket.write_all(format!("{request}\n").as_bytes()).map_err(|error| failed(&error))?;
        // One byte at a time: what follows may be for another library of this process.
        let (mut answer, mut byte) = (Vec::new(), [0]);
        loop {
            match self.socket.read(&mut byte).map_err(|error| failed(&error))? {
                0 => return Err(failed(&"the launcher has gone")),
                _ if byte[0] == b'\n' => break,
                _ => answer.push(byte[0]),
            }
        }
        let answer = String::from_utf8_lossy(&answer).into_owned();
        if field(&answer, "rc").is_some_and(|rc| rc != "0") {
            return Err(failed(&answer));
        }
        let found = field(&answer, wanted).map(str::to_owned);
        found.ok_or_else(|| failed(&answer))
    }

    fn put(&mut self, key: &str, value: &str) -> Result<(), String> {
        let request = format!("cmd=put kvsname={} key={key} value={value}", self.space);
        self.ask(&request, "rc").map(drop)
    }

    fn get(&mut self, key: &str) -> Result<String, String> {
        self.ask(&format!("cmd=get kvsname={} key={key}", self.space), "value")
    }

    /// Waits until all PEs of the job are here.
    pub fn barrier(&mut self) -> Result<(), String> {
        self.ask("cmd=barrier_in", "cmd").map(drop)
    }

    /// Ends the talk in good order: who leaves without, the launcher takes for lost.
    pub fn end(&mut self) {
        // There is nobody left to tell.
        let _ = self.ask("cmd=finalize", "cmd");
    }

    /// Number of PEs of each node, in order, of a job of `size`.
    pub fn nodes(&mut self, size: usize) -> Result<Vec<usize>, String> {
        let mapping = self.get("PMI_process_mapping")?;
        sizes(&mapping, size)
    }

    /// Tells the other nodes of number `node`.
    pub fn tell(&mut self, node: usize, card: &Card) -> Result<(), String> {
        let agent: String = card.agent.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts: Vec<_> = agent.as_bytes().chunks(self.most.saturating_sub(1).max(1)).collect();
        for (index, part) in parts.iter().enumerate() {
            self.put(&format!("oneshmem-{node}-{index}"), &String::from_utf8_lossy(part))?;
        }
        let Card { heap, host, .. } = card;
        self.put(&format!("oneshmem-{node}"), &format!("{heap}/{}/{host}", parts.len()))
    }

    /// What node number `node` has told; its agent only if that is `wanted`.
    pub fn hear(&mut self, node: usize, wanted: bool) -> Result<Card, String> {
        let text = self.get(&format!("oneshmem-{node}"))?;
        let bad = || format!("PMI: node {node} says {text}");
        let mut fields = text.splitn(3, '/');
        let mut next = || fields.next().ok_or_else(bad);
        let heap = next()?.parse().map_err(|_| bad())?;
        let parts: usize = next()?.parse().map_err(|_| bad())?;
        let host = next()?.to_owned();
        let mut agent = String::new();
        for index in 0..if wanted { parts } else { 0 } {
            agent += &self.get(&format!("oneshmem-{node}-{index}"))?;
        }
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let agent: Option<Vec<u8>> = agent.as_bytes().chunks(2).map(byte).collect();
        Ok(Card { heap, host, agent: agent.ok_or_else(bad)? })
    }
}

/// What a node tells the others.
pub(super) struct Card {
    /// Bytes of a symmetric heap as this node would have it by default.
    pub heap: u64,
    pub host: String,
    /// How its agent is reached.
    pub agent: Vec<u8>,
}

/// The value of a field of an answer.
fn field<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    answer.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Reads `(vector,(0,2,3),(2,1,1))`: from node 0 on, 2 nodes with 3 PEs each, then from node 2 on,
/// 1 with 1; again from the start if there are more PEs.
fn sizes(mapping: &str, size: usize) -> Result<Vec<usize>, String> {
    let bad =
        || format!("PMI_process_mapping is {mapping}; expected (vector,(node,nodes,PEs),...)");
    let inner = mapping.trim().strip_prefix("(vector,(").and_then(|rest| rest.strip_suffix("))"));
    let block = |text: &str| {
        let numbers: Option<Vec<usize>> =
            text.split(',').map(|word| word.trim().parse().ok()).collect();
        <[usize; 3]>::try_from(numbers?).ok()
    };
    let blocks: Option<Vec<_>> = inner.ok_or_else(bad)?.split("),(").map(block).collect();
    let blocks = blocks.ok_or_else(bad)?;
    if blocks.iter().all(|[_, nodes, pes]| nodes * pes == 0) {
        return Err(bad());
    }
    let of_block = |[first, nodes, pes]: [usize; 3]| {
        (first..first.saturating_add(nodes)).flat_map(move |node| std::iter::repeat_n(node, pes))
    };
    let mut sizes: Vec<usize> = Vec::new();
    let mut seen: Vec<usize> = Vec::new();
    for node in blocks.into_iter().cycle().flat_map(of_block).take(size) {
        if seen.last() == Some(&node) {
            sizes.last_mut().into_iter().for_each(|size| *size += 1);
        } else if seen.contains(&node) {
            return Err(format!(
                "PEs are not numbered node by node ({mapping}); expected as many PEs in a row on each \
                 node as it gets"
            ));
        } else {
            seen.push(node);
            sizes.push(1);
        }
    }
    Ok(sizes)
}

/// As a job's file wants them; their hosts become known later.
pub(super) fn unnamed(sizes: &[usize]) -> Vec<NodeOf> {
    sizes.iter().map(|pes| NodeOf { pes: *pes, host: String::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_says_how_many_pes_nodes_have() {
        for (mapping, size, expected) in [
            ("(vector,(0,2,2))", 4, &[2, 2][..]),
            ("(vector,(0,2,2))", 3, &[2, 1]),
            ("(vector,(0,1,3),(1,2,1))", 5, &[3, 1, 1]),
            ("(vector, (0,1,4))", 4, &[]),
            ("(vector,(0,1,2))", 4, &[4]),
            ("(vector,(5,1,2),(3,1,2))", 4, &[2, 2]),
        ] {
            match sizes(mapping, size) {
                Ok(sizes) => assert_eq!(sizes, expected, "{mapping}"),
                Err(error) => assert!(expected.is_empty() && error.contains("expected"), "{error}"),
            }
        }
    }

    #[test]
    fn a_mapping_that_is_none_or_mixes_nodes_is_refused() {
        for mapping in [
            "",
            "(vector)",
            "(vector,(0,2))",
            "(vector,(0,0,2))",
            "(vector,(0,2,1))",
            "(vector,(a,1,1))",
        ] {
            let error = sizes(mapping, 4).expect_err(mapping);
            assert!(error.contains("expected"), "{mapping}: {error}");
        }
    }

    #[test]
    fn fields_are_found() {
        let answer = "cmd=get_result rc=0 msg=success value=a=b";
        assert_eq!(field(answer, "value"), Some("a=b"));
        assert_eq!(field(answer, "rc"), Some("0"));
        assert_eq!(field(answer, "r"), None);
    }
}
