//! How a model is searched.

use loom::model::Builder;
use std::sync::{Mutex, PoisonError};

/// Runs `model` in every order with at most `preemptions` switches away from threads that could have gone on. Few
/// suffice to find what there is to find (Musuvathi and Qadeer, PLDI 2007), and the number of orders grows exponentially
/// with them. `most` orders, if it says so, or those that `LOOM_MAX_PERMUTATIONS` says.
pub fn search(preemptions: usize, most: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    // `loom` maps and unmaps a stack for each thread of each order, for which a process has one lock: two searches at
    // once take half as much time again.
    static ONE_BY_ONE: Mutex<()> = Mutex::new(());
    let _turn = ONE_BY_ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.max_permutations = builder.max_permutations.or(most);
    // `loom` looks whether they are reached at intervals.
    builder.checkpoint_interval = builder.checkpoint_interval.min(10_000);
    builder.check(model);
}
