//! The lines printed by the benchmark programs. `programs/bench.h` defines them.

use anyhow::{Context, bail};

use crate::report::{Key, Summary, Unit};

/// One line of a program's output.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// Figures for one point.
    Result(Key, Unit, Summary),
    /// A quantity that was not measured, and why.
    Skip(String, String),
    /// An operation with a wrong result.
    Wrong(String, String),
    /// A fact about the implementation.
    Fact(String, String),
    /// All checks have passed.
    Done,
}

/// Parses one line. Lines that do not begin with a known word are `None`: launchers and libraries
/// print, too. A known word with invalid text is an error.
pub fn parse(line: &str) -> anyhow::Result<Option<Line>> {
    let (word, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
    let named = || {
        let (name, text) = rest.split_once(' ').with_context(|| format!("half a line: {line}"))?;
        anyhow::Ok((name.to_owned(), text.to_owned()))
    };
    Ok(Some(match word {
        "RESULT" => result(rest).with_context(|| format!("not a result: {line}"))?,
        "SKIP" => named().map(|(name, why)| Line::Skip(name, why))?,
        "WRONG" => named().map(|(name, what)| Line::Wrong(name, what))?,
        "FACT" => named().map(|(name, value)| Line::Fact(name, value))?,
        "DONE" if rest.is_empty() => Line::Done,
        _ => return Ok(None),
    }))
}

fn result(rest: &str) -> anyhow::Result<Line> {
    let fields: Vec<&str> = rest.split(' ').collect();
    let &[name, size, pes, unit, min, median, mean, max, samples] = &fields[..] else {
        bail!("{} fields instead of 9", fields.len());
    };
    let unit = Unit::parse(unit).with_context(|| format!("unknown unit {unit}"))?;
    let figure = |text: &str| match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => bail!("no figure: {text}"),
    };
    let summary = Summary {
        min: figure(min)?,
        median: figure(median)?,
        mean: figure(mean)?,
        max: figure(max)?,
        count: samples.parse()?,
    };
    if summary.min > summary.median || summary.median > summary.max {
        bail!("minimum, median and maximum are out of order");
    }
    Ok(Line::Result(
        Key { name: name.into(), size: size.parse()?, pes: pes.parse()? },
        unit,
        summary,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result() {
        let line =
            parse("RESULT pingpong.put 8 2 ns 55.7 56.5 175e1 2.7e+04 20\n").unwrap().unwrap();
        let key = Key { name: "pingpong.put".into(), size: 8, pes: 2 };
        let summary = Summary { min: 55.7, median: 56.5, mean: 1750.0, max: 27000.0, count: 20 };
        assert_eq!(line, Line::Result(key, Unit::Nanoseconds, summary));
    }

    #[test]
    fn the_other_lines() {
        assert_eq!(parse("DONE").unwrap(), Some(Line::Done));
        assert_eq!(
            parse("SKIP signal.all needs OpenSHMEM 1.5").unwrap(),
            Some(Line::Skip("signal.all".into(), "needs OpenSHMEM 1.5".into()))
        );
        assert_eq!(parse("FACT name x y").unwrap(), Some(Line::Fact("name".into(), "x y".into())));
    }

    #[test]
    fn what_others_print_is_passed_by() {
        for line in ["", "warning: no fabric", "RESULTS of something", "DONE already"] {
            assert_eq!(parse(line).unwrap(), None, "{line}");
        }
    }

    #[test]
    fn nonsense_is_an_error() {
        for line in [
            "RESULT a 8 2 ns 1 2 3",
            "RESULT a 8 2 furlongs 1 2 3 4 5",
            "RESULT a 8 2 ns 1 nan 3 4 5",
            "RESULT a 8 2 ns 3 2 2 4 5",
            "RESULT a -8 2 ns 1 2 3 4 5",
            "SKIP alone",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
