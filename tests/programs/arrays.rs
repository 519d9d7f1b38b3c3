//! Distributed arrays on any number of PEs; each PE checks what it gets. With the name of a misuse, that.
//! `tests/runner/arrays.rs` runs it.

use oneshmem::{Element, Shmem};
use oneshmem_array::Distribution::{Block, Cyclic};
use oneshmem_array::{DistArray, DistGrid, Distribution, Result};

fn main() -> Result<()> {
    let shmem = oneshmem::init()?;
    let result = match std::env::args().nth(1) {
        Some(case) => misuse(&shmem, &case),
        None => families(&shmem),
    };
    shmem.finalize();
    result
}

fn families(shmem: &Shmem) -> Result<()> {
    // Less where each access to another node is a message.
    let far = shmem.shared().n_pes() < shmem.n_pes();
    let lens = [0, 1, 2, 7, 64, 1000];
    for distribution in [Block, Cyclic] {
        for len in lens.into_iter().filter(|len| !far || *len < 100) {
            places(shmem, len, distribution)?;
            updates(shmem, len, distribution)?;
        }
        structs(shmem, distribution)?;
        one_winner(shmem, distribution)?;
        many(shmem, distribution)?;
    }
    phases(shmem)?;
    for (rows, columns) in [(0, 3), (3, 0), (1, 1), (2, 5), (9, 4), (50, 3)] {
        let ghosts = [0, 2, 1, 5, 60];
        for &ghosts in &ghosts[..if far { 2 } else { ghosts.len() }] {
            grids(shmem, rows, columns, ghosts)?;
        }
    }
    // More than there are teams: those of arrays that are freed are given back.
    for _ in 0..if far { 30 } else { 300 } {
        DistArray::<u8>::new(shmem, 1, Block)?.free();
    }
    if shmem.my_pe() == 0 {
        println!("arrays: verified");
    }
    Ok(())
}

fn places(shmem: &Shmem, len: usize, distribution: Distribution) -> Result<()> {
    let mut array = DistArray::<i32>::new(shmem, len, distribution)?;
    assert_eq!((array.len(), array.is_empty()), (len, len == 0));
    assert_eq!(array.distribution(), distribution);
    let lens: Vec<usize> = (0..shmem.n_pes()).map(|pe| array.len_on(pe)).collect();
    assert_eq!(lens.iter().sum::<usize>(), len);
    let mut seen = vec![false; len];
    for (pe, len) in lens.iter().enumerate() {
        for index in (0..*len).map(|offset| array.index_of(pe, offset)) {
            assert_eq!(array.owner_of(index), pe);
            assert!(!std::mem::replace(&mut seen[index], true));
        }
    }
    let me = shmem.my_pe();
    let indices: Vec<usize> = (0..lens[me]).map(|offset| array.index_of(me, offset)).collect();
    array.local(|mut own| {
        assert_eq!(own.len(), lens[me]);
        assert!(own.iter().all(|element| *element == 0), "elements are zero at first");
        assert!(own.indexed().map(|(index, _)| index).eq(indices.iter().copied()));
        own.indexed_mut().for_each(|(index, element)| *element = -(index as i32));
        assert!((0..own.len()).all(|offset| own.index_of(offset) == indices[offset]));
        own.into_slice().iter_mut().for_each(|element| *element -= 1);
    });
    for index in 0..len {
        assert_eq!(array.get(index), -(index as i32) - 1);
    }
    array.free();
    Ok(())
}

