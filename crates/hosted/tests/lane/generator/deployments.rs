//! Transactions with a witness or a payment of their own: deployments, etchings, wrapped bitcoin.

use ordinals::Rune;
use paraffin_alkanes::codec::gzip;

use super::{CONTRACTS, Generator, RESERVED};
use crate::chain::{Bytes, Item, Message, Runestone, Script, Stone, envelope};
use crate::modules;

impl Generator {
    /// A message that creates a contract, and the witness that holds its code.
    pub(super) fn deployment(&mut self, count: u32) -> (Script, Vec<Item>) {
        let (code, inputs) = match self.numbers.below(20) {
            0..9 => {
                let (name, inputs) = self.numbers.pick(&CONTRACTS);
                (Item::Contract(name.to_owned()), inputs.to_vec())
            }
            9..16 => (Item::Module(modules::random(&mut self.numbers, &self.contents.ids)), self.call()[2..].to_vec()),
            16..18 => (Item::Module(modules::odd(&mut self.numbers)), vec![0]),
            _ => (Item::Bytes(Bytes(self.odd_envelope())), vec![0]),
        };
        let target = if self.numbers.chance(50) { [1, 0] } else { [3, self.numbers.below(RESERVED) as u128] };
        let stone = Stone {
            tag: 1,
            count: None,
            message: Some(Message::Call([&target[..], &inputs].concat())),
            fields: vec![91, 0, 93, 0],
        };
        let mut stones = vec![stone];
        while self.numbers.chance(20) {
            stones.push(self.stone(count, 2));
        }
        let last = match self.numbers.below(12) {
            0 => vec![vec![0xc0; 33], vec![0x50, 1]],
            1 => vec![Vec::new()],
            2 => vec![vec![0x50]],
            _ => vec![vec![0xc0; 33]],
        };
        let witness = [code].into_iter().chain(last.into_iter().map(|item| Item::Bytes(Bytes(item)))).collect();
        (Script::Runestone(Runestone { stones, ..Runestone::default() }), witness)
    }

    /// A script with an envelope that is odd, or whose code is packed oddly.
    fn odd_envelope(&mut self) -> Vec<u8> {
        let code = wat::parse_str(modules::odd(&mut self.numbers)).unwrap();
        let packed = gzip(&code);
        let cut = self.numbers.below(packed.len());
        match self.numbers.below(14) {
            0 => envelope(&packed[..cut]),
            1 => envelope(&[&packed[..], b"trailing"].concat()),
            2 => envelope(&[&packed[..], &packed].concat()),
            3 => envelope(&code),
            4 => envelope(&[]),
            // Thirty-two bytes are the id of a template.
            5 => {
                let (block, tx) = self.id();
                envelope(&[block.to_le_bytes(), tx.to_le_bytes()].concat())
            }
            6 => {
                // With a name, and a comment, in the head.
                let mut named = packed.clone();
                named[3] |= 0x18;
                named.splice(10..10, *b"name\0comment\0");
                envelope(&named)
            }
            7 => {
                let mut extra = packed.clone();
                extra[3] |= 0x04;
                extra.splice(10..10, [3, 0, 1, 2, 3]);
                envelope(&extra)
            }
            8 => {
                let mut spoiled = packed.clone();
                spoiled[cut] ^= 1 << self.numbers.below(8);
                envelope(&spoiled)
            }
            9 => [envelope(&packed), envelope(b"second")].concat(),
            10 => [vec![0x00, 0x63], envelope(&packed)].concat(),
            11 => [envelope(&packed), vec![0x4c]].concat(),
            12 => [&[0x00, 0x63, 0x03][..], b"BIN", &[0x00, 0x51, 0x60, 0x4f, 0x68]].concat(),
            _ => {
                let mut spoiled = code.clone();
                let offset = self.numbers.below(code.len());
                spoiled[offset] ^= 1 << self.numbers.below(8);
                envelope(&gzip(&spoiled))
            }
        }
    }

    /// An etching, and the witness with its commitment.
    pub(super) fn base_rune(&mut self) -> (Script, Vec<Item>) {
        let thirteen_letters = 99_246_114_928_149_462_u128;
        let name = match self.numbers.below(10) {
            0 => self.numbers.next().into(),
            1 => Rune::RESERVED + 3,
            _ => thirteen_letters + self.numbers.below(20) as u128,
        };
        let mut runestone =
            Runestone { fields: vec![(2, self.numbers.pick(&[1, 3, 3, 3, 7])), (4, name)], ..Runestone::default() };
        for (tag, value) in [
            (6, self.amount()),
            (8, self.numbers.pick(&[0, 1, 3, u128::MAX])),
            (10, self.amount()),
            (1, self.numbers.below(40) as u128),
            (3, self.numbers.below(300) as u128),
            (5, 0x41 + self.numbers.below(26) as u128),
        ] {
            if self.numbers.chance(75) {
                runestone.fields.push((tag, value));
            }
        }
        for tag in [12, 14, 16, 18] {
            if self.numbers.chance(8) {
                runestone.fields.push((tag, self.numbers.pick(&[0, 1, 5, 1_000_000, u128::from(u64::MAX)])));
            }
        }
        let commitment = Rune(name).commitment();
        let mut script = vec![commitment.len() as u8];
        script.extend(commitment);
        if self.numbers.chance(40) {
            self.base_fields(&mut runestone);
        }
        if self.numbers.chance(30) {
            runestone.stones.push(self.stone(2, 1));
        }
        (Script::Runestone(runestone), vec![Item::Bytes(Bytes(script)), Item::Bytes(Bytes(vec![0xc0; 33]))])
    }

    /// Wraps or unwraps bitcoin, or sets who signs.
    pub(super) fn wrapping(&mut self, count: u32) -> Script {
        let call = match self.numbers.below(10) {
            0 => vec![32, 0, 1, self.numbers.below(count as usize) as u128],
            1 => vec![32, 0, 4, self.numbers.below(200_000) as u128],
            2..7 => vec![32, 0, 77],
            _ => vec![32, 0, 78, self.numbers.below(count as usize + 1) as u128, self.amount() % 60_000_000],
        };
        let stone = Stone {
            tag: 1,
            count: None,
            message: Some(Message::Call(call)),
            fields: vec![91, u128::from(self.numbers.chance(50)), 93, 0],
        };
        let mut stones = vec![stone];
        if self.numbers.chance(25) {
            stones.push(self.stone(count, 2));
        }
        Script::Runestone(Runestone { stones, ..Runestone::default() })
    }
}
