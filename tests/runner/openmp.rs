//! Arrays that OpenMP maps to a device, in a partition. Uses clang, where it can offload to the
//! host.

use crate::{Result, compile, launch, tree};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::Command;

/// Versions of clang. The first is Debian's default.
const VERSIONS: [&str; 3] = ["14", "16", "19"];
/// A folder with Debian's OpenMP packages for further versions, unpacked, because only one version
/// can be installed: `libomp-N-dev`, `libomp5-N` and `clang-tools-N`.
const UNPACKED: &str = "ONESHMEM_TEST_LIBOMP";
const OFFLOADING: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];
const PARTITION: (&str, &str) = ("SHMEM_SYMMETRIC_PARTITION1", "64M:KIND=LIBOMP");
/// Programs of `examples/openmp`, each with a size for a short run.
const EXAMPLES: [(&str, &str); 4] =
    [("random_access", "1000"), ("ring_product", "16"), ("heat3d", "12"), ("fft2d", "32")];

/// The trials. Those of missing versions are ignored: each needs Debian's `clang-N`,
/// `clang-tools-N` and `libomp-N-dev`.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for version in VERSIONS {
        // The versions between the oldest and the newest: what the library does for them, not the examples.
        let between = version != VERSIONS[0] && Some(&version) != VERSIONS.last();
        let mut add = |title: &str, pes: usize, test: fn(&str, usize, &str) -> Result| {
            let name = title.split('/').next().unwrap_or_default().to_owned();
            let title = format!("openmp/{title}/clang-{version}/{pes}");
            let trial = Trial::test(title, move || test(version, pes, &name));
            let trial = match is_absent(version) {
                true => trial
                    .with_kind(format!("needs clang-{version} libomp-{version}-dev"))
                    .with_ignored_flag(true),
                false => trial,
            };
            trials.push(trial);
        };
        for pes in [1, 2, 4] {
            add("semantics", pes, works);
            add("regions", pes, works);
        }
        add("semantics/plain", 2, means_the_same);
        add("regions/no-partition", 2, no_partition);
        add("uneven", 3, uneven);
        for (name, _) in EXAMPLES.into_iter().filter(|_| !between) {
            add(name, 1, example);
            add(name, 4, example);
        }
    }
    trials
}

/// The folder of a version's libraries: installed, or unpacked.
fn libraries(version: &str) -> Option<PathBuf> {
    let below = format!("usr/lib/llvm-{version}/lib");
    let unpacked = std::env::var_os(UNPACKED).map(PathBuf::from);
    let folders = [Some(PathBuf::from("/")), unpacked].into_iter().flatten();
    folders.map(|folder| folder.join(&below)).find(|lib| lib.join("libomptarget.so").exists())
}

/// Whether a compiler, or what it needs to offload to the host, is absent, and its absence is
/// allowed.
fn is_absent(version: &str) -> bool {
    let is_there =
        tree::find(&format!("clang++-{version}")).is_some() && libraries(version).is_some();
    let must_be = match version == VERSIONS[0] {
        true => std::env::var_os("ONESHMEM_TEST_ALL").is_some(),
        false => std::env::var_os(UNPACKED).is_some(),
    };
    !is_there && !must_be
}

/// `oshcc` with the default version of clang, offloading. `None` if it is absent, and its absence
/// is allowed.
pub fn oshcc() -> Option<Result<Command>> {
    let [version, ..] = VERSIONS;
    (!is_absent(version)).then(|| wrapper("bin/oshcc", "SHMEM_CC", "clang", version))
}

fn compiler(version: &str) -> Result<Command> {
    wrapper("bin/oshc++", "SHMEM_CXX", "clang++", version)
}

/// A wrapper with a version's compiler, which also finds unpacked packages.
fn wrapper(name: &str, variable: &str, clang: &str, version: &str) -> Result<Command> {
    let lib = libraries(version).ok_or(format!("no libomp-{version}-dev"))?;
    let mut oshcc = Command::new(tree::prefix(name));
    oshcc.env(variable, format!("{clang}-{version}")).args(OFFLOADING);
    if !lib.starts_with("/usr") {
        let bin = lib.with_file_name("bin");
        oshcc.arg("-B").arg(bin).arg("-L").arg(&lib);
        oshcc.arg("-isystem").arg(lib.join(format!("clang/{version}/include")));
    }
    // Clang's linker wrapper looks for `clang` next to itself, then here.
    let path = std::env::var("PATH").unwrap_or_default();
    oshcc.env("PATH", format!("/usr/lib/llvm-{version}/bin:{path}"));
    Ok(oshcc)
}

/// The executable of a source in this repository, built once.
fn compiled(source: &str, version: &str) -> Result<PathBuf> {
    let source = tree::repository(source);
    let folder = tree::scratch("openmp").join(version);
    let target = folder.join(source.file_stem().unwrap_or_default());
    compile::once(&target, || {
        std::fs::create_dir_all(&folder)?;
        let mut oshcc = compiler(version)?;
        oshcc.args(["-O1", "-Wall", "-o"]).arg(&target).arg(&source);
        launch::run(oshcc)?.success()
    })?;
    Ok(target)
}

fn start(name: &str, version: &str, pes: usize) -> Result<Command> {
    start_source(&format!("tests/openmp/{name}.cc"), version, pes)
}

fn start_source(source: &str, version: &str, pes: usize) -> Result<Command> {
    let mut oshrun = launch::oshrun(pes, &compiled(source, version)?);
    oshrun.env("OMP_NUM_THREADS", "2");
    // The libraries that these load need it, too.
    oshrun.envs(libraries(version).map(|lib| ("LD_LIBRARY_PATH", lib)));
    Ok(oshrun)
}

fn works(version: &str, pes: usize, name: &str) -> Result {
    let mut oshrun = start(name, version, pes)?;
    oshrun.env(PARTITION.0, PARTITION.1);
    launch::run(oshrun)?.success()
}

/// The checks of maps also hold without symmetric storage.
fn means_the_same(version: &str, pes: usize, name: &str) -> Result {
    let mut oshrun = start(name, version, pes)?;
    oshrun.env(PARTITION.0, PARTITION.1).arg("plain");
    launch::run(oshrun)?.success()
}

/// A request for symmetric storage without a partition is reported.
fn no_partition(version: &str, pes: usize, name: &str) -> Result {
    launch::run(start(name, version, pes)?)?.fails(&["SHMEM_SYMMETRIC_PARTITION1=<size>"])
}

/// With `SHMEM_DEBUG`, a PE that maps more than the others is reported once.
fn uneven(version: &str, pes: usize, name: &str) -> Result {
    let mut oshrun = start(name, version, pes)?;
    oshrun.env(PARTITION.0, PARTITION.1).env("SHMEM_DEBUG", "1");
    let outcome = launch::run(oshrun)?;
    let told = outcome.stderr.matches("only if all map the same ones").count();
    outcome.require(
        told == 1 && outcome.stderr.contains("800 bytes of partition 1"),
        "it was to say once that the PEs map different arrays",
    )?;
    outcome.success()
}

/// Runs an example in both forms.
fn example(version: &str, pes: usize, name: &str) -> Result {
    let size = EXAMPLES.iter().find(|(known, _)| *known == name).map_or("", |(_, size)| size);
    for form in ["standard", "extended"] {
        let mut oshrun = start_source(&format!("examples/openmp/{name}.cc"), version, pes)?;
        oshrun.args([form, size]);
        launch::run(oshrun)?.prints(&["verified"])?;
    }
    Ok(())
}
