//! The slow path. Every case except "initialised, symmetric address, peer attached" comes here. It
//! is either turned into that case, or ends the job with a message that explains the error.

mod peers;

use crate::argument;
use crate::argument::memory::{Object, same_length};
use crate::call::{self, Call, job};
use crate::context;
use crate::failure;
use crate::failure::fault::Refused;
use crate::message;
use crate::pe::{Job, about};
use crate::span::{ADDRESSES, Span};
use crate::stats;
use crate::timeline::recorder::Details;
use crate::translate::{ALL_OR_NONE, Miss, PeArg, TABLE, pe_number};
use onenode_core::sys::maps;
use oneshmem_job::error::Routine;
use oneshmem_job::jobfile::MAX_PES;
use oneshmem_job::remote::{self, AccessTarget, DeviceMemory, Far};
use oneshmem_job::stats::Class;
use std::fmt::Display;
use std::marker::PhantomData;

/// A symmetric object of one element, by the offset of its address.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Missed<'m, T>(Miss, PhantomData<(&'m (), T)>);

impl<'m, T: Copy> Missed<'m, T> {
    /// This object. Panics unless it has one element.
    #[inline(always)]
    pub fn of(object: Object<'m, T>) -> Self {
        same_length(object.len(), 1);
        Self(TABLE.miss(object.address()), PhantomData)
    }

    /// The same offset that [`translate`](crate::translate::translate) computes of its address.
    #[inline(always)]
    pub fn miss(self) -> Miss {
        self.0
    }
}

/// The target of an access that the hot path could not handle. Returns only with an address in the
/// PE's mirror.
#[cold]
pub fn resolve(routine: Routine, argument: &str, ctx: usize, miss: Miss, pe: PeArg) -> usize {
    address_of(routine, argument, ctx, TABLE.address(miss), pe)
}

/// The class of an operation, and the name of its symmetric argument.
pub struct Access(pub Class, pub &'static str);

/// The access of a put.
pub static PUT: Access = Access(Class::Put, "dest");
/// The access of a get.
pub static GET: Access = Access(Class::Get, "source");

/// The place where an operation of the program on this much memory goes, and the call, for as long as
/// the operation lasts. Counts the operation if statistics are on. Returns only if the place has room for
/// all of it.
#[cold]
pub fn access(
    routine: Routine,
    access: &'static Access,
    ctx: usize,
    miss: Miss,
    pe: PeArg,
    span: Span,
) -> (AccessTarget, Call) {
    let Access(class, argument) = access;
    let mut call = call::begin(routine);
    let addr = TABLE.address(miss);
    let place = place_of(routine, argument, ctx, addr, pe);
    check_span(routine, argument, addr, span);
    let (bytes, peer) = (span.accessed, context::world_pe(ctx, pe_number(pe)));
    stats::count(routine, *class, bytes, peer);
    call.describe(|| Details {
        class: *class,
        bytes,
        peer,
        place: about::place_number(job(routine), addr),
        algorithm: None,
    });
    (place, call)
}

/// The place of any address for any PE of a context; attaches the PE if necessary.
fn place_of(routine: Routine, argument: &str, ctx: usize, addr: usize, pe: PeArg) -> AccessTarget {
    let job = job(routine);
    let pe = world_pe(routine, job, ctx, pe);
    if let Some((devices, far)) = device(job, addr, pe) {
        return AccessTarget::Far(devices.engine(), far);
    }
    check_symmetric(routine, argument, job, addr);
    match job.engine_to(pe) {
        Some(engine) => AccessTarget::Far(engine, far(routine, argument, job, addr, pe)),
        None => AccessTarget::Near(mirrored(routine, argument, job, addr, pe)),
    }
}

/// The engine for an address of a partition on a device, and the address's place on PE `pe`; `None`
/// for other addresses.
fn device(job: &'static Job, addr: usize, pe: usize) -> Option<(&'static dyn DeviceMemory, Far)> {
    let devices = job.devices()?;
    let part = devices.find(addr)?;
    // The PE's handle is available once it is attached.
    job.mirror(pe);
    Some((devices, devices.far(part, pe, addr, &|| job.control().handle(pe, part))))
}

/// Where an address of a partition on a device is mapped here for PE `pe` of the world: for the
/// driver, not for the processor. `None` for other addresses.
#[cold]
pub fn device_address(routine: Routine, addr: usize, pe: usize) -> Option<usize> {
    device(job(routine), addr, pe).map(|(devices, far)| devices.address(far))
}

/// The engine for device memory, if any of these addresses is on a device.
#[cold]
pub fn devices_of(routine: Routine, addresses: &[usize]) -> Option<&'static dyn DeviceMemory> {
    let devices = job(routine).devices()?;
    // Asking the driver costs more than a small copy.
    let is_device =
        |address: &usize| !TABLE.surely_symmetric(*address) && devices.is_device(*address);
    addresses.iter().any(is_device).then_some(devices)
}

