//! A hash that is the same in every build of every program: the standard library's may vary between
//! compilers.

use std::borrow::Borrow;

/// The 128-bit FNV-1a hash (Fowler, Noll and Vo; RFC 9923).
pub fn fnv1a(bytes: impl IntoIterator<Item = impl Borrow<u8>>) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    bytes.into_iter().fold(BASIS, |hash, byte| step(hash, *byte.borrow()))
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    /// The test vectors of the algorithm's authors.
    #[test]
    fn the_hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(fnv1a(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
        assert_eq!(fnv1a(b"foobar"), 0x343e1662793c64bf6f0d3597ba446f18);
    }
}
