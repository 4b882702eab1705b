//! The instance of the other tests, three blocks further: block 4 deploys a free mint as 2:1 and gives 1,000 units to the
//! miner, block 5 mints 100 to the payee, block 6 is empty.

use std::sync::Arc;

use bitcoin::script::Builder;
use bitcoin::{OutPoint, ScriptBuf, Transaction, Txid};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, append_envelope, encode_protostones, gzip,
};
use paraffin_alkanes::views::ViewLimits;
use paraffin_alkanes::{Builtins, CodeCache, Parameters};
use paraffin_gateway::AlkanesParts;
use paraffin_primitives::{AlkaneId, Network};

use crate::chain::{payment, script_of};
use crate::instance::{Instance, Setup};

pub(super) const TOKEN: AlkaneId = AlkaneId { block: 2, tx: 1 };
pub(super) const CREATE: AlkaneId = AlkaneId { block: 1, tx: 0 };

pub(super) fn contract(name: &str) -> Vec<u8> {
    let path = format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(super) fn parts() -> AlkanesParts {
    let id = |block, tx| AlkaneId { block, tx };
    AlkanesParts {
        parameters: Parameters::of(Network::Regtest),
        builtins: Arc::new(Builtins::given([
            (id(2, 0), contract("genesis-token")),
            (id(32, 0), contract("wrapped-bitcoin")),
            (id(32, 1), contract("auth-token")),
        ])),
        codes: Arc::new(CodeCache::default()),
        limits: ViewLimits { fuel_max: 50_000_000, ..ViewLimits::default() },
    }
}

/// Up to 16 bytes of text as the integer that contracts read names from.
pub(super) fn text(text: &str) -> u128 {
    let mut bytes = [0; 16];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    u128::from_le_bytes(bytes)
}

/// A message that calls a contract; refunds go to the first output.
pub(super) fn message(target: AlkaneId, inputs: &[u128], pointer: Option<u32>) -> Protostone {
    Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: inputs.to_vec() }.encode(),
        pointer,
        refund: Some(0),
        ..Protostone::default()
    }
}

/// A transaction that pays a script and has protostones.
pub(super) fn with_stones(spends: OutPoint, to: ScriptBuf, stones: &[Protostone]) -> Transaction {
    let runestone = Runestone { protocol: encode_protostones(stones).unwrap(), ..Runestone::default() };
    payment(&[spends], &[(546, to), (0, runestone.encode(2).unwrap())])
}

/// A transaction that calls a contract; everything goes to its first output.
pub(super) fn calling(
    spends: OutPoint,
    to: ScriptBuf,
    target: AlkaneId,
    inputs: &[u128],
    code: Option<&[u8]>,
) -> Transaction {
    let mut transaction = with_stones(spends, to, &[message(target, inputs, Some(0))]);
    if let Some(code) = code {
        let mut witness = bitcoin::Witness::new();
        witness.push(append_envelope(Builder::new(), &gzip(code)).into_script());
        witness.push([0xc0; 33]);
        transaction.input[0].witness = witness;
    }
    transaction
}

pub(super) struct Scenario {
    pub(super) instance: Instance,
    pub(super) deploy: Txid,
    pub(super) mint: Txid,
}

impl Scenario {
    pub(super) async fn start() -> Self {
        Self::with(Setup { alkanes: Some(parts()), ..Setup::default() }).await
    }

    pub(super) async fn with(setup: Setup) -> Self {
        let mut instance = Instance::with(setup).await;
        let network = instance.chain.network;
        let (miner, payee) = (script_of(network, &instance.miner), script_of(network, &instance.payee));
        let coin = |instance: &Instance, height: usize| OutPoint {
            txid: instance.chain.blocks[height].txdata[0].compute_txid(),
            vout: 0,
        };
        let inputs = [0, 1_000, 100, 5, text("Paraffin Wax"), 0, text("WAX")];
        let deploy = calling(coin(&instance, 2), miner, CREATE, &inputs, Some(&contract("free-mint")));
        let mint = calling(coin(&instance, 3), payee, TOKEN, &[77], None);
        let (deploy_id, mint_id) = (deploy.compute_txid(), mint.compute_txid());
        for transactions in [vec![deploy], vec![mint], vec![]] {
            let script = script_of(network, &crate::chain::taproot(network, 2));
            instance.chain.mine(script, transactions);
            instance.node.add_block(instance.chain.blocks.last().unwrap());
        }
        Self { instance, deploy: deploy_id, mint: mint_id }
    }
}

/// The txid with its bytes reversed.
pub(super) fn turned(txid: &Txid) -> String {
    use bitcoin::hashes::Hash as _;
    let mut bytes = txid.to_byte_array();
    bytes.reverse();
    Txid::from_byte_array(bytes).to_string()
}
