//! Splits a command line into its parts, before its options are parsed.
//!
//! ```text
//! oshrun -np 1 --timeout 60 ./a master : -np 3 ./a worker
//!        options            program      options program
//! ```
//!
//! As in other launchers, long options may have one dash or two, everything from the program's name
//! on belongs to the program, and a lone colon begins another part.

use super::foreign::Foreign;
use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};

/// One part of a command line.
#[derive(Debug)]
pub struct Piece {
    /// The options in the form that `clap` takes: this command's name first, long options with two
    /// dashes.
    pub options: Vec<OsString>,
    /// The program and its arguments; empty if there is none.
    pub program: Vec<OsString>,
    /// Notes on options that have no effect.
    pub notes: Vec<String>,
}

/// Splits a command line into its parts. There is at least one.
pub fn split(
    command: &mut Command,
    arguments: impl Iterator<Item = OsString>,
) -> Result<Vec<Piece>, clap::Error> {
    let mut arguments = arguments.collect::<Vec<_>>().into_iter().peekable();
    let name = arguments.next().unwrap_or_default();
    let mut parts = Vec::new();
    loop {
        let mut options = vec![name.clone()];
        let mut notes = Vec::new();
        // After two dashes everything belongs to the program, even a colon.
        let mut colon_ends = true;
        while let Some(argument) = arguments.next_if(|argument| is_option(argument)) {
            if argument == "--" {
                colon_ends = false;
                break;
            }
            let (argument, value) = match two_dashes(command, argument)? {
                Found::Option(argument, value) => (argument, value),
                Found::Harmless(note) => {
                    notes.push(note);
                    continue;
                }
            };
            options.push(argument);
            let is_last = arguments.len() == 1;
            options.extend(arguments.next_if(|next| value.is(next, is_last)));
        }
        let mut program = Vec::new();
        while let Some(argument) = arguments.next_if(|text| !colon_ends || text != ":") {
            program.push(argument);
        }
        parts.push(Piece { options, program, notes });
        let colon = arguments.next();
        if colon.is_none() {
            return Ok(parts);
        }
    }
}

/// Whether the argument after an option is the option's value.
enum Value {
    /// No.
    Here,
    /// Yes.
    Next,
    /// Only if it is one of these, or the last word and no path: then it was meant to be one.
    Among(Vec<PossibleValue>),
}

impl Value {
    /// Where the value of an option is that has none attached.
    fn of(arg: &Arg) -> Self {
        let optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
        match arg.get_action().takes_values() {
            true if !optional => Self::Next,
            true if !arg.is_require_equals_set() => Self::Among(arg.get_possible_values()),
            _ => Self::Here,
        }
    }

    /// Whether the next argument is the value. `is_last` says whether it is the last one.
    fn is(&self, next: &OsStr, is_last: bool) -> bool {
        let is_word = || !next.as_encoded_bytes().iter().any(|byte| b"/-:".contains(byte));
        match self {
            Self::Here => false,
            Self::Next => true,
            Self::Among(values) => {
                values.iter().any(|value| next == value.get_name()) || (is_last && is_word())
            }
        }
    }
}

fn is_option(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.len() > 1 && bytes[0] == b'-'
}

/// An argument that begins with a dash, recognised.
enum Found {
    /// An option in the form that `clap` wants, and where its value is.
    Option(OsString, Value),
    /// One of another launcher that has no effect, and what to say about it.
    Harmless(String),
}

/// `clap` reports options that no launcher has.
fn two_dashes(command: &mut Command, argument: OsString) -> Result<Found, clap::Error> {
    let Some(text) = argument.to_str() else { return Ok(Found::Option(argument, Value::Here)) };
    let (dashes, rest) = text.split_at(if text.starts_with("--") { 2 } else { 1 });
    let (name, value) = match rest.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (rest, None),
    };
    let long = command.get_arguments().find(|arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().unwrap_or_default().contains(&name)
    });
    if let Some(arg) = long.filter(|_| name.len() > 1 || dashes == "--") {
        let place = if value.is_some() { Value::Here } else { Value::of(arg) };
        return Ok(Found::Option(format!("--{rest}").into(), place));
    }
    if let Some(note) = Foreign::harmless(dashes, name) {
        return Ok(Found::Harmless(note));
    }
    if let Some(foreign) = Foreign::look_up(dashes, name) {
        return Err(command.error(ErrorKind::UnknownArgument, foreign));
    }
    match letters(command, rest) {
        Some(value) if dashes == "-" => Ok(Found::Option(argument, value)),
        // Two dashes, so that `clap` does not read the letters of an unknown word as options.
        _ if name.len() > 1 => Ok(Found::Option(format!("--{rest}").into(), Value::Here)),
        _ => Ok(Found::Option(argument, Value::Here)),
    }
}

/// Where the value of the last of these letters is: `-n 4`, `-n4`, `-ln4`. `None` if they are not
/// options of one letter.
fn letters(command: &Command, text: &str) -> Option<Value> {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let arg = command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
        if arg.get_action().takes_values() {
            // The attached value, if any: a number, or the name of a variable.
            let value = letters.as_str();
            let is_name = value.starts_with(char::is_alphabetic);
            let place = if value.is_empty() { Value::of(arg) } else { Value::Here };
            return (!is_name || letter == 'x').then_some(place);
        }
    }
    Some(Value::Here)
}
