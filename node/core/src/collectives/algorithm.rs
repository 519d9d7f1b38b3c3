//! Algorithms as lines of their operation's table: each line gives an algorithm's name, its
//! requirement, and the call of its function. [`super::operation`] lists the tables.

use super::group::{CollectiveGroup, Outcome};
use super::message::{MOST_BYTES, words_of};
use super::words::{FEW_WORDS, MOST_WORDS};
use std::fmt::Debug;

/// A collective operation, as far as the choice of an algorithm goes: barrier and sync count as
/// one, as do all reductions and all scans.
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

/// The algorithms of one operation, as an enum. [`algorithms!`] defines it.
pub trait Algorithm: Copy + Debug + 'static {
    /// The operation.
    const OPERATION: Operation;
    /// `auto`, then the names of all algorithms.
    const NAMES: &'static [&'static str];
    /// All algorithms. The first one serves every case.
    const ALL: &'static [Self];
    /// The arguments of a call, with memory that it can use during `'m`.
    type Call<'m>;

    /// The algorithm at index `number` of [`NAMES`](Self::NAMES), `None` for `auto`.
    fn numbered(number: usize) -> Option<Self>;

    /// Checks that the algorithm can serve this many members and bytes.
    ///
    /// # Errors
    /// The requirement that is not met, in words.
    fn serves(self, members: usize, bytes: usize) -> Result<(), &'static str>;

    /// Carries out the call. `degree` returns the degree of the trees.
    ///
    /// # Errors
    /// Those of the group.
    fn run<G: CollectiveGroup>(
        self,
        group: &G,
        call: Self::Call<'_>,
        degree: impl Fn() -> usize,
    ) -> Outcome<G>;
}

/// A requirement on the number of members and on the bytes that each contributes.
#[derive(Clone, Copy)]
pub struct Need {
    /// The requirement in words.
    pub words: &'static str,
    /// Whether this many members and bytes meet it.
    pub met: fn(usize, usize) -> bool,
}

/// No requirement.
pub const ANY: Need = Need { words: "nothing", met: |_, _| true };
/// For partners found by exclusive or.
pub const POWER_OF_TWO: Need = Need {
    words: "a number of PEs that is a power of two",
    met: |members, _| members.is_power_of_two(),
};
/// For members in pairs.
pub const EVEN: Need = Need { words: "an even number of PEs", met: |members, _| members % 2 == 0 };
/// For a message beside the control words.
pub const SMALL: Need = Need { words: "at most 1120 bytes", met: |_, bytes| bytes <= MOST_BYTES };
/// For a result that one member publishes for all.
pub const FEW: Need = Need { words: "at most 104 bytes", met: |_, bytes| bytes <= 8 * FEW_WORDS };
// The text above names this number.
const _: () = assert!(8 * FEW_WORDS == 104);
/// For a message with a part for each member, in whole words.
pub const SMALL_TOGETHER: Need = Need {
    words: "at most 1120 bytes for all PEs together, each part rounded up to 8",
    met: |members, bytes| words_of(bytes).saturating_mul(members) <= MOST_WORDS,
};
// The texts above name this number.
const _: () = assert!(MOST_BYTES == 1120);

/// Defines the table of an operation's algorithms: one line each, with its name, its requirement,
/// and the call of its function. The first one serves every case.
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
            fn run<G: $crate::collectives::group::CollectiveGroup>(
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
