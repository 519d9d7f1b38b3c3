//! PMI-1, the "simple" protocol of Hydra on the descriptor that `PMI_FD` names: which PE is on
//! which node, and what nodes exchange before a job on several nodes can begin. `srun --mpi=pmi2`
//! also accepts it.

use oneshmem_job::jobfile::nodes;
use oneshmem_job::sys::{environment, socket};
use std::fs::File;
use std::io::{ErrorKind, Read};

/// The connection to the launcher.
pub(crate) struct Pmi {
    socket: File,
    space: String,
    /// The most bytes of a value, plus 1.
    most: usize,
}

impl Pmi {
    /// Opens the connection.
    pub fn open() -> Result<Self, String> {
        let socket = environment::socket("PMI_FD").ok_or(
            "it offers neither PMI-1 (PMI_FD) nor PMIx (PMIX_NAMESPACE), by which PEs of several nodes \
             find each other",
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
        socket::send(&self.socket, format!("{request}\n").as_bytes())
            .map_err(|error| failed(&error))?;
        // One byte at a time: anything after the answer may be for another library in this process.
        let (mut answer, mut byte) = (Vec::new(), [0]);
        loop {
            match self.socket.read(&mut byte) {
                Ok(0) => return Err(failed(&"the launcher has gone")),
                Ok(_) if byte[0] == b'\n' => break,
                Ok(_) => answer.push(byte[0]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(&error)),
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

    /// Waits until all PEs of the job have called this.
    pub fn barrier(&mut self) -> Result<(), String> {
        self.ask("cmd=barrier_in", "cmd").map(drop)
    }

    /// Disconnects: the launcher treats a process that exits without this as lost.
    pub fn end(&mut self) {
        // An error would have nowhere to be reported.
        let _ = self.ask("cmd=finalize", "cmd");
    }

    /// The number of PEs on each node, in order, in a job of `size` PEs.
    pub fn nodes(&mut self, size: usize) -> Result<Vec<usize>, String> {
        let mapping = self.get("PMI_process_mapping")?;
        sizes(&mapping, size)
    }

    /// Publishes `text` under this name to all PEs, which can read it after the next
    /// [`barrier`](Self::barrier).
    pub fn publish(&mut self, name: &str, text: &str) -> Result<(), String> {
        let parts: Vec<_> = text.as_bytes().chunks(self.most.saturating_sub(1).max(1)).collect();
        for (index, part) in parts.iter().enumerate() {
            self.put(&format!("{name}.{index}"), &String::from_utf8_lossy(part))?;
        }
        self.put(name, &parts.len().to_string())
    }

    /// The text published under this name.
    pub fn fetch(&mut self, name: &str) -> Result<String, String> {
        let parts = self.get(name)?;
        let count: usize = parts.parse().map_err(|_| format!("PMI: {name} is {parts}"))?;
        (0..count).map(|index| self.get(&format!("{name}.{index}"))).collect()
    }
}

/// The value of a field in an answer.
fn field<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    answer.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Parses `(vector,(0,2,3),(2,1,1))`: from node 0 on, 2 nodes with 3 PEs each, then from node 2 on,
/// 1 with 1. If there are more PEs, the list repeats.
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
    nodes::sizes(blocks.into_iter().cycle().flat_map(of_block).take(size), mapping)
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
