//! The side that admits: a thread of its own, so that nobody waits for a process that computes.

use super::{ADDRESS, ADMITTED, ANNOUNCED, ANNOUNCEMENT, ANSWER, CALL, CALLER, CHALLENGE, CLIENT};
use super::{About, Access, Guard, MAGIC, Queue, SERVER, TURN};
use crate::error::Error;
use crate::remote::secret::{Proof, Secret, random};
use crate::sys::signal::without_signals;
use crate::sys::socket;
use onenode_core::sys::pass;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

/// How long a client may take until it shows that it knows the secret, and how long a connection to UCX may
/// stay that nobody announces.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the thread sleeps: while clients wait for UCX, and else.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_secs(1);
/// How long others than the job's hosts wait for their next turn: so they take little of a processor.
const PAUSE: Duration = Duration::from_millis(10);

/// The port at which processes of the job are admitted to UCX's sockets.
pub struct Server {
    listener: TcpListener,
    /// For those who do not come from the job's hosts: of this port, and of UCX's.
    others: TcpListener,
    others_of_ucx: Vec<TcpListener>,
    /// When those get their next turn.
    turn: Instant,
    guard: Guard,
    clients: Vec<Client>,
    /// The time that it has waited, which passes only while it is ready to serve: clients are not blamed
    /// for the time in which this process, or the machine, stands still.
    waited: Duration,
    admits: SocketAddr,
}

struct Client {
    stream: TcpStream,
    host: IpAddr,
    queue: Queue,
    since: Duration,
    about: About,
    /// Bytes that have arrived and have not been handled.
    read: Vec<u8>,
    stage: Stage,
}

/// How far a client has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has sent no valid proof: it may be a stranger.
    Unknown,
    /// Its first proof is valid: it knows the secret, or repeats the proof of a process that does.
    Answered,
    /// It knows the secret, and may connect to UCX.
    Proven,
    /// It has announced that its UCX connects from this address.
    Announced(SocketAddr),
    /// It has been told that its connection is open.
    Admitted,
}

impl Server {
    /// Opens the port for processes on `hosts`, and for others. Returns how they come to be admitted, too;
    /// they wait until the server runs.
    ///
    /// # Errors
    /// If the system has no port for this.
    pub fn open(guard: &Guard, hosts: &[IpAddr]) -> Result<(Self, Access), Error> {
        let failed = |error: io::Error| Error::Engine(format!("a port for other nodes: {error}"));
        let listens = guard.addresses();
        let ip = listens.first().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), SocketAddr::ip);
        let listener = TcpListener::bind((ip, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        // All processes of a node may come at once.
        socket::lengthen_queue(&listener).map_err(failed)?;
        socket::share_port(listener.as_fd()).map_err(failed)?;
        let others = socket::divide(listener.as_fd(), hosts).map_err(failed)?;
        let admits = listener.local_addr().map_err(failed)?;
        // Nobody knows the port yet, so there is only to see whether the call is allowed.
        socket::accept(listener.as_fd())
            .map_err(|error| Error::Engine(format!("a port for other nodes: {error}")))?;
        let server = Self {
            listener,
            others,
            others_of_ucx: guard.keep(hosts).map_err(failed)?,
            turn: Instant::now(),
            guard: guard.clone(),
            clients: Vec::new(),
            waited: Duration::ZERO,
            admits,
        };
        Ok((server, Access { admits, listens }))
    }

    /// Admits processes from now on, in a thread of its own. `secret`: the job's, once it is known. `say` tells
    /// the user, once, why some have to wait.
    ///
    /// # Errors
    /// If the system has no thread for this.
    pub fn start(
        self,
        secret: impl Fn() -> Option<Secret> + Send + 'static,
        say: impl FnOnce(String) + Send + 'static,
    ) -> Result<(), Error> {
        let thread = thread::Builder::new().name("oneshmem-admit".into()).stack_size(256 << 10);
        let started = without_signals(|| thread.spawn(move || self.run(secret, say)));
        started.map(drop).map_err(|error| Error::Engine(format!("no thread: {error}")))
    }

    fn run(mut self, secret: impl Fn() -> Option<Secret>, say: impl FnOnce(String)) {
        let mut say = Some(say);
        let secret = loop {
            match secret() {
                Some(secret) => break secret,
                None => thread::sleep(SOON),
            }
        };
        loop {
            self.wait();
            let waited = self.waited;
            self.clients.retain_mut(|client| {
                let is_strange = |client: &Client| client.stage == Stage::Unknown;
                client.advance(&secret)
                    && !(is_strange(client) && waited - client.since >= PATIENCE)
            });
            self.take_in(Queue::Hosts);
            if self.turn <= Instant::now() {
                self.turn_to_others();
            }
            self.hand_over();
            if let Some(error) = self.guard.refused() {
                if let Some(say) = say.take() {
                    say(format!("connections from other nodes have to wait: {error}"));
                }
                thread::sleep(PAUSE);
            }
        }
    }

    /// Returns when there may be something to do.
    fn wait(&mut self) {
        let is_announced = |client: &Client| matches!(client.stage, Stage::Announced(_));
        let begin = Instant::now();
        let pause = self.turn.saturating_duration_since(begin);
        let most = match self.clients.iter().any(is_announced) || self.guard.is_behind() {
            true => SOON,
            false if pause.is_zero() => LATER,
            // Rounded up to the milliseconds of the call.
            false => pause + SOON,
        };
        let others = [&self.others].into_iter().chain(&self.others_of_ucx);
        let others = others.filter(|_| pause.is_zero()).map(TcpListener::as_fd);
        let streams = self.clients.iter().map(|client| client.stream.as_fd());
        pass::wait(streams.chain([self.listener.as_fd()]).chain(others), most);
        self.waited += begin.elapsed().min(most);
    }

    /// Takes in some of those who are not from the job's hosts. If there are more, they wait a little.
    fn turn_to_others(&mut self) {
        let of_ucx = |listener: &TcpListener| self.guard.take_in(listener.as_fd(), Queue::Others);
        let most = self.others_of_ucx.iter().map(of_ucx).max();
        if self.take_in(Queue::Others).max(most.unwrap_or(0)) >= TURN {
            self.turn = Instant::now() + PAUSE;
        }
    }

    /// Takes in some of those that have come, and returns how many. If there are too many strangers, the
    /// oldest ones leave.
    fn take_in(&mut self, queue: Queue) -> usize {
        let listener = if queue == Queue::Hosts { &self.listener } else { &self.others };
        let come = std::iter::from_fn(|| self.guard.accept_from(listener.as_fd())).take(TURN);
        let begin = |(connection, from): (OwnedFd, _)| {
            Client::begin(connection.into(), queue, (self.admits, from), self.waited)
        };
        let come: Vec<_> = come.map(begin).collect();
        let count = come.len();
        self.clients.extend(come.into_iter().flatten());
        let is_strange = |it: &Client| (it.stage, it.queue) == (Stage::Unknown, queue);
        let strangers = self.clients.iter().filter(|it| is_strange(it)).count();
        let mut many = strangers.saturating_sub(queue.room());
        self.clients.retain(|it| {
            let leaves = many > 0 && is_strange(it);
            many -= usize::from(leaves);
            !leaves
        });
        count
    }

    /// Hands the connections to UCX that clients have announced, and closes those of strangers.
    fn hand_over(&mut self) {
        let announced = self.clients.iter().filter_map(|client| match client.stage {
            Stage::Announced(address) => Some(address),
            _ => None,
        });
        let may_have_connected = |it: &&Client| matches!(it.stage, Stage::Answered | Stage::Proven);
        let more = self.clients.iter().filter(may_have_connected);
        let hosts = more.map(|client| client.host).collect();
        let come = self.guard.admit(announced.collect(), hosts);
        for client in &mut self.clients {
            if matches!(client.stage, Stage::Announced(address) if come.contains(&address)) {
                client.stage = Stage::Admitted;
                let _ = client.stream.write_all(&[ADMITTED]);
            }
        }
        self.guard.drop_strangers(self.waited, PATIENCE);
    }
}

