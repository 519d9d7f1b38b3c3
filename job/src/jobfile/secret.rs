//! The secret of a job on several nodes, in the head of its file.

use super::JobFile;
use crate::atomics::Ordering;
use crate::remote::secret::Secret;
use onenode_core::packed;

impl JobFile {
    /// Sets the job's secret. To be called once.
    pub fn set_secret(&self, secret: &Secret) {
        let header = self.header();
        packed::store(&header.secret, secret.bytes());
        header.has_secret.store(1, Ordering::Release);
    }

    /// The job's secret; `None` if it has none, or while it is unknown here.
    pub fn secret(&self) -> Option<Secret> {
        let header = self.header();
        (header.has_secret.load(Ordering::Acquire) == 1).then_some(())?;
        Secret::of(&packed::bytes(packed::load(&header.secret)).collect::<Vec<u8>>())
    }
}
