//! Nodes in processes that are forked and exchange their cards through pipes.

#![allow(unsafe_code)]

mod errors;
mod groups;
mod life;
mod locks;
mod mappings;
mod meeting;
mod memory;
mod ranks;
mod sources;
mod views;
