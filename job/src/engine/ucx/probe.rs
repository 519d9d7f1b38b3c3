//! A message from one worker to another over the same route, both in this process.

use super::direct::Inbox;
use super::message::OPERATIONS;
use super::raw::limit_note;
use super::request::Remote;
use super::server::Server;
use super::worker::Worker;
use crate::error::Error;
use crate::remote::network::Route;
use crate::remote::secret::Secret;
use std::time::{Duration, Instant};

/// How long each step may take.
const MOST: Duration = Duration::from_secs(5);

/// Asks a question and waits for its answer.
///
/// # Errors
/// If no worker can be opened, or no answer comes.
pub fn probe(route: &Route) -> Result<(), Error> {
    let failed = |why: String| Error::Engine(why);
    // UCX sends nothing if it cannot lock the memory of its buffers.
    let lost = |why: String| failed(format!("{why}{}", limit_note()));
    let secret = Secret::new()?;
    let theirs = secret.clone();
    let (there, record) = Server::open(0..1, (route, &[]), move || Some(theirs.clone()))?;
    let (here, guard) = Worker::open(route, Inbox::default())?;
    guard.close()?;
    let handshake = record.access.request(&secret, MOST).map_err(failed)?;
    let connection = here.connect(&record.address, OPERATIONS)?;
    here.keep(handshake.announce().map_err(failed)?);
    let requests = &here.receiver().requests;
    let number = requests.ask_for_answer(&here, Remote::none(connection, 0))?;
    let until = Instant::now() + MOST;
    while !requests.is_answered(number) {
        here.progress();
        there.progress();
        if let Some(status) = connection.failure() {
            return Err(lost(format!("a message: {}", here.words(status))));
        }
        if Instant::now() >= until {
            return Err(lost(format!("no message has arrived within {} s", MOST.as_secs())));
        }
    }
    Ok(())
}
