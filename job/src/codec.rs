//! How values travel between processes of one version of this library: as postcard encodes them. What comes
//! from elsewhere takes no more memory than there are bytes of it; whoever receives it checks the values.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Encodes a value.
///
/// # Panics
/// If it has a list whose length is not known before, which no type of this library has.
pub fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("lists of known lengths")
}

/// Decodes a value, which all of the bytes are; `None` if they are none.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    decode_first(bytes).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}

/// Decodes a value that the bytes begin with, and returns the bytes behind it.
pub fn decode_first<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, &[u8])> {
    postcard::take_from_bytes(bytes).ok()
}
