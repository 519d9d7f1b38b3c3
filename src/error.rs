//! What goes wrong before or beside communication.

/// The name of the routine the user called, for messages. Doubly a reference, so
/// that passing it costs one register.
pub type Routine = &'static &'static str;

/// Why a job cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Memory cannot be shared.
    #[error(transparent)]
    Node(#[from] onenode::Error),
    /// A job of this size cannot be.
    #[error("a job of {npes} PEs was asked for; expected 1 to {max}")]
    JobSize {
        /// Asked for.
        npes: usize,
        /// The most there can be.
        max: usize,
    },
    /// The job's file is not what it should be.
    #[error("the job's control area cannot be used: {why}")]
    ControlArea {
        /// What was found.
        why: String,
    },
    /// An environment variable has a value it cannot have.
    #[error("{setting}: {expected}")]
    Environment {
        /// The variable and its value, as in `NAME=value`.
        setting: String,
        /// What it should be.
        expected: String,
    },
    /// What the launcher says about this job does not fit.
    #[error("{launcher}: {why}")]
    Launcher {
        /// Who started the job.
        launcher: &'static str,
        /// What does not fit.
        why: String,
    },
    /// The job has ended, with this abort word.
    #[error("the job was over before this process came")]
    Over(u64),
    /// A library that is loaded at run time does not serve.
    #[error("{0}")]
    Library(String),
    /// PEs of other nodes cannot be reached.
    #[error("{0}")]
    Engine(String),
    /// Why has been said already, by one PE for all.
    #[error("the job cannot start, for the reason that has been given")]
    Told,
    /// The slot cannot be laid out or published.
    #[error("{0}")]
    Slot(String),
}
