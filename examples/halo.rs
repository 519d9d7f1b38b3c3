//! Heat spreads over a plate that is cut into tiles, one a PE. Each step the PEs put the borders of
//! their tiles into the halos of their neighbours': rows as they lie, columns by a strided put. Run
//! as `oshrun -n 4 target/release/examples/halo`.

use oneshmem::{Shmem, Symmetric};

/// Cells of a tile, without its halo.
const HEIGHT: usize = 20;
const WIDTH: usize = 30;
/// Cells from one row of a tile to the next: the halo is one cell on each side.
const ROW: usize = WIDTH + 2;
const STEPS: usize = 40;

/// How the PEs lie on the plate: in rows of so many, as square as can be.
fn columns(npes: usize) -> usize {
    (1..=npes).rev().find(|c| npes % c == 0 && c * c <= npes).unwrap_or(1)
}

/// One step for the cells of a plate of `rows` by `row` cells that are not on its edge.
fn step(old: &[f64], row: usize, rows: usize) -> Vec<f64> {
    let mut new = old.to_vec();
    for y in 1..rows - 1 {
        for x in 1..row - 1 {
            let at = y * row + x;
            new[at] = 0.25 * (old[at - row] + old[at + row] + old[at - 1] + old[at + 1]);
        }
    }
    new
}

/// Puts the borders of this PE's tile into the halos of the tiles around it.
fn exchange(shmem: &Shmem, tile: &Symmetric<f64>, columns: usize) {
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let row = |y: usize| tile.slice(y * ROW + 1..(y + 1) * ROW - 1);
    // From the first cell of a column that counts to the last one.
    let column = |x: usize| tile.slice(ROW + x..HEIGHT * ROW + x + 1);
    if me >= columns {
        shmem.put_from(row(HEIGHT + 1), row(1), me - columns);
    }
    if me + columns < npes {
        shmem.put_from(row(0), row(HEIGHT), me + columns);
    }
    if me % columns > 0 {
        shmem.iput_from(column(WIDTH + 1), column(1), ROW, ROW, HEIGHT, me - 1);
    }
    if me % columns < columns - 1 {
        shmem.iput_from(column(0), column(WIDTH), ROW, ROW, HEIGHT, me + 1);
    }
}

fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let columns = columns(npes);
    let (top, left) = (me / columns * HEIGHT, me % columns * WIDTH);

    // The plate has an edge that stays cold, and warm cells here and there.
    let (plate_rows, plate_row) = (npes / columns * HEIGHT + 2, columns * WIDTH + 2);
    let warm = |y: usize, x: usize| {
        let inside = (1..plate_rows - 1).contains(&y) && (1..plate_row - 1).contains(&x);
        if inside { ((7 * y + 13 * x) % 101) as f64 } else { 0.0 }
    };
    let tile = shmem.alloc::<f64>((HEIGHT + 2) * ROW)?;
    for y in 0..HEIGHT + 2 {
        for x in 0..ROW {
            tile.at(y * ROW + x).set(warm(top + y, left + x));
        }
    }
    for _ in 0..STEPS {
        shmem.barrier_all();
        exchange(&shmem, &tile, columns);
        // All halos are there; then nobody puts before all have read theirs.
        shmem.barrier_all();
        let new = step(&tile.all().to_vec(), ROW, HEIGHT + 2);
        tile.all().write(&new);
    }

    // The same without PEs.
    let mut plate: Vec<f64> =
        (0..plate_rows * plate_row).map(|i| warm(i / plate_row, i % plate_row)).collect();
    for _ in 0..STEPS {
        plate = step(&plate, plate_row, plate_rows);
    }
    for y in 1..=HEIGHT {
        let mine = tile.slice(y * ROW + 1..(y + 1) * ROW - 1).to_vec();
        let from = (top + y) * plate_row + left + 1;
        if mine != plate[from..from + WIDTH] {
            eprintln!("PE {me}: row {y} of the tile is not what it should be");
            shmem.global_exit(1);
        }
    }
    if me == 0 {
        println!("{STEPS} steps on {} by {columns} tiles: verified", npes / columns);
    }
    shmem.free(tile);
    shmem.finalize();
    Ok(())
}
