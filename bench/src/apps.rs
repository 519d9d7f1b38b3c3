//! Whole applications: the programs of `examples/`, compared with the same ones in MPI and OpenMP
//! and with other implementations of OpenSHMEM, in turns.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use comfy_table::Table;
use oneshmem_plots::{Unit, figures, stats};

use crate::implementation::Implementation;
use crate::progress::Progress;
use crate::{execute, slower, table};

const PATIENCE: Duration = Duration::from_secs(300);
const PES: [usize; 4] = [1, 2, 4, 8];
/// Allows more ranks than CPUs with Open MPI, 4 and 5. Other implementations of MPI ask for nothing.
pub const OVERSUBSCRIBE: [(&str, &str); 2] = [
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];
const FLAGS: [&str; 4] = ["-O3", "-std=gnu11", "-D_GNU_SOURCE", "-march=native"];

/// Programs with their usual arguments, and with arguments for a very short run.
const PROGRAMS: [(&str, &[&str], &[&str]); 5] = [
    ("isort", &["16777216"], &["10000"]),
    ("heat", &["1000", "400"], &["24", "10"]),
    ("gups", &["20"], &["8"]),
    ("matmul", &["720"], &["24"]),
    ("queue", &["400000"], &["200"]),
];

/// A form of the programs, with the commands that build and start them.
pub enum Form {
    /// In OpenSHMEM.
    Shmem(Implementation),
    /// In MPI.
    Mpi {
        /// The name in the table.
        name: String,
        /// Its compiler.
        compiler: String,
        /// Its launcher and the launcher's arguments, before `-n`.
        launcher: Vec<String>,
    },
    /// In OpenMP, with a thread for each PE.
    OpenMp,
}

impl Form {
    /// Parses `NAME=COMPILER,LAUNCHER ARGUMENTS`, already split at the equals sign.
    pub fn mpi(name: &str, commands: &str) -> anyhow::Result<Self> {
        let (compiler, launcher) = commands.split_once(',').with_context(|| {
            format!("--mpi {name}={commands}: expected NAME=COMPILER,LAUNCHER [ARGUMENTS]")
        })?;
        let launcher: Vec<String> = launcher.split_whitespace().map(str::to_owned).collect();
        if compiler.is_empty() || launcher.is_empty() {
            bail!("--mpi {name}={commands}: the compiler or the launcher is missing");
        }
        Ok(Self::Mpi { name: name.into(), compiler: compiler.into(), launcher })
    }

    fn name(&self) -> &str {
        match self {
            Self::Shmem(implementation) => &implementation.name,
            Self::Mpi { name, .. } => name,
            Self::OpenMp => "OpenMP",
        }
    }

    fn source(&self, apps: &Apps, program: &str) -> PathBuf {
        let file = format!("{program}.c");
        match self {
            Self::Shmem(_) => apps.examples.join(file),
            Self::Mpi { .. } => apps.sources.join("mpi").join(file),
            Self::OpenMp => apps.sources.join("openmp").join(file),
        }
    }

    fn compiler(&self) -> anyhow::Result<Command> {
        let command = match self {
            Self::Shmem(implementation) => {
                let bin = implementation.commands()?;
                bin.join("oshcc")
            }
            Self::Mpi { compiler, .. } => compiler.into(),
            Self::OpenMp => "cc".into(),
        };
        let mut command = Command::new(command);
        if matches!(self, Self::OpenMp) {
            command.arg("-fopenmp");
        }
        Ok(command)
    }

    fn job(&self, pes: usize, program: &Path, arguments: &[&str]) -> Command {
        match self {
            Self::Shmem(implementation) => {
                let words: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
                implementation.job(pes, program, &words, HEAP_MIB)
            }
            Self::Mpi { launcher, .. } => {
                let mut command = Command::new(&launcher[0]);
                command.envs(OVERSUBSCRIBE);
                command.args(&launcher[1..]).args(["-n", &pes.to_string()]);
                command.arg(program).args(arguments);
                command
            }
            Self::OpenMp => {
                let mut command = Command::new(program);
                command.args(arguments).env("OMP_NUM_THREADS", pes.to_string());
                command
            }
        }
    }
}

/// Symmetric heap per PE: more than enough for all keys of isort on one PE.
const HEAP_MIB: u64 = 256;

/// The measurement to make.
pub struct Apps {
    /// The forms, our own implementation first.
    pub forms: Vec<Form>,
    /// The folder of the programs in OpenSHMEM.
    pub examples: PathBuf,
    /// The folder of `mpi` and `openmp`.
    pub sources: PathBuf,
    /// Where to build, and to write plots.
    pub work: PathBuf,
    /// How many times to run everything.
    pub repeats: usize,
    /// Whether to use very short runs.
    pub tiny: bool,
}

/// Nanoseconds of each run in the order of the turns, by program, number of PEs and form, each an index in its list.
type Figures = BTreeMap<(usize, usize, usize), Vec<f64>>;

/// Whether one form took less time than another in each turn.
fn always_faster(one: &[f64], other: &[f64]) -> bool {
    !one.is_empty() && one.iter().zip(other).all(|(one, other)| one < other)
}

