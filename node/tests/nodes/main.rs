//! Nodes in processes that are forked and exchange their cards through pipes.

#![allow(unsafe_code)]

mod ranks;
mod sources;
