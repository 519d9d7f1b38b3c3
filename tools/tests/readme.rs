//! The README's words on options and variables hold; and what help prints.

use oneshmem_job::env;
use oneshmem_tools::cli;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn text(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn the_table_of_variables_is_that_of_the_library() {
    let readme = text("README.md");
    let found: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `SHMEM_")).collect();
    let rows = env::entries().into_iter().map(|entry| {
        let others: Vec<_> = entry.others.iter().map(|name| format!("`{name}`")).collect();
        let others =
            if others.is_empty() { " ".into() } else { format!(" {} ", others.join(", ")) };
        let env::Entry { name, default, help, values, .. } = entry;
        format!("| `{name}` |{others}| {default} | {values} | {help} |")
    });
    let rows: Vec<String> = rows.collect();
    assert_eq!(found, rows, "README.md should have the rows\n{}", rows.join("\n"));
}

#[test]
fn every_option_is_described() {
    let readme = text("README.md");
    let command = cli::oshrun::command();
    for arg in command.get_arguments() {
        let long = arg.get_long().map(String::from);
        // Long options may be written with one dash.
        let name = long.or(arg.get_short().map(String::from)).unwrap();
        assert!(readme.contains(&format!("-{name}")), "README.md lacks {name}");
    }
}

/// Runs `oshrun` with these arguments, separated by blanks.
fn oshrun(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oshrun"));
    command.args(arguments.split_whitespace()).output().expect("oshrun runs")
}

/// The text that help prints for a topic.
fn help(topic: &str) -> String {
    let output = oshrun(&format!("--help {topic}"));
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_has_topics() {
    let short = help("");
    for topic in cli::topics::TOPICS {
        let text = help(topic.name);
        assert_ne!(text, short, "{}", topic.name);
        let heading = format!("{}:\n", topic.heading);
        assert!(topic.heading.is_empty() || short.contains(&heading), "{}", topic.name);
        for line in topic.text.lines().filter(|line| !line.is_empty()) {
            assert!(text.contains(line), "--help {}: {text}\nlacks {line}", topic.name);
        }
        // Options of other topics are not in it.
        let binding = text.contains("--bind-to <WHAT>");
        assert_eq!(binding, topic.name == "binding", "{}: {text}", topic.name);
    }
    let all = help("all");
    for arg in cli::oshrun::command().get_arguments() {
        let option = arg.get_long().map_or("-x".into(), |long| format!("--{long}"));
        assert!(short.contains(&option) && all.contains(&option), "{option}");
    }
    // What follows is a program, not a topic.
    assert_eq!(help("./a.out"), short);
    assert_eq!(oshrun("-h").stdout, short.as_bytes());
    for wrong in ["--help=bindings", "--help bindings"] {
        let output = oshrun(wrong);
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8(output.stderr).unwrap();
        let words = ["'bindings'", "environment", "similar value exists: 'binding'"];
        assert!(words.iter().all(|word| stderr.contains(word)), "{stderr}");
    }
    // Only a terminal gets colours.
    assert!(!all.contains('\x1b'));
}
