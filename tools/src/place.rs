//! Parts of a machine, and how PEs are bound and mapped to them.

use serde::{Deserialize, Serialize};

/// The part of the machine to which a PE is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bind {
    /// Nothing: it runs on any CPU.
    None,
    /// All hardware threads of one place.
    To(Place),
}

/// Parts of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// A hardware thread.
    HwThread,
    /// A core.
    Core,
    /// The cores that share a last-level cache.
    L3,
    /// The cores of a NUMA node.
    Numa,
    /// The cores of a socket.
    Socket,
    /// The whole machine.
    Node,
}

impl Place {
    /// All kinds of places.
    pub const ALL: [Self; 6] =
        [Self::HwThread, Self::Core, Self::L3, Self::Numa, Self::Socket, Self::Node];

    /// The name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::HwThread => "hwthread",
            Self::Core => "core",
            Self::L3 => "l3",
            Self::Numa => "numa",
            Self::Socket => "socket",
            Self::Node => "node",
        }
    }

    /// The place of this name. What Open MPI calls a slot is a core.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "slot" { "core" } else { name };
        Self::ALL.into_iter().find(|place| place.name() == name)
    }
}

/// The order in which PEs are assigned to cores: core by core, or first one core of each place,
/// then the next core of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Map {
    /// The kind of place.
    pub by: Place,
    /// The number of PEs per place, filling one place after the other, if the user sets it.
    pub each: Option<usize>,
}
