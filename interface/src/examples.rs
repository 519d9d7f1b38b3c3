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
    /// What it does.
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
    accessible align alltoall alltoalls aset_alltoall aset_alltoalls aset_barrier aset_broadcast
    aset_collect aset_fcollect aset_sync atomic_add atomic_and atomic_compare_swap
    atomic_compare_swap_nbi atomic_fetch atomic_fetch_add atomic_fetch_add_nbi atomic_fetch_and
    atomic_fetch_and_nbi atomic_fetch_inc atomic_fetch_inc_nbi atomic_fetch_nbi atomic_fetch_or
    atomic_fetch_or_nbi atomic_fetch_xor atomic_fetch_xor_nbi atomic_inc atomic_or atomic_set
    atomic_swap atomic_swap_nbi atomic_xor barrier_all broadcast cache calloc collect ctx_create
    device_ptr fcollect fence g get get_nbi global_exit hello ibget ibput iget info iput malloc
    malloc_hints onenode_at onenode_attach onenode_barrier onenode_copy onenode_describe
    onenode_explain onenode_extra onenode_get_card onenode_group_open onenode_lock onenode_map
    onenode_meet onenode_message onenode_open onenode_region onenode_run onenode_state
    onenode_view_open onenode_wait openmp_maps p partition_info partition_malloc partition_of
    partition_persist partition_take pcontrol pe_quiet ptr put put_nbi put_signal put_signal_nbi
    query_initialized quiet realloc reduce_and reduce_max reduce_min reduce_or reduce_prod
    reduce_sum reduce_xor scan_ex scan_in session set_algorithm set_lock signal_add signal_fetch
    signal_set start_pes sync_all team_create_ctx team_get_config team_ptr team_split_2d
    team_split_strided team_sync team_translate_pe test test_all test_all_vector test_any
    test_any_vector test_lock test_some test_some_vector threads to_all_and to_all_max to_all_min
    to_all_or to_all_prod to_all_sum to_all_xor wait wait_until wait_until_all wait_until_all_vector
    wait_until_any wait_until_any_vector wait_until_some wait_until_some_vector wtime
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
