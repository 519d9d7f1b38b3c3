//! lamellar's communication layer for the processes of one node, over onenode: for
//! `src/lamellae/onenode_comm.rs` of a checkout of lamellar. README.md says what calls it.

use crate::config;
use crate::lamellae::AllocationType;
use crate::lamellae::comm::{AllocError, AllocResult, CommOps, Remote};
use crate::lamellae::command_queues::CommandQueue;
use crate::lamellar_alloc::{BTreeAlloc, LamellarAlloc};

use onenode_lamellar::Shared;
use parking_lot::RwLock;

/// Bytes of a PE's heap unless LAMELLAR_HEAP_SIZE says otherwise; memory is used as touched.
const HEAP: usize = 4 << 30;
/// Bytes for the runtime's own allocations, beside the command queues.
const RUNTIME: usize = 100 << 20;

/// Shared memory, and the pools that lamellar allocates messages and one-sided regions from.
pub(crate) struct OnenodeComm {
    shared: Shared,
    base: usize,
    pools: RwLock<Vec<BTreeAlloc>>,
}

impl std::fmt::Debug for OnenodeComm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OnenodeComm {{ {:?} }}", self.shared)
    }
}

/// Ends the PE: none of `CommOps` can hand an error on.
fn fail(what: &str, error: impl std::fmt::Display) -> ! {
    panic!("[LAMELLAR ERROR] onenode: {what}: {error}")
}

/// The number in environment variable `name`, or `default` if there is none.
fn number(name: &str, default: usize) -> usize {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|e| fail(&format!("{name}={text}"), e)),
        Err(_) => default,
    }
}

fn pool(start: usize, bytes: usize) -> BTreeAlloc {
    let mut pool = BTreeAlloc::new("onenode".to_string());
    pool.init(start, bytes);
    pool
}

impl OnenodeComm {
    /// Joins the job that lamellar's launcher describes in the environment.
    pub(crate) fn new() -> OnenodeComm {
        let pes = number("LAMELLAR_NUM_PES", 1);
        let pe = number("LAMELLAR_PE_ID", 0);
        let job = number("LAMELLAR_JOB_ID", 0);
        let shared = Shared::join(job as u64, pe, pes).unwrap_or_else(|e| fail("no job", e));
        let bytes = CommandQueue::mem_per_pe() * pes + RUNTIME + Self::heap_size();
        let base = shared.alloc(bytes, 0..pes).unwrap_or_else(|e| fail("no heap", e));
        OnenodeComm { shared, base, pools: RwLock::new(vec![pool(base, bytes)]) }
    }

    pub(crate) fn heap_size() -> usize {
        config().heap_size.unwrap_or(HEAP)
    }

    /// Where PE `pe`'s counterpart of `own` is here.
    fn there(&self, pe: usize, own: usize) -> *mut u8 {
        self.shared.at(pe, own).unwrap_or_else(|e| fail("no such memory", e))
    }
}

impl CommOps for OnenodeComm {
    fn my_pe(&self) -> usize {
        self.shared.pe()
    }
    fn num_pes(&self) -> usize {
        self.shared.pes()
    }
    fn barrier(&self) {
        self.shared.barrier().unwrap_or_else(|e| fail("no barrier", e));
    }

    fn occupied(&self) -> usize {
        self.pools.read().iter().map(|pool| pool.occupied()).sum()
    }
    fn num_pool_allocs(&self) -> usize {
        self.pools.read().len()
    }
    fn print_pools(&self) {
        for pool in self.pools.read().iter() {
            println!("{:x}: {} bytes in use", pool.start_addr, pool.occupied());
        }
    }
    fn alloc_pool(&self, min_size: usize) {
        let bytes = (min_size * 2).max(Self::heap_size() / self.num_pes());
        let start =
            self.alloc(bytes, AllocationType::Global).unwrap_or_else(|e| fail("no pool", e));
        self.pools.write().push(pool(start, bytes));
    }
    fn rt_alloc(&self, size: usize, align: usize) -> AllocResult<usize> {
        let pools = self.pools.read();
        let found = pools.iter().find_map(|pool| pool.try_malloc(size, align));
        found.ok_or(AllocError::OutOfMemoryError(size))
    }
    fn rt_check_alloc(&self, size: usize, align: usize) -> bool {
        self.pools.read().iter().any(|pool| pool.fake_malloc(size, align))
    }
    fn rt_free(&self, addr: usize) {
        if !self.pools.read().iter().any(|pool| pool.free(addr).is_ok()) {
            fail("free", format_args!("{addr:#x} is not allocated"));
        }
    }

    fn alloc(&self, size: usize, alloc_type: AllocationType) -> AllocResult<usize> {
        let all: Vec<usize>;
        let members = match alloc_type {
            AllocationType::Sub(pes) if !pes.contains(&self.my_pe()) => {
                return Err(AllocError::IdError(self.my_pe()));
            }
            AllocationType::Sub(pes) => {
                all = pes;
                &all
            }
            AllocationType::Global => {
                all = (0..self.num_pes()).collect();
                &all
            }
            AllocationType::Local => fail("alloc", "local memory is not shared"),
        };
        self.shared
            .alloc(size, members.iter().copied())
            .map_err(|_| AllocError::OutOfMemoryError(size))
    }
    fn free(&self, addr: usize) {
        self.shared.free(addr).unwrap_or_else(|e| fail("free", e));
    }

    fn base_addr(&self) -> usize {
        self.base
    }
    fn local_addr(&self, remote_pe: usize, remote_addr: usize) -> usize {
        self.shared.own(remote_pe, remote_addr).unwrap_or_else(|e| fail("no such memory", e))
    }
    fn remote_addr(&self, pe: usize, local_addr: usize) -> usize {
        self.shared.theirs(pe, local_addr).unwrap_or_else(|e| fail("no such memory", e))
    }

    fn flush(&self) {}
    fn put<T: Remote>(&self, pe: usize, src_addr: &[T], dst_addr: usize) {
        let there = self.there(pe, dst_addr);
        let bytes = std::mem::size_of_val(src_addr);
        // SAFETY: lamellar promises that all of the source's bytes are in the destination's region.
        unsafe { Shared::copy(there, src_addr.as_ptr().cast(), bytes) };
    }
    fn iput<T: Remote>(&self, pe: usize, src_addr: &[T], dst_addr: usize) {
        self.put(pe, src_addr, dst_addr);
    }
    fn put_all<T: Remote>(&self, src_addr: &[T], dst_addr: usize) {
        for pe in 0..self.num_pes() {
            self.put(pe, src_addr, dst_addr);
        }
    }
    fn get<T: Remote>(&self, pe: usize, src_addr: usize, dst_addr: &mut [T]) {
        let there = self.there(pe, src_addr);
        let bytes = std::mem::size_of_val(dst_addr);
        // SAFETY: lamellar promises that the region has all of the destination's bytes, and takes every byte pattern for a `T`.
        unsafe { Shared::copy(dst_addr.as_mut_ptr().cast(), there, bytes) };
    }
    fn iget<T: Remote>(&self, pe: usize, src_addr: usize, dst_addr: &mut [T]) {
        self.get(pe, src_addr, dst_addr);
    }
    #[allow(non_snake_case)]
    fn MB_sent(&self) -> f64 {
        0.0
    }
    fn force_shutdown(&self) {}
}

impl Drop for OnenodeComm {
    fn drop(&mut self) {
        if self.occupied() > 0 {
            println!("dropping onenode -- memory in use {}", self.occupied());
        }
    }
}
