//! Memory of devices: partitions that the processor can neither load from nor store to. The driver
//! copies, and kernels of ours carry out atomic operations.
//!
//! A PE's partition is one piece of its device's memory. Peers get its handle through the control
//! area and map it when they first reach for it. Puts and atomic operations are complete when their
//! call returns, as on the processor's memory: a fence, which is no more than an order to the
//! compiler, puts even the program's own stores after them. What nonblocking gets bring is there
//! when quiet returns.
#![allow(unsafe_code)]

mod cuda;
mod kernels;
mod rectangle;

use crate::atomics::{AtomicU64, Ordering};
use crate::engine::{Amo, Blocks, DeviceMemory, Engine, Far, Handle, Over, Scratch};
use crate::error::Error;
use crate::failure;
use crate::memory::partition::{Device, Spec};
use cuda::{Cuda, Gpu, IpcHandle};
use onenode::sys::process;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Partitions start at a multiple of this, so that blocks have the same offsets on all PEs.
const ALIGNMENT: usize = 2 << 20;
/// Bytes of a piece of scratch memory.
const SCRATCH: usize = 4 << 20;
/// Where in a [`Far`] the partition's number begins, behind an address of this process.
const PART_SHIFT: u32 = 56;

/// This PE's partitions on devices, and its peers'.
pub struct Devices {
    cuda: Cuda,
    parts: Vec<Part>,
    /// Where a peer's part is mapped: by PE and part.
    peers: Mutex<HashMap<(usize, usize), Mapped>>,
    /// Scratch memory that nobody uses now.
    scratch: Mutex<Vec<Scratch>>,
    /// Addresses that need not be asked for.
    stack: Range<usize>,
    pe: usize,
}

struct Part {
    spec: Spec,
    gpu: Gpu,
    number: usize,
    handle: Handle,
    range: Range<usize>,
    /// How many copies were begun, and how many of these are complete.
    begun: AtomicU64,
    complete: AtomicU64,
}

#[derive(Clone, Copy)]
struct Mapped {
    opened: u64,
    start: usize,
}

impl Devices {
    /// Takes the memory of these partitions of PE `pe`, the `index`th of its node.
    ///
    /// # Errors
    /// If a device or its memory cannot be had.
    pub fn open(specs: &[Spec], pe: usize, index: usize) -> Result<Self, Error> {
        let Some(first) = specs.first() else {
            return Err(Error::Library("no partition is on a device".into()));
        };
        let cuda = Cuda::load().map_err(|why| first.refused(why))?;
        let mut parts = Vec::new();
        for spec in specs {
            parts.push(Part::new(&cuda, spec, index).map_err(|why| spec.refused(why))?);
        }
        let stack = process::first_stack();
        Ok(Self { cuda, parts, peers: Mutex::default(), scratch: Mutex::default(), stack, pe })
    }

    /// Which part a [`Far`] is in, and where it is mapped here.
    fn place(&self, far: Far) -> (&Part, usize) {
        let part = (far.offset >> PART_SHIFT) as usize;
        (&self.parts[part], (far.offset & ((1 << PART_SHIFT) - 1)) as usize)
    }

    /// Ends the job if the driver did not do what it was told.
    fn done<T>(&self, part: &Part, result: Result<T, String>) -> T {
        match result {
            Ok(value) => value,
            Err(why) => failure::fatal(format_args!(
                "partition {} on device {} ({}): {why}",
                part.spec.id, part.number, part.gpu.name
            )),
        }
    }

    /// Begins a copy, which a later [`wait`](Self::wait) completes.
    unsafe fn begin_copy(&self, part: &Part, to: usize, from: usize, bytes: usize) {
        // SAFETY: the caller's promise.
        let begun = unsafe { self.cuda.copy(&part.gpu, to, from, bytes) };
        self.done(part, begun);
        // Release: who counts it waits for the copy.
        part.begun.fetch_add(1, Ordering::Release);
    }

