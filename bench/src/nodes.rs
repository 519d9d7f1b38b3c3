//! Jobs over two emulated nodes: operations on a PE of the other node, collectives over both,
//! initialisation and whole jobs, beside other implementations.

use oneshmem_plots::figures;

use crate::over::NODES;
use crate::plan::{Comparison, Experiment, Extent};
use crate::report::{Key, RemarkKind, Report};
use crate::{slower, table};

/// The numbers of PEs on each.
const EACH: [usize; 4] = [1, 2, 4, 8];
const BIG: u64 = 1 << 20;

/// Where a quantity's figure is: name and size, and what it is called in the table.
const ROWS: [(&str, u64, &str); 17] = [
    ("nodes.put", 8, "put 8 B, quiet"),
    ("nodes.get", 8, "get 8 B"),
    ("nodes.fetch_add", 8, "fetch-add"),
    ("nodes.fetch_add_computing", 8, "fetch-add, target computes 50 ms"),
    ("nodes.flag", 8, "put, fence, flag; one way"),
    ("nodes.put_signal", 8, "put with signal; one way"),
    ("nodes.put_burst", 8, "puts of 8 B in a burst"),
    ("nodes.get_burst", 8, "gets of 8 B in a burst"),
    ("nodes.add_burst", 8, "atomic adds in a burst"),
    ("nodes.put_bandwidth", BIG, "put 1 MiB, quiet"),
    ("nodes.get_bandwidth", BIG, "get 1 MiB"),
    ("nodes.barrier", 0, "barrier"),
    ("nodes.reduce", 8, "sum of 8 B"),
    ("nodes.set_reduce", 8, "sum of 8 B, active set"),
    ("nodes.set_broadcast", 8, "broadcast of 8 B, active set, half a barrier"),
    ("startup.init", 0, "shmem_init"),
    ("startup.hello", 0, "whole job"),
];

/// The experiments of one turn: everything with each number of PEs.
pub fn groups(extent: Extent) -> Vec<Comparison> {
    let numbers = if extent == Extent::Tiny { &EACH[..2] } else { &EACH };
    let group = |each: &usize| {
        let make = |program: &str, arguments: &[String], whole_job| Experiment {
            program: program.into(),
            raw: false,
            pes: each * NODES,
            arguments: arguments.to_vec(),
            heap: 16,
            whole_job,
        };
        let experiments = vec![
            make("over_nodes", &[format!("ms={}", extent.ms())], false),
            make("startup", &[], false),
            make("hello", &[], true),
        ];
        experiments
    };
    numbers.iter().map(group).collect()
}

/// The table: for each quantity and number of PEs our figure, and the others' with their cost
/// relative to ours.
pub fn print(report: &Report) -> String {
    let own = report.own().unwrap_or_default();
    let peers: Vec<&str> = report.peers().collect();
    let mut header = vec!["".to_owned(), "PEs".into(), own.into(), "".into(), "packets".into()];
    peers.iter().for_each(|peer| {
        header.extend([(*peer).to_owned(), format!("x {own}"), "packets".into()]);
    });
    let columns = header.len();
    let mut rows = table::plain(header, 1..columns);
    let mut compared = slower::Compared::default();
    for (name, size, called) in ROWS {
        for each in EACH {
            let key = Key { name: name.into(), size, pes: each * NODES };
            let Some(mine) = report.find(own, &key) else { continue };
            let packets = |who: &str| {
                let key = Key { name: format!("{name}.packets"), ..key.clone() };
                let count = report.find(who, &key).map(|it| figures::figure(it.value(), it.unit));
                count.unwrap_or_default()
            };
            let pes = format!("{NODES} x {each}");
            let mut row = vec![
                called.to_owned(),
                pes.clone(),
                figures::figure(mine.value(), mine.unit),
                figures::spread(mine.spread()),
                packets(own),
            ];
            for peer in &peers {
                let theirs = report.find(peer, &key);
                row.push(theirs.map(|it| figures::figure(it.value(), it.unit)).unwrap_or_default());
                row.push(compared.with(mine, theirs, &format!("{called} at {pes}")));
                row.push(packets(peer));
            }
            rows.add_row(row);
        }
    }
    let mut text = format!(
        "{rows}\nTwo nodes are emulated on this machine: all PEs and the network share its CPUs. Figures: the \
         median of the runs' medians.\n\
         Of an operation: PE 0's time; of a collective: the slowest PE's. Ratios: the median of \
         those within each turn. Packets: what the node of PE 0 sends for one operation.\n"
    );
    text += &compared.sentence();
    text += &format!("{}\n", table::quietness(report));
    for remark in report.remarks.iter().filter(|remark| remark.kind != RemarkKind::Skipped) {
        text += &format!("{remark}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::over::Over;
    use crate::report::Unit;

    #[test]
    fn ours_beside_others() {
        let mut report = Report::of(&["mine", "other"]);
        for (who, name, size, unit, value) in [
            ("mine", "nodes.barrier", 0, Unit::Nanoseconds, 20_000.0),
            ("other", "nodes.barrier", 0, Unit::Nanoseconds, 50_000.0),
            ("mine", "nodes.get_bandwidth", BIG, Unit::MegaBytes, 900.0),
            ("other", "nodes.get_bandwidth", BIG, Unit::MegaBytes, 1800.0),
            ("mine", "nodes.put_signal", 8, Unit::Nanoseconds, 20_000.0),
            ("mine", "nodes.barrier.packets", 0, Unit::Packets, 1.5),
            ("other", "nodes.barrier.packets", 0, Unit::Packets, 16.2),
        ] {
            report.note(who, name, (size, 4), unit, &[value]);
        }
        let text = print(&report);
        let line = |start| table::line(&text, start);
        assert!(line("barrier").starts_with("barrier 2 x 2 20"), "{text}");
        assert!(line("barrier").ends_with("2.50 16.2"), "{text}");
        assert!(line("barrier").contains(" 1.50 "), "{text}");
        assert!(line("get 1 MiB").ends_with("0.500"), "{text}");
        assert!(
            text.contains("at 1 of 2 points: get 1 MiB at 2 x 2 (2.00 times other's time)."),
            "{text}"
        );
    }

    #[test]
    fn every_group_fits_the_nodes() {
        let groups = groups(Extent::Full);
        assert_eq!(groups.len(), EACH.len());
        let mut all = groups.iter().flatten();
        assert!(all.all(|experiment| Over::is_for(experiment.pes)));
    }
}
