//! What the commands of oneshmem share: the machine's topology and processes, and where
//! the installation lies.

pub mod installation;
pub mod processes;
pub mod topology;
