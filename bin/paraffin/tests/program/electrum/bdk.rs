//! The published `bdk_electrum`: a wallet that asks ours and one that asks the published `electrs`, on the same node.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bdk_electrum::BdkElectrumClient;
use bdk_electrum::electrum_client::Client;
use bdk_wallet::chain::{BlockId, ChainPosition};
use bdk_wallet::{Balance, KeychainKind, Wallet};
use bitcoin::absolute::LockTime;
use bitcoin::{Amount, FeeRate, Network, OutPoint, Psbt, ScriptBuf, Transaction, TxOut, Txid};

use super::electrs::{Electrs, settle};
use super::{Wire, script_hash};
use crate::support::free_port;
use crate::support::served::{Backend, Ledger, Numbers, Served};

/// Scripts without a history after which a scan ends.
const GAP: usize = 20;
/// Scripts in one batch of requests.
const BATCH: usize = 10;

/// The wallet with the one server that it asks.
struct Asking {
    client: BdkElectrumClient<Client>,
    wallet: Wallet,
}

/// All that a wallet knows of the chain.
#[derive(Debug, PartialEq)]
struct State {
    tip: BlockId,
    balance: Balance,
    /// Where each transaction is confirmed, and its fee where the wallet knows what it spends.
    transactions: BTreeMap<Txid, (Option<BlockId>, Option<Amount>)>,
    unspent: BTreeSet<(OutPoint, Amount)>,
}

fn wallet() -> Wallet {
    let master = bitcoin::bip32::Xpriv::new_master(Network::Regtest, &[5; 32]).unwrap();
    let descriptor = |chain: u8| format!("wpkh({master}/84h/1h/0h/{chain}/*)");
    let parameters = Wallet::create(descriptor(0), descriptor(1)).network(Network::Regtest);
    parameters.create_wallet_no_persist().unwrap()
}

impl Asking {
    fn new(address: &str) -> Self {
        let client = BdkElectrumClient::new(Client::new(&format!("tcp://{address}")).unwrap());
        Self { client, wallet: wallet() }
    }

    fn scan(&mut self) {
        let found = self.client.full_scan(self.wallet.start_full_scan(), GAP, BATCH, true).unwrap();
        self.wallet.apply_update(found).unwrap();
    }

    fn sync(&mut self) {
        let found = self.client.sync(self.wallet.start_sync_with_revealed_spks(), BATCH, true).unwrap();
        self.wallet.apply_update(found).unwrap();
    }

    fn state(&self) -> State {
        let transactions = self.wallet.transactions().map(|one| {
            let block = match one.chain_position {
                ChainPosition::Confirmed { anchor, .. } => Some(anchor.block_id),
                ChainPosition::Unconfirmed { .. } => None,
            };
            (one.tx_node.txid, (block, self.wallet.calculate_fee(&one.tx_node.tx).ok()))
        });
        State {
            tip: self.wallet.latest_checkpoint().block_id(),
            balance: self.wallet.balance(),
            transactions: transactions.collect(),
            unspent: self.wallet.list_unspent().map(|coin| (coin.outpoint, coin.txout.value)).collect(),
        }
    }

    fn sign(&self, mut proposal: Psbt) -> Transaction {
        #[allow(deprecated)]
        let is_final = self.wallet.sign(&mut proposal, bdk_wallet::SignOptions::default()).unwrap();
        assert!(is_final);
        proposal.extract_tx().unwrap()
    }
}

fn script(wallet: &Wallet, keychain: KeychainKind, index: u32) -> ScriptBuf {
    wallet.peek_address(keychain, index).address.script_pubkey()
}

/// Both wallets after the same sync: equal in everything, and as the raw blocks say while nothing is unconfirmed.
fn equal(served: &mut Served, wires: &mut [Wire; 2], asking: &mut [Asking; 2], update: fn(&mut Asking)) -> State {
    let own: HashSet<ScriptBuf> = (0..40)
        .flat_map(|index| {
            [KeychainKind::External, KeychainKind::Internal].map(|chain| script(&asking[0].wallet, chain, index))
        })
        .collect();
    let hashes: Vec<String> = own.iter().chain(&served.scripts).map(script_hash).collect();
    settle(served, wires, &hashes);
    for one in asking.iter_mut() {
        update(one);
    }
    let [ours, theirs] = [asking[0].state(), asking[1].state()];
    assert_eq!(ours, theirs, "ours on the left");
    assert_eq!((ours.tip.height, ours.tip.hash), (served.backend.height(), served.backend.hash(ours.tip.height)));
    if served.backend.mempool().is_empty() {
        assert_eq!(ours.balance.total().to_sat(), Ledger::of(&served.backend).balance(&own));
    }
    ours
}

