//! What a partition is on this machine, as `oshinfo` tells it, and what cannot be had.

use crate::launch::{self, Outcome};
use crate::tree;
use libtest_mimic::Trial;
use std::path::Path;

const VARIABLE: &str = "SHMEM_SYMMETRIC_PARTITION1";

/// The trials. Memory of one kind only is what most machines have, and refuse others for.
pub fn trials() -> Vec<Trial> {
    let one_kind = !Path::new("/sys/devices/system/node/node1").exists();
    let mut trials = vec![
        Trial::test("partitions/plain", || Ok(works("64M:KIND=NORMALMEM")?)),
        Trial::test("partitions/spread", || Ok(works("64M:POLICY=INTERLEAVED")?)),
        Trial::test("partitions/near", || Ok(works("64M:POLICY=MANDATORY")?)),
        Trial::test("partitions/named", || Ok(works("64M:NODES=0")?)),
        Trial::test("partitions/no-offloading", || {
            Ok(refused("64M:KIND=LIBOMP", "no OpenMP offloading")?)
        }),
        Trial::test("partitions/no-such-folder", || {
            Ok(refused("64M:KIND=FILE:PATH=/no/such/folder/%p", "cannot open /no/such/folder/")?)
        }),
        Trial::test("partitions/quick", || {
            let outcome = info("64M:KIND=FASTMEM")?;
            match outcome.stdout.contains("64 MiB FASTMEM, ") {
                true => Ok(outcome.success()?),
                false => Err(outcome.report("it was to tell of the partition").into()),
            }
        }),
    ];
    let quick = [
        Trial::test("partitions/no-quick", || {
            let outcome = info("64M:KIND=FASTMEM")?;
            match outcome.stderr.matches("memory as the heap's instead").count() {
                1 => Ok(outcome.success()?),
                _ => Err(outcome.report("it was to say once that there is no other memory").into()),
            }
        }),
        Trial::test("partitions/no-hbm", || Ok(refused("64M:KIND=HBM", "of one kind")?)),
        Trial::test("partitions/no-quick-mandatory", || {
            Ok(refused("64M:KIND=FASTMEM:POLICY=MANDATORY", "POLICY=PREFERRED would take it")?)
        }),
    ];
    trials.extend(quick.map(|trial| trial.with_ignored_flag(!one_kind)));
    trials
}

fn info(value: &str) -> Result<Outcome, String> {
    let mut oshrun = launch::oshrun(3, &tree::prefix("bin/oshinfo"));
    oshrun.env(VARIABLE, value);
    launch::run(oshrun)
}

fn works(value: &str) -> Result<(), String> {
    let outcome = info(value)?;
    match outcome.stdout.contains("Partition 1      64 MiB NORMALMEM") {
        true => outcome.success(),
        false => Err(outcome.report("it was to tell of the partition")),
    }
}

/// The job ends at its start, and one PE says why.
fn refused(value: &str, why: &str) -> Result<(), String> {
    let outcome = info(value)?;
    let told = outcome.stderr.matches(why).count();
    let names_it = outcome.stderr.contains(&format!("{VARIABLE}=\"{value}\""));
    match outcome.status != 0 && told == 1 && names_it {
        true => Ok(()),
        false => Err(outcome.report(&format!("it was to fail and say once: {why}"))),
    }
}
