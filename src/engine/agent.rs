//! A node's agent: the process that PEs on other nodes communicate with. It maps the slots of its
//! node's PEs, and carries out the operations that arrive for them, whatever the PEs
//! themselves are doing. It sleeps when nothing has arrived for a while.
#![allow(unsafe_code)]

use super::exports::{EXPORT_BYTES, Export, Record, Segment, life_word};
use super::polls::Polls;
use super::ucx::server::Server;
use crate::atomics::{AtomicU64, Ordering, fence};
use crate::error::Error;
use crate::job::control::{Control, Stage};
use crate::job::file::JobFile;
use crate::job::nodes::{Nodes, RECORD_BYTES};
use crate::job::{abort, life};
use crate::memory::partition::Spec;
use crate::sys::socket;
use onenode::backend::{Backing, Slots, memfd};
use onenode::pages::Pages;
use onenode::sys::{map, process};
use std::convert::Infallible;
use std::fmt::Display;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most addresses in a record: the agent may run in a PE's process, which listens for itself,
/// too.
const MOST_LISTENED: usize = 8;
/// The longest time that the agent sleeps.
const SLEEP: Duration = Duration::from_millis(500);

/// What an agent reports to the process that started it, over a pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The record by which other nodes reach it.
    Record(Vec<u8>),
    /// The reason why it cannot serve.
    Failure(String),
}

impl Report {
    const RECORD: u8 = b'R';
    const FAILURE: u8 = b'E';
    /// The most bytes of an encoded report: fewer than `PIPE_BUF`, so it arrives whole.
    pub const MOST_BYTES: usize = RECORD_BYTES + 1;

    /// Encodes it for the pipe.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, content) = match self {
            Self::Record(record) => (Self::RECORD, &record[..]),
            Self::Failure(why) => (Self::FAILURE, why.as_bytes()),
        };
        let content = &content[..content.len().min(RECORD_BYTES)];
        [&[kind], content].concat()
    }

    /// Decodes a report; `None` if there are no bytes: the agent has ended without a report.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (&Self::RECORD, record) => Some(Self::Record(record.to_vec())),
            (_, why) => Some(Self::Failure(String::from_utf8_lossy(why).into_owned())),
        }
    }
}

/// Serves the PEs of this node, in a process with one thread. `publish` is called once, with the
/// record by which other nodes reach the agent. Returns only on failure.
///
/// # Errors
/// If UCX is not available, or memory cannot be mapped or registered.
pub fn serve(job: Arc<JobFile>, publish: &mut dyn FnMut(&[u8])) -> Result<Infallible, Error> {
    let server = Server::open()?;
    let mut agent = Agent::new(server, job)?;
    publish(&agent.record()?.encode());
    let mut polls = Polls::new(Instant::now());
    loop {
        let mut came = false;
        while agent.server.progress() {
            came = true;
        }
        agent.look()?;
        agent.accept_end();
        let now = Instant::now();
        if came {
            polls.message(now);
        }
        if polls.again(now) {
            process::yield_cpu();
            polls.yielded(now, Instant::now());
        } else if agent.server.worker.arm()? {
            agent.server.worker.bell().sleep(agent.patience());
        }
    }
}

struct Agent {
    server: Box<Server>,
    job: Arc<JobFile>,
    /// Where the exports of the node's PEs are. They are followed by the job's abort word, which
    /// other nodes write.
    exports: NonNull<u8>,
    bytes: usize,
    /// The control areas of the programs that PEs have begun, the current one and earlier ones.
    controls: Vec<Area>,
    pes: Vec<Served>,
    end: End,
}

/// What the agent knows of the job's end from other nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The job goes on.
    No,
    /// The node's PEs that wait have been told at this time.
    Since(Instant),
    /// So have the others.
    Told,
}

/// A control area, with the statistics that belong to it.
struct Area {
    control: Control,
    segment: Segment,
    statistics: Segment,
}

/// A PE as it was exported.
#[derive(Default)]
struct Served {
    life: (u32, u32),
    mapped: Vec<Mapped>,
}

