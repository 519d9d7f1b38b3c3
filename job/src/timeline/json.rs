//! The file: JSON in the "Trace Event Format", in which times are in microseconds. Each PE is a process, with a
//! track for each of its threads. Names are letters, digits and underscores, so nothing needs escaping.

use super::arrows::{Arrow, arrows};
use super::clocks::Hosts;
use crate::timeline::event::{Event, Kind, Peer};
use crate::timeline::ring::{Head, Ring};
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};

/// The text before a program's path, and before an address in it from which an event's routine was called, for who
/// knows its lines of source. A quotation mark follows.
pub const PROGRAM: &str = "\"program\": \"";
/// See [`PROGRAM`].
pub const CALLED: &str = "\"called\": \"";

/// A time, in nanoseconds.
struct Micros(i64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.0.max(0);
        write!(f, "{}.{:03}", time / 1000, time % 1000)
    }
}

/// The number of a PE as a process, or of a thread. Viewers take 0 for the kernel's idle process or thread, and neither
/// name nor sort it.
fn id(number: usize) -> usize {
    number + 1
}

/// Writes the rings of all PEs, on these hosts. `program`: where the program is that they run.
pub fn write(
    to: &mut impl Write,
    rings: &[Option<Ring>],
    hosts: &Hosts,
    program: Option<&str>,
) -> io::Result<()> {
    let of_host = |at: u64, pe| (at as i64).wrapping_sub(hosts.ahead(pe));
    let present = || rings.iter().enumerate().filter_map(|(pe, ring)| Some((pe, ring.as_ref()?)));
    let zero = present().map(|(pe, ring)| of_host(ring.get(Head::Begin), pe)).min().unwrap_or(0);
    let time = |at: u64, pe| of_host(at, pe).wrapping_sub(zero);
    let mut events: Vec<Vec<(Event, [i64; 2])>> = vec![Vec::new(); rings.len()];
    for (pe, ring) in present() {
        let times = |it: &Event| [it.begin, it.end].map(|at| time(at, pe));
        events[pe] = ring.events().map(|event| (event, times(&event))).collect();
    }
    let lost: u64 = present().map(|(_, ring)| ring.lost()).sum();
    write!(
        to,
        "{{\"displayTimeUnit\": \"ns\",\n\"otherData\": {{\"name\": \"oneshmem\", \"version\": \"{}\", \
         \"pes\": {}, \"lost\": {lost}",
        env!("CARGO_PKG_VERSION"),
        rings.len()
    )?;
    if let Some(path) = program {
        write!(to, ", {PROGRAM}{path}\"")?;
    }
    write!(to, "}},\n\"traceEvents\": [")?;
    let mut comma = "";
    for (pe, ring) in rings.iter().enumerate() {
        let on = hosts.node(pe).map(|node| format!(" on node {node}")).unwrap_or_default();
        let pid = id(pe);
        write!(
            to,
            "{comma}\n{{\"ph\": \"M\", \"pid\": {pid}, \"name\": \"process_name\", \"args\": {{\"name\": \
             \"PE {pe}{on}\"}}}},\n{{\"ph\": \"M\", \"pid\": {pid}, \"name\": \"process_sort_index\", \
             \"args\": {{\"sort_index\": {pe}}}}}"
        )?;
        comma = ",";
        let threads = events[pe].iter().map(|(event, _)| event.thread);
        for thread in threads.chain([0]).collect::<BTreeSet<_>>() {
            let tid = id(thread.into());
            write!(
                to,
                ",\n{{\"ph\": \"M\", \"pid\": {pid}, \"tid\": {tid}, \"name\": \"thread_name\", \"args\": \
                 {{\"name\": \"PE {pe}, thread {thread}\"}}}},\n{{\"ph\": \"M\", \"pid\": {pid}, \"tid\": {tid}, \
                 \"name\": \"thread_sort_index\", \"args\": {{\"sort_index\": {thread}}}}}"
            )?;
        }
        let Some(ring) = ring else { continue };
        let begin = time(ring.get(Head::Begin), pe);
        let last = events[pe].iter().map(|(_, [_, end])| *end).max().unwrap_or(begin);
        // A PE that has not finalised ends with what it did last.
        let (end, finished) = match ring.get(Head::End) {
            0 => (last, false),
            end => (time(end, pe).max(last), true),
        };
        write!(
            to,
            ",\n{{\"ph\": \"X\", \"pid\": {pid}, \"tid\": {}, \"ts\": {}, \"dur\": {}, \"name\": \"PE {pe}\", \
             \"cat\": \"pe\", \"args\": {{\"lost\": {}, \"finalized\": {finished}}}}}",
            id(0),
            Micros(begin),
            Micros(end - begin),
            ring.lost()
        )?;
        if let (1.., Some((_, [first, _]))) = (ring.lost(), events[pe].first()) {
            write!(
                to,
                ",\n{{\"ph\": \"i\", \"s\": \"p\", \"pid\": {pid}, \"tid\": {}, \"ts\": {}, \"name\": \
                 \"{} events before this one are lost\", \"cat\": \"lost\"}}",
                id(0),
                Micros(*first),
                ring.lost()
            )?;
        }
        for (event, times) in &events[pe] {
            write_event(to, pe, ring, event, *times)?;
        }
    }
    for (number, arrow) in arrows(&events, hosts).iter().enumerate() {
        write_arrow(to, number, *arrow, &events)?;
    }
    write!(to, "\n]}}\n")
}

