//! Units of figures.

use serde::{Deserialize, Serialize};

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds per operation: less is better.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Million operations per second: more is better.
    #[serde(rename = "Mop/s")]
    MegaOperations,
    /// Million bytes per second: more is better.
    #[serde(rename = "MB/s")]
    MegaBytes,
    /// Packets per operation: less is better.
    #[serde(rename = "packets")]
    Packets,
    /// Bytes of memory: less is better.
    #[serde(rename = "B")]
    Bytes,
    /// How many there are, of what the title says: less is better.
    #[serde(rename = "count")]
    Count,
    /// Cost relative to another figure: less is better. No program prints it.
    #[serde(rename = "x")]
    Times,
}

impl Unit {
    /// Parses a unit that programs print.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "ns" => Some(Self::Nanoseconds),
            "Mop/s" => Some(Self::MegaOperations),
            "MB/s" => Some(Self::MegaBytes),
            "packets" => Some(Self::Packets),
            "B" => Some(Self::Bytes),
            "count" => Some(Self::Count),
            _ => None,
        }
    }

    /// The quantity on an axis of such figures.
    pub fn quantity(self) -> &'static str {
        match self {
            Self::Nanoseconds => "time",
            Self::MegaOperations => "operations a second",
            Self::MegaBytes => "bandwidth",
            Self::Packets => "packets",
            Self::Bytes => "memory",
            Self::Count => "number",
            Self::Times => "times the cost",
        }
    }

    /// The cost of `value` divided by the cost of `reference`: 2 is twice as slow, whether more or
    /// less of the unit is better.
    pub fn cost_ratio(self, value: f64, reference: f64) -> f64 {
        match self {
            Self::MegaOperations | Self::MegaBytes => reference / value,
            _ => value / reference,
        }
    }
}
