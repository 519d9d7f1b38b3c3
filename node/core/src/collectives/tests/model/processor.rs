//! Processors, as far as the model knows them.

/// Times in picoseconds, so that sums are exact.
pub type Picoseconds = u64;

const fn ns(ns: u64) -> Picoseconds {
    ns * 1000
}

/// A machine of one or two sockets, whose CPUs are numbered through clusters and sockets.
#[derive(Clone, Copy, Debug)]
pub struct Processor {
    pub name: &'static str,
    /// CPUs that share a last-level cache.
    pub cluster: usize,
    /// CPUs of a socket.
    pub socket: usize,
    /// How long a line takes between two CPUs: of a cluster, of a socket, of two sockets.
    pub transfer: [Picoseconds; 3],
    /// How long a cache is busy with one request for a line before it can serve the next one.
    pub occupied: Picoseconds,
    /// Whether members run on CPUs in another order than theirs: they are not bound.
    pub scattered: bool,
}

/// Loads that a CPU has in flight at most: the line fill buffers of its first-level cache. Intel's
/// and AMD's have 10 to 24.
pub const IN_FLIGHT: usize = 12;
/// A load from this CPU's own cache, and the loop around it.
pub const LOAD: Picoseconds = 1500;
/// A locked instruction on a line that this CPU owns.
pub const LOCKED: Picoseconds = ns(6);

/// Transfer times: medians of two-socket machines, one way, published by N. Viennot
/// (<https://github.com/nviennot/core-to-core-latency>). `occupied` is an assumption: about half of
/// a transfer within a cluster.
pub const EPYC: Processor = Processor {
    name: "EPYC 7R13",
    cluster: 8,
    socket: 64,
    transfer: [ns(23), ns(107), ns(197)],
    occupied: ns(10),
    scattered: false,
};
pub const XEON: Processor = Processor {
    name: "Xeon 8375C",
    cluster: 64,
    socket: 64,
    transfer: [ns(51), ns(51), ns(108)],
    occupied: ns(10),
    scattered: false,
};

impl Processor {
    /// The CPU of a member. A prime that divides no number of CPUs scatters them.
    fn cpu(&self, member: usize, members: usize) -> usize {
        if self.scattered { member * 37 % members } else { member }
    }

    /// The transfer time between two members. Sockets are as large as needed: two for all members.
    pub fn between(&self, a: usize, b: usize, members: usize) -> Picoseconds {
        let socket = self.socket.max(members.div_ceil(2));
        let [a, b] = [a, b].map(|member| self.cpu(member, members));
        match () {
            () if a == b => 0,
            () if a / self.cluster == b / self.cluster => self.transfer[0],
            () if a / socket == b / socket => self.transfer[1],
            () => self.transfer[2],
        }
    }
}
