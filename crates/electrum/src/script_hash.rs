//! The hash by which scripts are named, and the hash over their history.

use std::fmt;

use bitcoin::hashes::{Hash as _, HashEngine as _, sha256};
use bitcoin::hex::{DisplayHex as _, FromHex as _};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

use crate::api::{History, Unconfirmed};

/// SHA-256 of a script, in the order of the digest; as text its bytes are reversed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScriptHash(pub [u8; 32]);

impl fmt::Display for ScriptHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0;
        bytes.reverse();
        bytes.as_hex().fmt(formatter)
    }
}

impl fmt::Debug for ScriptHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for ScriptHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ScriptHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes =
            <[u8; 32]>::from_hex(&text).map_err(|_| D::Error::custom("a script hash has 64 hexadecimal digits"))?;
        bytes.reverse();
        Ok(Self(bytes))
    }
}

/// The hash over a history that has a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Status(pub [u8; 32]);

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hex().fmt(formatter)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Unconfirmed {
    /// Its height as the protocol writes it.
    pub const fn height(&self) -> i8 {
        if self.has_unconfirmed_inputs { -1 } else { 0 }
    }

    /// Puts transactions into the order of the protocol: height 0 before -1, then by id as text.
    pub fn sort(transactions: &mut [Self]) {
        transactions.sort_unstable_by_key(|one| {
            let mut text_order = one.txid.to_byte_array();
            text_order.reverse();
            (one.has_unconfirmed_inputs, text_order)
        });
    }
}

impl History {
    /// The status of the script (protocol basics, "Status").
    pub fn status(&self) -> Option<Status> {
        if self.confirmed.is_empty() && self.unconfirmed.is_empty() {
            return None;
        }
        let mut engine = sha256::Hash::engine();
        for one in &self.confirmed {
            engine.input(format!("{}:{}:", one.txid, one.height).as_bytes());
        }
        for one in &self.unconfirmed {
            engine.input(format!("{}:{}:", one.txid, one.height()).as_bytes());
        }
        Some(Status(sha256::Hash::from_engine(engine).to_byte_array()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Confirmed;

    #[test]
    fn the_example_of_the_protocol_has_its_status() {
        let confirmed = [
            ("a6c9c361bd0bc536d6a22648efbf8f9b200e425ef6c3a7a9669dc444c532a347", 2472),
            ("9c42f84b2fcdaff676ba25d9d4941741cc0d1a01cce0c23fdc4c0b2afa38431c", 2473),
            ("770f2d4371b3fabb902dd9a103e2dd005fcd3971181078fca4a2a1d6ff127b30", 2473),
        ];
        let unconfirmed = [
            ("bb4c8ab438c13b89ca80d1d5bee25b0b6b7f55673f4d801998ba97db161d9e85", true),
            ("e02a1dadfa83b996b24175df807b271ea5d02937ef5b35c195fac1e1bdc3198f", false),
            ("80b19848aed792565ab7c5a79b7c2a00fbf985741579396ebe0ab6098e607311", false),
        ];
        let mut history = History {
            confirmed: confirmed.map(|(txid, height)| Confirmed { txid: txid.parse().unwrap(), height }).to_vec(),
            unconfirmed: unconfirmed
                .map(|(txid, has_unconfirmed_inputs)| Unconfirmed {
                    txid: txid.parse().unwrap(),
                    has_unconfirmed_inputs,
                    fee: 200,
                })
                .to_vec(),
        };
        Unconfirmed::sort(&mut history.unconfirmed);
        let status = history.status().unwrap().to_string();
        assert_eq!(status, "78e96c6562cafa71c115503b9411fdfdc595a45031e2ab76ff75162fe1b0590d");
        assert_eq!(History::default().status(), None);
    }

    #[test]
    fn a_script_hash_is_written_in_reverse() {
        let text = "\"8b01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161\"";
        let hash: ScriptHash = serde_json::from_str(text).unwrap();
        assert_eq!(hash.0[..2], [0x61, 0x91]);
        assert_eq!(serde_json::to_string(&hash).unwrap(), text);
        for wrong in
            ["\"\"", "\"8b01\"", "5", "null", "\"zz01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161\""]
        {
            assert!(serde_json::from_str::<ScriptHash>(wrong).is_err(), "{wrong}");
        }
    }
}
