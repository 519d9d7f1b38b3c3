//! A program (classic BPF, see socket(7)) by which the kernel chooses between two listeners of a port.

use super::addresses::bits;
use libc::sock_filter;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The listeners' numbers: in the order in which they began to listen.
const FIRST: u32 = 0;
const SECOND: u32 = 1;
/// The most instructions. The kernel translates them, and takes 20 kB of the result by default.
const MOST: usize = 1024;

/// The first listener for whoever connects from one of `addresses`, the second for all others. Addresses of
/// another kind than `at`, where both listen, are left out. If there are too many, networks that contain
/// them stand for them.
pub fn by_source(at: IpAddr, addresses: impl Iterator<Item = IpAddr>) -> Vec<sock_filter> {
    let alike = addresses.filter(|ip| ip.is_ipv4() == at.is_ipv4());
    let mut sources: BTreeSet<u128> = alike.map(bits).collect();
    let words = if at.is_ipv4() { 1 } else { 4 };
    for prefix in (0..=32 * words as u32).rev() {
        let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
        sources = sources.into_iter().map(|source| source & mask).collect();
        if words * 3 + sources.len() * (words * 2 + 1) < MOST {
            return program(words, mask, &sources);
        }
    }
    unreachable!("all addresses are in one network without a prefix");
}

/// The program, which looks at so many words of an address.
fn program(words: usize, mask: u128, sources: &BTreeSet<u128>) -> Vec<sock_filter> {
    let word = |bits: u128, index: usize| (bits >> (96 - 32 * index)) as u32;
    // From the start of the IP header.
    let place = if words == 1 { 12 } else { 8 };
    let mut all = Vec::new();
    for index in 0..words {
        let at = libc::SKF_NET_OFF as u32 + (place + 4 * index) as u32;
        all.push(instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at));
        all.push(instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, word(mask, index)));
        all.push(instruction(libc::BPF_ST, index as u32));
    }
    let choose = |listener| instruction(libc::BPF_RET | libc::BPF_K, listener);
    for source in sources {
        for index in 0..words {
            all.push(instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_MEM, index as u32));
            let equal =
                instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, word(*source, index));
            // Else, over the rest of this source.
            all.push(sock_filter { jf: (2 * (words - index) - 1) as u8, ..equal });
        }
        all.push(choose(FIRST));
    }
    all.push(choose(SECOND));
    all
}

fn instruction(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value that a program returns for a packet from this address.
    fn chosen(program: &[sock_filter], from: IpAddr) -> u32 {
        let (mut memory, mut accumulator, mut next) = ([0; 16], 0, 0);
        let octets = match from {
            IpAddr::V4(ip) => [&[0; 12][..], &ip.octets()].concat(),
            IpAddr::V6(ip) => [&[0; 8][..], &ip.octets()].concat(),
        };
        loop {
            let sock_filter { code, jf, k, .. } = program[next];
            next += 1;
            match u32::from(code) {
                0x20 => {
                    let at = k.wrapping_sub(libc::SKF_NET_OFF as u32) as usize;
                    accumulator = u32::from_be_bytes(octets[at..at + 4].try_into().unwrap());
                }
                0x54 => accumulator &= k,
                0x02 => memory[k as usize] = accumulator,
                0x60 => accumulator = memory[k as usize],
                0x15 if accumulator == k => {}
                0x15 => next += usize::from(jf),
                0x06 => return k,
                code => panic!("instruction {code:#x}"),
            }
        }
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn only_the_named_addresses_come_first() {
        for (named, others) in [
            (["10.0.0.1", "192.168.7.254"], ["10.0.0.2", "192.168.7.255"]),
            (["fd00::1:0:0:7", "fe00::1"], ["fd00::1:0:0:8", "fe00:0:1::1"]),
        ] {
            let all = named.map(ip).into_iter().chain([ip("1.2.3.4"), ip("::9")]);
            let program = by_source(ip(named[0]), all);
            for (text, listener) in
                named.map(|it| (it, FIRST)).into_iter().chain(others.map(|it| (it, SECOND)))
            {
                assert_eq!(chosen(&program, ip(text)), listener, "{text}");
            }
        }
    }

    #[test]
    fn networks_stand_for_many_addresses() {
        let many =
            (0..5000).map(|i| IpAddr::from(std::net::Ipv4Addr::from_bits((10 << 24) + i * 2)));
        let program = by_source(ip("10.0.0.0"), many.clone());
        assert!(program.len() <= MOST);
        assert!(many.into_iter().all(|it| chosen(&program, it) == FIRST));
        assert_eq!(chosen(&program, ip("10.0.64.0")), SECOND);
        let many = (0..5000).map(|i| IpAddr::from(std::net::Ipv6Addr::from_bits(i << 64)));
        let program = by_source(ip("::"), many.clone());
        assert!(program.len() <= MOST && many.into_iter().all(|it| chosen(&program, it) == FIRST));
        assert_eq!(chosen(&program, ip("fd00::1")), SECOND);
        assert_eq!(chosen(&by_source(ip("10.0.0.0"), std::iter::empty()), ip("10.0.0.0")), SECOND);
    }
}
