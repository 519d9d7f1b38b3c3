//! By which network device the hosts of a job reach each other, and whether by TCP or by RDMA. Processes that
//! listen for other hosts do so there and nowhere else, so a host tells the others its addresses before any
//! of them listens. Each host then comes to the same conclusion.

use crate::env;
use crate::sys::addresses::{self, Address, bits};
use crate::sys::rdma::Port;
use onenode_core::sys::process;
use onenode_core::text::whole_characters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::net::IpAddr;

/// The variable by which users choose the devices of UCX themselves.
pub const VARIABLE: &str = "UCX_NET_DEVICES";
/// The device of hosts that are one machine.
const LOOPBACK: &str = "lo";
/// The most addresses that a host tells of.
pub const MOST: usize = 16;
/// The most bytes of the reason why a host has no RDMA.
const REASON: usize = 240;

/// The transport of messages between hosts, as the user sets it by `SHMEM_TRANSPORT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// TCP.
    #[default]
    Tcp,
    /// RDMA, or no job.
    Rdma,
    /// RDMA if it works on all hosts.
    Auto,
}

impl Preference {
    /// The preference that a value of the variable states.
    ///
    /// # Errors
    /// A message, if the value is not one of the variable's.
    pub fn of(value: Option<&OsStr>) -> Result<Self, String> {
        let Some(value) = value else { return Ok(Self::default()) };
        let value = value.to_string_lossy();
        let all = [Self::Tcp, Self::Rdma, Self::Auto];
        let found = all.into_iter().find(|it| it.word().eq_ignore_ascii_case(value.trim()));
        found.ok_or_else(|| format!("{}={value}: expected tcp, rdma or auto", env::TRANSPORT.name))
    }

    /// The variable's value for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Rdma => "rdma",
            Self::Auto => "auto",
        }
    }

    /// The preference that this process's environment states.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn own() -> Result<Self, String> {
        Self::of(env::TRANSPORT.raw().map(|it| it.1).as_deref())
    }
}

/// How this host reaches the others of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The network device; empty if the user chooses.
    pub device: String,
    /// The name of the RDMA port on it that carries the messages; `None`: TCP does.
    pub port: Option<String>,
    /// Why TCP does, if the user would prefer RDMA.
    pub why_tcp: Option<String>,
}

/// In words for the user: the transport, and the device if it is known.
impl Display for Route {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.port.is_some() { "RDMA" } else { "TCP" })?;
        if !self.device.is_empty() {
            write!(f, " by {}", self.device)?;
        }
        self.port.iter().try_for_each(|port| write!(f, ", port {port}"))?;
        f.write_str(&self.reason())
    }
}

impl Route {
    /// TCP over this device.
    pub fn over(device: impl Into<String>) -> Self {
        Self { device: device.into(), ..Self::default() }
    }

    /// In words for the user, why the transport is not the one that they prefer; empty if it is.
    pub fn reason(&self) -> String {
        self.why_tcp.as_ref().map(|why| format!(" (no RDMA: {why})")).unwrap_or_default()
    }

    /// The route over the RDMA port of this network device.
    pub(crate) fn by_rdma(device: &str) -> Result<Self, String> {
        let port = Port::of_network_device(device)?;
        Ok(Self { port: Some(port.name()), ..Self::over(device) })
    }
}

/// Facts of a host by which the others find the way to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Distinguishes what has network devices of its own: machines, and the networks of containers.
    stack: u64,
    /// Its addresses, the likeliest first, each with the bits of its network.
    addresses: Vec<(IpAddr, u8)>,
    /// Of these, those of devices whose RDMA port has been seen to work, if the user prefers RDMA. If there
    /// are none: the reason.
    rdma: Result<Vec<IpAddr>, String>,
}

impl Site {
    /// This host. With a `probe`: whether it succeeds says whether RDMA works over a network device.
    pub fn own(probe: Option<impl Fn(&str) -> Result<(), String>>) -> Self {
        let mut own = addresses::own();
        let default = default_device();
        own.sort_by_key(|it| (it.ip.is_ipv6(), Some(&it.device) != default.as_ref()));
        own.truncate(MOST);
        let addresses = own.iter().map(|it| (it.ip, it.prefix)).collect();
        let stack = process::boot().rotate_left(32) ^ process::network_namespace();
        let rdma = probe.map_or_else(|| Err(String::new()), |probe| with_rdma(&own, probe));
        let rdma = rdma.map_err(|why| {
            let why = why.replace(char::is_control, " ");
            why[..whole_characters(&why, REASON)].to_owned()
        });
        Self { stack, addresses, rdma }
    }

    /// This host, for jobs that do not use RDMA.
    pub fn without_rdma() -> Self {
        Self::own(None::<fn(&str) -> Result<(), String>>)
    }

    /// A host with these addresses, each in a network of its own.
    #[cfg(test)]
    pub(crate) fn at(addresses: &[String]) -> Self {
        let address = |text: &String| (text.parse().expect("an address"), 32);
        let addresses = addresses.iter().map(address).collect();
        Self { stack: 0, addresses, rdma: Ok(Vec::new()) }
    }

