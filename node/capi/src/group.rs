//! Groups: ranks that synchronise and run collectives.
#![allow(unsafe_code)]

use crate::argument::{limit, meaning, object, place, record, taken};
use crate::failure::OK;
use onenode::{Collective, ElementType, Error, Group, Node, Operation, Reduction, View};
use onenode_core::collectives::reduce::Kernel;
use std::ffi::{c_int, c_void};

/// `onenode_collective`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Call {
    size: u32,
    operation: u32,
    root: u32,
    reduction: u32,
    element: u32,
    zero: u32,
    dest: *mut c_void,
    source: *const c_void,
    bytes: u64,
    view: *const View,
}

/// `enum onenode_operation`.
#[derive(Clone, Copy, Debug)]
enum OperationCode {
    Broadcast,
    Allgather,
    Alltoall,
    Allreduce,
    Scan,
    Exscan,
}

const OPERATIONS: &[(u32, OperationCode)] = &[
    (1, OperationCode::Broadcast),
    (2, OperationCode::Allgather),
    (3, OperationCode::Alltoall),
    (4, OperationCode::Allreduce),
    (5, OperationCode::Scan),
    (6, OperationCode::Exscan),
];

/// `enum onenode_reduction`.
const REDUCTIONS: &[(u32, Reduction)] = &[
    (1, Reduction::And),
    (2, Reduction::Or),
    (3, Reduction::Xor),
    (4, Reduction::Max),
    (5, Reduction::Min),
    (6, Reduction::Sum),
    (7, Reduction::Prod),
];

/// `enum onenode_element`.
const ELEMENTS: &[(u32, ElementType)] = &[
    (1, ElementType::I8),
    (2, ElementType::I16),
    (3, ElementType::I32),
    (4, ElementType::I64),
    (5, ElementType::U8),
    (6, ElementType::U16),
    (7, ElementType::U32),
    (8, ElementType::U64),
    (9, ElementType::F32),
    (10, ElementType::F64),
];

impl Call {
    fn operation(&self) -> Result<Operation, Error> {
        let what = meaning("collective.operation", self.operation, OPERATIONS)?;
        let reduces =
            matches!(what, OperationCode::Allreduce | OperationCode::Scan | OperationCode::Exscan);
        let fields = [
            ("collective.root", self.root, matches!(what, OperationCode::Broadcast)),
            ("collective.reduction", self.reduction, reduces),
            ("collective.element", self.element, reduces),
            ("collective.zero", self.zero, false),
        ];
        if let Some((field, value, _)) =
            fields.iter().find(|(_, value, meant)| *value != 0 && !meant)
        {
            let expected = format!("0, as collective.operation is {what:?}");
            return Err(Error::argument(field, value, expected));
        }
        Ok(match what {
            OperationCode::Broadcast => Operation::Broadcast { root: self.root as usize },
            OperationCode::Allgather => Operation::Allgather,
            OperationCode::Alltoall => Operation::Alltoall,
            OperationCode::Allreduce => Operation::Allreduce(self.kernel()?),
            OperationCode::Scan => Operation::Scan { kernel: self.kernel()?, inclusive: true },
            OperationCode::Exscan => Operation::Scan { kernel: self.kernel()?, inclusive: false },
        })
    }

    fn kernel(&self) -> Result<Kernel, Error> {
        let reduction = meaning("collective.reduction", self.reduction, REDUCTIONS)?;
        let element = meaning("collective.element", self.element, ELEMENTS)?;
        reduction.of(element).ok_or_else(|| {
            let value = format!("{reduction:?} of {element:?}");
            Error::argument("collective.reduction", value, "Max, Min, Sum or Prod of such elements")
        })
    }
}

/// A group, for use by the calling thread.
///
/// # Safety
/// If it is not null, it is a group of the library, not closed, and no other thread uses it.
unsafe fn group<'g>(pointer: *mut Group) -> Result<&'g mut Group, Error> {
    let pointer = place("group", pointer)?;
    // SAFETY: checked not to be null, so the caller guarantees a group of the library that is not
    // closed and that nobody else uses.
    Ok(unsafe { &mut *pointer })
}

functions! {
    /// `int onenode_group_open(onenode_t *node, uint64_t id, const uint32_t *ranks, uint32_t n,
    /// onenode_group_t **group)`
    fn onenode_group_open(
        node: *mut Node,
        id: u64,
        ranks: *const u32,
        n: u32,
        group: *mut *mut Group,
    ) -> number {
        let (node, group) = (object("node", node)?, place("group", group)?);
        let ranks = std::slice::from_raw_parts(place("ranks", ranks.cast_mut())?, n as usize);
        group.write(Box::into_raw(Box::new(Group::new(node, id, ranks)?)));
        Ok(OK)
    }

    /// `int onenode_group_close(onenode_group_t *group)`
    fn onenode_group_close(group: *mut Group) -> number {
        drop(taken("group", group)?);
        Ok(OK)
    }

    /// `int onenode_barrier(onenode_group_t *group, uint64_t ns)`
    fn onenode_barrier(pointer: *mut Group, ns: u64) -> number {
        group(pointer)?.barrier(limit(ns))?;
        Ok(OK)
    }

    /// `int onenode_arrive(onenode_group_t *group)`
    fn onenode_arrive(pointer: *mut Group) -> number {
        group(pointer)?.arrive()?;
        Ok(OK)
    }

    /// `int onenode_arrived(onenode_group_t *group)`
    fn onenode_arrived(pointer: *mut Group) -> number {
        Ok(c_int::from(group(pointer)?.arrived()?))
    }

    /// `int onenode_run(onenode_group_t *group, const onenode_collective *collective, uint64_t ns)`
    fn onenode_run(pointer: *mut Group, collective: *const Call, ns: u64) -> number {
        let (group, call) = (group(pointer)?, record("collective", collective)?);
        let operation = call.operation()?;
        let view = object("collective.view", call.view)?;
        let (dest, source) = (call.dest.cast(), call.source.cast());
        let bytes = call.bytes as usize;
        group.run(&Collective { operation, dest, source, bytes, view }, limit(ns))?;
        Ok(OK)
    }
}
