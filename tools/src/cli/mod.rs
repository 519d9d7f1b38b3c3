//! The command lines of the commands. Each has a single definition, from which the parser, the
//! help, the options in the manual page and the shell completions are made.

pub mod oshcc;
pub mod oshinfo;
pub mod oshrun;
pub mod oshtop;
pub mod oshtune;
pub mod topics;
pub mod values;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Arg, ArgAction, Command};

/// The version as `--version` prints it after the name.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (oneshmem)");

/// The colours of help and errors on a terminal. Not used if NO_COLOR is set.
pub const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// A command with the settings common to all.
fn command(name: &'static str, about: &'static str) -> Command {
    Command::new(name).version(VERSION).about(about).styles(STYLES)
}

/// An option without a value.
fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}
