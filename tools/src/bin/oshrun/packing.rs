//! Numbers, byte strings and lists in frames.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Writes numbers as 8 bytes, little endian. Byte strings and lists begin with their length.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// The bytes written.
    pub fn done(self) -> Vec<u8> {
        self.0
    }
    /// Writes a number.
    pub fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
    /// Writes a byte string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
    /// Writes a list, each item by `each`.
    pub fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        list.iter().for_each(|item| each(self, item));
    }
}

/// Reads what a [`Writer`] has written. Every item is checked: `None` if there is none.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// A number.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }
    /// A count of items, each of which takes memory.
    pub fn index(&mut self) -> Option<usize> {
        self.number().filter(|number| *number < 1 << 32).map(|number| number as usize)
    }
    /// A byte string.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.index()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
    /// A byte string as text of the system.
    pub fn text(&mut self) -> Option<OsString> {
        self.bytes().map(|bytes| OsString::from_vec(bytes.to_vec()))
    }
    /// A list, each item read by `each`.
    pub fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.index()?;
        // Memory is taken only for items received, whatever the count says.
        (0..length).map(|_| each(self)).collect()
    }
}
