//! What an algorithm is: one line of its operation's table, from which come its name, what it
//! needs, and the call of its function. [`super::operation`] lists the tables.

use super::group::{Group, Outcome};
use super::message::{MOST_BYTES, words_of};
use super::words::MOST_WORDS;
use std::fmt::Debug;

/// A collective operation, for choosing: barrier and sync are one, as are all reductions
/// and all scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Their names say it.
pub enum Operation {
    Barrier,
    Broadcast,
    Collect,
    Fcollect,
    Alltoall,
    Alltoalls,
    Reduce,
    Scan,
}

/// The algorithms of one operation, as a type with a value for each. [`algorithms!`] makes it.
pub trait Algorithm: Copy + Debug + 'static {
    /// The operation.
    const OPERATION: Operation;
    /// `auto`, then the names of all.
    const NAMES: &'static [&'static str];
    /// All of them; the first one serves every case.
    const ALL: &'static [Self];
    /// What the operation is called with: memory that it can use for as long.
    type Call<'m>;

    /// The algorithm at that place of [`NAMES`](Self::NAMES); none for `auto`.
    fn numbered(number: usize) -> Option<Self>;

    /// What it needs of so many members and bytes; an error that says so if that is not met.
    ///
    /// # Errors
    /// What it needs, in words.
    fn serves(self, members: usize, bytes: usize) -> Result<(), &'static str>;

    /// Carries out the call. `degree` tells that of the trees.
    ///
    /// # Errors
    /// The group's.
    fn run<G: Group>(
        self,
        group: &G,
        call: Self::Call<'_>,
        degree: impl Fn() -> usize,
    ) -> Outcome<G>;
}

/// What an algorithm needs of a number of members, and of bytes that one of them contributes.
#[derive(Clone, Copy)]
pub struct Need {
    /// In words.
    pub words: &'static str,
    /// Whether it is met.
    pub met: fn(usize, usize) -> bool,
}

/// Nothing.
pub const ANY: Need = Need { words: "nothing", met: |_, _| true };
/// Partners by exclusive or.
pub const POWER_OF_TWO: Need = Need {
    words: "a number of PEs that is a power of two",
    met: |members, _| members.is_power_of_two(),
};
/// Pairs.
pub const EVEN: Need =
    Need { words: "an even number of PEs", met: |members, _| members.is_multiple_of(2) };
/// A message beside the control words.
pub const SMALL: Need = Need { words: "at most 1120 bytes", met: |_, bytes| bytes <= MOST_BYTES };
/// A message with a part for each member, in whole words.
pub const SMALL_TOGETHER: Need = Need {
    words: "at most 1120 bytes for all PEs together",
    met: |members, bytes| words_of(bytes).saturating_mul(members) <= MOST_WORDS,
};
// As the texts say.
const _: () = assert!(MOST_BYTES == 1120);

/// The table of an operation's algorithms: a line for each, with its name, what it needs, and the
/// call of its function. The first one serves every case.
macro_rules! algorithms {
    ($(#[$doc:meta])* $type:ident of $operation:ident, |$group:ident, $call:ident: $Call:ty, $degree:ident| {
        $($(#[$about:meta])* $name:ident, $need:expr => $function:expr;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(non_camel_case_types)] // Their names are the ones that people write.
        pub enum $type { $($(#[$about])* $name,)* }

        impl $crate::collectives::algorithm::Algorithm for $type {
            const OPERATION: $crate::collectives::algorithm::Operation =
                $crate::collectives::algorithm::Operation::$operation;
            const NAMES: &'static [&'static str] = &["auto", $(stringify!($name)),*];
            const ALL: &'static [Self] = &[$(Self::$name),*];
            type Call<'m> = $Call;

            #[inline(always)]
            fn numbered(number: usize) -> Option<Self> {
                match number {
                    $(_ if number == Self::$name as usize + 1 => Some(Self::$name),)*
                    _ => None,
                }
            }

            #[inline(always)]
            fn serves(self, members: usize, bytes: usize) -> Result<(), &'static str> {
                match self {
                    $(Self::$name => {
                        const NEED: $crate::collectives::algorithm::Need = $need;
                        if (NEED.met)(members, bytes) { Ok(()) } else { Err(NEED.words) }
                    })*
                }
            }

            #[inline(always)]
            fn run<G: $crate::collectives::group::Group>(
                self,
                $group: &G,
                $call: Self::Call<'_>,
                $degree: impl Fn() -> usize,
            ) -> $crate::collectives::group::Outcome<G> {
                let _ = &$degree; // Not every table has trees.
                match self { $(Self::$name => $function,)* }
            }
        }
    };
}
pub(crate) use algorithms;
