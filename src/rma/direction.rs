//! The two directions of a transfer. What a put and a get have in common is written once, over the side
//! on the other PE (`there`) and the side of this PE (`here`).

use crate::argument::memory::{Dest, Source};
use crate::slow::{self, Access};

/// [`Put`] or [`Get`].
pub trait Direction {
    /// Whether it is a put.
    const IS_PUT: bool;
    /// The class of the operation, and the name of the argument that is on the other PE.
    const ACCESS: &'static Access;
    /// The name of the argument that is here.
    const HERE: &'static str;
    /// The side here.
    type Here<'m, T: 'm>;

    /// The address of the side here, and its number of elements. A put does not write to them.
    fn here<T: Copy>(here: Self::Here<'_, T>) -> (*mut T, usize);

    /// Makes of a destination and a source the sides there and here, and of these the former again.
    fn turn<A>(sides: (A, A)) -> (A, A);
}

/// From this PE to another.
pub enum Put {}

impl Direction for Put {
    const IS_PUT: bool = true;
    const ACCESS: &'static Access = &slow::PUT;
    const HERE: &'static str = "source";
    type Here<'m, T: 'm> = Source<'m, T>;

    #[inline(always)]
    fn here<T: Copy>(here: Source<'_, T>) -> (*mut T, usize) {
        (here.at().cast_mut(), here.len())
    }

    #[inline(always)]
    fn turn<A>((dest, source): (A, A)) -> (A, A) {
        (dest, source)
    }
}

/// From another PE to this one.
pub enum Get {}

impl Direction for Get {
    const IS_PUT: bool = false;
    const ACCESS: &'static Access = &slow::GET;
    const HERE: &'static str = "dest";
    type Here<'m, T: 'm> = Dest<'m, T>;

    #[inline(always)]
    fn here<T: Copy>(here: Dest<'_, T>) -> (*mut T, usize) {
        (here.at(), here.len())
    }

    #[inline(always)]
    fn turn<A>((one, other): (A, A)) -> (A, A) {
        (other, one)
    }
}
