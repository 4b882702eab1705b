//! Answers about the block that a contract gets by calling 800000000:n (protocol B13).

use bitcoin::consensus::encode;
use bitcoin::{Block, Transaction};
use paraffin_primitives::AlkaneId;

use super::session::Session;
use super::stop::Stop;
use crate::codec::{ALKANES_PROTOCOL, Artifact, Cellpack};

/// First part of the targets that are no contracts.
pub(crate) const BLOCK: u128 = 800_000_000;

/// The contract whose mints are counted, and the operation that is one.
const MINTED: AlkaneId = AlkaneId { block: 2, tx: 0 };
const MINT: u128 = 77;

/// The data that 800000000:`tx` answers.
///
/// # Errors
/// Nothing is there, or the block has no coinbase: the caller fails.
pub(crate) fn answer(session: &mut Session<'_, '_>, tx: u128) -> Result<Vec<u8>, Stop> {
    let block = session.world.block;
    if let Ok(coinbase) = coinbase(block) {
        session.world.state.work.add(coinbase.total_size() as u64);
        session.world.state.check_limits()?;
    }
    match tx {
        0 => Ok(encode::serialize(&block.header)),
        1 => coinbase(block).map(encode::serialize),
        2 => {
            let mints = *session.world.diesel_mints.get_or_insert_with(|| minting_transactions(block));
            Ok(mints.to_le_bytes().to_vec())
        }
        3 => {
            let outputs = coinbase(block)?.output.iter();
            let sum: u128 = outputs.map(|output| u128::from(output.value.to_sat())).sum();
            Ok(sum.to_le_bytes().to_vec())
        }
        _ => Err(Stop::Revert(format!("Unknown precompiled contract: [{BLOCK}, {tx}]"))),
    }
}

fn coinbase(block: &Block) -> Result<&Transaction, Stop> {
    block.txdata.first().ok_or_else(|| Stop::revert("Block has no transactions"))
}

/// Transactions with a message that mints 2:0, each once; malformed ones do not count.
fn minting_transactions(block: &Block) -> u128 {
    block.txdata.iter().filter(|transaction| mints(transaction)).count() as u128
}

fn mints(transaction: &Transaction) -> bool {
    let Some(Artifact::Runestone(runestone)) = Artifact::read(transaction) else { return false };
    let stones = runestone.protostones().unwrap_or_default();
    stones.iter().filter(|stone| stone.protocol_tag == ALKANES_PROTOCOL).any(|stone| {
        let cellpack = Cellpack::decode(&stone.message);
        cellpack.is_ok_and(|cellpack| cellpack.target == MINTED && cellpack.inputs.first() == Some(&MINT))
    })
}
