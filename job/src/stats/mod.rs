//! Statistics of a PE, in the job's file: a [`Row`] with sums by class and by peer, and a [`line`] for each
//! routine. The library counts; the library, the launcher and `oshtop` read.

mod class;
pub(crate) mod line;
mod lost;
pub(crate) mod row;

pub use class::{CLASSES, Class};
pub use line::{Routine, sum};
pub use lost::{LostTime, ProcessUsage};
pub use row::{For, Peer, Row, Snapshot, plus};

/// A number in at most four digits, with a letter for powers of `step`: 1024 for bytes, 1000 for what is
/// counted.
pub fn short(number: u64, step: f64) -> String {
    let units = ["", "k", "m", "g", "t", "p"];
    let (mut value, mut unit) = (number as f64, 0);
    while value >= 1000.0 && unit + 1 < units.len() {
        (value, unit) = (value / step, unit + 1);
    }
    match unit {
        0 => number.to_string(),
        _ => format!("{value:.1}{}", units[unit]),
    }
}
