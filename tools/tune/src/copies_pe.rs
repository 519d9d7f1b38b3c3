//! A PE of a job that measures copies. Both PEs copy to each other at the same time, as in a job. PE 0
//! prints a line for each sample: point, sweep, nanoseconds per copy.

use crate::copies::{self, MOST, Point};
use crate::meeting::Meeting;
use anyhow::bail;
use onenode_core::copy;
use oneshmem::{Shmem, Symmetric};
use std::time::{Duration, Instant};

/// Bytes of a page, and of the memory beside the copied bytes.
const PAGE: usize = 4096;
/// Small copies take turns on so many bytes: they are in the second cache, not in the first.
const ROOM: usize = 512 << 10;
/// Bytes of a sample, unless one copy has more.
const SAMPLE: usize = 4 << 20;
/// The most sweeps of a job.
const SWEEPS: usize = 6;

/// Measures for at most `seconds` seconds and prints.
pub fn run(seconds: f64) -> anyhow::Result<()> {
    let shmem = oneshmem::init()?;
    if shmem.n_pes() != 2 {
        bail!("{} PEs; expected 2", shmem.n_pes());
    }
    let bench = Bench::new(&shmem)?;
    let done = bench.sweeps(seconds);
    bench.free();
    shmem.finalize();
    done
}

struct Bench<'s> {
    shmem: &'s Shmem,
    dest: Symmetric<'s, u8>,
    source: Vec<u8>,
    /// Where in the source a page begins.
    first: usize,
    meeting: Meeting<'s>,
}

impl<'s> Bench<'s> {
    fn new(shmem: &'s Shmem) -> anyhow::Result<Self> {
        let dest = shmem.align(PAGE, MOST + PAGE)?;
        let source = vec![1; MOST + PAGE];
        let first = source.as_ptr().align_offset(PAGE);
        let bench = Self { shmem, dest, source, first, meeting: Meeting::new(shmem)? };
        bench.dest.all().fill(0);
        Ok(bench)
    }

    fn free(self) {
        self.meeting.free();
        self.shmem.free(self.dest);
    }

    fn sweeps(&self, seconds: f64) -> anyhow::Result<()> {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let points = copies::points();
        // The first sweep makes the pages present and is not told.
        for sweep in 0..=SWEEPS {
            for (index, point) in points.iter().enumerate() {
                let ns = self.sample(*point);
                if sweep > 0 && self.meeting.print(index, sweep, ns, end)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The nanoseconds of a copy on the slower PE. Only PE 0 knows the result.
    fn sample(&self, point: Point) -> f64 {
        let Point { bytes, offset, way } = point;
        let copies = (SAMPLE / bytes).max(1);
        let step = (bytes + offset).next_multiple_of(PAGE);
        let places = (ROOM / step).max(1);
        let usual = copy::methods();
        self.shmem.barrier_all();
        copy::set_methods(way.methods());
        let start = Instant::now();
        for at in (0..copies).map(|copy| copy % places * step) {
            let to = self.dest.slice(at + offset..at + offset + bytes);
            let from = &self.source[self.first + at..][..bytes];
            self.shmem.put(to, from, 1 - self.shmem.my_pe());
        }
        let mine = start.elapsed().as_nanos() as u64;
        copy::set_methods(usual);
        self.meeting.largest(mine) as f64 / copies as f64
    }
}
