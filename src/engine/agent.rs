//! A node's agent: the process that PEs of other nodes reach. It maps the slots of its node's PEs
//! and lets UCX carry out what arrives for them, whatever the PEs themselves are doing. It sleeps
//! when nothing arrives.
#![allow(unsafe_code)]

use super::exports::{EXPORT_BYTES, Export, Record, Segment};
use super::ucx::worker::{Registration, Worker};
use crate::atomics::{AtomicU64, Ordering, fence};
use crate::error::Error;
use crate::job::control::{Control, Stage};
use crate::job::file::JobFile;
use crate::sys::socket;
use onenode::backend::Slots;
use onenode::pages::Pages;
use onenode::sys::map;
use std::convert::Infallible;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// Most addresses in a record: the process may be a PE's, and listen for itself, too.
const MOST_LISTENED: usize = 8;
/// How long the agent sleeps at most.
const SLEEP: Duration = Duration::from_millis(500);

/// Serves the PEs of this node, in a process with one thread; `publish` is told, once, how other
/// nodes reach it. It ends with the process.
///
/// # Errors
/// If there is no UCX, or memory cannot be mapped or registered.
pub fn serve(job: Arc<JobFile>, publish: &mut dyn FnMut(&[u8])) -> Result<Infallible, Error> {
    let worker = Worker::open()?;
    let mut agent = Agent::new(worker, job)?;
    publish(&agent.record()?.encode());
    loop {
        while agent.worker.progress() {}
        agent.look()?;
        if agent.worker.arm()? {
            agent.worker.bell().sleep(SLEEP);
        }
    }
}

struct Agent {
    worker: Worker,
    job: Arc<JobFile>,
    /// Where the exports of the node's PEs are.
    exports: NonNull<u8>,
    key: Vec<u8>,
    /// The control area of the last program that a PE has begun, and of those before.
    controls: Vec<Area>,
    pes: Vec<Served>,
}

/// A control area that is registered, and the statistics behind it.
struct Area {
    control: Control,
    segment: Segment,
    statistics: Segment,
}

/// A PE as it is exported.
#[derive(Default)]
struct Served {
    life: (u32, u32),
    mapped: Vec<Mapped>,
}

/// Memory of a PE that is mapped here.
struct Mapped {
    base: NonNull<u8>,
    bytes: usize,
    registration: Registration,
}

impl Agent {
    fn new(worker: Worker, job: Arc<JobFile>) -> Result<Self, Error> {
        let near = job.near().len();
        let exports = map::private_anywhere(near * EXPORT_BYTES)?;
        let exports = NonNull::new(exports as *mut u8)
            .ok_or_else(|| Error::Engine("no memory for what PEs export".into()))?;
        // SAFETY: mapped for good; nothing reads it here.
        let (_, key) = unsafe { worker.register(exports, near * EXPORT_BYTES) }?;
        let pes = std::iter::repeat_with(Served::default).take(near).collect();
        Ok(Self { worker, job, exports, key, controls: Vec::new(), pes })
    }

    fn record(&self) -> Result<Record, Error> {
        let (base, bytes) = (self.exports.as_ptr() as u64, (self.pes.len() * EXPORT_BYTES) as u64);
        let exports = Segment { base, bytes, key: self.key.clone() };
        Ok(Record {
            address: self.worker.address()?,
            exports,
            listens: socket::listening().into_iter().take(MOST_LISTENED).collect(),
        })
    }

    /// Exports the PEs that have begun a lifetime since it looked last. A PE that asks for one that
    /// is not exported yet has woken the agent by asking, and asks again.
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

    /// Where among the control areas the one of a generation is.
    fn area(&mut self, generation: u32) -> Result<usize, Error> {
        let known = |area: &Area| area.control.generation() == generation;
        if let Some(index) = self.controls.iter().position(known) {
            return Ok(index);
        }
        let control = Control::of(self.job.clone(), generation)?;
        let (base, bytes) = control.memory();
        // SAFETY: mapped as long as the control area, which is kept; it is made of atomics.
        let (_, key) = unsafe { self.worker.register(base, bytes) }?;
        let segment = Segment { base: base.as_ptr() as u64, bytes: bytes as u64, key };
        let (offset, bytes) = control.all_statistics();
        let place = (control.file()?, offset, bytes);
        let (_, statistics) = self.worker_segment(place)?;
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
        for Mapped { base, bytes, registration } in self.pes[index].mapped.drain(..) {
            self.worker.unregister(registration)?;
            // SAFETY: this agent's own mapping, which UCX has just let go of.
            unsafe { map::unmap(base.as_ptr(), bytes) };
        }
        let Area { control, segment, statistics } = &self.controls[area];
        let record = &control.pe(pe).slot;
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let pages = Pages::from_word(word(&record.heap_pages));
        let (file, heap) = control.heap_place(pe, pages)?.ok_or_else(|| {
            Error::Engine(format!("the heap of PE {pe} is in a file that the launcher has not got"))
        })?;
        let places = [
            (control.file()?, control.data_offset(pe), word(&record.data_bytes) as usize),
            (file, heap, word(&record.heap_bytes) as usize),
        ];
        let [data, heap] = places.map(|place| self.worker_segment(place));
        let ((data_mapped, data), (heap_mapped, heap)) = (data?, heap?);
        let mapped = vec![data_mapped, heap_mapped];
        let export = Export {
            life,
            image: word(&record.image),
            backend: word(&record.backend),
            data,
            heap,
            control: segment.clone(),
            statistics: statistics.clone(),
        };
        let bytes = export
            .encode()
            .ok_or_else(|| Error::Engine("a key of UCX is longer than expected".into()))?;
        self.pes[index] = Served { life, mapped };
        // SAFETY: inside of the exports. Who reads them over the network checks the life, the first
        // word, which is written last.
        unsafe {
            let at = self.exports.as_ptr().add(index * EXPORT_BYTES);
            let first = &*at.cast::<AtomicU64>();
            first.store(0, Ordering::Relaxed);
            fence(Ordering::Release);
            std::ptr::copy_nonoverlapping(bytes[8..].as_ptr(), at.add(8), EXPORT_BYTES - 8);
            first.store(export.life_word(), Ordering::Release);
        }
        Ok(())
    }

    /// Maps and registers a stretch of a file.
    fn worker_segment(
        &self,
        (file, offset, bytes): (BorrowedFd<'_>, u64, usize),
    ) -> Result<(Mapped, Segment), Error> {
        let base = map::shared_anywhere(file, offset, bytes)?;
        // SAFETY: mapped until it is unregistered; nothing reads it here.
        let (registration, key) = unsafe { self.worker.register(base, bytes) }?;
        let segment = Segment { base: base.as_ptr() as u64, bytes: bytes as u64, key };
        Ok((Mapped { base, bytes, registration }, segment))
    }
}
