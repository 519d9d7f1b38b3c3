//! What a command line consists of, before its options are read.
//!
//! ```text
//! oshrun -np 1 --timeout 60 ./a master : -np 3 ./a worker
//!        options            program      options program
//! ```
//!
//! Users come from other launchers, so long options are taken with one dash or two, everything
//! from the program's name on belongs to the program, and a lone colon begins another part.

use super::foreign::Foreign;
use clap::error::ErrorKind;
use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};

/// A part of a command line.
#[derive(Debug)]
pub struct Piece {
    /// The options as `clap` takes them: this command's own name first, long ones with two dashes.
    pub options: Vec<OsString>,
    /// The program and its arguments; empty if there is none.
    pub program: Vec<OsString>,
}

/// Divides a command line into its parts: at least one.
pub fn split(
    command: &mut Command,
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<Vec<Piece>, clap::Error> {
    let name = arguments.next().unwrap_or_default();
    let mut arguments = arguments.peekable();
    let mut parts = Vec::new();
    loop {
        let mut options = vec![name.clone()];
        // After two dashes all is the program's, also a colon.
        let mut colon_ends = true;
        while let Some(argument) = arguments.next_if(|argument| is_option(argument)) {
            if argument == "--" {
                colon_ends = false;
                break;
            }
            let (argument, wants_value) = two_dashes(command, argument)?;
            options.push(argument);
            if wants_value {
                options.extend(arguments.next());
            }
        }
        let mut program = Vec::new();
        while let Some(argument) = arguments.next_if(|text| !colon_ends || text != ":") {
            program.push(argument);
        }
        parts.push(Piece { options, program });
        let colon = arguments.next();
        if colon.is_none() {
            return Ok(parts);
        }
    }
}

fn is_option(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.len() > 1 && bytes[0] == b'-'
}

/// An option as `clap` wants it, and whether the next argument is its value. What is no option
/// of any launcher is left for `clap` to complain about.
fn two_dashes(command: &mut Command, argument: OsString) -> Result<(OsString, bool), clap::Error> {
    let Some(text) = argument.to_str() else { return Ok((argument, false)) };
    let (dashes, rest) = text.split_at(if text.starts_with("--") { 2 } else { 1 });
    let (name, value) = match rest.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (rest, None),
    };
    let long = command.get_arguments().find(|arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().unwrap_or_default().contains(&name)
    });
    if let Some(arg) = long
        && (name.len() > 1 || dashes == "--")
    {
        return Ok((format!("--{rest}").into(), takes_value(arg) && value.is_none()));
    }
    if let Some(foreign) = Foreign::look_up(dashes, name) {
        return Err(command.error(ErrorKind::UnknownArgument, foreign));
    }
    match letters(command, rest) {
        Some(wants_value) if dashes == "-" => Ok((argument, wants_value)),
        // So that no letter of an unknown word is taken for an option.
        _ if name.len() > 1 => Ok((format!("--{rest}").into(), false)),
        _ => Ok((argument, false)),
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// Whether the last of these letters wants the next argument as its value: `-n 4`, `-n4`,
/// `-ln4`. `None` if they are no options of one letter.
fn letters(command: &Command, text: &str) -> Option<bool> {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let arg = command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
        if takes_value(arg) {
            // The value, if it is here: a number, or the name of a variable.
            let value = letters.as_str();
            let is_name = value.starts_with(char::is_alphabetic);
            return (!is_name || letter == 'x').then_some(value.is_empty());
        }
    }
    Some(false)
}
