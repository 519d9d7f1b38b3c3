//! How much memory a call accesses from an address on, computed without overflow and described in
//! messages in terms of the call's arguments.

use std::fmt;

/// Size of the address space that a process's memory can use: half of all addresses.
pub const ADDRESSES: usize = isize::MAX as usize;

/// The memory that a call accesses from an address on.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Bytes from the first one accessed to the end of the last; `None` stands for a size that
    /// overflows.
    pub bytes: Option<usize>,
    /// How many of them are accessed, saturated.
    pub accessed: usize,
    /// The program's choice.
    chosen: Chosen,
}

/// The arguments that determine a span's size: names and values.
#[derive(Clone, Copy, Debug)]
enum Chosen {
    /// None: the span is one object.
    Nothing,
    /// A number of elements.
    Count(&'static str, usize),
    /// As `Count`, with a stride and perhaps the size of a block.
    Stride(&'static str, isize, Option<usize>, usize),
}

impl Span {
    /// One object of `bytes` bytes.
    pub fn object(bytes: usize) -> Self {
        Self { bytes: Some(bytes), accessed: bytes, chosen: Chosen::Nothing }
    }

    /// `n` contiguous elements of `size` bytes; the argument is called `name`.
    pub fn elements(name: &'static str, n: usize, size: usize) -> Self {
        let bytes = n.checked_mul(size);
        Self { bytes, accessed: n.saturating_mul(size), chosen: Chosen::Count(name, n) }
    }

    /// `n` blocks of `bsize` elements of `size` bytes, or `n` single elements. The distance between them
    /// is a stride that leaves room for one, the argument `name`.
    pub fn strided(
        (name, stride): (&'static str, isize),
        bsize: Option<usize>,
        n: usize,
        size: usize,
    ) -> Self {
        let block = bsize.unwrap_or(1);
        Self {
            bytes: extent(stride, block, n).and_then(|extent| extent.checked_mul(size)),
            accessed: block.saturating_mul(n).saturating_mul(size),
            chosen: Chosen::Stride(name, stride, bsize, n),
        }
    }

    /// The same arguments, with this total size.
    pub fn with_bytes(self, bytes: Option<usize>) -> Self {
        Self { bytes, ..self }
    }

    /// `n` of these spans, contiguous.
    pub fn times(self, n: usize) -> Self {
        self.with_bytes(self.bytes.and_then(|bytes| bytes.checked_mul(n)))
    }

    /// Whether there may be other memory between what is accessed.
    pub fn is_strided(&self) -> bool {
        matches!(self.chosen, Chosen::Stride(..))
    }

    /// Whether it fits into `room` bytes.
    #[inline(always)]
    pub fn fits(&self, room: usize) -> bool {
        self.bytes.is_some_and(|bytes| bytes <= room)
    }

    /// The parts of a message about a span that exceeds `end`: the argument at fault with its
    /// value, and why. The span starts at the call's argument `name`, which is the address `at`.
    pub fn refusal(self, name: &str, at: usize, end: impl fmt::Display) -> (String, String) {
        let place = format!("{name} = {at:#x}");
        let amount = match self.bytes {
            Some(bytes) => format!("{bytes} bytes"),
            None => "more bytes than there are addresses".into(),
        };
        match self.chosen {
            Chosen::Nothing => (place, format!("{amount} from there on go past {end}")),
            chosen => (chosen.to_string(), format!("{amount} from {place} on go past {end}")),
        }
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => Ok(()),
            Self::Count(name, n) => write!(f, "{name} = {n}"),
            Self::Stride(name, stride, None, n) => write!(f, "{name} = {stride}, nelems = {n}"),
            Self::Stride(name, stride, Some(bsize), n) => {
                write!(f, "{name} = {stride}, bsize = {bsize}, nblocks = {n}")
            }
        }
    }
}

/// Elements from the first to the end of the last of `n` blocks of `bsize`, which begin `stride`
/// elements apart; `None` stands for a number that overflows. `n` must not be 0.
fn extent(stride: isize, bsize: usize, n: usize) -> Option<usize> {
    (n - 1).checked_mul(stride as usize)?.checked_add(bsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wraps_has_no_size() {
        assert_eq!(Span::elements("nelems", 3, 8).bytes, Some(24));
        assert_eq!(Span::elements("nelems", usize::MAX / 8 + 1, 8).bytes, None);
        assert_eq!(Span::elements("nelems", 3, 8).times(4).bytes, Some(96));
        assert_eq!(Span::elements("nelems", 1 << 60, 8).times(4).bytes, None);
        assert_eq!(Span::strided(("dst", 3), None, 5, 8).bytes, Some((4 * 3 + 1) * 8));
        assert_eq!(Span::strided(("dst", 1 << 60), None, 17, 1).bytes, None);
        assert_eq!(Span::strided(("dst", 1 << 60), None, 2, 16).bytes, None);
        assert_eq!(Span::strided(("sst", 10), Some(4), 3, 2).bytes, Some((2 * 10 + 4) * 2));
        assert_eq!(Span::strided(("sst", isize::MAX), Some(4), 4, 1).bytes, None);
        assert_eq!(Span::strided(("sst", 10), Some(4), 3, 2).accessed, 24);
    }

    #[test]
    fn messages_name_what_was_chosen() {
        let refusal = |span: Span| {
            let (argument, why) = span.refusal("dest", 0x1000, "the end");
            format!("{argument}: {why}")
        };
        assert_eq!(
            refusal(Span::elements("nelems", 3, 8)),
            "nelems = 3: 24 bytes from dest = 0x1000 on go past the end"
        );
        assert_eq!(
            refusal(Span::object(8)),
            "dest = 0x1000: 8 bytes from there on go past the end"
        );
        assert_eq!(
            refusal(Span::strided(("dst", 1 << 60), Some(2), 100, 4)),
            "dst = 1152921504606846976, bsize = 2, nblocks = 100: more bytes than there are \
             addresses from dest = 0x1000 on go past the end"
        );
    }
}
