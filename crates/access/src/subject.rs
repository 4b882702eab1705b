use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::{AccountId, AliasId, KeyId, OriginId};

/// A unit of rate limiting, whose requests are counted together in the windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// One key; keys of one account do not share a counter (docs/api.md, "How much").
    Key(KeyId),
    /// One alias.
    Alias(AliasId),
    /// All registered origins of one account.
    Origins(AccountId),
}

impl Subject {
    /// One number for each subject: the kind in the two lowest bits. Row ids stay far below 2^61.
    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::Key(id) => id.0 << 2,
            Self::Alias(id) => id.0 << 2 | 1,
            Self::Origins(id) => id.0 << 2 | 2,
        }
    }

    /// The inverse of [`Subject::number`].
    pub(crate) const fn of(number: i64) -> Option<Self> {
        let id = number >> 2;
        match number & 3 {
            0 => Some(Self::Key(KeyId(id))),
            1 => Some(Self::Alias(AliasId(id))),
            2 => Some(Self::Origins(AccountId(id))),
            _ => None,
        }
    }
}

/// The key, alias or origin that a counted request is listed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Used {
    /// A key.
    Key(KeyId),
    /// An alias.
    Alias(AliasId),
    /// A registered origin.
    Origin(OriginId),
}

impl Used {
    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::Key(KeyId(id)) | Self::Alias(AliasId(id)) | Self::Origin(OriginId(id)) => id,
        }
    }

    /// The number of the kind in the database.
    pub(crate) const fn kind(self) -> i64 {
        match self {
            Self::Key(_) => 0,
            Self::Alias(_) => 1,
            Self::Origin(_) => 2,
        }
    }

    /// The inverse of [`Used::kind`] and [`Used::number`].
    pub(crate) const fn of(kind: i64, id: i64) -> Option<Self> {
        match kind {
            0 => Some(Self::Key(KeyId(id))),
            1 => Some(Self::Alias(AliasId(id))),
            2 => Some(Self::Origin(OriginId(id))),
            _ => None,
        }
    }
}

/// A client without credentials: an IPv4 address, or the first 64 bits of an IPv6 address, since one line has at least
/// that many addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientNet(IpAddr);

impl fmt::Display for ClientNet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl ClientNet {
    /// The network of an IPv6 address by its first `bits`, 1 to 128; an IPv4 address stands for itself.
    pub fn with_prefix(address: IpAddr, bits: u8) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let rest = 128 - u32::from(bits.clamp(1, 128));
                Self(IpAddr::V6(Ipv6Addr::from(u128::from(address) >> rest << rest)))
            }
            address @ IpAddr::V4(_) => Self(address),
        }
    }
}

impl From<IpAddr> for ClientNet {
    fn from(address: IpAddr) -> Self {
        Self::with_prefix(address, 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_clients_are_one_by_their_first_64_bits_and_mapped_ones_are_ipv4() {
        let net = |text: &str| ClientNet::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(net("2001:db8:1:2::1"), net("2001:db8:1:2:ffff::9"));
        assert_ne!(net("2001:db8:1:2::1"), net("2001:db8:1:3::1"));
        assert_eq!(net("::ffff:192.0.2.1"), net("192.0.2.1"));
        assert_ne!(net("192.0.2.1"), net("192.0.2.2"));
        let wide = |text: &str, bits| ClientNet::with_prefix(text.parse().unwrap(), bits);
        assert_eq!(wide("2001:db8:1:ff02::1", 56), wide("2001:db8:1:ff03::1", 56));
        assert_ne!(wide("2001:db8:1:fe02::1", 56), wide("2001:db8:1:ff03::1", 56));
        assert_eq!(wide("192.0.2.1", 48), net("192.0.2.1"));
        assert_eq!(wide("2001:db8::1", 128).to_string(), "2001:db8::1");
    }

    #[test]
    fn subjects_of_different_kinds_never_share_a_number() {
        let numbers = [
            Subject::Key(KeyId(1)),
            Subject::Alias(AliasId(1)),
            Subject::Origins(AccountId(1)),
            Subject::Key(KeyId(2)),
        ];
        for number in &numbers {
            assert_eq!(Subject::of(number.number()), Some(*number));
        }
        let distinct: std::collections::HashSet<i64> = numbers.into_iter().map(Subject::number).collect();
        assert_eq!(distinct.len(), numbers.len());
    }
}
