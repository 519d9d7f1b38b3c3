//! Text that has to fit into a number of bytes.

/// The number of bytes of the whole characters of `text` that fit into `room` bytes:
/// `str::floor_char_boundary`, which only newer compilers have. Allocates nothing.
pub fn whole_characters(text: &str, room: usize) -> usize {
    let boundary = |end: &usize| text.is_char_boundary(*end);
    (0..=room.min(text.len())).rev().find(boundary).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut() {
        let fits = [0, 1, 2, 3, 4, 9].map(|room| whole_characters("a\u{e4}b", room));
        assert_eq!(fits, [0, 1, 1, 3, 4, 4]);
    }
}