/// Checks that a whole span is in the segment that it begins in, on this PE and so on every one.
#[cold]
pub fn check_span(routine: Routine, argument: &str, addr: usize, span: Span) {
    let job = job(routine);
    if job.devices().is_none_or(|devices| devices.find(addr).is_none()) {
        check_symmetric(routine, argument, job, addr);
    }
    let (name, segment) = job.segment_of(addr);
    if !span.fits(segment.end - addr) {
        let end = format!("the end of {name} {:#x}..{:#x}", segment.start, segment.end);
        refuse(routine, span, (argument, addr), end);
    }
}

/// Checks that a span of this PE's own memory, of any kind, does not exceed the address space, nor the
/// symmetric segment that it begins in.
#[cold]
pub fn check_own_span(routine: Routine, argument: &str, addr: usize, span: Span) {
    // Not every engine would fault.
    argument::not_null(routine, argument, addr as *const u8);
    if !span.fits(ADDRESSES.saturating_sub(addr)) {
        refuse(routine, span, (argument, addr), "the end of all addresses");
    }
    // Of other memory nobody knows where an object ends.
    if job(routine).layout().contains(addr) {
        check_span(routine, argument, addr, span);
    }
}

fn refuse(routine: Routine, span: Span, (argument, addr): (&str, usize), end: impl Display) -> ! {
    let (argument, why) = span.refusal(argument, addr, end);
    failure::misuse(routine, argument, why)
}

/// Translates any address for any PE of a context; attaches the PE if necessary.
pub fn address_of(routine: Routine, argument: &str, ctx: usize, addr: usize, pe: PeArg) -> usize {
    let job = job(routine);
    let pe = world_pe(routine, job, ctx, pe);
    check_symmetric(routine, argument, job, addr);
    mirrored(routine, argument, job, addr, pe)
}

/// Where PE `pe`'s counterpart of a symmetric address is mapped here.
fn mirrored(routine: Routine, argument: &str, job: &Job, addr: usize, pe: usize) -> usize {
    let mirror = job.mirror(pe);
    check_counterpart(routine, argument, job, addr, pe);
    mirror + (addr - job.layout().start())
}

/// The counterpart of a symmetric address on PE `pe`, which is on another node.
pub fn far(routine: Routine, argument: &str, job: &Job, addr: usize, pe: usize) -> Far {
    check_counterpart(routine, argument, job, addr, pe);
    let (data, heap, area) = (job.layout().data(), job.layout().heap(), job.layout().area());
    let offset = match addr {
        addr if heap.contains(&addr) => remote::HEAP + (addr - heap.start) as u64,
        addr if area.contains(&addr) => remote::PARTITIONS + (addr - area.start) as u64,
        addr => (addr - data.start) as u64,
    };
    Far { pe, offset }
}

/// Ends the job if a symmetric address is in the data segment and PE `pe` runs another executable.
fn check_counterpart(routine: Routine, argument: &str, job: &Job, addr: usize, pe: usize) {
    if !is_on(job, addr, pe) {
        failure::misuse(
            routine,
            format_args!("{argument} = {addr:#x}"),
            format_args!(
                "it is static data, and PE {pe} runs another executable, whose static data are \
                 others; expected an address in the symmetric heap or a partition"
            ),
        );
    }
}

/// Whether PE `pe` has a counterpart of a symmetric address.
fn is_on(job: &Job, addr: usize, pe: usize) -> bool {
    // Where all peers are mapped or none, they run one executable.
    ALL_OR_NONE || !job.layout().data().contains(&addr) || job.runs_the_same(pe)
}

