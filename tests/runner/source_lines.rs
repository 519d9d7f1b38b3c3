//! Messages say where the program has called: file and line under oshrun, if the program has debugging
//! information; else function, file and address.

use crate::launch::{self, Outcome};
use crate::launchers::Launcher;
use crate::nodes::{self, DIRECT};
use crate::{Result, compile, tree};
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "tests/programs/called.c";
const LIBRARY: &str = "tests/programs/called_library.c";

/// How the program is made, with debugging information: a name, and options.
const KINDS: [(&str, &[&str]); 7] = [
    ("pie", &["-fPIE", "-pie"]),
    ("no-pie", &["-fno-pie", "-no-pie"]),
    ("static", &["-fno-pie", "-static"]),
    ("static-pie", &["-fPIE", "-static-pie"]),
    ("unoptimised", &["-O0"]),
    ("inline", &["-DSHMEM_INLINE"]),
    ("inline-static", &["-DSHMEM_INLINE", "-static"]),
];

/// The program's arguments, words of the message, and of the line that is called from.
const CALLS: [(&[&str], &str, &str); 4] = [
    (&["here"], "shmem_long_p: pe = 2", "a wrong argument"),
    (&["collective"], "shmem_broadcastmem: PE_root = -1", "a wrong root"),
    (&[], "shmem_my_pe", "too early"),
    (&["malloc"], "shmem_malloc", "too much"),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, options) in KINDS {
        trials.push(Trial::test(format!("source-lines/{name}"), move || lines(name, options)));
    }
    trials.push(Trial::test("source-lines/library", library));
    trials.push(Trial::test("source-lines/without-debugging-information", without_information));
    trials.push(Trial::test("source-lines/stripped", stripped));
    trials.push(Trial::test("source-lines/stripped-static", stripped_static));
    trials.push(Trial::test("source-lines/alone", alone));
    trials.push(Trial::test("source-lines/nodes", over_nodes));
    trials.push(Trial::test("source-lines/foreign", foreign));
    trials.push(Trial::test("source-lines/damaged", damaged));
    trials
}

fn program(name: &str, options: &[&str]) -> Result<PathBuf> {
    compile::plain_in(SOURCE, options, &format!("source-lines-{name}"))
}

/// `FILE:LINE` of the line with this comment.
fn line(file: &str, words: &str) -> Result<String> {
    let path = tree::repository(file);
    let text = tree::read(&path)?;
    let words = format!("/* {words} */");
    let line = text.lines().position(|line| line.contains(&words)).ok_or("no such line")?;
    Ok(format!("{}:{}", path.display(), line + 1))
}

fn run(program: &Path, arguments: &[&str]) -> Result<Outcome> {
    let mut command = launch::oshrun(2, program);
    // Paths are shown from there on.
    command.args(arguments).current_dir("/").env("SHMEM_DEBUG", "1");
    launch::run(command)
}

fn lines(name: &str, options: &[&str]) -> Result {
    let program = program(name, options)?;
    for (arguments, message, words) in CALLS {
        let line = line(SOURCE, words)?;
        let line = line.trim_start_matches('/');
        let outcome = run(&program, arguments)?;
        outcome.require(outcome.status != 0 || arguments == ["malloc"], "a status")?;
        outcome.require(outcome.stderr.contains(message), message)?;
        let file = format!(" in {}(+0x", program.display());
        let is_said = |said: &str| {
            said.contains(": called from ")
                && said.contains(&file)
                && said.ends_with(&format!(") at {line}"))
        };
        outcome.require(outcome.stderr.lines().any(is_said), format!("called at {line}"))?;
    }
    Ok(())
}

/// The call is in a library of the user's, that calls this one.
fn library() -> Result {
    let library = compile::plain_in(LIBRARY, &["-shared", "-fPIC"], "source-lines-library")?;
    let shared = library.to_str().ok_or("a path that is no text")?;
    let program = program("library", &["-DWITH_LIBRARY", shared])?;
    let line = line(LIBRARY, "a wrong argument")?;
    let said = "called from put_far+0x";
    let outcome = run(&program, &["library"])?;
    outcome.fails(&[
        "shmem_long_p: pe = 1000",
        said,
        &format!(") at {}", line.trim_start_matches('/')),
    ])
}

fn without_information() -> Result {
    let outcome = run(&program("g0", &["-g0"])?, &["here"])?;
    outcome.fails(&["called from main+0x", "called(+0x"])?;
    outcome.require(!outcome.stderr.contains(") at "), "no line")
}

fn stripped() -> Result {
    let program = program("stripped", &["-s"])?;
    let outcome = run(&program, &["here"])?;
    outcome.fails(&[format!("called from {}(+0x", program.display())])?;
    outcome.require(!outcome.stderr.contains(") at "), "no line")
}

