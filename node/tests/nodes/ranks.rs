//! Processes, each a rank, that exchange 64 bytes at a time through pipes.

use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, alarm, pipe2};
use onenode::{BackendChoice, Card, Config, Node, Rank, State};
use onenode_core::sys::process;
use std::fs::File;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Duration;

/// Longer than any test takes, also on a busy machine.
pub const LONG: Duration = Duration::from_secs(200);

/// One of the processes.
pub struct Process {
    pub index: u32,
    pub count: u32,
    up: File,
    down: File,
}

fn pipe() -> (File, File) {
    let (read, write) = pipe2(OFlag::O_CLOEXEC).expect("a pipe");
    (read.into(), write.into())
}

impl Process {
    /// Gives this process's words to all and gets theirs, in their order; of one that has ended,
    /// zeros.
    pub fn exchange(&mut self, mine: [u64; 8]) -> Vec<[u64; 8]> {
        self.up.write_all(mine.map(u64::to_ne_bytes).as_flattened()).expect("written");
        let mut word = [0; 8];
        let mut next = || {
            self.down.read_exact(&mut word).expect("read");
            u64::from_ne_bytes(word)
        };
        (0..self.count).map(|_| std::array::from_fn(|_| next())).collect()
    }

    /// Returns when all that live have come here.
    pub fn barrier(&mut self) {
        self.exchange([0; 8]);
    }

    /// Opens a node of this rank and tells it of all others.
    pub fn node(&mut self) -> Node {
        self.open(|rank| Config { rank: Some(rank), ..memfd() })
    }

    /// As [`node`](Self::node), with settings.
    pub fn open(&mut self, config: impl Fn(Rank) -> Config) -> Node {
        let node = Node::open(config(self.index)).expect("opened");
        self.meet(&node, |index| index);
        node
    }

    /// Exchanges the cards of nodes, whose ranks are numbered by `rank`.
    pub fn meet(&mut self, node: &Node, rank: impl Fn(u32) -> Rank) {
        for (index, card) in (0..).zip(self.exchange(node.card().expect("a card").0)) {
            assert_eq!(node.know(Some(rank(index)), &Card(card)).expect("known"), rank(index));
        }
    }

    /// The next process's index.
    pub fn next(&self) -> u32 {
        (self.index + 1) % self.count
    }
}

/// The state of a rank.
pub fn state_of(node: &Node, rank: Rank) -> State {
    node.state(rank).expect("a node of this process")
}

/// Settings for memory files, on whatever machine.
pub fn memfd() -> Config {
    Config { backend: BackendChoice::Memfd, ..Config::default() }
}

/// Has processes say why they fail: the harness keeps what a thread of its own prints. Not set in
/// them, because another thread may have had a lock when they were forked.
fn let_processes_speak() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let (harness, before) = (std::process::id(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| {
            if std::process::id() == harness {
                return before(info);
            }
            let text = format!("process {}: {info}\n", std::process::id());
            let _ = nix::unistd::write(std::io::stderr(), text.as_bytes());
        }));
    });
}

/// Sends a signal to a process of this test.
pub fn signal(pid: u64, signal: Signal) {
    kill(Pid::from_raw(pid as i32), signal).expect("it exists");
}

/// Ends this process by SIGKILL.
pub fn die() -> ! {
    unreachable!("{:?} after SIGKILL", raise(Signal::SIGKILL));
}

/// Ends this process without the exit handlers, which are its parent's.
pub fn exit(good: bool) -> ! {
    process::exit_now((!good).into())
}

/// Returns twice: the child's number, and 0 in the child, which has to [`exit`].
pub fn fork() -> libc::pid_t {
    // SAFETY: the child runs on in the test, in which the only locks are those of its own objects and
    // of the allocator, which the C library sets free.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    child
}

/// Waits for a child of this process. Returns how it ended, as `waitpid` tells it.
pub fn wait(child: libc::pid_t) -> i32 {
    match waitpid(Pid::from_raw(child), None).expect("a child") {
        WaitStatus::Exited(_, status) => status << 8,
        WaitStatus::Signaled(_, signal, _) => signal as i32,
        other => unreachable!("{other:?} has not ended"),
    }
}

/// Runs `body` in so many processes. Returns how each ended, as `waitpid` tells it.
pub fn statuses(count: u32, body: impl Fn(&mut Process)) -> Vec<i32> {
    let_processes_speak();
    let (mut children, mut ends) = (Vec::new(), Vec::new());
    for index in 0..count {
        let (above, up) = pipe();
        let (down, below) = pipe();
        let child = fork();
        if child == 0 {
            ends.clear();
            drop((above, below));
            // A process that hangs ends by a signal.
            alarm::set(LONG.as_secs() as u32);
            let mut process = Process { index, count, up, down };
            let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut process)));
            exit(outcome.is_ok());
        }
        children.push(child);
        ends.push((above, below));
    }
    let mut words = vec![[0u8; 64]; count as usize];
    loop {
        let mut alive = 0;
        for ((above, _), words) in ends.iter_mut().zip(&mut words) {
            match above.read_exact(words) {
                Ok(()) => alive += 1,
                Err(_) => *words = [0; 64],
            }
        }
        if alive == 0 {
            break;
        }
        for (_, below) in &mut ends {
            // One that has ended does not read.
            let _ = below.write_all(words.as_flattened());
        }
    }
    children.into_iter().map(wait).collect()
}

/// Runs `body` in so many processes, all of which must end well.
pub fn run(count: u32, body: impl Fn(&mut Process)) {
    let statuses = statuses(count, body);
    assert!(statuses.iter().all(|status| *status == 0), "{statuses:x?}");
}
