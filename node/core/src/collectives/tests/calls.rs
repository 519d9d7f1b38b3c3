//! Collective calls, their arguments, and their expected results.
#![allow(unsafe_code)]

use super::machine::MOST_PES;
use super::play::UNTOUCHED;
use crate::collectives::algorithm::{Algorithm, Operation};
use crate::collectives::alltoall::{self, Alltoall, BlockLayout, StridedLayout};
use crate::collectives::barrier;
use crate::collectives::broadcast::{self, Broadcast};
use crate::collectives::collect::{self, Collect};
use crate::collectives::group::CollectiveGroup;
use crate::collectives::range::Writable;
use crate::collectives::reduce::{self, Kernel, Max, Min, Prod, Reduce, Sum, Xor};
use crate::collectives::scan::{self, Scan};
use std::convert::Infallible;

/// Degree of the trees.
const DEGREE: usize = 4;

/// One collective call and its arguments.
#[derive(Clone, Debug)]
pub enum Call {
    Sync,
    Broadcast { bytes: usize, root: usize, root_too: bool },
    Collect { bytes: [usize; MOST_PES] },
    Fcollect { bytes: usize },
    Alltoall { bytes: usize },
    Alltoalls { dst: usize, sst: usize, nelems: usize, elem_bytes: usize },
    Reduce { elements: Elements, n: usize, in_place: bool },
    Scan { elements: Elements, n: usize, in_place: bool, inclusive: bool },
}

#[derive(Clone, Copy, Debug)]
pub enum Elements {
    SumI64,
    SumF64,
    ProdF32,
    MaxU8,
    MaxF32,
    MinF64,
    XorU16,
}

/// Numbers that a maximum or minimum may take for others, rarely NaN.
fn extreme(bits: u64) -> f64 {
    const NUMBERS: [f64; 7] = [0.0, -0.0, 1.0, -1.0, 2.5, f64::INFINITY, f64::NEG_INFINITY];
    // Some elements have zeros only.
    let most = if bits & 1 == 0 { NUMBERS.len() } else { 2 };
    if bits % 32 == 0 { f64::NAN } else { NUMBERS[bits as usize / 32 % most] }
}

/// IEEE 754-2019's `minimum`.
fn minimum(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() {
        f64::NAN
    } else if a.total_cmp(&x).is_le() {
        a
    } else {
        x
    }
}

/// IEEE 754-2019's `maximum`.
fn maximum(a: f32, x: f32) -> f32 {
    let least = minimum(-f64::from(a), -f64::from(x));
    if least.is_nan() { f32::NAN } else { -least as f32 }
}

impl Elements {
    pub fn kernel(self) -> Kernel {
        match self {
            Self::SumI64 => Kernel::of::<i64, Sum>(),
            Self::SumF64 => Kernel::of::<f64, Sum>(),
            Self::ProdF32 => Kernel::of::<f32, Prod>(),
            Self::MaxU8 => Kernel::of::<u8, Max>(),
            Self::MaxF32 => Kernel::of::<f32, Max>(),
            Self::MinF64 => Kernel::of::<f64, Min>(),
            Self::XorU16 => Kernel::of::<u16, Xor>(),
        }
    }

    /// An element's bytes, from random bits. Floats are chosen so that results are exact in
    /// whatever order they are combined.
    pub fn encode(self, bits: u64) -> Vec<u8> {
        match self {
            Self::SumI64 => bits.to_ne_bytes().into(),
            Self::SumF64 => ((bits >> 24) as f64).to_ne_bytes().into(),
            Self::ProdF32 => [0.5f32, 1.0, -2.0, 4.0][bits as usize % 4].to_ne_bytes().into(),
            Self::MaxU8 => vec![bits as u8],
            Self::MaxF32 => (extreme(bits) as f32).to_ne_bytes().into(),
            Self::MinF64 => extreme(bits).to_ne_bytes().into(),
            Self::XorU16 => (bits as u16).to_ne_bytes().into(),
        }
    }

