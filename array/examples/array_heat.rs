//! Heat spreads over a plate whose edge stays as it is. Each PE has some rows, and its neighbours'
//! rows beside them as ghost rows. Run as `oshrun -n 4 target/release/examples/array_heat [rows] [steps]`.

use oneshmem_array::{DistGrid, Tile};
use std::ops::Range;

const COLUMNS: usize = 40;

/// The heat at the begin.
fn warm(row: usize, column: usize) -> f64 {
    ((7 * row + 13 * column) % 101) as f64
}

/// The next step of `own` rows of a plate of `rows`.
fn step<'a>(own: Range<usize>, rows: usize, row: impl Fn(usize) -> &'a [f64]) -> Vec<f64> {
    let mut next = Vec::with_capacity(own.len() * COLUMNS);
    for y in own {
        let here = row(y);
        let start = next.len();
        next.extend_from_slice(here);
        if y > 0 && y + 1 < rows {
            let (above, below) = (row(y - 1), row(y + 1));
            for x in 1..COLUMNS - 1 {
                next[start + x] = 0.25 * (above[x] + below[x] + here[x - 1] + here[x + 1]);
            }
        }
    }
    next
}

fn main() -> oneshmem_array::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse().expect("a number"));
    let (rows, steps) = (arguments.next().unwrap_or(60), arguments.next().unwrap_or(50));
    let shmem = oneshmem::init()?;
    let mut plate = DistGrid::<f64>::new(&shmem, rows, COLUMNS, 1)?;

    plate.local(|mut tile| {
        for y in tile.own() {
            tile.row_mut(y).iter_mut().enumerate().for_each(|(x, heat)| *heat = warm(y, x));
        }
    });
    for _ in 0..steps {
        plate.exchange();
        plate.local(|mut tile| {
            let next = step(tile.own(), rows, |row| tile.row(row));
            tile.own_mut().copy_from_slice(&next);
        });
    }

    // The same without PEs.
    let mut serial: Vec<f64> =
        (0..rows * COLUMNS).map(|i| warm(i / COLUMNS, i % COLUMNS)).collect();
    for _ in 0..steps {
        serial = step(0..rows, rows, |row| &serial[row * COLUMNS..(row + 1) * COLUMNS]);
    }
    let differs = |tile: Tile<'_, f64>| {
        tile.own().find(|row| *tile.row(*row) != serial[row * COLUMNS..(row + 1) * COLUMNS])
    };
    if let Some(row) = plate.local(differs) {
        eprintln!("PE {}: row {row} is not what it should be", shmem.my_pe());
        shmem.global_exit(1);
    }
    shmem.barrier_all();
    if shmem.my_pe() == 0 {
        println!("{steps} steps on {rows} by {COLUMNS} cells: verified");
    }
    plate.free();
    shmem.finalize();
    Ok(())
}
