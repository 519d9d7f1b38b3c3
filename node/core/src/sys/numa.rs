//! The NUMA nodes on which pages are allocated.
#![allow(unsafe_code)]

use std::ops::Range;

/// Room for the kernel's maximum number of nodes (`CONFIG_NODES_SHIFT` is at most 10).
const WORDS: usize = MOST_NODES / 64;
/// Node numbers are below this.
pub const MOST_NODES: usize = 1024;
const MPOL_DEFAULT: libc::c_int = 0;
const MPOL_PREFERRED: libc::c_int = 1;
const MPOL_BIND: libc::c_int = 2;
const MPOL_INTERLEAVE: libc::c_int = 3;
const MPOL_PREFERRED_MANY: libc::c_int = 5;
const MPOL_F_MEMS_ALLOWED: libc::c_ulong = 1 << 2;

fn policy(flags: libc::c_ulong) -> Option<(libc::c_int, [u64; WORDS])> {
    let (mut mode, mut nodes) = (MPOL_DEFAULT, [0u64; WORDS]);
    // SAFETY: both locals have the sizes passed.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut mode,
            nodes.as_mut_ptr(),
            WORDS * 64,
            0usize,
            flags,
        )
    };
    (answer == 0).then_some((mode, nodes))
}

/// The node that this process runs on, if it may use the memory of several nodes and nobody (for
/// example numactl) has set a policy.
pub fn own_node() -> Option<usize> {
    let (_, allowed) = policy(MPOL_F_MEMS_ALLOWED)?;
    let several = allowed.iter().map(|word| word.count_ones()).sum::<u32>() > 1;
    if !several || policy(0)?.0 != MPOL_DEFAULT {
        return None;
    }
    nearest_node()
}

/// The node that this process runs on.
pub fn nearest_node() -> Option<usize> {
    let mut node = 0u32;
    // SAFETY: the call fills the local; the other pointers are null, which it allows.
    let answer = unsafe {
        libc::syscall(libc::SYS_getcpu, std::ptr::null_mut::<u32>(), &raw mut node, 0usize)
    };
    (answer == 0).then_some(node as usize)
}

/// The nodes whose memory this process may use, ascending.
pub fn allowed_nodes() -> Vec<usize> {
    let (_, allowed) = policy(MPOL_F_MEMS_ALLOWED).unwrap_or((MPOL_DEFAULT, [0; WORDS]));
    (0..MOST_NODES).filter(|node| allowed[node / 64] >> (node % 64) & 1 == 1).collect()
}

/// Makes the kernel allocate the pages of `range` on `node` while it has free memory, whoever
/// touches them first.
pub fn prefer(range: &Range<usize>, node: usize) -> std::io::Result<()> {
    set(range, MPOL_PREFERRED, &[node])
}

/// Makes the kernel allocate the pages of `range` on any of `nodes` while they have free memory. A
/// kernel before 5.15 prefers the first of them.
pub fn prefer_any(range: &Range<usize>, nodes: &[usize]) -> std::io::Result<()> {
    set(range, MPOL_PREFERRED_MANY, nodes)
        .or_else(|_| set(range, MPOL_PREFERRED, &nodes[..nodes.len().min(1)]))
}

/// Makes the kernel allocate the pages of `range` on `nodes` only.
pub fn bind(range: &Range<usize>, nodes: &[usize]) -> std::io::Result<()> {
    set(range, MPOL_BIND, nodes)
}

/// Makes the kernel allocate the pages of `range` on `nodes` in turn.
pub fn interleave(range: &Range<usize>, nodes: &[usize]) -> std::io::Result<()> {
    set(range, MPOL_INTERLEAVE, nodes)
}

fn set(range: &Range<usize>, mode: libc::c_int, nodes: &[usize]) -> std::io::Result<()> {
    let mut set = [0u64; WORDS];
    for node in nodes {
        let Some(word) = set.get_mut(node / 64) else {
            return Err(std::io::Error::from_raw_os_error(libc::EINVAL));
        };
        *word |= 1 << (node % 64);
    }
    // SAFETY: the set has the size passed; the policy does not change the content of the pages.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            range.start,
            range.len(),
            mode,
            set.as_ptr(),
            WORDS * 64,
            0usize,
        )
    };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
