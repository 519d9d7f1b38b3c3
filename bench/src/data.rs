//! `figures.toml`, `suite.toml` and `papers.toml`; and what the figures are drawn of.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use oneshmem_plots::Unit;
use serde::Deserialize;

use crate::curves::{Bars, Panel};
use crate::implementation::{self, Implementation};
use crate::machine;
use crate::read::Reading;
use crate::report::{Place, Statistic};

/// The data that figures are drawn of.
#[derive(Default)]
pub struct Setting {
    /// Those of OpenSHMEM, our own first.
    pub implementations: Vec<Implementation>,
    pub mpis: Vec<Implementation>,
    /// The same library with SMARTMAP's addresses, if it has been built.
    pub smartmap: Option<Implementation>,
    pub extent: Extent,
    pub repeats: usize,
    pub sources: Vec<PathBuf>,
    /// Where to build and to write.
    pub work: PathBuf,
    /// In the order of pinning.
    pub cpus: Vec<usize>,
    /// The number of PEs that is used where there would be as many as CPUs.
    pub pes: Option<usize>,
    /// Why there are no emulated nodes, if there are none.
    pub no_nodes: Option<String>,
    /// Why programs of OpenMP's device cannot be built, if they cannot: once a figure has asked.
    pub no_offloading: OnceCell<Option<String>>,
    /// How long a job may take.
    pub limit: Duration,
    /// The programs that have been built, or why they could not be.
    pub built: RefCell<HashMap<PathBuf, Result<(), String>>>,
}

/// How much to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// A minimum of everything, for the suite's own test.
    Tiny,
    /// Minutes for all figures.
    Quick,
    #[default]
    Full,
}

impl Extent {
    pub fn by<T>(self, full: T, quick: T, tiny: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
            Self::Tiny => tiny,
        }
    }
}

impl Setting {
    pub fn own(&self) -> &Implementation {
        &self.implementations[0]
    }

    /// The names of everybody else.
    pub fn peers(&self) -> Vec<&str> {
        self.implementations[1..].iter().chain(&self.mpis).map(|who| who.name.as_str()).collect()
    }

    /// As many PEs as CPUs, at least 2, or as many as were asked for.
    pub fn everybody(&self) -> usize {
        self.pes.unwrap_or(self.cpus.len().clamp(2, 64))
    }

    /// A text of `figures.toml` with what depends on this setting.
    pub fn fill(&self, text: &str, figure: &Figure) -> String {
        let cache = machine::last_cache().unwrap_or(8 << 20);
        let [full, quick, tiny] = figure.scale;
        let mut text = text.to_owned();
        for (name, value) in [
            ("{ms}", self.extent.by("25", "6", "0.2").to_owned()),
            // A time slice has milliseconds: it takes a hundred of them for a mean.
            ("{long}", self.extent.by(1000, 400, 4).to_string()),
            ("{messages}", self.extent.by(1000, 1000, 50).to_string()),
            // The runs add up to the paper's iterations. A pass over a large cache takes most of their time.
            ("{iterations}", self.extent.by(4096usize.div_ceil(self.repeats), 16, 2).to_string()),
            ("{altered}", self.extent.by(30, 8, 2).to_string()),
            ("{cache}", cache.to_string()),
            ("{scale}", self.extent.by(full, quick, tiny).to_string()),
        ] {
            text = text.replace(name, &value);
        }
        text
    }

    /// The words on a scaled-down extent.
    pub fn scaled(&self) -> &'static str {
        self.extent.by("", "scaled down: --quick", "scaled down: --tiny")
    }
}

/// All files: what they mean stands at their heads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    #[serde(rename = "paper")]
    pub papers: Vec<Paper>,
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
    pub known: Vec<Known>,
    #[serde(rename = "machine")]
    machines: BTreeMap<String, String>,
    printed: Vec<Printed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    pub name: String,
    pub begins: String,
    pub below: String,
    pub flags: Vec<String>,
    pub arguments: Vec<String>,
}

