//! Who may send to a process that listens for the job's other nodes: only processes of the job.
//!
//! UCX believes every byte that arrives over TCP. So none arrives from a stranger: UCX gets a connection
//! that others have opened to it only when its owner has been admitted (`guard.rs`). There is a port of
//! its own for that, over which both sides prove that they know the job's [`Secret`]:
//!
//! ```text
//!   server                                            client
//!     magic, challenge (32 random bytes)   -------->
//!                                          <--------  challenge, proof over both
//!     proof over both                      -------->
//!                                                     connects UCX
//!                                          <--------  own address of the connection, proof over it
//!     hands the connection to UCX; 0       -------->
//! ```
//!
//! After that, the connection costs what any other does. A client may stay, and so show that it is still
//! there: over RDMA, the two have no other connection that the kernel knows. The server's proof comes before the client
//! connects UCX, so nobody who has taken the port of a server that ended can attack the client.
//! Connections that nobody announces are closed.

mod guard;
mod server;

use super::secret::{Proof, Secret, random};
use crate::error::Error;
use crate::sys::socket;
use onenode_core::sys::process;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

pub use guard::{Guard, open_guarded};
pub use server::Server;

/// The first bytes that a server sends: the name and version of the protocol.
const MAGIC: [u8; 8] = *b"onesh.A\x01";
/// The bytes of a challenge, and of a proof.
const CHALLENGE: usize = blake3::OUT_LEN;
/// The bytes of an announced address as text, filled with zeros.
const ADDRESS: usize = 64;
/// The bytes of an announcement.
const ANNOUNCEMENT: usize = ADDRESS + CHALLENGE;
/// The server's answer to an announcement whose connection is open from now on.
const ADMITTED: u8 = 0;

/// How long the other side may acknowledge nothing. Without this limit, a connection to a host that is cut
/// off lasts as long as TCP retries: a quarter of an hour.
const SILENCE: Duration = Duration::from_secs(16);
/// How often a process asks to be admitted, and how long it waits in between.
const TRIES: u32 = 4;
const AGAIN: Duration = Duration::from_millis(50);
/// How long UCX's own socket may take to connect: as long as TCP takes where two of its first packets are
/// lost.
const CONNECTING: Duration = Duration::from_secs(8);

/// Purposes of proofs.
const CLIENT: &str = "oneshmem admission, client";
const SERVER: &str = "oneshmem admission, server";
const ANNOUNCED: &str = "oneshmem admission, address";

/// How others come to be admitted to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where it admits them.
    pub admits: SocketAddr,
    /// Where its UCX listens.
    pub listens: Vec<SocketAddr>,
}

impl Access {
    /// Proves to the process that this one belongs to the job, and the other way round.
    ///
    /// # Errors
    /// In words, if it does not answer within `most`, or is none of this job.
    pub fn request(&self, secret: &Secret, most: Duration) -> Result<Visit, String> {
        let (until, mut more) = (Instant::now() + most, 1..TRIES);
        loop {
            match self.request_once(secret, most) {
                Err((io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof, _))
                    if Instant::now() < until && more.next().is_some() =>
                {
                    process::sleep(AGAIN);
                }
                done => return done.map_err(|(_, why)| why),
            }
        }
    }

    /// As [`request`](Self::request), once. A server with too many clients may have closed the connection.
    fn request_once(
        &self,
        secret: &Secret,
        most: Duration,
    ) -> Result<Visit, (io::ErrorKind, String)> {
        let failed = |error: io::Error| match error.kind() {
            kind @ (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                (kind, format!("no answer from {} within {} s", self.admits, most.as_secs()))
            }
            kind => (kind, format!("connecting to {}: {error}", self.admits)),
        };
        let is_wrong =
            |why: &str| (io::ErrorKind::InvalidData, format!("{} is {why}", self.admits));
        let silence = SILENCE.min(most);
        let mut stream = TcpStream::connect_timeout(&self.admits, silence).map_err(|error| {
            match error.kind() {
                kind @ io::ErrorKind::TimedOut => {
                    let within = silence.as_secs();
                    (kind, format!("no connection to {} within {within} s", self.admits))
                }
                _ => failed(error),
            }
        })?;
        socket::limit_silence(&[self.admits], SILENCE);
        let set_up = stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(most)));
        set_up.map_err(failed)?;
        let (mut magic, mut theirs) = ([0; MAGIC.len()], [0; CHALLENGE]);
        stream.read_exact(&mut magic).map_err(failed)?;
        stream.read_exact(&mut theirs).map_err(failed)?;
        if magic != MAGIC {
            return Err(is_wrong("no process of this version of this library"));
        }
        let no_number = |error: Error| (io::ErrorKind::Other, error.to_string());
        let ours: [u8; CHALLENGE] = random().map_err(no_number)?;
        let proof = secret.proof(CLIENT, &[&theirs, &ours]);
        stream.write_all(&[ours, *proof.as_bytes()].concat()).map_err(failed)?;
        let mut answer = [0; CHALLENGE];
        stream.read_exact(&mut answer).map_err(failed)?;
        if Proof::from_bytes(answer) != secret.proof(SERVER, &[&theirs, &ours]) {
            return Err(is_wrong("no process of this job"));
        }
        let (secret, listens) = (secret.clone(), self.listens.clone());
        let before = socket::connected(&listens);
        Ok(Visit { stream, secret, challenges: [theirs, ours].concat(), listens, before, most })
    }
}

/// A client's stay at a server.
pub struct Visit {
    stream: TcpStream,
    secret: Secret,
    challenges: Vec<u8>,
    listens: Vec<SocketAddr>,
    /// The connections that there were already.
    before: Vec<(RawFd, SocketAddr)>,
    most: Duration,
}

impl Visit {
    /// Announces this process's new connections to the server's UCX. From then on they carry data. There
    /// is none if the server's UCX has connected to this process before: UCX uses that connection. Returns
    /// the connection to the server, which closing it ends the visit.
    ///
    /// # Errors
    /// In words, if the server does not admit them.
    pub fn announce(mut self) -> Result<TcpStream, String> {
        // Others of the program's sockets may connect for longer.
        let until = Instant::now() + self.most.min(CONNECTING);
        while socket::is_connecting() && Instant::now() < until {
            process::yield_cpu();
        }
        socket::limit_silence(&self.listens, SILENCE);
        let mut connections = socket::connected(&self.listens);
        connections.retain(|it| !self.before.contains(it));
        for (_, address) in connections {
            let mut text = address.to_string().into_bytes();
            text.resize(ADDRESS, 0);
            let proof = self.secret.proof(ANNOUNCED, &[&self.challenges, &text]);
            text.extend(proof.as_bytes());
            let mut verdict = [!ADMITTED];
            let asked =
                self.stream.write_all(&text).and_then(|()| self.stream.read_exact(&mut verdict));
            match asked {
                Ok(()) if verdict == [ADMITTED] => {}
                Ok(()) => return Err(format!("a connection from {address} is not admitted")),
                Err(error) => {
                    return Err(format!("a connection from {address} is not admitted: {error}"));
                }
            }
        }
        Ok(self.stream)
    }
}
