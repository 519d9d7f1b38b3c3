//! SMARTMAP: every PE's slot is at `own address | (pe + 1) << 39` in all of them. On Kitten
//! the kernel has seen to that; on Linux the slots are put there.

mod kitten;
mod linux;

use super::Choice;
use crate::env;
use crate::error::Error;
use crate::job::launcher::Launcher;

/// The backend of this kernel. `SHMEM_BACKEND` can only agree: which addresses the data
/// path uses was decided when the library was built.
pub fn choose(launcher: Launcher) -> Result<Choice, Error> {
    match env::BACKEND.word()? {
        None | Some("auto" | "smartmap") => {}
        Some(other) => {
            return Err(Error::Slot(format!(
                "SHMEM_BACKEND={other} needs a library built without the feature smartmap"
            )));
        }
    }
    Ok(match launcher {
        Launcher::Kitten => {
            Choice { backend: Box::new(kitten::Kitten), reason: "Kitten maps all ranks".into() }
        }
        _ => Choice {
            backend: Box::new(linux::Placed::default()),
            reason: "the kernel has no SMARTMAP: slots are placed at its addresses".into(),
        },
    })
}
