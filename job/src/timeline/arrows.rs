//! Which update of a variable has ended which wait, as far as that can be told: the last update of that
//! variable on that PE before the wait's end.

use super::clocks::Hosts;
use crate::stats::Class;
use crate::timeline::event::{Event, Kind, Peer};
use std::collections::HashMap;

/// An event, by its PE and its place among the PE's events.
pub type EventIndex = (usize, usize);

/// An arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The update.
    pub from: EventIndex,
    /// The wait.
    pub to: EventIndex,
}

/// The arrows between these events of each PE, with times by one clock, as far as those of the hosts are known.
pub fn arrows(events: &[Vec<(Event, [i64; 2])>], hosts: &Hosts) -> Vec<Arrow> {
    let mut updates: HashMap<(usize, u64), Vec<(i64, EventIndex)>> = HashMap::new();
    for (pe, events) in events.iter().enumerate() {
        for (index, (event, [begin, _])) in events.iter().enumerate() {
            let is_update =
                matches!(event.kind, Kind::Operation(Class::Put | Class::Atomic | Class::Signal));
            if let (true, Peer::Pe(to), 1..) = (is_update, event.peer, event.place) {
                updates.entry((to, event.place)).or_default().push((*begin, (pe, index)));
            }
        }
    }
    updates.values_mut().for_each(|updates| updates.sort_unstable());
    let mut arrows = Vec::new();
    for (pe, own) in events.iter().enumerate() {
        for (index, (event, [begin, end])) in own.iter().enumerate() {
            let Some(updates) = updates.get(&(pe, event.place)) else { continue };
            if event.kind != Kind::Operation(Class::Wait) {
                continue;
            }
            // The last that began before the wait's end, if it ended after the wait's beginning. An end may be
            // noted long after the waiting PE has seen the update.
            let doubt = |from| hosts.doubt(from, pe);
            let before = updates.partition_point(|(begun, _)| *begun <= end + hosts.most_doubt());
            let mut near = updates[..before].iter().rev();
            let last = near.find(|(begun, (from, _))| *begun <= end + doubt(*from));
            let ended = |(from, number): EventIndex| events[from][number].1[1] + doubt(from);
            let last = last.filter(|(_, from)| ended(*from) >= *begin);
            arrows.extend(last.map(|(_, from)| Arrow { from: *from, to: (pe, index) }));
        }
    }
    arrows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Class, peer: Peer, place: u64) -> Event {
        Event {
            begin: 0,
            end: 0,
            kind: Kind::Operation(kind),
            names: [1, 0],
            thread: 0,
            calls: 1,
            bytes: 8,
            peer,
            place,
            called: 0,
        }
    }

    #[test]
    fn the_last_update_before_the_end_of_a_wait() {
        let signal = |place| event(Class::Signal, Peer::Pe(1), place);
        let wait = |place| event(Class::Wait, Peer::None, place);
        let events = [
            vec![(signal(7), [0, 10]), (signal(8), [50, 60]), (signal(7), [100, 110])],
            vec![
                (wait(8), [5, 62]),
                (wait(7), [80, 112]),
                (wait(7), [500, 600]), // nobody's
                (wait(9), [700, 800]),
                (wait(7), [900, 1000]), // ended by the update before the one that begins later
            ],
            vec![(signal(7), [980, 2000]), (signal(7), [1001, 2001])],
        ];
        let found = arrows(&events, &Hosts::one());
        let expected = [((0, 1), (1, 0)), ((0, 2), (1, 1)), ((2, 0), (1, 4))];
        assert_eq!(found, expected.map(|(from, to)| Arrow { from, to }));
    }
}
