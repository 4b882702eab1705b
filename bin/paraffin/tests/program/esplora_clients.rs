//! Published Esplora clients against `/v4/<KEY>/esplora`, on chains with reorgs, beside both kinds of node; and an indexer
//! that walks back through `/v4/<KEY>/reorg/<N>`.

use std::collections::HashSet;

use crate::support::http;
use crate::support::served::{Backend, Ledger, Numbers, Served, address};
use bdk_esplora::EsploraExt as _;
use bdk_wallet::{KeychainKind, Wallet};
use bitcoin::{Address, Amount, FeeRate, Network, OutPoint, ScriptBuf, Txid};
use esplora_client::{AsyncClient, BlockingClient, Builder};
use serde_json::{Value, json};

fn clients(served: &Served) -> (BlockingClient, AsyncClient) {
    // Without retries, so that an error of ours is not hidden.
    let url = format!("http://{}{}", served.address, served.keyed("/esplora"));
    let builder = || Builder::new(&url).max_retries(0);
    (builder().build_blocking(), builder().build_async().unwrap())
}

/// Calls both clients and compares their answers.
macro_rules! both {
    ($served:expr, $clients:expr, $method:ident($($argument:expr),*)) => {{
        let (blocking, asynchronous) = $clients;
        let answer = blocking.$method($($argument),*).unwrap_or_else(|error| panic!("{}: {error}", stringify!($method)));
        let other = $served.backend.block_on(asynchronous.$method($($argument),*)).unwrap();
        assert_eq!(answer, other, "{}", stringify!($method));
        answer
    }};
}

