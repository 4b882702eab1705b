//! Consensus rules of regtest that need no history: a transaction or a block alone, and its time.

use std::collections::HashSet;

use bitcoin::block::Header;
use bitcoin::hashes::{Hash, HashEngine, sha256d};
use bitcoin::script::Builder;
use bitcoin::{Block, CompactTarget, OutPoint, Transaction, Txid};

use super::rejection::{Rejection, RejectionKind};
use super::utxo::Coin;

/// The largest amount, in satoshis.
pub(crate) const MAX_MONEY: u64 = 21_000_000 * SATS_PER_BTC;
/// Satoshis per bitcoin.
pub(crate) const SATS_PER_BTC: u64 = 100_000_000;
/// Blocks before a coinbase may be spent.
pub(crate) const COINBASE_MATURITY: u32 = 100;
/// Largest block weight, in weight units.
pub(crate) const MAX_BLOCK_WEIGHT: u64 = 4_000_000;
/// Largest signature operation cost of a block.
pub(crate) const MAX_BLOCK_SIGOPS_COST: usize = 80_000;
/// Blocks between two halvings on regtest.
const HALVING_INTERVAL: u32 = 150;
/// The one difficulty of regtest.
pub(crate) const REGTEST_BITS: u32 = 0x207f_ffff;
/// How far ahead of the clock a block may be, in seconds.
const FUTURE_SECONDS_MAX: u64 = 7200;
/// Lock times below this are heights.
const LOCK_TIME_THRESHOLD: u32 = 500_000_000;
/// Start of the script of the output that carries the witness commitment.
const COMMITMENT_PREFIX: [u8; 6] = [0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed];

/// The new coins of a block at `height`, in satoshis.
pub(crate) fn subsidy(height: u32) -> u64 {
    (50 * SATS_PER_BTC).checked_shr(height / HALVING_INTERVAL).unwrap_or(0)
}

/// Rules of a transaction that do not depend on the chain.
pub(crate) fn check_transaction(tx: &Transaction) -> Result<(), Rejection> {
    if tx.input.is_empty() {
        return Err(Rejection::consensus("bad-txns-vin-empty"));
    }
    if tx.output.is_empty() {
        return Err(Rejection::consensus("bad-txns-vout-empty"));
    }
    if tx.base_size() as u64 * 4 > MAX_BLOCK_WEIGHT {
        return Err(Rejection::consensus("bad-txns-oversize"));
    }
    let mut total = 0_u64;
    for output in &tx.output {
        let value = output.value.to_sat();
        if i64::try_from(value).is_err() {
            return Err(Rejection::consensus("bad-txns-vout-negative"));
        }
        if value > MAX_MONEY {
            return Err(Rejection::consensus("bad-txns-vout-toolarge"));
        }
        total += value;
        if total > MAX_MONEY {
            return Err(Rejection::consensus("bad-txns-txouttotal-toolarge"));
        }
    }
    let mut spent = HashSet::with_capacity(tx.input.len());
    if !tx.input.iter().all(|input| spent.insert(input.previous_output)) {
        return Err(Rejection::consensus("bad-txns-inputs-duplicate"));
    }
    if tx.is_coinbase() {
        if !(2..=100).contains(&tx.input[0].script_sig.len()) {
            return Err(Rejection::consensus("bad-cb-length"));
        }
    } else if tx.input.iter().any(|input| input.previous_output == OutPoint::null()) {
        return Err(Rejection::consensus("bad-txns-prevout-null"));
    }
    Ok(())
}

/// Whether the absolute lock time allows `tx` in a block at `height` whose parent has `median_time_past`.
pub(crate) fn is_final(tx: &Transaction, height: u32, median_time_past: u32) -> bool {
    let lock_time = tx.lock_time.to_consensus_u32();
    let now = if lock_time < LOCK_TIME_THRESHOLD { height } else { median_time_past };
    lock_time == 0 || lock_time < now || tx.input.iter().all(|input| input.sequence.is_final())
}

