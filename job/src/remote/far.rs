//! How memory of a PE on another node is named: by PE and offset, without an address.

/// The offset in a [`Far`] at which the heap begins. The data segment is below it.
pub const HEAP: u64 = 1 << 41;
/// The offset in a [`Far`] at which the first partition begins. The others are at their distances
/// from it.
pub const PARTITIONS: u64 = HEAP + (1 << 40);
/// The offset in a [`Far`] at which the control area of the PE's node begins.
pub const CONTROL: u64 = 1 << 42;
/// The offset in a [`Far`] at which the statistics of the PE's node begin.
pub const STATISTICS: u64 = CONTROL + (1 << 41);

/// A part of the memory that a [`Far`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// The PE's data segment.
    Data,
    /// Its heap.
    Heap,
    /// Its partitions.
    Partitions,
    /// The control area of its node.
    Control,
    /// The statistics of its node.
    Statistics,
}

impl Segment {
    /// The number of segments.
    pub const COUNT: usize = 5;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Data, Self::Heap, Self::Partitions, Self::Control, Self::Statistics];

    /// The segment that an offset lies in, and the offset within it.
    #[must_use]
    pub fn of(offset: u64) -> (Self, u64) {
        let segment = match offset {
            STATISTICS.. => Self::Statistics,
            CONTROL.. => Self::Control,
            PARTITIONS.. => Self::Partitions,
            HEAP.. => Self::Heap,
            _ => Self::Data,
        };
        (segment, offset - segment.start())
    }

    /// The offset in a [`Far`] at which the segment begins.
    #[must_use]
    pub const fn start(self) -> u64 {
        match self {
            Self::Data => 0,
            Self::Heap => HEAP,
            Self::Partitions => PARTITIONS,
            Self::Control => CONTROL,
            Self::Statistics => STATISTICS,
        }
    }
}

/// Memory of a PE on another node, or of that node's control area or statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Far {
    /// The PE, in the world's numbering.
    pub pe: usize,
    /// Bytes into its data segment, or from [`HEAP`], [`PARTITIONS`], [`CONTROL`] or [`STATISTICS`] on.
    pub offset: u64,
}

impl Far {
    /// The memory `bytes` bytes further on.
    #[must_use]
    pub fn plus(self, bytes: usize) -> Self {
        Self { offset: self.offset.wrapping_add(bytes as u64), ..self }
    }
}
