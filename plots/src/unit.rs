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

    /// How many times the cost of `reference` the cost of `value` is: 2 is twice as
    /// slow, whichever way the unit counts.
    pub fn cost_ratio(self, value: f64, reference: f64) -> f64 {
        match self {
            Self::Nanoseconds => value / reference,
            Self::MegaOperations | Self::MegaBytes => reference / value,
        }
    }
}
