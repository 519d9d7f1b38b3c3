//! Stacks in machine code: running on another stack, and waits that do not touch the current one.
#![allow(unsafe_code)]

use crate::arch::Meeting;
use std::arch::asm;
use std::ffi::c_void;

/// The value of the stack pointer.
pub fn stack_pointer() -> usize {
    let at;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) at, options(nomem, nostack, preserves_flags)) };
    at
}

/// Calls `run` on another stack, whose end is `top`, a multiple of 16. Nothing is written to the
/// current stack until it returns.
///
/// # Safety
/// `top` is the end of a stack with enough room that nobody uses, and `run` may be called with
/// `argument`.
pub unsafe fn on_other(top: usize, run: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) {
    // SAFETY: the stack pointer is kept in a register that calls preserve, and is restored; the
    // rest is a call by the C convention.
    unsafe {
        asm!(
            "mov x20, sp",
            "mov sp, {top}",
            "blr {run}",
            "mov sp, x20",
            top = in(reg) top,
            run = in(reg) run,
            in("x0") argument,
            out("x20") _,
            clobber_abi("C"),
        );
    }
}

/// Runs `run` in a helper: a separate process that shares this one's memory and descriptors. Waits
/// until the helper has ended; meanwhile nothing is written to the caller's stack. While the helper
/// works, it may trace this process. Returns the helper's process ID, or a negative error number if
/// it cannot be created.
///
/// # Safety
/// As for [`on_other`]; `run` ends the helper by `exit`; `meeting` is all zeros and lies in
/// memory that outlives the helper. All signals are blocked.
pub unsafe fn in_helper(
    top: usize,
    run: unsafe extern "C" fn(*mut c_void) -> !,
    argument: *mut c_void,
    meeting: *mut Meeting,
) -> isize {
    // No signal announces its end: otherwise the program would find a child that is not its own.
    let flags = libc::CLONE_VM
        | libc::CLONE_FILES
        | libc::CLONE_UNTRACED
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_CLEARTID;
    let result;
    // SAFETY: the caller's promises. From the `clone` to the helper's end the parent does not touch
    // the stack; the helper has the other stack. `syscall` preserves all registers but three.
    unsafe {
        asm!(
            "mov x8, #{clone}",
            "svc #0",
            "cmp x0, #0",
            "b.lt 9f",
            "b.eq 5f",
            // The parent. Where Yama protects processes, it must allow its helper to trace it.
            "mov x9, x0",
            "mov x1, x0",
            "mov x0, x23",
            "mov x8, #{prctl}",
            "svc #0",
            "mov w10, #1",
            "add x11, x22, #4",
            "stlr w10, [x11]",
            "mov x0, x11",
            "mov x1, #{wake}",
            "mov x2, #1",
            "mov x8, #{futex}",
            "svc #0",
            "2:",
            "ldar w2, [x22]",
            "cbz w2, 3f",
            "mov x0, x22",
            "mov x1, #{wait}",
            "mov x3, #0",
            "mov x8, #{futex}",
            "svc #0",
            "b 2b",
            "3:",
            "mov x0, x9",
            "b 9f",
            // The helper.
            "5:",
            "mov x29, #0",
            "mov x30, #0",
            "6:",
            "add x0, x22, #4",
            "ldar w2, [x0]",
            "cbnz w2, 7f",
            "mov x1, #{wait}",
            "mov x2, #0",
            "mov x3, #0",
            "mov x8, #{futex}",
            "svc #0",
            "b 6b",
            "7:",
            "mov x0, x21",
            "blr x20",
            "brk #1",
            "9:",
            clone = const libc::SYS_clone,
            prctl = const libc::SYS_prctl,
            futex = const libc::SYS_futex,
            wait = const libc::FUTEX_WAIT,
            wake = const libc::FUTEX_WAKE,
            inlateout("x0") flags as usize => result,
            inlateout("x1") top => _,
            inlateout("x2") meeting => _,
            // Another order of arguments than on x86-64: thread-local storage, then the word to clear.
            inlateout("x3") 0usize => _,
            inlateout("x4") meeting => _,
            in("x20") run,
            in("x21") argument,
            in("x22") meeting,
            in("x23") libc::PR_SET_PTRACER as usize,
            lateout("x8") _, lateout("x9") _, lateout("x10") _, lateout("x11") _,
        );
    }
    result
}

/// Sets the word at `here` to `value`, wakes all waiters on it, and waits until the word at `until`
/// is 0. Nothing is written to the stack once the word is set.
///
/// # Safety
/// Both words stay in place while any process waits.
pub unsafe fn announce_and_wait(here: *mut u32, value: u32, until: *const u32) {
    // SAFETY: two words that stay in place; `syscall` preserves the registers that are not listed
    // as lost.
    unsafe {
        asm!(
            "stlr w2, [x0]",
            "mov x1, #{wake}",
            "mov x2, #1",
            "mov x8, #{futex}",
            "svc #0",
            "2:",
            "ldar w2, [x20]",
            "cbz w2, 3f",
            "mov x0, x20",
            "mov x1, #{wait}",
            "mov x3, #0",
            "mov x8, #{futex}",
            "svc #0",
            "b 2b",
            "3:",
            futex = const libc::SYS_futex,
            wait = const libc::FUTEX_WAIT,
            wake = const libc::FUTEX_WAKE,
            inlateout("x0") here => _,
            inlateout("x2") value => _,
            in("x20") until,
            lateout("x1") _, lateout("x3") _, lateout("x8") _,
            options(nostack),
        );
    }
}