/// Every call of the client against what the raw blocks say.
fn check_client(served: &Served) {
    let clients = clients(served);
    let clients = (&clients.0, &clients.1);
    let ledger = Ledger::of(&served.backend);
    let tip = served.backend.height();
    let block = &ledger.blocks[tip as usize];
    let hash = block.block_hash();

    assert_eq!(both!(served, clients, get_height()), tip);
    assert_eq!(both!(served, clients, get_tip_hash()), hash);
    for height in [0, 1, tip / 2, tip] {
        assert_eq!(both!(served, clients, get_block_hash(height)), ledger.blocks[height as usize].block_hash());
    }
    assert_eq!(both!(served, clients, get_header_by_hash(&hash)), block.header);
    assert_eq!(both!(served, clients, get_block_by_hash(&hash)).as_ref(), Some(block));
    let status = both!(served, clients, get_block_status(&hash));
    assert_eq!((status.in_best_chain, status.height, status.next_best), (true, Some(tip), None));
    let info = both!(served, clients, get_block_info(&hash));
    assert_eq!((info.id, info.height, info.tx_count), (hash, tip, block.txdata.len() as u64));
    assert_eq!(info.merkle_root, block.header.merkle_root);
    let txids: Vec<Txid> = block.txdata.iter().map(bitcoin::Transaction::compute_txid).collect();
    assert_eq!(both!(served, clients, get_block_txids(&hash)), txids);
    let records = both!(served, clients, get_block_txs(&hash, None));
    assert_eq!(records.iter().map(|record| record.txid).collect::<Vec<_>>(), txids[..txids.len().min(25)]);
    let infos = both!(served, clients, get_block_infos(Some(tip)));
    assert_eq!(infos.iter().map(|info| info.height).collect::<Vec<_>>(), (0..=tip).rev().take(10).collect::<Vec<_>>());

    // A block with payments, and everything that is known about them.
    let (height, paying) = (1..=tip)
        .rev()
        .map(|height| (height, &ledger.blocks[height as usize]))
        .find(|(_, block)| block.txdata.len() > 1)
        .unwrap();
    for (position, transaction) in paying.txdata.iter().enumerate() {
        let txid = transaction.compute_txid();
        assert_eq!(both!(served, clients, get_tx(&txid)).as_ref(), Some(transaction));
        assert_eq!(both!(served, clients, get_txid_at_block_index(&paying.block_hash(), position)), Some(txid));
        let status = both!(served, clients, get_tx_status(&txid));
        assert_eq!(
            (status.confirmed, status.block_height, status.block_hash),
            (true, Some(height), Some(paying.block_hash()))
        );
        let record = both!(served, clients, get_tx_info(&txid)).unwrap();
        assert_eq!((record.txid, record.size, record.weight), (txid, transaction.total_size(), transaction.weight()));
        assert_eq!(record.vout.len(), transaction.output.len());
        for (input, spent) in record.vin.iter().zip(&transaction.input).filter(|_| position > 0) {
            let output = &ledger.outputs[&spent.previous_output].output;
            let prevout = input.prevout.as_ref().unwrap();
            assert_eq!((prevout.value, &prevout.scriptpubkey), (output.value, &output.script_pubkey));
        }
        let spends = both!(served, clients, get_tx_outspends(&txid));
        assert_eq!(spends.len(), transaction.output.len());
        for (vout, spend) in (0..).zip(&spends) {
            let expected = ledger.spends.get(&OutPoint { txid, vout });
            assert_eq!((spend.spent, spend.txid), (expected.is_some(), expected.map(|(spender, ..)| *spender)));
            assert_eq!(both!(served, clients, get_output_status(&txid, u64::from(vout))).as_ref(), Some(spend));
        }
        let proof = both!(served, clients, get_merkle_proof(&txid)).unwrap();
        assert_eq!((proof.block_height, proof.pos), (height, position));
        let proof = both!(served, clients, get_merkle_block(&txid)).unwrap();
        let (mut matches, mut places) = (Vec::new(), Vec::new());
        assert_eq!(proof.txn.extract_matches(&mut matches, &mut places).unwrap(), paying.header.merkle_root);
        assert_eq!((proof.header, matches), (paying.header, vec![txid]));
    }

    for script in &served.scripts {
        let address = Address::from_script(script, Network::Regtest).unwrap();
        let history: Vec<Txid> =
            ledger.histories.get(script).into_iter().flatten().rev().map(|(_, _, txid)| *txid).collect();
        let stats = both!(served, clients, get_address_stats(&address));
        assert_eq!(stats.chain_stats.tx_count as usize, history.len());
        assert_eq!(both!(served, clients, get_scripthash_stats(script)).chain_stats, stats.chain_stats);
        let balance = ledger.balance(&HashSet::from([script.clone()]));
        assert_eq!((stats.chain_stats.funded_txo_sum - stats.chain_stats.spent_txo_sum).to_sat(), balance);
        let unspent = both!(served, clients, get_address_utxos(&address));
        assert_eq!(unspent.iter().map(|output| output.value.to_sat()).sum::<u64>(), balance);
        assert_eq!(both!(served, clients, get_scripthash_utxos(script)), unspent);
        let mut seen: Vec<Txid> = Vec::new();
        loop {
            let page = both!(served, clients, get_address_txs(&address, seen.last().copied()));
            assert_eq!(both!(served, clients, get_scripthash_txs(script, seen.last().copied())), page);
            seen.extend(page.iter().map(|record| record.txid));
            if page.len() < 25 {
                break;
            }
        }
        assert_eq!(seen, history);
        assert!(both!(served, clients, get_mempool_address_txs(&address)).is_empty());
    }

    // What does not exist is reported as such, not as an error.
    let nothing: Txid = "00".repeat(32).parse().unwrap();
    assert_eq!(both!(served, clients, get_tx(&nothing)), None);
    assert_eq!(both!(served, clients, get_tx_info(&nothing)), None);
    assert_eq!(both!(served, clients, get_merkle_proof(&nothing)), None);
    assert_eq!(both!(served, clients, get_txid_at_block_index(&hash, 10_000)), None);
    assert!(!both!(served, clients, get_tx_status(&nothing)).confirmed);
    let fees = both!(served, clients, get_fee_estimates());
    let floor = FeeRate::from_sat_per_kwu(25);
    assert!([1, 6, 25, 144, 504, 1008].iter().all(|target| fees[target] >= floor), "{fees:?}");
}

