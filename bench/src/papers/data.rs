//! `figures.toml`, `suite.toml` and `papers.toml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Setting, device};
use crate::curves::{Bars, Panel, Statistic};
use crate::plan::Extent;

/// All files.
pub struct Data {
    /// The papers.
    pub papers: Vec<Paper>,
    /// What we draw of them.
    pub figures: Vec<Figure>,
    suite: Vec<Figure>,
    machines: BTreeMap<String, String>,
    printed: Vec<Printed>,
    absent: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PapersFile {
    paper: Vec<Paper>,
    machine: BTreeMap<String, String>,
    figure: Vec<Printed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FiguresFile {
    #[serde(default)]
    absent: BTreeMap<String, Vec<String>>,
    figure: Vec<Figure>,
}

/// A paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its name on the command line.
    pub key: String,
    /// Its title.
    pub title: String,
    authors: Vec<String>,
    venue: String,
    /// What its figures count where ours count PEs.
    #[serde(default = "pes")]
    pub pes: String,
}

fn pes() -> String {
    "PEs".into()
}

impl Paper {
    /// Authors and venue.
    pub fn by(&self) -> String {
        format!("{}; {}", self.authors.join(", "), self.venue)
    }
}

/// A figure or table as the paper has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    paper: String,
    number: String,
    /// Its title, in our words.
    pub title: String,
    machine: Vec<String>,
    benchmark: Option<String>,
    statistic: Option<String>,
    /// Numbers and claims in the text.
    #[serde(default)]
    pub says: Vec<Statement>,
    /// The header of a table.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The rows of a table.
    #[serde(default)]
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A word.
    Word(String),
    /// A number.
    Number(f64),
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// A number or a claim: `papers.toml` explains it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub series: String,
    pub than: Option<String>,
    #[serde(default)]
    pub x: Vec<f64>,
    pub op: Option<String>,
    pub y: Option<f64>,
    pub unit: Option<String>,
    pub is: Option<String>,
    pub at: Option<String>,
    pub by: Option<String>,
    pub r#where: String,
    #[serde(default)]
    pub panel: String,
}

/// A figure of ours: `figures.toml` explains it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    #[serde(alias = "set")]
    pub paper: String,
    #[serde(default)]
    pub number: String,
    pub title: String,
    pub caption: String,
    #[serde(default)]
    pub differs: String,
    #[serde(default)]
    pub beside: Vec<String>,
    #[serde(default)]
    pub series: BTreeMap<String, String>,
    #[serde(default, rename = "part")]
    pub parts: Vec<Part>,
    pub made: Option<Made>,
}

/// One program of the suite in one place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    #[serde(default)]
    pub place: Place,
    #[serde(default = "all")]
    pub who: String,
    pub program: String,
    pub raw: Option<String>,
    #[serde(default)]
    pub arguments: Vec<String>,
    #[serde(default)]
    pub whole_job: bool,
    pes: Pes,
    bytes: Option<[u64; 2]>,
    step: Option<u64>,
    #[serde(default)]
    sizes: Vec<u64>,
    #[serde(default)]
    pub statistic: Statistic,
    #[serde(default)]
    bars: Bars,
    #[serde(default)]
    panels: Vec<Panel>,
    #[serde(default)]
    pub table: Vec<String>,
}

/// Where a program runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// On one node.
    #[default]
    Node,
    /// Over two emulated nodes.
    Nodes,
}

/// Numbers of PEs.
#[derive(Deserialize)]
#[serde(untagged)]
enum Pes {
    One(usize),
    Several(Vec<usize>),
    /// "cpus", "crowd" or "crowds".
    ByMachine(String),
}

/// What is not a program of the suite.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Made {
    Steps {
        attach: String,
        pes: Vec<usize>,
    },
    Times,
    Peers {
        pes: Vec<usize>,
    },
    Instructions,
    Latency {
        what: String,
    },
    /// The sizes are those of the full, the quick and the tiny extent.
    Scaling {
        program: String,
        size: [usize; 3],
        #[serde(default)]
        rate: bool,
        #[serde(default)]
        stripes: bool,
    },
}

fn all() -> String {
    "all".into()
}

/// A number of a figure on the command line and in names of files: `5a`, `table-1`.
pub fn slug(number: &str) -> String {
    number.to_lowercase().replace(' ', "-")
}

impl Data {
    /// Reads the files, which are part of this command.
    pub fn read() -> anyhow::Result<Self> {
        let papers: PapersFile = toml::from_str(include_str!("../../papers.toml"))?;
        let figures: FiguresFile = toml::from_str(include_str!("../../figures.toml"))?;
        let suite: FiguresFile = toml::from_str(include_str!("../../suite.toml"))?;
        Ok(Self {
            papers: papers.paper,
            figures: figures.figure,
            suite: suite.figure,
            machines: papers.machine,
            printed: papers.figure,
            absent: figures.absent,
        })
    }

    /// What a set of the suite measures.
    pub fn set<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Figure> + Clone {
        self.suite.iter().filter(move |figure| figure.paper == name)
    }

    /// A paper.
    pub fn paper(&self, key: &str) -> &Paper {
        self.papers.iter().find(|paper| paper.key == key).expect("a test looks for all of them")
    }

    /// What a paper shows that cannot be here, and why.
    pub fn absent(&self, key: &str) -> &[String] {
        self.absent.get(key).map_or(&[], Vec::as_slice)
    }

    /// What the paper has: the figure itself, and tables beside it.
    pub fn printed<'a>(&'a self, figure: &'a Figure) -> impl Iterator<Item = &'a Printed> {
        let of_paper = move |number| {
            let is_it = move |it: &&Printed| it.paper == figure.paper && it.number == number;
            self.printed.iter().find(is_it)
        };
        figure.numbers().filter_map(of_paper)
    }

