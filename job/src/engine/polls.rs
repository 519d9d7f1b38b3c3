//! When an agent polls for messages and when it sleeps. Waking a process takes longer than a message
//! does, more so on another CPU. So the agent polls during an exchange, and yields the CPU in between.

use std::time::{Duration, Instant};

/// How long it polls after a message, for the next one: until an exchange has ended.
const POLLS: Duration = Duration::from_micros(300);
/// A yield that takes this long has given the CPU to a process that computes.
const LONG_YIELD: Duration = Duration::from_micros(500);
/// For how many times as long it does not poll after that. The scheduler gives the CPU at once to a
/// process that wakes up, but not to one that has yielded.
const WITHOUT_POLLS: u32 = 20;
/// A long yield counts only this soon after another one: a process that computes takes the CPU again
/// and again, whereas the host of a virtual machine takes it now and then.
const SOON: Duration = Duration::from_millis(10);

/// Recent results of polling: messages, and the CPU's other users.
pub struct Polls {
    /// When the last message came.
    last: Instant,
    /// The agent does not poll before this time, because others need the CPU.
    from: Instant,
    /// Until when the next long yield counts.
    suspect: Instant,
}

impl Polls {
    /// Nothing has come yet.
    pub fn new(now: Instant) -> Self {
        Self { last: now, from: now, suspect: now }
    }

    /// Notes that a message has come.
    pub fn message(&mut self, now: Instant) {
        self.last = now;
    }

    /// Whether to yield and to poll again, or to sleep.
    pub fn again(&self, now: Instant) -> bool {
        now >= self.from && now - self.last < POLLS
    }

    /// Notes how long a yield took.
    pub fn yielded(&mut self, began: Instant, now: Instant) {
        let took = now - began;
        if took >= LONG_YIELD {
            if began < self.suspect {
                self.from = now + took * WITHOUT_POLLS;
            }
            self.suspect = self.from.max(now) + SOON;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(3);

    #[test]
    fn it_polls_for_a_while_after_each_message() {
        let start = Instant::now();
        let mut polls = Polls::new(start);
        for message in [start, start + POLLS * 3] {
            polls.message(message);
            assert!(polls.again(message) && polls.again(message + POLLS - SHORT));
            assert!(!polls.again(message + POLLS) && !polls.again(message + POLLS * 2));
        }
    }

    #[test]
    fn it_sleeps_while_others_compute() {
        let start = Instant::now();
        let mut polls = Polls::new(start);
        polls.yielded(start, start + SHORT);
        assert!(polls.again(start + SHORT), "a short yield changes nothing");
        let slice = Duration::from_millis(3);
        polls.yielded(start, start + slice);
        polls.message(start + slice);
        assert!(polls.again(start + slice), "one long yield may be the host's");
        let back = start + slice * 2;
        polls.yielded(start + slice, back);
        for later in [SHORT, slice, slice * (WITHOUT_POLLS - 1)] {
            polls.message(back + later);
            assert!(!polls.again(back + later), "{later:?}");
        }
        let later = back + slice * WITHOUT_POLLS;
        assert!(!polls.again(later + POLLS), "no message since");
        polls.message(later);
        assert!(polls.again(later));
        polls.yielded(later, later + slice);
        polls.message(later + slice);
        assert!(!polls.again(later + slice), "it still computes");
    }

    #[test]
    fn rare_long_yields_change_nothing() {
        let start = Instant::now();
        let mut polls = Polls::new(start);
        for round in 1..5 {
            let began = start + SOON * 2 * round;
            polls.yielded(began, began + LONG_YIELD);
            polls.message(began + LONG_YIELD);
            assert!(polls.again(began + LONG_YIELD));
        }
    }
}
