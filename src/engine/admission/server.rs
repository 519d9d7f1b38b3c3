//! The side that admits: a thread of its own, so that nobody waits for a process that computes.

use super::{ADDRESS, ADMITTED, ANNOUNCED, ANNOUNCEMENT, CHALLENGE, CLIENT, MAGIC, SERVER};
use super::{Access, Guard};
use crate::engine::secret::{Proof, Secret, random};
use crate::error::Error;
use crate::sys::signal::without_signals;
use crate::sys::socket;
use onenode_core::sys::pass;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// The most clients without a proof. If more come, they wait in the listener's queue.
const MOST: usize = 64;
/// How long a client may take to prove itself, and how long a connection to UCX may stay that nobody
/// announces.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same if there are [`MOST`] of them or more.
const CROWDED: Duration = Duration::from_millis(250);
/// How long the thread sleeps: while clients wait for UCX, and else.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_secs(1);

/// How long each of so many may stay without a proof, or unannounced.
fn patience(count: usize) -> Duration {
    if count < MOST { PATIENCE } else { CROWDED }
}

/// The port at which processes of the job are admitted to UCX's sockets.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    clients: Vec<Client>,
    /// The time that it has waited, which passes only while it is ready to serve: clients are not blamed
    /// for the time in which this process, or the machine, stands still.
    waited: Duration,
}

struct Client {
    stream: TcpStream,
    since: Duration,
    challenge: [u8; CHALLENGE],
    /// What has come and has not been dealt with.
    read: Vec<u8>,
    /// Both challenges, once the client has proved itself.
    proven: Option<Vec<u8>>,
    /// The connection that it has announced.
    announced: Option<SocketAddr>,
}

impl Server {
    /// Opens the port. Returns how others come to be admitted, too; they wait until the server runs.
    ///
    /// # Errors
    /// If the system has no port for this.
    pub fn open(guard: &Guard) -> Result<(Self, Access), Error> {
        let failed = |error: io::Error| Error::Engine(format!("a port for other nodes: {error}"));
        let listens = guard.addresses();
        let ip = listens.first().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), SocketAddr::ip);
        let listener = TcpListener::bind((ip, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // All processes of a node may come at once.
        socket::lengthen_queue(&listener).map_err(failed)?;
        let access = Access { admits: listener.local_addr().map_err(failed)?, listens };
        guard.keep();
        let (guard, waited) = (guard.clone(), Duration::ZERO);
        Ok((Self { listener, guard, clients: Vec::new(), waited }, access))
    }

    /// Admits processes from now on, in a thread of its own. `secret`: the job's, once it is known.
    ///
    /// # Errors
    /// If the system has no thread for this.
    pub fn start(self, secret: impl Fn() -> Option<Secret> + Send + 'static) -> Result<(), Error> {
        let thread = thread::Builder::new().name("oneshmem-admit".into()).stack_size(256 << 10);
        let started = without_signals(|| thread.spawn(move || self.run(secret)));
        started.map(drop).map_err(|error| Error::Engine(format!("no thread: {error}")))
    }

    fn run(mut self, secret: impl Fn() -> Option<Secret>) {
        let secret = loop {
            match secret() {
                Some(secret) => break secret,
                None => thread::sleep(SOON),
            }
        };
        loop {
            let unproven = self.count_unproven();
            let most = match &self.clients {
                some if some.iter().any(|client| client.announced.is_some()) => SOON,
                _ if unproven > 0 => CROWDED,
                _ => LATER,
            };
            let begin = Instant::now();
            let streams = self.clients.iter().map(|client| client.stream.as_fd());
            let listener = (unproven < MOST).then_some(self.listener.as_fd());
            pass::wait(streams.chain(listener), most);
            self.waited += begin.elapsed().min(most);
            let patience = patience(unproven);
            self.clients.retain_mut(|client| {
                client.advance(&secret)
                    && !(client.is_unproven() && self.waited - client.since >= patience)
            });
            self.accept();
            self.hand_over();
        }
    }

    fn count_unproven(&self) -> usize {
        self.clients.iter().filter(|client| client.is_unproven()).count()
    }

    /// Takes in clients that have come.
    fn accept(&mut self) {
        for _ in self.count_unproven()..MOST {
            let Ok((stream, _)) = self.listener.accept() else { return };
            self.clients.extend(Client::begin(stream, self.waited));
        }
    }

    /// Hands the connections to UCX that clients have announced, and closes those of strangers.
    fn hand_over(&mut self) {
        for client in &mut self.clients {
            if client.announced.is_some_and(|address| self.guard.admit(address)) {
                client.announced = None;
                let _ = client.stream.write_all(&[ADMITTED]);
            }
        }
        let announced = |address| self.clients.iter().any(|it| it.announced == Some(address));
        self.guard.drop_strangers(self.waited, |count, address, stayed| {
            stayed >= patience(count) && !announced(address)
        });
    }
}

impl Client {
    fn begin(mut stream: TcpStream, since: Duration) -> Option<Self> {
        let challenge = random().ok()?;
        stream.set_nonblocking(true).ok()?;
        stream.set_nodelay(true).ok()?;
        stream.write_all(&[&MAGIC[..], &challenge].concat()).ok()?;
        Some(Self { stream, since, challenge, read: Vec::new(), proven: None, announced: None })
    }

    fn is_unproven(&self) -> bool {
        self.proven.is_none()
    }

    /// Takes in what has come; false if the client is to go. One that has proved itself may take its
    /// time, and may stay when it has announced its connections.
    fn advance(&mut self, secret: &Secret) -> bool {
        let mut bytes = [0; ANNOUNCEMENT];
        let expected = match (&self.proven, self.announced) {
            (None, _) => 2 * CHALLENGE,
            (Some(_), None) => ANNOUNCEMENT,
            (Some(_), Some(_)) => return stays(&self.stream),
        };
        match self.stream.read(&mut bytes[..expected - self.read.len()]) {
            Ok(0) => return false,
            Ok(count) => self.read.extend(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
        if self.read.len() < expected {
            return true;
        }
        let message = std::mem::take(&mut self.read);
        let (content, proof) = message.split_at(expected - CHALLENGE);
        let is_proof = |expected: Proof| Proof::from_slice(proof).is_ok_and(|it| it == expected);
        match &self.proven {
            None => {
                let challenges = [&self.challenge[..], content].concat();
                let (theirs, ours) = (content, &self.challenge[..]);
                if !is_proof(secret.proof(CLIENT, &[ours, theirs])) {
                    return false;
                }
                self.proven = Some(challenges);
                let proof = secret.proof(SERVER, &[ours, theirs]);
                self.stream.write_all(proof.as_bytes()).is_ok()
            }
            Some(challenges) => {
                if !is_proof(secret.proof(ANNOUNCED, &[challenges, content])) {
                    return false;
                }
                let text = content.split(|byte| *byte == 0).next().unwrap_or_default();
                self.announced = std::str::from_utf8(text).ok().and_then(|it| it.parse().ok());
                self.announced.is_some()
            }
        }
    }
}

/// Whether a client that waits for an answer has neither left nor sent anything.
fn stays(stream: &TcpStream) -> bool {
    stream.peek(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

const _: () = assert!(ADDRESS + CHALLENGE == ANNOUNCEMENT);