/// Memory of a PE, mapped here.
struct Mapped {
    base: NonNull<u8>,
    bytes: usize,
}

impl Agent {
    fn new(server: Box<Server>, job: Arc<JobFile>) -> Result<Self, Error> {
        let near = job.near().len();
        let bytes = near * EXPORT_BYTES + size_of::<AtomicU64>();
        let exports = map::private_anywhere(bytes)?;
        let exports = NonNull::new(exports as *mut u8)
            .ok_or_else(|| Error::Engine("no memory for the exports of the PEs".into()))?;
        let pes = std::iter::repeat_with(Served::default).take(near).collect();
        Ok(Self { server, job, exports, bytes, controls: Vec::new(), pes, end: End::No })
    }

    /// How long it may sleep.
    fn patience(&self) -> Duration {
        if matches!(self.end, End::Since(_)) { abort::NOTICE } else { SLEEP }
    }

    fn record(&self) -> Result<Record, Error> {
        let base = self.exports.as_ptr() as u64;
        let exports = Segment { base, bytes: self.bytes as u64 };
        Ok(Record {
            address: self.server.worker.address()?,
            exports,
            listens: socket::listening().into_iter().take(MOST_LISTENED).collect(),
        })
    }

    /// Ends the job on this node when another node reports its end: PEs that wait see the abort
    /// word; those that compute get a signal, a little later.
    fn accept_end(&mut self) {
        match self.end {
            End::No => {
                let at = self.bytes - size_of::<AtomicU64>();
                // SAFETY: the last word of the exports, aligned, which only atomics access here.
                let word = unsafe { &*self.exports.as_ptr().add(at).cast::<AtomicU64>() };
                let word = word.load(Ordering::Acquire);
                if word != 0 {
                    abort::accept(&self.job, word);
                    self.end = End::Since(Instant::now());
                }
            }
            End::Since(time) if time.elapsed() >= abort::NOTICE => {
                self.end = End::Told;
                for pe in self.job.near() {
                    if let Ok(Some(control)) = Control::last(&self.job, pe) {
                        life::tell_end(&control, pe);
                    }
                }
            }
            End::Since(_) | End::Told => {}
        }
    }

    /// Exports the PEs that have begun a lifetime since the last call. A PE that asks for one that
    /// is not exported yet wakes the agent by asking, and asks again.
    fn look(&mut self) -> Result<(), Error> {
        for pe in self.job.near() {
            let programs = self.job.programs(pe);
            if programs == 0 {
                continue;
            }
            let area = self.area(programs - 1)?;
            let record = self.controls[area].control.pe(pe);
            let life = (programs, record.lifetime());
            let index = pe - self.job.near().start;
            if record.stage() == Stage::Ready && self.pes[index].life != life {
                self.export(pe, index, area, life)?;
            }
        }
        Ok(())
    }

    /// The index of the control area of a generation; maps it first if necessary.
    fn area(&mut self, generation: u32) -> Result<usize, Error> {
        let known = |area: &Area| area.control.generation() == generation;
        if let Some(index) = self.controls.iter().position(known) {
            return Ok(index);
        }
        let control = Control::of(self.job.clone(), generation)?;
        let (base, bytes) = control.memory();
        let segment = Segment { base: base.as_ptr() as u64, bytes: bytes as u64 };
        let (offset, bytes) = control.all_statistics();
        let statistics = Mapped::of((control.file()?, offset, bytes))?.segment();
        self.controls.push(Area { control, segment, statistics });
        Ok(self.controls.len() - 1)
    }

