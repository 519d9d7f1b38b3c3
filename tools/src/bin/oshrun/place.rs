//! Parts of a machine, and how PEs are bound and given to them.

/// What a PE is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind {
    /// Nothing: it runs on any CPU.
    None,
    /// One hardware thread.
    HwThread,
    /// All hardware threads of one place.
    To(Place),
}

/// Parts of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A core.
    Core,
    /// The cores that share a cache of the third level.
    L3,
    /// The cores of a NUMA node.
    Numa,
    /// The cores of a socket.
    Socket,
    /// All of this machine.
    Node,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Core, Self::L3, Self::Numa, Self::Socket, Self::Node];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::L3 => "l3",
            Self::Numa => "numa",
            Self::Socket => "socket",
            Self::Node => "node",
        }
    }

    /// The place of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|place| place.name() == name)
    }
}

/// The order in which PEs are given to cores: core after core, or the first one of each place, then
/// the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// The places.
    pub by: Place,
    /// How many PEs each place has, one place after the other, if the user says so.
    pub each: Option<usize>,
}
