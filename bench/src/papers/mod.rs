//! `oshbench figures`: the figures and tables of the papers behind this library, measured anew.
//!
//! `figures.toml` says what runs and what is drawn of it, `papers.toml` what the papers say; `data` reads both,
//! `measure` runs programs of the suite, `applications`, `init`, `instructions` and `device` what is none, `claims`
//! sets what a paper says beside what came out, and `page` writes.

mod applications;
mod claims;
mod data;
mod device;
mod init;
mod instructions;
mod measure;
mod page;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use oneshmem_plots::plot::Plot;
use serde::Serialize;

pub use self::data::{Data, Figure};
use self::data::{Made, Place, slug};
use crate::execute;
use crate::implementation::Implementation;
use crate::noise::Watch;
use crate::over::Over;
use crate::plan::{Comparison, Extent};
use crate::report::Point;
use crate::suite::Suite;
use crate::table;

/// What the figures are drawn of.
pub struct Setting {
    /// The implementations, our own first.
    pub implementations: Vec<Implementation>,
    /// The same library with SMARTMAP's addresses, if it has been built.
    pub smartmap: Option<Implementation>,
    /// How much to run.
    pub extent: Extent,
    /// How often to run everything.
    pub repeats: usize,
    /// The folder of the suite's programs.
    pub sources: PathBuf,
    /// The folder of the examples.
    pub examples: PathBuf,
    /// The folder of whole applications.
    pub apps: PathBuf,
    /// Where to build and to write.
    pub work: PathBuf,
    /// The CPUs in the order of pinning.
    pub cpus: Vec<usize>,
    /// The number of PEs that is used where there would be as many as CPUs.
    pub pes: Option<usize>,
    /// Why there are no emulated nodes, if there are none.
    pub no_nodes: Option<String>,
}

/// What was drawn, a figure or a part of one.
#[derive(Default)]
pub struct Drawing {
    /// Its plots.
    pub plots: Vec<Plot>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// What went wrong, or is missing.
    pub remarks: Vec<String>,
    /// Its data.
    pub points: Vec<Placed>,
    /// Whether anything of ours failed.
    pub failed: bool,
}

/// A point and where it was measured: `node` or `nodes`.
#[derive(Serialize)]
pub struct Placed {
    /// Where.
    pub place: Place,
    /// The point.
    #[serde(flatten)]
    pub point: Point,
}

/// A table of a figure.
#[derive(Debug, PartialEq, Serialize)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// The header.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Drawing {
    /// Of one table.
    fn of_table(table: Table) -> Self {
        Self { tables: vec![table], ..Self::default() }
    }

    /// That something could not be drawn, and why.
    fn without(why: String) -> Self {
        Self { remarks: vec![why], ..Self::default() }
    }

    fn add(&mut self, part: Self) {
        self.plots.extend(part.plots);
        self.tables.extend(part.tables);
        self.points.extend(part.points);
        let new = part.remarks.into_iter().filter(|remark| !self.remarks.contains(remark));
        self.remarks.extend(new.collect::<Vec<_>>());
        self.failed |= part.failed;
    }
}

impl Setting {
    /// Our own implementation.
    fn own(&self) -> &Implementation {
        &self.implementations[0]
    }

    /// The names of the other implementations.
    fn peers(&self) -> Vec<&str> {
        self.implementations[1..].iter().map(|who| who.name.as_str()).collect()
    }

    /// One of three values, by extent.
    fn by<T>(&self, full: T, quick: T, tiny: T) -> T {
        match self.extent {
            Extent::Full => full,
            Extent::Quick => quick,
            Extent::Tiny => tiny,
        }
    }

    /// As many PEs as CPUs, at least 2, or as many as were asked for.
    fn everybody(&self) -> usize {
        self.pes.unwrap_or(self.cpus.len().clamp(2, 64))
    }

    /// The PEs of a job of applications.
    fn some(&self) -> usize {
        self.by(8, 8, 2)
    }

    /// Our own implementation with a setting, under a label.
    fn own_with(&self, label: &str, environment: &[(&str, &str)]) -> Implementation {
        self.own().variant(format!("{}, {label}", self.own().name), environment)
    }

    /// These with jobs over two emulated nodes.
    pub fn over_nodes(&self, who: Vec<Implementation>) -> anyhow::Result<Vec<Implementation>> {
        let over = |who: Implementation| {
            let over = Some(Over::of(who.commands()?)?);
            Ok(Implementation { over, ..who })
        };
        who.into_iter().map(over).collect()
    }

    /// These programs, for these implementations.
    fn suite(&self, implementations: Vec<Implementation>, groups: Vec<Comparison>) -> Suite {
        Suite {
            implementations,
            extent: self.extent,
            repeats: self.repeats,
            limit: None,
            pins: true,
            groups,
            only: Vec::new(),
            sources: self.sources.clone(),
            work: self.work.clone(),
        }
    }

    /// A set of `suite.toml`.
    pub fn set(&self, data: &Data, name: &str) -> Suite {
        let of = |figure: &Figure| {
            let part = |part| measure::experiments(self, figure, part);
            figure.parts.iter().map(part).collect::<Vec<_>>()
        };
        self.suite(self.implementations.clone(), data.set(name).flat_map(of).collect())
    }

    /// A text of `figures.toml` with what depends on this setting.
    fn fill(&self, text: &str, figure: &Figure) -> String {
        let cache = crate::machine::last_cache().unwrap_or(8 << 20);
        let mut text = text.to_owned();
        for (name, value) in [
            ("{messages}", self.by(1000, 1000, 50).to_string()),
            // Enough for time slices to show.
            ("{long}", (20.0 * self.extent.ms()).to_string()),
            // The runs add up to the paper's iterations. A pass over a large cache takes most of their time.
            ("{iterations}", self.by(4096usize.div_ceil(self.repeats), 16, 2).to_string()),
            ("{cache}", cache.to_string()),
            ("{pes}", self.some().to_string()),
            ("{size}", figure.size(self).unwrap_or_default().to_string()),
        ] {
            text = text.replace(name, &value);
        }
        text
    }

