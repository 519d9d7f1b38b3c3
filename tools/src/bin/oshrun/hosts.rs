//! The hosts of a job over several nodes, as listed by the user, and the number of PEs on each.

use super::text_file;
use oneshmem_job::jobfile::nodes::{HOST_BYTES, NodeOf};
use std::path::Path;

/// A host that PEs may run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name, as the remote shell takes it.
    pub name: String,
    /// The maximum number of PEs, if the user sets one.
    pub slots: Option<usize>,
}

const EXPECTED: &str = "expected a host, or HOST:SLOTS, as in node1:4";
const EXPECTED_LINE: &str = "expected HOST, HOST:SLOTS or HOST slots=SLOTS";

/// Parses `a,b:4,user@c`.
pub fn from_list(text: &str) -> Result<Vec<Host>, String> {
    let hosts = text.split(',').map(|word| host(word).map_err(|why| format!("{why}; {EXPECTED}")));
    merged(hosts.collect::<Result<_, _>>()?)
}

/// Reads a file with one host per line. `#` begins a comment.
pub fn from_file(path: &Path) -> Result<Vec<Host>, String> {
    let shown = path.display();
    let text = text_file::read(path).map_err(|why| format!("{shown}: {why}"))?;
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let found = line_of_file(line)
            .map_err(|why| format!("{shown}, line {}: {why}; {EXPECTED_LINE}", number + 1))?;
        hosts.extend(found);
    }
    match hosts.is_empty() {
        true => Err(format!("{shown}: it names no host")),
        false => merged(hosts).map_err(|why| format!("{shown}: {why}")),
    }
}

fn line_of_file(line: &str) -> Result<Option<Host>, String> {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(None) };
    let mut host = host(first)?;
    for word in words {
        match word.split_once('=') {
            Some(("slots", slots)) if host.slots.is_none() => host.slots = Some(number(slots)?),
            _ => return Err(format!("'{word}'")),
        }
    }
    Ok(Some(host))
}

fn host(text: &str) -> Result<Host, String> {
    // An address that contains colons needs brackets if a number follows.
    let (name, rest) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some(parts) => parts,
        None if text.matches(':').count() == 1 => text.split_at(text.find(':').unwrap_or_default()),
        None => (text, ""),
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:@%".contains(c) || !c.is_ascii();
    if name.is_empty() || name.starts_with('-') || !name.chars().all(allowed) {
        return Err(format!("'{text}' is not a host"));
    }
    if name.len() > HOST_BYTES {
        return Err(format!("'{name}' has more than {HOST_BYTES} bytes"));
    }
    let slots = match rest.strip_prefix(':') {
        Some(slots) => Some(number(slots)?),
        None if rest.is_empty() => None,
        None => return Err(format!("'{text}' is not a host")),
    };
    Ok(Host { name: name.into(), slots })
}

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(slots @ 1..) => Ok(slots),
        _ => Err(format!("'{text}' is not a number of slots (1 or more)")),
    }
}

/// Merges repeated hosts. Each mention adds its slots, or one slot if it has no number.
fn merged(hosts: Vec<Host>) -> Result<Vec<Host>, String> {
    let mut merged: Vec<Host> = Vec::new();
    let mut mentions = Vec::new();
    for host in hosts {
        match merged.iter().position(|other| other.name == host.name) {
            None => {
                merged.push(host);
                mentions.push(1);
            }
            Some(index) => {
                // A mention without a number counts as one slot.
                merged[index].slots = match (merged[index].slots, host.slots) {
                    (Some(slots), more) => Some(slots + more.unwrap_or(1)),
                    (None, Some(more)) => Some(mentions[index] + more),
                    (None, None) => None,
                };
                mentions[index] += 1;
            }
        }
    }
    if mentions.iter().any(|mentions| *mentions > 1) {
        // Like a batch system's file, which has a line for each CPU.
        for (host, mentions) in merged.iter_mut().zip(mentions) {
            host.slots = host.slots.or(Some(mentions));
        }
    }
    let with = merged.iter().find(|host| host.slots.is_some());
    let without = merged.iter().find(|host| host.slots.is_none());
    match with.zip(without) {
        None => Ok(merged),
        Some((with, without)) => Err(format!(
            "{} has slots, but {} does not: give slots for all hosts or for none",
            with.name, without.name
        )),
    }
}