/// Unconfirmed transactions, broadcast, and what the node refuses.
fn check_mempool(served: &mut Served) {
    let pair = clients(served);
    let clients = (&pair.0, &pair.1);
    assert_eq!(both!(served, clients, get_mempool_stats()).count, 0);
    let coin = served.spendable().swap_remove(0);
    let to = served.scripts[3].clone();
    let output = bitcoin::TxOut { value: Amount::from_sat(30_000), script_pubkey: to.clone() };
    let payment = served.wallet.pay(std::slice::from_ref(&coin), &[output], &served.scripts[1], 5_000).unwrap();
    let txid = payment.compute_txid();
    assert_eq!(clients.0.broadcast(&payment).unwrap(), txid);
    assert_eq!(both!(served, clients, get_mempool_txids()), [txid]);
    assert_eq!(both!(served, clients, get_mempool_stats()).count, 1);
    let recent = both!(served, clients, get_mempool_recent_txs());
    assert_eq!((recent[0].txid, recent.len()), (txid, 1));
    assert_eq!(both!(served, clients, get_tx(&txid)).as_ref(), Some(&payment));
    let paid = Address::from_script(&to, Network::Regtest).unwrap();
    let pending = both!(served, clients, get_mempool_address_txs(&paid));
    assert_eq!((pending.len(), pending[0].txid, pending[0].status.confirmed), (1, txid, false));
    assert!(pending[0].vin[0].prevout.is_some());
    assert_eq!(both!(served, clients, get_mempool_scripthash_txs(&to)), pending);
    let spend = both!(served, clients, get_output_status(&coin.0.txid, u64::from(coin.0.vout))).unwrap();
    assert_eq!((spend.spent, spend.txid), (true, Some(txid)));

    // A second transaction that spends the same coin and pays no more is refused, in the node's own words.
    let output = bitcoin::TxOut { value: Amount::from_sat(40_000), script_pubkey: to };
    let conflict = served.wallet.pay(&[coin], &[output], &served.scripts[2], 1_000).unwrap();
    let refused = clients.0.broadcast(&conflict).unwrap_err().to_string();
    assert!(refused.contains("400") && refused.contains("-26") && refused.contains("fee"), "{refused}");
    served.mine_mempool();
    served.wait_for_tip();
    assert!(both!(served, clients, get_tx_status(&txid)).confirmed);
    assert!(both!(served, clients, get_mempool_txids()).is_empty());
}

fn client_passes(backend: Backend, blocks: u32) {
    let mut served = Served::start(backend);
    let mut numbers = Numbers::new(5);
    served.mine_traffic(&mut numbers, blocks);
    served.mine_mempool();
    served.wait_for_tip();
    check_client(&served);
    for depth in [1, 9, 40] {
        let stale = served.backend.hash(served.backend.height());
        let stale_coinbase = served.backend.block(&stale).txdata[0].compute_txid();
        served.reorganise(&mut numbers, depth);
        served.mine_mempool();
        served.wait_for_tip();
        check_client(&served);
        let (blocking, _) = clients(&served);
        assert!(!blocking.get_block_status(&stale).unwrap().in_best_chain);
        // The new branch may have the same coinbase at the same height.
        let is_there = Ledger::of(&served.backend).outputs.contains_key(&OutPoint { txid: stale_coinbase, vout: 0 });
        assert_eq!(blocking.get_tx_status(&stale_coinbase).unwrap().confirmed, is_there);
    }
    check_mempool(&mut served);
}

/// row MR05
#[test]
fn esplora_client_passes_on_a_devnet_with_reorgs() {
    client_passes(Backend::devnet(), 140);
}

