//! Code shared by the commands of oneshmem: their command lines, the machine's topology and
//! processes, the location of the installation, and what the PEs of a job do.

pub mod cli;
pub mod installation;
pub mod live;
pub mod place;
pub mod processes;
pub mod topology;
