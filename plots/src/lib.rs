//! What the measuring commands have in common: figures as people read them, medians and
//! ranges, and plots of curves as SVG.

pub mod figures;
pub mod plot;
pub mod stats;
mod unit;

pub use unit::Unit;
