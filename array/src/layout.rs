//! Where elements lie: arithmetic only.

use std::ops::Range;

/// How the elements of an array are spread over the PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Each PE has consecutive elements, equally many; the last PEs may have fewer, or none.
    Block,
    /// Element `i` is on PE `i % npes`.
    Cyclic,
}

/// Division by a number that is known long before: a multiplication and a correction, where the
/// processor's division takes several times as long.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    divisor: usize,
    /// 2^64 / `divisor`, rounded down or one less.
    reciprocal: u64,
}

impl Divisor {
    /// Requires that `divisor` is not 0.
    const fn new(divisor: usize) -> Self {
        Self { divisor, reciprocal: u64::MAX / divisor as u64 }
    }

    /// The quotient and the remainder of `n`.
    #[inline(always)]
    fn divide(self, n: usize) -> (usize, usize) {
        // At most one too small: the reciprocal is greater than 2^64 / divisor - 1 - 1 / 2^64, and n
        // less than 2^64.
        let quotient = ((n as u128 * self.reciprocal as u128) >> 64) as usize;
        let rest = n - quotient * self.divisor;
        if rest >= self.divisor { (quotient + 1, rest - self.divisor) } else { (quotient, rest) }
    }
}

/// The places of `len` elements on `npes` PEs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) len: usize,
    pub(crate) npes: usize,
    /// The most elements that a PE has.
    pub(crate) per_pe: usize,
    pub(crate) distribution: Distribution,
    /// Elements of a block, or PEs.
    divisor: Divisor,
}

impl Layout {
    /// Requires that `npes` is not 0.
    pub(crate) fn new(len: usize, npes: usize, distribution: Distribution) -> Self {
        let per_pe = len.div_ceil(npes);
        let divisor = match distribution {
            // No element is looked for in an array without any.
            Distribution::Block => per_pe.max(1),
            Distribution::Cyclic => npes,
        };
        Self { len, npes, per_pe, distribution, divisor: Divisor::new(divisor) }
    }

    /// The PE of element `index`, and its number there. Requires that there is such an element.
    #[inline(always)]
    pub(crate) fn place(&self, index: usize) -> (usize, usize) {
        self.place_as(self.distribution, index)
    }

    /// [`place`](Self::place) in a loop that is made for this distribution.
    #[inline(always)]
    pub(crate) fn place_as(&self, distribution: Distribution, index: usize) -> (usize, usize) {
        let (quotient, rest) = self.divisor.divide(index);
        match distribution {
            Distribution::Block => (quotient, rest),
            Distribution::Cyclic => (rest, quotient),
        }
    }

    /// The index of the first element of `pe`, and the distance to its next one.
    pub(crate) fn progression(&self, pe: usize) -> (usize, usize) {
        match self.distribution {
            Distribution::Block => (pe * self.per_pe, 1),
            Distribution::Cyclic => (pe, self.npes),
        }
    }

    /// How many elements `pe` has.
    pub(crate) fn len_on(&self, pe: usize) -> usize {
        match self.distribution {
            Distribution::Block => self.block(pe).len(),
            Distribution::Cyclic => self.len / self.npes + usize::from(pe < self.len % self.npes),
        }
    }

    /// The elements of `pe` in blocks.
    pub(crate) fn block(&self, pe: usize) -> Range<usize> {
        let start = |pe: usize| pe.saturating_mul(self.per_pe).min(self.len);
        start(pe)..start(pe + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn division_is_exact(n: usize, divisor in 1..=usize::MAX, shift in 0u32..64) {
            let small = (divisor >> shift).max(1);
            for divisor in [divisor, small] {
                let edges = [n, n / divisor * divisor, (n / divisor * divisor).wrapping_sub(1)];
                for n in edges {
                    prop_assert_eq!(Divisor::new(divisor).divide(n), (n / divisor, n % divisor));
                }
            }
        }
    }

    #[test]
    fn division_is_exact_at_the_edges() {
        let edges = [0, 1, 2, 3, 7, 1 << 32, (1 << 63) - 1, 1 << 63, usize::MAX - 1, usize::MAX];
        for divisor in edges.into_iter().filter(|divisor| *divisor > 0) {
            for n in edges {
                assert_eq!(Divisor::new(divisor).divide(n), (n / divisor, n % divisor));
            }
        }
    }

    /// Every element has one place, and all places of a PE are its first ones.
    #[test]
    fn places_and_indices_agree() {
        for distribution in [Distribution::Block, Distribution::Cyclic] {
            for (len, npes) in (0..40).flat_map(|len| (1..12).map(move |npes| (len, npes))) {
                let layout = Layout::new(len, npes, distribution);
                let mut next = vec![0; npes];
                for index in 0..len {
                    let (pe, offset) = layout.place(index);
                    assert_eq!(offset, next[pe], "element {index} of {len} on {npes} PEs");
                    next[pe] += 1;
                    let (first, step) = layout.progression(pe);
                    assert_eq!(first + offset * step, index);
                    assert!(offset < layout.per_pe);
                }
                assert_eq!(next, (0..npes).map(|pe| layout.len_on(pe)).collect::<Vec<_>>());
            }
        }
    }
}