    /// The reference: combines one element of each member, in their order.
    pub fn fold(self, all: &[&[u8]]) -> Vec<u8> {
        fn typed<T, const N: usize>(
            all: &[&[u8]],
            from: fn([u8; N]) -> T,
            op: fn(T, T) -> T,
        ) -> Option<T> {
            all.iter().map(|bytes| from((*bytes).try_into().unwrap())).reduce(op)
        }
        let bytes = match self {
            Self::SumI64 => typed(all, i64::from_ne_bytes, |a, x| a.wrapping_add(x))
                .map(|v| v.to_ne_bytes().to_vec()),
            Self::SumF64 => {
                typed(all, f64::from_ne_bytes, |a, x| a + x).map(|v| v.to_ne_bytes().to_vec())
            }
            Self::ProdF32 => {
                typed(all, f32::from_ne_bytes, |a, x| a * x).map(|v| v.to_ne_bytes().to_vec())
            }
            Self::MaxU8 => typed(all, u8::from_ne_bytes, u8::max).map(|v| vec![v]),
            Self::MaxF32 => {
                typed(all, f32::from_ne_bytes, maximum).map(|v| v.to_ne_bytes().to_vec())
            }
            Self::MinF64 => {
                typed(all, f64::from_ne_bytes, minimum).map(|v| v.to_ne_bytes().to_vec())
            }
            Self::XorU16 => {
                typed(all, u16::from_ne_bytes, |a, x| a ^ x).map(|v| v.to_ne_bytes().to_vec())
            }
        };
        bytes.unwrap_or_else(|| vec![0; self.kernel().bytes()])
    }
}

/// Random bits that depend on all of the arguments.
fn bits(call: usize, pe: usize, i: usize) -> u64 {
    let mut x = (call as u64) << 48 ^ (pe as u64) << 40 ^ i as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3 {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    x
}

fn pattern(call: usize, pe: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| bits(call, pe, i) as u8).collect()
}

impl Call {
    /// The contents of PE `pe`'s source, of `npes` PEs.
    pub fn source(&self, call: usize, pe: usize, npes: usize) -> Vec<u8> {
        match *self {
            Call::Sync => Vec::new(),
            Call::Broadcast { bytes, .. } | Call::Fcollect { bytes } => pattern(call, pe, bytes),
            Call::Collect { bytes } => pattern(call, pe, bytes[pe]),
            Call::Alltoall { bytes } => pattern(call, pe, bytes * npes),
            Call::Alltoalls { sst, nelems, elem_bytes, .. } => {
                pattern(call, pe, sst * nelems * elem_bytes * npes)
            }
            Call::Reduce { elements, n, .. } | Call::Scan { elements, n, .. } => {
                (0..n).flat_map(|i| elements.encode(bits(call, pe, i))).collect()
            }
        }
    }

    /// The bytes that PE `me` must have in its dest afterwards, if the call writes it.
    pub fn expected(&self, call: usize, me: usize, npes: usize) -> Option<Vec<u8>> {
        let sources: Vec<_> = (0..npes).map(|pe| self.source(call, pe, npes)).collect();
        let folded = |elements: Elements, members: usize| {
            let size = elements.kernel().bytes();
            (0..sources[0].len() / size)
                .flat_map(|i| {
                    let column: Vec<_> =
                        sources[..members].iter().map(|s| &s[i * size..][..size]).collect();
                    elements.fold(&column)
                })
                .collect()
        };
        match *self {
            Call::Sync => None,
            Call::Broadcast { root, root_too, .. } => {
                (root_too || root % npes != me).then(|| sources[root % npes].clone())
            }
            Call::Collect { .. } | Call::Fcollect { .. } => Some(sources.concat()),
            Call::Alltoall { bytes } => {
                Some(sources.iter().flat_map(|s| s[me * bytes..][..bytes].to_vec()).collect())
            }
            Call::Alltoalls { dst, sst, nelems, elem_bytes } => {
                let mut dest = vec![UNTOUCHED; dst * nelems * elem_bytes * npes];
                for (pe, source) in sources.iter().enumerate() {
                    for e in 0..nelems {
                        let from = sst * (me * nelems + e) * elem_bytes;
                        let to = dst * (pe * nelems + e) * elem_bytes;
                        dest[to..][..elem_bytes].copy_from_slice(&source[from..][..elem_bytes]);
                    }
                }
                Some(dest)
            }
            Call::Reduce { elements, .. } => Some(folded(elements, npes)),
            Call::Scan { elements, inclusive, .. } => {
                Some(folded(elements, me + usize::from(inclusive)))
            }
        }
    }

    pub fn in_place(&self) -> bool {
        matches!(*self, Call::Reduce { in_place: true, .. } | Call::Scan { in_place: true, .. })
    }