fn updates(shmem: &Shmem, len: usize, distribution: Distribution) -> Result<()> {
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let mut array = DistArray::<u64>::new(shmem, len, distribution)?;
    for index in 0..len {
        array.add(index, 1);
        let before = array.fetch_add(index, 1);
        assert!(0 < before && before < 2 * npes as u64);
    }
    shmem.barrier_all();
    array.add_many((0..len).map(|index| (index, index as u64)));
    array.xor_many((0..len).map(|index| (index, 1 << 40)));
    array.local(|own| {
        let odd = (npes as u64 % 2) << 40;
        let sum = |index| (2 + index as u64) * npes as u64 + odd;
        assert!(own.indexed().all(|(index, element)| *element == sum(index)));
    });
    // One PE puts what all read.
    for index in (0..len).filter(|index| index % npes == me) {
        array.put(index, !(index as u64));
    }
    shmem.barrier_all();
    assert!((0..len).all(|index| array.get(index) == !(index as u64)));
    array.free();
    Ok(())
}

/// Elements of other sizes than an atomic's.
fn structs(shmem: &Shmem, distribution: Distribution) -> Result<()> {
    fn of<T: Element + PartialEq>(
        shmem: &Shmem,
        distribution: Distribution,
        value: impl Fn(usize) -> T,
    ) -> Result<()> {
        let array = DistArray::<T>::new(shmem, 30, distribution)?;
        for index in (0..30).filter(|index| index % shmem.n_pes() == shmem.my_pe()) {
            array.put(index, value(index));
        }
        shmem.barrier_all();
        assert!((0..30).all(|index| array.get(index) == value(index)));
        array.free();
        Ok(())
    }
    of(shmem, distribution, |index| index as u8)?;
    of(shmem, distribution, |index| [index as u8, 1, 2])?;
    of(shmem, distribution, |index| [index as f64, 0.5, -1.0])
}

fn one_winner(shmem: &Shmem, distribution: Distribution) -> Result<()> {
    let me = shmem.my_pe() as i64 + 1;
    let mut array = DistArray::<i64>::new(shmem, 20, distribution)?;
    let mut won = DistArray::<i64>::new(shmem, 20, distribution)?;
    let floats = DistArray::<f64>::new(shmem, 20, distribution)?;
    for index in 0..20 {
        if array.compare_swap(index, 0, me) == 0 {
            won.add(index, me);
        }
        let before = floats.swap(index, me as f64);
        assert!((0.0..=shmem.n_pes() as f64).contains(&before));
    }
    let winners = array.local(|own| own.to_vec());
    won.local(|own| assert_eq!(*own, winners));
    floats.free();
    won.free();
    array.free();
    Ok(())
}

fn many(shmem: &Shmem, distribution: Distribution) -> Result<()> {
    let array = DistArray::<i32>::new(shmem, 500, distribution)?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    array.put_many((me..500).step_by(npes).map(|index| (index, 3 * index as i32)));
    shmem.barrier_all();
    let indices: Vec<usize> = (0..1000).map(|i| (i * 7919 + me) % 500).collect();
    let mut values = vec![0; indices.len()];
    array.get_many(&indices, &mut values);
    assert!(indices.iter().zip(&values).all(|(index, value)| 3 * *index as i32 == *value));
    array.get_many(&[], &mut []);
    array.free();
    Ok(())
}

/// In a phase nobody else's update is seen, and after it everybody's.
fn phases(shmem: &Shmem) -> Result<()> {
    let npes = shmem.n_pes();
    let mut array = DistArray::<u64>::new(shmem, 10 * npes, Cyclic)?;
    let mut other = DistArray::<u64>::new(shmem, 1, Block)?;
    for round in 0..200 {
        for index in 0..10 * npes {
            array.add(index, 1);
        }
        array.local(|mut own| {
            assert!(own.iter().all(|element| *element == (round + 1) * (npes as u64 + 1) - 1));
            other.add(0, 1);
            other.local(|own| assert!(own.iter().all(|sum| *sum == (round + 1) * npes as u64)));
            own.iter_mut().for_each(|element| *element += 1);
        });
    }
    other.free();
    array.free();
    Ok(())
}