/// BIP68: whether the relative lock times allow `tx` in a block at `height`.
///
/// `coin_heights` has one entry per input (the next height for an unconfirmed one); `median_time_past` gives the
/// median time past of the block at a height of this chain.
pub(crate) fn relative_locks_hold(
    tx: &Transaction,
    coin_heights: &[u32],
    height: u32,
    median_time_past: impl Fn(u32) -> u32,
) -> bool {
    const DISABLED: u32 = 1 << 31;
    const BY_TIME: u32 = 1 << 22;
    if tx.version.0.cast_unsigned() < 2 {
        return true;
    }
    tx.input.iter().zip(coin_heights).all(|(input, coin_height)| {
        let sequence = input.sequence.to_consensus_u32();
        if sequence & DISABLED != 0 {
            return true;
        }
        let distance = u64::from(sequence & 0xffff);
        if sequence & BY_TIME != 0 {
            let since = u64::from(median_time_past(coin_height.saturating_sub(1)));
            since + (distance << 9) <= u64::from(median_time_past(height - 1))
        } else {
            u64::from(*coin_height) + distance <= u64::from(height)
        }
    })
}

/// Checks maturity and amounts of a transaction whose inputs are `coins`; returns the fee in satoshis.
pub(crate) fn check_amounts(tx: &Transaction, coins: &[Coin], height: u32) -> Result<u64, Rejection> {
    let mut value_in = 0_u64;
    for coin in coins {
        if coin.coinbase && height.saturating_sub(coin.height) < COINBASE_MATURITY {
            let depth = height.saturating_sub(coin.height);
            return Err(Rejection::consensus("bad-txns-premature-spend-of-coinbase")
                .with_detail(format!("tried to spend coinbase at depth {depth}")));
        }
        value_in = value_in.saturating_add(coin.output.value.to_sat());
        if value_in > MAX_MONEY {
            return Err(Rejection::consensus("bad-txns-inputvalues-outofrange"));
        }
    }
    let value_out: u64 = tx.output.iter().map(|output| output.value.to_sat()).sum();
    value_in.checked_sub(value_out).ok_or_else(|| {
        let detail = format!("value in ({}) < value out ({})", format_btc(value_in), format_btc(value_out));
        Rejection::consensus("bad-txns-in-belowout").with_detail(detail)
    })
}

/// An amount of satoshis as bitcoins with exactly eight decimals.
pub(crate) fn format_btc(sats: u64) -> String {
    format!("{}.{:08}", sats / SATS_PER_BTC, sats % SATS_PER_BTC)
}

/// What a header must fit: the chain it extends and the clock.
pub(crate) struct HeaderContext {
    /// Median time past of the parent.
    pub(crate) median_time_past: u32,
    /// The clock, in Unix seconds.
    pub(crate) now: u64,
}

/// Difficulty and proof of work of a header.
pub(crate) fn check_proof_of_work(header: &Header) -> Result<(), Rejection> {
    let target = CompactTarget::from_consensus(REGTEST_BITS);
    if header.bits != target {
        return Err(Rejection::consensus("bad-diffbits").with_detail("incorrect proof of work"));
    }
    if !header.target().is_met_by(header.block_hash()) {
        return Err(Rejection::consensus("high-hash").with_detail("proof of work failed"));
    }
    Ok(())
}

/// Time and version of a header.
pub(crate) fn check_header(header: &Header, context: &HeaderContext) -> Result<(), Rejection> {
    if header.time <= context.median_time_past {
        return Err(Rejection::consensus("time-too-old").with_detail("block's timestamp is too early"));
    }
    if u64::from(header.time) > context.now + FUTURE_SECONDS_MAX {
        return Err(Rejection::consensus("time-too-new").with_detail("block timestamp too far in the future"));
    }
    if header.version.to_consensus() < 4 {
        let version = header.version.to_consensus();
        return Err(Rejection::consensus(format!("bad-version(0x{version:08x})"))
            .with_detail(format!("rejected nVersion=0x{version:08x} block")));
    }
    Ok(())
}

/// The merkle root of `txids`, and whether the list repeats itself in a way that gives a second list the same root
/// (CVE-2012-2459).
pub(crate) fn merkle_root(txids: &[Txid]) -> (sha256d::Hash, bool) {
    let mut level: Vec<sha256d::Hash> = txids.iter().map(|txid| txid.to_raw_hash()).collect();
    let mut repeats = false;
    while level.len() > 1 {
        repeats |= level.chunks_exact(2).any(|pair| pair[0] == pair[1]);
        level = level
            .chunks(2)
            .map(|pair| {
                let mut engine = sha256d::Hash::engine();
                engine.input(pair[0].as_byte_array());
                engine.input(pair[pair.len() - 1].as_byte_array());
                sha256d::Hash::from_engine(engine)
            })
            .collect();
    }
    (level.first().copied().unwrap_or_else(sha256d::Hash::all_zeros), repeats)
}

