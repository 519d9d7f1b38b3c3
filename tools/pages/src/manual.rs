//! The pages from handwritten templates, with the version (`@VERSION@`), the options of the command
//! (`@OPTIONS@`), the environment variables (`@VARIABLES@`) and a program (`@EXAMPLE@`) filled in.

use clap::Command;
use clap_mangen::Man;
use oneshmem_interface::roff;
use oneshmem_job::env;
use oneshmem_tools::cli;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// A program that the tests run, for `onenode(7)`.
const EXAMPLE: &str = include_str!("../../../tests/node/two.c");

/// The page of this name, such as `oshrun.1`.
pub fn page(date: &str, templates: &Path, name: &str) -> io::Result<String> {
    let path = templates.join(format!("{name}.in"));
    let failed = |why: String| io::Error::other(format!("{}: {why}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    // The first line has an empty argument for the date.
    let mut page = text.replacen("\"\"", &format!("\"{date}\""), 1);
    page = page.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    if page.contains("@OPTIONS@\n") {
        let command = command(name).ok_or_else(|| failed("no such command has options".into()))?;
        page = page.replace("@OPTIONS@\n", &options(command)?);
    }
    page = page.replace("@EXAMPLE@\n", &roff::lines(EXAMPLE));
    Ok(page.replace("@VARIABLES@\n", &variables()))
}

/// The command that a page describes.
fn command(page: &str) -> Option<Command> {
    Some(match page {
        "oshrun.1" => cli::oshrun::command(),
        "oshcc.1" => cli::oshcc::command("oshcc", &cli::oshcc::C),
        "oshinfo.1" => cli::oshinfo::command(),
        "oshtop.1" => cli::oshtop::command(),
        "oshtune.1" => cli::oshtune::command(),
        _ => return None,
    })
}

/// The section on options. Help headings become subsections.
fn options(command: Command) -> io::Result<String> {
    let mut bytes = Vec::new();
    Man::new(command).render_options_section(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    let mut section = String::from(".SH OPTIONS\n");
    for line in text.lines() {
        match line.strip_prefix(".SH ") {
            Some("OPTIONS") => {}
            Some(heading) => {
                let (first, rest) = heading.split_at(1);
                let _ = writeln!(section, ".SS {first}{}", rest.to_lowercase());
            }
            None => {
                let _ = writeln!(section, "{line}");
            }
        }
    }
    Ok(section)
}

/// The environment variables of the library.
fn variables() -> String {
    let mut text = String::new();
    for entry in env::entries() {
        let others: String = entry.others.iter().map(|name| format!("\\fR, \\fP{name}")).collect();
        let _ = writeln!(
            text,
            ".TP\n.B {}{others}\n{}\n.br\nValues: {}.\n.br\nDefault: {}.",
            entry.name,
            roff::code(entry.help),
            roff::code(&entry.values),
            roff::code(entry.default)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshmem_interface::man;
    use std::collections::BTreeSet;

    const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/man");

    const COMMANDS: [&str; 5] = ["oshrun.1", "oshcc.1", "oshinfo.1", "oshtop.1", "oshtune.1"];

    fn rendered(name: &str) -> String {
        page("2000-01-01", Path::new(TEMPLATES), name).unwrap()
    }

    #[test]
    fn every_template_makes_a_page() {
        let templates = fs::read_dir(TEMPLATES).unwrap().map(|entry| entry.unwrap().file_name());
        let pages = man::OTHERS.map(|(name, section)| format!("{name}.{section}.in").into());
        assert_eq!(templates.collect::<BTreeSet<_>>(), BTreeSet::from(pages));
        for (name, section) in man::OTHERS {
            let page = rendered(&format!("{name}.{section}"));
            assert!(!page.contains('@'), "{name} has a placeholder left");
            assert!(page.starts_with(".TH ") && page.contains(" \"2000-01-01\" "), "{name}");
        }
    }

    /// The long options (with two dashes) that a text names.
    fn named(text: &str) -> impl Iterator<Item = String> {
        let words: Vec<String> = text
            .replace("\\-", "-")
            .split(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c)))
            .filter(|word| word.starts_with("--") && word.len() > 2)
            .map(|word| word.trim_end_matches(':').to_owned())
            .collect();
        words.into_iter()
    }

    #[test]
    fn every_option_is_in_the_manual_page() {
        for name in COMMANDS {
            let page = rendered(name);
            let mut command = command(name).unwrap();
            command.build();
            for arg in command.get_opts() {
                let long = arg.get_long().map(|long| format!("--{long}"));
                let option = long.or(arg.get_short().map(|short| format!("-{short}"))).unwrap();
                let entry = format!("\\fB{}\\fR", option.replace('-', "\\-"));
                let line = page.lines().find(|line| line.contains(&entry));
                assert!(line.is_some(), "{name} lacks {option}");
            }
        }
    }

    #[test]
    fn pages_name_no_option_that_does_not_exist() {
        for name in COMMANDS {
            // Pages of other commands say how to run a job for them.
            let mut commands = [command(name).unwrap(), cli::oshrun::command()];
            commands.iter_mut().for_each(Command::build);
            let known: Vec<String> = commands
                .iter()
                .flat_map(Command::get_arguments)
                .flat_map(|arg| [arg.get_long()].into_iter().flatten())
                .map(|long| format!("--{long}"))
                .collect();
            for option in named(&rendered(name)) {
                assert!(known.contains(&option), "{name} names {option}");
            }
        }
    }

    #[test]
    fn every_variable_is_in_the_manual_page() {
        let page = rendered("shmem_environment.7");
        for variable in env::ALL {
            assert!(page.contains(&format!("\n.B {}", variable.name)), "{}", variable.name);
            assert!(page.contains(&roff::code(&variable.values())), "{}", variable.name);
        }
    }
}
