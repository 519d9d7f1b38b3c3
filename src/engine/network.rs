//! By which network device the hosts of a job reach each other. Processes that listen for other hosts do
//! so there and nowhere else, so a host tells the others its addresses before any of them listens.

use crate::sys::addresses::{self, Address, bits};
use onenode_core::sys::process;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

/// The variable by which users choose the devices of UCX themselves.
pub const VARIABLE: &str = "UCX_NET_DEVICES";
/// The device of hosts that are one machine.
const LOOPBACK: &str = "lo";
/// The most addresses that a host tells of, which limits the text.
const MOST: usize = 16;

/// What the others must know of a host to find the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Distinguishes what has network devices of its own: machines, and the networks of containers.
    stack: u64,
    /// Its addresses, the likeliest first, each with the bits of its network.
    addresses: Vec<(IpAddr, u8)>,
}

impl Site {
    /// This host.
    pub fn own() -> Self {
        let mut own = addresses::own();
        let default = default_device();
        own.sort_by_key(|it| (it.ip.is_ipv6(), Some(&it.device) != default.as_ref()));
        own.truncate(MOST);
        let addresses = own.iter().map(|it| (it.ip, it.prefix)).collect();
        Self { stack: process::boot().rotate_left(32) ^ process::network_namespace(), addresses }
    }

    /// Encodes it as text without spaces and slashes.
    pub fn encode(&self) -> String {
        let mut text = format!("{:x}", self.stack);
        for (ip, prefix) in &self.addresses {
            let _ = write!(text, ",{ip}-{prefix}");
        }
        text
    }

    /// Decodes it; `None` if the text is none.
    pub fn decode(text: &str) -> Option<Self> {
        let mut words = text.split(',');
        let stack = u64::from_str_radix(words.next()?, 16).ok()?;
        let address = |word: &str| {
            let (ip, prefix) = word.split_once('-')?;
            Some((ip.parse().ok()?, prefix.parse().ok()?))
        };
        Some(Self { stack, addresses: words.map(address).collect::<Option<_>>()? })
    }

    /// Its first address in a network.
    fn within(&self, network: (IpAddr, u8)) -> Option<IpAddr> {
        let is_within = |ip: &IpAddr| is_in(*ip, network);
        self.addresses.iter().map(|it| it.0).find(is_within)
    }
}

/// The device by which host `own` reaches the others of the job, which `name` names to people. Empty if
/// there is none, and the user `chooses`.
///
/// # Errors
/// In words, if not every host can be reached, and the user does not choose.
pub fn device(
    sites: &[Site],
    own: usize,
    name: impl Fn(usize) -> String,
    chooses: bool,
) -> Result<String, String> {
    match find(sites, own, &addresses::own(), addresses::source) {
        Ok(device) => Ok(device),
        Err(_) if chooses => Ok(String::new()),
        Err((other, why)) => Err(format!(
            "host {} cannot be reached from host {}: {why}; {VARIABLE} names the device to use",
            name(other),
            name(own)
        )),
    }
}

/// Finds that device among `addresses`, or a host for which there is none, and why. `source` is
/// [`addresses::source`].
fn find(
    sites: &[Site],
    own: usize,
    addresses: &[Address],
    source: impl Fn(IpAddr) -> Option<IpAddr>,
) -> Result<String, (usize, String)> {
    let here = sites[own].stack;
    if sites.iter().all(|site| site.stack == here) {
        return Ok(LOOPBACK.into());
    }
    // The way to a network that all hosts are in is a direct one. All choose the same network.
    let shared = shared(sites);
    if let Some(it) = shared.and_then(|net| addresses.iter().find(|it| is_in(it.ip, net))) {
        return Ok(it.device.clone());
    }
    let device_of = |ip: IpAddr| addresses.iter().find(|it| it.ip == ip).map(|it| &it.device);
    let mut chosen: Option<(&String, usize)> = None;
    for (other, site) in sites.iter().enumerate().filter(|(_, site)| site.stack != here) {
        // The same address here and there, as those of bridges are, leads nowhere.
        let theirs = site.addresses.iter().filter(|it| device_of(it.0).is_none());
        let device = theirs.clone().find_map(|it| device_of(source(it.0)?));
        let theirs: Vec<_> = theirs.map(|it| it.0.to_string()).collect();
        match (device, chosen) {
            (None, _) if theirs.is_empty() => {
                return Err((other, "it has no address of its own".into()));
            }
            (None, _) => {
                return Err((other, format!("no device leads to {}", theirs.join(", "))));
            }
            (Some(device), Some((before, _))) if device != before => {
                return Err((other, format!("{device} leads there, and {before} to others")));
            }
            (Some(device), _) => chosen = Some((device, other)),
        }
    }
    Ok(chosen.map_or_else(|| LOOPBACK.to_owned(), |it| it.0.clone()))
}

/// The first network that all hosts have an address of their own in.
fn shared(sites: &[Site]) -> Option<(IpAddr, u8)> {
    let networks = sites.first()?.addresses.iter().copied();
    networks.into_iter().find(|network| {
        let mut owners = BTreeMap::new();
        sites.iter().all(|site| {
            let ip = site.within(*network);
            ip.is_some_and(|ip| *owners.entry(ip).or_insert(site.stack) == site.stack)
        })
    })
}

