//! What the README says of options and variables is so; and what help prints.

mod support;
use support::*;

use oneshmem::env;
use oneshmem_tools::cli;
use std::fs;
use std::path::Path;

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

/// What help prints for a topic.
fn help(topic: &str) -> String {
    run(oshrun(&format!("--help {topic}"))).ended_with(0).stdout
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
    assert_eq!(run(oshrun("--help ./a.out")).ended_with(0).stdout, short);
    assert_eq!(run(oshrun("-h")).ended_with(0).stdout, short);
    for wrong in ["--help=bindings", "--help bindings"] {
        let done = run(oshrun(wrong)).ended_with(2);
        let words = ["'bindings'", "environment", "similar value exists: 'binding'"];
        assert!(words.iter().all(|word| done.stderr.contains(word)), "{done:?}");
    }
    // Only a terminal gets colours.
    assert!(!all.contains('\x1b'));
}
