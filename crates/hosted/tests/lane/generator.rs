//! Random chains of valid and hostile transactions, drawn from a seed.

mod deployments;

use std::collections::{BTreeSet, HashSet};

use bitcoin::key::{Secp256k1, UntweakedPublicKey};
use bitcoin::{Amount, ScriptBuf};
use paraffin_alkanes::codec::append_varint;
use paraffin_alkanes::{BlockEffects, SavedSheet, StateKey};

use crate::chain::{
    Blocks, Bytes, Input, Item, Message, Output, Recipe, Rules, Runestone, Script, Source, Step, Stone,
};
use crate::modules::Id;
use crate::numbers::Numbers;

/// Committed contracts that are deployed, and the inputs of their initialisation.
const CONTRACTS: [(&str, &[u128]); 9] = [
    ("probe", &[0]),
    ("probe", &[0]),
    ("free-mint", &[0, 1_000, 100, 5, 0x0078_6157, 0, 0x0058_4157]),
    ("owned-token", &[0, 3, 1_000_000]),
    ("auth-token", &[0, 7]),
    ("counter", &[0]),
    ("upgradeable-proxy", &[0x7fff, 4, 1, 1]),
    ("upgradeable-beacon", &[0x7fff, 4, 1, 1]),
    ("beacon-proxy", &[0x7fff, 4, 2]),
];

/// Numbers of contracts 4:n that chains ask for, so that several ask for the same.
const RESERVED: usize = 40;

/// Ids and outputs of a chain while it grows.
#[derive(Debug, Clone, Default)]
struct ChainContents {
    unspent: Vec<Source>,
    /// Outputs that hold alkanes.
    rich: Vec<Source>,
    ids: Vec<Id>,
    base_runes: Vec<Id>,
    /// Spent outputs.
    spent: HashSet<Source>,
}

/// Draws the blocks of one chain.
pub(crate) struct Generator {
    pub(crate) numbers: Numbers,
    rules: Rules,
    next_name: u32,
    contents: ChainContents,
    /// The contents after each block, and its recipes.
    history: Vec<(ChainContents, Vec<Recipe>)>,
    /// Transactions of blocks that were undone.
    orphans: Vec<Recipe>,
    /// Where payments to be wrapped go.
    signer: Option<ScriptBuf>,
    /// Whether numbers near 2^128 are drawn: a single one can make a token unusable.
    has_extremes: bool,
}

impl Generator {
    pub(crate) fn new(rules: Rules, seed: u64) -> Self {
        let contents = ChainContents { ids: vec![(2, 0), (32, 0), (32, 1)], ..ChainContents::default() };
        let has_extremes = seed.is_multiple_of(3);
        Self {
            numbers: Numbers::new(seed),
            rules,
            next_name: 1,
            contents,
            history: Vec::new(),
            orphans: Vec::new(),
            signer: None,
            has_extremes,
        }
    }

    /// Sets the key that wrapped bitcoin names as its signer's.
    pub(crate) fn pay_to(&mut self, key: &[u8]) {
        if let Ok(key) = UntweakedPublicKey::from_slice(key) {
            self.signer = Some(ScriptBuf::new_p2tr(&Secp256k1::verification_only(), key, None));
        }
    }

    pub(crate) fn ids(&self) -> &[Id] {
        &self.contents.ids
    }

    pub(crate) fn outputs(&self) -> (&[Source], &[Source]) {
        (&self.contents.unspent, &self.contents.rich)
    }

