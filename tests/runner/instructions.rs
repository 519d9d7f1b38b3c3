//! How many instructions a call of the data path executes, counted by callgrind on
//! one PE of two, and held to the limits of the design.

use crate::{compile, launch, tree};
use libtest_mimic::Trial;
use std::collections::HashMap;
use std::path::Path;

const CALLS: f64 = 1000.0;

/// A routine, the most instructions of a call, and what else is allowed besides.
const LIMITS: &[(&str, f64, Option<&str>)] = &[
    ("shmem_long_p", 12.0, None),
    ("shmem_long_g", 12.0, None),
    ("shmem_putmem", 12.0, Some("memcpy")),
    ("shmem_long_atomic_fetch_add", 14.0, None),
    ("shmem_quiet", 4.0, None),
    ("shmem_fence", 2.0, None),
    ("shmem_ptr", 12.0, None),
    // A context may cost four more than none.
    ("shmem_ctx_long_p", 16.0, None),
    ("shmem_ctx_long_g", 16.0, None),
    ("shmem_ctx_long_atomic_fetch_add", 18.0, None),
];

/// The limits with SMARTMAP's addresses: no table, but `shmem_ptr` has to be exact about
/// what is symmetric, and tell this PE's own copy.
const SMARTMAP_LIMITS: &[(&str, f64, Option<&str>)] = &[
    ("shmem_long_p", 9.0, None),
    ("shmem_long_g", 9.0, None),
    ("shmem_putmem", 10.0, Some("memcpy")),
    ("shmem_long_atomic_fetch_add", 12.0, None),
    ("shmem_quiet", 4.0, None),
    ("shmem_fence", 2.0, None),
    ("shmem_ptr", 17.0, None),
    ("shmem_ctx_long_p", 13.0, None),
    ("shmem_ctx_long_g", 13.0, None),
    ("shmem_ctx_long_atomic_fetch_add", 16.0, None),
];

/// The one trial.
pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("instructions/data-path", || Ok(check()?));
    vec![trial.with_ignored_flag(tree::skip_without("valgrind"))]
}

fn check() -> Result<(), String> {
    let counts = count()?;
    let count = |name: &str| counts.get(name).copied().ok_or(format!("{name} was not counted"));
    let per_call = |name: &str| {
        Ok::<f64, String>((count(name)? - count(&format!("{name}/loop"))?) / CALLS + 1.0)
    };
    let mut problems = Vec::new();
    let limits = if tree::is_smartmap() { SMARTMAP_LIMITS } else { LIMITS };
    for &(name, limit, besides) in limits {
        let limit = limit + besides.map_or(Ok(0.0), per_call)?;
        let instructions = per_call(name)?;
        println!("{name}: {instructions:.1} instructions, at most {limit:.1}");
        // A loop's setup does not divide evenly: a tenth of an instruction is not one.
        if instructions > limit + 0.1 {
            problems.push(format!("{name}: {instructions:.1} instructions, at most {limit:.1}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Total instructions of each loop.
fn count() -> Result<HashMap<String, f64>, String> {
    let source = tree::repository("tests/programs/instructions.c");
    // Calls as through a linker's table resolved at start, not at the first call.
    let executable = compile::plain(&source, &["-fno-plt", "-Wl,-z,now"])?;
    let folder = tree::scratch(&format!("callgrind-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let valgrind = tree::find("valgrind").ok_or("valgrind is not installed")?;
    let mut command = launch::oshrun(2, &valgrind);
    command
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", folder.join("pe.%p").display()))
        .arg(executable);
    let result = launch::run(command)?.success().and_then(|()| read(&folder));
    let _ = std::fs::remove_dir_all(&folder);
    result
}

/// Each dump names its trigger and its total; the two PEs must agree.
fn read(folder: &Path) -> Result<HashMap<String, f64>, String> {
    let mut counts = HashMap::new();
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        let text = std::fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
        let after = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let Some(name) = after("desc: Trigger: Client Request: ") else { continue };
        let total: f64 = after("totals:")
            .or(after("summary:"))
            .and_then(|total| total.parse().ok())
            .ok_or("a dump without a total")?;
        let largest = counts.entry(name.to_owned()).or_insert(total);
        *largest = largest.max(total);
    }
    Ok(counts)
}
