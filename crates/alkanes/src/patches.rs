//! Changes of the state that the reference makes by decree, on mainnet alone (protocol B2).

use bitcoin::Txid;
use paraffin_primitives::{AlkaneId, Network};

use crate::{Parameters, StateKey, World};

/// The AMM factory's two contracts whose owner is set, 4:65523 and 4:65522.
const FACTORY: [AlkaneId; 2] = [AlkaneId { block: 4, tx: 65_523 }, AlkaneId { block: 4, tx: 65_522 }];

/// Their owner's token while it is set.
const FACTORY_OWNER: AlkaneId = AlkaneId { block: 2, tx: 69_805 };

/// First block in which the owner is set.
const OWNED_FROM: u64 = 913_301;

/// First block in which there is none any more.
const OWNERLESS_FROM: u64 = 950_564;

/// The transaction whose protostones are ignored; what its inputs held is lost.
const IGNORED: &str = "5cbb0c466dd08d7af9223d45105fbbf0fdc9fb7cda4831c183d6b0cb5ba60fb0";

/// Whether the protostones of a transaction are ignored.
pub(crate) fn ignores_protostones(parameters: &Parameters, txid: &Txid) -> bool {
    parameters.network == Network::Mainnet && txid.to_string() == IGNORED
}

/// Values that are set in every block, before its transactions.
pub(crate) fn apply(world: &mut World<'_>) {
    if world.parameters.network != Network::Mainnet || world.height < OWNED_FROM {
        return;
    }
    let owner = if world.height < OWNERLESS_FROM { FACTORY_OWNER } else { AlkaneId::default() };
    let mut bytes = owner.block.to_le_bytes().to_vec();
    bytes.extend_from_slice(&owner.tx.to_le_bytes());
    for contract in FACTORY {
        world.state.put_direct(StateKey::Storage(contract, b"/auth".to_vec()), bytes.clone());
        if world.height >= OWNERLESS_FROM {
            let balance = StateKey::Balance { what: FACTORY_OWNER, who: contract };
            world.state.put_direct(balance, 0u128.to_le_bytes().to_vec());
        }
    }
}
