//! The algorithms, by operation: names, what they are, and what they need.

use super::group::SMALL_BYTES;
use super::reduce::BLOCK_BYTES;

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

/// How many there are.
pub const OPERATIONS: usize = 8;

impl Operation {
    /// All of them.
    pub const ALL: [Self; OPERATIONS] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Collect,
        Self::Fcollect,
        Self::Alltoall,
        Self::Alltoalls,
        Self::Reduce,
        Self::Scan,
    ];

    /// Its name in files and variables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Collect => "collect",
            Self::Fcollect => "fcollect",
            Self::Alltoall => "alltoall",
            Self::Alltoalls => "alltoalls",
            Self::Reduce => "reduce",
            Self::Scan => "scan",
        }
    }

    /// The operation of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// The names of its algorithms; the first is `auto`, the choice by table.
    pub fn algorithms(self) -> &'static [&'static str] {
        match self {
            Self::Barrier => Barrier::NAMES,
            Self::Broadcast => Broadcast::NAMES,
            Self::Collect => Collect::NAMES,
            Self::Fcollect => Fcollect::NAMES,
            Self::Alltoall => Alltoall::NAMES,
            Self::Alltoalls => Alltoalls::NAMES,
            Self::Reduce => Reduce::NAMES,
            Self::Scan => Scan::NAMES,
        }
    }

    /// Whether its algorithm number `index` (of [`algorithms`](Self::algorithms)) can
    /// serve so many members and bytes: the bytes of one member's contribution, the mean
    /// of them for collect. If not, what it needs.
    pub fn serves(self, index: usize, members: usize, bytes: usize) -> Result<(), &'static str> {
        fn of<C: Choice>(index: usize, members: usize, bytes: usize) -> Result<(), &'static str> {
            C::numbered(index).map_or(Ok(()), |choice| choice.serves(members, bytes))
        }
        match self {
            Self::Barrier => of::<Barrier>(index, members, bytes),
            Self::Broadcast => of::<Broadcast>(index, members, bytes),
            Self::Collect => of::<Collect>(index, members, bytes),
            Self::Fcollect => of::<Fcollect>(index, members, bytes),
            Self::Alltoall => of::<Alltoall>(index, members, bytes),
            Self::Alltoalls => of::<Alltoalls>(index, members, bytes),
            Self::Reduce => of::<Reduce>(index, members, bytes),
            Self::Scan => of::<Scan>(index, members, bytes),
        }
    }
}

/// An algorithm of one operation.
pub trait Choice: Copy + 'static {
    /// The operation.
    const OPERATION: Operation;
    /// The one that serves every case.
    const DIRECT: Self;
    /// `auto`, then the names of all.
    const NAMES: &'static [&'static str];
    /// The algorithm at that place of `NAMES`; none for `auto`.
    fn numbered(index: usize) -> Option<Self>;
    /// Its name.
    fn name(self) -> &'static str;
    /// Whether it can serve so many members and bytes; if not, what it needs.
    fn serves(self, members: usize, bytes: usize) -> Result<(), &'static str>;
}

// As the texts below say.
const _: () = assert!(SMALL_BYTES == 112 && BLOCK_BYTES == 8192);

/// What an algorithm needs.
type Need = fn(usize, usize) -> Result<(), &'static str>;

const ANY: Need = |_, _| Ok(());
const POWER_OF_TWO: Need = |members, _| match members.is_power_of_two() {
    true => Ok(()),
    false => Err("a number of PEs that is a power of two"),
};
const EVEN: Need = |members, _| match members.is_multiple_of(2) {
    true => Ok(()),
    false => Err("an even number of PEs"),
};
const SMALL: Need = |_, bytes| match bytes <= SMALL_BYTES {
    true => Ok(()),
    false => Err("at most 112 bytes"),
};
const SMALL_TOGETHER: Need = |members, bytes| match bytes.saturating_mul(members) <= SMALL_BYTES {
    true => Ok(()),
    false => Err("at most 112 bytes for all PEs together"),
};
const BLOCK: Need = |_, bytes| match bytes <= BLOCK_BYTES {
    true => Ok(()),
    false => Err("at most 8192 bytes"),
};

macro_rules! algorithms {
    ($(#[$doc:meta])* $operation:ident { $(#[$direct_doc:meta])* Direct,
        $($(#[$about:meta])* $variant:ident = $name:literal, $need:ident;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $operation { $(#[$direct_doc])* Direct, $($(#[$about])* $variant,)* }

        impl Choice for $operation {
            const OPERATION: Operation = Operation::$operation;
            const DIRECT: Self = Self::Direct;
            const NAMES: &'static [&'static str] = &["auto", "direct", $($name),*];
            #[inline]
            fn numbered(index: usize) -> Option<Self> {
                const ALL: &[$operation] = &[$operation::Direct, $($operation::$variant),*];
                ALL.get(index.wrapping_sub(1)).copied()
            }
            fn name(self) -> &'static str {
                Self::NAMES[self as usize + 1]
            }
            #[inline]
            fn serves(self, members: usize, bytes: usize) -> Result<(), &'static str> {
                match self {
                    Self::Direct => Ok(()),
                    $(Self::$variant => $need(members, bytes),)*
                }
            }
        }
    };
}