impl Apps {
    /// Measures. Returns the table.
    pub fn run(&self) -> anyhow::Result<String> {
        let mut programs = Vec::new();
        for (name, ..) in PROGRAMS {
            let of_form = |form: &Form| self.build(form, name);
            programs.push(self.forms.iter().map(of_form).collect::<anyhow::Result<Vec<_>>>()?);
        }
        let mut found = Figures::new();
        let rounds = self.repeats * PROGRAMS.len() * PES.len() * self.forms.len();
        let mut progress = Progress::of(rounds);
        for _ in 0..self.repeats {
            for (p, (name, usual, little)) in PROGRAMS.iter().enumerate() {
                let arguments = if self.tiny { little } else { usual };
                for pes in PES {
                    for (f, form) in self.forms.iter().enumerate() {
                        let what = || format!("{name} of {} with {pes} PEs", form.name());
                        progress.step(&what());
                        let mut job = form.job(pes, &programs[p][f], arguments);
                        let outcome = execute::run(&mut job, &self.work, PATIENCE)?;
                        if !outcome.success() {
                            bail!("{}: {}", what(), outcome.reason());
                        }
                        let seconds = seconds(&outcome.stdout).with_context(what)?;
                        found.entry((p, pes, f)).or_default().push(seconds * 1e9);
                    }
                }
            }
        }
        progress.end();
        Ok(self.show(&found))
    }

    fn build(&self, form: &Form, name: &str) -> anyhow::Result<PathBuf> {
        let source = form.source(self, name);
        let program = self.work.join(format!("{name}-{}", form.name()));
        let mut compiler = form.compiler()?;
        compiler.args(FLAGS).arg(&source).arg("-o").arg(&program).arg("-lm");
        let outcome = execute::run(&mut compiler, &self.work, PATIENCE)?;
        if !outcome.success() {
            bail!("{} does not build: {}", source.display(), outcome.reason());
        }
        Ok(program)
    }

    fn show(&self, found: &Figures) -> String {
        format!(
            "Medians of {} runs. Times are those of the part that all forms share, without start and \
             check; speed-up is against one PE of the same form.\n{}\n{}",
            self.repeats,
            self.table(found),
            self.verdict(found)
        )
    }

    fn table(&self, found: &Figures) -> Table {
        let own = format!("/ {}", self.forms[0].name());
        let header = ["", "PEs", "", "time", &own, "speed-up"].map(str::to_owned);
        let mut table = table::plain(header.into(), 3..6);
        for (&(p, pes, f), times) in found {
            let time = stats::median(times);
            let of = |pes, f| stats::median(&found[&(p, pes, f)]);
            table.add_row([
                if f == 0 { PROGRAMS[p].0.to_owned() } else { String::new() },
                if f == 0 { pes.to_string() } else { String::new() },
                self.forms[f].name().to_owned(),
                figures::figure(time, Unit::Nanoseconds),
                figures::ratio(time / of(pes, 0)),
                figures::ratio(of(PES[0], f) / time),
            ]);
        }
        table
    }

    /// The points at which another form was faster in every run. Of equal forms, one or the other
    /// has the smaller median.
    fn verdict(&self, found: &Figures) -> String {
        let own: Vec<_> = found.iter().filter(|((.., f), _)| *f == 0).collect();
        let slower: Vec<String> = own
            .iter()
            .filter_map(|&(&(p, pes, _), times)| {
                let other = |f| &found[&(p, pes, f)];
                let faster = (1..self.forms.len()).filter(|&f| always_faster(other(f), times));
                let ratio = |f| stats::median(times) / stats::median(other(f));
                let (f, ratio) =
                    faster.map(|f| (f, ratio(f))).max_by(|a, b| a.1.total_cmp(&b.1))?;
                let (program, form) = (PROGRAMS[p].0, self.forms[f].name());
                let plural = if pes == 1 { "" } else { "s" };
                Some(slower::point(&format!("{program} on {pes} PE{plural}"), ratio, form))
            })
            .collect();
        slower::sentence("Slower than another form in every run", own.len(), &slower)
    }
}

/// The time in a program's last line, which also says that the result is correct.
fn seconds(said: &str) -> anyhow::Result<f64> {
    let verified = said.lines().rfind(|line| line.ends_with(", verified"));
    let time = verified.and_then(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "s,")?;
        words.get(at.checked_sub(1)?)?.parse().ok().filter(|time| *time > 0.0)
    });
    time.with_context(|| format!("not verified: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines() {
        assert_eq!(seconds("PE 1 did 3\n3 of 3 done: 0.5000 s, verified\n").unwrap(), 0.5);
        assert_eq!(seconds("2 to 4: 0.2500 s, 1e6 keys/s, verified\n").unwrap(), 0.25);
        for wrong in [
            "0.5 s, WRONG\n",
            "verified\n",
            "x s, verified\n",
            "0.0 s, verified\n",
            "s, verified\n",
            "",
        ] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn faster_in_every_turn() {
        assert!(always_faster(&[1.0, 3.0], &[2.0, 4.0]));
        assert!(!always_faster(&[1.0, 4.0], &[2.0, 3.0]));
        assert!(!always_faster(&[1.0, 4.0], &[1.0, 5.0]));
        assert!(!always_faster(&[], &[]));
    }

    #[test]
    fn another_mpi() {
        let Form::Mpi { compiler, launcher, .. } =
            Form::mpi("a", "mpicc.a,mpirun.a --oversubscribe").unwrap()
        else {
            panic!("not an MPI")
        };
        assert_eq!((compiler.as_str(), launcher.len()), ("mpicc.a", 2));
        for wrong in ["mpicc", ",mpirun", "mpicc,"] {
            assert!(Form::mpi("a", wrong).is_err(), "{wrong}");
        }
    }
}