    fn export(
        &mut self,
        pe: usize,
        index: usize,
        area: usize,
        life: (u32, u32),
    ) -> Result<(), Error> {
        // Answers to PEs of the last lifetime have been sent: they have left it since.
        for Mapped { base, bytes } in self.pes[index].mapped.drain(..) {
            // SAFETY: this agent's own mapping.
            unsafe { map::unmap(base.as_ptr(), bytes) };
        }
        let Area { control, segment, statistics } = &self.controls[area];
        let record = &control.pe(pe).slot;
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let pages = Pages::from_word(word(&record.heap_pages));
        let (file, heap) = control.heap_place(pe, pages)?.ok_or_else(|| {
            Error::Engine(format!(
                "the heap of PE {pe} is in a file that the launcher did not create"
            ))
        })?;
        let places = [
            (control.file()?, control.data_offset(pe), word(&record.data_bytes) as usize),
            (file, heap, word(&record.heap_bytes) as usize),
        ];
        let [data, heap] = places.map(Mapped::of);
        let mut mapped = vec![data?, heap?];
        let (data, heap) = (mapped[0].segment(), mapped[1].segment());
        let partitions = match Self::partitions(control, pe)? {
            Some((partitions_mapped, segment)) => {
                mapped.push(partitions_mapped);
                segment
            }
            None => Segment::default(),
        };
        let export = Export {
            life,
            image: word(&record.image),
            backend: word(&record.backend),
            partitions_number: word(&control.pe(pe).partitions),
            data,
            heap,
            partitions,
            control: *segment,
            statistics: *statistics,
            worker: self.job.nodes().map(Nodes::worker).unwrap_or_default(),
        };
        let bytes = export
            .encode()
            .ok_or_else(|| Error::Engine("an address of UCX is longer than expected".into()))?;
        self.pes[index] = Served { life, mapped };
        // SAFETY: within the exports. PEs that read them over the network check the life, the first
        // word, which is written last.
        unsafe {
            let at = self.exports.as_ptr().add(index * EXPORT_BYTES);
            let first = &*at.cast::<AtomicU64>();
            first.store(0, Ordering::Relaxed);
            fence(Ordering::Release);
            std::ptr::copy_nonoverlapping(bytes[8..].as_ptr(), at.add(8), EXPORT_BYTES - 8);
            first.store(life_word(life), Ordering::Release);
        }
        Ok(())
    }

    /// Maps a PE's partitions at their distances. The segment has the gaps between, too, which no
    /// checked operation reaches.
    fn partitions(control: &Control, pe: usize) -> Result<Option<(Mapped, Segment)>, Error> {
        let partitions = control.mapped_partitions(pe)?;
        let end = |(spec, offset): &(Spec, usize)| offset + spec.whole_pages();
        let Some(bytes) = partitions.iter().map(end).max() else { return Ok(None) };
        let alignment = partitions.iter().map(|(spec, _)| spec.pages.size()).fold(1, usize::max);
        let room = bytes + alignment;
        let reserved = map::reserve(room)?;
        let first = reserved.next_multiple_of(alignment);
        for (spec, offset) in &partitions {
            let at = first + offset..first + offset + spec.whole_pages();
            let lost =
                |why: &dyn Display| Error::Engine(format!("{} of PE {pe}: {why}", spec.shown()));
            let backing =
                control.backing(spec, pe, *offset as u64).map_err(|error| lost(&error))?;
            // SAFETY: the place was reserved just now, and nobody uses it yet.
            let mapped = unsafe {
                match backing {
                    Backing::File(file) => memfd::map_peers_file(&at, file.as_fd()),
                    Backing::Memory(pages, Some(place)) => memfd::map_peers(&at, pages, place),
                    Backing::Memory(_, None) => {
                        return Err(lost(
                            &"its memory is in a file that the launcher did not create",
                        ));
                    }
                }
            };
            mapped.map_err(|error| lost(&error))?;
        }
        let segment = Segment { base: first as u64, bytes: bytes as u64 };
        Ok(Some((Mapped { base: address(reserved)?, bytes: room }, segment)))
    }
}

impl Mapped {
    /// Maps a range of a file.
    fn of((file, offset, bytes): (BorrowedFd<'_>, u64, usize)) -> Result<Self, Error> {
        let base = map::shared_anywhere(file, offset, bytes)?;
        Ok(Self { base, bytes })
    }

    fn segment(&self) -> Segment {
        Segment { base: self.base.as_ptr() as u64, bytes: self.bytes as u64 }
    }
}

fn address(at: usize) -> Result<NonNull<u8>, Error> {
    NonNull::new(at as *mut u8).ok_or_else(|| Error::Engine("memory at address 0".into()))
}
