//! The first messages between hub and node: the node identifies itself, the hub describes the job.

use super::options::{Options, Program, Pty};
use super::packing::{Reader, Writer};
use oneshmem_job::jobfile::LAYOUT;
use oneshmem_job::jobfile::nodes::NodeOf;
use oneshmem_job::remote::network::Site;
use oneshmem_job::remote::secret::Secret;
use oneshmem_tools::place::{Bind, Map, Place};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// The version of the frames, incremented on every change.
const PROTOCOL: u32 = 8;

/// A string that must be the same on all hosts.
pub fn identity() -> String {
    format!(
        "oneshmem {} (frames {PROTOCOL}, layout {LAYOUT}, {})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    )
}

/// A node's introduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its [`identity`].
    pub identity: String,
    /// Bytes of memory that the host has.
    pub memory: u64,
    /// How the host is reached; `None` from other versions.
    pub site: Option<Site>,
}

impl Hello {
    /// Encodes it for a frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.bytes(self.identity.as_bytes());
        writer.number(self.memory);
        writer.bytes(self.site.as_ref().map(Site::encode).unwrap_or_default().as_bytes());
        writer.done()
    }

    /// Decodes it from a frame. Other versions may have more fields.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let identity = String::from_utf8_lossy(reader.bytes()?).into_owned();
        let memory = reader.number().unwrap_or(0);
        let site = reader.bytes().and_then(|text| Site::decode(std::str::from_utf8(text).ok()?));
        Some(Self { identity, memory, site })
    }
}

/// The description of the job.
#[derive(Debug)]
pub struct Begin {
    /// The number of the node that receives it.
    pub node: usize,
    /// All nodes.
    pub nodes: Vec<NodeOf>,
    /// How each of their hosts is reached.
    pub sites: Vec<Site>,
    /// The size of a heap in bytes, unless a variable sets it.
    pub default_heap: u64,
    /// The key that the job's processes authenticate each other with.
    pub secret: Secret,
    /// Whether PE 0's input may come from a person at a terminal.
    pub interactive: bool,
    /// The most cells in a row of the communication matrix, if there is to be one.
    pub cells: Option<usize>,
    /// The directory in which the user ran the command.
    pub directory: OsString,
    /// The options that concern nodes. Variables to forward are in the environments of the parts.
    pub options: Options,
}

/// All kinds of binding, in the order of their numbers in the frame.
fn binds() -> impl Iterator<Item = Bind> {
    std::iter::once(Bind::None).chain(Place::ALL.map(Bind::To))
}
const PTYS: [Pty; 3] = [Pty::Auto, Pty::Yes, Pty::No];

impl Begin {
    /// Encodes it for a frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let index = |found: Option<usize>| found.unwrap_or(0) as u64;
        let Self { options, .. } = self;
        writer.number(self.node as u64);
        writer.list(&self.nodes, |writer, node| {
            writer.number(node.pes as u64);
            writer.bytes(node.host.as_bytes());
        });
        writer.list(&self.sites, |writer, site| writer.bytes(site.encode().as_bytes()));
        writer.number(self.default_heap);
        writer.bytes(self.secret.bytes());
        writer.number(self.interactive.into());
        writer.number(self.cells.unwrap_or(0) as u64);
        writer.bytes(self.directory.as_bytes());
        writer.number(index(binds().position(|bind| bind == options.bind)));
        writer.number(index(Place::ALL.iter().position(|place| *place == options.map.by)));
        writer.number(options.map.each.unwrap_or(0) as u64);
        writer.number(options.cpus_per_pe.unwrap_or(0) as u64);
        writer.list(options.cpu_set.as_deref().unwrap_or_default(), |writer, cpu| {
            writer.number(*cpu as u64);
        });
        writer.number(index(PTYS.iter().position(|pty| *pty == options.pty)));
        writer.number(options.report_bindings.into());
        writer.number(options.top.is_some().into());
        writer.number(options.top.unwrap_or_default().as_millis() as u64);
        writer.list(&options.parts, |writer, part| {
            writer.number(part.npes.unwrap_or(0) as u64);
            writer.bytes(part.wdir.as_deref().map_or(b"", |wdir| wdir.as_os_str().as_bytes()));
            writer.list(&part.program, |writer, word| writer.bytes(word.as_bytes()));
            writer.list(&part.environment, |writer, (name, value)| {
                writer.bytes(name.as_bytes());
                writer.bytes(value.as_bytes());
            });
        });
        writer.done()
    }

    /// Decodes it from a frame.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let node = reader.index()?;
        let nodes = reader.list(|reader| {
            let pes = reader.index()?;
            Some(NodeOf { pes, host: String::from_utf8_lossy(reader.bytes()?).into_owned() })
        })?;
        let site = |reader: &mut Reader| Site::decode(std::str::from_utf8(reader.bytes()?).ok()?);
        let sites = reader.list(site)?;
        let default_heap = reader.number()?;
        let secret = Secret::of(reader.bytes()?)?;
        let interactive = reader.number()? != 0;
        let cells = Some(reader.index()?).filter(|cells| *cells > 0);
        let directory = reader.text()?;
        let bind = binds().nth(reader.index()?)?;
        let by = *Place::ALL.get(reader.index()?)?;
        let map = Map { by, each: Some(reader.index()?).filter(|each| *each > 0) };
        let cpus_per_pe = Some(reader.index()?).filter(|cpus| *cpus > 0);
        let cpu_set = Some(reader.list(Reader::index)?).filter(|cpus| !cpus.is_empty());
        let pty = *PTYS.get(reader.index()?)?;
        let report_bindings = reader.number()? != 0;
        let (has_top, top) = (reader.number()? != 0, Duration::from_millis(reader.number()?));
        let top = has_top.then_some(top);
        let parts = reader.list(|reader| {
            let npes = Some(reader.index()?);
            let wdir = Some(reader.text()?).filter(|wdir| !wdir.is_empty()).map(Into::into);
            let program = reader.list(Reader::text)?;
            let environment = reader.list(|reader| Some((reader.text()?, reader.text()?)))?;
            (!program.is_empty()).then_some(Program { npes, environment, wdir, program })
        })?;
        let options = Options {
            bind,
            map,
            cpus_per_pe,
            cpu_set,
            pty,
            report_bindings,
            top,
            ..Options::of(parts)
        };
        let pes: usize = nodes.iter().map(|node| node.pes).sum();
        let of_parts: usize = options.parts.iter().filter_map(|part| part.npes).sum();
        let sound = node < nodes.len()
            && sites.len() == nodes.len()
            && pes == of_parts
            && reader.is_empty();
        sound.then_some(Self {
            node,
            nodes,
            sites,
            default_heap,
            secret,
            interactive,
            cells,
            directory,
            options,
        })
    }
}

