//! Memory of devices: partitions that the processor can neither load from nor store to. The driver
//! copies, and our own kernels carry out atomic operations.
//!
//! A PE's partition is one allocation of its device's memory. Peers get its handle through the
//! control area, and map it when they first access it. Puts and atomic operations are complete when
//! their call returns, as in the processor's memory: a fence is only a barrier for the compiler,
//! and must order even the program's own stores after them. The data of nonblocking gets has
//! arrived when quiet returns.
#![allow(unsafe_code)]

mod cuda;
mod kernels;
mod rectangle;

use crate::atomics::{AtomicU64, Ordering};
use crate::failure;
use cuda::{Cuda, Gpu, IpcHandle, Transfer};
use onenode_core::sys::mutex;
use onenode_core::sys::process;
use oneshmem_job::error::Error;
use oneshmem_job::partition::{Device, Spec};
use oneshmem_job::remote::{
    Amo, Completion, DeviceMemory, Engine, Far, Handle, Scratch, StridedBlocks,
};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

/// Partitions start at a multiple of this, so that blocks have the same offsets on all PEs.
const ALIGNMENT: usize = 2 << 20;
/// The size of a piece of scratch memory, in bytes.
const SCRATCH: usize = 4 << 20;
/// The bit of a [`Far`]'s offset at which the partition's number begins, above an address of this
/// process.
const PART_SHIFT: u32 = 56;

/// This PE's partitions on devices, and its peers'.
pub struct Devices {
    cuda: Cuda,
    parts: Vec<DevicePartition>,
    /// Where peers' parts are mapped, by PE and part.
    peers: Mutex<HashMap<(usize, usize), Mapped>>,
    /// Scratch memory that is not in use.
    scratch: Mutex<Vec<Scratch>>,
    /// The first thread's stack: the driver need not be asked about these addresses.
    stack: Range<usize>,
    pe: usize,
}

struct DevicePartition {
    spec: Spec,
    gpu: Gpu,
    number: usize,
    handle: Handle,
    range: Range<usize>,
    /// How many copies were begun, and how many of them are complete.
    begun: AtomicU64,
    complete: AtomicU64,
}

#[derive(Clone, Copy)]
struct Mapped {
    opened: u64,
    start: usize,
}

impl Devices {
    /// Allocates these partitions of PE `pe`, the `index`th of its node.
    ///
    /// # Errors
    /// If a device or its memory is not available.
    pub fn open(specs: &[Spec], pe: usize, index: usize) -> Result<Self, Error> {
        let Some(first) = specs.first() else {
            return Err(Error::Library("no partition is on a device".into()));
        };
        let cuda = Cuda::load().map_err(|why| first.refused(why))?;
        let mut parts = Vec::new();
        for spec in specs {
            parts.push(DevicePartition::new(&cuda, spec, index).map_err(|why| spec.refused(why))?);
        }
        let stack = process::first_stack();
        Ok(Self { cuda, parts, peers: Mutex::default(), scratch: Mutex::default(), stack, pe })
    }

    /// The part that a [`Far`] is in, and the address where it is mapped here.
    fn place(&self, far: Far) -> (&DevicePartition, usize) {
        let part = (far.offset >> PART_SHIFT) as usize;
        (&self.parts[part], (far.offset & ((1 << PART_SHIFT) - 1)) as usize)
    }

    /// Ends the job if the driver reports an error.
    fn done<T>(&self, part: &DevicePartition, result: Result<T, String>) -> T {
        match result {
            Ok(value) => value,
            Err(why) => failure::fatal(format_args!(
                "partition {} on device {} ({}): {why}",
                part.spec.id, part.number, part.gpu.name
            )),
        }
    }

    /// Begins a copy, which a later [`wait`](Self::wait) completes.
    fn begin_copy(&self, part: &DevicePartition, transfer: Transfer) {
        self.done(part, self.cuda.copy(&part.gpu, transfer));
        // Release: a thread that counts this copy waits for it.
        part.begun.fetch_add(1, Ordering::Release);
    }

    /// Completes all copies begun so far.
    fn wait(&self, part: &DevicePartition) {
        let begun = part.begun.load(Ordering::Acquire);
        self.done(part, self.cuda.wait(&part.gpu));
        // Not earlier: another thread's quiet may rely on it.
        part.complete.fetch_max(begun, Ordering::Release);
    }

    /// Copies, and waits.
    fn copy(&self, part: &DevicePartition, transfer: Transfer) {
        self.done(part, self.cuda.copy(&part.gpu, transfer));
        self.wait(part);
    }

    /// The part whose device copies between two addresses.
    fn part_for(&self, to: usize, from: usize) -> &DevicePartition {
        self.part_of(to).or_else(|| self.part_of(from)).unwrap_or(&self.parts[0])
    }

    /// Carries out an atomic operation; returns the old value if `is_asked`.
    fn run(&self, at: Far, amo: Amo, is_asked: bool) -> u64 {
        let (part, at) = self.place(at);
        let (name, expected) = kernels::kernel(amo);
        let (gpu, operands) = (&part.gpu, [amo.operand, expected]);
        // SAFETY: one of our kernels, and a word of a partition.
        let before = unsafe { self.cuda.run(gpu, kernels::text, &name, at, operands, is_asked) };
        self.done(part, before)
    }

