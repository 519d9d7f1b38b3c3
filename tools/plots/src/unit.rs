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
    /// How many there are, of what the title says: less is better.
    #[serde(rename = "count")]
    Count,
    /// Parallel efficiency in percent: more is better. No program prints it.
    #[serde(rename = "%")]
    Percent,
}

impl Unit {
    /// The quantity on an axis of such figures.
    pub fn quantity(self) -> &'static str {
        match self {
            Self::Nanoseconds => "time",
            Self::MegaOperations => "operations a second",
            Self::MegaBytes => "bandwidth",
            Self::Packets => "packets",
            Self::Count => "number",
            Self::Percent => "parallel efficiency",
        }
    }

    /// The cost of `value` divided by the cost of `reference`: 2 is twice as slow, whether more or
    /// less of the unit is better.
    pub fn cost_ratio(self, value: f64, reference: f64) -> f64 {
        match self {
            Self::MegaOperations | Self::MegaBytes | Self::Percent => reference / value,
            _ => value / reference,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_costs() {
        assert_eq!(Unit::Nanoseconds.cost_ratio(20.0, 10.0), 2.0);
        assert_eq!(Unit::MegaBytes.cost_ratio(10.0, 20.0), 2.0);
    }
}
