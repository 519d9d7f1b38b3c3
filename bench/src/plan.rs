//! How much to run, and one program with one number of PEs.

/// How much to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A minimum of everything, for the suite's own test.
    Tiny,
    /// About a minute.
    Quick,
    /// Minutes.
    Full,
}

/// One program with one number of PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Name of the program, without `.c`.
    pub program: String,
    /// Whether it is a raw program, which runs without any OpenSHMEM.
    pub raw: bool,
    /// The number of PEs.
    pub pes: usize,
    /// Arguments, `key=value`.
    pub arguments: Vec<String>,
    /// The symmetric heap it needs, in MiB.
    pub heap: u64,
    /// Whether to measure the wall time of the whole job, too.
    pub whole_job: bool,
}

/// Experiments whose figures are compared, run in immediate succession, in order, each for all implementations in turn.
pub type Comparison = Vec<Experiment>;

impl Extent {
    /// How often every experiment is run.
    pub fn repeats(self) -> usize {
        match self {
            Self::Tiny => 1,
            Self::Quick => 3,
            Self::Full => 11,
        }
    }

    /// The time limit for one run, in seconds.
    pub fn patience(self) -> u64 {
        match self {
            Self::Tiny | Self::Quick => 60,
            Self::Full => 300,
        }
    }

    /// Milliseconds per point in one run.
    pub fn ms(self) -> f64 {
        match self {
            Self::Tiny => 0.2,
            Self::Quick => 6.0,
            Self::Full => 25.0,
        }
    }
}