    /// How a figure was made in the paper, as sentences.
    pub fn describe(&self, printed: &Printed) -> String {
        let kind = if printed.number.starts_with("Table") { "" } else { "Figure " };
        let mut text = format!("{kind}{}: {}. ", printed.number, printed.title);
        text += printed.benchmark.as_deref().unwrap_or_default();
        if let Some(statistic) = &printed.statistic {
            text += &format!(" Reported: {statistic}.");
        }
        let machine = |key| self.machines.get(key).map(String::as_str);
        let machines: Vec<&str> = printed.machine.iter().filter_map(machine).collect();
        text + &format!(" On {}.", machines.join(" | "))
    }
}

impl Figure {
    /// Its number and those of the tables beside it, each once.
    pub fn numbers(&self) -> impl Iterator<Item = &str> {
        let beside = self.beside.iter().filter(|number| **number != self.number);
        std::iter::once(&self.number).chain(beside).map(String::as_str)
    }

    /// The size of its problem, if it has one.
    pub fn size(&self, setting: &Setting) -> Option<usize> {
        match self.made {
            Some(Made::Scaling { size: [full, quick, tiny], .. }) => {
                Some(setting.by(full, quick, tiny))
            }
            _ => None,
        }
    }

    /// Why nothing of it can be drawn here, if nothing can.
    pub fn impossible(&self, setting: &Setting) -> Option<String> {
        match self.made {
            Some(Made::Latency { .. } | Made::Scaling { .. }) => device::no_offloading(),
            Some(_) => None,
            None if self.parts.iter().any(|part| part.place == Place::Node) => None,
            None => setting.no_nodes.clone(),
        }
    }
}

impl Part {
    /// The numbers of PEs.
    pub fn pes(&self, setting: &Setting) -> Vec<usize> {
        let most = match (setting.extent, self.place) {
            (Extent::Full, _) => usize::MAX,
            (Extent::Quick, Place::Node) => 16.max(2 * setting.everybody()),
            (Extent::Quick, Place::Nodes) => 4,
            (Extent::Tiny, _) => 2,
        };
        match &self.pes {
            Pes::One(pes) => vec![*pes],
            Pes::Several(list) => few(list, most),
            Pes::ByMachine(rule) if rule == "cpus" => vec![setting.everybody()],
            Pes::ByMachine(rule) if rule == "crowds" => {
                few(&[1, 2, 4, 8].map(|times| times * setting.everybody()), setting.by(512, 512, 2))
            }
            Pes::ByMachine(_) => {
                let crowd = setting.by(4, 2, 1) * setting.everybody();
                few(&(1..10).map(|bit| 1 << bit).collect::<Vec<_>>(), crowd)
            }
        }
    }

    /// Its pictures.
    pub fn panels(&self) -> impl Iterator<Item = Panel> {
        let Self { statistic, bars, .. } = *self;
        self.panels.iter().map(move |panel| Panel { statistic, bars, ..panel.clone() })
    }

    /// The largest size, and the arguments that say which sizes.
    pub fn sizes(&self, setting: &Setting) -> (u64, Vec<String>) {
        let most = setting.by(u64::MAX, 1 << 20, 4096);
        if let Some([least, largest]) = self.bytes {
            let largest = largest.min(setting.by(u64::MAX, 256 << 10, 512));
            let step = setting.by(2, self.step.unwrap_or(2), 8);
            return (
                largest,
                vec![format!("min={least}"), format!("max={largest}"), format!("step={step}")],
            );
        }
        let sizes = few(&self.sizes, most);
        let largest = sizes.last().copied().unwrap_or(8);
        let mut arguments = vec![format!("max={largest}")];
        if !sizes.is_empty() {
            let list: Vec<String> = sizes.iter().map(u64::to_string).collect();
            arguments.push(format!("sizes={}", list.join(",")));
        }
        (largest, arguments)
    }
}

/// Those of a list that are not too large; at least the first.
pub fn few<T: Copy + PartialOrd>(list: &[T], most: T) -> Vec<T> {
    let count = list.iter().take_while(|number| **number <= most).count();
    list[..count.max(1).min(list.len())].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_papers_say_and_what_we_draw_fit() {
        let data = Data::read().unwrap();
        assert_eq!(data.papers.len(), data.absent.len());
        for figure in &data.figures {
            let name = format!("{} {}", figure.paper, figure.number);
            assert!(data.papers.iter().any(|paper| paper.key == figure.paper), "{name}");
            assert_eq!(data.printed(figure).count(), figure.numbers().count(), "{name}");
            assert_eq!(figure.made.is_some(), figure.parts.is_empty(), "{name}");
            assert!(!figure.caption.is_empty() && !figure.differs.is_empty(), "{name}");
        }
        for printed in &data.printed {
            let drawn = |figure: &Figure| data.printed(figure).any(|it| std::ptr::eq(it, printed));
            let name = format!("{} {}", printed.paper, printed.number);
            assert!(data.figures.iter().any(drawn), "{name}");
            assert!(printed.machine.iter().all(|key| data.machines.contains_key(key)), "{name}");
            for says in &printed.says {
                assert!(says.is.is_some() != says.y.is_some(), "{name}: {}", says.series);
                assert_eq!(says.y.is_some(), says.op.is_some() && says.unit.is_some(), "{name}");
            }
        }
    }

    #[test]
    fn numbers_as_words() {
        assert_eq!([slug("5a"), slug("Table 1"), slug("table-1")], ["5a", "table-1", "table-1"]);
        assert_eq!(few(&[2, 4, 8], 4), [2, 4]);
        assert_eq!(few(&[2, 4], 1), [2]);
    }
}
