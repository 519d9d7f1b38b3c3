//! Members on several nodes: one member of each node, its *head*, represents the others there, and
//! only heads reach each other across nodes.
//!
//! ```text
//!  node      0         1       2
//!  members   0 1 2 3   4 5 6   7        of a node follow each other
//!  heads     0         4       7        the first ones, unless a root is to stand for its node
//! ```

use super::group::{Outcome, Reach, Stepped, Steps};

/// The nodes of a group and their heads.
#[derive(Debug)]
pub struct Levels {
    /// The first member of each node, then the number of all members.
    starts: Vec<usize>,
    heads: Vec<usize>,
    /// The node of this process.
    node: usize,
    me: usize,
}

impl Levels {
    /// The first member of each node is its head.
    pub fn new(group: &impl Reach) -> Self {
        let heads = group.nodes();
        let mut starts = heads.clone();
        starts.push(group.size());
        let mut levels = Self { starts, heads, node: 0, me: group.index() };
        levels.node = levels.node_of(levels.me);
        levels
    }

    /// As [`new`](Self::new), but `root` is the head of its node.
    pub fn below(group: &impl Reach, root: usize) -> Self {
        let mut levels = Self::new(group);
        let node = levels.node_of(root);
        levels.heads[node] = root;
        levels
    }

    fn node_of(&self, member: usize) -> usize {
        self.starts.partition_point(|start| *start <= member) - 1
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.heads.len()
    }
    /// The first member of each node, then the number of all members.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
    /// Number of members on the node that has the most.
    pub fn largest(&self) -> usize {
        self.starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(1)
    }
    /// The number of a head among the heads.
    pub fn number(&self, head: usize) -> usize {
        self.node_of(head)
    }
    /// The head of a node.
    pub fn head_of(&self, node: usize) -> usize {
        self.heads[node]
    }
    /// The head of this process's node.
    pub fn head(&self) -> usize {
        self.heads[self.node]
    }
    /// Whether this process is the head of its node.
    pub fn is_head(&self) -> bool {
        self.head() == self.me
    }
    /// All members on this node except its head.
    pub fn others(&self) -> impl Iterator<Item = usize> + Clone {
        let head = self.head();
        (self.starts[self.node]..self.starts[self.node + 1]).filter(move |member| *member != head)
    }
    /// An upper bound on the steps that any algorithm takes among the heads.
    pub fn steps(&self) -> usize {
        self.nodes() + 128
    }
    /// The heads as a group, whose steps follow step `after`.
    pub fn heads<'a, G>(&'a self, steps: &'a Steps<'a, G>, after: usize) -> Heads<'a, G> {
        Heads { steps, levels: self, after }
    }
}

/// The heads as a group, in a collective of all members.
#[derive(Debug)]
pub struct Heads<'a, G> {
    steps: &'a Steps<'a, G>,
    levels: &'a Levels,
    after: usize,
}

impl<G: Stepped> Reach for Heads<'_, G> {
    type Stop = G::Stop;
    type Memory = G::Memory;

    fn index(&self) -> usize {
        self.levels.node
    }
    fn size(&self) -> usize {
        self.levels.nodes()
    }
    fn nodes(&self) -> Vec<usize> {
        (0..self.size()).collect()
    }
    fn memory(&self) -> &G::Memory {
        self.steps.group().memory()
    }
    fn number(&self, member: usize) -> usize {
        self.steps.group().number(self.levels.heads[member])
    }
}

impl<G: Stepped> Stepped for Heads<'_, G> {
    fn open(&self, steps: u64) -> u64 {
        assert!(steps <= self.levels.steps() as u64);
        self.after as u64
    }
    fn announce(&self, step: u64) {
        self.steps.announce(step as usize);
    }
    fn announce_to(&self, step: u64, members: impl IntoIterator<Item = usize>) {
        let heads = members.into_iter().map(|member| self.levels.heads[member]);
        self.steps.announce_to(step as usize, heads);
    }
    fn announce_near(&self, _step: u64) {}
    fn await_member(&self, step: u64, member: usize) -> Outcome<Self> {
        self.steps.await_member(step as usize, self.levels.heads[member])
    }
    fn sends(&self) -> bool {
        self.steps.group().sends()
    }
    fn send(&self, step: u64, member: usize, message: &[u64]) -> Outcome<Self> {
        self.steps.send(step as usize, self.levels.heads[member], message)
    }
    fn receive(&self, step: u64, member: usize, message: &mut [u64]) -> Outcome<Self> {
        self.steps.receive(step as usize, self.levels.heads[member], message)
    }
}

#[cfg(test)]
#[test]
fn everybody_has_a_head() {
    use super::memory::Private;

    struct Some(usize);
    impl Reach for Some {
        type Stop = std::convert::Infallible;
        type Memory = Private;
        fn index(&self) -> usize {
            self.0
        }
        fn size(&self) -> usize {
            8
        }
        fn nodes(&self) -> Vec<usize> {
            vec![0, 4, 7]
        }
        fn memory(&self) -> &Self::Memory {
            &Private
        }
    }
    let heads = |root: Option<usize>| -> Vec<usize> {
        let levels = |me| match root {
            None => Levels::new(&Some(me)),
            Option::Some(root) => Levels::below(&Some(me), root),
        };
        (0..8).map(|me| levels(me).head()).collect()
    };
    assert_eq!(heads(None), [0, 0, 0, 0, 4, 4, 4, 7]);
    assert_eq!(heads(Option::Some(5)), [0, 0, 0, 0, 5, 5, 5, 7]);
    let levels = Levels::below(&Some(6), 5);
    assert!(!levels.is_head() && levels.others().eq([4, 6]) && levels.number(5) == 1);
}
