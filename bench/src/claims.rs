//! A paper's statements beside the results here: its numbers as points in the pictures, and a table of all that its
//! text says, each with what this run has to say to it.

use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};
use oneshmem_plots::{Unit, figures};

use crate::curves::Table;
use crate::data::{Cell, Data, Figure, Setting, Statement};

/// Where curves cross more often, stretches are counted.
const FEW: usize = 4;
/// Figures that are closer than this count as equal.
const EQUAL: f64 = 1.03;

/// Adds what the paper says to the plots and tables of a figure.
pub fn beside(
    data: &Data,
    setting: &Setting,
    figure: &Figure,
    plots: &mut [Plot],
    tables: &mut Vec<Table>,
) {
    let says: Vec<&Statement> = data.printed(figure).flat_map(|printed| &printed.says).collect();
    let here = Here { figure, own: &setting.own().name, peers: &setting.peers() };
    let pes = data.paper(&figure.paper).pes();
    let x = |x: f64| match plots.first().map(|plot| plot.x) {
        Some(Axis::Pes) => format!("{x} {pes}"),
        Some(Axis::Bytes) => figures::bytes(x as u64),
        None => x.to_string(),
    };
    let row = |says: &&Statement| vec![spoken(says, x), here.to(says, plots)];
    // Tables stand below.
    let in_text = says.iter().filter(|says| !says.r#where.starts_with("Table"));
    let rows: Vec<Vec<String>> = in_text.map(row).collect();
    if (!plots.is_empty() || !tables.is_empty()) && !rows.is_empty() {
        let header = vec!["the paper".into(), "here".into()];
        let title = "What the paper's text says, and what this run says to it".into();
        tables.push(Table { title, header, rows });
    }
    for plot in plots {
        publish(plot, &says);
    }
    for printed in data.printed(figure).filter(|printed| !printed.rows.is_empty()) {
        let row = |row: &Vec<Cell>| row.iter().map(Cell::to_string).collect();
        let rows = printed.rows.iter().map(row).collect();
        let title = format!("As the paper has it: {}", printed.title);
        tables.push(Table { title, header: printed.columns.clone(), rows });
    }
}

/// Draws published figures of a plot's unit: points, and lines where the text says no size.
fn publish(plot: &mut Plot, says: &[&Statement]) {
    let place = |mark: &Mark| mark.x;
    let xs: Vec<f64> = plot.curves.iter().flat_map(|it| it.points.iter().map(place)).collect();
    for says in says.iter().filter(|says| plot.title.starts_with(&says.panel)) {
        let Some(y) = in_unit(says, plot.unit) else { continue };
        let ends = [
            xs.iter().copied().fold(f64::INFINITY, f64::min),
            xs.iter().copied().fold(0.0, f64::max),
        ];
        let xs = if says.x.is_empty() { &ends[..] } else { &says.x[..] };
        let points = xs.iter().map(|&x| Mark { x, y, bar: None });
        let label = format!("paper: {}", says.series);
        match plot.curves.iter_mut().find(|curve| curve.label == label) {
            Some(curve) => curve.points.extend(points),
            None => {
                let ink = Ink::Nth(plot.curves.len(), Shade::Full);
                plot.curves.push(Curve { label, ink, points: points.collect() });
            }
        }
    }
}

/// A published figure that is no comparison, in the unit of a plot.
fn in_unit(says: &Statement, unit: Unit) -> Option<f64> {
    let y = says.y.filter(|_| says.than.is_none())?;
    let factor = match (says.unit.as_deref()?, unit) {
        ("ns", Unit::Nanoseconds) | ("peers", Unit::Count) => 1.0,
        ("us", Unit::Nanoseconds) => 1e3,
        ("million messages/s", Unit::MegaOperations) => 1.0,
        _ => return None,
    };
    Some(y * factor)
}

/// A statement as a sentence, with an x as the paper has it.
fn spoken(says: &Statement, x: impl Fn(f64) -> String) -> String {
    let Statement { series, r#where, .. } = says;
    let mut text = match (says.is.as_deref(), says.than.as_deref()) {
        (Some("ahead"), Some(than)) => format!("{series} is ahead of {than}"),
        (Some("equal"), Some(than)) => format!("{series} is equal to {than}"),
        (Some(is @ ("behind" | "negligible")), Some(than)) => {
            format!("{series}: {is}, beside {than}")
        }
        (Some(is), Some(than)) => format!("{series}: {is} than {than}"),
        (Some(is), None) => format!("{series}: {is}"),
        (None, than) => {
            let op = match says.op.as_deref() {
                Some("~") => "about ",
                Some("max") => "up to ",
                Some("mean") => "on average ",
                Some(">" | ">=") => "at least ",
                Some("<") => "less than ",
                _ => "",
            };
            let (y, unit) = (says.y.unwrap_or_default(), says.unit.as_deref().unwrap_or_default());
            match (unit, than) {
                ("x", Some(than)) => format!("{series}: {op}{y} times as good as {than}"),
                ("%", Some(than)) => format!("{series}: {op}{y} % better than {than}"),
                ("% apart", Some(than)) => format!("{series}: {op}{y} % from {than}"),
                (_, Some(than)) => format!("{series}: {op}{y} {unit} than {than}"),
                (_, None) => format!("{series}: {op}{} {unit}", figures::number(y)),
            }
        }
    };
    match says.x[..] {
        [] => {}
        [one] => text += &format!(", at {}", x(one)),
        [from, to, ..] => text += &format!(", from {} to {}", x(from), x(to)),
    }
    for more in says.by.iter().chain(&says.at) {
        text += &format!("; {more}");
    }
    format!("{text} ({where})")
}

/// The results of this run.
struct Here<'a> {
    figure: &'a Figure,
    own: &'a str,
    peers: &'a [&'a str],
}

