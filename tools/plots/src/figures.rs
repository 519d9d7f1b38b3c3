//! Figures formatted for readers.

use crate::Unit;

/// A number with three significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 => format!("{value:.2}"),
        v if v > 0.0 => format!("{value:.3}"),
        _ => "0".into(),
    }
}

/// A figure with its unit, scaled: `1.75 us`, `12.3 GB/s`.
pub fn figure(value: f64, unit: Unit) -> String {
    written(value, unit, number)
}

/// As [`figure`], for a round figure at an axis: `2 us`, `500 MB/s`.
pub fn tick(value: f64, unit: Unit) -> String {
    let round = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    written(value, unit, round)
}

fn written(value: f64, unit: Unit, number: fn(f64) -> String) -> String {
    let (scales, base): (&[&str], f64) = match unit {
        Unit::Nanoseconds => (&["ns", "us", "ms", "s"], 1.0),
        Unit::MegaOperations => (&["op/s", "kop/s", "Mop/s", "Gop/s"], 1e6),
        Unit::MegaBytes => (&["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], 1e6),
        Unit::Percent => (&["%"], 1.0),
        Unit::Packets | Unit::Count => (&[""], 1.0),
    };
    let mut scaled = value * base;
    let mut scale = 0;
    // 999.6 would be shown as 1000.
    while scaled >= 999.5 && scale + 1 < scales.len() {
        scaled /= 1000.0;
        scale += 1;
    }
    format!("{} {}", number(scaled), scales[scale]).trim_end().to_owned()
}

/// A size in bytes: `8`, `64 Ki`, `4 Mi`; empty for 0.
pub fn size(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{} Mi", b >> 20),
        b if b >= 1 << 10 && b % (1 << 10) == 0 => format!("{} Ki", b >> 10),
        b => b.to_string(),
    }
}

/// A size in words: `8 B`, `64 KiB`; empty for 0.
pub fn bytes(bytes: u64) -> String {
    match size(bytes) {
        text if text.is_empty() || text.ends_with('i') => text + if bytes > 0 { "B" } else { "" },
        text => text + " B",
    }
}

/// A ratio of costs: `1.05`, `340`.
pub fn ratio(ratio: f64) -> String {
    number(ratio)
}

/// A relative spread: `±3 %`; empty for a single run, which has none.
pub fn spread(spread: f64) -> String {
    match spread * 100.0 {
        percent if percent.is_nan() => String::new(),
        percent if percent < 0.95 => "±<1 %".into(),
        percent if percent < 999.0 => format!("±{percent:.0} %"),
        _ => "±≫".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled() {
        assert_eq!(
            [0.0, 0.25, 0.9996, 9.996, 99.96, 1234.5].map(number),
            ["0", "0.250", "1.00", "10.0", "100", "1234"]
        );
        assert_eq!(figure(55.74, Unit::Nanoseconds), "55.7 ns");
        assert_eq!(figure(1750.0, Unit::Nanoseconds), "1.75 us");
        assert_eq!(figure(2.5e10, Unit::Nanoseconds), "25.0 s");
        assert_eq!(figure(999.7, Unit::Nanoseconds), "1.00 us");
        assert_eq!(figure(12_345.0, Unit::MegaBytes), "12.3 GB/s");
        assert_eq!(figure(0.0123, Unit::MegaOperations), "12.3 kop/s");
    }

    #[test]
    fn sizes() {
        assert_eq!(
            [0, 8, 1000, 1024, 65536, 4 << 20].map(size),
            ["", "8", "1000", "1 Ki", "64 Ki", "4 Mi"]
        );
    }

    #[test]
    fn sizes_in_words() {
        assert_eq!([0, 8, 65536, 4 << 20].map(bytes), ["", "8 B", "64 KiB", "4 MiB"]);
    }

    #[test]
    fn ticks_are_round() {
        let ticks = [1.0, 20.0, 5000.0].map(|ns| tick(ns, Unit::Nanoseconds));
        assert_eq!(ticks, ["1 ns", "20 ns", "5 us"]);
        assert_eq!([0.5, 1.2, 100.0].map(|x| tick(x, Unit::Count)), ["0.5", "1.2", "100"]);
    }

    #[test]
    fn spreads() {
        assert_eq!([0.001, 0.034, 25.0, f64::NAN].map(spread), ["±<1 %", "±3 %", "±≫", ""]);
    }
}