    /// The next step.
    pub(crate) fn step(&mut self, transactions: usize) -> Step {
        if self.history.len() > 2 && self.numbers.chance(6) {
            let count = 1 + self.numbers.below(self.history.len().min(5));
            let kept = self.history.len() - count;
            for (_, recipes) in self.history.drain(kept..) {
                self.orphans.extend(recipes.into_iter().skip(1));
            }
            // A spending transaction comes after the one whose output it spends.
            self.orphans.sort_by_key(|recipe| recipe.name);
            self.contents = self.history.last().map_or_else(
                || ChainContents { ids: vec![(2, 0), (32, 0), (32, 1)], ..ChainContents::default() },
                |(contents, _)| contents.clone(),
            );
            return Step::Undo(count);
        }
        let mut recipes = vec![self.coinbase()];
        if self.numbers.chance(60) {
            let again = self.numbers.below(self.orphans.len() + 1);
            recipes.extend(self.orphans.drain(..again));
        } else {
            self.orphans.clear();
        }
        for _ in 0..transactions {
            let recipe = self.transaction();
            recipes.push(recipe);
        }
        // No chain spends an output twice.
        let mut spent = self.contents.spent.clone();
        recipes.retain(|recipe| {
            let is_spent = recipe.inputs.iter().any(|input| spent.contains(&input.source));
            spent.extend(recipe.inputs.iter().map(|input| input.source).filter(|_| !is_spent));
            !is_spent
        });
        Step::Block(recipes)
    }

    /// Takes in the effects of a block.
    pub(crate) fn learn(&mut self, recipes: &[Recipe], effects: &BlockEffects, blocks: &Blocks) {
        let spent: BTreeSet<_> =
            recipes.iter().flat_map(|recipe| &recipe.inputs).map(|input| blocks.outpoint(input.source)).collect();
        let contents = &mut self.contents;
        for recipe in recipes {
            contents.unspent.extend((0..recipe.outputs.len() as u32).map(|vout| Source::Output(recipe.name, vout)));
        }
        for (key, value) in &effects.writes {
            match key {
                StateKey::Code(id) if !contents.ids.contains(&(id.block, id.tx)) => {
                    contents.ids.push((id.block, id.tx));
                }
                StateKey::Etching(id) => contents.base_runes.push((id.block, id.tx)),
                StateKey::Sheet(outpoint) => {
                    let holds = SavedSheet::decode(value).unwrap().entries.iter().any(|(_, amount)| *amount > 0);
                    if let (true, Some(source)) = (holds, blocks.source(outpoint)) {
                        contents.rich.push(source);
                    }
                }
                _ => {}
            }
        }
        contents.spent.extend(recipes.iter().flat_map(|recipe| &recipe.inputs).map(|input| input.source));
        contents.unspent.retain(|source| !spent.contains(&blocks.outpoint(*source)));
        contents.rich.retain(|source| !spent.contains(&blocks.outpoint(*source)));
        let most = contents.unspent.len().saturating_sub(300);
        contents.unspent.drain(..most);
        self.history.push((contents.clone(), recipes.to_vec()));
    }

    /// A transaction for a trial view, and its protostones as integers; it is not recorded.
    pub(crate) fn trial(&mut self, blocks: &Blocks) -> (Vec<u8>, bitcoin::Transaction) {
        let contents = self.contents.clone();
        let recipe = self.transaction();
        self.contents = contents;
        let stones = recipe.outputs.iter().find_map(|output| match &output.script {
            Script::Runestone(runestone) => Some(runestone.integers()),
            Script::Bytes(_) => None,
        });
        let mut bytes = Vec::new();
        stones.unwrap_or_default().iter().for_each(|integer| append_varint(*integer, &mut bytes));
        (bytes, blocks.clone().transaction(&recipe))
    }

    fn name(&mut self) -> u32 {
        self.next_name += 1;
        self.next_name
    }

    fn coinbase(&mut self) -> Recipe {
        let number = self.numbers.next();
        let mut outputs = vec![self.output()];
        if self.numbers.chance(30) {
            outputs.push(self.output());
        }
        if self.numbers.chance(12) {
            let script = self.stones(outputs.len() as u32 + 1);
            outputs.push(Output { sats: 0, script });
        }
        let input = Input { source: Source::Coinbase(number), witness: vec![Item::Bytes(Bytes(vec![0; 32]))] };
        Recipe { name: self.name(), inputs: vec![input], outputs }
    }

    fn amount(&mut self) -> u128 {
        if self.has_extremes { self.numbers.number() } else { self.numbers.number() % (1 << 60) }
    }

