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
            let text = String::from_utf8_lossy(&text);
            files.insert(path, completed(shell, name, &text));
        }
    }
    files
}

/// The generated text with what the generator does not do: it makes a function's name of any command's, and knows
/// nothing of the compiler that a wrapper passes options to. GCC lists those that begin with a word.
fn completed(shell: Shell, name: &str, text: &str) -> String {
    let is_wrapper = WRAPPERS.iter().any(|(wrapper, _)| *wrapper == name);
    match shell {
        Shell::Bash => {
            // With extglob, which bash-completion sets, a plus before a parenthesis begins a pattern.
            let function = format!("_{name}");
            let text = text.replace(&function, &function.replace('+', "_"));
            let options = r#"$([[ ${cur} == -* ]] && "$1" --completion="${cur}" 2>/dev/null)"#;
            match is_wrapper {
                true => text.replace(" --info\"", &format!(" --info {options}\"")),
                false => text,
            }
        }
        Shell::Zsh if is_wrapper => {
            let options = r#"${(f)"$(_call_program options $words[1] --completion=${(q)PREFIX})"}"#;
            let more = format!(
                "    [[ $PREFIX == -* ]] && compadd -- {options} && ret=0\n    return ret\n"
            );
            text.replace("&& ret=0\n}", &format!("&& ret=0\n{more}}}"))
        }
        Shell::Fish if is_wrapper => format!(
            "{text}complete -c {name} -n 'string match -q -- \"-*\" (commandline -ct)' -a \
             '({name} --completion=(commandline -ct) 2>/dev/null)'\n"
        ),
        _ => text.into(),
    }
}

/// The wrappers under each of their names.
const WRAPPERS: [(&str, &cli::oshcc::Language); 4] = [
    ("oshcc", &cli::oshcc::C),
    ("oshc++", &cli::oshcc::CXX),
    ("oshCC", &cli::oshcc::CXX),
    ("oshcxx", &cli::oshcc::CXX),
];

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
    let wrapper = |(name, language)| {
        let files = Arg::new("files").value_hint(ValueHint::FilePath).num_args(1..);
        (name, cli::oshcc::command(name, language).mut_args(without_colon).arg(files))
    };
    let others = [
        ("oshrun", launcher()),
        ("shmemrun", launcher()),
        ("oshinfo", cli::oshinfo::command()),
        ("oshtop", cli::oshtop::command()),
        ("oshtune", cli::oshtune::command()),
    ];
    others.into_iter().chain(WRAPPERS.map(wrapper)).collect()
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

    /// The output of the shell for this script, if the shell is installed.
    fn said(shell: &str, arguments: &[&str]) -> Option<String> {
        let output = std::process::Command::new(shell).args(arguments).output().ok()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{shell} {arguments:?}: {errors}");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    fn shells_read_them_and_complete_options_of_the_compiler() {
        let folder = std::env::temp_dir().join(format!("completions-{}", std::process::id()));
        for (path, text) in all() {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let path = path.to_str().unwrap();
            if path.contains("/bash-completion/") {
                said("bash", &["-O", "extglob", "-n", path]);
            } else if path.contains("/zsh/") {
                said("zsh", &["-o", "kshglob", "-n", path]);
            } else {
                said("fish", &["-n", path]);
            }
        }
        let here = folder.display();
        for name in ["oshcc", "oshc++"] {
            let text = format!(
                "shopt -s extglob; source '{here}/bash-completion/completions/{name}'
                 function {name} {{ [ \"$1\" = --completion=-fo ] && echo -fopenmp; }}
                 COMP_WORDS=({name} -fo) COMP_CWORD=1
                 $(complete -p {name} | sed 's/.*-F \\([^ ]*\\).*/\\1/') {name} -fo {name}
                 echo ${{COMPREPLY[*]}}"
            );
            let said_by_bash = said("bash", &["-c", &text]);
            assert!(said_by_bash.is_none_or(|text| text == "-fopenmp\n"), "{name}");
            let text = format!(
                "function {name}; test $argv[1] = --completion=-fo; and echo -- -fopenmp; end
                 source '{here}/fish/vendor_completions.d/{name}.fish'; complete -C '{name} -fo'"
            );
            let said_by_fish = said("fish", &["--no-config", "-c", &text]);
            assert!(said_by_fish.is_none_or(|text| text.contains("-fopenmp")), "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
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
