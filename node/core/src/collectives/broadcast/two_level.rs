//! From the root to a head on each node, on a [binomial tree](super::tree), then from the heads to
//! the others on their nodes. The bytes go to each node once, with the step if they fit a message.

use super::{Broadcast, tree};
use crate::collectives::group::{CollectiveGroup, Outcome};
use crate::collectives::levels::Levels;
use crate::collectives::message::{Room, content, words_of};
use crate::collectives::sent;
use crate::collectives::tree::{Rooted, Tree};

const TREE: Tree = Tree::KNomial(2);

/// Runs the algorithm.
pub fn run<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    if group.sends() && call.bytes() <= sent::MOST_BYTES {
        return by_messages(group, call);
    }
    let levels = Levels::below(group, call.root);
    if !levels.is_head() {
        return tree::down(group, call, Some(levels.head()), std::iter::empty());
    }
    let heads = Rooted { root: levels.number(call.root), size: levels.nodes() };
    let node = heads.node(levels.number(group.index()));
    let head = |node: usize| levels.head_of(heads.member(node));
    let parent = (node != 0).then(|| head(TREE.parent(node)));
    // Those on other nodes first.
    let children = TREE.children(node, heads.size).map(head).chain(levels.others());
    tree::down(group, call, parent, children)
}

/// A member's data is there: the root's source, the others' dest. At heads, the message.
const THERE: usize = 1;
/// A head has read its parent's message: see [`sent`].
const READ: usize = 2;

/// With messages between the heads, which are the first members of their nodes whoever the root is: only
/// one member of a node may receive.
fn by_messages<G: CollectiveGroup>(group: &G, call: Broadcast<'_>) -> Outcome<G> {
    let levels = Levels::new(group);
    let is_root = group.index() == call.root;
    group.steps(READ, |steps| {
        if !levels.is_head() {
            if is_root {
                steps.announce_near(THERE);
            }
            // The head has the data, and no longer reads the root's source.
            steps.await_member(THERE, levels.head())?;
            if !is_root {
                call.take(group, levels.head())?;
                steps.announce_near(THERE);
            } else {
                call.serve_root(group);
            }
            return Ok(());
        }
        let heads = Rooted { root: levels.number(call.root), size: levels.nodes() };
        let node = heads.node(levels.number(group.index()));
        let head = |node: usize| levels.head_of(heads.member(node));
        let children = TREE.children(node, heads.size).map(head);
        let mut room = Room::new();
        let message = if node == 0 {
            if !is_root {
                steps.await_member(THERE, call.root)?;
                call.take(group, call.root)?;
            }
            let own = if is_root { call.source } else { call.dest.readable() };
            room.blocks(group, own, call.bytes(), 1)
        } else {
            let message = room.zeros(words_of(call.bytes()));
            steps.receive(THERE, head(TREE.parent(node)), message)?;
            group.copy(content(message, call.bytes()), call.dest);
            message
        };
        children.into_iter().try_for_each(|child| steps.send(THERE, child, message))?;
        steps.announce_near(THERE);
        if node != 0 {
            steps.answer(READ, head(TREE.parent(node)));
        }
        if is_root {
            call.serve_root(group);
        }
        steps.await_each(THERE, levels.others())
    })
}
