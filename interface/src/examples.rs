//! The programs in `manual/examples/`, which the reference pages show. Each begins with a comment
//! that says what it does, and ends with a comment that gives the command and its output:
//!
//! ```text
//! /* What it does. */
//! ...
//! /* $ oshrun -n 2 ./put
//!  * PE 0 got 1
//!  * PE 1 got 0 */
//! ```
//!
//! The lines of output may come in any order. `tests/runner/manual.rs` compiles and runs all of
//! them.

/// A program.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its name.
    pub name: &'static str,
    /// The contents of its file.
    pub text: &'static str,
}

/// A program in parts.
#[derive(Debug)]
pub struct Parts {
    /// A description of the program.
    pub says: String,
    /// The program itself.
    pub program: String,
    /// Commands, and the lines that each command prints.
    pub runs: Vec<(String, Vec<String>)>,
}

macro_rules! examples {
    ($($name:ident)*) => {
        /// All programs.
        pub const EXAMPLES: &[Example] = &[$(Example {
            name: stringify!($name),
            text: include_str!(concat!("../manual/examples/", stringify!($name), ".c")),
        }),*];
    };
}

examples! {
    alltoall alltoallv aset_barrier aset_collect atomic_add atomic_bits atomic_bits_nbi atomic_nbi atomic_swap
    barrier calloc collect ctx device_ptr equal_addresses fence global_exit hello library lock malloc nbi old
    onenode_at onenode_explain onenode_get_card onenode_map onenode_meet openmp_maps partition
    pcontrol ptr put put_signal reduce set_algorithm signal strided team team_split_2d threads
    to_all wait_all wait_any wait_some wait_vector
}

impl Example {
    /// Splits the file into its parts.
    ///
    /// # Panics
    /// If the file does not have the form that this module describes: it is part of this crate.
    pub fn parts(&self) -> Parts {
        let take = |text: Option<(&'static str, &'static str)>| {
            text.unwrap_or_else(|| panic!("{}.c has not its two comments", self.name))
        };
        let (says, rest) = take(self.text.strip_prefix("/*").and_then(|t| t.split_once("*/")));
        let (program, run) = take(rest.rsplit_once("\n/* $ "));
        let (run, _) = take(run.split_once("*/"));
        let mut runs: Vec<(String, Vec<String>)> = Vec::new();
        for line in format!("$ {run}").lines() {
            let line = line.trim_end();
            let line = line.strip_prefix(" * ").or(line.strip_prefix(" *")).unwrap_or(line);
            match (line.strip_prefix("$ "), runs.last_mut()) {
                (Some(command), _) => runs.push((command.into(), Vec::new())),
                (None, Some((_, output))) => output.push(line.into()),
                (None, None) => unreachable!("the first line is a command"),
            }
        }
        let says = says.lines().map(|l| l.trim().trim_start_matches("* ")).collect::<Vec<_>>();
        Parts { says: says.join(" ").trim().into(), program: program.trim().into(), runs }
    }
}