    fn output(&mut self) -> Output {
        let number = self.numbers.below(6) as u8;
        let script = match self.numbers.below(20) {
            0 => vec![0x51],
            1 => [&[0x00, 0x14][..], &[number; 20]].concat(),
            2 => [&[0x76, 0xa9, 0x14][..], &[number; 20], &[0x88, 0xac]].concat(),
            3 => [&[0xa9, 0x14][..], &[number; 20], &[0x87]].concat(),
            4 => [&[0x00, 0x20][..], &[number; 32]].concat(),
            5 => [&[0x6a, 0x04][..], &[number; 4]].concat(),
            6 => self.numbers.bytes(usize::from(number)),
            _ => [&[0x51, 0x20][..], &[number + 1; 32]].concat(),
        };
        // A sixth kind of script must not pass for a runestone.
        let script = if script.starts_with(&[0x6a, 0x5d]) { vec![0x6a] } else { script };
        Output { sats: self.numbers.pick(&[0, 546, 10_000, 100_000_000]), script: Script::Bytes(Bytes(script)) }
    }

    fn inputs(&mut self) -> Vec<Input> {
        let mut sources = Vec::new();
        for _ in 0..self.numbers.pick(&[1, 1, 1, 2, 2, 3, 5]) {
            let source = match self.numbers.below(20) {
                0 => Source::Unknown(self.numbers.next()),
                1 => Source::Genesis,
                2..15 if !self.contents.rich.is_empty() => self.numbers.pick(&self.contents.rich),
                _ if !self.contents.unspent.is_empty() => self.numbers.pick(&self.contents.unspent),
                _ => Source::Unknown(self.numbers.next()),
            };
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        // No output is spent twice within a block.
        for source in &sources {
            self.contents.rich.retain(|other| other != source);
            self.contents.unspent.retain(|other| other != source);
        }
        let with = |source| Input { source, witness: Vec::new() };
        sources.into_iter().map(with).collect()
    }

    fn transaction(&mut self) -> Recipe {
        let mut inputs = self.inputs();
        let mut outputs: Vec<Output> = (0..self.numbers.pick(&[1, 2, 2, 3, 4])).map(|_| self.output()).collect();
        let count = outputs.len() as u32 + 1;
        let script = match self.numbers.below(100) {
            0..22 => {
                let (script, witness) = self.deployment(count);
                let index = if self.numbers.chance(80) { 0 } else { self.numbers.below(inputs.len()) };
                inputs[index].witness = witness;
                Some(script)
            }
            22..27 => {
                let (script, witness) = self.base_rune();
                inputs[0].witness = witness;
                Some(script)
            }
            27..34 => {
                if let Some(signer) = self.signer.clone() {
                    let script = Script::Bytes(Bytes(signer.into_bytes()));
                    outputs[0] = Output { sats: self.numbers.pick(&[546, 100_000, 50_000_000]), script };
                }
                Some(self.wrapping(count))
            }
            34..38 => None,
            38..40 => Some(Script::Bytes(Bytes(self.broken_runestone()))),
            _ => Some(self.stones(count)),
        };
        if let Some(script) = script {
            let index = if self.numbers.chance(70) { outputs.len() } else { self.numbers.below(outputs.len() + 1) };
            outputs.insert(index, Output { sats: 0, script });
        }
        if self.numbers.chance(6) {
            let index = self.numbers.below(outputs.len() + 1);
            let script = if self.numbers.chance(30) { self.stones(count) } else { Script::Bytes(Bytes(vec![0x6a])) };
            outputs.insert(index, Output { sats: 0, script });
        }
        let recipe = Recipe { name: self.name(), inputs, outputs };
        // Its outputs can be spent in the same block.
        if self.numbers.chance(50) {
            let vout = self.numbers.below(recipe.outputs.len()) as u32;
            self.contents.rich.push(Source::Output(recipe.name, vout));
        }
        recipe
    }

    fn vout(&mut self, count: u32, stones: u32) -> u128 {
        u128::from(match self.numbers.below(60) {
            0 => count,
            1 => count + stones,
            2 => count + stones + 1,
            3 => u32::MAX,
            4 => return (1 << 32) + self.numbers.below(4) as u128,
            5..10 => count + 1 + self.numbers.below(stones as usize) as u32,
            _ => self.numbers.below(count as usize) as u32,
        })
    }

    fn id(&mut self) -> Id {
        match self.numbers.below(20) {
            0 => (0, self.numbers.below(3) as u128),
            1 => (2, self.numbers.below(30) as u128),
            2 => (self.numbers.number(), self.numbers.number()),
            3..8 => (2, 0),
            _ => self.numbers.pick(&self.contents.ids),
        }
    }

    fn edicts(&mut self, count: u32, stones: u32, fields: &mut Vec<u128>) {
        let mut ids: Vec<Id> = (0..=self.numbers.below(3)).map(|_| self.id()).collect();
        ids.sort_unstable();
        fields.push(0);
        let mut before = (0, 0);
        for (block, tx) in ids {
            let delta = block - before.0;
            let amount = if self.numbers.chance(40) { 0 } else { self.amount() };
            let output = if self.numbers.chance(30) { u128::from(count) } else { self.vout(count, stones) };
            fields.extend([delta, if delta == 0 { tx - before.1 } else { tx }, amount, output]);
            before = (block, tx);
        }
        if self.numbers.chance(3) {
            fields.push(self.numbers.number());
        }
    }

    /// The integers of a call: target and inputs.
    fn call(&mut self) -> Vec<u128> {
        let (block, tx) = match self.numbers.below(40) {
            0 => (5, self.numbers.below(20) as u128),
            1 => (6, self.numbers.below(RESERVED) as u128),
            2 => (8, self.numbers.below(9) as u128),
            3 => (1, self.numbers.below(2) as u128),
            4 => (800_000_000, self.numbers.below(4) as u128),
            5..8 => (2, 0),
            8..10 => (32, self.numbers.below(3) as u128),
            10 => self.id(),
            _ => self.numbers.pick(&self.contents.ids),
        };
        let operation = match self.numbers.below(10) {
            0..5 => self.numbers.pick(&[
                10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 30, 31, 32, 33, 34, 35, 36, 40, 41, 42, 43, 44, 45, 46, 47,
                48, 49, 50, 51, 52, 60, 61, 62, 63, 64, 81, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93,
            ]),
            5..8 => self.numbers.pick(&[0, 1, 2, 4, 77, 77, 78, 79, 88, 99, 100, 101, 102, 103, 104, 105, 1000]),
            8 => self.numbers.pick(&[0x7fff, 0x7ffe, 0x7ffd, 0x7ffc, 0x8fff, 3, 5, 6]),
            _ => self.numbers.number(),
        };
        let mut call = vec![block, tx, operation];
        // Loops without an end are for those whose fuel is least.
        if self.rules == Rules::Regtest && self.numbers.chance(1) {
            call[2] = self.numbers.pick(&[80, 82]);
        }
        if matches!(operation, 40..=47 | 49 | 50 | 51) || self.numbers.chance(25) {
            let (block, tx) = if self.numbers.chance(10) {
                self.numbers.pick(&[
                    (1, 0),
                    (3, 5),
                    (5, 1),
                    (6, 1),
                    (800_000_000, 0),
                    (800_000_000, 2),
                    (800_000_000, 3),
                    (0, 0),
                ])
            } else {
                self.id()
            };
            if operation == 43 {
                call.extend([block, tx, self.numbers.number()]);
            } else if matches!(operation, 46 | 51) {
                call.extend([self.numbers.below(4) as u128, self.numbers.number(), block, tx]);
            } else {
                call.extend([block, tx]);
            }
            if operation == 44 {
                let (block, tx) = self.id();
                call.extend([block, tx, self.amount()]);
            }
            if operation == 45 || operation == 52 {
                call[3] = self.numbers.below(27) as u128;
            }
        }
        if matches!(operation, 45 | 52 | 81) {
            call.truncate(3);
            call.push(self.numbers.pick(&[1, 5, 23, 24, 25, 26, 200, 1_100]));
        }
        if matches!(operation, 33 | 34 | 84 | 48) {
            call.truncate(3);
            call.extend([self.numbers.below(12) as u128, self.numbers.below(300) as u128]);
        }
        if call[0] == 32 && matches!(call[2], 78) {
            call.truncate(3);
            call.extend([self.numbers.below(3) as u128, self.amount()]);
        }
        for _ in 0..self.numbers.below(5) {
            let number = self.amount();
            call.push(number);
        }
        call
    }

    fn stone(&mut self, count: u32, stones: u32) -> Stone {
        let mut stone = Stone {
            tag: if self.numbers.chance(90) { 1 } else { self.numbers.pick(&[7, 2, 13, u128::MAX]) },
            ..Stone::default()
        };
        if self.numbers.chance(75) {
            stone.message = Some(match self.numbers.below(40) {
                0 => Message::Bytes(Bytes(self.numbers.pick(&[
                    vec![2],
                    vec![0x80; 15],
                    vec![9, 9, 0x80],
                    vec![0; 20],
                    vec![2, 0, 77, 0],
                ]))),
                1 => {
                    let len = self.numbers.below(50);
                    Message::Bytes(Bytes(self.numbers.bytes(len)))
                }
                _ => Message::Call(self.call()),
            });
        }
        // A message without pointers voids its transaction, so most have them.
        let wanted = if stone.message.is_none() { 60 } else { 97 };
        for key in [91, 93] {
            if self.numbers.chance(wanted) {
                stone.fields.extend([key, self.vout(count, stones)]);
            }
        }
        if self.numbers.chance(5) {
            stone.fields.extend([self.numbers.pick(&[83, 95, 81, 91, 14, u128::MAX]), self.numbers.number()]);
        }
        if self.numbers.chance(35) {
            self.edicts(count, stones, &mut stone.fields);
        }
        if self.numbers.chance(1) {
            stone.count = Some(self.numbers.pick(&[0, 1, 2, 5, 1_000, 1 << 32, u128::MAX]));
        }
        stone
    }

    fn stones(&mut self, count: u32) -> Script {
        let stones = self.numbers.pick(&[1, 1, 1, 2, 2, 3, 5, 8]);
        let mut runestone =
            Runestone { stones: (0..stones).map(|_| self.stone(count, stones)).collect(), ..Runestone::default() };
        if self.numbers.chance(2) {
            let len = self.numbers.below(12);
            runestone.tail = Bytes(self.numbers.bytes(len));
        }
        self.base_fields(&mut runestone);
        Script::Runestone(runestone)
    }

    /// Adds fields of base runes.
    fn base_fields(&mut self, runestone: &mut Runestone) {
        if self.contents.base_runes.is_empty() {
            return;
        }
        if self.numbers.chance(12) {
            let (block, tx) = self.numbers.pick(&self.contents.base_runes);
            runestone.fields.extend([(20, block), (20, tx)]);
        }
        if self.numbers.chance(8) {
            let (block, tx) = self.numbers.pick(&self.contents.base_runes);
            runestone.edicts.push([block, tx, self.amount(), self.numbers.below(3) as u128]);
        }
        if self.numbers.chance(4) {
            runestone.fields.push((22, self.numbers.below(4) as u128));
        }
    }

    fn broken_runestone(&mut self) -> Vec<u8> {
        let mut script = vec![0x6a, 0x5d];
        if self.numbers.chance(50) {
            script.extend(self.numbers.pick(&[
                vec![0x01, 0x16],
                vec![0x02, 0xff, 0xff],
                vec![0x51],
                vec![0x4c],
                vec![0x02, 0x16, 0x7f],
            ]));
        } else {
            let bytes = self.numbers.below(30);
            let bytes = self.numbers.bytes(bytes);
            script.push(bytes.len() as u8);
            script.extend(bytes);
        }
        script
    }
}

/// A coinbase of nothing but a coin, for chains that are cut down.
pub(crate) fn plain_coinbase(number: u64, name: u32) -> Recipe {
    let output = Output { sats: Amount::ONE_BTC.to_sat(), script: Script::Bytes(Bytes(vec![0x51])) };
    Recipe {
        name,
        inputs: vec![Input { source: Source::Coinbase(number), witness: Vec::new() }],
        outputs: vec![output],
    }
}
