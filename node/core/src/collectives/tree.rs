//! Trees over the members: the parent and children of each node, numbered from the root.
//!
//! ```text
//!  k-ary, k = 2         k-nomial, k = 2 (binomial)      grouped, 3 a group
//!       0                       0                             0
//!     /   \                 / / |                         / /  | \
//!    1     2               1 2  4                        1 2   3  6
//!   / \   / \                |  | \                           /|  |\
//!  3   4 5   6               3  5  6                         4 5  7 8
//!                                   \ 7
//! ```

/// A shape for any number of members; node 0 is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// All nodes are children of the root.
    Flat,
    /// Each node has up to `k` children, level by level.
    KAry(usize),
    /// The number of a child has one more non-zero digit to base `k` than its parent's, below the
    /// parent's lowest non-zero digit.
    KNomial(usize),
    /// Groups of `n` neighbours, whose first node is the parent of the others and a child of node
    /// 0.
    Grouped(usize),
}

impl Tree {
    /// The parent of `node`, which is not 0.
    pub fn parent(self, node: usize) -> usize {
        match self {
            Self::Flat => 0,
            Self::KAry(k) => (node - 1) / k,
            Self::KNomial(k) => node - node % (lowest_digit(node, k) * k),
            Self::Grouped(n) if node % n == 0 => 0,
            Self::Grouped(n) => node - node % n,
        }
    }

    /// The children of `node` among `size` members, in ascending order.
    pub fn children(self, node: usize, size: usize) -> impl Iterator<Item = usize> + Clone {
        let (first, end, step, digits) = match self {
            Self::Flat if node == 0 => (1, size, 1, None),
            Self::Flat => (0, 0, 1, None),
            Self::KAry(k) => {
                let first = (k * node + 1).min(size);
                (first, (first + k).min(size), 1, None)
            }
            Self::KNomial(k) => {
                let below = if node == 0 { size } else { lowest_digit(node, k) };
                (0, 0, 1, Some((k, below)))
            }
            Self::Grouped(n) if node == 0 => (1, n.min(size), 1, None),
            Self::Grouped(n) if node % n == 0 => (node + 1, (node + n).min(size), 1, None),
            Self::Grouped(_) => (0, 0, 1, None),
        };
        let leaders = match self {
            Self::Grouped(n) if node == 0 => (n..size).step_by(n),
            _ => (0..0).step_by(1),
        };
        let by_digit = digits.into_iter().flat_map(move |(k, below)| {
            std::iter::successors(Some(1usize), move |place| place.checked_mul(k))
                .take_while(move |place| *place < below)
                .flat_map(move |place| (1..k).map(move |digit| node + digit * place))
                .take_while(move |child| *child < size)
        });
        (first..end).step_by(step).chain(leaders).chain(by_digit)
    }

    /// Number of nodes in the subtree of `node`, itself included, in a [`Self::KNomial`] tree. They
    /// are consecutive, starting with `node`.
    pub fn span(self, node: usize, size: usize) -> usize {
        match self {
            Self::KNomial(_) if node == 0 => size,
            Self::KNomial(k) => lowest_digit(node, k).min(size - node),
            _ => unreachable!("only k-nomial trees have consecutive nodes"),
        }
    }
}

/// The place value of the lowest non-zero digit of `node` to base `k`.
fn lowest_digit(node: usize, k: usize) -> usize {
    let mut place = 1;
    while node % (place * k) == 0 {
        place *= k;
    }
    place
}

/// Member and node numbers, where the root is node 0.
#[derive(Clone, Copy, Debug)]
pub struct Rooted {
    /// Member number of the root.
    pub root: usize,
    /// Number of members.
    pub size: usize,
}

impl Rooted {
    /// The node number of `member`.
    pub fn node(self, member: usize) -> usize {
        (member + self.size - self.root) % self.size
    }
    /// The member number of `node`.
    pub fn member(self, node: usize) -> usize {
        (node + self.root) % self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_and_children_agree_and_reach_everyone() {
        let shapes = [1, 2, 3, 4, 8, 40]
            .map(|k| [Tree::KAry(k), Tree::KNomial(k.max(2)), Tree::Grouped(k), Tree::Flat]);
        for tree in shapes.into_iter().flatten() {
            for size in 1..70 {
                let mut parents = vec![None; size];
                for node in 0..size {
                    let children: Vec<_> = tree.children(node, size).collect();
                    assert!(children.is_sorted(), "{tree:?} {node} of {size}: {children:?}");
                    for child in children {
                        assert_eq!(tree.parent(child), node, "{tree:?}, {size}");
                        assert!(node < child, "a path leads to the root");
                        assert_eq!(parents[child].replace(node), None);
                    }
                }
                assert!(parents[1..].iter().all(Option::is_some), "{tree:?}, {size}");
            }
        }
    }

    #[test]
    fn subtrees_of_k_nomial_trees_are_consecutive() {
        fn count(tree: Tree, node: usize, size: usize) -> usize {
            1 + tree.children(node, size).map(|child| count(tree, child, size)).sum::<usize>()
        }
        for k in 2..5 {
            for size in 1..40 {
                for node in 0..size {
                    let tree = Tree::KNomial(k);
                    assert_eq!(tree.span(node, size), count(tree, node, size), "{k} {node} {size}");
                }
            }
        }
    }
}
