//! Symmetric memory by the calls that allocate it, under `SHMEM_STATS=heap`. All PEs allocate alike, so PE 0's
//! calls stand for those of all.

use crate::message::say;
use crate::sys::backtrace::{self, Entry};
use onenode_core::sys::mutex;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

/// Sites that are printed.
const PRINTED: usize = 20;

static SITES: OnceLock<Mutex<Sites>> = OnceLock::new();

/// The calls, and the blocks that are not freed.
#[derive(Default)]
struct Sites {
    sites: Vec<Site>,
    /// Numbers of sites, by what they are called.
    numbers: HashMap<String, usize>,
    /// Site and bytes of each block, by its address.
    blocks: HashMap<usize, (usize, usize)>,
}

/// One call.
#[derive(Default)]
struct Site {
    /// The call, as in a backtrace; empty if it cannot be told.
    call: String,
    allocations: u64,
    blocks: u64,
    bytes: usize,
    most: usize,
}

/// Starts recording.
pub(crate) fn start() {
    SITES.get_or_init(Mutex::default);
}

/// Whether calls are recorded.
pub(super) fn are_recorded() -> bool {
    SITES.get().is_some()
}

/// Records a block that the program's present call allocates.
#[cold]
pub(super) fn allocated(address: usize, bytes: usize) {
    let Some(sites) = SITES.get() else { return };
    let mut call = String::new();
    backtrace::entry(None, |entry| {
        if let Entry::Known(known) = entry {
            call = known.to_string();
        }
    });
    mutex::lock(sites).allocated(call, address, bytes);
}

/// Records that a block is freed.
#[cold]
pub(super) fn freed(address: usize) {
    if let Some(sites) = SITES.get() {
        mutex::lock(sites).freed(address);
    }
}

/// Prints the calls whose blocks took most memory at one time.
pub(crate) fn print() {
    if let Some(sites) = SITES.get() {
        mutex::lock(sites).print();
    }
}

impl Sites {
    fn allocated(&mut self, call: String, address: usize, bytes: usize) {
        let next = self.sites.len();
        let number = *self.numbers.entry(call).or_insert_with_key(|call| {
            self.sites.push(Site { call: call.clone(), ..Site::default() });
            next
        });
        let site = &mut self.sites[number];
        site.allocations += 1;
        site.blocks += 1;
        site.bytes += bytes;
        site.most = site.most.max(site.bytes);
        self.blocks.insert(address, (number, bytes));
    }

    fn freed(&mut self, address: usize) {
        let Some((number, bytes)) = self.blocks.remove(&address) else { return };
        let site = &mut self.sites[number];
        site.blocks -= 1;
        site.bytes -= bytes;
    }

    fn print(&self) {
        let mut sites: Vec<&Site> = self.sites.iter().collect();
        sites.sort_by_key(|site| std::cmp::Reverse(site.most));
        say(format_args!("symmetric memory by {} calls that allocate it:", sites.len()));
        for Site { call, allocations, blocks, bytes, most } in sites.iter().take(PRINTED) {
            say(format_args!(
                "allocations: {allocations}; most bytes at a time: {most}; never freed: {blocks} ({bytes} bytes)"
            ));
            match call.is_empty() {
                true => say("called from a program without symbols"),
                false => say(format_args!("called from {call}")),
            }
        }
        if sites.len() > PRINTED {
            say(format_args!("{} more calls with less", sites.len() - PRINTED));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_belong_to_the_call_that_allocated_them() {
        let mut sites = Sites::default();
        sites.allocated("a".into(), 0x100, 10);
        sites.allocated("b".into(), 0x200, 5);
        sites.allocated("a".into(), 0x300, 20);
        sites.freed(0x100);
        sites.allocated("a".into(), 0x100, 1);
        sites.freed(0x900);
        let of = |name: &str| {
            let site = &sites.sites[sites.numbers[name]];
            (site.allocations, site.blocks, site.bytes, site.most)
        };
        assert_eq!((of("a"), of("b")), ((3, 2, 21, 30), (1, 1, 5, 5)));
    }
}
