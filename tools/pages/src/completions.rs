//! The completions for shells.

use super::Files;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use clap_complete::{Shell, generate};
use oneshmem_tools::cli;
use oneshmem_tools::place::Place;

/// The completion files, named by where shells look for them below `share`.
pub fn all() -> Files {
    let mut files = Files::new();
    for (name, command) in commands() {
        for (shell, path) in [
            (Shell::Bash, format!("bash-completion/completions/{name}")),
            (Shell::Zsh, format!("zsh/site-functions/_{name}")),
            (Shell::Fish, format!("fish/vendor_completions.d/{name}.fish")),
        ] {
            let mut text = Vec::new();
            let command = command.clone().mut_args(without_files);
            let mut command = match shell {
                Shell::Zsh => command.mut_args(escaped),
                _ => command,
            };
            generate(shell, &mut command, name, &mut text);
            files.insert(path, String::from_utf8_lossy(&text).into_owned());
        }
    }
    files
}

/// The commands under each of their names.
fn commands() -> Vec<(&'static str, Command)> {
    let launcher = || {
        let program = Arg::new("program")
            .value_hint(ValueHint::CommandWithArguments)
            .num_args(1..)
            .trailing_var_arg(true);
        // A number of PEs for each place (ppr) is accepted, too, but not offered.
        let places = PossibleValuesParser::new(Place::ALL.map(Place::name));
        cli::oshrun::command().arg(program).mut_arg("map-by", |arg| arg.value_parser(places))
    };
    let wrapper = |name, language| {
        let files = Arg::new("files").value_hint(ValueHint::FilePath).num_args(1..);
        cli::oshcc::command(name, language).mut_args(without_colon).arg(files)
    };
    let c = |name| (name, wrapper(name, &cli::oshcc::C));
    let cxx = |name| (name, wrapper(name, &cli::oshcc::CXX));
    vec![
        ("oshrun", launcher()),
        ("shmemrun", launcher()),
        c("oshcc"),
        cxx("oshc++"),
        cxx("oshCC"),
        cxx("oshcxx"),
        ("oshinfo", cli::oshinfo::command()),
        ("oshtop", cli::oshtop::command()),
        ("oshtune", cli::oshtune::command()),
    ]
}

/// Replaces the colon in a long option by a dash, which the wrappers also accept: for shells a
/// colon ends a word.
fn without_colon(arg: Arg) -> Arg {
    match arg.get_long().map(|long| long.replace(':', "-")) {
        // Leaked: definitions live as long as the program.
        Some(long) => arg.long(&*long.leak()),
        None => arg,
    }
}

/// Says that the value of an option is not a file, unless the option says what it is.
fn without_files(arg: Arg) -> Arg {
    match arg.get_action().takes_values() && arg.get_value_hint() == ValueHint::Unknown {
        true => arg.value_hint(ValueHint::Other),
        false => arg,
    }
}

/// Escapes colons in the names of values. In zsh's descriptions a colon would end the name.
fn escaped(arg: Arg) -> Arg {
    match arg.get_value_names().and_then(|names| names.first()).map(|name| name.replace(':', "\\:"))
    {
        Some(name) => arg.value_name(&*name.leak()),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command on an option in fish's completions of oshrun. It has a line for each value.
    fn in_fish<'t>(text: &'t str, long: &str) -> &'t str {
        let option = format!(" -l {long} ");
        text.split("\ncomplete ").find(|command| command.contains(&option)).unwrap()
    }

    #[test]
    fn files_are_offered_only_where_a_file_is_expected() {
        let files = all();
        let (_, text) = files.iter().find(|(path, _)| path.ends_with("/oshrun.fish")).unwrap();
        for long in ["np", "timeout", "cpu-set", "debug", "map-by", "wdir", "host"] {
            assert!(in_fish(text, long).contains(" -f"), "{}", in_fish(text, long));
        }
        for long in ["env-file", "hostfile", "comm-matrix"] {
            assert!(in_fish(text, long).contains(" -F"), "{}", in_fish(text, long));
        }
        assert!(in_fish(text, "map-by").contains("socket"), "{}", in_fish(text, "map-by"));
    }

    #[test]
    fn every_option_is_completed_in_every_shell() {
        let files = all();
        for (name, mut command) in commands() {
            command.build();
            let of_command = files.iter().filter(|(path, _)| {
                let file = path.rsplit('/').next().unwrap_or_default();
                file.trim_start_matches('_').trim_end_matches(".fish") == name
            });
            let of_command: Vec<_> = of_command.collect();
            assert_eq!(of_command.len(), 3, "{name}");
            for long in command.get_arguments().filter_map(|arg| arg.get_long()) {
                for (path, text) in &of_command {
                    let fish = path.ends_with(".fish");
                    let option = if fish { format!("-l {long}") } else { format!("--{long}") };
                    assert!(text.contains(&option), "{path} lacks {option}");
                    assert!(!text.contains("showme:") && !text.contains("HOST[:"), "{path}");
                }
            }
        }
    }
}
