//! Stacks in machine code: running on another stack, and waits that do not touch the current one.
#![allow(unsafe_code)]

use crate::arch::Meeting;
use std::arch::asm;
use std::ffi::c_void;

/// The value of the stack pointer.
pub fn stack_pointer() -> usize {
    let at;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) at, options(nomem, nostack, preserves_flags)) };
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
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {run}",
            "mov rsp, r12",
            top = in(reg) top,
            run = in(reg) run,
            in("rdi") argument,
            out("r12") _,
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
            "mov eax, {clone}",
            "syscall",
            "test rax, rax",
            "js 9f",
            "jz 5f",
            // The parent. Where Yama protects processes, it must allow its helper to trace it.
            "mov r9, rax",
            "mov edi, {set_ptracer}",
            "mov rsi, rax",
            "mov eax, {prctl}",
            "syscall",
            "mov dword ptr [r14 + 4], 1",
            "lea rdi, [r14 + 4]",
            "mov esi, {wake}",
            "mov edx, 1",
            "mov eax, {futex}",
            "syscall",
            "2:",
            "mov edx, dword ptr [r14]",
            "test edx, edx",
            "jz 3f",
            "mov rdi, r14",
            "mov esi, {wait}",
            "xor r10d, r10d",
            "mov eax, {futex}",
            "syscall",
            "jmp 2b",
            "3:",
            "mov rax, r9",
            "jmp 9f",
            // The helper.
            "5:",
            "xor ebp, ebp",
            "6:",
            "cmp dword ptr [r14 + 4], 0",
            "jne 7f",
            "lea rdi, [r14 + 4]",
            "mov esi, {wait}",
            "xor edx, edx",
            "xor r10d, r10d",
            "mov eax, {futex}",
            "syscall",
            "jmp 6b",
            "7:",
            "mov rdi, r13",
            "call r12",
            "ud2",
            "9:",
            clone = const libc::SYS_clone,
            prctl = const libc::SYS_prctl,
            set_ptracer = const libc::PR_SET_PTRACER,
            futex = const libc::SYS_futex,
            // Not the private kind: the kernel does not use that to announce the helper's end.
            wait = const libc::FUTEX_WAIT,
            wake = const libc::FUTEX_WAKE,
            inlateout("rdi") flags as usize => _,
            inlateout("rsi") top => _,
            inlateout("rdx") meeting => _,
            inlateout("r10") meeting => _,
            inlateout("r8") 0usize => _,
            in("r12") run,
            in("r13") argument,
            in("r14") meeting,
            lateout("rax") result,
            lateout("rcx") _, lateout("r9") _, lateout("r11") _,
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
            "mov dword ptr [rdi], edx",
            "mov esi, {wake}",
            "mov edx, 1",
            "mov eax, {futex}",
            "syscall",
            "2:",
            "mov edx, dword ptr [r12]",
            "test edx, edx",
            "jz 3f",
            "mov rdi, r12",
            "mov esi, {wait}",
            "xor r10d, r10d",
            "mov eax, {futex}",
            "syscall",
            "jmp 2b",
            "3:",
            futex = const libc::SYS_futex,
            wait = const libc::FUTEX_WAIT,
            wake = const libc::FUTEX_WAKE,
            inlateout("rdi") here => _,
            inlateout("rdx") value => _,
            in("r12") until,
            lateout("rax") _, lateout("rcx") _, lateout("rsi") _, lateout("r10") _,
            lateout("r11") _,
            options(nostack),
        );
    }
}
