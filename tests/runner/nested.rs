//! A process that a PE starts is no PE of its job, whichever launcher's variables it inherits: it is a job of one,
//! or the job of a launcher that the PE starts.

use crate::launch::all_succeed;
use crate::launchers::Launcher;
use crate::{Result, compile, tree};
use libtest_mimic::Trial;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for launcher in Launcher::ALL {
        let name = format!("nested/{}", launcher.name());
        trials.push(launcher.trial(name, move || nested(launcher)));
    }
    let both = "nested/oshrun-under-hydra".to_owned();
    trials.push(Launcher::Hydra.trial(both, oshrun_under_hydra));
    trials
}

/// Each PE starts the program, `oshinfo` and launchers; then it executes the program again, which is
/// the job's next one, except under `oshrun`.
fn nested(launcher: Launcher) -> Result {
    let program = compile::plain("tests/programs/starter.c", &[])?;
    let shown = program.display();
    let mut commands = vec![
        shown.to_string(),
        format!("{} -n 3 {shown}", tree::prefix("bin/oshrun").display()),
        format!("{} | grep Launcher", tree::prefix("bin/oshinfo").display()),
    ];
    let mut expected = vec!["started: PE 0 of 1", "Launcher         none; 1 PE"];
    expected.extend(["started: PE 0 of 3", "started: PE 1 of 3", "started: PE 2 of 3"]);
    if Launcher::Hydra.is_present() {
        // Of another number of PEs than the outer job. Its input stays open, as in `launch`.
        commands.push(format!("sleep 1 | mpiexec.hydra -n 3 {shown}"));
        expected.extend(["started: PE 0 of 3", "started: PE 1 of 3", "started: PE 2 of 3"]);
    }
    let arguments: Vec<_> = commands.iter().map(String::as_str).chain(["again"]).collect();
    let pes = launcher.pes().iter().copied().find(|pes| *pes > 1).unwrap_or(1);
    let mut lines: Vec<String> =
        expected.iter().flat_map(|line| (0..pes).map(|_| line.to_string())).collect();
    lines.extend((0..pes).map(|pe| match launcher {
        Launcher::Oshrun => "started: PE 0 of 1".to_string(),
        _ => format!("started: PE {pe} of {pes}"),
    }));
    told(launcher, pes, &arguments, lines)
}

/// The PEs of `oshrun` are no processes of the launcher that has started `oshrun`.
fn oshrun_under_hydra() -> Result {
    let program = compile::plain("tests/programs/starter.c", &[])?;
    let shown = program.display().to_string();
    let oshrun = tree::prefix("bin/oshrun");
    let outcomes = Launcher::Hydra.run(2, &oshrun, &["-n", "1", &shown, &shown, "again"], &[])?;
    outcomes[0].success()?;
    outcomes[0].require(
        outcomes[0].stdout.lines().filter(|line| *line == "started: PE 0 of 1").count() == 4,
        "expected four jobs of one PE",
    )
}

/// Runs the program with these arguments, which prints these lines in some order.
fn told(launcher: Launcher, pes: usize, arguments: &[&str], mut expected: Vec<String>) -> Result {
    let program = compile::plain("tests/programs/starter.c", &[])?;
    let outcomes = launcher.run(pes, &program, arguments, &[("SHMEM_STARTUP_TIMEOUT", "10")])?;
    all_succeed(&outcomes)?;
    let mut lines: Vec<_> =
        outcomes.iter().flat_map(|outcome| outcome.stdout.lines()).map(str::to_string).collect();
    lines.sort_unstable();
    expected.sort_unstable();
    outcomes[0].require(lines == expected, format!("expected {expected:?}"))
}