    /// Completes what was begun.
    fn wait(&self, part: &Part) {
        let begun = part.begun.load(Ordering::Acquire);
        self.done(part, self.cuda.wait(&part.gpu));
        // Not before: another thread's quiet may rely on it.
        part.complete.fetch_max(begun, Ordering::Release);
    }

    unsafe fn move_blocks(&self, part: &Part, to: usize, from: usize, blocks: Blocks) {
        // SAFETY: the caller's promise.
        let begun = unsafe { self.cuda.copy_blocks(&part.gpu, to, from, blocks) };
        self.done(part, begun);
        self.wait(part);
    }

    /// The part whose device is to copy between two addresses.
    fn part_for(&self, to: usize, from: usize) -> &Part {
        self.part_of(to).or_else(|| self.part_of(from)).unwrap_or(&self.parts[0])
    }

    /// Carries out an atomic operation; returns what stood there if that is asked for.
    fn run(&self, at: Far, amo: Amo, is_asked: bool) -> u64 {
        let (part, at) = self.place(at);
        let (name, expected) = kernels::kernel(amo);
        let (gpu, operands) = (&part.gpu, [amo.operand, expected]);
        // SAFETY: a kernel of ours, and a word of a partition.
        let before = unsafe { self.cuda.run(gpu, kernels::text, &name, at, operands, is_asked) };
        self.done(part, before)
    }

    /// The part that an address of this PE or a mapped one is in.
    fn part_of(&self, address: usize) -> Option<&Part> {
        if let Some(part) = self.find(address) {
            return Some(&self.parts[part]);
        }
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let found = peers.iter().find(|((_, part), mapped)| {
            let bytes = self.parts[*part].range.len();
            (mapped.start..mapped.start + bytes).contains(&address)
        });
        found.map(|((_, part), _)| &self.parts[*part])
    }
}

impl Part {
    fn new(cuda: &Cuda, spec: &Spec, index: usize) -> Result<Self, String> {
        let count = cuda.count()?;
        let number = match spec.device {
            None | Some(Device::Default) => 0,
            Some(Device::Spread) => index % count.max(1),
            Some(Device::Number(number)) => number as usize,
        };
        if number >= count {
            return Err(format!("DEVICE is {number}; this process sees {count} devices, from 0"));
        }
        let gpu = cuda.open(number)?;
        let bytes = spec.whole_pages();
        let start = cuda.allocate(&gpu, bytes + ALIGNMENT)?;
        let aligned = start.next_multiple_of(ALIGNMENT as u64);
        let IpcHandle(words) = cuda.export(&gpu, start)?;
        let handle = Handle { words, skipped: aligned - start };
        let range = aligned as usize..aligned as usize + bytes;
        let (begun, complete) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { spec: spec.clone(), gpu, number, handle, range, begun, complete })
    }
}

impl Engine for Devices {
    unsafe fn put(&self, to: Far, from: *const u8, bytes: usize, _: Over) {
        let (part, to) = self.place(to);
        // SAFETY: the caller's promise.
        unsafe { self.begin_copy(part, to, from.addr(), bytes) }
        self.wait(part);
    }

    unsafe fn get(&self, to: *mut u8, from: Far, bytes: usize, over: Over) {
        let (part, from) = self.place(from);
        // SAFETY: the caller's promise.
        unsafe { self.begin_copy(part, to.addr(), from, bytes) }
        if over == Over::AtReturn {
            self.wait(part);
        }
    }

    unsafe fn store(&self, to: Far, value: *const u8, bytes: usize) {
        let (part, at) = self.place(to);
        let stored = match bytes {
            // SAFETY: words of these sizes have no padding; the rest is the caller's promise.
            1 | 2 | 4 | 8 => unsafe {
                self.cuda.store(&part.gpu, at, std::slice::from_raw_parts(value, bytes))
            },
            _ => Ok(false),
        };
        match self.done(part, stored) {
            true => self.wait(part),
            // SAFETY: the caller's promise.
            false => unsafe { self.put(to, value, bytes, Over::AtReturn) },
        }
    }

