//! Code shared by the commands of oneshmem: their command lines, the machine's topology and
//! processes, and the location of the installation.

pub mod cli;
pub mod installation;
pub mod place;
pub mod processes;
pub mod topology;
