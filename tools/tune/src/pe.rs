//! A PE of a measuring job: measures its points in turn, sweep by sweep, until its time is over. PE
//! 0 prints a line for each sample: point, sweep, nanoseconds per call.
//!
//! A sample is a batch of consecutive calls; its time is that of the slowest PE. All algorithms of
//! one operation and size are measured before the next size, so that changes in the machine's speed
//! affect them equally.

use crate::meeting::Meeting;
use crate::options::Assignment;
use crate::plan::{self, Point};
use anyhow::bail;
use oneshmem::internals::collectives::select::{self, Operation};
use oneshmem::{Shmem, Sum, Symmetric};
use std::time::{Duration, Instant};

/// The number of sweeps that a job should complete.
const SWEEPS: f64 = 6.0;
/// The shortest time of a sample, so that it stands out from the clock's noise, and the longest.
const SAMPLE: (f64, f64) = (20e-6, 5e-3);
const MOST_CALLS: f64 = 1e6;
/// If a call takes as long as this many samples, a sample is one call.
const LONG: f64 = 20.0;
/// The stride of strided all-to-alls, in elements.
const STRIDE: usize = 2;

/// Measures and prints.
pub fn run(part: &Assignment) -> anyhow::Result<()> {
    if !select::set(Operation::Barrier.name(), &part.barrier) {
        bail!("{} is no barrier", part.barrier);
    }
    let shmem = oneshmem::init()?;
    let points = plan::points(shmem.n_pes());
    if let Some(bad) = part.points.iter().find(|point| **point >= points.len()) {
        bail!("there is no point {bad}");
    }
    let bench = Bench::new(&shmem, &points, &part.barrier)?;
    let done = bench.sweeps(part, &points);
    bench.free();
    shmem.finalize();
    done
}

struct Bench<'s> {
    shmem: &'s Shmem,
    source: Symmetric<'s, i64>,
    dest: Symmetric<'s, i64>,
    meeting: Meeting<'s>,
    /// The algorithm of the barriers that are not measured.
    barrier: &'s str,
}

impl<'s> Bench<'s> {
    fn new(shmem: &'s Shmem, points: &[Point], barrier: &'s str) -> anyhow::Result<Self> {
        let npes = shmem.n_pes();
        let room = |point: &Point| match plan::in_blocks(point.operation()) {
            true => STRIDE * npes * elements(point.bytes),
            false => elements(point.bytes),
        };
        let most = points.iter().map(room).max().unwrap_or(1);
        let (source, dest) = (shmem.alloc(most)?, shmem.alloc(most)?);
        let bench = Self { shmem, source, dest, meeting: Meeting::new(shmem)?, barrier };
        bench.source.all().fill(shmem.my_pe() as i64);
        Ok(bench)
    }

    fn free(self) {
        self.meeting.free();
        self.shmem.free(self.dest);
        self.shmem.free(self.source);
    }

    fn sweeps(&self, part: &Assignment, points: &[Point]) -> anyhow::Result<()> {
        let end = Instant::now() + Duration::from_secs_f64(part.seconds);
        let share = part.seconds / (part.points.len() as f64 * SWEEPS);
        let share = share.clamp(SAMPLE.0, SAMPLE.1);
        let mut calls = vec![None; points.len()];
        for sweep in 0.. {
            let same = |a: &usize, b: &usize| {
                (points[*a].operation, points[*a].bytes) == (points[*b].operation, points[*b].bytes)
            };
            for group in part.points.chunk_by(same) {
                // Each algorithm comes first in turn.
                let first = sweep % group.len();
                for &index in group[first..].iter().chain(&group[..first]) {
                    let point = points[index];
                    let calls = *calls[index].get_or_insert_with(|| self.calls(point, share));
                    let took = self.sample(point, calls);
                    if self.meeting.print(index, sweep, took * 1e9 / calls as f64, end)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// The number of calls that fill a sample. The first calls also warm up.
    fn calls(&self, point: Point, share: f64) -> u64 {
        let mut calls = 1;
        let first = self.sample(point, calls);
        if self.meeting.agree(u64::from(first > LONG * share)) != 0 {
            return calls;
        }
        for _ in 0..2 {
            let took = self.sample(point, calls).max(1e-9);
            let fitting = (calls as f64 * share / took).clamp(1.0, MOST_CALLS);
            calls = self.meeting.agree(fitting as u64);
        }
        calls
    }

    /// The seconds that this many calls take on the slowest PE. Only PE 0 knows the result.
    fn sample(&self, point: Point, calls: u64) -> f64 {
        self.shmem.barrier_all();
        select::set(point.operation().name(), point.name());
        let start = Instant::now();
        for _ in 0..calls {
            self.call(point);
        }
        let mine = start.elapsed().as_nanos() as u64;
        select::set(Operation::Barrier.name(), self.barrier);
        self.meeting.largest(mine) as f64 * 1e-9
    }

    fn call(&self, point: Point) {
        let (world, npes) = (self.shmem.world(), self.shmem.n_pes());
        let n = elements(point.bytes);
        let (source, dest) = (&self.source, &self.dest);
        match point.operation() {
            Operation::Barrier => world.sync(),
            Operation::Broadcast => world.broadcast(dest.slice(..n), source.slice(..n), 0),
            Operation::Collect => {
                world.collect(dest.slice(..n * npes), source.slice(..n));
            }
            Operation::Fcollect => world.fcollect(dest.slice(..n * npes), source.slice(..n)),
            Operation::Alltoall => world.alltoall(dest.slice(..n * npes), source.slice(..n * npes)),
            Operation::Alltoalls => world.alltoalls(dest.all(), source.all(), STRIDE, STRIDE, n),
            Operation::Reduce => world.reduce::<_, Sum>(dest.slice(..n), source.slice(..n)),
            Operation::Scan => world.sum_inscan(dest.slice(..n), source.slice(..n)),
        }
    }
}

fn elements(bytes: usize) -> usize {
    bytes / size_of::<i64>()
}