impl Here<'_> {
    /// The answer of the plots to a statement.
    fn to(&self, says: &Statement, plots: &[Plot]) -> String {
        let told: Vec<String> = plots
            .iter()
            .filter(|plot| plot.title.starts_with(&says.panel))
            .filter_map(|plot| Some(format!("{}: {}", plot.title, self.in_plot(says, plot)?)))
            .collect();
        if told.is_empty() { "not measured".into() } else { told.join(" | ") }
    }

    fn in_plot(&self, says: &Statement, plot: &Plot) -> Option<String> {
        let who = self.curves(&says.series, plot);
        if let (Some(_), [x]) = (in_unit(says, plot.unit), &says.x[..]) {
            return self.of_ours(plot, *x);
        }
        if let Some(than) = &says.than {
            let than = self.curves(than, plot);
            // At the bars' ends, if that is what is said.
            let worst = says.at.as_deref().is_some_and(|at| at.starts_with("maximum"));
            return compared(plot, &best(plot, &who, worst), &best(plot, &than, worst));
        }
        match says.is.as_deref()? {
            "equal" => apart(plot, &who),
            _ => joined(who.iter().filter_map(|curve| course(says, plot, curve))),
        }
    }

    /// Our own figures at an x.
    fn of_ours(&self, plot: &Plot, x: f64) -> Option<String> {
        let ours = plot.curves.iter().filter(|curve| curve.label.starts_with(self.own));
        joined(ours.filter_map(|curve| {
            let mark = curve.points.iter().find(|mark| mark.x == x)?;
            Some(format!("{} {}", curve.label, figures::figure(mark.y, plot.unit)))
        }))
    }

    /// The curves that a series of the paper is here.
    fn curves<'p>(&self, series: &str, plot: &'p Plot) -> Vec<&'p Curve> {
        let known = |series: &str| self.figure.series.get(series);
        let names: Vec<&String> = match known(series) {
            Some(name) => vec![name],
            None => series.split(", ").filter_map(known).collect(),
        };
        let is_peer = |curve: &Curve| self.peers.contains(&curve.label.as_str());
        let of_other = |curve: &Curve| is_peer(curve) || curve.ink == Ink::Raw;
        let is = |name: &str, curve: &Curve| match name {
            "*own" => !of_other(curve),
            // In figures of devices, the label is the form alone.
            name => curve.label == name || curve.label == format!("{}, {name}", self.own),
        };
        plot.curves.iter().filter(|curve| names.iter().any(|name| is(name, curve))).collect()
    }
}

