//! A matrix times a vector, over a grid of PEs of which each has a block of the matrix: a team for
//! each column of the grid broadcasts its part of the vector, and a team for each row adds up the
//! parts of the product. Run as `oshrun -n 4 target/release/examples/matvec`.

use oneshmem::{Max, Sum};

/// Rows of the matrix, for each PE; there are as many columns.
const ROWS_PER_PE: usize = 12;

/// The matrix and the vector, of small integers: sums of their products are exact.
fn matrix(row: usize, column: usize) -> f64 {
    ((3 * row + 5 * column) % 17) as f64 - 8.0
}
fn vector(row: usize) -> f64 {
    (row % 11) as f64 - 5.0
}

fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());

    // A grid as square as can be, with a team for each of its rows and columns.
    let columns = (1..=npes).rev().find(|c| npes % c == 0 && c * c <= npes).unwrap_or(1);
    let (row, column) = shmem.world().split_2d(columns, None, None)?;
    let n = ROWS_PER_PE * npes;
    let (height, width) = (n / column.n_pes(), n / row.n_pes());
    let (top, left) = (column.my_pe() * height, row.my_pe() * width);

    // The first row of the grid has the vector, a part on each PE.
    let source = shmem.alloc::<f64>(width)?;
    let x = shmem.alloc::<f64>(width)?;
    if column.my_pe() == 0 {
        source.all().write(&(left..left + width).map(vector).collect::<Vec<_>>());
    }
    column.broadcast(x.all(), source.all(), 0);

    let x_here = x.all().to_vec();
    let y = shmem.alloc::<f64>(height)?;
    for (i, element) in y.all().iter().enumerate() {
        let products = x_here.iter().enumerate().map(|(j, x)| matrix(top + i, left + j) * x);
        element.set(products.sum());
    }
    row.reduce::<_, Sum>(y.all(), y.all());

    // How far any element is from what it should be, on any PE.
    let error = shmem.alloc::<f64>(1)?;
    for (i, element) in y.all().iter().enumerate() {
        let expected: f64 = (0..n).map(|j| matrix(top + i, j) * vector(j)).sum();
        error.at(0).update(|error| error.max((element.get() - expected).abs()));
    }
    shmem.world().reduce::<_, Max>(error.all(), error.all());
    let error_anywhere = error.at(0).get();
    if error_anywhere != 0.0 {
        eprintln!("PE {me}: an element of the product is wrong by {error_anywhere}");
        shmem.global_exit(1);
    }
    if me == 0 {
        println!("{n} by {n} on {} by {columns} PEs: verified", npes / columns);
    }
    shmem.free(error);
    shmem.free(y);
    shmem.free(x);
    shmem.free(source);
    column.destroy();
    row.destroy();
    shmem.finalize();
    Ok(())
}
