//! System calls, and what the kernel passes to handlers of signals.
#![allow(unsafe_code)]

use std::arch::asm;

/// Makes a system call. A negative result is an error number.
///
/// # Safety
/// The call does not affect memory that its caller does not own.
#[inline(always)]
pub unsafe fn syscall(number: libc::c_long, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result;
    // SAFETY: the kernel's convention: six registers in, one out, two clobbered; the caller is
    // responsible for the effects of the call.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Copies bytes without the C library and without the checks of sanitizers.
///
/// # Safety
/// `from` is readable and `to` is writable for `len` bytes, and they do not overlap.
pub unsafe fn copy(from: usize, to: usize, len: usize) {
    // SAFETY: the caller's promise; the direction flag is clear, as the convention has it.
    unsafe {
        asm!(
            "rep movsb",
            inout("rsi") from => _, inout("rdi") to => _, inout("rcx") len => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Asks valgrind, as its header valgrind.h does. The answer is 0 where nobody listens.
pub fn valgrind_request(request: &[usize; 6]) -> usize {
    let answer: usize;
    // SAFETY: rotations that add up to none, and an exchange of a register with itself.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdi") 0usize => _,
            in("rax") request.as_ptr(),
            inlateout("rdx") 0usize => answer,
            options(nostack),
        );
    }
    answer
}

/// The flag with which the kernel takes [`signal_return`]: `SA_RESTORER`.
pub const SIGNAL_FLAGS: u64 = 0x0400_0000;

/// The address of the code to which a handler returns. That code is jumped over here.
pub fn signal_return() -> usize {
    let at;
    // SAFETY: computes an address and jumps over the code there.
    unsafe {
        asm!(
            "lea {at}, [rip + 2f]",
            "jmp 3f",
            "2:",
            "mov eax, {call}",
            "syscall",
            "3:",
            at = out(reg) at,
            call = const libc::SYS_rt_sigreturn,
            options(nomem, nostack, preserves_flags),
        );
    }
    at
}

/// Whether the access that raised a `SIGSEGV` or `SIGBUS` with this context was a write.
pub fn writes(context: &libc::ucontext_t) -> bool {
    // Bit 1 of a page fault's error code means a write.
    context.uc_mcontext.gregs[libc::REG_ERR as usize] & 2 != 0
}

/// Takes the context of a handler back into the call that led to the interrupted instruction, the first of a
/// function. Returns what [`step_in`] undoes that with.
///
/// # Safety
/// The handler does not return before it is undone. A stack pointer without a stack is a fault.
pub unsafe fn step_out(context: &mut libc::ucontext_t) -> [usize; 2] {
    let registers = &mut context.uc_mcontext.gregs;
    let [at, top] = [libc::REG_RIP, libc::REG_RSP].map(|which| which as usize);
    let before = [registers[at] as usize, registers[top] as usize];
    // SAFETY: the call has left its return address on the stack, or the caller takes the fault.
    registers[at] = unsafe { (before[1] as *const i64).read_unaligned() }.wrapping_sub(1);
    registers[top] += 8;
    before
}

/// Undoes [`step_out`], which has returned `before`.
pub fn step_in(context: &mut libc::ucontext_t, before: [usize; 2]) {
    let registers = &mut context.uc_mcontext.gregs;
    registers[libc::REG_RIP as usize] = before[0] as i64;
    registers[libc::REG_RSP as usize] = before[1] as i64;
}

/// The address at which a signal with this context interrupted the program.
pub fn program_counter(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}