/// row MR05
#[test]
fn esplora_client_passes_beside_bitcoin_core_with_reorgs() {
    let Some(backend) = Backend::core() else { return };
    client_passes(backend, 112);
}

/// A wallet from two descriptors, and all scripts that it may use.
struct Descriptors {
    external: String,
    internal: String,
}

impl Descriptors {
    fn new() -> Self {
        let master = bitcoin::bip32::Xpriv::new_master(Network::Regtest, &[3; 32]).unwrap();
        Self { external: format!("wpkh({master}/84h/1h/0h/0/*)"), internal: format!("wpkh({master}/84h/1h/0h/1/*)") }
    }

    fn wallet(&self) -> Wallet {
        let parameters = Wallet::create(self.external.clone(), self.internal.clone());
        parameters.network(Network::Regtest).create_wallet_no_persist().unwrap()
    }
}

fn scripts_of(wallet: &Wallet) -> HashSet<ScriptBuf> {
    let script = |keychain, index| wallet.peek_address(keychain, index).address.script_pubkey();
    (0..80)
        .flat_map(|index| [KeychainKind::External, KeychainKind::Internal].map(|chain| script(chain, index)))
        .collect()
}

fn wallet_finds_its_balance(backend: Backend) {
    let mut served = Served::start(backend);
    let descriptors = Descriptors::new();
    let mut wallet = descriptors.wallet();
    let scripts = scripts_of(&wallet);
    let script = |wallet: &Wallet, index| wallet.peek_address(KeychainKind::External, index).address.script_pubkey();
    // More than two pages on one address, others with gaps.
    for index in [0, 0, 1, 7, 19, 30] {
        served.backend.mine(10, &script(&wallet, index));
    }
    served.backend.mine(105, &served.scripts[0].clone());
    served.wait_for_tip();
    let url = format!("http://{}{}", served.address, served.keyed("/esplora"));
    let client = bdk_esplora::esplora_client::Builder::new(&url).max_retries(0).build_blocking();

    let scan = client.full_scan(wallet.start_full_scan(), 20, 4).unwrap();
    wallet.apply_update(scan).unwrap();
    let balance = |served: &Served| Ledger::of(&served.backend).balance(&scripts);
    assert!(balance(&served) > 0);
    assert_eq!(wallet.balance().total().to_sat(), balance(&served));

    // It pays, and sees the payment unconfirmed and confirmed.
    let mut builder = wallet.build_tx();
    builder.add_recipient(served.scripts[2].clone(), Amount::from_sat(123_456_789));
    builder.fee_rate(FeeRate::from_sat_per_vb(5).unwrap());
    let mut proposal = builder.finish().unwrap();
    #[allow(deprecated)]
    let is_final = wallet.sign(&mut proposal, bdk_wallet::SignOptions::default()).unwrap();
    assert!(is_final);
    let payment = proposal.extract_tx().unwrap();
    client.broadcast(&payment).unwrap();
    let sync = client.sync(wallet.start_sync_with_revealed_spks(), 4).unwrap();
    wallet.apply_update(sync).unwrap();
    assert!(wallet.balance().trusted_pending > Amount::ZERO, "{:?}", wallet.balance());
    served.backend.mine(1, &served.scripts[0].clone());
    served.wait_for_tip();
    let sync = client.sync(wallet.start_sync_with_revealed_spks(), 4).unwrap();
    wallet.apply_update(sync).unwrap();
    assert_eq!(wallet.balance().total().to_sat(), balance(&served));

    // Reorgs take receipts away and bring others; the same wallet and a fresh one agree with the blocks.
    for depth in [3, 12] {
        served.backend.mine(depth - 1, &script(&wallet, 2));
        served.backend.drop_blocks(depth);
        // Each time another address, for a node refuses a block that it has invalidated.
        served.backend.mine(depth + 2, &script(&wallet, depth));
        served.mine_mempool();
        served.wait_for_tip();
        let scan = client.full_scan(wallet.start_full_scan(), 20, 4).unwrap();
        wallet.apply_update(scan).unwrap();
        assert_eq!(wallet.balance().total().to_sat(), balance(&served), "after a reorg of depth {depth}");
        let mut fresh = descriptors.wallet();
        let scan = client.full_scan(fresh.start_full_scan(), 20, 1).unwrap();
        fresh.apply_update(scan).unwrap();
        assert_eq!(fresh.balance(), wallet.balance());
    }

    // The REST data API finds the same for the account.
    let master = bitcoin::bip32::Xpriv::new_master(Network::Regtest, &[3; 32]).unwrap();
    let secp = bitcoin::secp256k1::Secp256k1::new();
    let path: bitcoin::bip32::DerivationPath = "84h/1h/0h".parse().unwrap();
    let account = bitcoin::bip32::Xpub::from_priv(&secp, &master.derive_priv(&secp, &path).unwrap());
    for account in [account.to_string(), format!("wpkh({account}/<0;1>/*)")] {
        let answer =
            http::post(&served.address, &served.keyed("/get-account-balance"), &json!({ "account": account })).json();
        assert_eq!(answer["data"], json!({ "balance": balance(&served), "unconfirmedBalance": 0 }), "{account}");
        let answer =
            http::post(&served.address, &served.keyed("/get-account-utxos"), &json!({ "account": account })).json();
        let listed = answer["data"]["utxos"].as_array().unwrap();
        assert_eq!(listed.iter().map(|one| one["value"].as_u64().unwrap()).sum::<u64>(), balance(&served));
    }
}