    unsafe fn put_blocks(&self, to: Far, from: *const u8, blocks: Blocks) {
        let (part, to) = self.place(to);
        // SAFETY: the caller's promise.
        unsafe { self.move_blocks(part, to, from.addr(), blocks) }
    }

    unsafe fn get_blocks(&self, to: *mut u8, from: Far, blocks: Blocks) {
        let (part, from) = self.place(from);
        // SAFETY: the caller's promise.
        unsafe { self.move_blocks(part, to.addr(), from, blocks) }
    }

    fn fetch(&self, at: Far, amo: Amo) -> u64 {
        let before = self.run(at, amo, true);
        if amo.bytes == 4 { before & u64::from(u32::MAX) } else { before }
    }

    fn update(&self, at: Far, amo: Amo) {
        self.run(at, amo, false);
    }

    fn quiet(&self) {
        for part in &self.parts {
            let begun = part.begun.load(Ordering::Acquire);
            if part.complete.load(Ordering::Acquire) < begun {
                self.wait(part);
            }
        }
    }

    fn forget(&self) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        for ((_, part), mapped) in peers.drain() {
            let part = &self.parts[part];
            self.done(part, self.cuda.close(&part.gpu, mapped.opened));
        }
    }
}

impl DeviceMemory for Devices {
    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn range(&self, part: usize) -> Range<usize> {
        self.parts[part].range.clone()
    }

    fn handle(&self, part: usize) -> Handle {
        self.parts[part].handle
    }

    fn told(&self, part: usize) -> String {
        let Part { number, gpu, .. } = &self.parts[part];
        format!("device {number} \"{}\": no load or store", gpu.name)
    }

    fn find(&self, address: usize) -> Option<usize> {
        self.parts.iter().position(|part| part.range.contains(&address))
    }

    fn far(&self, part: usize, pe: usize, address: usize, handle: &dyn Fn() -> Handle) -> Far {
        let own = &self.parts[part];
        let start = if pe == self.pe {
            own.range.start
        } else {
            let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
            let mapped = peers.entry((pe, part)).or_insert_with(|| {
                let Handle { words, skipped } = handle();
                let opened = self.cuda.import(&own.gpu, IpcHandle(words));
                let opened = self.done(own, opened.map_err(|why| format!("of PE {pe}: {why}")));
                Mapped { opened, start: (opened + skipped) as usize }
            });
            mapped.start
        };
        let address = start + (address - own.range.start);
        Far { pe, offset: (part as u64) << PART_SHIFT | address as u64 }
    }

    fn address(&self, far: Far) -> usize {
        self.place(far).1
    }

    fn is_device(&self, address: usize) -> bool {
        // All devices of a process and the processor share one range of addresses.
        self.find(address).is_some()
            || !self.stack.contains(&address) && self.cuda.is_device(&self.parts[0].gpu, address)
    }

    unsafe fn begin(&self, to: *mut u8, from: *const u8, bytes: usize) {
        if bytes > 0 {
            let part = self.part_for(to.addr(), from.addr());
            // SAFETY: the caller's promise.
            unsafe { self.begin_copy(part, to.addr(), from.addr(), bytes) }
        }
    }

    unsafe fn copy_blocks(&self, to: *mut u8, from: *const u8, blocks: Blocks) {
        let (to, from) = (to.addr(), from.addr());
        // SAFETY: the caller's promise.
        unsafe { self.move_blocks(self.part_for(to, from), to, from, blocks) }
    }

    unsafe fn set(&self, to: *mut u8, byte: u8, bytes: usize) {
        let part = self.part_of(to.addr()).unwrap_or(&self.parts[0]);
        // SAFETY: the caller's promise.
        let set = unsafe { self.cuda.set(&part.gpu, to.addr(), byte, bytes) };
        self.done(part, set);
        self.wait(part);
    }

    fn scratch(&self) -> Scratch {
        let kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| {
            let part = &self.parts[0];
            let start = self.done(part, self.cuda.allocate_host(&part.gpu, SCRATCH));
            Scratch { start, bytes: SCRATCH }
        })
    }

    fn discard(&self, scratch: Scratch) {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}
