//! `oshinfo --json`.

use oneshmem_job::env;
use serde_json::Value;
use std::process::Command;

#[test]
fn the_report_as_data() {
    // The first is a watchdog.
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_oshinfo"), "--json"]);
    command
        .env("SMA_SYMMETRIC_SIZE", "8m")
        .env("SHMEM_TREE_DEGREE", "3")
        .env("SHMEM_WAIT", "sleep");
    let done = command.output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["pes"], 1);
    assert_eq!(report["heap"]["bytes"], 8 << 20);
    assert_eq!(report["waits"], "sleep, since SHMEM_WAIT says so");
    assert!(!report["cpus"].as_array().unwrap().is_empty());
    let variables = report["variables"].as_array().unwrap();
    let variable = |name: &str| variables.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(variables.len(), env::ALL.len());
    assert_eq!(variable("SHMEM_SYMMETRIC_SIZE")["set_by"], "SMA_SYMMETRIC_SIZE");
    assert_eq!(variable("SHMEM_TREE_DEGREE")["value"], "3");
    assert_eq!(variable("SHMEM_TREE_DEGREE")["values"], "an integer from 2 to 64");
    assert_eq!(variable("SHMEM_DEBUG")["value"], Value::Null);
    let barrier = &report["algorithms"][0];
    assert_eq!(barrier["operation"], "barrier");
    assert!(barrier["all"].as_array().unwrap().contains(&barrier["chosen"][0]["algorithm"]));
}
