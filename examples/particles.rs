//! Particles move through a ring of PEs, each of which owns those in its part of the ring. Who leaves
//! a part is put into an inbox of the new owner, in a slot that an atomic operation reserves. Run as
//! `oshrun -n 4 target/release/examples/particles`.

use oneshmem::{Element, Shmem, Sum, Symmetric};

const PARTICLES_PER_PE: usize = 1000;
const STEPS: usize = 20;

/// One particle, as PEs exchange it. The derive checks that any bits are a value of it and that it has no padding.
#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
struct Particle {
    /// Around the ring; the whole part is the PE that owns it.
    position: f64,
    /// Per step, in either direction.
    velocity: f64,
    id: u64,
}

/// Where the particles of other PEs arrive.
struct Inbox<'a> {
    slots: Symmetric<'a, Particle>,
    used: Symmetric<'a, usize>,
}

impl Inbox<'_> {
    fn send(&self, shmem: &Shmem, particle: Particle, pe: usize) {
        let slot = shmem.atomic_fetch_inc(self.used.at(0), pe);
        shmem.p(self.slots.at(slot), particle, pe);
    }

    /// Takes all that have arrived, once all PEs have sent theirs.
    fn take(&self, shmem: &Shmem) -> Vec<Particle> {
        shmem.barrier_all();
        let arrived = self.slots.slice(..self.used.at(0).get()).to_vec();
        self.used.at(0).set(0);
        shmem.barrier_all();
        arrived
    }
}

fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let all = PARTICLES_PER_PE * npes;
    // Room for all, as they might all come here.
    let inbox = Inbox { slots: shmem.alloc(all)?, used: shmem.alloc(1)? };

    let mut mine: Vec<Particle> = (0..PARTICLES_PER_PE)
        .map(|i| Particle {
            position: me as f64 + i as f64 / PARTICLES_PER_PE as f64,
            velocity: (i as f64 * 0.77).sin(),
            id: (me * PARTICLES_PER_PE + i) as u64,
        })
        .collect();
    let mut moved = 0;
    for _ in 0..STEPS {
        for particle in &mut mine {
            particle.position = (particle.position + particle.velocity).rem_euclid(npes as f64);
        }
        let owner = |particle: &Particle| (particle.position as usize).min(npes - 1);
        let (staying, leaving): (Vec<_>, Vec<_>) =
            mine.into_iter().partition(|particle| owner(particle) == me);
        mine = staying;
        for particle in &leaving {
            inbox.send(&shmem, *particle, owner(particle));
        }
        moved += leaving.len();
        mine.extend(inbox.take(&shmem));
    }

    // None is lost, none is there twice.
    let sums = shmem.alloc::<u64>(3)?;
    let squares = mine.iter().map(|particle| particle.id.pow(2)).sum();
    sums.all().write(&[mine.len() as u64, squares, moved as u64]);
    shmem.world().reduce::<_, Sum>(sums.all(), sums.all());
    let (n, total) = (all as u64, sums.all().to_vec());
    if total[..2] != [n, (n - 1) * n * (2 * n - 1) / 6] {
        eprintln!("PE {me}: {} particles of {n}, with ids that do not add up", total[0]);
        shmem.global_exit(1);
    }
    if me == 0 {
        println!("{n} particles on {npes} PEs, {} moves from PE to PE: verified", total[2]);
    }
    shmem.free(sums);
    shmem.free(inbox.used);
    shmem.free(inbox.slots);
    shmem.finalize();
    Ok(())
}
