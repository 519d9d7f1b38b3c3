//! The secret of a job on several nodes, in the head of its file.

use super::JobFile;
use crate::atomics::Ordering;
use crate::engine::secret::Secret;

impl JobFile {
    /// Sets the job's secret. To be called once.
    pub fn set_secret(&self, secret: &Secret) {
        let header = self.header();
        for (place, bytes) in header.secret.iter().zip(secret.bytes().chunks_exact(8)) {
            let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            place.store(word, Ordering::Relaxed);
        }
        header.has_secret.store(1, Ordering::Release);
    }

    /// The job's secret; `None` if it has none, or while it is unknown here.
    pub fn secret(&self) -> Option<Secret> {
        let header = self.header();
        (header.has_secret.load(Ordering::Acquire) == 1).then_some(())?;
        let words = header.secret.iter().map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        Secret::of(&words.flatten().collect::<Vec<u8>>())
    }
}
