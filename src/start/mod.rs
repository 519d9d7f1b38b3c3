//! Start and end: who this process is in its job, how it finds the others, and what initialisation makes.

mod announce;
mod claim;
#[cfg(feature = "smartmap")]
mod kitten;
pub mod launch;
mod meet;
mod origin;
mod place;
mod settings;
pub mod setup;
pub mod several;
