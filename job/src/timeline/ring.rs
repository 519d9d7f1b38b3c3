//! A PE's events, in the job's memory file. When there is no more room, new events replace the oldest.
//!
//! ```text
//!  | head | names ... | events ... |
//! ```

use super::event::{Event, Kind, Peer};
use crate::atomics::{AtomicU64, Ordering};
use crate::error::Error;
use crate::jobfile::control::{Control, TIMELINE_BYTES};
use onenode_core::area::SharedArea;
use onenode_core::packed;

/// The most events.
pub const EVENTS: usize = 32 << 10;
const EVENT_WORDS: usize = 7;
/// The most names, each in so many words. The last one stands for those for which there is no room.
pub const NAMES: usize = 512;
const NAME_WORDS: usize = 7;
const FIRST_NAME: usize = 8;
const FIRST_EVENT: usize = FIRST_NAME + NAMES * NAME_WORDS;
/// Bytes up to the first event.
pub const HEAD_BYTES: usize = FIRST_EVENT * size_of::<u64>();
const _: () = assert!(HEAD_BYTES + EVENTS * EVENT_WORDS * 8 <= TIMELINE_BYTES);

/// The words of the head.
#[derive(Clone, Copy)]
pub enum Head {
    /// 1 if the PE has recorded anything.
    Recorded,
    /// How many events have been written, also those that were replaced.
    Written,
    /// When the PE began, in nanoseconds of its host's clock.
    Begin,
    /// When it ended; 0: it has not.
    End,
    /// For a PE of another host: see `super::clocks`.
    Latest,
}

/// A ring, mapped.
pub struct Ring {
    area: SharedArea,
}

impl Ring {
    /// The empty ring of a PE that begins to record.
    pub fn new(area: SharedArea, begin: u64) -> Self {
        let ring = Self { area };
        let head = [Head::Written, Head::End, Head::Latest];
        head.iter().for_each(|word| ring.set(*word, 0));
        ring.set(Head::Begin, begin);
        ring.set(Head::Recorded, 1);
        ring
    }

    /// The ring of PE `pe`; `None` if it has not recorded.
    pub fn of(control: &Control, pe: usize) -> Result<Option<Self>, Error> {
        let ring = control.timeline(pe)?.map(|area| Self { area });
        Ok(ring.filter(|ring| ring.get(Head::Recorded) == 1))
    }

    fn words(&self) -> &[AtomicU64] {
        self.area.slice(0, FIRST_EVENT + EVENTS * EVENT_WORDS)
    }

    /// A word of the head.
    pub fn get(&self, word: Head) -> u64 {
        self.words()[word as usize].load(Ordering::Relaxed)
    }

    /// Sets a word of the head.
    pub fn set(&self, word: Head, value: u64) {
        self.words()[word as usize].store(value, Ordering::Relaxed);
    }

    /// The bytes that hold what has been written.
    pub fn used_bytes(&self) -> usize {
        let events = self.get(Head::Written).min(EVENTS as u64) as usize;
        (FIRST_EVENT + events * EVENT_WORDS) * size_of::<u64>()
    }

    /// See `super::clocks`.
    pub fn latest(&self) -> i64 {
        self.get(Head::Latest) as i64
    }

    /// How many of the first events are lost.
    pub fn lost(&self) -> u64 {
        self.get(Head::Written).saturating_sub(EVENTS as u64)
    }

    /// Writes name `number`.
    pub fn set_name(&self, number: usize, name: &str) {
        let first = FIRST_NAME + number * NAME_WORDS;
        packed::store_name(&self.words()[first..first + NAME_WORDS], name);
    }

    /// Name `number`, which another process may have written: letters, digits and underscores.
    pub fn name(&self, number: u16) -> String {
        let first = FIRST_NAME + usize::from(number).min(NAMES - 1) * NAME_WORDS;
        let name = packed::name(packed::load(&self.words()[first..first + NAME_WORDS]));
        name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    }

    /// Writes event `number` of those since the beginning.
    pub fn write(&self, number: u64, event: &Event) {
        let peer = match event.peer {
            Peer::None => 0,
            Peer::Several => u32::MAX,
            Peer::Pe(pe) => pe as u32 + 1,
        };
        let Event { names: [name, algorithm], thread, .. } = *event;
        let words = [
            event.begin,
            event.end,
            event.bytes,
            event.place,
            u64::from(name) << 48
                | u64::from(algorithm) << 32
                | u64::from(thread) << 16
                | u64::from(event.kind.encode()),
            u64::from(event.calls) << 32 | u64::from(peer),
            event.called,
        ];
        let first = FIRST_EVENT + number as usize % EVENTS * EVENT_WORDS;
        let place = &self.words()[first..first + EVENT_WORDS];
        place.iter().zip(words).for_each(|(to, word)| to.store(word, Ordering::Relaxed));
        self.words()[Head::Written as usize].store(number + 1, Ordering::Release);
    }

    /// The events that are left, in the order in which they were written.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let written = self.words()[Head::Written as usize].load(Ordering::Acquire);
        let numbers = self.lost()..written.min(self.lost() + EVENTS as u64);
        numbers.filter_map(|number| self.read(number))
    }

    fn read(&self, number: u64) -> Option<Event> {
        let first = FIRST_EVENT + number as usize % EVENTS * EVENT_WORDS;
        let mut words = packed::load(&self.words()[first..first + EVENT_WORDS]);
        let mut next = || words.next();
        let (begin, end, bytes, place) = (next()?, next()?, next()?, next()?);
        let (about, calls, called) = (next()?, next()?, next()?);
        let part = |shift: u32| (about >> shift) as u16;
        Some(Event {
            begin,
            end,
            bytes,
            place,
            called,
            names: [part(48), part(32)],
            thread: part(16),
            kind: Kind::decode(about as u8)?,
            calls: (calls >> 32) as u32,
            peer: match calls as u32 {
                0 => Peer::None,
                u32::MAX => Peer::Several,
                pe => Peer::Pe(pe as usize - 1),
            },
        })
    }
}

/// Where its fields are, for the page.
#[cfg(test)]
pub(crate) mod layout {
    use super::*;
    use crate::tests::Fields;

    pub fn fields() -> Fields {
        let words = [
            (Head::Recorded, "Recorded"),
            (Head::Written, "Written"),
            (Head::Begin, "Begin"),
            (Head::End, "End"),
            (Head::Latest, "Latest"),
        ];
        let mut fields: Vec<_> = words.map(|(word, name)| (word as usize * 8, 8, name)).into();
        fields.push((FIRST_NAME * 8, NAMES * NAME_WORDS * 8, "names"));
        fields.push((HEAD_BYTES, EVENTS * EVENT_WORDS * 8, "events"));
        Fields { name: "Ring", bytes: HEAD_BYTES + EVENTS * EVENT_WORDS * 8, fields }
    }
}
