//! Contents of transactions: inscriptions, runes, data, calls of contracts.

use super::contracts::{self, Calls};
use super::random::Random;
use super::transaction::Record;

/// Purpose of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Purpose {
    Coinbase,
    Payment,
    /// A payment with an output of data.
    Data,
    /// Reveals an image or mints of a BRC-20 token.
    Inscription,
    /// Deploys a BRC-20 token.
    Deploy,
    /// Mints a rune.
    Mint,
    /// Etches a rune.
    Etching,
    /// A step of the deployment of contracts; the record has its number.
    Founding,
    /// Creates a token that anyone can mint.
    NewToken,
    /// Mints the genesis token and a rune.
    GenesisMint,
    /// Mints of another contract.
    ContractMint,
    /// An order of a trader.
    Order,
}

impl Purpose {
    const ALL: [Self; 12] = [
        Self::Coinbase,
        Self::Payment,
        Self::Data,
        Self::Inscription,
        Self::Deploy,
        Self::Mint,
        Self::Etching,
        Self::Founding,
        Self::NewToken,
        Self::GenesisMint,
        Self::ContractMint,
        Self::Order,
    ];

    /// The purpose with this number; a payment for any other.
    pub(crate) fn numbered(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Payment)
    }

    /// Whether the first input reveals an inscription.
    pub(crate) const fn reveals(self) -> bool {
        matches!(self, Self::Inscription | Self::Deploy)
    }

    /// Whether the last output carries data.
    pub(crate) const fn has_message(self) -> bool {
        !matches!(self, Self::Coinbase | Self::Payment | Self::Inscription | Self::Deploy)
    }

    /// Effect of the transaction on contracts.
    pub(crate) const fn calls(self, detail: u16) -> Option<Calls> {
        match self {
            Self::Founding => Some(Calls::Founding(detail)),
            Self::NewToken => Some(Calls::NewToken),
            Self::GenesisMint => Some(Calls::GenesisMint),
            Self::ContractMint => Some(Calls::Mint),
            Self::Order => Some(Calls::Order),
            _ => None,
        }
    }
}

/// Every so many blocks a BRC-20 token is deployed, by the second transaction.
pub(crate) const DEPLOY_EVERY: u32 = 16;
/// Every so many blocks a rune is etched, by the first transaction.
pub(crate) const ETCH_EVERY: u32 = 64;
/// Tokens and runes that are minted at a time; the newest gets half of all mints, the one before it a quarter, and so on.
const MINTED: u32 = 6;
/// Longest push of a script.
const PUSH_MAX: usize = 520;

/// The height at which what is minted at `height` was made.
pub(crate) fn made_at(random: &mut Random, height: u32, every: u32) -> u32 {
    let newest = height.saturating_sub(1) / every;
    let back = random.next().trailing_zeros().min(MINTED);
    newest.saturating_sub(back) * every
}

/// Appends the script of the output that carries data, with its length, in a transaction of `outputs` outputs.
pub(crate) fn write_output(
    record: &Record,
    random: &mut Random,
    (height, contracts_from): (u32, u32),
    outputs: u16,
    bytes: &mut Vec<u8>,
) {
    let mut payload = Vec::new();
    let mut script = vec![0x6a];
    if matches!(record.purpose, Purpose::Mint | Purpose::GenesisMint) {
        // A rune of block 0 would spoil the whole runestone.
        let block = made_at(random, height, ETCH_EVERY).max(ETCH_EVERY);
        for number in [20, u128::from(block), 20, 1] {
            varint(number, &mut payload);
        }
    }
    match record.purpose {
        Purpose::Mint => script.push(0x5d),
        Purpose::Etching => {
            // An etching with terms and without a name: 1,000 units for each of up to 2^62 mints.
            for number in [2, 3, 10, 1_000, 8, 1 << 62] {
                varint(number, &mut payload);
            }
            script.push(0x5d);
        }
        purpose => {
            if let Some(calls) = purpose.calls(record.detail) {
                contracts::write(calls, random, (height, contracts_from), outputs, &mut payload);
                script.push(0x5d);
            } else {
                let len = 20 + random.below(56) as usize;
                random.fill(&mut payload, len);
            }
        }
    }
    for part in payload.chunks(PUSH_MAX) {
        push(part, &mut script);
    }
    compact_size(script.len() as u64, bytes);
    bytes.extend_from_slice(&script);
}

/// Appends the witness that reveals an inscription or code: a signature, the script with the envelope, a control block.
pub(crate) fn write_reveal(record: &Record, random: &mut Random, height: u32, witness: &mut Vec<u8>) {
    let mut script = vec![0x20];
    random.fill(&mut script, 32);
    script.push(0xac);
    match record.code() {
        Some(code) => script.extend_from_slice(code.as_bytes()),
        None => write_inscription(record.purpose, random, height, &mut script),
    }
    witness.extend_from_slice(&[3, 64]);
    random.fill(witness, 64);
    compact_size(script.len() as u64, witness);
    witness.extend_from_slice(&script);
    witness.extend_from_slice(&[33, 0xc0]);
    random.fill(witness, 32);
}

fn write_inscription(purpose: Purpose, random: &mut Random, height: u32, script: &mut Vec<u8>) {
    script.extend_from_slice(&[0x00, 0x63, 0x03]);
    script.extend_from_slice(b"ord\x01\x01");
    let body = if purpose == Purpose::Inscription && random.below(10) == 0 {
        push(b"image/webp", script);
        let scale = 300 << random.below(7);
        let len = scale + random.below(scale);
        let mut body = Vec::new();
        random.fill(&mut body, len as usize);
        body
    } else {
        push(b"text/plain;charset=utf-8", script);
        if purpose == Purpose::Deploy {
            let ticker = ticker(height / DEPLOY_EVERY);
            format!(r#"{{"p":"brc-20","op":"deploy","tick":"{ticker}","max":"21000000000","lim":"1000"}}"#).into_bytes()
        } else {
            let ticker = ticker(made_at(random, height, DEPLOY_EVERY) / DEPLOY_EVERY);
            let amount = 1 + random.below(1_000);
            format!(r#"{{"p":"brc-20","op":"mint","tick":"{ticker}","amt":"{amount}"}}"#).into_bytes()
        }
    };
    script.push(0);
    for part in body.chunks(PUSH_MAX) {
        push(part, script);
    }
    script.push(0x68);
}

/// Four letters.
fn ticker(number: u32) -> String {
    (0..4).map(|place| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8)).collect()
}

/// Appends a push of at most 520 bytes.
fn push(bytes: &[u8], script: &mut Vec<u8>) {
    match bytes.len() {
        len @ 0..76 => script.push(len as u8),
        len @ 76..256 => script.extend_from_slice(&[0x4c, len as u8]),
        len => {
            script.push(0x4d);
            script.extend_from_slice(&(len as u16).to_le_bytes());
        }
    }
    script.extend_from_slice(bytes);
}

/// Appends a number as runestones write it.
pub(crate) fn varint(mut number: u128, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a number as lengths and counts are written in transactions.
pub(crate) fn compact_size(number: u64, bytes: &mut Vec<u8>) {
    match number {
        0..0xfd => bytes.push(number as u8),
        0xfd..0x1_0000 => {
            bytes.push(0xfd);
            bytes.extend_from_slice(&(number as u16).to_le_bytes());
        }
        0x1_0000..0x1_0000_0000 => {
            bytes.push(0xfe);
            bytes.extend_from_slice(&(number as u32).to_le_bytes());
        }
        _ => {
            bytes.push(0xff);
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
}
