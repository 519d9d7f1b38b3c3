//! Who may send to a process that listens for the job's other nodes: only processes of the job.
//!
//! UCX believes every byte that arrives over TCP. So none arrives from a stranger: UCX gets a connection
//! that others have opened to it only when its owner has been admitted (`guard.rs`). There is a port of
//! its own for that, over which both sides prove that they know the job's [`Secret`]:
//!
//! ```text
//!   client                                            server
//!     challenge (32 random bytes), proof   -------->
//!                                          <--------  magic, challenge, proof
//!     proof                                -------->
//!     connects UCX
//!     own address of the connection, proof -------->
//!                                          <--------  hands the connection to UCX; 0
//! ```
//!
//! Each proof is over what has been said so far and both ends' addresses, so none serves at another port: whoever
//! has got that of a server that ended cannot pass on what it hears to another server. The client speaks
//! first, and the server answers nobody without a proof: it drops strangers as soon as they are too many.
//!
//! Those who connect from other addresses than the job's hosts have are in a queue of their own at either port,
//! from which few are taken at a time ([`Queue`]).
//!
//! After that, the connection costs what any other does. A client may stay, and so show that it is still
//! there: over RDMA, the two have no other connection that the kernel knows. The server's proof comes before the client
//! connects UCX, so nobody who has taken the port of a server that ended can attack the client.
//! Connections that nobody announces are closed.

mod guard;
mod server;

use crate::error::Error;
use crate::remote::secret::{Proof, Secret, random};
use crate::sys::socket;
use onenode_core::sys::process;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

pub use guard::{Guard, open_guarded};
pub use server::Server;

/// The first bytes that a server sends: the name and version of the protocol.
const MAGIC: [u8; 8] = *b"onesh.A\x02";
/// The bytes of a challenge, and of a proof.
const CHALLENGE: usize = blake3::OUT_LEN;
/// The bytes of an address as text, filled with zeros.
const ADDRESS: usize = 64;
/// The bytes of a client's messages: its call, its proof that it knows the secret now, and an announcement.
const CALL: usize = 2 * CHALLENGE;
const ANSWER: usize = CHALLENGE;
const ANNOUNCEMENT: usize = ADDRESS + CHALLENGE;
/// The server's answer to an announcement whose connection is open from now on.
const ADMITTED: u8 = 0;

/// How long the other side may acknowledge nothing. Without this limit, a connection to a host that is cut
/// off lasts as long as TCP retries: a quarter of an hour.
const SILENCE: Duration = Duration::from_secs(16);
/// How often a process asks to be admitted, and how long it waits in between.
const TRIES: u32 = 16;
const AGAIN: Duration = Duration::from_millis(50);
/// How an operation fails if the server has ended the connection.
const ENDED: [io::ErrorKind; 3] =
    [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe, io::ErrorKind::UnexpectedEof];
/// How long UCX's own socket may take to connect: as long as TCP takes where two of its first packets are
/// lost.
const CONNECTING: Duration = Duration::from_secs(8);

/// The most connections of either port that are taken in before others get their turn.
const TURN: usize = 32;

/// Purposes of proofs.
const CALLER: &str = "oneshmem admission, caller";
const SERVER: &str = "oneshmem admission, server";
const CLIENT: &str = "oneshmem admission, client";
const ANNOUNCED: &str = "oneshmem admission, address";

/// From where somebody connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    /// From one of the job's hosts, as far as their addresses are known.
    Hosts,
    /// From elsewhere.
    Others,
}

impl Queue {
    /// The most connections of strangers that are kept at a port. If more come, the oldest makes room.
    fn room(self) -> usize {
        match self {
            Self::Hosts => 256,
            Self::Others => TURN,
        }
    }
}

/// The subject of the proofs of one handshake: both ends of its connection, and the nonces exchanged.
#[derive(Clone)]
struct About(Vec<u8>);

impl About {
    /// Nothing has been said yet. `server`: where it admits others, as it has published it.
    fn ends(server: SocketAddr, client: SocketAddr) -> Self {
        Self([text_of(server), text_of(client)].concat())
    }

    fn then(mut self, challenge: &[u8; CHALLENGE]) -> Self {
        self.0.extend(challenge);
        self
    }

    fn proof(&self, secret: &Secret, purpose: &str, said: &[u8]) -> Proof {
        secret.proof(purpose, &[&self.0, said])
    }
}

/// An address as text. That of a socket may have a scope, which other hosts do not know.
fn text_of(address: SocketAddr) -> [u8; ADDRESS] {
    let mut text = [0; ADDRESS];
    let shown = SocketAddr::new(address.ip(), address.port()).to_string();
    text[..shown.len()].copy_from_slice(shown.as_bytes());
    text
}