/// A paper, or a collection of figures of our own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub key: String,
    pub title: String,
    pub by: String,
    #[serde(default)]
    pub ours: bool,
    #[serde(default)]
    pub absent: Vec<String>,
}

/// A figure or table as the paper has it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Printed {
    paper: String,
    number: String,
    pub title: String,
    machine: Vec<String>,
    benchmark: String,
    statistic: String,
    pub says: Vec<Statement>,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A number or a claim.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Statement {
    pub text: String,
    pub series: String,
    pub than: Option<String>,
    pub worst: bool,
    pub x: Vec<f64>,
    pub y: Option<f64>,
    pub unit: Option<Unit>,
    pub shows: Option<Answer>,
    pub panel: String,
}

/// The answer to a claim without a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// How far curves are from each other.
    Distance,
    /// Where a curve begins and ends.
    Course,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Figure {
    pub paper: String,
    pub number: String,
    pub title: String,
    pub caption: String,
    pub differs: String,
    pub beside: Vec<String>,
    pub series: BTreeMap<String, String>,
    pub scale: [usize; 3],
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    pub instructions: bool,
}

/// Programs in one place.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Part {
    pub place: Place,
    pub who: Option<String>,
    pub raw: bool,
    pub programs: Vec<String>,
    pub arguments: Vec<String>,
    pub read: Reading,
    pub pes: Pes,
    pub bound: Option<bool>,
    pub neighbours: Vec<String>,
    pub bytes: Option<[u64; 2]>,
    pub step: Option<u64>,
    pub sizes: Vec<u64>,
    pub statistic: Statistic,
    pub bars: Bars,
    pub panels: Vec<Panel>,
    pub table: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Pes {
    These(Vec<usize>),
    /// "cpus", "crowd" or "crowds".
    ByMachine(String),
}

impl Default for Pes {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// A number of a figure on the command line and in names of files: `5a`, `table-1`.
pub fn slug(number: &str) -> String {
    number.to_lowercase().replace(' ', "-")
}

impl Data {
    /// Reads the files, which are part of this command.
    pub fn read() -> anyhow::Result<Self> {
        Ok(toml::from_str(concat!(
            include_str!("../papers.toml"),
            include_str!("../figures.toml"),
            include_str!("../suite.toml")
        ))?)
    }

    pub fn paper(&self, key: &str) -> &Paper {
        self.papers.iter().find(|paper| paper.key == key).expect("a test looks for all of them")
    }

    /// The paper's own form: the figure itself, and tables beside it.
    pub fn printed<'a>(&'a self, figure: &'a Figure) -> impl Iterator<Item = &'a Printed> {
        let of_paper = |number| {
            let is_it = |it: &&Printed| it.paper == figure.paper && it.number == number;
            self.printed.iter().find(is_it)
        };
        figure.numbers().filter_map(of_paper)
    }

    /// How a figure was made in the paper, as sentences.
    pub fn describe(&self, printed: &Printed) -> String {
        let Printed { number, title, benchmark, statistic, machine, .. } = printed;
        let kind = if number.starts_with("Table") { "" } else { "Figure " };
        let reported = if statistic.is_empty() { "" } else { &format!(" Reported: {statistic}.") };
        let machines: Vec<&str> = machine.iter().map(|key| self.machines[key].as_str()).collect();
        format!("{kind}{number}: {title}. {benchmark}{reported} On {}.", machines.join(" | "))
    }
}

impl Figure {
    /// Its number and those of the tables beside it, each once.
    pub fn numbers(&self) -> impl Iterator<Item = &str> {
        let beside = self.beside.iter().filter(|number| **number != self.number);
        std::iter::once(&self.number).chain(beside).map(String::as_str)
    }