algorithms! {
    /// Algorithms of barrier and sync.
    Barrier {
        /// Each member reads the words of all.
        Direct,
        /// All report to one, which releases all.
        Linear = "linear", ANY;
        /// On a k-ary tree.
        KAry = "kary", ANY;
        /// On a k-nomial tree.
        KNomial = "knomial", ANY;
        /// On a tree of PEs that share a cache.
        Grouped = "grouped", ANY;
        /// In rounds, with members twice as far away in each.
        Dissemination = "dissemination", ANY;
    }
}

algorithms! {
    /// Algorithms of broadcast.
    Broadcast {
        /// All copy from the root.
        Direct,
        /// The root writes to all.
        Linear = "linear", ANY;
        /// On a k-ary tree.
        KAry = "kary", ANY;
        /// On a binomial tree.
        Binomial = "binomial", ANY;
        /// Parts are scattered, then collected on a ring.
        ScatterCollect = "scatter_collect", ANY;
        /// Bytes travel beside control words.
        Small = "small", SMALL;
    }
}

algorithms! {
    /// Algorithms of collect.
    Collect {
        /// All copy from all.
        Direct,
        /// One gathers, all copy from it.
        Linear = "linear", ANY;
        /// On a ring.
        Ring = "ring", ANY;
        /// Partners exchange twice as much in each round.
        RecursiveDoubling = "recursive_doubling", POWER_OF_TWO;
        /// Bruck's algorithm.
        Bruck = "bruck", ANY;
    }
}

algorithms! {
    /// Algorithms of fcollect.
    Fcollect {
        /// All copy from all.
        Direct,
        /// One gathers, all copy from it.
        Linear = "linear", ANY;
        /// On a ring.
        Ring = "ring", ANY;
        /// Partners exchange twice as much in each round.
        RecursiveDoubling = "recursive_doubling", POWER_OF_TWO;
        /// Bruck's algorithm.
        Bruck = "bruck", ANY;
        /// Bruck's algorithm, with parts put to their places at once.
        BruckInPlace = "bruck_no_rotation", ANY;
        /// Neighbours exchange what they have got last.
        Neighbour = "neighbour_exchange", EVEN;
        /// Parts travel beside control words.
        Small = "small", SMALL;
    }
}

algorithms! {
    /// Algorithms of alltoall.
    Alltoall {
        /// All copy from all.
        Direct,
        /// In rounds, from members further away in each; a barrier ends it.
        Shift = "shift", ANY;
        /// As `shift`, ended by counting.
        ShiftCounter = "shift_counter", ANY;
        /// Partners by exclusive or; a barrier ends it.
        Xor = "xor", POWER_OF_TWO;
        /// As `xor`, ended by counting.
        XorCounter = "xor_counter", POWER_OF_TWO;
        /// Partners by edge colouring; a barrier ends it.
        Coloured = "coloured", ANY;
        /// As `coloured`, ended by counting.
        ColouredCounter = "coloured_counter", ANY;
        /// Blocks travel beside control words.
        Small = "small", SMALL_TOGETHER;
    }
}

/// An algorithm of alltoalls: the same but `small`, chosen apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alltoalls(pub Alltoall);

impl Choice for Alltoalls {
    const OPERATION: Operation = Operation::Alltoalls;
    const DIRECT: Self = Self(Alltoall::DIRECT);
    const NAMES: &'static [&'static str] = Alltoall::NAMES.split_at(Alltoall::Small as usize + 1).0;
    fn numbered(index: usize) -> Option<Self> {
        Alltoall::numbered(index).filter(|_| index < Self::NAMES.len()).map(Self)
    }
    fn name(self) -> &'static str {
        self.0.name()
    }
    fn serves(self, members: usize, bytes: usize) -> Result<(), &'static str> {
        self.0.serves(members, bytes)
    }
}

algorithms! {
    /// Algorithms of reductions.
    Reduce {
        /// One of the next three, by size.
        Direct,
        /// Elements travel beside control words.
        Small = "small", SMALL;
        /// Each member combines everything.
        Whole = "whole", BLOCK;
        /// Each member combines a slice, all gather.
        Sliced = "sliced", ANY;
        /// One combines everything.
        Linear = "linear", ANY;
        /// Up and down a binomial tree.
        Binomial = "binomial", ANY;
        /// Partners combine all they have, twice as far away in each round.
        RecursiveDoubling = "recursive_doubling", ANY;
        /// Recursive halving, then doubling.
        Rabenseifner = "rabenseifner", ANY;
    }
}

algorithms! {
    /// Algorithms of scans.
    Scan {
        /// Each member combines all before it.
        Direct,
        /// One after the other.
        Linear = "linear", ANY;
        /// With members twice as far away in each round.
        RecursiveDoubling = "recursive_doubling", ANY;
    }
}