    /// Whether it says no more than a host does, and its reason is for a terminal.
    pub fn is_sound(&self) -> bool {
        let is_own = |ip: &IpAddr| self.addresses().any(|own| own == *ip);
        self.addresses.len() <= MOST
            && match &self.rdma {
                Ok(found) => found.len() <= MOST && found.iter().all(is_own),
                Err(why) => why.len() <= REASON && !why.contains(char::is_control),
            }
    }

    /// Its addresses, at most [`MOST`].
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.addresses.iter().map(|it| it.0)
    }

    /// Its first address in a network.
    fn within(&self, network: (IpAddr, u8)) -> Option<IpAddr> {
        self.addresses().find(|ip| is_in(*ip, network))
    }
}

/// The addresses of devices with which a probe succeeds. If there are none: why the first one failed that has
/// a port at all, or else the first.
fn with_rdma(
    own: &[Address],
    probe: impl Fn(&str) -> Result<(), String>,
) -> Result<Vec<IpAddr>, String> {
    let mut results = BTreeMap::new();
    for it in own {
        results.entry(&it.device).or_insert_with_key(|device| probe(device));
    }
    let works = |it: &&Address| results[&it.device].is_ok();
    let found: Vec<_> = own.iter().filter(works).map(|it| it.ip).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let reasons = || own.iter().filter_map(|it| results[&it.device].as_ref().err());
    let reason = reasons().find(|why| !why.ends_with("has no RDMA port"));
    Err(reason.or(reasons().next()).cloned().unwrap_or_else(|| "it has no address".into()))
}

/// How host `own` reaches the others of the job, which `name` names to people. `chosen` is the user's value
/// of [`VARIABLE`].
///
/// # Errors
/// In words, if not every host can be reached in the way that the user prefers.
pub fn route(
    sites: &[Site],
    own: usize,
    name: impl Fn(usize) -> String,
    preference: Preference,
    chosen: Option<&OsStr>,
) -> Result<Route, String> {
    let tcp = |why_tcp| {
        let device = device(sites, own, &name, chosen.is_some())?;
        Ok(Route { why_tcp, ..Route::over(device) })
    };
    let network = match (preference, chosen) {
        (Preference::Tcp, _) => return tcp(None),
        (Preference::Auto, Some(_)) => return tcp(Some(format!("{VARIABLE} is set"))),
        (Preference::Auto | Preference::Rdma, _) => match rdma_network(sites, &name) {
            Ok(network) => network,
            Err(why) if preference == Preference::Auto => return tcp(Some(why)),
            Err(why) => {
                return Err(format!("no RDMA: {why}; {}=tcp does without it", env::TRANSPORT.name));
            }
        },
    };
    match chosen {
        Some(device) => Route::by_rdma(&device.to_string_lossy())
            .map_err(|why| format!("{VARIABLE}: {why}; expected one network device with a port")),
        None => {
            let addresses = addresses::own();
            let found = addresses.iter().find(|it| is_in(it.ip, network));
            Route::by_rdma(found.map_or("", |it| &it.device))
        }
    }
}

/// The network in which all hosts have a working RDMA port.
fn rdma_network(sites: &[Site], name: impl Fn(usize) -> String) -> Result<(IpAddr, u8), String> {
    for (host, site) in sites.iter().enumerate() {
        if let Err(why) = &site.rdma {
            return Err(format!("on host {}, {why}", name(host)));
        }
    }
    let only = |site: &Site| {
        let mut site = site.clone();
        site.addresses.retain(|it| site.rdma.as_ref().is_ok_and(|all| all.contains(&it.0)));
        site
    };
    let only: Vec<_> = sites.iter().map(only).collect();
    shared(&only).ok_or_else(|| "the hosts have no network in common with a port on each".into())
}

