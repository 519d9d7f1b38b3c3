//! Collectives of a group: checks the arguments and calls the algorithms.
#![allow(unsafe_code)]

use super::super::View;
use super::Group;
use crate::error::Error;
use onenode_core::collectives::alltoall::{self, Alltoall, BlockLayout};
use onenode_core::collectives::broadcast::{self, Broadcast};
use onenode_core::collectives::collect::{self, Collect};
use onenode_core::collectives::range::{Readable, Writable};
use onenode_core::collectives::reduce::{self, And, Kernel, Max, Min, Or, Prod, Reduce, Sum, Xor};
use onenode_core::collectives::scan::{self, Scan};
use std::time::Duration;

/// A collective call. Buffers lie in the view, at the same place of the same regions on all
/// members.
#[derive(Clone, Copy)]
pub struct Collective<'v> {
    /// The operation.
    pub operation: Operation,
    /// Where to write the result.
    pub dest: *mut u8,
    /// This process's contribution.
    pub source: *const u8,
    /// Bytes of one member's contribution (for an all-to-all, to one member): the same on all
    /// members.
    pub bytes: usize,
    /// The view that makes the members' buffers reachable.
    pub view: &'v View,
}

/// A collective operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// The source of the member with this index goes to the dest of all members.
    Broadcast {
        /// The index.
        root: usize,
    },
    /// The concatenation of all sources goes to all members.
    Allgather,
    /// Part `i` of each source goes to member `i`, which stores the parts in the order of their
    /// senders.
    Alltoall,
    /// Sources are combined element by element, and all members get the result. Dest may be source.
    Allreduce(Kernel),
    /// As `Allreduce`, over the members up to this one, or before this one if not `inclusive`; then
    /// the first one gets zeros. Dest may be source.
    Scan {
        /// How elements are combined.
        kernel: Kernel,
        /// Whether this member's own source counts.
        inclusive: bool,
    },
}

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Their names say it.
pub enum Reduction {
    And,
    Or,
    Xor,
    Max,
    Min,
    Sum,
    Prod,
}

/// The type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Their names say it.
pub enum ElementType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

macro_rules! kernels {
    ($reduction:expr, $element:expr; $($type:ident $variant:ident),*; $($float:ident $float_variant:ident),*) => {
        match ($reduction, $element) {
            $((Reduction::And, ElementType::$variant) => Some(Kernel::of::<$type, And>()),
              (Reduction::Or, ElementType::$variant) => Some(Kernel::of::<$type, Or>()),
              (Reduction::Xor, ElementType::$variant) => Some(Kernel::of::<$type, Xor>()),
              (Reduction::Max, ElementType::$variant) => Some(Kernel::of::<$type, Max>()),
              (Reduction::Min, ElementType::$variant) => Some(Kernel::of::<$type, Min>()),
              (Reduction::Sum, ElementType::$variant) => Some(Kernel::of::<$type, Sum>()),
              (Reduction::Prod, ElementType::$variant) => Some(Kernel::of::<$type, Prod>()),)*
            $((Reduction::Max, ElementType::$float_variant) => Some(Kernel::of::<$float, Max>()),
              (Reduction::Min, ElementType::$float_variant) => Some(Kernel::of::<$float, Min>()),
              (Reduction::Sum, ElementType::$float_variant) => Some(Kernel::of::<$float, Sum>()),
              (Reduction::Prod, ElementType::$float_variant) => Some(Kernel::of::<$float, Prod>()),)*
            _ => None,
        }
    };
}

impl Reduction {
    /// The kernel for elements of a type. `None`: bits of floating-point numbers cannot be
    /// combined.
    pub fn of(self, element: ElementType) -> Option<Kernel> {
        kernels!(self, element; i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64;
                 f32 F32, f64 F64)
    }
}

impl Group {
    /// Carries out a collective. All members must call it.
    ///
    /// # Errors
    /// [`Error::Argument`] and [`Error::NotMapped`] for invalid arguments, before anything is done;
    /// after that as for [`barrier`](Self::barrier), and as for [`View::resolve`] for a member's
    /// buffers.
    ///
    /// # Safety
    /// Source and dest are readable and writable for the sizes that the operation requires, overlap
    /// only where the operation permits it, and nobody else accesses them until the call returns.
    pub unsafe fn run(&mut self, call: &Collective<'_>, limit: Duration) -> Result<(), Error> {
        self.check()?;
        let size = self.ranks.len();
        let all = || {
            call.bytes.checked_mul(size).ok_or_else(|| {
                Error::argument(
                    "bytes",
                    call.bytes,
                    format!("at most {} for {size} members", usize::MAX / size),
                )
            })
        };
        let (read, written) = match call.operation {
            Operation::Allgather => (call.bytes, all()?),
            Operation::Alltoall => (all()?, all()?),
            _ => (call.bytes, call.bytes),
        };
        if call.bytes == 0 {
            return Ok(());
        }
        call.view.check(call.source as usize, read)?;
        call.view.check(call.dest as usize, written)?;
        let bytes = call.bytes;
        // SAFETY: the contract of this function; the check above has shown that the view, which the
        // call borrows, has both on all members.
        let (dest, source) =
            unsafe { (Writable::new(call.dest, written), Readable::new(call.source, read)) };
        let buffers = Some(call);
        match call.operation {
            Operation::Broadcast { root } => {
                if root >= size {
                    let expected = format!("a place among {size} members");
                    return Err(Error::argument("root", root, expected));
                }
                let call = Broadcast { dest, source, root, root_too: true };
                self.carry_out::<broadcast::Algorithm>(buffers, bytes, limit, call)
            }
            Operation::Allgather => {
                let call = Collect::equal(dest, source);
                self.carry_out::<collect::EqualAlgorithm>(buffers, bytes, limit, call)
            }
            Operation::Alltoall => {
                let call = Alltoall { dest, source, blocks: BlockLayout::Dense(bytes) };
                self.carry_out::<alltoall::Algorithm>(buffers, bytes, limit, call)
            }
            Operation::Allreduce(kernel) => {
                let n = elements(bytes, kernel)?;
                let call = Reduce { dest, source, n, kernel };
                self.carry_out::<reduce::Algorithm>(buffers, bytes, limit, call)
            }
            Operation::Scan { kernel, inclusive } => {
                let n = elements(bytes, kernel)?;
                let call = Scan { dest, source, n, kernel, inclusive };
                self.carry_out::<scan::Algorithm>(buffers, bytes, limit, call)
            }
        }
    }
}

/// The number of elements.
fn elements(bytes: usize, kernel: Kernel) -> Result<usize, Error> {
    let size = kernel.bytes();
    if bytes % size == 0 {
        return Ok(bytes / size);
    }
    Err(Error::argument("bytes", bytes, format!("whole elements of {size} bytes")))
}
