//! The crate in a user's project, as a dependency by path. Programs that compile run under oshrun.
//! Unsound programs do not compile, and the compiler says why.

use crate::launch::{COMPILING, Outcome, Running};
use crate::{Result, launch, tree};
use libtest_mimic::Trial;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Programs that the compiler rejects, and words of its message.
const REFUSED: [(&str, &str, &str); 14] = [
    (
        "padding",
        "#[derive(Clone, Copy, Element)] #[repr(C)] struct Item { a: u8, b: u32 }
         fn main() { let _ = Item { a: 1, b: 2 }; }",
        "`Item` has padding, which Element forbids: order the fields",
    ),
    (
        "bool",
        "#[derive(Clone, Copy, Element)] #[repr(C)] struct Item { a: u32, b: bool }
         fn main() { let _ = Item { a: 1, b: true }; }",
        "`bool` cannot be in symmetric memory",
    ),
    (
        "layout",
        "#[derive(Clone, Copy, Element)] struct Item { a: u32, b: u32 }
         fn main() { let _ = Item { a: 1, b: 2 }; }",
        "Element needs #[repr(C)] or #[repr(transparent)]",
    ),
    (
        "copy",
        "#[derive(Element)] #[repr(C)] struct Item { a: u32 }
         fn main() { let _ = Item { a: 1 }; }",
        "Copy` is not satisfied",
    ),
    (
        "reference",
        "fn main() { let shmem = oneshmem::init().unwrap(); let _ = shmem.alloc::<&'static u8>(1); }
         use Element as _;",
        "`&'static u8` cannot be in symmetric memory",
    ),
    (
        "alignment",
        "#[derive(Clone, Copy, Element)] #[repr(C, align(32))] struct Item([u8; 32]);
         fn main() { let _ = oneshmem::init().unwrap().alloc::<Item>(1); }",
        "an element is aligned to 16 bytes at most",
    ),
    (
        "threads",
        "fn main() {
             let shmem = oneshmem::init().unwrap();
             std::thread::scope(|scope| _ = scope.spawn(|| shmem.barrier_all()));
         }
         use Element as _;",
        "`Team<'_>` stays in the thread that initialised the library",
    ),
    (
        "freed",
        "fn main() {
             let shmem = oneshmem::init().unwrap();
             let array = shmem.alloc::<u64>(1).unwrap();
             let part = array.at(0);
             shmem.free(array);
             part.set(1);
         }
         use Element as _;",
        "cannot move out of `array` because it is borrowed",
    ),
    (
        "freed-by-address",
        "#[forbid(unsafe_code)]
         fn main() {
             let shmem = oneshmem::init().unwrap();
             let array = shmem.alloc::<u64>(8).unwrap();
             let start = shmem.ptr(array.all(), shmem.my_pe()).unwrap().cast();
             let block = oneshmem::internals::argument::memory::Block::new(start);
             oneshmem::internals::heap::free(todo!(), block);
         }
         use Element as _;",
        "call to unsafe function",
    ),
    (
        "after-finalize",
        "fn main() {
             let shmem = oneshmem::init().unwrap();
             let team = shmem.world().split_strided(0, 1, 1, None).unwrap();
             shmem.finalize();
             team.unwrap().sync();
         }
         use Element as _;",
        "cannot move out of `shmem` because it is borrowed",
    ),
    (
        "of-an-earlier-lifetime",
        "fn main() {
             let shmem = oneshmem::init().unwrap();
             let array = shmem.alloc::<u64>(1).unwrap();
             shmem.finalize();
             let shmem = oneshmem::init().unwrap();
             shmem.free(array);
         }
         use Element as _;",
        "cannot move out of `shmem` because it is borrowed",
    ),
    (
        "buffer-of-the-scope",
        "fn main() {
             let shmem = oneshmem::init().unwrap();
             let array = shmem.alloc::<u64>(1).unwrap();
             shmem.nonblocking(|nbi| {
                 let mut value = [0];
                 nbi.get(&mut value, array.all(), 0);
             });
         }
         use Element as _;",
        "`value` does not live long enough",
    ),
    (
        "array-in-two-threads",
        "fn main() {
             let shmem = oneshmem::init().unwrap();
             let array = shmem.alloc::<[u64; 8]>(1).unwrap();
             std::thread::scope(|scope| {
                 scope.spawn(|| array.at(0).set([1; 8]));
                 array.at(0).get();
             });
         }
         use Element as _;",
        "`Shmem::threads` returns a `Threads`, whose `share` lets other threads use an array",
    ),
    (
        "partition-in-two-threads",
        "fn main() {
             let shmem = oneshmem::init().unwrap();
             let partition = shmem.partition(1).unwrap();
             std::thread::scope(|scope| {
                 scope.spawn(|| partition.alloc::<u64>(1).is_ok());
             });
         }
         use Element as _;",
        "stays in the thread that initialised the library",
    ),
];