fn is_in(ip: IpAddr, (of, prefix): (IpAddr, u8)) -> bool {
    let differs = bits(ip) ^ bits(of);
    ip.is_ipv4() == of.is_ipv4() && differs.leading_zeros() >= u32::from(prefix)
}

/// The device of the default route.
fn default_device() -> Option<String> {
    let routes = std::fs::read_to_string("/proc/self/net/route").ok()?;
    routes.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let device = fields.next()?;
        (fields.next()? == "00000000").then(|| device.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(stack: u64, addresses: &[&str]) -> Site {
        let address = |text: &&str| {
            let (ip, prefix) = text.split_once('/').unwrap();
            (ip.parse().unwrap(), prefix.parse().unwrap())
        };
        Site { stack, addresses: addresses.iter().map(address).collect() }
    }

    /// The device of the first host, whose devices are eth0, eth1 and so on. What is in none of their
    /// networks is reached by that of `default`.
    fn of_first(sites: &[Site], default: Option<usize>) -> Result<String, (usize, String)> {
        let own: Vec<_> = (0..)
            .zip(&sites[0].addresses)
            .map(|(i, (ip, prefix))| Address {
                device: format!("eth{i}"),
                ip: *ip,
                prefix: *prefix,
            })
            .collect();
        let source = |to: IpAddr| {
            let direct = own.iter().find(|it| is_in(to, (it.ip, it.prefix)));
            Some(direct.or_else(|| own.get(default?))?.ip)
        };
        find(sites, 0, &own, source)
    }

    #[test]
    fn a_site_survives_its_text() {
        for addresses in [&[][..], &["10.77.0.1/24"], &["10.0.0.1/8", "fd00::7/64"]] {
            let site = site(0xfedc, addresses);
            assert_eq!(Site::decode(&site.encode()), Some(site));
        }
        for text in ["", "x", "1,", "1,10.0.0.1", "1,10.0.0.1-x", "1,10.0.0-8", "1,-8"] {
            assert_eq!(Site::decode(text), None, "{text}");
        }
        let text = Site::own().encode();
        assert!(!text.contains([' ', '/', '=']), "{text}");
        assert_eq!(Site::decode(&text), Some(Site::own()));
    }

    #[test]
    fn hosts_that_are_one_machine_need_no_network() {
        let one = site(1, &["10.0.0.1/8"]);
        assert_eq!(of_first(&[one.clone(), one], Some(0)), Ok("lo".into()));
        assert_eq!(of_first(&[site(1, &[]), site(1, &[])], None), Ok("lo".into()));
    }

    #[test]
    fn a_network_of_all_hosts_comes_first() {
        let apart = ["10.1.0.1/16", "10.77.0.1/24"];
        let sites = [site(1, &apart), site(2, &["10.2.0.1/16", "10.77.0.2/24"])];
        assert_eq!(of_first(&sites, Some(0)), Ok("eth1".into()));
        // Each host has a bridge of its own under the same address.
        let bridge = "172.17.0.1/16";
        let sites = [site(1, &[bridge, apart[1]]), site(2, &[bridge, "10.77.0.2/24"])];
        assert_eq!(of_first(&sites, Some(0)), Ok("eth1".into()));
        // Some of the hosts may be one.
        let sites = [sites[0].clone(), sites[0].clone(), sites[1].clone()];
        assert_eq!(of_first(&sites, Some(0)), Ok("eth1".into()));
        // Of several, all hosts take that which the first host names first.
        let two = [site(1, &["10.1.0.1/16", apart[1]]), site(2, &["10.77.0.2/24", "10.1.0.2/16"])];
        assert_eq!(of_first(&two, None), Ok("eth0".into()));
        assert_eq!(shared(&two), Some(two[0].addresses[0]));
    }

    #[test]
    fn hosts_of_different_networks_are_reached_over_routes() {
        let sites = [site(1, &["10.1.0.1/16", "10.9.0.1/16"]), site(2, &["10.2.0.1/16"])];
        assert_eq!(of_first(&sites, Some(0)), Ok("eth0".into()));
        assert_eq!(of_first(&sites, Some(1)), Ok("eth1".into()));
        let (other, why) = of_first(&sites, None).unwrap_err();
        assert_eq!((other, &*why), (1, "no device leads to 10.2.0.1"));
        let sites = [site(1, &["172.17.0.1/16"]), site(2, &["172.17.0.1/16"])];
        let (_, why) = of_first(&sites, Some(0)).unwrap_err();
        assert_eq!(why, "it has no address of its own");
        let sites = [
            site(1, &["10.1.0.1/16", "10.9.0.1/16"]),
            site(2, &["10.1.0.2/16"]),
            site(3, &["10.9.0.2/16"]),
        ];
        let (other, why) = of_first(&sites, None).unwrap_err();
        assert_eq!((other, &*why), (2, "eth1 leads there, and eth0 to others"));
    }

    #[test]
    fn whoever_chooses_is_not_asked_for_a_way() {
        let sites = [Site::own(), site(7, &[])];
        let name = |host| format!("node{host}");
        assert_eq!(device(&sites, 0, name, true), Ok(String::new()));
        let why = device(&sites, 0, name, false).unwrap_err();
        assert!(why.starts_with("host node1 cannot be reached from host node0: "), "{why}");
    }
}