#[test]
fn a_wallet_on_bdk_electrum_sees_what_it_sees_through_the_published_electrs() {
    let Some(core) = Backend::core() else { return };
    let address = format!("127.0.0.1:{}", free_port());
    let mut served = Served::start_with(core, &format!("[electrum]\nlisten = \"{address}\"\n"));
    let mut numbers = Numbers::new(3);
    let others = served.scripts.clone();
    let own = |index| script(&wallet(), KeychainKind::External, index);
    // With gaps between the scripts that have a history.
    for index in [0, 0, 1, 7, 19] {
        served.backend.mine(1, &own(index));
    }
    served.backend.mine(101, &others[0]);
    served.backend.mine(2, &own(3));
    served.wait_for_tip();
    let Some(electrs) = Electrs::start(&served) else { return };
    let mut asking = [&address, &electrs.address].map(|address| Asking::new(address));
    let mut wires = [&address, &electrs.address].map(|address| Wire::connect(address));
    let mut equal = |served: &mut Served, asking: &mut [Asking; 2], update| equal(served, &mut wires, asking, update);

    let scanned = equal(&mut served, &mut asking, Asking::scan);
    assert_eq!((scanned.transactions.len(), scanned.unspent.len()), (7, 7));
    assert!(scanned.balance.immature > Amount::ZERO && scanned.balance.confirmed > Amount::ZERO);

    // It receives.
    let coin = served.spendable().into_iter().find(|(_, output)| others.contains(&output.script_pubkey)).unwrap();
    let output = TxOut { value: Amount::from_sat(1_234_567), script_pubkey: own(2) };
    served.backend.submit(&served.wallet.pay(&[coin], &[output], &others[1], 5_000).unwrap());
    let received = equal(&mut served, &mut asking, Asking::sync);
    assert_eq!(received.balance.untrusted_pending.to_sat(), 1_234_567);

    // It sends, and replaces what it sent.
    let wallet = &mut asking[0].wallet;
    let mut builder = wallet.build_tx();
    builder.add_recipient(others[2].clone(), Amount::from_sat(500_000_000)).fee_rate(FeeRate::from_sat_per_vb_u32(3));
    // Without its lock time, so that a block of a lower height may have it after the reorganisation.
    builder.nlocktime(LockTime::ZERO);
    let proposal = builder.finish().unwrap();
    let first = asking[0].sign(proposal);
    asking[0].client.transaction_broadcast(&first).unwrap();
    let sent = equal(&mut served, &mut asking, Asking::sync);
    assert_eq!(sent.transactions[&first.compute_txid()].0, None);
    let mut builder = asking[0].wallet.build_fee_bump(first.compute_txid()).unwrap();
    builder.fee_rate(FeeRate::from_sat_per_vb_u32(20)).nlocktime(LockTime::ZERO);
    let proposal = builder.finish().unwrap();
    let second = asking[0].sign(proposal);
    asking[0].client.transaction_broadcast(&second).unwrap();
    let replaced = equal(&mut served, &mut asking, Asking::sync);
    assert!(!replaced.transactions.contains_key(&first.compute_txid()));
    assert!(replaced.transactions[&second.compute_txid()].1 > sent.transactions[&first.compute_txid()].1);

    // A block has all of it, and a reorganisation takes it and the coins of the block away for a time, or for good.
    served.backend.mine(1, &own(4));
    let confirmed = equal(&mut served, &mut asking, Asking::sync);
    assert!(confirmed.transactions.values().all(|(block, _)| block.is_some()));
    served.reorganise(&mut numbers, 2);
    let reorganised = equal(&mut served, &mut asking, Asking::sync);
    assert!(reorganised.transactions.contains_key(&second.compute_txid()));
    assert_ne!(reorganised.transactions, confirmed.transactions);

    // Who scans now finds the same as who followed.
    let mut anew = [&address, &electrs.address].map(|address| Asking::new(address));
    assert_eq!(equal(&mut served, &mut anew, Asking::scan), reorganised);
}