    pub fn operation(&self) -> Operation {
        match self {
            Call::Sync => Operation::Barrier,
            Call::Broadcast { .. } => Operation::Broadcast,
            Call::Collect { .. } => Operation::Collect,
            Call::Fcollect { .. } => Operation::Fcollect,
            Call::Alltoall { .. } => Operation::Alltoall,
            Call::Alltoalls { .. } => Operation::Alltoalls,
            Call::Reduce { .. } => Operation::Reduce,
            Call::Scan { .. } => Operation::Scan,
        }
    }

    /// Bytes that one member contributes.
    pub fn bytes(&self) -> usize {
        match *self {
            Call::Sync => 0,
            Call::Broadcast { bytes, .. } | Call::Fcollect { bytes } | Call::Alltoall { bytes } => {
                bytes
            }
            Call::Collect { bytes } => bytes[0],
            Call::Alltoalls { nelems, elem_bytes, .. } => nelems * elem_bytes,
            Call::Reduce { elements, n, .. } | Call::Scan { elements, n, .. } => {
                n * elements.kernel().bytes()
            }
        }
    }

    /// The indices of the algorithms that can serve the call.
    pub fn algorithms(&self, npes: usize) -> Vec<usize> {
        let operation = self.operation();
        (1..operation.algorithms().len())
            .filter(|index| operation.serves(*index, npes, self.bytes()).is_ok())
            .collect()
    }

    /// Makes the call, with as much as it needs of the memory for dest and source.
    pub fn carry_out<G: CollectiveGroup<Stop = Infallible>>(
        &self,
        by: usize,
        group: &G,
        dest: Writable<'_>,
        source: Writable<'_>,
    ) {
        fn run<A: Algorithm>(
            by: usize,
            group: &impl CollectiveGroup<Stop = Infallible>,
            call: A::Call<'_>,
        ) {
            let Ok(()) = A::numbered(by).unwrap().run(group, call, || DEGREE);
        }
        let size = group.size();
        let arrays = |written, read| (dest.part(0, written), source.part(0, read).readable());
        match *self {
            Call::Sync => run::<barrier::Algorithm>(by, group, ()),
            Call::Broadcast { bytes, root, root_too } => {
                let (dest, source) = arrays(bytes, bytes);
                let call = Broadcast { dest, source, root: root % size, root_too };
                run::<broadcast::Algorithm>(by, group, call);
            }
            Call::Collect { bytes } => {
                let (all, mine) = (bytes[..size].iter().sum(), bytes[group.index()]);
                let (dest, source) = arrays(all, mine);
                // SAFETY: pointers and length are those of the ranges, and every member reports its
                // length.
                let call = unsafe { Collect::varying(group, dest.at(), source.at(), mine) };
                if let Ok(Some(call)) = call {
                    run::<collect::Algorithm>(by, group, call);
                }
            }
            Call::Fcollect { bytes } => {
                let (dest, source) = arrays(bytes * size, bytes);
                run::<collect::EqualAlgorithm>(by, group, Collect::equal(dest, source));
            }
            Call::Alltoall { bytes } => {
                let (dest, source) = arrays(bytes * size, bytes * size);
                let call = Alltoall { dest, source, blocks: BlockLayout::Dense(bytes) };
                run::<alltoall::Algorithm>(by, group, call);
            }
            Call::Alltoalls { dst, sst, nelems, elem_bytes } => {
                let shape = StridedLayout { dst, sst, nelems, elem_bytes };
                let [written, read] = [dst, sst].map(|stride| shape.span(stride, nelems * size));
                let (dest, source) = arrays(written, read);
                let call = Alltoall { dest, source, blocks: BlockLayout::Strided(shape) };
                run::<alltoall::StridedAlgorithm>(by, group, call);
            }
            Call::Reduce { elements, n, .. } => {
                let (dest, source) = arrays(self.bytes(), self.bytes());
                let call = Reduce { dest, source, n, kernel: elements.kernel() };
                run::<reduce::Algorithm>(by, group, call);
            }
            Call::Scan { elements, n, inclusive, .. } => {
                let (dest, source) = arrays(self.bytes(), self.bytes());
                let call = Scan { dest, source, n, kernel: elements.kernel(), inclusive };
                run::<scan::Algorithm>(by, group, call);
            }
        }
    }
}
