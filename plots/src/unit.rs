//! What a figure counts.

use serde::{Deserialize, Serialize};

/// Units of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds for one: less is better.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Million operations a second: more is better.
    #[serde(rename = "Mop/s")]
    MegaOperations,
    /// Million bytes a second: more is better.
    #[serde(rename = "MB/s")]
    MegaBytes,
    /// Costs in units of another figure: less is better. No program prints it.
    #[serde(rename = "x")]
    Times,
}

impl Unit {
    /// The unit a program prints.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "ns" => Some(Self::Nanoseconds),
            "Mop/s" => Some(Self::MegaOperations),
            "MB/s" => Some(Self::MegaBytes),
            _ => None,
        }
    }

    /// What an axis of such figures shows.
    pub fn quantity(self) -> &'static str {
        match self {
            Self::Nanoseconds => "time",
            Self::MegaOperations => "operations a second",
            Self::MegaBytes => "bandwidth",
            Self::Times => "times the cost",
        }
    }

    /// How many times the cost of `reference` the cost of `value` is: 2 is twice as
    /// slow, whichever way the unit counts.
    pub fn cost_ratio(self, value: f64, reference: f64) -> f64 {
        match self {
            Self::Nanoseconds | Self::Times => value / reference,
            Self::MegaOperations | Self::MegaBytes => reference / value,
        }
    }
}