    /// The part that contains an address of this PE, or one mapped for a peer.
    fn part_of(&self, address: usize) -> Option<&DevicePartition> {
        if let Some(part) = self.find(address) {
            return Some(&self.parts[part]);
        }
        let peers = mutex::lock(&self.peers);
        let found = peers.iter().find(|((_, part), mapped)| {
            let bytes = self.parts[*part].range.len();
            (mapped.start..mapped.start + bytes).contains(&address)
        });
        found.map(|((_, part), _)| &self.parts[*part])
    }
}

impl DevicePartition {
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

// SAFETY: each transfer is one of the driver's between what the call names, and `quiet` waits for those of
// every partition.
unsafe impl Engine for Devices {
    unsafe fn put(&self, to: Far, from: *const u8, bytes: usize, _: Completion) {
        let (part, to) = self.place(to);
        // SAFETY: the caller guarantees that `from` is readable for `bytes` bytes. `place` returns
        // where the PE's partition is mapped. The wait is here.
        let transfer = unsafe { Transfer::new(to, from.addr(), StridedBlocks::one(bytes)) };
        self.begin_copy(part, transfer);
        self.wait(part);
    }

    unsafe fn get(&self, to: *mut u8, from: Far, bytes: usize, completion: Completion) {
        let (part, from) = self.place(from);
        // SAFETY: the caller guarantees that `to` is writable for `bytes` bytes until the transfer
        // is over: until the wait here, or a quiet's. `place` returns where the PE's partition is
        // mapped.
        let transfer = unsafe { Transfer::new(to.addr(), from, StridedBlocks::one(bytes)) };
        self.begin_copy(part, transfer);
        if completion == Completion::AtReturn {
            self.wait(part);
        }
    }

    unsafe fn store(&self, to: Far, value: *const u8, bytes: usize) {
        let (part, at) = self.place(to);
        let stored = match bytes {
            // SAFETY: the caller guarantees that `value` is readable for `bytes` bytes, and words
            // of these sizes have no padding. `at` is where the PE's partition is mapped. The wait
            // is below.
            1 | 2 | 4 | 8 => unsafe {
                self.cuda.store(&part.gpu, at, std::slice::from_raw_parts(value, bytes))
            },
            _ => Ok(false),
        };
        match self.done(part, stored) {
            true => self.wait(part),
            // SAFETY: the caller guarantees that `value` is readable for `bytes` bytes.
            false => unsafe { self.put(to, value, bytes, Completion::AtReturn) },
        }
    }

    unsafe fn put_blocks(&self, to: Far, from: *const u8, blocks: StridedBlocks) {
        let (part, to) = self.place(to);
        // SAFETY: the caller guarantees that the blocks are readable from `from` on. `place`
        // returns where the PE's partition is mapped.
        self.copy(part, unsafe { Transfer::new(to, from.addr(), blocks) });
    }

    unsafe fn get_blocks(&self, to: *mut u8, from: Far, blocks: StridedBlocks) {
        let (part, from) = self.place(from);
        // SAFETY: the caller guarantees that the blocks are writable from `to` on. `place` returns
        // where the PE's partition is mapped.
        self.copy(part, unsafe { Transfer::new(to.addr(), from, blocks) });
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

    fn reset(&self) {
        let mut peers = mutex::lock(&self.peers);
        for ((_, part), mapped) in peers.drain() {
            let part = &self.parts[part];
            self.done(part, self.cuda.close(&part.gpu, mapped.opened));
        }
    }
}

// SAFETY: the partitions are allocated, and peers' mapped, for the life of the process; the driver says
// what is on a device.
unsafe impl DeviceMemory for Devices {
    fn engine(&self) -> &dyn Engine {
        self
    }

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn range(&self, part: usize) -> Range<usize> {
        self.parts[part].range.clone()
    }

    fn handle(&self, part: usize) -> Handle {
        self.parts[part].handle
    }

    fn description(&self, part: usize) -> String {
        let DevicePartition { number, gpu, .. } = &self.parts[part];
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
            let mut peers = mutex::lock(&self.peers);
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
        // The process's devices and the processor share one address space.
        self.find(address).is_some()
            || !self.stack.contains(&address) && self.cuda.is_device(&self.parts[0].gpu, address)
    }

    unsafe fn begin(&self, to: *mut u8, from: *const u8, blocks: StridedBlocks) {
        if blocks.bytes > 0 {
            let (to, from) = (to.addr(), from.addr());
            // SAFETY: the caller guarantees that the blocks are writable from `to` on and readable from
            // `from` on until the next quiet, which waits.
            self.begin_copy(self.part_for(to, from), unsafe { Transfer::new(to, from, blocks) });
        }
    }

    unsafe fn set(&self, to: *mut u8, byte: u8, bytes: usize) {
        let part = self.part_of(to.addr()).unwrap_or(&self.parts[0]);
        // SAFETY: the caller guarantees that `to` is writable for `bytes` bytes. The wait is here.
        let set = unsafe { self.cuda.set(&part.gpu, to.addr(), byte, bytes) };
        self.done(part, set);
        self.wait(part);
    }

    fn scratch(&self) -> Scratch {
        let kept = mutex::lock(&self.scratch).pop();
        kept.unwrap_or_else(|| {
            let part = &self.parts[0];
            let start = self.done(part, self.cuda.allocate_host(&part.gpu, SCRATCH));
            Scratch { start, bytes: SCRATCH }
        })
    }

    fn discard(&self, scratch: Scratch) {
        mutex::lock(&self.scratch).push(scratch);
    }
}
