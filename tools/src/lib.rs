//! Code shared by the commands of oneshmem: their command lines, the machine's topology and
//! processes, the location of the installation, what the PEs of a job do, and names.

pub mod cli;
pub mod installation;
pub mod live;
pub mod names;
pub mod place;
pub mod processes;
pub mod topology;
