//! Partitions on devices, using an imitation of the driver's library, whose memory faults on every
//! load and store. `make test-devices` runs those that do not ask the imitation itself over a real driver.

use crate::imitation::{self, VARIABLE, start};
use crate::launch;
use crate::{examples, tree};
use libtest_mimic::Trial;
use std::path::Path;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for pes in [1, 2, 3, 4] {
        for (title, value, setting) in [
            ("plain", "64M:KIND=CUDA", None),
            ("spread", "64M:KIND=CUDA:DEVICE=spread", None),
            ("debug", "64M:KIND=CUDA:DEVICE=1", Some("SHMEM_DEBUG")),
            ("stats", "64M:KIND=CUDA", Some("SHMEM_STATS")),
        ] {
            if pes == 3 && title != "plain" {
                continue;
            }
            trials.push(Trial::test(format!("devices/operations/{title}/{pes}"), move || {
                let mut command = start("operations", pes, value)?;
                command.envs(setting.map(|name| (name, "1")));
                launch::run(command)?.success()
            }));
        }
    }
    for pes in [1, 3] {
        for (title, unit) in [("driver", None), ("driver/pitch", Some("512"))] {
            trials.push(Trial::test(format!("devices/{title}/{pes}"), move || {
                let mut command = start("driver", pes, "64M:KIND=CUDA")?;
                command.envs(unit.map(|unit| ("IMITATION_PITCH", unit)));
                launch::run(command)?.success()
            }));
        }
    }
    for pes in [1, 3] {
        trials.push(Trial::test(format!("devices/rust/{pes}"), move || {
            let mut oshrun = launch::oshrun(pes, &examples::made_by_cargo("devices")?);
            oshrun.env(VARIABLE, "64M:KIND=CUDA").env("LD_LIBRARY_PATH", imitation::driver()?);
            let outcome = launch::run(oshrun)?;
            outcome.prints(&["verified"])
        }));
    }
    for (case, words) in [
        ("lock", &["shmem_set_lock", "a device's memory (partition 1)"][..]),
        ("test-lock", &["shmem_test_lock", "a device's memory (partition 1)"]),
        ("clear-lock", &["shmem_clear_lock", "a device's memory (partition 1)"]),
        ("signal-fetch", &["shmem_signal_fetch", "a device's memory (partition 1)"]),
        ("psync", &["shmem_barrier", "a device's memory (partition 1)"]),
        ("overrun", &["nelems = 1048576", "partition 1"]),
        ("load", &["SIGSEGV", "a device's memory (partition 1)"]),
    ] {
        trials.push(Trial::test(format!("devices/misuse/{case}"), move || {
            let mut command = start("device_misuse", 2, "1M:KIND=CUDA")?;
            command.arg(case);
            launch::run(command)?.fails(words)
        }));
    }
    trials.push(Trial::test("devices/misuse/reached", || {
        let mut command = start("device_misuse", 2, "1M:KIND=CUDA")?;
        command.arg("reached").envs(imitation::environment()?);
        launch::run(command)?.fails(&["SIGSEGV", "a device's memory (partition 1)"])
    }));
    trials.push(Trial::test("devices/fork", || {
        let mut command = start("device_misuse", 2, "1M:KIND=CUDA")?;
        command.arg("fork");
        launch::run(command)?.success()
    }));
    for (title, value, words) in [
        ("no-such-device", "1M:KIND=CUDA:DEVICE=2", &["DEVICE is 2", "sees 2 devices"][..]),
        ("too-large", "100G:KIND=CUDA", &["cuMemAlloc: out of memory", "1 GiB are free"]),
    ] {
        trials.push(Trial::test(format!("devices/{title}"), move || {
            let outcome = launch::run(start("device_misuse", 3, value)?)?;
            outcome.fails_once(words)
        }));
    }
    for pes in [1, 2] {
        trials.push(Trial::test(format!("devices/copies/{pes}"), move || {
            launch::run(start("device_copies", pes, "8M:KIND=CUDA")?)?.prints(&["verified"])
        }));
    }
    trials.push(Trial::test("devices/no-driver", || {
        let mut command = start("device_misuse", 3, "1M:KIND=CUDA")?;
        command.env_remove("LD_LIBRARY_PATH");
        launch::run(command)?.fails_once(&["no libcuda.so.1 here"])
    }));
    trials.push(Trial::test("devices/oshinfo", || {
        let mut command = launch::oshrun(2, &tree::prefix("bin/oshinfo"));
        command.env(VARIABLE, "64M:KIND=CUDA").env("LD_LIBRARY_PATH", imitation::driver()?);
        launch::run(command)?.prints(&["64 MiB CUDA, device 0 \"Imitation 0\""])
    }));
    // A real driver would be found where the imitation must not be.
    let real = ["/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1"];
    let has_driver = real.iter().any(|path| Path::new(path).exists());
    // These ask for what only the imitation does: it counts calls, has two devices of 1 GiB, and a name.
    let of_imitation = [
        "driver",
        "misuse/reached",
        "no-such-device",
        "too-large",
        "no-driver",
        "oshinfo",
        "debug",
    ];
    let is_real = std::env::var_os(imitation::REAL).is_some();
    let skipped = |trial: &Trial| {
        has_driver && trial.name() == "devices/no-driver"
            || is_real && of_imitation.iter().any(|part| trial.name().contains(part))
    };
    let with_flag = |trial: Trial| {
        let skipped = skipped(&trial);
        trial.with_ignored_flag(skipped)
    };
    trials.into_iter().map(with_flag).collect()
}