/// Several phrases as one, if there are any.
fn joined(phrases: impl Iterator<Item = String>) -> Option<String> {
    let phrases: Vec<String> = phrases.collect();
    (!phrases.is_empty()).then(|| phrases.join("; "))
}

/// The best figure of several curves at each x.
fn best(plot: &Plot, curves: &[&Curve], worst: bool) -> Vec<(f64, f64)> {
    let mut found: Vec<(f64, f64)> = Vec::new();
    for mark in curves.iter().flat_map(|curve| &curve.points) {
        let y = mark.bar.filter(|_| worst).map_or(mark.y, |bar| bar.1);
        match found.iter_mut().find(|(x, _)| *x == mark.x) {
            Some((_, known)) if plot.unit.cost_ratio(y, *known) < 1.0 => *known = y,
            Some(_) => {}
            None => found.push((mark.x, y)),
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// An x as readers have it.
fn at(axis: Axis, x: f64) -> String {
    match axis {
        Axis::Bytes => figures::bytes(x as u64),
        Axis::Pes => format!("{x} PE{}", if x == 1.0 { "" } else { "s" }),
    }
}

/// Where one is ahead of the other, and by how much: `ahead from 8 B to 2 KiB (up to 1.40 times), equal at 4 KiB`.
fn compared(plot: &Plot, one: &[(f64, f64)], other: &[(f64, f64)]) -> Option<String> {
    // Of each stretch: what, first and last x, the most times.
    let mut stretches: Vec<(&str, f64, f64, f64)> = Vec::new();
    for &(x, y) in one {
        let Some(&(_, reference)) = other.iter().find(|(at, _)| *at == x) else { continue };
        let times = plot.unit.cost_ratio(reference, y);
        let what = match times {
            times if times > EQUAL => "ahead",
            times if times < 1.0 / EQUAL => "behind",
            _ => "equal",
        };
        let times = times.max(1.0 / times);
        match stretches.last_mut().filter(|last| last.0 == what) {
            Some((_, _, last, most)) => (*last, *most) = (x, most.max(times)),
            None => stretches.push((what, x, x, times)),
        }
    }
    let told = |&(what, from, to, times): &(&str, f64, f64, f64)| {
        let mut text = match from == to {
            true => format!("{what} at {}", at(plot.x, from)),
            false => format!("{what} from {} to {}", at(plot.x, from), at(plot.x, to)),
        };
        if what != "equal" {
            let up_to = if from == to { "" } else { "up to " };
            text += &format!(" ({up_to}{} times)", figures::ratio(times));
        }
        text
    };
    if stretches.len() <= FEW {
        return joined(stretches.iter().map(told));
    }
    // They change places often: how often, and how much at most.
    let kind = |kind: &str| {
        let those = || stretches.iter().filter(|stretch| stretch.0 == kind);
        let most = those().map(|stretch| stretch.3).reduce(f64::max)?;
        let up_to =
            if kind == "equal" { "" } else { &format!(" (up to {} times)", figures::ratio(most)) };
        let plural = if those().count() == 1 { "" } else { "es" };
        Some(format!("{kind} in {} stretch{plural}{up_to}", those().count()))
    };
    joined(["ahead", "behind", "equal"].into_iter().filter_map(kind))
}

/// How far curves are from each other at most, of two or more.
fn apart(plot: &Plot, curves: &[&Curve]) -> Option<String> {
    if curves.iter().filter(|curve| !curve.points.is_empty()).count() < 2 {
        return None;
    }
    let lowest = best(plot, curves, false);
    let times = |mark: &Mark| {
        let &(_, best) = lowest.iter().find(|(x, _)| *x == mark.x)?;
        Some((plot.unit.cost_ratio(mark.y, best), mark.x))
    };
    let all = curves.iter().flat_map(|curve| &curve.points).filter_map(times);
    let (most, x) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("up to {} times apart, at {}", figures::ratio(most), at(plot.x, x)))
}

/// The course of a curve, in the range of the statement if there is any of it.
fn course(says: &Statement, plot: &Plot, curve: &Curve) -> Option<String> {
    let within = |mark: &&Mark| match says.x[..] {
        [from, to] => (from..=to).contains(&mark.x),
        _ => true,
    };
    let points: Vec<&Mark> = curve.points.iter().filter(within).collect();
    let [first, .., last] = points[..] else { return None };
    let [from, to] = [first, last]
        .map(|mark| format!("{} at {}", figures::figure(mark.y, plot.unit), at(plot.x, mark.x)));
    Some(format!("{} from {from} to {to}", curve.label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(curves: &[(&str, [f64; 3])]) -> Plot {
        let curve = |(nth, (label, ys)): (usize, &(&str, [f64; 3]))| Curve {
            label: (*label).into(),
            ink: Ink::Nth(nth, Shade::Full),
            points: [8.0, 64.0, 4096.0]
                .iter()
                .zip(ys)
                .map(|(&x, &y)| Mark { x, y, bar: Some((y, 10.0 * y)) })
                .collect(),
        };
        let curves = curves.iter().enumerate().map(curve).collect();
        Plot { title: "t".into(), x: Axis::Bytes, unit: Unit::Nanoseconds, curves }
    }

    #[test]
    fn where_one_is_ahead() {
        let plot = plot(&[("a", [10.0, 20.0, 30.0]), ("b", [20.0, 30.0, 10.0])]);
        let [a, b] = [0, 1].map(|n| best(&plot, &[&plot.curves[n]], false));
        let told = compared(&plot, &a, &b).unwrap();
        assert_eq!(told, "ahead from 8 B to 64 B (up to 2.00 times); behind at 4 KiB (3.00 times)");
        let crossing =
            |ys: [f64; 5]| ys.iter().zip(1..).map(|(y, x)| (f64::from(x), *y)).collect::<Vec<_>>();
        let often = compared(&plot, &crossing([1.0, 4.0, 1.0, 4.0, 2.0]), &crossing([2.0; 5]));
        let counted = "ahead in 2 stretches (up to 2.00 times); behind in 2 stretches (up to 2.00 times); equal in 1 stretch";
        assert_eq!(often.as_deref(), Some(counted));
        assert_eq!(compared(&plot, &a, &a).unwrap(), "equal from 8 B to 4 KiB");
        assert_eq!(compared(&plot, &a, &[]), None);
        let both: Vec<&Curve> = plot.curves.iter().collect();
        assert_eq!(apart(&plot, &both).unwrap(), "up to 3.00 times apart, at 4 KiB");
        assert_eq!(best(&plot, &both, true)[2], (4096.0, 100.0));
    }

    #[test]
    fn statements_beside_what_was_measured() {
        let data = Data::read().unwrap();
        let figure = data.figures.iter().find(|it| it.paper == "mapping" && it.number == "5");
        let figure = figure.unwrap();
        let mut plot = plot(&[("mine, memfd", [10.0; 3]), ("mine, SMARTMAP", [11.0; 3])]);
        let here = Here { figure, own: "mine", peers: &[] };
        let says: Vec<&Statement> = data.printed(figure).flat_map(|it| &it.says).collect();
        let claim = |is: &str| *says.iter().find(|says| says.is.as_deref() == Some(is)).unwrap();
        let plots = [Plot { curves: Vec::new(), ..self::plot(&[]) }];
        assert_eq!(here.to(claim("ahead"), &plots), "not measured");
        let told = here.in_plot(claim("equal"), &plot).unwrap();
        assert_eq!(told, "up to 1.10 times apart, at 4 KiB");
        publish(&mut plot, &says);
        let paper = plot.curves.iter().find(|curve| curve.label.starts_with("paper: MPI")).unwrap();
        assert_eq!((paper.points[0].x, paper.points[0].y), (16.0, 600.0));
        assert!(
            spoken(says[1], |x| format!("{x} B"))
                .starts_with("MPI on Cray XE6: about 600 ns, at 16 B")
        );
    }
}
