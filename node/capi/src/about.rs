//! Text descriptions of nodes.
#![allow(unsafe_code)]

use crate::argument::object;
use onenode::Node;
use onenode_core::text::whole_characters;
use std::ffi::{c_char, c_void};
use std::slice::from_raw_parts_mut;

/// `size_t onenode_explain(onenode_t *node, const void *fault, char *text, size_t bytes)`
#[unsafe(no_mangle)]
unsafe extern "C" fn onenode_explain(
    node: *mut Node,
    fault: *const c_void,
    text: *mut c_char,
    bytes: usize,
) -> usize {
    // Runs in a signal handler: stores no message for onenode_message, which would need
    // thread-local memory.
    // SAFETY: the caller follows the rules of the header: the node is open, and the text has
    // `bytes` bytes.
    let (node, text) = unsafe {
        let Ok(node) = object("node", node) else { return 0 };
        match text.is_null() || bytes == 0 {
            true => return 0,
            false => (node, from_raw_parts_mut(text.cast::<u8>(), bytes)),
        }
    };
    let used = node.explain(fault.addr(), &mut text[..bytes - 1]);
    text[used] = 0;
    used
}

/// `size_t onenode_describe(onenode_t *node, char *text, size_t bytes)`
#[unsafe(no_mangle)]
unsafe extern "C" fn onenode_describe(node: *mut Node, text: *mut c_char, bytes: usize) -> usize {
    // SAFETY: the caller follows the rules of the header: the node is open, and the text has
    // `bytes` bytes.
    let (node, text) = unsafe {
        let there = !text.is_null() && bytes > 0;
        (object("node", node), there.then(|| from_raw_parts_mut(text.cast::<u8>(), bytes)))
    };
    let said = node.map_or_else(|error| error.to_string(), Node::to_string);
    if let Some(text) = text {
        let fits = whole_characters(&said, bytes - 1);
        text[..fits].copy_from_slice(&said.as_bytes()[..fits]);
        text[fits] = 0;
    }
    said.len()
}
