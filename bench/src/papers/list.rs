//! The papers, and what their figures share.

use super::{Paper, Setting, mapping, ondemand, oshmpi, partitions, shcoll};
use crate::implementation::Implementation;
use crate::plan::{Experiment, Extent};

/// All of them.
pub const PAPERS: [Paper; 5] = [
    Paper {
        key: "mapping",
        title: "An Intra-Node Implementation of OpenSHMEM Using Virtual Address Space Mapping",
        by: "R. Brightwell and K. Pedretti, PGAS 2011",
        absent: &[
            "Curves on Kitten, with SMARTMAP in its kernel: Kitten takes a whole machine, and oshbench runs on Linux. The library \
             with SMARTMAP's addresses (make smartmap) computes them in the same way.",
        ],
        figures: mapping::figures,
    },
    Paper {
        key: "ondemand",
        title: "On-demand Connection Management for OpenSHMEM and OpenSHMEM+MPI",
        by: "S. Chakraborty, H. Subramoni, J. Perkins, A. A. Awan and D. K. Panda, IPDPS Workshops 2015",
        absent: &[
            "Jobs of up to 8192 PEs: there is one machine. Over nodes the pictures show how a job grows, not how long it would \
             take on a cluster.",
            "Endpoints of InfiniBand adapters: emulated nodes have none, and talk over TCP. Mappings, page tables and resident pages \
             are what a peer costs here.",
            "Blocking beside nonblocking exchange with the launcher: the library has one form of it.",
            "NAS Parallel Benchmarks and Graph500: they are not part of this project. The applications halo, transpose and bfs \
             communicate in the same patterns.",
        ],
        figures: ondemand::figures,
    },
    Paper {
        key: "oshmpi",
        title: "OpenSHMEM over MPI as a Performance Contender: Thorough Analysis and Optimizations",
        by: "M. Si, H. Fu, J. R. Hammond and P. Balaji, OpenSHMEM 2021",
        absent: &[
            "OSHMPI and Sandia OpenSHMEM: they are not part of this project. Where one is installed, --peer NAME=BIN adds its curve.",
            "The network's own operations, over Omni-Path: no such adapter is here. Emulated nodes talk over TCP.",
        ],
        figures: oshmpi::figures,
    },
    Paper {
        key: "shcoll",
        title: "SHCOLL: A Standalone Implementation of OpenSHMEM-Style Collectives API",
        by: "S. Milaković, Z. Budimlić, H. Pritchard, A. Curtis, B. Chapman and V. Sarkar, OpenSHMEM 2018",
        absent: &[
            "Cray's own library on an XC30, and hundreds of nodes: no such machine is here. Where another library is installed, \
             --peer NAME=BIN adds its curve.",
        ],
        figures: shcoll::figures,
    },
    Paper {
        key: "partitions",
        title: "Extending OpenMP and OpenSHMEM for Efficient Heterogeneous Computing",
        by: "PAW-ATM 2022, at SC22",
        absent: &[
            "Arrays on GPUs: in this version, arrays that OpenMP maps lie in the host's memory. make test-devices sets a put \
             on a CUDA device beside the driver's own copy.",
            "More than 4 PEs, each with a device and a node of its own: all PEs share the CPUs of this machine.",
        ],
        figures: partitions::figures,
    },
];

impl Setting {
    /// A program of the suite on so many PEs, with these sizes.
    pub fn job(
        &self,
        program: &'static str,
        pes: usize,
        (least, most, step): (u64, u64, u64),
        more: &[String],
    ) -> Experiment {
        let sizes = [format!("min={least}"), format!("max={most}"), format!("step={step}")];
        let time = [format!("ms={}", self.extent.ms())];
        let room = (most * pes as u64 * 4) >> 20;
        Experiment {
            program,
            raw: false,
            pes,
            arguments: [&time, &sizes[..], more].concat(),
            heap: room.next_power_of_two().clamp(64, 1024),
            whole_job: false,
        }
    }

    /// A program on plain shared memory.
    pub fn raw(
        &self,
        program: &'static str,
        pes: usize,
        sizes: (u64, u64, u64),
        more: &[String],
    ) -> Experiment {
        Experiment { raw: true, ..self.job(program, pes, sizes, more) }
    }

    /// One of three values, by extent.
    pub fn by<T>(&self, full: T, quick: T, tiny: T) -> T {
        match self.extent {
            Extent::Full => full,
            Extent::Quick => quick,
            Extent::Tiny => tiny,
        }
    }

    /// Message sizes from 8 bytes.
    pub fn sizes(&self, most: u64) -> (u64, u64, u64) {
        (8, self.by(most, most.min(256 << 10), 512), self.by(2, 4, 8))
    }

    /// As many PEs as CPUs, at least 2.
    pub fn everybody(&self) -> usize {
        self.cpus.len().clamp(2, 64)
    }

    /// Our own implementation with a setting, under a label.
    pub fn own_with(&self, label: &str, environment: &[(&str, &str)]) -> Implementation {
        self.own().variant(format!("{}, {label}", self.own().name), environment)
    }

    /// The other implementations.
    pub fn peers(&self) -> impl Iterator<Item = Implementation> {
        self.implementations[1..].iter().cloned()
    }
}