/// The variables of this command's environment to forward to PEs on the nodes.
pub fn carried() -> Vec<(OsString, OsString)> {
    let of_one_process = [oneshmem_job::env::PASSED_PE, oneshmem_job::env::PASSED_STDOUT];
    let is_carried = |name: &OsStr| {
        ["SHMEM_", "SMA_", "ONESHMEM_"]
            .iter()
            .any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
            && !of_one_process.iter().any(|own| name == *own)
    };
    std::env::vars_os().filter(|(name, _)| is_carried(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStringExt;

    fn begin() -> Begin {
        let part = |npes, words: &[&str]| Program {
            npes: Some(npes),
            environment: vec![("A".into(), "b=c".into())],
            wdir: (npes == 1).then(|| "/tmp".into()),
            program: words.iter().map(OsString::from).collect(),
        };
        let node = |pes, host: &str| NodeOf { pes, host: host.into() };
        Begin {
            node: 1,
            nodes: vec![node(1, "a"), node(2, "b")],
            sites: vec![Site::without_rdma(), Site::without_rdma()],
            default_heap: 1 << 33,
            secret: Secret::of(&[7; Secret::BYTES]).expect("a secret"),
            interactive: true,
            cells: Some(256),
            directory: OsString::from_vec(b"/h\xffome".to_vec()),
            options: Options {
                bind: Bind::To(Place::L3),
                map: Map { by: Place::Numa, each: Some(2) },
                cpus_per_pe: Some(3),
                cpu_set: Some(vec![0, 3]),
                pty: Pty::No,
                top: Some(Duration::from_millis(500)),
                ..Options::of(vec![part(1, &["p", ""]), part(2, &["q", "x y"])])
            },
        }
    }

    #[test]
    fn a_beginning_survives_the_way() {
        let sent = begin();
        let read = Begin::decode(&sent.encode()).unwrap();
        assert_eq!(format!("{sent:?}"), format!("{read:?}"));
        assert_eq!(sent.secret, read.secret);
        let hello = Hello { identity: identity(), memory: 7, site: Some(Site::without_rdma()) };
        assert_eq!(Hello::decode(&hello.encode()), Some(hello));
    }

    #[test]
    fn a_beginning_that_makes_no_sense_is_refused() {
        let bytes = begin().encode();
        for end in 0..bytes.len() {
            assert!(Begin::decode(&bytes[..end]).is_none(), "cut at {end}");
        }
        assert!(Begin::decode(&[&bytes[..], &[0]].concat()).is_none());
        assert!(Begin::decode(&Begin { node: 2, ..begin() }.encode()).is_none());
    }

    proptest! {
        #[test]
        fn garbage_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..300) {
            let _ = Begin::decode(&bytes);
            let _ = Hello::decode(&bytes);
            let mut damaged = begin().encode();
            for (to, from) in damaged.iter_mut().skip(at).zip(&bytes) {
                *to = *from;
            }
            let _ = Begin::decode(&damaged);
        }
    }
}