/// Decides how many PEs each host gets: as many as it has slots, in order, or an equal share if
/// there are no slots. Hosts without PEs are left out. `npes` defaults to the sum of all slots.
pub fn place(hosts: &[Host], npes: Option<usize>) -> Result<Vec<NodeOf>, String> {
    let slots: Option<Vec<usize>> = hosts.iter().map(|host| host.slots).collect();
    let all = slots.as_ref().map(|slots| slots.iter().sum());
    let Some(npes) = npes.or(all) else {
        return Err("the number of PEs is missing: give -n PES, or slots for the hosts, as in --host a:4,b:4".into());
    };
    let counts: Vec<usize> = match slots {
        None => {
            let (each, more) = (npes / hosts.len(), npes % hosts.len());
            (0..hosts.len()).map(|index| each + usize::from(index < more)).collect()
        }
        Some(slots) => {
            let all: usize = slots.iter().sum();
            if npes > all {
                let which = if hosts.len() == 1 { "host has" } else { "hosts have" };
                return Err(format!(
                    "{npes} PEs need more slots than the {which} ({all}); name more hosts or give more \
                     slots, as in {}:{}",
                    hosts[0].name,
                    slots[0] + npes - all
                ));
            }
            let mut left = npes;
            let mut take = |slots: &usize| {
                let pes = left.min(*slots);
                left -= pes;
                pes
            };
            slots.iter().map(&mut take).collect()
        }
    };
    let nodes = hosts.iter().zip(counts).filter(|(_, pes)| *pes > 0);
    Ok(nodes.map(|(host, pes)| NodeOf { pes, host: host.name.clone() }).collect())
}

/// Whether a name refers to the machine on which this command runs.
pub fn is_this_machine(name: &str) -> bool {
    let own = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let is_own = |own: String| name == own || name == short(&own);
    ["localhost", "127.0.0.1", "::1"].contains(&name) || own.is_some_and(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(hosts: &[Host]) -> Vec<(&str, Option<usize>)> {
        hosts.iter().map(|host| (&*host.name, host.slots)).collect()
    }

    #[test]
    fn lists_are_read() {
        let read = |text| from_list(text).unwrap();
        assert_eq!(slots(&read("a,b")), [("a", None), ("b", None)]);
        assert_eq!(slots(&read("a:2,me@b.c:13")), [("a", Some(2)), ("me@b.c", Some(13))]);
        assert_eq!(slots(&read("a,b,a")), [("a", Some(2)), ("b", Some(1))]);
        assert_eq!(slots(&read("a:2,b:1,a:3")), [("a", Some(5)), ("b", Some(1))]);
        assert_eq!(slots(&read("a:4,a")), [("a", Some(5))]);
        assert_eq!(slots(&read("a,a:4")), [("a", Some(5))]);
        assert_eq!(slots(&read("[::1]:2")), [("::1", Some(2))]);
        assert_eq!(slots(&read("fe80::1%eth0,[::1]")), [("fe80::1%eth0", None), ("::1", None)]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (text, named) in [
            ("", "'' is not a host"),
            ("a,,b", "'' is not a host"),
            ("a:0", "'0' is not a number"),
            ("a:x", "'x' is not a number"),
            ("a:", "'' is not a number"),
            ("-oProxyCommand=x", "is not a host"),
            ("a b", "is not a host"),
            ("a;rm", "is not a host"),
            ("[::1]x", "is not a host"),
            ("a:2,b", "a has slots, but b does not"),
        ] {
            let error = from_list(text).expect_err(text);
            assert!(error.contains(named), "{text}: {error}");
        }
        assert!(from_list(&"x".repeat(HOST_BYTES + 1)).is_err());
    }

    #[test]
    fn files_are_read_and_their_mistakes_placed() {
        let path = std::env::temp_dir().join(format!("oshrun-hosts-{}", std::process::id()));
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            from_file(&path)
        };
        let hosts = read("# nodes\n\na slots=2\nb:3 # the other\n").unwrap();
        assert_eq!(slots(&hosts), [("a", Some(2)), ("b", Some(3))]);
        assert_eq!(slots(&read("a\na\nb").unwrap()), [("a", Some(2)), ("b", Some(1))]);
        for (text, named) in [
            ("a\nb slots=x\n", "line 2: 'x' is not a number"),
            ("a\nb cpus=2\n", "line 2: 'cpus=2'"),
            ("a:2 slots=2\n", "line 1: 'slots=2'"),
            ("\n# none\n", "it names no host"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(named), "{text}: {error}");
            assert!(error.contains(&*path.to_string_lossy()), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(from_file(&path).unwrap_err().contains("No such file"));
    }

    #[test]
    fn pes_are_placed_node_by_node() {
        let pes = |text: &str, npes| {
            let nodes = place(&from_list(text).unwrap(), npes)?;
            Ok::<_, String>(nodes.iter().map(|node| node.pes).collect::<Vec<_>>())
        };
        assert_eq!(pes("a,b", Some(5)).unwrap(), [3, 2]);
        assert_eq!(pes("a,b,c", Some(2)).unwrap(), [1, 1]);
        assert_eq!(pes("a:2,b:4", Some(3)).unwrap(), [2, 1]);
        assert_eq!(pes("a:2,b:4", None).unwrap(), [2, 4]);
        assert_eq!(pes("a:2,b:4", Some(2)).unwrap(), [2]);
        assert!(pes("a:2,b:4", Some(7)).unwrap_err().contains("hosts have (6);"));
        assert!(pes("a,b", None).unwrap_err().contains("-n PES"));
    }
}
