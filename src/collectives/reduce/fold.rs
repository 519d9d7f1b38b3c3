//! How algorithms for a power of two of members serve any number: neighbours fold into
//! groups of one or two, as evenly as can be, and the first of each group stands for it.
//!
//! ```text
//!  members   0   1 2   3   4 5        6 into 4 groups
//!  groups    0    1    2    3
//! ```

/// The groups that `size` members fold into.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    size: usize,
    /// Number of groups: the largest power of two that is at most `size`.
    pub groups: usize,
}

impl Fold {
    /// For `size` members, at least 1.
    pub fn new(size: usize) -> Self {
        Self { size, groups: 1 << size.ilog2() }
    }

    /// The member that stands for `group`.
    pub fn first(self, group: usize) -> usize {
        group * self.size / self.groups
    }

    /// The group of `member`.
    pub fn group(self, member: usize) -> usize {
        (0..self.groups).rfind(|group| self.first(*group) <= member).unwrap_or(0)
    }

    /// The second member of `group`, if it has one.
    pub fn second(self, group: usize) -> Option<usize> {
        let second = self.first(group) + 1;
        (second < self.first(group + 1)).then_some(second)
    }
}

#[cfg(test)]
#[test]
fn every_member_is_first_or_second_of_its_group() {
    for size in 1..70 {
        let fold = Fold::new(size);
        assert!(fold.groups <= size && size < 2 * fold.groups);
        for member in 0..size {
            let group = fold.group(member);
            assert!(fold.first(group) == member || fold.second(group) == Some(member));
        }
    }
}