/// How others come to be admitted to a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub fn request(&self, secret: &Secret, most: Duration) -> Result<Handshake, String> {
        let (until, mut more) = (Instant::now() + most, 1..TRIES);
        loop {
            match self.request_once(secret, most) {
                Err((kind, _))
                    if ENDED.contains(&kind) && Instant::now() < until && more.next().is_some() =>
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
    ) -> Result<Handshake, (io::ErrorKind, String)> {
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
        let own = set_up.and_then(|()| stream.local_addr()).map_err(failed)?;
        let no_number = |error: Error| (io::ErrorKind::Other, error.to_string());
        let ours: [u8; CHALLENGE] = random().map_err(no_number)?;
        let about = About::ends(self.admits, own).then(&ours);
        let proof = about.proof(secret, CALLER, &[]);
        stream.write_all(&[ours, *proof.as_bytes()].concat()).map_err(failed)?;
        let (mut magic, mut theirs, mut answer) =
            ([0; MAGIC.len()], [0; CHALLENGE], [0; CHALLENGE]);
        stream.read_exact(&mut magic).map_err(failed)?;
        if magic != MAGIC {
            return Err(is_wrong("no process of this version of this library"));
        }
        stream.read_exact(&mut theirs).map_err(failed)?;
        stream.read_exact(&mut answer).map_err(failed)?;
        let about = about.then(&theirs);
        if Proof::from_bytes(answer) != about.proof(secret, SERVER, &[]) {
            return Err(is_wrong("no process of this job"));
        }
        stream.write_all(about.proof(secret, CLIENT, &[]).as_bytes()).map_err(failed)?;
        let (secret, listens) = (secret.clone(), self.listens.clone());
        let before = socket::connected(&listens);
        Ok(Handshake { stream, secret, about, listens, before, most })
    }
}

/// A client's stay at a server.
pub struct Handshake {
    stream: TcpStream,
    secret: Secret,
    about: About,
    listens: Vec<SocketAddr>,
    /// The connections that there were already.
    before: Vec<(RawFd, SocketAddr)>,
    most: Duration,
}

impl Handshake {
    /// Announces this process's new connections to the server's UCX. From then on they carry data. There
    /// is none if the server's UCX has connected to this process before: UCX uses that connection. Returns
    /// the connection to the server, which closing it ends the handshake.
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
            let text = text_of(address);
            let proof = self.about.proof(&self.secret, ANNOUNCED, &text);
            let said = [&text[..], proof.as_bytes()].concat();
            let mut verdict = [!ADMITTED];
            let asked =
                self.stream.write_all(&said).and_then(|()| self.stream.read_exact(&mut verdict));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const MOST: Duration = Duration::from_secs(20);
    const CHALLENGED: [u8; CHALLENGE] = [7; CHALLENGE];

    fn with_port(address: SocketAddr, port: u16) -> SocketAddr {
        SocketAddr::new(address.ip(), port)
    }

    #[test]
    fn a_server_refuses_proofs_for_other_addresses() {
        let secret = Secret::new().expect("random bytes");
        let (server, Access { admits, .. }) = Server::open(&Guard::default(), &[]).expect("a port");
        let theirs = secret.clone();
        server.start(move || Some(theirs.clone()), |why| panic!("{why}")).expect("a thread");
        // A server that has ended had one of these addresses, and a stranger has it now.
        let others = [with_port(admits, admits.port() ^ 1), ([127, 0, 0, 2], admits.port()).into()];
        let answer = |of: &dyn Fn(SocketAddr) -> [SocketAddr; 2]| {
            let mut stream = TcpStream::connect(admits).expect("a server");
            let [to, from] = of(stream.local_addr().expect("an address"));
            let about = About::ends(to, from).then(&CHALLENGED);
            let proof = about.proof(&secret, CALLER, &[]);
            stream.write_all(&[CHALLENGED, *proof.as_bytes()].concat()).expect("sent");
            stream.set_read_timeout(Some(MOST)).expect("a time limit");
            let mut magic = [0; MAGIC.len()];
            let read = stream.read_exact(&mut magic);
            read.map(|()| magic).map_err(|error| error.kind())
        };
        assert_eq!(answer(&|own| [admits, own]), Ok(MAGIC));
        for other in others {
            assert!(ENDED.contains(&answer(&|own| [other, own]).expect_err("no answer")));
        }
        let from_another = answer(&|own| [admits, with_port(own, own.port() ^ 1)]);
        assert!(ENDED.contains(&from_another.expect_err("no answer")));
    }

    #[test]
    fn a_client_refuses_a_server_at_another_address() {
        let secret = Secret::new().expect("random bytes");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let admits = listener.local_addr().expect("an address");
        let access = Access { admits, listens: Vec::new() };
        for (claimed, is_right) in [(admits, true), (with_port(admits, admits.port() ^ 1), false)] {
            let admitted = std::thread::scope(|scope| {
                // What a server at the claimed address says.
                scope.spawn(|| {
                    let (mut stream, from) = listener.accept().expect("a client");
                    let mut call = [0; CALL];
                    stream.read_exact(&mut call).expect("a call");
                    let theirs = call[..CHALLENGE].try_into().expect("a challenge");
                    let about = About::ends(claimed, from).then(theirs).then(&CHALLENGED);
                    let proof = about.proof(&secret, SERVER, &[]);
                    let answer = [&MAGIC[..], &CHALLENGED, proof.as_bytes()].concat();
                    stream.write_all(&answer).expect("sent");
                });
                access.request(&secret, MOST).map(drop)
            });
            let refused = Err(format!("{admits} is no process of this job"));
            assert_eq!(admitted, if is_right { Ok(()) } else { refused });
        }
    }
}
