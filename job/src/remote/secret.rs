//! The secret of a job, known to its processes only: by it they tell each other from strangers.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;

/// 256 random bits, made once for a job. It travels only where nobody else reads: between launchers
/// over the remote shell or the launcher's key-value space, on a node in the job's file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret([u8; Self::BYTES]);

/// A keyed hash of BLAKE3. Comparison takes the same time whatever the bytes.
pub type Proof = blake3::Hash;

impl Secret {
    /// The size.
    pub const BYTES: usize = blake3::KEY_LEN;

    /// A new one.
    ///
    /// # Errors
    /// If the kernel has no random bytes.
    pub fn new() -> Result<Self, Error> {
        Ok(Self(random()?))
    }

    /// The one with these bytes; `None` if they are of another number.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes, to hand it on.
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// A proof that its maker knows this secret. `purpose` keeps proofs for one purpose from serving
    /// another.
    pub fn proof(&self, purpose: &str, parts: &[&[u8]]) -> Proof {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in [purpose.as_bytes()].iter().chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    }
}

/// The bytes are not for logs.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Random bytes from the kernel.
///
/// # Errors
/// If it has none.
pub fn random<const BYTES: usize>() -> Result<[u8; BYTES], Error> {
    let mut bytes = [0; BYTES];
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&onenode_core::sys::process::random()?.to_le_bytes()[..part.len()]);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_depends_on_the_secret_and_on_every_part() {
        let [one, other] = [0, 1].map(|_| Secret::new().expect("random bytes"));
        let proof = one.proof("a", &[b"bc", b"d"]);
        assert_eq!(proof, Secret::of(one.bytes()).expect("32 bytes").proof("a", &[b"bc", b"d"]));
        for (secret, purpose, parts) in [
            (&other, "a", &[&b"bc"[..], b"d"][..]),
            (&one, "b", &[b"bc", b"d"]),
            (&one, "a", &[b"b", b"cd"]),
            (&one, "a", &[b"bcd"]),
            (&one, "ab", &[b"c", b"d"]),
        ] {
            assert_ne!(secret.proof(purpose, parts), proof);
        }
        assert_eq!(Secret::of(&[1; 31]), None);
        assert_eq!(format!("{one:?}"), "Secret");
    }
}
