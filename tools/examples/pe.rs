//! A PE for the launcher's tests: comes to its end in the way its arguments say.

use nix::unistd::{Pid, getpid, setpgid};
use oneshmem::argument::memory::Unused;
use oneshmem::collectives::barrier_all;
use oneshmem::error::{Called::Blocking, Routine};
use oneshmem::query;
use oneshmem::start::setup;
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};

const ROUTINE: Routine = &Blocking("pe");

#[allow(unsafe_code)]
fn unused() -> Unused {
    // SAFETY: this program uses no symmetric memory.
    unsafe { Unused::new() }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<i32>().expect("a number");
    println!("pid {}", std::process::id());
    match words[..] {
        // Finalise, then exit; PE `pe` with this status.
        ["finalize", pe, status] => {
            let mine = start();
            setup::finalize(ROUTINE, unused());
            // The others outlive PE `pe`.
            if mine != number(pe) {
                std::thread::sleep(std::time::Duration::from_millis(300));
                println!("outlived");
            }
            exit(if mine == number(pe) { number(status) } else { 0 });
        }
        // PE `pe` exits so without finalising; the others wait for it.
        ["exit", pe, status] => {
            if start() == number(pe) {
                exit(number(status));
            }
            barrier_all(ROUTINE);
        }
        // PE `pe` dies of a signal; the others wait for it.
        ["abort", pe] => {
            if start() == number(pe) {
                std::process::abort();
            }
            barrier_all(ROUTINE);
        }
        // PE `pe` ends the job; the others compute.
        ["global_exit", pe, status] => {
            if start() == number(pe) {
                setup::global_exit(ROUTINE, number(status));
            }
            loop {
                std::hint::spin_loop();
            }
        }
        // PE `pe` never initialises; the others wait for it.
        ["absent", pe] => {
            let place = std::env::var("ONESHMEM_PE").expect("a launcher");
            if place.split(':').next() != Some(pe) {
                start();
                barrier_all(ROUTINE);
            }
        }
        // The other PE moves to the process group of one child and leaves another in its own. Then
        // PE `pe` exits with this status, or if that is 0 nothing more happens.
        ["regroup", pe, status] => {
            let mine = start();
            if mine != number(pe) {
                let child = |group| {
                    let child = Command::new("sleep").arg("1000").process_group(group).spawn();
                    let pid = child.expect("sleep runs").id();
                    println!("pid {pid}");
                    pid as i32
                };
                child(getpid().as_raw());
                let other = Pid::from_raw(child(0));
                setpgid(getpid(), other).expect("a group of this session");
            }
            barrier_all(ROUTINE);
            if mine == number(pe) && number(status) > 0 {
                exit(number(status));
            }
            loop {
                std::thread::park();
            }
        }
        // As programs before version 1.2 of the specification.
        ["start_pes"] => setup::start_pes(ROUTINE, unused()),
        _ => panic!("unknown arguments {words:?}"),
    }
}

fn start() -> i32 {
    setup::init(ROUTINE);
    query::my_pe(ROUTINE)
}