/// Rules of a block that do not depend on the chain; `txids` are those of `block`.
pub(crate) fn check_block(block: &Block, txids: &[Txid]) -> Result<(), Rejection> {
    let (root, repeats) = merkle_root(txids);
    if root != block.header.merkle_root.to_raw_hash() {
        return Err(Rejection::consensus("bad-txnmrklroot").with_detail("hashMerkleRoot mismatch"));
    }
    if repeats {
        return Err(Rejection::consensus("bad-txns-duplicate").with_detail("duplicate transaction"));
    }
    check_block_content(block)
}

/// The part of [`check_block`] that does not need the merkle root.
pub(crate) fn check_block_content(block: &Block) -> Result<(), Rejection> {
    let stripped = (block.weight().to_wu() - block.total_size() as u64) / 3;
    if block.txdata.is_empty() || stripped * 4 > MAX_BLOCK_WEIGHT {
        return Err(Rejection::consensus("bad-blk-length").with_detail("size limits failed"));
    }
    if !block.txdata[0].is_coinbase() {
        return Err(Rejection::consensus("bad-cb-missing").with_detail("first tx is not coinbase"));
    }
    if block.txdata[1..].iter().any(Transaction::is_coinbase) {
        return Err(Rejection::consensus("bad-cb-multiple").with_detail("more than one coinbase"));
    }
    for tx in &block.txdata {
        check_transaction(tx).map_err(|rejection| {
            let detail = format!("Transaction check failed (tx hash {}) {}", tx.compute_txid(), rejection.detail);
            rejection.with_detail(detail)
        })?;
    }
    Ok(())
}

/// Rules about the block's position in the chain: finality, height in the coinbase (BIP34), witness commitment, weight.
pub(crate) fn check_block_in_chain(block: &Block, height: u32, median_time_past: u32) -> Result<(), Rejection> {
    if block.txdata.iter().any(|tx| !is_final(tx, height, median_time_past)) {
        return Err(Rejection::consensus("bad-txns-nonfinal").with_detail("non-final transaction"));
    }
    let expected = Builder::new().push_int(i64::from(height)).into_script();
    if !block.txdata[0].input[0].script_sig.as_bytes().starts_with(expected.as_bytes()) {
        return Err(Rejection::consensus("bad-cb-height").with_detail("block height mismatch in coinbase"));
    }
    check_witness_commitment(block)?;
    if block.weight().to_wu() > MAX_BLOCK_WEIGHT {
        return Err(Rejection::consensus("bad-blk-weight").with_detail("weight limit failed"));
    }
    Ok(())
}

fn check_witness_commitment(block: &Block) -> Result<(), Rejection> {
    let coinbase = &block.txdata[0];
    let commitment = coinbase
        .output
        .iter()
        .map(|output| output.script_pubkey.as_bytes())
        .rfind(|script| script.len() >= 38 && script.starts_with(&COMMITMENT_PREFIX));
    let Some(commitment) = commitment else {
        if block.txdata.iter().any(|tx| tx.input.iter().any(|input| !input.witness.is_empty())) {
            return Err(Rejection::consensus("unexpected-witness").with_detail("unexpected witness data found"));
        }
        return Ok(());
    };
    let witness = &coinbase.input[0].witness;
    let reserved = witness.nth(0).filter(|value| value.len() == 32 && witness.len() == 1);
    let Some(reserved) = reserved else {
        return Err(Rejection::consensus("bad-witness-nonce-size").with_detail("invalid witness reserved value size"));
    };
    let actual = block.witness_root().map(|root| Block::compute_witness_commitment(&root, reserved));
    if actual.is_none_or(|actual| actual.as_byte_array() != &commitment[6..38]) {
        return Err(Rejection::consensus("bad-witness-merkle-match").with_detail("witness merkle commitment mismatch"));
    }
    Ok(())
}

/// The rejection of a transaction with missing inputs.
pub(crate) fn missing_inputs() -> Rejection {
    Rejection::new(RejectionKind::MissingInputs, "bad-txns-inputs-missingorspent", "")
}
