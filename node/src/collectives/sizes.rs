//! How much room there is beside control words. Apart from the rest, because the model checker's
//! tests have less: so they come to the end of it, too.

/// 64-bit words that travel in one mailbox.
pub const SMALL_WORDS: usize = 14;

/// Mailboxes of a member. A message takes at most half of them: so a member can always write the
/// next one while others still read the last.
pub const MAILBOXES: usize = 20;
