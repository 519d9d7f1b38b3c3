//! What the commands of oneshmem share: the machine's topology, and where the
//! installation lies.

pub mod installation;
pub mod topology;