/// Here nothing tells the library's functions from the program's.
fn stripped_static() -> Result {
    let program = program("stripped-static", &["-s", "-static"])?;
    let outcome = run(&program, &["here"])?;
    let first = format!("   0 {}(+0x", program.display());
    outcome.fails(&["called from one of these, in a program without symbols:", &first])
}

/// Without oshrun, `addr2line` takes what the message says.
fn alone() -> Result {
    let program = program("pie", KINDS[0].1)?;
    let outcome = Launcher::Slurm.run(1, &program, &["here"], &[])?.remove(0);
    outcome.fails(&["called from main+0x"])?;
    outcome.require(!outcome.stderr.contains(") at "), "no line")?;
    if tree::skip_without("addr2line") {
        return Ok(());
    }
    let address = outcome.stderr.split_once("(+").and_then(|(_, rest)| rest.split_once(')'));
    let (address, _) = address.ok_or_else(|| outcome.report("an address"))?;
    let mut command = Command::new("addr2line");
    command.arg("-e").arg(&program).arg(address);
    launch::run(command)?.prints(&[line(SOURCE, "a wrong argument")?])
}

/// The launcher of each host looks at its files.
fn over_nodes() -> Result {
    let mut command = nodes::oshrun("a,b", 2, DIRECT, &[]);
    command.arg(program("pie", KINDS[0].1)?).arg("here").current_dir("/");
    let line = line(SOURCE, "a wrong argument")?;
    launch::run(command)?.fails(&[format!(") at {}", line.trim_start_matches('/'))])
}

/// A file that a line names is not believed to be a program: reading it may wait for ever, never end, or do
/// something. Nothing is added, and nothing else happens.
fn foreign() -> Result {
    let scratch = tree::scratch("source-lines-foreign");
    std::fs::create_dir_all(&scratch)?;
    let fifo = scratch.join("fifo");
    let _ = std::fs::remove_file(&fifo);
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU)?;
    let text = scratch.join("text");
    tree::write(&text, "\x7fELF, it says")?;
    let huge = scratch.join("huge");
    std::fs::File::create(&huge)?.set_len(1 << 40)?;
    let link = scratch.join("link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("/dev/zero", &link)?;
    let paths = [&fifo, &text, &huge, &link, &scratch, Path::new("/dev/zero"), Path::new("/none")];
    let mut lines: Vec<_> = paths
        .map(|path| format!("oneshmem: PE 0: called from main+0x1 in {}(+0x10)", path.display()))
        .into();
    // More than are ever looked up.
    lines.extend((0..5000).map(|i| format!("oneshmem: PE 1:   {i} f+0x1 in /x{i}(+0x1)")));
    let said = scratch.join("said");
    tree::write(&said, lines.join("\n") + "\n")?;
    let mut command = launch::oshrun(1, Path::new("sh"));
    command.args(["-c", "cat \"$0\" >&2"]).arg(&said);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let as_written = outcome.stderr.lines().eq(lines.iter().map(String::as_str));
    outcome.require(as_written, "the lines as they were written")
}

/// A program whose debugging information is damaged, in many ways: what is added, if anything, is a file and
/// a line.
fn damaged() -> Result {
    let good = std::fs::read(program("pie", KINDS[0].1)?)?;
    let scratch = tree::scratch("source-lines-damaged");
    std::fs::create_dir_all(&scratch)?;
    let mut lines = Vec::new();
    for index in 0..64_usize {
        let mut bytes = good.clone();
        // From somewhere behind the headers on, every so often.
        let step = 7 + 41 * index;
        for at in (64 + 97 * index..bytes.len()).step_by(step) {
            bytes[at] = bytes[at].wrapping_add(1 + index as u8);
        }
        if index % 4 == 0 {
            bytes.truncate(good.len() * (index + 4) / 72);
        }
        let file = scratch.join(index.to_string());
        tree::write(&file, bytes)?;
        for address in (0x1000..0x1400).step_by(64) {
            lines.push(format!(
                "oneshmem: called from main+0x1 in {}(+{address:#x})",
                file.display()
            ));
        }
    }
    let said = scratch.join("said");
    tree::write(&said, lines.join("\n") + "\n")?;
    let mut command = launch::oshrun(1, Path::new("sh"));
    command.args(["-c", "cat \"$0\" >&2"]).arg(&said);
    let outcome = launch::run(command)?;
    outcome.success()?;
    let said: Vec<_> = outcome.stderr.lines().collect();
    outcome.require(said.len() == lines.len(), "as many lines as were written")?;
    let fits = |(said, line): (&&str, &String)| {
        let added = said.strip_prefix(line.as_str())?;
        let number = |it: &str| it.rsplit_once(':').is_some_and(|it| it.1.parse::<u32>().is_ok());
        (added.is_empty() || added.starts_with(" at ") && number(added)).then_some(())
    };
    outcome.require(said.iter().zip(&lines).all(|it| fits(it).is_some()), "a file and a line")
}
