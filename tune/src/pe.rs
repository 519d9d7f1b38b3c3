//! A PE of a measuring job: runs the points it is told in turn, sweep by sweep, until its
//! time is over. PE 0 prints a line for each sample: point, sweep, nanoseconds of one call.
//!
//! A sample is a batch of calls, one right after the other; its time is the slowest PE's.
//! All algorithms of one operation and size have their turn before the next size, so that
//! a change of the machine's mood meets them alike.

use crate::options::Assignment;
use crate::plan::{self, Point};
use anyhow::bail;
use oneshmem::collectives::select::{self, Operation};
use oneshmem::{Shmem, Sum, Symmetric};
use std::io::Write;
use std::time::{Duration, Instant};

/// Between PEs that are not measured: an algorithm that is there for sure.
const USUAL_BARRIER: &str = "direct";
/// As many sweeps as a job is to manage.
const SWEEPS: f64 = 6.0;
/// A sample is to take this long at least, to be told from the clock's own noise, and at most.
const SAMPLE: (f64, f64) = (20e-6, 5e-3);
const MOST_CALLS: f64 = 1e6;
/// A call that takes so many samples' time will not become one of several in a sample.
const LONG: f64 = 20.0;
/// Elements of strided all-to-alls are so many apart.
const STRIDE: usize = 2;

/// Measures and prints.
pub fn run(part: &Assignment) -> anyhow::Result<()> {
    select::set(Operation::Barrier.name(), USUAL_BARRIER);
    let shmem = oneshmem::init()?;
    let points = plan::points(shmem.n_pes());
    if let Some(bad) = part.points.iter().find(|point| **point >= points.len()) {
        bail!("there is no point {bad}");
    }
    let bench = Bench::new(&shmem, &points)?;
    let done = bench.sweeps(part, &points);
    bench.free();
    shmem.finalize();
    done
}

struct Bench<'s> {
    shmem: &'s Shmem,
    source: Symmetric<i64>,
    dest: Symmetric<i64>,
    /// On PE 0: what a sample took each PE.
    took: Symmetric<u64>,
    /// What PE 0 has decided.
    decision: Symmetric<u64>,
}

impl<'s> Bench<'s> {
    fn new(shmem: &'s Shmem, points: &[Point]) -> anyhow::Result<Self> {
        let npes = shmem.n_pes();
        let room = |point: &Point| match plan::in_blocks(point.operation()) {
            true => STRIDE * npes * elements(point.bytes),
            false => elements(point.bytes),
        };
        let most = points.iter().map(room).max().unwrap_or(1);
        let (Some(source), Some(dest), Some(took), Some(decision)) =
            (shmem.alloc(most), shmem.alloc(most), shmem.alloc(npes), shmem.alloc(1))
        else {
            bail!("no symmetric memory for two arrays of {most} elements");
        };
        source.all().fill(shmem.my_pe() as i64);
        Ok(Self { shmem, source, dest, took, decision })
    }

    fn free(self) {
        self.shmem.free(self.decision);
        self.shmem.free(self.took);
        self.shmem.free(self.dest);
        self.shmem.free(self.source);
    }

    fn sweeps(&self, part: &Assignment, points: &[Point]) -> anyhow::Result<()> {
        let end = Instant::now() + Duration::from_secs_f64(part.seconds);
        let share = part.seconds / (part.points.len() as f64 * SWEEPS);
        let share = share.clamp(SAMPLE.0, SAMPLE.1);
        let mut calls = vec![None; points.len()];
        let mut out = std::io::stdout().lock();
        for sweep in 0.. {
            let same = |a: &usize, b: &usize| {
                (points[*a].operation, points[*a].bytes) == (points[*b].operation, points[*b].bytes)
            };
            for group in part.points.chunk_by(same) {
                // None of them is always the first.
                let first = sweep % group.len();
                for &index in group[first..].iter().chain(&group[..first]) {
                    let point = points[index];
                    let calls = *calls[index].get_or_insert_with(|| self.calls(point, share));
                    let took = self.sample(point, calls);
                    if self.shmem.my_pe() == 0 {
                        writeln!(out, "{index} {sweep} {:.1}", took * 1e9 / calls as f64)?;
                    }
                    if self.agree(u64::from(Instant::now() > end)) != 0 {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// How many calls fill a sample. The first ones warm everything up.
    fn calls(&self, point: Point, share: f64) -> u64 {
        let mut calls = 1;
        let first = self.sample(point, calls);
        if self.agree(u64::from(first > LONG * share)) != 0 {
            return calls;
        }
        for _ in 0..2 {
            let took = self.sample(point, calls).max(1e-9);
            let fitting = (calls as f64 * share / took).clamp(1.0, MOST_CALLS);
            calls = self.agree(fitting as u64);
        }
        calls
    }

    /// Seconds that so many calls take the slowest PE, for PE 0 to know.
    fn sample(&self, point: Point, calls: u64) -> f64 {
        self.shmem.barrier_all();
        select::set(point.operation().name(), point.name());
        let start = Instant::now();
        for _ in 0..calls {
            self.call(point);
        }
        let mine = start.elapsed().as_nanos() as u64;
        select::set(Operation::Barrier.name(), USUAL_BARRIER);
        self.shmem.put(self.took.at(self.shmem.my_pe()), &[mine], 0);
        self.shmem.barrier_all();
        self.took.all().to_vec().into_iter().max().unwrap_or(0) as f64 * 1e-9
    }

    /// PE 0's number, on every PE. After it there is a sample before the next one.
    fn agree(&self, mine: u64) -> u64 {
        if self.shmem.my_pe() == 0 {
            for pe in 0..self.shmem.n_pes() {
                self.shmem.put(self.decision.all(), &[mine], pe);
            }
        }
        self.shmem.barrier_all();
        self.decision.at(0).get()
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