/// Programs that run: their names, what the crate is called in their manifest, the status, and words
/// that PEs write.
const RUN: [(&str, &str, &str, i32, &str); 7] = [
    (
        "objects-to-the-end-of-main",
        "oneshmem",
        "use oneshmem::{ContextOptions, Result, Shmem, TeamContext};
         fn all(shmem: &Shmem) -> Result<oneshmem::Team<'_>> {
             Ok(shmem.world().split_strided(0, 1, shmem.n_pes(), None)?.expect(\"all are in it\"))
         }
         /// A context is dropped after its team is destroyed, and all others stay: one has its number.
         fn others(shmem: &Shmem) -> Result<Vec<TeamContext<'_>>> {
             let team = all(shmem)?;
             let _first = team.create_ctx(ContextOptions::empty()).expect(\"a context\");
             team.destroy();
             Ok(std::iter::from_fn(|| shmem.ctx_create(ContextOptions::empty())).collect())
         }
         fn main() -> Result<()> {
             let shmem = oneshmem::init()?;
             let team = all(&shmem)?;
             let ctx = team.create_ctx(ContextOptions::empty()).expect(\"a context\");
             let others = others(&shmem)?;
             assert!(others.len() > 1000);
             let sum = shmem.alloc::<u64>(1)?;
             ctx.atomic_inc(sum.at(0), 0);
             others.iter().for_each(|other| other.atomic_inc(sum.at(0), 0));
             shmem.barrier_all();
             assert_eq!(shmem.g(sum.at(0), 0) as usize, (1 + others.len()) * shmem.n_pes());
             drop(others);
             drop(shmem.ctx_create(ContextOptions::empty()).expect(\"there is room again\"));
             shmem.finalize();
             println!(\"finalised\");
             Ok(())
         }",
        0,
        "finalised",
    ),
    (
        "second-thread",
        "oneshmem",
        "use oneshmem::{Shmem, ThreadLevel, init, init_thread};
         use std::thread::spawn;
         fn main() -> oneshmem::Result<()> {
             let shmem = init()?;
             let refused = || init_thread(ThreadLevel::Multiple).expect_err(\"one thread\").to_string();
             println!(\"{}\", spawn(refused).join().unwrap());
             init()?.finalize();
             assert!(shmem.threads().is_none());
             shmem.finalize();
             // The next lifetime is another thread's, and one with this level everybody's.
             spawn(|| init().map(Shmem::finalize)).join().unwrap()?;
             let shmem = init_thread(ThreadLevel::Multiple)?;
             spawn(|| init().map(Shmem::finalize)).join().unwrap()?;
             let is_alone = shmem.n_pes() == 1;
             shmem.finalize();
             // Lifetimes that any of several threads begins and ends.
             let often = || (0..300).for_each(|_| {
                 let shmem = init_thread(ThreadLevel::Multiple).expect(\"a PE\");
                 assert_eq!(shmem.my_pe(), 0);
                 shmem.finalize();
             });
             if is_alone {
                 std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(often)));
             }
             Ok(())
         }",
        0,
        "called by a second thread at level SHMEM_THREAD_SINGLE; expected the thread that",
    ),
    (
        "error-of-main",
        "oneshmem",
        "fn main() -> oneshmem::Result<()> {
             let shmem = oneshmem::init()?;
             let none = shmem.alloc::<u64>(1 << 50).map(drop);
             shmem.finalize();
             none
         }",
        1,
        "Error: no symmetric memory for 1125899906842624 elements of 8 bytes in the symmetric heap",
    ),
    (
        "called-from",
        "oneshmem",
        "fn main() -> oneshmem::Result<()> {
             let shmem = oneshmem::init()?;
             let array = shmem.alloc::<u64>(1)?;
             shmem.p(array.at(0), 1, 7);
             Ok(())
         }",
        1,
        "src/main.rs:4\n",
    ),
    (
        "collective-called-from",
        "oneshmem",
        "fn main() -> oneshmem::Result<()> {
             let shmem = oneshmem::init()?;
             let (dest, source) = (shmem.alloc::<u64>(1)?, shmem.alloc::<u64>(1)?);
             let broadcast = |root| {
                 shmem.world().broadcast(dest.all(), source.all(), root);
             };
             broadcast(7);
             Ok(())
         }",
        1,
        "src/main.rs:5\n",
    ),
    // A phase in which a PE panics ends for it with the others: nobody updates what another still uses.
    (
        "panic-in-a-phase",
        "oneshmem",
        "use oneshmem_array::{DistArray, Distribution::Block};
         use std::panic::{AssertUnwindSafe, catch_unwind};
         fn main() -> oneshmem_array::Result<()> {
             let shmem = oneshmem::init()?;
             let (me, npes) = (shmem.my_pe(), shmem.n_pes());
             let mut array = DistArray::<u64>::new(&shmem, 8 * npes, Block)?;
             for round in 0..50 {
                 let panics = me == round % npes;
                 let caught = catch_unwind(AssertUnwindSafe(|| array.local(|mut own| {
                     assert!(!panics);
                     own.iter_mut().for_each(|element| *element += 1);
                     std::thread::sleep(std::time::Duration::from_millis(2));
                     assert!(own.iter().all(|element| *element == 1), \"an update in a phase\");
                 })));
                 assert_eq!(caught.is_err(), panics);
                 array.add_many((0..8 * npes).map(|index| (index, 1)));
                 let expected = if panics { npes } else { npes + 1 } as u64;
                 array.local(|mut own| {
                     assert!(own.iter().all(|element| *element == expected));
                     own.fill(0);
                 });
             }
             array.free();
             shmem.finalize();
             println!(\"each ended\");
             Ok(())
         }",
        0,
        "each ended",
    ),
    (
        "renamed",
        "shm",
        "use shm::*;
         #[derive(Clone, Copy, shm::Element)]
         #[repr(C)]
         struct Point { x: f64 }
         fn main() -> Result<()> {
             let shmem = init()?;
             let point = shmem.alloc::<Point>(1)?;
             point.at(0).set(Point { x: 0.5 });
             println!(\"{}\", point.at(0).get().x);
             shmem.finalize();
             Ok(())
         }",
        0,
        "0.5",
    ),
];

/// A program without unsafe code that uses most of the interface.
const TAKEN: &str = r#"#![forbid(unsafe_code)]
#![deny(warnings)]
use oneshmem::{Comparison, Element, Error, Max, Result, Shmem, Sum};
use std::num::Wrapping;

#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
pub struct Sample {
    place: [f32; 3],
    kind: u16,
    flags: [u8; 2],
    count: usize,
    hash: Wrapping<u64>,
}

fn total(shmem: &Shmem, mine: u64) -> Result<u64> {
    let sum = shmem.alloc::<u64>(1)?;
    sum.at(0).set(mine);
    shmem.world().reduce::<_, Sum>(sum.all(), sum.all());
    let total = sum.at(0).get();
    shmem.free(sum);
    Ok(total)
}

fn main() -> Result<()> {
    let shmem = oneshmem::init()?;
    let (me, npes) = (shmem.my_pe(), shmem.n_pes());
    let inbox = shmem.alloc::<Sample>(2)?;
    let flag = shmem.alloc::<isize>(1)?;
    let wide = shmem.alloc::<u128>(1)?;
    let sample = Sample { place: [1.5; 3], kind: 3, flags: [1, 2], count: me, hash: Wrapping(7) };
    let right = (me + 1) % npes;
    shmem.put(inbox.all(), &[sample, Sample::default()], right);
    shmem.p(wide.at(0), u128::MAX - me as u128, right);
    shmem.fence();
    shmem.atomic_set(flag.at(0), -1, right);
    shmem.wait_until(flag.at(0), Comparison::Lt, 0);
    assert_eq!(inbox.at(0).get(), Sample { count: (me + npes - 1) % npes, ..sample });
    assert!(inbox.all().iter().all(|sample| sample.get().count < npes));
    assert_eq!(total(&shmem, 2)?, 2 * npes as u64);
    assert_eq!(shmem.g(wide.at(0), right), u128::MAX - me as u128);
    shmem.world().reduce::<_, Max>(flag.all(), flag.all());
    match shmem.alloc::<Sample>(usize::MAX / 64) {
        Err(error @ Error::NoMemory { .. }) if me == 0 => println!("{error}"),
        Err(Error::NoMemory { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert!(matches!(shmem.world().split_strided(npes, 1, 1, None), Err(oneshmem::NoTeam)));
    shmem.free(wide);
    shmem.free(flag);
    shmem.free(inbox);
    shmem.finalize();
    Ok(())
}
"#;

/// A program without unsafe code whose PEs allocate or free differently, in the way that its argument names.
const UNEQUAL: &str = r#"#![forbid(unsafe_code)]
fn main() -> oneshmem::Result<()> {
    let shmem = oneshmem::init()?;
    let odd = shmem.my_pe() == 1;
    let how = std::env::args().nth(1).unwrap();
    let [one, other] = [shmem.alloc::<u64>(10)?, shmem.alloc::<u64>(10)?];
    match &*how {
        "alloc" => drop(shmem.alloc::<u64>(if odd { 1 << 20 } else { 16 })?),
        "nothing" => drop(shmem.alloc::<u64>(if odd { 0 } else { 16 })?),
        "element" => if odd { drop(shmem.alloc::<u32>(5)?) } else { drop(shmem.alloc::<u64>(5)?) },
        "align" => drop(shmem.align::<u64>(64, if odd { 7 } else { 8 })?),
        "realloc" => drop(shmem.realloc(one, if odd { 7 } else { 8 })),
        "other" => drop(shmem.realloc(if odd { one } else { other }, 20)),
        _ => shmem.free(if odd { one } else { other }),
    }
    shmem.barrier_all();
    println!("this goes on");
    Ok(())
}
"#;

/// The ways, and what the job says as it ends: of which argument, and with which values PE 0 and PE 1 call it.
const WAYS: [(&str, &str, Option<[usize; 2]>); 7] = [
    ("alloc", "alloc: len = ", Some([16, 1_048_576])),
    ("nothing", "alloc: len = ", Some([16, 0])),
    ("element", "alloc: bytes of an element = ", Some([8, 4])),
    ("align", "align: len = ", Some([8, 7])),
    ("realloc", "realloc: len = ", Some([8, 7])),
    ("other", "realloc: the array's offset = ", None),
    ("free", "free: the array's offset = ", None),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = REFUSED
        .iter()
        .map(|&(name, source, why)| {
            Trial::test(format!("rust-users/refused/{name}"), move || refused(name, source, why))
        })
        .collect();
    for (name, krate, source, status, says) in RUN {
        trials.push(Trial::test(format!("rust-users/run/{name}"), move || {
            run(name, krate, source, status, says)
        }));
    }
    trials.push(Trial::test("rust-users/taken", taken));
    trials.push(Trial::test("rust-users/unequal", unequal));
    trials
}

fn refused(name: &str, source: &str, why: &str) -> Result {
    let outcome = compile(name, "oneshmem", &format!("use oneshmem::Element;\n{source}\n"))?.0;
    outcome.fails(&[why])
}

/// How many PEs run each program.
const PES: [usize; 2] = [1, 3];

fn run(name: &str, krate: &str, source: &str, status: i32, says: &str) -> Result {
    let (outcome, program) = compile(name, krate, source)?;
    outcome.success()?;
    for pes in PES {
        let outcome = launch::run(launch::oshrun(pes, &program))?;
        let said = [&outcome.stdout, &outcome.stderr].iter().any(|text| text.contains(says));
        outcome.require(
            outcome.status == status && said,
            format!("on {pes} PEs: expected status {status}, and {says:?}"),
        )?;
    }
    Ok(())
}

fn taken() -> Result {
    let (outcome, program) = compile("taken", "oneshmem", TAKEN)?;
    outcome.success()?;
    for pes in PES {
        let outcome = launch::run(launch::oshrun(pes, &program))?;
        outcome.success()?;
        outcome.require(
            outcome.stdout.matches("no symmetric memory for").count() == 1,
            format!("on {pes} PEs: PE 0 says once that there is no memory"),
        )?;
    }
    Ok(())
}

fn unequal() -> Result {
    let (outcome, program) = compile("unequal", "oneshmem", UNEQUAL)?;
    outcome.success()?;
    for (way, argument, values) in WAYS {
        let mut command = launch::oshrun(2, &program);
        command.arg(way);
        let outcome = launch::run(command)?;
        // Whoever sees it first says it.
        let says = match values {
            Some([of_0, of_1]) => vec![
                format!("{argument}{of_0}: PE 1 calls it with {of_1};"),
                format!("{argument}{of_1}: PE 0 calls it with {of_0};"),
            ],
            None => vec![argument.to_owned()],
        };
        let told = outcome.status == 1 && says.iter().any(|text| outcome.stderr.contains(text));
        outcome.require(
            told && !outcome.stdout.contains("goes on"),
            format!("{way}: expected status 1, and one of {says:?}"),
        )?;
    }
    Ok(())
}

/// The crates that a user's project depends on, and where they lie: in the repository, or all of those that
/// `tests/packages crates` has unpacked into the folder that `ONESHMEM_TEST_CRATES` names.
fn crates() -> std::io::Result<Vec<(String, PathBuf)>> {
    let Some(folder) = std::env::var_os("ONESHMEM_TEST_CRATES") else {
        return Ok([("oneshmem", "."), ("oneshmem-array", "array")]
            .map(|(name, path)| (name.to_owned(), tree::repository(path)))
            .into());
    };
    let unpacked = |entry: std::io::Result<DirEntry>| {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = Path::new(&folder).join(&name);
        Ok((name.rsplit_once('-').map_or(&*name, |(name, _version)| name).to_owned(), path))
    };
    std::fs::read_dir(&folder)?.map(unpacked).collect()
}

/// Compiles a program of a project outside this workspace, with the versions of its lock file, in which
/// the crate is called `krate`. Also returns the executable's path. Of crates from elsewhere, Cargo takes what it
/// has compiled for this workspace: to the same folder, with the same profile.
fn compile(name: &str, krate: &str, source: &str) -> Result<(Outcome, PathBuf)> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(|error| error.into_inner());
    let project = tree::scratch("rust-users").join(name);
    let write = |path: &str, text: &str| std::fs::write(project.join(path), text);
    let write_all = || {
        std::fs::create_dir_all(project.join("src"))?;
        std::fs::copy(tree::repository("Cargo.lock"), project.join("Cargo.lock"))?;
        let mut manifest = format!(
            "[package]\nname = {name:?}\nedition = \"2024\"\n\n[workspace]\n\n\
             [profile.dev.package.\"*\"]\ndebug = false\n"
        );
        for (package, path) in crates()? {
            let called = if package == "oneshmem" { krate } else { &*package };
            // What depends on it in its published form takes it from here, too.
            manifest += &format!(
                "[dependencies.{called}]\npackage = {package:?}\npath = {path:?}\n\
                 [patch.crates-io.{package}]\npath = {path:?}\n"
            );
        }
        write("Cargo.toml", &manifest)?;
        write("src/main.rs", source)
    };
    write_all().map_err(|error: std::io::Error| format!("{}: {error}", project.display()))?;
    let mut target = tree::profile()?;
    target.pop();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--offline"]).current_dir(&project);
    cargo.envs([("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"), ("CARGO_INCREMENTAL", "0")]);
    cargo.arg("--target-dir").arg(&target);
    Ok((Running::start(cargo)?.finish_within(COMPILING)?, target.join("debug").join(name)))
}
