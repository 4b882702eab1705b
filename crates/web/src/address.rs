use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address lies in the public internet. Translated and tunnelled addresses count as not public, since their
/// destination is decided elsewhere. The ranges are those of the special-purpose registries of IANA (RFC 6890).
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    // In this order: "this network", reserved and broadcast; shared by carriers (RFC 6598); of protocols (RFC 6890); former relays of
    // 6to4; benchmarks (RFC 2544).
    let reserved = matches!(
        address.octets(),
        [0 | 240..=255, ..] | [100, 64..=127, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [198, 18..=19, ..]
    );
    !(reserved
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Only 2000::/3 is global unicast, so the unspecified, loopback, mapped, NAT64, discard, unique local, link-local and multicast
    // addresses are none.
    // Of these, protocols and Teredo (2001::/23), documentation (also RFC 9637, 3fff::/20) and 6to4 are left out.
    match address.segments() {
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_of_any_special_range_is_public() {
        for (kind, addresses) in [
            ("unspecified", &["0.0.0.0", "0.1.2.3", "::"][..]),
            ("loopback", &["127.0.0.1", "127.255.255.254", "::1"]),
            ("private", &["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fd12::1"]),
            ("link-local", &["169.254.169.254", "fe80::1", "febf::1"]),
            ("carrier-grade NAT", &["100.64.0.1", "100.127.255.255"]),
            ("multicast", &["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"]),
            ("documentation", &["192.0.2.1", "198.51.100.7", "203.0.113.7", "2001:db8::1", "3fff::1"]),
            ("benchmarks", &["198.18.0.1", "198.19.255.255", "2001:2::1"]),
            ("protocols", &["192.0.0.1", "192.0.0.170", "2001::1", "2001:20::1"]),
            ("reserved", &["240.0.0.1", "255.255.255.255", "4000::1", "100::1"]),
            ("IPv4-mapped", &["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"]),
            ("IPv4-compatible", &["::127.0.0.1", "::8.8.8.8"]),
            ("NAT64", &["64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1"]),
            ("6to4 and its relays", &["2002:7f00:1::", "2002:a00:1::1", "192.88.99.1"]),
            ("Teredo", &["2001:0:4136:e378:8000:63bf:3fff:fdd2"]),
            ("site-local", &["fec0::1"]),
        ] {
            for text in addresses {
                assert!(!is_public(text.parse().unwrap()), "{kind}: {text}");
            }
        }
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:200::1",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}