/// The device by which host `own` reaches the others by TCP. Empty if there is none, and the user `chooses`.
fn device(
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
    use crate::codec;

    fn site(stack: u64, addresses: &[&str]) -> Site {
        let address = |text: &&str| {
            let (ip, prefix) = text.split_once('/').unwrap();
            (ip.parse().unwrap(), prefix.parse().unwrap())
        };
        let addresses = addresses.iter().map(address).collect();
        Site { stack, addresses, rdma: Err(String::new()) }
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
    fn a_site_says_no_more_than_a_host_does() {
        let sound = site(0xfedc, &["10.0.0.1/8", "fd00::7/64"]);
        let of_all = sound.addresses().collect::<Vec<_>>();
        let with = |rdma: Result<Vec<IpAddr>, String>| Site { rdma, ..sound.clone() };
        for site in [site(1, &[]), with(Ok(of_all[1..].to_vec())), with(Err("x".repeat(REASON)))] {
            assert!(site.is_sound(), "{site:?}");
            assert_eq!(codec::decode(&codec::encode(&site)), Some(site));
        }
        let other = "10.0.0.2".parse().unwrap();
        for site in [
            site(1, &["10.0.0.1/8"; MOST + 1]),
            with(Ok(vec![other])),
            with(Ok(vec![of_all[0]; MOST + 1])),
            with(Err("x".repeat(REASON + 1))),
            with(Err("\x1b[m".into())),
        ] {
            assert!(!site.is_sound(), "{site:?}");
        }
        let reasons = ["no = yes, or no / yes", "a\nb", &"ä".repeat(REASON)];
        for why in reasons {
            assert!(Site::own(Some(|_: &str| Err::<(), _>(why.to_owned()))).is_sound(), "{why}");
        }
    }

    #[test]
    fn a_route_survives_its_encoding() {
        let tcp = Route::over("enp129s0f0np0.4");
        let why_tcp = Some("on host node1, eth0 has no RDMA port".into());
        let port = Some("mlx5_0:1".into());
        for (route, words) in [
            (tcp.clone(), "TCP by enp129s0f0np0.4"),
            (Route { port, ..tcp.clone() }, "RDMA by enp129s0f0np0.4, port mlx5_0:1"),
            (
                Route { why_tcp, ..Route::over("") },
                "TCP (no RDMA: on host node1, eth0 has no RDMA port)",
            ),
        ] {
            assert_eq!(codec::decode(&codec::encode(&route)), Some(route.clone()));
            assert_eq!(route.to_string(), words);
        }
    }

    #[test]
    fn the_preference_is_one_of_three_words() {
        let of = |text: &str| Preference::of(Some(OsStr::new(text)));
        assert_eq!(Preference::of(None), Ok(Preference::Tcp));
        assert_eq!(
            [of("TCP"), of(" rdma"), of("auto")],
            [Preference::Tcp, Preference::Rdma, Preference::Auto].map(Ok)
        );
        for text in ["", "ud", "rdma,tcp"] {
            assert_eq!(
                of(text).unwrap_err(),
                format!("SHMEM_TRANSPORT={text}: expected tcp, rdma or auto")
            );
        }
    }

    #[test]
    fn rdma_needs_a_port_of_each_host_in_one_network() {
        let name = |host| format!("node{host}");
        let with = |site: Site, ports: &[usize]| {
            let rdma = Ok(ports.iter().map(|at| site.addresses[*at].0).collect());
            Site { rdma, ..site }
        };
        let first = with(site(1, &["10.1.0.1/16", "10.77.0.1/24"]), &[1]);
        let second = with(site(2, &["10.1.0.2/16", "10.77.0.2/24"]), &[0, 1]);
        let network = rdma_network(&[first.clone(), second.clone()], name);
        assert_eq!(network, Ok(first.addresses[1]));
        let apart = with(second.clone(), &[0]);
        let why = rdma_network(&[first.clone(), apart], name).unwrap_err();
        assert_eq!(why, "the hosts have no network in common with a port on each");
        let without = Site { rdma: Err("eth0 has no RDMA port".into()), ..second };
        let sites = [first, without];
        let why = rdma_network(&sites, name).unwrap_err();
        assert_eq!(why, "on host node1, eth0 has no RDMA port");
        let found = route(&sites, 0, name, Preference::Auto, Some(OsStr::new("eth0")));
        assert_eq!(found.unwrap().why_tcp.as_deref(), Some("UCX_NET_DEVICES is set"));
        let why = route(&sites, 0, name, Preference::Rdma, None).unwrap_err();
        assert_eq!(
            why,
            format!(
                "no RDMA: on host node1, eth0 has no RDMA port; SHMEM_TRANSPORT=tcp does without it"
            )
        );
    }

    #[test]
    fn the_reason_is_that_of_a_port_if_there_is_one() {
        let address = |device: &str, ip: &str| Address {
            device: device.into(),
            ip: ip.parse().unwrap(),
            prefix: 24,
        };
        let own =
            [address("eth0", "10.0.0.1"), address("ib0", "10.1.0.1"), address("ib0", "fd00::1")];
        let without = |device: &str| format!("{device} has no RDMA port");
        let found =
            with_rdma(&own, |device| if device == "ib0" { Ok(()) } else { Err(without(device)) });
        assert_eq!(found, Ok(vec![own[1].ip, own[2].ip]));
        let found = with_rdma(&own, |device| {
            Err(if device == "ib0" { "down".into() } else { without(device) })
        });
        assert_eq!(found.unwrap_err(), "down");
        assert_eq!(with_rdma(&own, |device| Err(without(device))).unwrap_err(), without("eth0"));
        assert!(with_rdma(&[], |_| Ok(())).is_err());
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
        let sites = [Site::without_rdma(), site(7, &[])];
        let name = |host| format!("node{host}");
        assert_eq!(device(&sites, 0, name, true), Ok(String::new()));
        let why = device(&sites, 0, name, false).unwrap_err();
        assert!(why.starts_with("host node1 cannot be reached from host node0: "), "{why}");
    }
}
