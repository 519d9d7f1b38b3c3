//! The RDMA ports of this machine: of InfiniBand, or of network cards that speak RoCE, emulated ones too.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

/// Where the kernel lists the devices, and where their files for programs are.
const LISTED: &str = "/sys/class/infiniband";
const VERBS: &str = "/sys/class/infiniband_verbs";
const NETWORK: &str = "/sys/class/net";
const FILES: &str = "/dev/infiniband";
/// Most ports have few GIDs, each of a network device, in a table of many.
const GIDS: usize = 32;

/// An RDMA port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    device: String,
    number: u32,
}

impl Port {
    /// Its name as UCX and others write it: `mlx5_0:1`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.device, self.number)
    }

    /// The active port of a network device: the port itself is that device, as with InfiniBand, or sends over
    /// it.
    ///
    /// # Errors
    /// In words, if there is none.
    pub fn of_network_device(network: &str) -> Result<Self, String> {
        find(Path::new(LISTED), Path::new(NETWORK), network)
    }

    /// Checks that this process may use it.
    ///
    /// # Errors
    /// In words, if it may not.
    pub fn check_access(&self) -> Result<(), String> {
        let is_own = |name: &String| read(Path::new(VERBS).join(name).join("ibdev")) == self.device;
        let name = names(Path::new(VERBS)).into_iter().find(is_own);
        let Some(name) = name else {
            return Err(format!("{} has no file for programs (module ib_uverbs)", self.device));
        };
        let file = Path::new(FILES).join(name);
        let opened = OpenOptions::new().read(true).write(true).open(&file);
        opened.map(drop::<File>).map_err(|error| format!("{}: {error}", file.display()))
    }
}

fn find(listed: &Path, network: &Path, of: &str) -> Result<Port, String> {
    let mut found = Vec::new();
    for device in names(listed) {
        let ports = listed.join(&device).join("ports");
        for number in names(&ports).iter().filter_map(|name| name.parse().ok()) {
            let port = Port { device: device.clone(), number };
            let folder = ports.join(number.to_string());
            if is_over(&folder, of) || is_interface(&network.join(of), &port) {
                found.push((port, read(folder.join("state"))));
            }
        }
    }
    // "4: ACTIVE".
    if let Some((port, _)) = found.iter().find(|(_, state)| state.starts_with('4')) {
        return Ok(port.clone());
    }
    Err(match found.first() {
        Some((port, state)) => format!("port {} of {of} is {state}", port.name()),
        None => format!("{of} has no RDMA port"),
    })
}

/// Whether a port of RoCE sends over this network device: one of its GIDs is of an address of that.
fn is_over(port: &Path, network: &str) -> bool {
    let devices = port.join("gid_attrs/ndevs");
    !network.is_empty() && (0..GIDS).any(|gid| read(devices.join(gid.to_string())) == network)
}

/// Whether a network device, as IP over InfiniBand is, is on this port.
fn is_interface(network: &Path, port: &Port) -> bool {
    let number = read(network.join("dev_port")).parse::<u32>();
    let lists = network.join("device/infiniband").join(&port.device);
    lists.is_dir() && number.is_ok_and(|number| number + 1 == port.number)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn read(file: PathBuf) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// A folder of its own, with these files.
    fn tree(name: &str, files: &[(&str, &str)]) -> io::Result<PathBuf> {
        let root =
            std::env::temp_dir().join(format!("oneshmem-rdma-{name}-{}", std::process::id()));
        for (path, content) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&root))?;
            fs::write(path, content)?;
        }
        Ok(root)
    }

    fn find_in(root: &Path, of: &str) -> Result<String, String> {
        find(&root.join("ib"), &root.join("net"), of).map(|port| port.name())
    }

    #[test]
    fn a_port_is_found_by_its_network_device() -> io::Result<()> {
        let root = tree(
            "found",
            &[
                // RoCE, with a virtual network in its second GID; and a port that is down.
                ("ib/mlx5_1/ports/1/state", "4: ACTIVE\n"),
                ("ib/mlx5_1/ports/1/gid_attrs/ndevs/0", "eth2\n"),
                ("ib/mlx5_1/ports/1/gid_attrs/ndevs/3", "eth2.7\n"),
                ("ib/rxe0/ports/1/state", "1: DOWN\n"),
                ("ib/rxe0/ports/1/gid_attrs/ndevs/0", "eth0\n"),
                // The second port of an InfiniBand device.
                ("ib/mlx5_0/ports/1/state", "4: ACTIVE\n"),
                ("ib/mlx5_0/ports/2/state", "4: ACTIVE\n"),
                ("net/ib1/dev_port", "1\n"),
                ("net/ib1/device/infiniband/mlx5_0/node_type", "1: CA\n"),
                ("net/lo/dev_port", "0\n"),
            ],
        )?;
        let found = |of| find_in(&root, of);
        for (of, port) in [("eth2", "mlx5_1:1"), ("eth2.7", "mlx5_1:1"), ("ib1", "mlx5_0:2")] {
            assert_eq!(found(of).as_deref(), Ok(port), "{of}");
        }
        assert_eq!(found("eth0").unwrap_err(), "port rxe0:1 of eth0 is 1: DOWN");
        for of in ["lo", "eth", "eth3", ""] {
            assert_eq!(found(of).unwrap_err(), format!("{of} has no RDMA port"));
        }
        fs::remove_dir_all(root)
    }

    #[test]
    fn a_device_without_files_cannot_be_used() {
        let port = Port { device: "nothing_here".into(), number: 1 };
        let why = port.check_access().unwrap_err();
        assert!(why.starts_with("nothing_here has no file"), "{why}");
    }
}
