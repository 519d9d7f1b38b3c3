//! Pseudo-random numbers, reproducible from a seed.

/// SplitMix64 (Steele, Lea and Flood, 2014).
pub struct Random(u64);

impl Random {
    /// The sequence for one trial of a campaign.
    pub fn new(seed: u64, trial: u64) -> Self {
        let mut random = Self(seed);
        let start = random.next();
        Self(start ^ trial.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of the given values.
    pub fn pick<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())]
    }
}
