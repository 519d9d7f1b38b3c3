//! Whether RDMA works on this host, as a process of its own finds out: nothing of UCX stays in this one.

use super::ucx::{self, raw};
use crate::codec;
use crate::error::Error;
use crate::remote::network::{self, Preference, Route, Site};
use crate::sys::environment::variable;
use crate::sys::rdma::Port;
use crate::sys::{helper, install};
use onenode_core::sys::{pass, process};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The option with which the launcher is such a process; [`serve_by`] reads the argument after it.
pub const OPTION: &str = "--probe-rdma";
/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The report of a message that has arrived.
const WORKS: &[u8] = b"works";

/// This host, where the user has this preference.
pub fn own_site(preference: Preference) -> Site {
    match preference {
        Preference::Tcp => Site::without_rdma(),
        _ => Site::own(Some(|device: &str| run(&Route::by_rdma(device)?))),
    }
}

/// How this host would reach hosts that are like it.
///
/// # Errors
/// In words, if it would not in the way that the user prefers.
pub fn among_equals() -> Result<Route, String> {
    let preference = Preference::own()?;
    let site = own_site(preference);
    let (chosen, name) = (variable(network::VARIABLE), |_| "localhost".into());
    network::route(&[site.clone(), site], 0, name, preference, chosen.as_deref())
}

/// Tries whether a message arrives over a route's RDMA port.
///
/// # Errors
/// In words, why none does.
fn run(route: &Route) -> Result<(), String> {
    Port::of_network_device(&route.device)?.check_access()?;
    raw::check_limit()?;
    let program = install::oshrun();
    let asked = pass::pipe().map_err(Error::from).and_then(|[read, write]| {
        // A pipe has room for it.
        let _ = File::from(write).write_all(&codec::encode(route));
        helper::ask(read.as_fd(), (program.as_deref(), OPTION), |route, pipe, _| serve(route, pipe))
    });
    let report = asked.map_err(|error| error.to_string())?;
    match &report[..] {
        WORKS => Ok(()),
        [] => Err("the process that tried RDMA ended without a report".into()),
        why => Err(String::from_utf8_lossy(why).into_owned()),
    }
}

/// Is that process. `None` if the argument is not valid.
pub fn serve_by(words: &str) -> Option<()> {
    let (route, pipe, _) = helper::parse(words)?;
    serve(route, pipe);
    Some(())
}

/// Tries the route that is to be read from `route`, and writes the result to `pipe`.
fn serve(route: OwnedFd, pipe: OwnedFd) {
    if let Ok(pipe) = pipe.try_clone() {
        std::thread::spawn(|| give_up(pipe));
    }
    let mut bytes = Vec::new();
    let read = File::from(route).read_to_end(&mut bytes).map_err(|error| error.to_string());
    let route = read.and_then(|_| codec::decode(&bytes).ok_or("no route was named".to_owned()));
    let tried =
        route.and_then(|route| ucx::probe::probe(&route).map_err(|error| error.to_string()));
    let report = tried.map_or_else(String::into_bytes, |()| WORKS.to_vec());
    let _ = File::from(pipe).write_all(&report);
    process::exit_now(0)
}

/// Ends this process if it takes too long: UCX tries for ever to lock more memory than it may.
fn give_up(pipe: OwnedFd) {
    std::thread::sleep(PATIENCE);
    let why = format!("not tried within {} s{}", PATIENCE.as_secs(), raw::limit_note());
    let _ = File::from(pipe).write_all(why.as_bytes());
    process::exit_now(0)
}
