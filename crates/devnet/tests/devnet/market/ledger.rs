//! The engine's state along a node's chain, and the comparison with [`Reckoning`] after every block.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bitcoin::{Block, BlockHash, OutPoint, Txid};
use paraffin_alkanes::codec::Artifact;
use paraffin_alkanes::{
    BlockEffects, CodeCache, Engine as _, NativeEngine, Parameters, SavedSheet, StateError, StateKey, StateReader,
};
use paraffin_devnet::Node;
use paraffin_devnet::market::builtins;
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};

use super::reckoning::Reckoning;

/// Earlier states that are held, to undo blocks.
const MOMENTS_MAX: usize = 12;

pub(super) fn engine() -> NativeEngine {
    NativeEngine::new(Network::Regtest, Arc::new(builtins()), Arc::new(CodeCache::default()))
}

/// Everything as of one block.
#[derive(Debug, Clone, Default)]
pub(super) struct Moment {
    pub(super) values: BTreeMap<StateKey, Arc<[u8]>>,
    unspent: BTreeSet<OutPoint>,
    pub(super) reckoning: Reckoning,
    /// What the built-in contracts issued when they were deployed.
    issued: BTreeMap<AlkaneId, u128>,
    /// What transactions lost that carry no protostones, or none that can be read.
    pub(super) lost: BTreeMap<AlkaneId, u128>,
    hash: Option<BlockHash>,
}

impl StateReader for Moment {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.values.get(key).map(|value| value.to_vec()))
    }
}

impl Moment {
    /// The alkanes of an output. Of entries with the same id the last counts.
    pub(super) fn sheet(&self, outpoint: OutPoint) -> BTreeMap<AlkaneId, u128> {
        let saved = self.values.get(&StateKey::Sheet(outpoint));
        saved.map(|bytes| SavedSheet::decode(bytes).unwrap().entries.into_iter().collect()).unwrap_or_default()
    }

    pub(super) fn in_outputs(&self) -> BTreeMap<AlkaneId, u128> {
        let mut sums = BTreeMap::new();
        let genesis = Parameters::of(Network::Regtest).genesis_outpoint();
        for outpoint in self.unspent.iter().chain([&genesis]) {
            for (id, value) in self.sheet(*outpoint) {
                let sum: &mut u128 = sums.entry(id).or_default();
                *sum = sum.saturating_add(value);
            }
        }
        sums
    }
}

/// The engine along the node's best chain.
pub(super) struct Ledger {
    engine: NativeEngine,
    moments: VecDeque<(u32, Moment)>,
    /// Whether every block is compared, which needs transactions that are all well formed.
    is_exact: bool,
}

impl Ledger {
    pub(super) fn new() -> Self {
        Self { engine: engine(), moments: VecDeque::new(), is_exact: true }
    }

    /// Follows without comparing: the traces do not show which transactions were undone as a whole.
    pub(super) fn lenient() -> Self {
        Self { is_exact: false, ..Self::new() }
    }

    pub(super) fn now(&self) -> &Moment {
        &self.moments.back().unwrap().1
    }

    /// Follows the node, at most [`MOMENTS_MAX`] blocks back, and compares after every block.
    pub(super) fn follow(&mut self, node: &Node) -> Vec<BlockEffects> {
        while let Some((height, moment)) = self.moments.back()
            && node.block_hash(*height) != moment.hash
        {
            self.moments.pop_back();
            assert!(!self.moments.is_empty(), "the reorganisation is deeper than what this test keeps");
        }
        let mut seen = Vec::new();
        let mut next = self.moments.back().map_or(0, |(height, _)| height + 1);
        while let Some(hash) = node.block_hash(next) {
            seen.push(self.take_in(next, hash, &node.block(&hash).unwrap()));
            if self.is_exact {
                self.compare(next);
            }
            next += 1;
        }
        seen
    }

