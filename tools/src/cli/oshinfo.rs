//! The command line of `oshinfo`.

use super::{command as base, flag};
use clap::Command;

/// Defines the command.
pub fn command() -> Command {
    base("oshinfo", "Shows what this installation of OpenSHMEM is and how it is configured")
        .after_help(
            "Under a launcher, as in 'oshrun -n 4 oshinfo', it describes that job; otherwise a job \
             of one PE.",
        )
        .arg(flag("json").help("Print everything as one JSON object").long_help(
            "Print everything as one JSON object, for programs. Sizes are in bytes; what is not set \
             or does not apply is null.",
        ))
}
