//! Attaching a peer once.

use crate::attachments::Attachments;
use loom::cell::Cell;
use loom::sync::Arc;
use loom::thread;

/// Two peers, and how often each was attached: `loom` reports an access that is not
/// ordered after the one before.
struct Peers {
    attachments: Attachments,
    times: [Cell<usize>; 2],
}

impl Peers {
    /// Uses a peer, attached by this thread or another.
    fn access(&self, pe: usize) {
        let times = &self.times[pe];
        let attach = || times.set(times.get() + 1);
        self.attachments.ensure(pe, attach, thread::yield_now);
        assert_eq!(times.get(), 1);
    }
}

#[test]
fn threads_that_come_at_once_attach_once_and_see_it() {
    loom::model(|| {
        let times = [Cell::new(0), Cell::new(0)];
        let peers = Arc::new(Peers { attachments: Attachments::none(2), times });
        // Not more than two: of three, two may wait and yield to each other for ever.
        let other = peers.clone();
        let thread = thread::spawn(move || [1, 0, 1].map(|pe| other.access(pe)));
        [0, 1, 0].into_iter().for_each(|pe| peers.access(pe));
        thread.join().unwrap();
    });
}
