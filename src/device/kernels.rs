//! The kernels for atomic operations: one thread each, as PTX text that the driver translates for
//! the device present.

use oneshmem_job::remote::{Action, Amo};
use std::ffi::CString;
use std::fmt::Write;

/// The operations, as PTX names them.
const OPERATIONS: [&str; 6] = ["add", "and", "or", "xor", "exch", "cas"];
/// The widths of words, in bits.
const WIDTHS: [usize; 2] = [32, 64];

/// The name of the kernel for an operation, and the value that the word is compared to.
pub fn kernel(amo: Amo) -> (CString, u64) {
    let (operation, expected) = match amo.action {
        Action::Add => ("add", 0),
        Action::And => ("and", 0),
        Action::Or => ("or", 0),
        Action::Xor => ("xor", 0),
        Action::Swap => ("exch", 0),
        Action::CompareSwap(expected) => ("cas", expected),
    };
    let name = format!("oneshmem_{operation}_{}", amo.bytes * 8);
    (CString::new(name).unwrap_or_default(), expected)
}

/// All kernels. The arguments of each are the word's address, the operand, the value that the word
/// is compared to, and the address where the old value is written.
pub fn text() -> CString {
    let mut text = String::from(".version 6.0\n.target sm_60\n.address_size 64\n");
    for operation in OPERATIONS {
        for bits in WIDTHS {
            let (r, kind) = if bits == 32 { ("%r", "u32") } else { ("%rd", "u64") };
            // Bitwise operations take untyped words.
            let typed = if operation == "add" { kind.into() } else { format!("b{bits}") };
            let operands = match operation {
                "cas" => format!("{r}12, {r}11"),
                _ => format!("{r}11"),
            };
            let _ = write!(
                text,
                "
.visible .entry oneshmem_{operation}_{bits}(
    .param .u64 word, .param .u64 operand, .param .u64 expected, .param .u64 before)
{{
    .reg .b64 %rd<16>;
    .reg .b32 %r<16>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [before];
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    ld.param.{kind} {r}11, [operand];
    ld.param.{kind} {r}12, [expected];
    atom.sys.global.{operation}.{typed} {r}13, [%rd3], {operands};
    st.global.{kind} [%rd4], {r}13;
    ret;
}}
"
            );
        }
    }
    CString::new(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_its_kernel() {
        let text = text().into_string().expect("text");
        let actions = [
            Action::Add,
            Action::And,
            Action::Or,
            Action::Xor,
            Action::Swap,
            Action::CompareSwap(7),
        ];
        for action in actions {
            for bytes in [4, 8] {
                let (name, expected) = kernel(Amo { action, operand: 1, bytes });
                let name = name.into_string().expect("a name");
                assert_eq!(text.matches(&format!(".entry {name}(")).count(), 1);
                assert_eq!(expected, if action == Action::CompareSwap(7) { 7 } else { 0 });
            }
        }
    }
}
