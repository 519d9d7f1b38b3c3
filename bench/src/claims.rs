//! A paper's statements beside the results here: its numbers as points in the pictures, and a table of all that its
//! text says, each with what this run has to say to it.

use oneshmem_plots::figures;
use oneshmem_plots::plot::{Axis, Curve, Ink, Mark, Plot, Shade};

use crate::curves::Table;
use crate::data::{Answer, Data, Figure, Setting, Statement};

/// Where curves change places more often, the extremes are told.
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
    // What a table of the paper says stands there.
    let in_text = says.iter().filter(|says| !says.text.is_empty());
    let rows: Vec<_> = in_text.map(|says| vec![says.text.clone(), here.to(says, plots)]).collect();
    if (!plots.is_empty() || !tables.is_empty()) && !rows.is_empty() {
        let header = vec!["the paper".into(), "here".into()];
        let title = "What the paper's text says, and what this run says to it".into();
        tables.push(Table { title, header, rows });
    }
    for plot in plots {
        publish(plot, &says);
    }
    for printed in data.printed(figure).filter(|printed| !printed.rows.is_empty()) {
        let title = format!("As the paper has it: {}", printed.title);
        let (header, rows) = (printed.columns.clone(), printed.rows.clone());
        tables.push(Table { title, header, rows });
    }
}

/// Draws published figures of a plot's unit: points, and lines where the text says no size.
fn publish(plot: &mut Plot, says: &[&Statement]) {
    let place = |mark: &Mark| mark.x;
    let xs: Vec<f64> = plot.curves.iter().flat_map(|it| it.points.iter().map(place)).collect();
    let ends =
        [xs.iter().copied().fold(f64::INFINITY, f64::min), xs.into_iter().fold(0.0, f64::max)];
    let of_plot = |says: &&&Statement| says.is_of(plot) && says.unit == Some(plot.unit);
    for says in says.iter().filter(of_plot).collect::<Vec<_>>() {
        let xs = if says.x.is_empty() { &ends[..] } else { &says.x[..] };
        let points = xs.iter().filter_map(|&x| Some(Mark { x, y: says.y?, bar: None }));
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

impl Statement {
    /// Whether it is about what this plot shows.
    fn is_of(&self, plot: &Plot) -> bool {
        plot.title.starts_with(&self.panel)
    }
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
        let about = plots.iter().filter(|plot| says.is_of(plot));
        let told: Vec<String> = about
            .filter_map(|plot| Some(format!("{}: {}", plot.title, self.in_plot(says, plot)?)))
            .collect();
        if told.is_empty() { "not measured".into() } else { told.join(" | ") }
    }

    fn in_plot(&self, says: &Statement, plot: &Plot) -> Option<String> {
        let who = self.curves(&says.series, plot);
        if let Some(than) = &says.than {
            let of = |curves: &[&Curve]| best(plot, curves, says.worst);
            return compared(plot, &of(&who), &of(&self.curves(than, plot)));
        }
        let told = |curves: &[&Curve]| {
            joined(curves.iter().filter_map(|curve| course(&says.x, plot, curve)))
        };
        match says.shows {
            Some(Answer::Distance) => apart(plot, &who),
            Some(Answer::Course) => told(&who),
            // Whosever figure it is, ours stands beside it.
            None if says.unit == Some(plot.unit) => told(&self.curves("*own", plot)),
            None => None,
        }
    }

    /// The curves that a series of the paper is here.
    fn curves<'p>(&self, series: &str, plot: &'p Plot) -> Vec<&'p Curve> {
        let known = |series| self.figure.series.get(series).map(String::as_str);
        let names: Vec<&str> = match known(series) {
            Some(name) => vec![name],
            None if series == "*own" => vec![series],
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
    let verdict = |&(x, y): &(f64, f64)| {
        let &(_, reference) = other.iter().find(|(at, _)| *at == x)?;
        let times = plot.unit.cost_ratio(reference, y);
        let what = match times {
            times if times > EQUAL => "ahead",
            times if times < 1.0 / EQUAL => "behind",
            _ => "equal",
        };
        Some((what, x, times.max(1.0 / times)))
    };
    let most = |verdicts: &[(&str, f64, f64)], what| {
        let those = verdicts.iter().filter(|verdict| verdict.0 == what);
        figures::ratio(those.map(|verdict| verdict.2).fold(1.0, f64::max))
    };
    let verdicts: Vec<_> = one.iter().filter_map(verdict).collect();
    let stretches: Vec<_> = verdicts.chunk_by(|one, next| one.0 == next.0).collect();
    if stretches.len() > FEW {
        let [ahead, behind] = ["ahead", "behind"].map(|what| most(&verdicts, what));
        let count = stretches.len();
        return Some(format!("{count} stretches: ahead {ahead} times at most, behind {behind}"));
    }
    joined(stretches.iter().filter_map(|stretch| {
        let (&(what, from, _), &(_, to, _)) = (stretch.first()?, stretch.last()?);
        let (from, to) = (at(plot.x, from), at(plot.x, to));
        let most = most(stretch, what);
        Some(match (what, stretch.len()) {
            ("equal", 1) => format!("equal at {from}"),
            ("equal", _) => format!("equal from {from} to {to}"),
            (_, 1) => format!("{what} at {from} ({most} times)"),
            _ => format!("{what} from {from} to {to} (up to {most} times)"),
        })
    }))
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

/// The course of a curve: at this x, or from the first to the second, or all of it.
fn course(x: &[f64], plot: &Plot, curve: &Curve) -> Option<String> {
    let within = |mark: &&Mark| match *x {
        [one] => mark.x == one,
        [from, to] => (from..=to).contains(&mark.x),
        _ => true,
    };
    let points: Vec<&Mark> = curve.points.iter().filter(within).collect();
    let told =
        |mark: &Mark| format!("{} at {}", figures::figure(mark.y, plot.unit), at(plot.x, mark.x));
    let phrase = match points[..] {
        [] => return None,
        [one] => told(one),
        [first, .., last] => format!("from {} to {}", told(first), told(last)),
    };
    Some(format!("{} {phrase}", curve.label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshmem_plots::Unit;

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
        let counted = "5 stretches: ahead 2.00 times at most, behind 2.00";
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
        let plots = [Plot { curves: Vec::new(), ..self::plot(&[]) }];
        assert_eq!(here.to(says[3], &plots), "not measured");
        let told = here.in_plot(says[2], &plot).unwrap();
        assert_eq!(told, "up to 1.10 times apart, at 4 KiB");
        let told = |x: &[f64]| course(x, &plot, &plot.curves[0]).unwrap();
        assert_eq!(told(&[64.0]), "mine, memfd 10.0 ns at 64 B");
        assert_eq!(told(&[]), "mine, memfd from 10.0 ns at 8 B to 10.0 ns at 4 KiB");
        publish(&mut plot, &says);
        let paper = plot.curves.iter().find(|curve| curve.label.starts_with("paper: MPI")).unwrap();
        assert_eq!((paper.points[0].x, paper.points[0].y), (16.0, 600.0));
    }
}
