//! The command line of `oshtop`.

use super::{command as base, values};
use clap::{Arg, Command, value_parser};

const EXAMPLES: &str = "\
Examples:
  oshrun --top=0 -n 8 ./program &     (0: counts for oshtop, and prints nothing)
  oshtop
  oshtop --every 0.5 4711             (the job of oshrun, or of a PE, with this process ID)";

/// Defines the command.
pub fn command() -> Command {
    base("oshtop", "Shows what the PEs of a running job on this machine do")
        .after_help(EXAMPLES)
        .arg(
            Arg::new("pid")
                .value_name("PID")
                .value_parser(value_parser!(u32).range(1..=i32::MAX as i64))
                .help("The process ID of the job's oshrun, or of a PE [default: the only job]")
                .long_help(
                    "The process ID of the job's oshrun, or, under any launcher, of a PE. By default the \
                     only job that this user's oshrun runs here.",
                ),
        )
        .arg(
            Arg::new("every")
                .long("every")
                .value_name("SECONDS")
                .default_value("2")
                .value_parser(values::repetition)
                .help("How often to look"),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn bad_values_are_told() {
        for (arguments, why) in [
            (&["--every", "0"][..], "from 0.1"),
            (&["--every", "soon"], "from 0.1"),
            (&["0"], "not in 1.."),
            (&["ring"], "invalid digit"),
            (&["1", "2"], "unexpected argument '2'"),
        ] {
            let error = command().try_get_matches_from(["oshtop"].iter().chain(arguments));
            let text = error.expect_err("a bad value").to_string();
            assert!(text.contains(why), "{arguments:?}: {text}");
        }
    }
}