    /// Why nothing of it can be drawn here, if nothing can.
    pub fn impossible(&self, setting: &Setting) -> Option<String> {
        let is_of_device = |who: &String| who.starts_with("device");
        if self.parts.iter().filter_map(|part| part.who.as_ref()).any(is_of_device) {
            return setting.no_offloading.get_or_init(implementation::no_offloading).clone();
        }
        let anywhere = self.instructions || self.parts.iter().any(|part| part.place == Place::Node);
        setting.no_nodes.clone().filter(|_| !anywhere)
    }
}

impl Part {
    pub fn pes(&self, setting: &Setting) -> Vec<usize> {
        let (extent, cpus) = (setting.extent, setting.everybody());
        let quick = if self.place == Place::Node { 16.max(2 * cpus) } else { 4 };
        match &self.pes {
            Pes::These(list) => few(list, extent.by(usize::MAX, quick, 2)),
            Pes::ByMachine(rule) if rule == "cpus" => vec![cpus],
            Pes::ByMachine(rule) if rule == "crowds" => {
                few(&[1, 2, 4, 8].map(|times| times * cpus), extent.by(512, 512, 2))
            }
            Pes::ByMachine(_) => few(&POWERS, extent.by(4, 2, 1) * cpus),
        }
    }

    /// Its numbers of busy neighbours, if it has any, and what quantities beside them are called.
    pub fn neighbours(&self, setting: &Setting) -> Vec<(&str, String)> {
        let few = self.neighbours.iter().take(setting.extent.by(usize::MAX, usize::MAX, 3));
        let bound = if self.bound == Some(true) { "bound" } else { "unbound" };
        let each = few.map(|text| (text.as_str(), format!(", {bound}, {text}")));
        if self.neighbours.is_empty() { vec![("0", String::new())] } else { each.collect() }
    }

    pub fn panels(&self) -> impl Iterator<Item = Panel> {
        self.panels.iter().map(|panel| Panel { bars: self.bars, ..panel.clone() })
    }