fn write_event(
    to: &mut impl Write,
    pe: usize,
    ring: &Ring,
    event: &Event,
    [begin, end]: [i64; 2],
) -> io::Result<()> {
    let Event { kind, thread, calls, bytes, .. } = event;
    let (name, class) = (ring.name(event.names[0]), kind.name());
    write!(
        to,
        ",\n{{\"pid\": {}, \"tid\": {}, \"ts\": {}, \"cat\": \"{class}\", ",
        id(pe),
        id((*thread).into()),
        Micros(begin)
    )?;
    match kind {
        Kind::Allocated | Kind::Freed => {
            write!(to, "\"ph\": \"i\", \"s\": \"t\", \"name\": \"{name}: {class}\", \"args\": {{")?;
        }
        Kind::Blocked => {
            write!(
                to,
                "\"ph\": \"X\", \"dur\": {}, \"name\": \"{class}\", \"args\": {{",
                Micros(end - begin)
            )?;
        }
        Kind::Operation(_) | Kind::Step => {
            let times = if *calls > 1 { format!(" x {calls}") } else { String::new() };
            write!(
                to,
                "\"ph\": \"X\", \"dur\": {}, \"name\": \"{name}{times}\", \"args\": {{",
                Micros(end - begin)
            )?;
        }
    }
    write!(to, "\"routine\": \"{name}\", \"calls\": {calls}, \"bytes\": {bytes}")?;
    match event.peer {
        Peer::None => {}
        Peer::Pe(peer) => write!(to, ", \"pe\": {peer}")?,
        Peer::Several => write!(to, ", \"pe\": \"several\"")?,
    }
    if event.names[1] > 0 {
        write!(to, ", \"algorithm\": \"{}\"", ring.name(event.names[1]))?;
    }
    if event.called > 0 {
        write!(to, ", {CALLED}{:#x}\"", event.called)?;
    }
    write!(to, "}}}}")
}

/// An arrow from the end of one event to the end of another, which is later. The end of an update is noted after
/// the waiting PE may have seen it, and viewers drop arrows that lead back.
fn write_arrow(
    to: &mut impl Write,
    number: usize,
    arrow: Arrow,
    events: &[Vec<(Event, [i64; 2])>],
) -> io::Result<()> {
    let [from, at] = [arrow.from, arrow.to].map(|(pe, index)| (pe, events[pe][index]));
    // Inside of the event, whose end is not.
    let last = |(_, [begin, end]): (Event, [i64; 2])| (end - 1).max(begin);
    let seen = last(at.1);
    let made = last(from.1).min(seen - 1).max(from.1.1[0]);
    for (phase, (pe, (event, _)), time) in
        [("\"s\"", from, made), ("\"f\", \"bp\": \"e\"", at, seen)]
    {
        write!(
            to,
            ",\n{{\"ph\": {phase}, \"id\": {number}, \"pid\": {}, \"tid\": {}, \"ts\": {}, \"name\": \
             \"update\", \"cat\": \"update\"}}",
            id(pe),
            id(event.thread.into()),
            Micros(time)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Class;

    /// Where the arrow begins and ends from an update to a wait with these times.
    fn ends(update: [i64; 2], wait: [i64; 2]) -> [String; 2] {
        let event = |class, peer, times: [i64; 2]| {
            let [begin, end] = times.map(|at| at as u64);
            let kind = Kind::Operation(class);
            let event = Event {
                begin,
                end,
                kind,
                names: [1, 0],
                thread: 0,
                calls: 1,
                bytes: 8,
                peer,
                place: 7,
                called: 0,
            };
            vec![(event, times)]
        };
        let events =
            [event(Class::Signal, Peer::Pe(1), update), event(Class::Wait, Peer::None, wait)];
        let mut text = Vec::new();
        for arrow in arrows(&events, &Hosts::one()) {
            write_arrow(&mut text, 0, arrow, &events).unwrap();
        }
        let text = String::from_utf8(text).unwrap();
        let mut times = text.split("\"ts\": ").skip(1).map(|rest| rest[..5].to_owned());
        std::array::from_fn(|_| times.next().unwrap())
    }

    #[test]
    fn arrows_lead_forward() {
        assert_eq!(ends([100, 110], [20, 120]), ["0.109", "0.119"]);
        assert_eq!(ends([100, 125], [20, 120]), ["0.118", "0.119"]);
    }
}
