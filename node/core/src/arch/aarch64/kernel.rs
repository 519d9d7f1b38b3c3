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
    // SAFETY: the kernel's convention: seven registers in, one out, the others preserved; the caller
    // is responsible for the effects of the call.
    unsafe {
        asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
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
    // SAFETY: the caller's promise; 32 bytes at a time as long as there are as many, then single ones.
    unsafe {
        asm!(
            "2:",
            "subs {len}, {len}, #32",
            "b.lo 3f",
            "ldp {a}, {b}, [{from}], #16",
            "ldp {c}, {d}, [{from}], #16",
            "stp {a}, {b}, [{to}], #16",
            "stp {c}, {d}, [{to}], #16",
            "b 2b",
            "3:",
            "adds {len}, {len}, #32",
            "b.eq 5f",
            "4:",
            "ldrb {a:w}, [{from}], #1",
            "strb {a:w}, [{to}], #1",
            "subs {len}, {len}, #1",
            "b.ne 4b",
            "5:",
            from = inout(reg) from => _, to = inout(reg) to => _, len = inout(reg) len => _,
            a = out(reg) _, b = out(reg) _, c = out(reg) _, d = out(reg) _,
            options(nostack),
        );
    }
}

/// Asks valgrind, as its header valgrind.h does. The answer is 0 where nobody listens.
pub fn valgrind_request(request: &[usize; 6]) -> usize {
    let answer: usize;
    // SAFETY: rotations that add up to none, and a register's union with itself.
    unsafe {
        asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61",
            "orr x10, x10, x10",
            inlateout("x3") 0usize => answer,
            in("x4") request.as_ptr(),
            options(nostack),
        );
    }
    answer
}

/// None: the kernel has code of its own to which handlers return.
pub const SIGNAL_FLAGS: u64 = 0;

/// No address, since the kernel does not ask for one.
pub fn signal_return() -> usize {
    0
}

/// Whether the access that raised a `SIGSEGV` or `SIGBUS` with this context was a write.
pub fn writes(context: &libc::ucontext_t) -> bool {
    /// Classes of exceptions: an access to data failed, by the program or by the kernel for it.
    const DATA_ABORTS: [u64; 2] = [0x24, 0x25];
    const WRITE: u64 = 1 << 6;
    syndrome(&context.uc_mcontext).is_some_and(|syndrome| {
        DATA_ABORTS.contains(&(syndrome >> 26 & 0x3f)) && syndrome & WRITE != 0
    })
}

/// The processor's description of an exception (ESR_EL1). The kernel keeps it in one of the records
/// that fill the end of the context: `struct esr_context` of `asm/sigcontext.h`.
fn syndrome(registers: &libc::mcontext_t) -> Option<u64> {
    /// Bytes of all records.
    const RECORDS: usize = 4096;
    /// Bytes of a record's head: its kind, and its size with the head.
    const HEAD: usize = 8;
    const ESR: u32 = 0x4553_5201;
    let end = (&raw const *registers).wrapping_add(1).cast::<u8>();
    let mut at = 0;
    while at <= RECORDS - 2 * HEAD {
        let head = end.wrapping_sub(RECORDS).wrapping_add(at);
        // SAFETY: two words within the records, numbers of any value, where a multiple of 8 begins.
        let ([kind, size], value) =
            unsafe { (head.cast::<[u32; 2]>().read(), head.add(HEAD).cast::<u64>().read()) };
        match kind {
            ESR => return Some(value),
            0 => return None,
            _ => at += (size as usize).next_multiple_of(HEAD).max(2 * HEAD),
        }
    }
    None
}

/// Takes the context of a handler back into the call that led to the interrupted instruction, the first of a
/// function. Returns what [`step_in`] undoes that with.
///
/// # Safety
/// The handler does not return before it is undone.
pub unsafe fn step_out(context: &mut libc::ucontext_t) -> [usize; 2] {
    let registers = &mut context.uc_mcontext;
    let before = [registers.pc as usize, registers.sp as usize];
    registers.pc = registers.regs[30].wrapping_sub(1);
    before
}

/// Undoes [`step_out`], which has returned `before`.
pub fn step_in(context: &mut libc::ucontext_t, before: [usize; 2]) {
    let registers = &mut context.uc_mcontext;
    [registers.pc, registers.sp] = before.map(|word| word as u64);
}

/// The address at which a signal with this context interrupted the program.
pub fn program_counter(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}
