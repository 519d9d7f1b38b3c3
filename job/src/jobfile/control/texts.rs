//! The PEs' descriptions of their partitions, for each other and for their node's agent: a page of words
//! for each PE that has any.
//!
//! ```text
//!  0        8                        7.5 KiB                  8 KiB
//!  | length | text of the partitions | offsets of those that  | handles of those |
//!  |        |                        | are mapped             | on devices       |
//! ```

use super::{Control, WORDS};
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::partition::{self, MOST, Spec};
use crate::remote::Handle;
use onenode_core::area::SharedArea;
use onenode_core::packed;
use onenode_core::pages::Bytes;

/// Words of one handle, which names memory on a device. Handles are at the end.
const HANDLE_WORDS: usize = 16;
const HANDLES: usize = WORDS - MOST * HANDLE_WORDS;
/// Offsets come before them, a word each.
const OFFSETS: usize = HANDLES - MOST;
/// The most bytes of the text.
const MOST_TEXT: usize = (OFFSETS - 1) * size_of::<u64>();
/// The most bytes of address space that the mapped partitions of a PE may take, gaps included.
const ROOM: usize = 1 << 40;

impl Control {
    /// This PE, `pe`, has these partitions. Those in the slot begin so far behind the first.
    pub fn set_partitions(
        &self,
        pe: usize,
        partitions: &[Spec],
        in_slot: &[Spec],
        offsets: &[usize],
    ) -> Result<(), Error> {
        let Some(last) = partitions.last() else { return Ok(()) };
        if in_slot.iter().zip(offsets).any(|(spec, offset)| offset + spec.whole_pages() > ROOM) {
            let most = Bytes(ROOM);
            return Err(last.refused(format!(
                "the partitions and the gaps between them have more than {most}, the most that is \
                 possible"
            )));
        }
        let text = partition::text(partitions);
        self.pe(pe).partitions.store(partition::number(&text), Ordering::Relaxed);
        if !self.job.has_file() {
            return Ok(());
        }
        if text.len() > MOST_TEXT && self.job.nodes().is_some() {
            return Err(last.refused(format!(
                "all partitions have {} bytes of text; in a job over several nodes there can be \
                 {MOST_TEXT}",
                text.len()
            )));
        }
        let place = self.text_place(pe)?;
        let bytes = &text.as_bytes()[..text.len().min(MOST_TEXT)];
        words(&place)[0].store(bytes.len() as u64, Ordering::Relaxed);
        packed::store(&words(&place)[1..], bytes);
        for (word, offset) in words(&place)[OFFSETS..HANDLES].iter().zip(offsets) {
            word.store(*offset as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// PE `pe`'s description of its partitions; `None` where PEs give none.
    pub fn partitions_text(&self, pe: usize) -> Option<String> {
        let place = self.job.has_file().then(|| self.text_place(pe).ok()).flatten()?;
        let (length, text) = words(&place).split_first()?;
        let length = length.load(Ordering::Relaxed) as usize;
        let bytes: Vec<u8> = packed::bytes(packed::load(text)).take(length).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The partitions of PE `pe` in its slot, as it says, and how far each begins behind the first.
    /// For who is no PE, and so does not know them from its own environment.
    pub(crate) fn mapped_partitions(&self, pe: usize) -> Result<Vec<(Spec, usize)>, Error> {
        if self.pe(pe).partitions.load(Ordering::Relaxed) == 0 {
            return Ok(Vec::new());
        }
        let specs = self.partitions_text(pe).as_deref().and_then(partition::specs_of);
        let specs = specs.ok_or_else(|| {
            Error::Library(format!(
                "the control area has no valid list of the partitions of PE {pe}"
            ))
        })?;
        let place = self.text_place(pe)?;
        let offsets = words(&place)[OFFSETS..HANDLES].iter();
        let offsets = offsets.map(|word| word.load(Ordering::Relaxed) as usize);
        Ok(specs.into_iter().filter(Spec::is_in_slot).zip(offsets).collect())
    }

    /// Writes the handle of PE `pe`'s `part`th memory on a device.
    pub fn set_handle(&self, pe: usize, part: usize, handle: Handle) -> Result<(), Error> {
        if !self.job.has_file() {
            return Err(Error::Library(
                "partitions on devices are not possible on Kitten, where jobs have no file".into(),
            ));
        }
        let place = self.text_place(pe)?;
        let words = handle.words.iter().chain([&handle.skipped]);
        for (word, value) in handle_words(&place, part).iter().zip(words) {
            word.store(*value, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The handle of a partition of a PE that is ready.
    pub fn handle(&self, pe: usize, part: usize) -> Handle {
        let Ok(place) = self.text_place(pe) else { return Handle::default() };
        let word = |index: usize| handle_words(&place, part)[index].load(Ordering::Relaxed);
        Handle { words: std::array::from_fn(word), skipped: word(8) }
    }
}

/// The words for the handle of a PE's `part`th memory on a device.
fn handle_words(place: &SharedArea, part: usize) -> &[AtomicU64] {
    &words(place)[HANDLES..][HANDLE_WORDS * part..HANDLE_WORDS * (part + 1)]
}

fn words(place: &SharedArea) -> &[AtomicU64] {
    place.slice(0, WORDS)
}
