//! How a member of a team subscribes to the steps of one on another node while that one announces
//! them.

use crate::atomics::{AtomicU64, Ordering};
use crate::collectives::subscription;
use loom::sync::{Arc, Notify};
use loom::thread;

const STEPS: u64 = 2;
const SUBSCRIBER: usize = 70;

/// The words by their place: the announcer's, and the copy of its step on the subscriber's node.
struct Words {
    step: AtomicU64,
    subscribers: AtomicU64,
    copy: AtomicU64,
    /// The subscriber sleeps on this.
    bell: Notify,
}

#[test]
fn a_subscriber_hears_of_every_step() {
    loom::model(|| {
        let words = Arc::new(Words {
            step: AtomicU64::new(0),
            subscribers: AtomicU64::new(0),
            copy: AtomicU64::new(0),
            bell: Notify::new(),
        });
        let there = words.clone();
        let announcer = thread::spawn(move || {
            for step in 1..=STEPS {
                there.step.swap(step, Ordering::SeqCst);
                subscription::announced(&there.subscribers, |subscribers| {
                    assert_eq!(subscribers, subscription::bit(SUBSCRIBER));
                    assert!(there.copy.swap(step, Ordering::SeqCst) < step);
                    there.bell.notify();
                });
            }
        });
        let subscribe = || {
            words.subscribers.fetch_or(subscription::bit(SUBSCRIBER), Ordering::SeqCst);
        };
        let stands = subscription::subscribe(subscribe, || words.step.load(Ordering::SeqCst));
        for step in 1..=STEPS {
            while stands < step && words.copy.load(Ordering::Acquire) < step {
                words.bell.wait();
            }
        }
        announcer.join().expect("the announcer");
    });
}
