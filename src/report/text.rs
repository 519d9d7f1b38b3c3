//! Statistics as text.

use crate::pause;
use oneshmem_job::stats::{Peer, Snapshot, plus, short};
use std::fmt;
use std::time::Duration;

/// The statistics of all PEs, one line each, and the sums.
pub(crate) struct Report {
    pub rows: Vec<Snapshot>,
    /// For each PE: traffic to and from PEs on other nodes, if there are any.
    pub far: Option<Vec<Peer>>,
}

/// A number of bytes in at most four digits.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&short(self.0, 1024.0))
    }
}

/// One line: `who`, then the figures.
fn line(
    f: &mut fmt::Formatter<'_>,
    who: &str,
    s: &Snapshot,
    peers: &str,
    far: Option<Peer>,
) -> fmt::Result {
    let [put, get, atomic, signal, quiet, wait, collective] = s.classes;
    let seconds = |time: Duration| format!("{:.3}", time.as_secs_f64());
    write!(f, "\n{who:>5}")?;
    for Peer { calls, bytes } in [put, get, atomic] {
        write!(f, " {calls:>11} {:>7}", Bytes(bytes))?;
    }
    write!(f, " {:>9} {:>9}", signal.calls, quiet.calls)?;
    write!(f, " {:>9} {:>9}", wait.calls, seconds(s.blocked[0]))?;
    write!(f, " {:>11} {:>7}", collective.calls, Bytes(collective.bytes))?;
    write!(f, " {:>9} {peers:>9} {:>7}", seconds(s.blocked[1]), Bytes(s.heap))?;
    if let Some(Peer { calls, bytes }) = far {
        write!(f, " {calls:>11} {:>7}", Bytes(bytes))?;
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let partners: Vec<_> = self.rows.iter().enumerate().map(|(pe, s)| s.partners(pe)).collect();
        let far = |pe: usize| self.far.as_ref().map(|far| far[pe]);
        let all_far = self.far.as_ref().map(|far| far.iter().copied().fold(Peer::default(), plus));
        let mut all = Snapshot::default();
        write!(
            f,
            "statistics\n{:>5} {:>19} {:>19} {:>19} {:>9} {:>9} {:>19} {:>29} {:>9} {:>7}",
            "",
            "puts",
            "gets",
            "atomics",
            "signals",
            "quiets",
            "waits, blocked",
            "collectives, blocked",
            "peers",
            "heap"
        )?;
        if self.far.is_some() {
            write!(f, " {:>19}", "to other nodes")?;
        }
        // As `line` writes them.
        let (calls, bytes, seconds) = ("calls", "bytes", "seconds");
        write!(f, "\n{:>5}", "PE")?;
        for _ in 0..3 {
            write!(f, " {calls:>11} {bytes:>7}")?;
        }
        write!(f, " {calls:>9} {calls:>9} {calls:>9} {seconds:>9}")?;
        write!(f, " {calls:>11} {bytes:>7} {seconds:>9} {:>9} {bytes:>7}", "PEs")?;
        if self.far.is_some() {
            write!(f, " {calls:>11} {bytes:>7}")?;
        }
        for (pe, s) in self.rows.iter().enumerate() {
            line(f, &pe.to_string(), s, &partners[pe].to_string(), far(pe))?;
            all.classes.iter_mut().zip(s.classes).for_each(|(sum, n)| *sum = plus(*sum, n));
            all.blocked.iter_mut().zip(s.blocked).for_each(|(sum, time)| *sum += time);
            all.heap += s.heap;
        }
        line(f, "all", &all, "", all_far)?;
        let reached: Vec<_> = self.rows.iter().map(|row| row.reached).collect();
        for (what, counts) in [("talked to", &partners), ("attached or connected to", &reached)] {
            let mean = counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64;
            let most = counts.iter().max().copied().unwrap_or(0);
            write!(f, "\nPEs that a PE {what}: {mean:.1} on average, at most {most}")?;
        }
        let rows = self.rows.iter().enumerate();
        let lost: Vec<_> = rows.filter_map(|(pe, s)| Some((pe, s.lost.described()?))).collect();
        lost.iter().try_for_each(|(pe, told)| write!(f, "\nPE {pe} {told}"))?;
        if !lost.is_empty() {
            write!(f, "\nWaits {}", pause::description())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshmem_job::stats::LostTime;

    #[test]
    fn bytes_are_short() {
        for (bytes, text) in [(0, "0"), (999, "999"), (1024, "1.0k"), (5 << 30, "5.0g")] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn a_line_for_each_pe_and_one_for_all() {
        let peers =
            vec![Peer { calls: 1, bytes: 8 }, Peer::default(), Peer { calls: 2, bytes: 16 }];
        let rows =
            (0..3).map(|_| Snapshot { heap: 512, peers: peers.clone(), ..Snapshot::default() });
        let rows: Vec<_> = rows.collect();
        let text = Report { rows: rows.clone(), far: None }.to_string();
        assert_eq!(text.lines().count(), 3 + 3 + 1 + 2);
        let widths: Vec<_> = text.lines().skip(1).take(5).map(str::len).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
        let said = "PEs that a PE talked to: 1.3 on average, at most 2\n\
                    PEs that a PE attached or connected to: 0.0 on average, at most 0";
        assert!(text.ends_with(said), "{text}");
        assert!(text.contains("1.5k"), "{text}");
        let mut beside_others = rows.clone();
        let (all, lost) = (Duration::from_secs(10), Duration::from_millis(4321));
        beside_others[2].lost = LostTime { all, lost, cpu: Some(1) };
        let text = Report { rows: beside_others, far: None }.to_string();
        let mut said = text.lines().skip(3 + 3 + 1 + 2);
        let expected = "PE 2 lost 43% of its time to other processes on CPU 1";
        assert_eq!(said.next(), Some(expected), "{text}");
        assert!(said.next().is_some_and(|line| line.starts_with("Waits ")), "{text}");
        let far = Some(rows.iter().map(|row| row.with(|pe| pe == 2)).collect());
        let text = Report { rows, far }.to_string();
        assert!(
            text.contains("to other nodes") && text.contains("           6      48\n"),
            "{text}"
        );
    }
}