    /// What is said of a scaled-down extent.
    fn scaled(&self) -> &'static str {
        self.by("", "scaled down: --quick", "scaled down: --tiny")
    }
}

/// The figures that the command line names: paper and number, or all.
pub fn chosen<'a>(
    data: &'a Data,
    key: Option<&str>,
    number: Option<&str>,
) -> anyhow::Result<Vec<&'a Figure>> {
    let of_paper: Vec<&Figure> =
        data.figures.iter().filter(|figure| key.is_none_or(|key| figure.paper == key)).collect();
    if let (true, Some(key)) = (of_paper.is_empty(), key) {
        let known: Vec<&str> = data.papers.iter().map(|paper| paper.key.as_str()).collect();
        bail!("there is no paper {key}: expected one of {}", known.join(", "));
    }
    let Some(number) = number else { return Ok(of_paper) };
    let is_it = |figure: &&&Figure| figure.numbers().any(|its| slug(its) == slug(number));
    let found: Vec<&Figure> = of_paper.iter().filter(is_it).copied().collect();
    if found.is_empty() {
        let known: Vec<String> = of_paper.iter().map(|figure| slug(&figure.number)).collect();
        let key = &of_paper[0].paper;
        bail!("{key} has no figure {number} here: expected one of {}", known.join(", "));
    }
    Ok(found)
}

/// The list of all figures, for readers.
pub fn listed(data: &Data, setting: &Setting, figures: &[&Figure]) -> String {
    let mut text = String::new();
    for of_paper in figures.chunk_by(|one, next| one.paper == next.paper) {
        let paper = data.paper(&of_paper[0].paper);
        text += &format!("{}: {} ({})\n", paper.key, paper.title, paper.by());
        for figure in of_paper {
            text += &format!("  {} {}  {}", paper.key, slug(&figure.number), figure.title);
            if let Some(why) = figure.impossible(setting) {
                text += &format!(" (not here: {why})");
            }
            text += "\n";
        }
        for what in data.absent(&paper.key) {
            text += &format!("  not here: {what}\n");
        }
    }
    text
}

/// Draws figures and writes them: a page, and pictures and data beside it. Returns what to print, and whether
/// anything of ours failed.
pub fn draw(data: &Data, setting: &Setting, figures: &[&Figure]) -> anyhow::Result<(String, bool)> {
    // A page of an earlier run is not this one's.
    let page = setting.work.join("figures.html");
    if page.exists() {
        std::fs::remove_file(&page).with_context(|| format!("cannot remove {}", page.display()))?;
    }
    let mut sections = Vec::new();
    let (mut text, mut fails) = (String::new(), false);
    for (nth, figure) in figures.iter().enumerate() {
        let name = format!("{} {}", figure.paper, figure.number);
        eprintln!("{} of {}: {name}, {}", nth + 1, figures.len(), figure.title);
        let watch = Watch::start();
        let mut drawing = draw_one(setting, figure);
        let points = drawing.points.iter().map(|placed| &placed.point);
        let quietness = table::quietness(&watch.end(), points);
        drawing.remarks.push(quietness);
        claims::beside(data, setting, figure, &mut drawing);
        // A picture may stand without its page.
        for plot in drawing.plots.iter_mut().filter(|_| setting.extent != Extent::Full) {
            plot.title += &format!(" ({})", setting.scaled());
        }
        fails |= drawing.failed;
        let files = page::write(setting, figure, &drawing)?;
        text += &format!("{name}, {}: {files}\n", figure.title);
        for remark in &drawing.remarks {
            text += &format!("  {remark}\n");
        }
        sections.push((*figure, drawing));
    }
    std::fs::write(&page, page::render(data, setting, &sections)?)
        .with_context(|| format!("cannot write {}", page.display()))?;
    text += &format!("Written: {}", page.display());
    Ok((text, fails))
}

/// Draws a figure. What fails is said, and the others go on.
fn draw_one(setting: &Setting, figure: &Figure) -> Drawing {
    let mut whole = Drawing::default();
    let failed = |error: anyhow::Error| Drawing {
        failed: true,
        ..Drawing::without(format!("Failed: {error:#}"))
    };
    for part in &figure.parts {
        whole.add(measure::part(setting, figure, part).unwrap_or_else(failed));
    }
    let made = match &figure.made {
        None => return whole,
        Some(Made::Steps { attach, pes }) => init::steps(setting, attach, pes),
        Some(Made::Times) => applications::times(setting),
        Some(Made::Peers { pes }) => applications::peers(setting, pes),
        Some(Made::Instructions) => instructions::draw(setting),
        Some(Made::Latency { what }) => device::latency(setting, what),
        Some(Made::Scaling { program, rate, stripes, .. }) => {
            let size = figure.size(setting).unwrap_or_default();
            device::scaling(setting, program, size, *rate, *stripes)
        }
    };
    whole.add(made.unwrap_or_else(failed));
    whole
}

fn cells(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Runs a command that has to succeed. Returns what it printed.
fn run(setting: &Setting, command: &mut Command, what: &str) -> anyhow::Result<execute::Outcome> {
    let outcome = execute::run(command, &setting.work, Duration::from_secs(300))?;
    if !outcome.success() {
        bail!("{what} {}", outcome.reason());
    }
    Ok(outcome)
}
