//! The compiler wrappers as commands.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Output};

fn run(command: Command) -> Output {
    // A wrapper that runs itself would do so for ever.
    let mut bounded = Command::new("timeout");
    bounded.arg("60").arg(command.get_program()).args(command.get_args());
    bounded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bounded.output().expect("timeout runs")
}

#[test]
fn a_wrapper_does_not_run_itself_as_the_compiler() {
    let folder = std::env::temp_dir().join(format!("oshcc-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let own = env!("CARGO_BIN_EXE_oshcc");
    let link = |name: &str| {
        let path = folder.join(name);
        symlink(own, &path).expect("a link");
        path.display().to_string()
    };
    let (c, cxx) = (link("mycc"), link("oshc++"));
    let script = folder.join("script");
    fs::write(&script, format!("#!/bin/sh\n{own} \"$@\"\n")).expect("a script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
    let script = script.display().to_string();
    for (wrapper, variable, compiler) in [
        (own, "SHMEM_CC", own),
        (own, "SHMEM_CC", &c),
        (own, "SHMEM_CC", &format!("env A=b {c} -O2")),
        (own, "SHMEM_CC", &cxx),
        (own, "SHMEM_CC", &script),
        (&cxx, "SHMEM_CXX", &cxx),
    ] {
        for argument in ["a.c", "--version"] {
            let mut command = Command::new(wrapper);
            command.arg(argument).env("SHMEM_CC", compiler).env("SHMEM_CXX", compiler);
            let output = run(command);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{variable}={compiler}: {errors}");
            let what = format!("{variable}={compiler} leads back to oshcc");
            assert!(errors.replace('\'', "").contains(&what), "{errors}");
        }
    }
    let mut command = Command::new(own);
    command.arg("--version").env("SHMEM_CC", "env A=b cc");
    assert!(run(command).status.success());
    fs::remove_dir_all(&folder).expect("the folder");
}