    fn take_in(&mut self, height: u32, hash: BlockHash, block: &Block) -> BlockEffects {
        let mut moment = self.moments.back().map(|(_, moment)| moment.clone()).unwrap_or_default();
        let connected = ConnectedBlock::new(height, block.clone());
        let effects = self.engine.run_block(height, &connected, &moment).unwrap();
        let genesis = Parameters::of(Network::Regtest).genesis_outpoint();
        let before = moment.sheet(genesis);
        moment.values.extend(effects.writes.iter().map(|(key, value)| (key.clone(), value.as_slice().into())));
        for (id, value) in moment.sheet(genesis) {
            *moment.issued.entry(id).or_default() += value - before.get(&id).copied().unwrap_or_default();
        }

        let funded: BTreeSet<Txid> = effects.funded.iter().map(|outpoint| outpoint.txid).collect();
        let earlier = self.moments.back().map(|(_, moment)| moment.clone()).unwrap_or_default();
        for (transaction, txid) in block.txdata.iter().zip(&connected.txids) {
            for input in &transaction.input {
                moment.unspent.remove(&input.previous_output);
            }
            moment.unspent.extend((0..transaction.output.len() as u32).map(|vout| OutPoint { txid: *txid, vout }));
            let stones = match Artifact::read(transaction) {
                Some(Artifact::Runestone(runestone)) => Some(runestone.protostones()),
                Some(Artifact::Cenotaph(_)) | None => None,
            };
            if matches!(&stones, Some(Ok(stones)) if !stones.is_empty()) {
                continue;
            }
            // No protostone directs the alkanes of the inputs: they are lost.
            assert!(!funded.contains(txid), "{txid} gives alkanes without saying to whom");
            for (id, value) in transaction.input.iter().flat_map(|input| earlier.sheet(input.previous_output)) {
                *moment.lost.entry(id).or_default() += value;
            }
        }
        if self.is_exact {
            moment.reckoning.block(&effects.traces);
        }
        moment.hash = Some(hash);
        self.moments.push_back((height, moment));
        if self.moments.len() > MOMENTS_MAX {
            self.moments.pop_front();
        }
        effects
    }

    /// Minted minus lost is what outputs and contracts hold; the runtime is what the messages left in it.
    fn compare(&self, height: u32) {
        let moment = self.now();
        let Reckoning { books, taken, given, runtime, .. } = &moment.reckoning;
        let of = |amounts: &BTreeMap<AlkaneId, u128>, id: AlkaneId| amounts.get(&id).copied().unwrap_or_default();
        let in_outputs = moment.in_outputs();
        let mut in_contracts = BTreeMap::<AlkaneId, u128>::new();
        for (key, value) in &moment.values {
            match key {
                StateKey::Balance { what, who } => {
                    let value = u128::from_le_bytes(value[..].try_into().unwrap());
                    let expected = books.held.get(&(*what, *who)).copied().unwrap_or_default();
                    assert_eq!(value, expected, "block {height}: {who} holds {what}");
                    *in_contracts.entry(*what).or_default() += value;
                }
                StateKey::Runtime(id) => {
                    assert_eq!(
                        u128::from_le_bytes(value[..].try_into().unwrap()),
                        of(runtime, *id),
                        "block {height}: {id} in the runtime"
                    );
                }
                _ => {}
            }
        }
        for id in in_outputs.keys().chain(books.minted.keys()).chain(in_contracts.keys()) {
            let total = of(&books.minted, *id) + of(&moment.issued, *id) - of(&moment.lost, *id);
            assert_eq!(of(&in_contracts, *id), books.held_by_contracts(*id), "block {height}: {id} in contracts");
            assert_eq!(
                of(&in_outputs, *id) + of(&in_contracts, *id),
                total,
                "block {height}: {id} in outputs and contracts"
            );
            let passed = of(&moment.issued, *id) + of(given, *id) - of(taken, *id) - of(&moment.lost, *id);
            assert_eq!(of(&in_outputs, *id), passed, "block {height}: {id} in outputs");
        }
    }
}
