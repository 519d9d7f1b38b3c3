//! Room for messages beside control words. In a file of its own because the model checker's tests
//! use less, so that they reach the end of the room.

/// 64-bit words that travel in one mailbox.
pub const SMALL_WORDS: usize = 14;

/// Mailboxes per member. A message takes at most half of them, so a member can always write the
/// next one while others still read the last.
pub const MAILBOXES: usize = 20;