/// row RB09
#[test]
fn a_bdk_wallet_finds_its_balance_on_a_devnet_with_reorgs() {
    wallet_finds_its_balance(Backend::devnet());
}

#[test]
fn a_bdk_wallet_finds_its_balance_beside_bitcoin_core_with_reorgs() {
    let Some(backend) = Backend::core() else { return };
    wallet_finds_its_balance(backend);
}

/// An indexer as they are found in the wild: it compares its own hashes with its node's, from its own tip downwards, and
/// rolls back to the last one that is equal.
struct WalkingIndexer {
    hashes: Vec<String>,
    reorg_depth_max: usize,
}

impl WalkingIndexer {
    /// The height that it rolls back to; `None` when its depth does not suffice.
    fn walk_back(&self, address: &str, path: &str) -> Option<usize> {
        let call = |method: &str, params: Value| {
            let body = json!({ "id": 1_763_636_000_u32, "jsonrpc": "2.0", "method": method, "params": params });
            let answer = http::post(address, path, &body).json();
            assert_eq!((&answer["id"], &answer["error"]), (&json!(1_763_636_000_u32), &Value::Null), "{answer}");
            answer["result"].clone()
        };
        let own = self.hashes.len() - 1;
        let count = call("getblockcount", json!([])).as_u64().unwrap() as usize;
        assert!(count <= own);
        (own.saturating_sub(self.reorg_depth_max)..=own).rev().find(|height| {
            let response = call("getblockhash", json!([height]));
            assert_eq!(response.as_str().unwrap().len(), 64);
            response == self.hashes[*height]
        })
    }
}

