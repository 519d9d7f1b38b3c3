//! Bytes, such as names, in 64-bit words: of shared memory, and of messages.

use crate::atomics::{AtomicU64, Ordering};

/// A word with at most 8 bytes, followed by zeros.
///
/// # Panics
/// If there are more.
pub fn word(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(eight)
}

/// Words with these bytes, followed by zeros: as many as there are bytes for.
pub fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(8).map(word)
}

/// The bytes in words.
pub fn bytes(words: impl IntoIterator<Item = u64>) -> impl Iterator<Item = u8> {
    words.into_iter().flat_map(u64::to_le_bytes)
}

/// The name in words, up to the first zero. Whatever else another process has written there can be
/// printed.
pub fn name(words: impl IntoIterator<Item = u64>) -> String {
    let name: Vec<u8> = bytes(words).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&name).into_owned()
}

/// Writes as many bytes as the words have room for. The words behind them stay as they are.
pub fn store(to: &[AtomicU64], bytes: &[u8]) {
    to.iter().zip(words(bytes)).for_each(|(to, word)| to.store(word, Ordering::Relaxed));
}

/// Writes a name, cut to the room that the words have, and zeros behind it.
pub fn store_name(to: &[AtomicU64], name: &str) {
    let words = words(name.as_bytes()).chain(std::iter::repeat(0));
    to.iter().zip(words).for_each(|(to, word)| to.store(word, Ordering::Relaxed));
}

/// The values of words of shared memory, one after the other.
pub fn load(from: &[AtomicU64]) -> impl Iterator<Item = u64> + '_ {
    from.iter().map(|word| word.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_names_end_at_a_zero() {
        let to = [const { AtomicU64::new(u64::MAX) }; 3];
        store(&to, b"nine byte");
        assert_eq!(bytes(load(&to)).take(9).collect::<Vec<_>>(), b"nine byte");
        assert_eq!(to[2].load(Ordering::Relaxed), u64::MAX);
        store_name(&to, "shmem_put");
        assert_eq!(name(load(&to)), "shmem_put");
        store_name(&to, "a name of more than twenty-four bytes");
        assert_eq!(name(load(&to)), "a name of more than twen");
        assert_eq!(name([word(b"memfd")]), "memfd");
        assert_eq!(name([u64::from_le_bytes(*b"\xffx\0rest.")]), "\u{fffd}x");
    }
}