fn grids(shmem: &Shmem, rows: usize, columns: usize, ghosts: usize) -> Result<()> {
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let mut grid = DistGrid::<u32>::new(shmem, rows, columns, ghosts)?;
    assert_eq!((grid.rows(), grid.columns()), (rows, columns));
    let own = grid.rows_on(me);
    assert_eq!((0..npes).map(|pe| grid.rows_on(pe).len()).sum::<usize>(), rows);
    let value = |round: usize, row, column| (round * 10_000 + row * 100 + column) as u32;
    for round in 1..4 {
        grid.local(|mut tile| {
            assert_eq!(tile.own(), own);
            for row in tile.own() {
                let cells = tile.row_mut(row).iter_mut().enumerate();
                cells.for_each(|(column, cell)| *cell = value(round, row, column));
            }
            assert_eq!(tile.own_mut().len(), own.len() * columns);
        });
        grid.exchange();
        grid.local(|tile| {
            let there = match own.is_empty() {
                true => 0..0,
                false => own.start.saturating_sub(ghosts)..(own.end + ghosts).min(rows),
            };
            for row in there {
                let expected = (0..columns).map(|column| value(round, row, column));
                assert!(tile.row(row).iter().copied().eq(expected), "PE {me}, row {row}");
            }
        });
    }
    for row in (0..rows).filter(|row| row % npes == me) {
        (0..columns).for_each(|column| grid.put(row, column, value(7, row, column)));
    }
    shmem.barrier_all();
    for row in 0..rows {
        assert!((0..columns).all(|column| grid.get(row, column) == value(7, row, column)));
    }
    grid.free();
    Ok(())
}

fn misuse(shmem: &Shmem, case: &str) -> Result<()> {
    let me = shmem.my_pe();
    // Dropped, and so not freed, when the program fails.
    let array = DistArray::<u64>::new(shmem, 10, Block)?;
    let mut grid = DistGrid::<u64>::new(shmem, 10, 4, 1)?;
    match case {
        "get" => _ = array.get(10),
        "put" => array.put(usize::MAX, 1),
        "add" => array.add(12, 1),
        "add_many" => array.add_many([(9, 1), (10, 1)]),
        "get_many" => array.get_many(&[9, 11], &mut [0, 0]),
        "get_many-lengths" => array.get_many(&[9, 8], &mut [0]),
        "owner_of" => _ = array.owner_of(10),
        "index_of" => _ = array.index_of(0, 10),
        "index_of-pe" => _ = array.index_of(shmem.n_pes(), 0),
        "empty" => _ = DistArray::<u64>::new(shmem, 0, Cyclic)?.get(0),
        "grid-get" => _ = grid.get(10, 3),
        "grid-put" => grid.put(3, 4, 1),
        "grid-rows_on" => _ = grid.rows_on(shmem.n_pes()),
        "tile-row" => grid.local(|tile| _ = tile.row(10).len()),
        "tile-row_mut" => grid.local(|mut tile| _ = tile.row_mut(10).len()),
        "len" => drop(DistArray::<u64>::new(shmem, 10 + me, Block)?),
        "distribution" => {
            drop(DistArray::<u64>::new(shmem, 10, if me == 0 { Block } else { Cyclic })?);
        }
        "type" if me == 0 => drop(DistArray::<u64>::new(shmem, 10, Block)?),
        "type" => drop(DistArray::<[u8; 3]>::new(shmem, 10, Block)?),
        "columns" => drop(DistGrid::<u64>::new(shmem, 10, me, 1)?),
        "memory" => drop(DistArray::<u64>::new(shmem, 1 << 50, Block)?),
        "memory-overflow" => drop(DistArray::<[u64; 8]>::new(shmem, usize::MAX, Cyclic)?),
        "grid-memory" => drop(DistGrid::<u64>::new(shmem, usize::MAX, usize::MAX, usize::MAX)?),
        "teams" => {
            let mut arrays = Vec::new();
            loop {
                arrays.push(DistArray::<u64>::new(shmem, 1, Block)?);
            }
        }
        other => panic!("no case {other:?}"),
    }
    Ok(())
}