fn walks_back(backend: Backend) {
    let mut served = Served::start(backend);
    let script = served.scripts[0].clone();
    served.backend.mine(130, &script);
    served.wait_for_tip();
    let hashes: Vec<String> = (0..=130).map(|height| served.backend.hash(height).to_string()).collect();
    let mut indexer = WalkingIndexer { hashes: hashes.clone(), reorg_depth_max: 100 };
    for target in [129_usize, 100, 31, 130] {
        let path = served.keyed(&format!("/reorg/{target}"));
        assert_eq!(indexer.walk_back(&served.address, &path), Some(target));
    }
    // One whose depth does not reach stops short; with more it goes down to the genesis block.
    let genesis = served.keyed("/reorg/0");
    assert_eq!(indexer.walk_back(&served.address, &genesis), None);
    indexer.reorg_depth_max = 131;
    assert_eq!(indexer.walk_back(&served.address, &genesis), Some(0));
    // After the walk it goes on from the real node, here the same path with the tip as its height.
    assert_eq!(indexer.walk_back(&served.address, &served.keyed("/reorg/130")), Some(130));

    let call = |target: u64, method: &str, params: Value| {
        http::call(&served.address, &served.keyed(&format!("/reorg/{target}")), method, params)
    };
    assert_eq!(call(60, "getbestblockhash", json!([]))["result"], hashes[60]);
    for target in [131, 5_000] {
        for (method, params) in [("getbestblockhash", json!([])), ("getblockhash", json!([131]))] {
            let response = call(target, method, params);
            assert_eq!(
                (&response["error"]["code"], &response["error"]["message"], &response["result"]),
                (&json!(-8), &json!("Block height out of range"), &Value::Null),
                "{method} at {target}"
            );
        }
    }
    let made_up = call(60, "getblockhash", json!([61]))["result"].clone();
    for (method, params) in [("getblock", json!([made_up, 0])), ("getblockheader", json!([made_up]))] {
        assert_eq!(call(60, method, params)["error"], json!({ "code": -5, "message": "Block not found" }), "{method}");
    }
    // Real blocks pass through, as bytes in hex.
    let block = call(60, "getblock", json!([hashes[60], 0]))["result"].clone();
    let block: bitcoin::Block = bitcoin::consensus::encode::deserialize_hex(block.as_str().unwrap()).unwrap();
    assert_eq!(block.block_hash().to_string(), hashes[60]);
    assert_eq!(call(60, "getrawmempool", json!([]))["result"], json!([]));
}

/// row RO01
/// row RO02
/// row RO03
/// row RO06
/// row RO08
#[test]
fn an_indexer_walks_back_to_the_height_on_a_devnet() {
    walks_back(Backend::devnet());
}

/// row RO04
#[test]
fn an_indexer_walks_back_to_the_height_beside_bitcoin_core() {
    let Some(backend) = Backend::core() else { return };
    walks_back(backend);
}

#[test]
fn addresses_are_found_by_how_they_begin_unless_the_search_is_off() {
    let mut served = Served::start(Backend::devnet());
    let script = served.scripts[0].clone();
    served.backend.mine(3, &script);
    served.backend.mine(1, &served.scripts[1].clone());
    served.wait_for_tip();
    let (first, second) = (address(&served.scripts[0]), address(&served.scripts[1]));
    assert_eq!(served.esplora(&format!("/address-prefix/{}", &first[..20])), json!([first]));
    assert_eq!(served.esplora(&format!("/address-prefix/{}", first[..20].to_uppercase())), json!([first]));
    let mut all = vec![first.clone(), second.clone()];
    all.sort();
    assert_eq!(served.esplora("/address-prefix/bcrt1"), json!(all));
    assert_eq!(served.esplora("/address-prefix/bcrt1zzz"), json!([]));
    let by_name = http::result(&served.address, &served.keyed(""), "esplora_address-prefix", json!(["bcrt1"]));
    assert_eq!(by_name, json!(all));
    // An address whose only block is undone is found no more.
    served.backend.drop_blocks(1);
    served.backend.mine(2, &script);
    served.wait_for_tip();
    assert_eq!(served.esplora("/address-prefix/bcrt1"), json!([first]));

    let mut off = Served::start_with(Backend::devnet(), "address_search = false");
    off.backend.mine(1, &script);
    off.wait_for_tip();
    let refused = http::get(&off.address, &off.keyed("/esplora/address-prefix/bcrt1"));
    assert_eq!((refused.status, refused.text().as_str()), (400, "address search disabled"));
}
