//! Jobs beside busy neighbours: processes that compute all the time on the CPUs of the job.
//!
//! All figures are means: a median hides time slices that others took.

use std::process::{Child, Command, Stdio};

use anyhow::Context;
use oneshmem_plots::figures;

use crate::curves::Table;
use crate::data::{Data, Extent, Setting};
use crate::draw;
use crate::implementation::Implementation;
use crate::over::Over;
use crate::report::{Key, Report};

const PES: [usize; 3] = [2, 4, 8];
/// Where a quantity's figure is, how often its time is part of what the table shows, and what that is called.
const ROWS: [(&str, u64, f64, &str); 2] = [
    ("activeset.sum", 8, 1.0, "barrier, sum of 8 B"),
    ("pingpong.put", BIG, 2.0, "64 KiB there and back"),
];
const BIG: u64 = 64 << 10;
/// A neighbour, which also ends if this process is killed: then its input ends.
const BUSY: &str = "exec 3<&0; { read -r _ <&3; kill $$; } & while :; do :; done";

/// Where jobs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Situation {
    neighbours: usize,
    /// Whether each neighbour has a session of its own: with autogroup, Linux divides CPUs among sessions.
    apart: bool,
    /// Whether PEs are bound to CPUs.
    bound: bool,
}

/// The situations to compare in.
fn situations(extent: Extent) -> Vec<Situation> {
    let is_tiny = extent == Extent::Tiny;
    let numbers = if is_tiny { &[0, 1][..] } else { &[0, 1, 2, 4] };
    let mut list = Vec::new();
    for bound in [true, false].into_iter().take(if is_tiny { 1 } else { 2 }) {
        for &neighbours in numbers {
            list.push(Situation { neighbours, apart: false, bound });
            if neighbours > 0 {
                list.push(Situation { neighbours, apart: true, bound });
            }
        }
    }
    list
}

/// Busy neighbours, which end when this is dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn start(situation: Situation) -> anyhow::Result<Self> {
        let mut all = Self(Vec::new());
        let words: &[&str] = if situation.apart { &["setsid", "sh", "-c"] } else { &["sh", "-c"] };
        for _ in 0..situation.neighbours {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).arg(BUSY).stdin(Stdio::piped());
            all.0.push(command.spawn().with_context(|| format!("cannot run {}", words[0]))?);
        }
        Ok(all)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for neighbour in &mut self.0 {
            // An error means that it has ended.
            let _ = neighbour.kill();
            let _ = neighbour.wait();
        }
    }
}

impl Situation {
    /// The implementations with the options that bind PEs to cores, or leave them unbound.
    fn bind(self, implementations: &[Implementation]) -> anyhow::Result<Vec<Implementation>> {
        let mut list = implementations.to_vec();
        for who in &mut list {
            let options = Over::of(who.commands()?)?.binding(self.bound);
            who.launch.extend(options.map(str::to_owned));
        }
        Ok(list)
    }

    fn name(self) -> String {
        let (neighbours, bound) = (self.neighbours, if self.bound { "bound" } else { "unbound" });
        let apart = if self.apart { " apart" } else { "" };
        format!("{neighbours}{apart}, {bound}")
    }
}

/// Compares in all situations. Returns what to print, and whether anything of ours failed.
pub fn compare(data: &Data, setting: &Setting) -> anyhow::Result<(String, bool)> {
    let peers = setting.peers();
    let (mut taken, mut failed) = (Vec::new(), false);
    for situation in situations(setting.extent) {
        let who = situation.bind(&setting.implementations)?;
        for figure in data.of("neighbours") {
            for part in &figure.parts {
                let mut suite = draw::suite(setting, figure, part, who.clone());
                suite.cpus = &[];
                let neighbours = Neighbours::start(situation)?;
                let report = suite.run();
                drop(neighbours);
                let mut report = report?;
                for run in report.points.iter_mut().flat_map(|point| &mut point.runs) {
                    run.median = run.mean;
                }
                failed |= report.fails(&peers);
                taken.push((situation, report));
            }
        }
    }
    Ok((print(&taken, &peers), failed))
}

/// The table: for each situation, number of PEs and quantity our figure, and the others' with their cost relative to ours.
fn print(taken: &[(Situation, Report)], peers: &[&str]) -> String {
    let own = taken.first().and_then(|(_, report)| report.names.first()).map_or("", String::as_str);
    let mut header = ["", "neighbours, PEs", "PEs", own].map(str::to_owned).to_vec();
    peers.iter().for_each(|peer| header.extend([(*peer).to_owned(), format!("x {own}")]));
    let (mut rows, mut compared, mut slower) = (Vec::new(), 0, Vec::new());
    for (name, size, times, called) in ROWS {
        for (situation, report) in taken {
            for pes in PES {
                let key = Key { name: name.into(), size, pes };
                let Some(mine) = report.find(own, &key) else { continue };
                let figure = |value: f64| figures::figure(times * value, mine.unit);
                let mut row = vec![
                    called.to_owned(),
                    situation.name(),
                    pes.to_string(),
                    figure(mine.value()),
                ];
                for peer in peers {
                    let theirs = report.find(peer, &key);
                    let ratio = theirs.and_then(|it| it.times(mine));
                    row.push(theirs.map(|it| figure(it.value())).unwrap_or_default());
                    row.push(ratio.map(figures::ratio).unwrap_or_default());
                    compared += usize::from(ratio.is_some());
                    if let Some(ratio) = ratio.filter(|ratio| *ratio < 1.0) {
                        let times = figures::ratio(1.0 / ratio);
                        slower.push(format!(
                            "{called} at {}, {pes} PEs ({times} times {peer}'s time)",
                            situation.name()
                        ));
                    }
                }
                rows.push(row);
            }
        }
    }
    let mut text = Table { title: String::new(), header, rows }.to_string();
    text += "\nNeighbours compute all the time, in the session of the job or apart, each in its own. Figures: the median of \
             the runs' means, of the slowest PE for collectives. Ratios: the median of those within each turn.\n";
    if compared > 0 {
        text += &format!(
            "Slower than another implementation at {} of {compared} points. {}\n",
            slower.len(),
            slower.join(", ")
        );
    }
    // Most are the same in all situations.
    let mut told = Vec::new();
    for remark in taken.iter().flat_map(|(_, report)| &report.remarks) {
        if !told.contains(&remark) {
            text += &format!("{remark}\n");
            told.push(remark);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unit;

    #[test]
    fn ours_beside_others() {
        let mut report = Report::default();
        for (who, mean) in [("mine", 20_000.0), ("other", 10_000.0)] {
            report.note(who, "pingpong.put", (BIG, 4), Unit::Nanoseconds, &[mean]);
        }
        let situation = Situation { neighbours: 2, apart: true, bound: false };
        let text = print(&[(situation, report)], &["other"]);
        let row = text.lines().find(|line| line.contains("64 KiB")).unwrap();
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "64 KiB there and back 2 apart, unbound 4 40.0 us 20.0 us 0.500",
            "{text}"
        );
        assert!(text.contains("at 1 of 1 points"), "{text}");
    }

    #[test]
    fn neighbours_end() {
        let situation = Situation { neighbours: 2, apart: true, bound: true };
        let neighbours = Neighbours::start(situation).unwrap();
        let ids: Vec<u32> = neighbours.0.iter().map(Child::id).collect();
        drop(neighbours);
        assert!(ids.iter().all(|id| !std::path::Path::new(&format!("/proc/{id}")).exists()));
    }
}
