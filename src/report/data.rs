//! Statistics as data: JSON, or comma-separated values.
//!
//! Only names of routines occur, so neither format needs escaping.

use super::text::Report;
use oneshmem_job::stats::{self, Class, Peer, Routine, Snapshot};
use std::fmt::Write;

/// A line for each PE and routine.
pub(super) fn csv(report: &Report) -> String {
    let mut text = String::from("pe,class,routine,calls,bytes,blocked_seconds\n");
    for (pe, row) in report.rows.iter().enumerate() {
        for Routine { class, name, calls, bytes, blocked } in &row.routines {
            let (class, blocked) = (class.name(), blocked.as_secs_f64());
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "{pe},{class},{name},{calls},{bytes},{blocked:.9}");
        }
    }
    text
}

/// One object: the job, the sums by routine, and the same for each PE.
pub(super) fn json(report: &Report) -> String {
    let all = stats::sum(report.rows.iter().flat_map(|row| row.routines.iter().cloned()));
    let mut text = format!(
        "{{\n  \"name\": \"oneshmem\",\n  \"version\": \"{}\",\n  \"pes\": {},\n",
        env!("CARGO_PKG_VERSION"),
        report.rows.len()
    );
    let _ = write!(text, "  \"routines\": {},\n  \"by_pe\": [", routines(&all, "    "));
    for (pe, row) in report.rows.iter().enumerate() {
        let comma = if pe == 0 { "" } else { "," };
        let far = report.far.as_ref().map(|far| far[pe]);
        let _ = write!(text, "{comma}\n    {}", of_pe(pe, row, far));
    }
    text + "\n  ]\n}\n"
}

fn of_pe(pe: usize, row: &Snapshot, far: Option<Peer>) -> String {
    let mut text = format!(
        "{{\"pe\": {pe}, \"heap_bytes\": {}, \"seconds\": {:.9}, \"lost_seconds\": {:.9}, \
         \"attached_or_connected\": {}, ",
        row.heap,
        row.lost.all.as_secs_f64(),
        row.lost.lost.as_secs_f64(),
        row.reached
    );
    for (class, Peer { calls, bytes }) in Class::ALL.into_iter().zip(row.classes) {
        let _ = write!(text, "\"{}\": {{\"calls\": {calls}, \"bytes\": {bytes}", class.name());
        let blocked = match class {
            Class::Wait => Some(row.blocked[0]),
            Class::Collective => Some(row.blocked[1]),
            _ => None,
        };
        if let Some(blocked) = blocked {
            let _ = write!(text, ", \"blocked_seconds\": {:.9}", blocked.as_secs_f64());
        }
        text += "}, ";
    }
    if let Some(Peer { calls, bytes }) = far {
        let _ = write!(text, "\"other_nodes\": {{\"calls\": {calls}, \"bytes\": {bytes}}}, ");
    }
    let peers = row.peers.iter().enumerate().filter(|(_, peer)| peer.calls > 0);
    let peers = peers.map(|(peer, Peer { calls, bytes })| {
        format!("{{\"pe\": {peer}, \"calls\": {calls}, \"bytes\": {bytes}}}")
    });
    let peers = peers.collect::<Vec<_>>().join(", ");
    let _ = write!(text, "\"peers\": [{peers}],\n     \"routines\": ");
    text + &routines(&row.routines, "      ") + "}"
}

fn routines(lines: &[Routine], indent: &str) -> String {
    let lines = lines.iter().map(|Routine { class, name, calls, bytes, blocked }| {
        format!(
            "{indent}{{\"name\": \"{name}\", \"class\": \"{}\", \"calls\": {calls}, \"bytes\": \
             {bytes}, \"blocked_seconds\": {:.9}}}",
            class.name(),
            blocked.as_secs_f64()
        )
    });
    format!("[\n{}]", lines.collect::<Vec<_>>().join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn routines_of_each_pe_and_of_all() {
        let routine = |class, name: &str, calls| Routine {
            class,
            name: name.into(),
            calls,
            bytes: 8 * calls,
            blocked: Duration::from_millis(calls),
        };
        let barrier = routine(Class::Collective, "shmem_barrier_all", 1);
        let row = |lines: &[&Routine]| Snapshot {
            routines: lines.iter().copied().cloned().collect(),
            ..Snapshot::default()
        };
        let rows =
            vec![row(&[&routine(Class::Put, "shmem_putmem", 3), &barrier]), row(&[&barrier])];
        let report = Report { rows, far: None };
        assert_eq!(
            csv(&report),
            "pe,class,routine,calls,bytes,blocked_seconds\n\
             0,put,shmem_putmem,3,24,0.003000000\n\
             0,collective,shmem_barrier_all,1,8,0.001000000\n\
             1,collective,shmem_barrier_all,1,8,0.001000000\n"
        );
        let json = json(&report);
        let all = "{\"name\": \"shmem_barrier_all\", \"class\": \"collective\", \"calls\": 2, \
                   \"bytes\": 16, \"blocked_seconds\": 0.002000000}";
        assert!(json.contains(all), "{json}");
        assert_eq!(json.matches("\"pe\": ").count(), 2);
        assert_eq!(json.matches(['{', '[']).count(), json.matches(['}', ']']).count());
    }
}