    /// The sizes of transfers; 8 bytes where it says nothing.
    pub fn sizes(&self, setting: &Setting) -> Vec<u64> {
        let Some([least, largest]) = self.bytes else {
            let sizes = if self.sizes.is_empty() { &[8] } else { &self.sizes[..] };
            return few(sizes, setting.extent.by(u64::MAX, 1 << 20, 4096));
        };
        let step = setting.extent.by(2, self.step.unwrap_or(2), 8);
        let all = std::iter::successors(Some(least), |size| Some(size * step));
        let all: Vec<u64> = all.take_while(|size| *size <= largest).collect();
        few(&all, setting.extent.by(u64::MAX, 256 << 10, 512))
    }
}

const POWERS: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Those of a list that are not too large; at least the first.
fn few<T: Copy + PartialOrd>(list: &[T], most: T) -> Vec<T> {
    let count = list.iter().take_while(|number| **number <= most).count();
    list[..count.max(1).min(list.len())].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::Shows;

    #[test]
    fn what_papers_say_and_what_we_draw_fit() {
        let data = Data::read().unwrap();
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for figure in &data.figures {
            let name = format!("{} {}", figure.paper, figure.number);
            let paper = data.papers.iter().find(|paper| paper.key == figure.paper).expect(&name);
            assert_eq!(figure.instructions, figure.parts.is_empty(), "{name}");
            if !paper.ours {
                assert_eq!(data.printed(figure).count(), figure.numbers().count(), "{name}");
                assert!(!figure.caption.is_empty() && !figure.differs.is_empty(), "{name}");
            }
            for part in &figure.parts {
                let pes = part.pes(&Setting::default());
                assert!(!pes.is_empty() && !part.programs.is_empty(), "{name}");
                assert!(part.place == Place::Node || pes.iter().all(|pes| pes % 2 == 0), "{name}");
                for program in part.programs.iter().filter(|program| !program.starts_with('/')) {
                    let file = program.split(' ').next().unwrap_or_default();
                    let is_in = |place: &str| {
                        let file = top.join(place).join(file);
                        ["c", "cc"].iter().any(|end| file.with_extension(end).is_file())
                    };
                    assert!(crate::SOURCES.iter().any(|place| is_in(place)), "{name}: {program}");
                }
            }
        }
        for printed in &data.printed {
            let drawn = |figure: &Figure| data.printed(figure).any(|it| std::ptr::eq(it, printed));
            let name = format!("{} {}", printed.paper, printed.number);
            assert!(data.figures.iter().any(drawn), "{name}");
            assert!(data.describe(printed).contains(" On "), "{name}");
            for says in &printed.says {
                // Numbers are points or sentences, or both.
                assert!(says.y.is_some() || !says.text.is_empty(), "{name}: {}", says.series);
                assert_eq!(says.y.is_some(), says.unit.is_some(), "{name}: {}", says.series);
            }
        }
    }

    #[test]
    fn figures_are_the_papers_in_what_was_once_wrong() {
        let data = Data::read().unwrap();
        let figure = |key: &str, number: &str| {
            data.figures.iter().find(|it| it.paper == key && it.number == number).expect(number)
        };
        // As many PEs as are asked for, whatever the CPUs.
        let sixteen = Setting { pes: Some(16), cpus: vec![0, 1], ..Setting::default() };
        assert_eq!(figure("mapping", "7").parts[0].pes(&sixteen), [16]);
        assert_eq!(figure("mapping", "5").parts[0].bars, Bars::Samples);
        // The average over PEs; what collectives reach, too, and the table of peers.
        assert!(figure("ondemand", "5a").parts.iter().all(|it| it.statistic == Statistic::Mean));
        let peers = figure("ondemand", "9");
        assert!(peers.parts.iter().all(|part| part.panels[0].name == "reached."));
        assert_eq!(peers.beside, ["Table I"]);
        assert_eq!(figure("shcoll", "7").parts[0].sizes, [4, 1024, 1 << 20]);
        for number in ["7", "8", "9"] {
            let figure = figure("partitions", number);
            assert_eq!(figure.parts[0].panels[0].shows, Shows::Efficiency, "{number}");
            assert!(figure.differs.contains("{scale}"), "{number} says its size");
        }
        // The improvements of a kernel stand at that kernel, beside the form that the paper measured.
        assert_eq!(figure("partitions", "6").series["Extended OpenSHMEM"], "extended, get and put");
        let of_fft = |it: &&Printed| it.says.iter().any(|says| says.text.contains("12.5 %"));
        let found: Vec<&str> = data.printed.iter().filter(of_fft).map(|it| &*it.number).collect();
        assert_eq!(found, ["7"]);
        // Sandia OpenSHMEM's count before OSHMPI's, of the size that was counted.
        let counts = include_str!("../instructions.txt").lines();
        let counts = counts.filter(|line| line.contains("71, 93") || line.contains("91, 44"));
        let found: Vec<&str> = counts.filter_map(|line| Some(line.split_once("  ")?.0)).collect();
        assert_eq!(found, ["put 4 B", "quiet"]);
        for number in ["6", "7"] {
            let parts = &figure("oshmpi", number).parts;
            assert!(parts.iter().all(|it| it.bytes.is_some_and(|bytes| bytes[0] == 1)));
        }
        for figure in data.figures.iter().filter(|it| it.paper == "shcoll" && it.number != "6") {
            assert!(figure.caption.contains("shmem_barrier_all"), "{}", figure.number);
        }
    }

    #[test]
    fn numbers_and_sizes() {
        assert_eq!([slug("5a"), slug("Table 1"), slug("table-1")], ["5a", "table-1", "table-1"]);
        assert_eq!((few(&[2, 4, 8], 4), few(&[2, 4], 1)), (vec![2, 4], vec![2]));
        let part = Part { bytes: Some([8, 100]), ..Part::default() };
        assert_eq!(part.sizes(&Setting::default()), [8, 16, 32, 64]);
        assert_eq!(Part::default().sizes(&Setting::default()), [8]);
    }
}
