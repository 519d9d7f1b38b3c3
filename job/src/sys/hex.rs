//! Bytes as hexadecimal text, for the text protocol of PMI-1.

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits; `None` if the text has other characters.
pub fn of_hex(digits: &str) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_their_digits() {
        for bytes in [&[][..], &[0, 255, 16, 1], &[9]] {
            assert_eq!(of_hex(&hex(bytes)).as_deref(), Some(bytes));
        }
        for text in ["0g", "x", "0\u{e9}"] {
            assert_eq!(of_hex(text), None, "{text}");
        }
    }
}
