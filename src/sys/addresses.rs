//! The addresses of this machine's network devices, and the ways to others.
#![allow(unsafe_code)]

use super::socket;
use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::ptr::null_mut;

/// An address of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The device that has it.
    pub device: String,
    pub ip: IpAddr,
    /// How many of its first bits are those of its network.
    pub prefix: u8,
}

/// The addresses at which other machines may reach this one: of devices that are up, except loopback
/// devices, and addresses that mean something else on each device.
pub fn own() -> Vec<Address> {
    const UP: u32 = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
    const LOOPBACK: u32 = libc::IFF_LOOPBACK as u32;
    let mut first = null_mut::<libc::ifaddrs>();
    // SAFETY: writes the start of a list to the local.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = first;
    // SAFETY: a list that ends with null, and stays until it is freed below.
    while let Some(entry) = unsafe { at.as_ref() } {
        at = entry.ifa_next;
        // SAFETY: null, or addresses of the family that they name; the name is a C string.
        let (ip, mask, device) = unsafe {
            let device = CStr::from_ptr(entry.ifa_name);
            (socket::ip(entry.ifa_addr), socket::ip(entry.ifa_netmask), device)
        };
        let (Some(ip), Some(mask)) = (ip, mask) else { continue };
        let is_local = match ip {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        };
        if entry.ifa_flags & UP == UP && entry.ifa_flags & LOOPBACK == 0 && !is_local {
            let device = device.to_string_lossy().into_owned();
            found.push(Address { device, ip, prefix: bits(mask).leading_ones() as u8 });
        }
    }
    // SAFETY: the list of the call above, which is freed once.
    unsafe { libc::freeifaddrs(first) };
    found
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
