//! The addresses of this machine's network devices, and the ways to others.

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::SockaddrStorage;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// An address of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The device that has it.
    pub device: String,
    /// The address.
    pub ip: IpAddr,
    /// How many of its first bits are those of its network.
    pub prefix: u8,
}

/// The addresses at which other machines may reach this one: of devices that are up, except loopback
/// devices, and addresses that mean something else on each device.
pub fn own() -> Vec<Address> {
    let is_reached = |flags: InterfaceFlags| {
        flags.contains(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING)
            && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
    };
    let devices = getifaddrs().into_iter().flatten().filter(|it| is_reached(it.flags));
    devices
        .filter_map(|it| {
            let (ip, mask) = (ip(it.address)?, ip(it.netmask)?);
            let is_local = match ip {
                IpAddr::V4(ip) => ip.is_link_local(),
                IpAddr::V6(ip) => ip.is_unicast_link_local(),
            };
            let (device, prefix) = (it.interface_name, bits(mask).leading_ones() as u8);
            (!is_local).then_some(Address { device, ip, prefix })
        })
        .collect()
}

/// The IP address in a socket's address; `None` for other families.
fn ip(address: Option<SockaddrStorage>) -> Option<IpAddr> {
    let address = address?;
    let v4 = address.as_sockaddr_in().map(|it| it.ip().into());
    v4.or_else(|| address.as_sockaddr_in6().map(|it| it.ip().into()))
}

/// The address that packets to `ip` come from; `None` if there is no way. Sends nothing.
pub fn source(ip: IpAddr) -> Option<IpAddr> {
    let any = match ip {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // Any port will do.
    socket.connect((ip, 1)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// An address as a number whose first bit is the address's first.
pub fn bits(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()) << 96,
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_to_an_own_address_stays_here() {
        assert_eq!(source(Ipv4Addr::LOCALHOST.into()), Some(Ipv4Addr::LOCALHOST.into()));
        for Address { device, ip, prefix } in own() {
            assert!(!ip.is_loopback() && device != "lo", "{device} has {ip}/{prefix}");
            assert!(prefix <= if ip.is_ipv4() { 32 } else { 128 });
            assert_eq!(source(ip), Some(ip));
        }
    }

    #[test]
    fn the_bits_of_a_mask_begin_with_its_ones() {
        for (mask, ones) in [("255.255.240.0", 20), ("0.0.0.0", 0), ("ffff:ff00::", 24)] {
            assert_eq!(bits(mask.parse().unwrap()).leading_ones(), ones);
        }
    }
}