impl Client {
    fn begin(
        stream: TcpStream,
        queue: Queue,
        (admits, from): (SocketAddr, SocketAddr),
        since: Duration,
    ) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self {
            stream,
            host: from.ip(),
            queue,
            since,
            about: About::ends(admits, from),
            read: Vec::new(),
            stage: Stage::Unknown,
        })
    }

    /// Takes in what has come; false if the client is to go. One that knows the secret may take its
    /// time, and may stay when it has announced its connections.
    fn advance(&mut self, secret: &Secret) -> bool {
        let mut bytes = [0; ANNOUNCEMENT];
        let expected = match self.stage {
            Stage::Unknown => CALL,
            Stage::Answered => ANSWER,
            Stage::Proven | Stage::Admitted => ANNOUNCEMENT,
            Stage::Announced(_) => return stays(&self.stream),
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
        self.take(secret, content, proof).is_some()
    }

    /// Takes in a message; `None` if it is not right.
    fn take(&mut self, secret: &Secret, content: &[u8], proof: &[u8]) -> Option<()> {
        let proof = Proof::from_slice(proof).ok()?;
        let is_proof = |expected: Proof| (proof == expected).then_some(());
        self.stage = match self.stage {
            Stage::Unknown => {
                let about = self.about.clone().then(content.try_into().ok()?);
                is_proof(about.proof(secret, CALLER, &[]))?;
                let ours = random().ok()?;
                self.about = about.then(&ours);
                let proof = self.about.proof(secret, SERVER, &[]);
                let answer = [&MAGIC[..], &ours, proof.as_bytes()].concat();
                self.stream.write_all(&answer).ok()?;
                Stage::Answered
            }
            Stage::Answered => {
                is_proof(self.about.proof(secret, CLIENT, content))?;
                Stage::Proven
            }
            _ => {
                is_proof(self.about.proof(secret, ANNOUNCED, content))?;
                let text = content.split(|byte| *byte == 0).next().unwrap_or_default();
                Stage::Announced(std::str::from_utf8(text).ok()?.parse().ok()?)
            }
        };
        Some(())
    }
}

/// Whether a client that waits for an answer has neither left nor sent anything.
fn stays(stream: &TcpStream) -> bool {
    stream.peek(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

const _: () = assert!(ADDRESS + CHALLENGE == ANNOUNCEMENT && CALL <= ANNOUNCEMENT);
