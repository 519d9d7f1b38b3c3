//! `oshbench figures`: the figures and tables of the papers behind this library, measured anew.
//!
//! A figure is data: who runs which programs, and which of their figures are drawn. Each paper has a module,
//! `applications` and `init` run what is not a program of the suite, `draw` makes pictures, tables and
//! files of all.

mod applications;
mod draw;
mod init;
mod list;
mod mapping;
mod ondemand;
mod oshmpi;
mod page;
mod partitions;
mod shcoll;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use oneshmem_plots::plot::Plot;
use serde::Serialize;

use crate::curves::Panel;
use crate::execute;
use crate::implementation::Implementation;
use crate::over::Over;
use crate::plan::{Comparison, Extent};
use crate::report::Point;

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
    /// Why there are no emulated nodes, if there are none.
    pub no_nodes: Option<String>,
}

/// A paper.
pub struct Paper {
    /// Its name on the command line.
    pub key: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Authors, conference and year.
    pub by: &'static str,
    /// What it shows that no machine of this project can, and why.
    pub absent: &'static [&'static str],
    /// Its figures and tables, in order.
    pub figures: fn(&Setting) -> anyhow::Result<Vec<Figure>>,
}

/// A figure or table of a paper.
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// How it is measured, and what differs from the paper.
    pub caption: String,
    /// What the paper says, where it prints it.
    pub published: &'static str,
    /// What it is made of.
    pub content: Content,
}

/// What a figure is made of.
pub enum Content {
    /// Programs of the suite.
    Measured {
        /// Who runs them.
        who: Vec<Implementation>,
        /// What they run.
        groups: Vec<Comparison>,
        /// What is drawn of it.
        panels: Vec<Panel>,
    },
    /// Something else.
    Made(Box<Make>),
    /// It cannot be drawn here, and why.
    Missing(String),
}

type Make = dyn Fn(&Setting) -> anyhow::Result<Drawing>;

impl Content {
    fn made(make: impl Fn(&Setting) -> anyhow::Result<Drawing> + 'static) -> Self {
        Self::Made(Box::new(make))
    }
}

/// A figure that has been drawn.
#[derive(Default)]
pub struct Drawing {
    /// Its plots.
    pub plots: Vec<Plot>,
    /// Its tables: a title, a header and rows.
    pub tables: Vec<Table>,
    /// What went wrong, or is missing.
    pub remarks: Vec<String>,
    /// Its data.
    pub points: Vec<Point>,
    /// Where another implementation is ahead.
    pub behind: String,
}

/// A table of a figure.
#[derive(Serialize)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// The header.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// The papers.
pub fn papers() -> &'static [Paper] {
    &list::PAPERS
}

impl Setting {
    /// Our own implementation.
    pub fn own(&self) -> &Implementation {
        &self.implementations[0]
    }

    /// All implementations, with jobs over two emulated nodes.
    pub fn over_nodes(&self) -> anyhow::Result<Vec<Implementation>> {
        let over = |who: &Implementation| {
            let bin = who.commands()?;
            Ok(Implementation { over: Some(Over::of(bin)?), ..who.clone() })
        };
        self.implementations.iter().map(over).collect()
    }

    /// What these make over two emulated nodes, if there are nodes.
    fn on_two_nodes(
        &self,
        make: impl FnOnce(Vec<Implementation>) -> Content,
    ) -> anyhow::Result<Content> {
        match &self.no_nodes {
            Some(why) => Ok(Content::Missing(why.clone())),
            None => Ok(make(self.over_nodes()?)),
        }
    }
}

/// The figures that the command line names: paper and number, or all.
pub fn chosen(
    setting: &Setting,
    key: Option<&str>,
    number: Option<usize>,
) -> anyhow::Result<Vec<(&'static Paper, usize, Figure)>> {
    let known = || papers().iter().map(|paper| paper.key).collect::<Vec<_>>().join(", ");
    let mut found = Vec::new();
    for paper in papers().iter().filter(|paper| key.is_none_or(|key| paper.key == key)) {
        let figures = (paper.figures)(setting)?;
        let count = figures.len();
        found.extend(
            figures
                .into_iter()
                .zip(1..)
                .filter(|(_, n)| number.is_none_or(|number| number == *n))
                .map(|(figure, n)| (paper, n, figure)),
        );
        if let (true, Some(number)) = (found.is_empty(), number) {
            bail!("{} has no figure {number}: expected 1 to {count}", paper.key);
        }
    }
    match (found.is_empty(), key) {
        (true, Some(key)) => bail!("there is no paper {key}: expected one of {}", known()),
        _ => Ok(found),
    }
}

/// The list of all figures, for readers.
pub fn listed(figures: &[(&Paper, usize, Figure)]) -> String {
    let mut text = String::new();
    for of_paper in figures.chunk_by(|one, next| one.0.key == next.0.key) {
        let paper = of_paper[0].0;
        text += &format!("{}: {} ({})\n", paper.key, paper.title, paper.by);
        for (_, number, figure) in of_paper {
            text += &format!("  {} {number}  {}", paper.key, figure.title);
            if let Content::Missing(why) = &figure.content {
                text += &format!(" (not here: {why})");
            }
            text += "\n";
        }
        for what in paper.absent {
            text += &format!("  not here: {what}\n");
        }
    }
    text
}

/// Draws figures and writes them: a page, and pictures and data beside it. Returns what to print.
pub fn draw(
    setting: &Setting,
    figures: Vec<(&'static Paper, usize, Figure)>,
) -> anyhow::Result<(String, bool)> {
    let mut sections = Vec::new();
    let (mut text, mut fails) = (String::new(), false);
    let all = figures.len();
    for (nth, (paper, number, figure)) in figures.into_iter().enumerate() {
        eprintln!("{} of {all}: {} {number}, {}", nth + 1, paper.key, figure.title);
        let (mut drawing, failed) = match &figure.content {
            Content::Measured { who, groups, panels } => {
                draw::measure(setting, who, groups, panels)?
            }
            Content::Made(make) => match make(setting) {
                Ok(drawing) => (drawing, false),
                Err(error) => {
                    let remarks = vec![format!("Failed: {error:#}")];
                    (Drawing { remarks, ..Drawing::default() }, true)
                }
            },
            Content::Missing(why) => (
                Drawing { remarks: vec![format!("Not here: {why}.")], ..Drawing::default() },
                false,
            ),
        };
        fails |= failed;
        // A picture may stand without its page.
        for plot in drawing.plots.iter_mut().filter(|_| setting.extent != Extent::Full) {
            plot.title += &format!(" ({})", scaled(setting.extent));
        }
        let files = draw::write(setting, paper.key, number, &drawing)?;
        text += &format!("{} {number}, {}: {files}\n", paper.key, figure.title);
        for remark in &drawing.remarks {
            text += &format!("  {remark}\n");
        }
        if !drawing.behind.is_empty() {
            text += &format!("  {}", drawing.behind);
        }
        sections.push((paper, number, figure, drawing));
    }
    let page = setting.work.join("figures.html");
    std::fs::write(&page, page::render(setting, &sections)?)
        .with_context(|| format!("cannot write {}", page.display()))?;
    text += &format!("Written: {}", page.display());
    Ok((text, fails))
}

/// Whether the extent is not the papers'.
pub fn scaled(extent: Extent) -> &'static str {
    match extent {
        Extent::Full => "",
        Extent::Quick => "scaled down: --quick",
        Extent::Tiny => "scaled down: --tiny",
    }
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
