//! Shared by the measuring commands: figures formatted for readers, medians and ranges, and plots
//! of curves as SVG.

pub mod figures;
pub mod plot;
pub mod stats;
mod unit;

pub use unit::Unit;