/// Checks a PE number of a call that moves no data.
#[cold]
pub fn check_pe(routine: Routine, ctx: usize, pe: PeArg) {
    world_pe(routine, job(routine), ctx, pe);
}

/// Whether a symmetric address has a counterpart on PE `pe`. Waits until that PE has begun.
pub fn is_accessible(job: &Job, addr: usize, pe: usize) -> bool {
    if job.layout().data().contains(&addr) && job.is_near(pe) {
        job.mirror(pe);
    }
    is_on(job, addr, pe)
}

/// Checks that an address is symmetric on this PE.
pub fn check_symmetric(routine: Routine, argument: &str, job: &Job, addr: usize) {
    if !job.layout().contains(addr) {
        not_symmetric(routine, argument, job, addr);
    }
}

fn world_pe(routine: Routine, job: &Job, ctx: usize, pe: PeArg) -> usize {
    let number = pe_number(pe);
    match context::world_pe(ctx, number) {
        Some(pe) if pe < job.npes().min(MAX_PES) => pe,
        _ => context::no_pe(routine, ctx, number),
    }
}

/// The result of `shmem_ptr` in the uncommon cases.
#[cold]
#[inline(never)]
pub fn pointer(miss: Miss, pe: PeArg, routine: Routine) -> *mut u8 {
    let job = job(routine);
    let addr = TABLE.address(miss);
    match usize::try_from(pe_number(pe)) {
        Ok(pe) if pe < job.npes() && job.layout().contains(addr) && job.engine_to(pe).is_none() => {
            let mirror = job.mirror(pe);
            match is_on(job, addr, pe) {
                true => (mirror + (addr - job.layout().start())) as *mut u8,
                false => std::ptr::null_mut(),
            }
        }
        _ => std::ptr::null_mut(),
    }
}

#[cold]
fn not_symmetric(routine: Routine, argument: &str, job: &Job, addr: usize) -> ! {
    failure::misuse(routine, format_args!("{argument} = {addr:#x}"), expected(argument, job, addr))
}

/// Says the same of an address that the hot path has let through, where the access has faulted.
pub(crate) fn say_refused(job: &Job, refused: &Refused) {
    let Refused { routine, argument, address, instruction } = *refused;
    let expected = expected(argument, job, address);
    message::say(format_args!("{routine}: {argument} reaches {address:#x}: {expected}"));
    message::say_caller(Some(instruction));
}

/// The words for an argument and for what it has to be.
fn expected(argument: &str, job: &Job, addr: usize) -> String {
    format!("it {}; {argument} must be in {}", whereabouts(addr, job), job.segments())
}

/// Describes the kind of memory that an address is in.
fn whereabouts(addr: usize, job: &Job) -> String {
    let pe = job.pe();
    if let Some((peer, own)) = job.layout().unmirrored(addr) {
        return format!(
            "is in the mirror of PE {peer} (from shmem_ptr?), where it stands for {own:#x}"
        );
    }
    if addr == 0 {
        return "is null".into();
    }
    if let Some(partition) = job.partition_of(addr).filter(|partition| !partition.is_mapped()) {
        let id = partition.spec().id;
        return format!(
            "is a device's memory (partition {id}), which the processor does not reach"
        );
    }
    let Ok(mapping) = maps::at(addr) else { return "lies elsewhere".into() };
    let local = 0;
    let stack = (&raw const local as usize).abs_diff(addr) < 64 << 20;
    let Some(maps::Mapping { name, protection, .. }) = mapping else {
        return "is not mapped at all".into();
    };
    match name.as_str() {
        "[stack]" => format!("is on the stack of PE {pe}"),
        "[heap]" => format!("is memory from malloc of PE {pe}"),
        "" if stack => format!("is on a stack of PE {pe}"),
        "" => format!("is private memory (malloc or mmap) of PE {pe}"),
        file if file.contains(".so") => {
            format!("is in the shared library {file}, whose globals are not symmetric")
        }
        file if protection & libc::PROT_EXEC != 0 => format!("is code of {file}"),
        file if protection & libc::PROT_WRITE == 0 => format!("is read-only data of {file}"),
        file => format!("is in {file}, outside the writable data"),
    }
}
