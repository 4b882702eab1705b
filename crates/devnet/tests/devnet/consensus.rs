//! Every consensus rule refuses the block that breaks it, with Bitcoin Core's reason, and the chain stays as it was.

use bitcoin::hashes::Hash;
use bitcoin::opcodes::all::OP_CHECKSIG;
use bitcoin::script::Builder;
use bitcoin::{Amount, Block, BlockHash, CompactTarget, ScriptBuf, Sequence, Transaction, Witness};
use paraffin_devnet::{BLOCK_SPACING, BLOCK_TIME_EPOCH, BlockOutcome, RejectionKind};

use crate::support::{Ground, HEIGHT, grind, link, output, seal};

/// Changes a valid block by `change` and checks that it is refused for `reason`.
fn refuses(ground: &Ground, reason: &str, change: impl FnOnce(&mut Block)) {
    let before = ground.node.tip();
    let mut block = ground.candidate();
    change(&mut block);
    let rejection = ground.node.submit_block(block).expect_err(reason);
    assert!(rejection.reason.starts_with(reason), "expected {reason}, got {rejection}");
    assert_eq!(ground.node.tip(), before, "{reason}");
}

/// As [`refuses`], for a block whose second transaction is `tx`.
fn refuses_transaction(ground: &Ground, reason: &str, tx: Transaction) {
    refuses(ground, reason, |block| {
        block.txdata.push(tx);
        seal(block);
    });
}

fn spend(ground: &Ground, height: u32, sats: u64, sequence: Sequence, lock_time: u32) -> Transaction {
    let (outpoint, coin) = ground.coinbase(height);
    ground.exact(&[(outpoint, coin, sequence)], vec![output(sats, ground.script(2))], lock_time)
}

#[test]
fn an_unchanged_candidate_is_accepted_and_a_second_time_known() {
    let ground = Ground::new();
    let block = ground.candidate();
    assert_eq!(ground.node.submit_block(block.clone()), Ok(BlockOutcome::Connected));
    assert_eq!(ground.node.tip().height, HEIGHT + 1);
    assert_eq!(ground.node.submit_block(block), Ok(BlockOutcome::Known));
}

#[test]
fn headers_must_have_work_parent_time_and_version() {
    let ground = Ground::new();
    refuses(&ground, "high-hash", |block| {
        while block.header.target().is_met_by(block.block_hash()) {
            block.header.nonce += 1;
        }
    });
    refuses(&ground, "bad-diffbits", |block| {
        block.header.bits = CompactTarget::from_consensus(0x207f_fffe);
        grind(block);
    });
    refuses(&ground, "prev-blk-not-found", |block| {
        block.header.prev_blockhash = BlockHash::all_zeros();
        grind(block);
    });
    // The median of eleven blocks ten minutes apart is the time of the sixth.
    let median = BLOCK_TIME_EPOCH + BLOCK_SPACING * (HEIGHT - 5);
    refuses(&ground, "time-too-old", |block| {
        block.header.time = median;
        grind(block);
    });
    refuses(&ground, "time-too-new", |block| {
        block.header.time = BLOCK_TIME_EPOCH + BLOCK_SPACING * (HEIGHT + 1) + 7201;
        grind(block);
    });
    refuses(&ground, "bad-version(0x00000003)", |block| {
        block.header.version = bitcoin::block::Version::from_consensus(3);
        grind(block);
    });
    let mut earliest = ground.candidate();
    earliest.header.time = median + 1;
    grind(&mut earliest);
    assert_eq!(ground.node.submit_block(earliest), Ok(BlockOutcome::Connected));
}

#[test]
fn a_block_on_an_invalid_parent_is_refused() {
    let ground = Ground::new();
    let child = ground.candidate();
    ground.node.invalidate(&child.header.prev_blockhash).unwrap();
    let rejection = ground.node.submit_block(child).unwrap_err();
    assert_eq!(rejection.reason, "bad-prevblk");
}

#[test]
fn the_merkle_root_fits_the_transactions_and_no_list_may_repeat_itself() {
    let ground = Ground::new();
    refuses(&ground, "bad-txnmrklroot", |block| {
        block.header.merkle_root = bitcoin::TxMerkleNode::all_zeros();
        grind(block);
    });
    // Three transactions have the same root as four of which the last two are equal.
    let [first, second] = [1, 2].map(|height| spend(&ground, height, 1_000_000, Sequence::MAX, 0));
    refuses(&ground, "bad-txns-duplicate", |block| {
        block.txdata.extend([first, second.clone()]);
        seal(block);
        block.txdata.push(second);
    });
}

#[test]
fn the_first_transaction_and_no_other_is_a_coinbase() {
    let ground = Ground::new();
    refuses(&ground, "bad-blk-length", |block| {
        block.txdata.clear();
        link(block);
    });
    refuses(&ground, "bad-cb-missing", |block| {
        block.txdata[0] = spend(&ground, 1, 1_000_000, Sequence::MAX, 0);
        link(block);
    });
    refuses(&ground, "bad-cb-multiple", |block| {
        let mut second = block.txdata[0].clone();
        second.output.truncate(1);
        block.txdata.push(second);
        seal(block);
    });
    refuses(&ground, "bad-cb-length", |block| {
        let script_sig = &mut block.txdata[0].input[0].script_sig;
        *script_sig = ScriptBuf::from_bytes([script_sig.as_bytes(), &[0x61; 100]].concat());
        seal(block);
    });
    refuses(&ground, "bad-cb-height", |block| {
        block.txdata[0].input[0].script_sig = Builder::new().push_int(i64::from(HEIGHT)).push_int(0).into_script();
        seal(block);
    });
    refuses(&ground, "bad-cb-amount", |block| {
        block.txdata[0].output[0].value += Amount::from_sat(1);
        seal(block);
    });
}

#[test]
fn the_reward_is_subsidy_and_fees_and_halves_every_150_blocks() {
    let ground = Ground::new();
    let fifty = 5_000_000_000;
    let tx = spend(&ground, 1, fifty - 700, Sequence::MAX, 0);
    let mut greedy = ground.candidate();
    greedy.txdata.push(tx.clone());
    greedy.txdata[0].output[0].value = Amount::from_sat(fifty + 701);
    seal(&mut greedy);
    let rejection = ground.node.submit_block(greedy).unwrap_err();
    assert_eq!(rejection.detail, "coinbase pays too much (actual=5000000701 vs limit=5000000700)");
    let mut fair = ground.candidate();
    fair.txdata.push(tx);
    fair.txdata[0].output[0].value = Amount::from_sat(fifty + 700);
    seal(&mut fair);
    assert_eq!(ground.node.submit_block(fair), Ok(BlockOutcome::Connected));

    ground.node.mine(150 - ground.node.tip().height - 1, &ground.script(0)).unwrap();
    assert_eq!(ground.candidate().txdata[0].output[0].value.to_sat(), fifty / 2);
    refuses(&ground, "bad-cb-amount", |block| {
        block.txdata[0].output[0].value = Amount::from_sat(fifty);
        seal(block);
    });
}

#[test]
fn inputs_exist_are_spent_once_are_mature_and_cover_the_outputs() {
    let ground = Ground::new();
    let tx = spend(&ground, 1, 1_000_000, Sequence::MAX, 0);
    let other = spend(&ground, 1, 2_000_000, Sequence::MAX, 0);
    refuses(&ground, "bad-txns-inputs-missingorspent", |block| {
        block.txdata.extend([tx.clone(), other.clone()]);
        seal(block);
    });
    ground.node.mine_block_with(vec![tx], &ground.script(0), true).unwrap();
    refuses_transaction(&ground, "bad-txns-inputs-missingorspent", other);

    // Height 112 may spend the coinbase of height 12, not that of 13.
    let immature = spend(&ground, 13, 1_000_000, Sequence::MAX, 0);
    refuses_transaction(&ground, "bad-txns-premature-spend-of-coinbase", immature);
    let mature = spend(&ground, 12, 1_000_000, Sequence::MAX, 0);
    ground.node.mine_block_with(vec![mature], &ground.script(0), true).unwrap();

    let inflating = spend(&ground, 2, 5_000_000_001, Sequence::MAX, 0);
    refuses_transaction(&ground, "bad-txns-in-belowout", inflating);
}

#[test]
fn transactions_keep_to_the_ranges_of_amounts_and_lists() {
    let ground = Ground::new();
    let with_outputs = |values: &[u64]| {
        let mut tx = spend(&ground, 1, 0, Sequence::MAX, 0);
        tx.output = values.iter().map(|value| output(*value, ground.script(2))).collect();
        tx
    };
    let most = 2_100_000_000_000_000;
    refuses_transaction(&ground, "bad-txns-vout-empty", with_outputs(&[]));
    refuses_transaction(&ground, "bad-txns-vout-negative", with_outputs(&[u64::MAX]));
    refuses_transaction(&ground, "bad-txns-vout-toolarge", with_outputs(&[most + 1]));
    refuses_transaction(&ground, "bad-txns-txouttotal-toolarge", with_outputs(&[most, 1]));
    let mut twice = spend(&ground, 1, 1_000_000, Sequence::MAX, 0);
    twice.input.push(twice.input[0].clone());
    refuses_transaction(&ground, "bad-txns-inputs-duplicate", twice);
    let mut null = spend(&ground, 1, 1_000_000, Sequence::MAX, 0);
    null.input.push(bitcoin::TxIn::default());
    refuses_transaction(&ground, "bad-txns-prevout-null", null);
}

#[test]
fn scripts_are_verified_for_every_kind_of_output() {
    use paraffin_devnet::OutputKind;
    let ground = Ground::new();
    let (outpoint, coin) = ground.coinbase(1);
    let outputs = OutputKind::ALL.map(|kind| output(900_000_000, ground.wallet.script(3, kind))).to_vec();
    let funding = ground.exact(&[(outpoint, coin, Sequence::MAX)], outputs, 0);
    ground.node.mine_block_with(vec![funding.clone()], &ground.script(0), true).unwrap();
    for (kind, vout) in OutputKind::ALL.into_iter().zip(0..) {
        let outpoint = bitcoin::OutPoint { txid: funding.compute_txid(), vout };
        let coin = funding.output[vout as usize].clone();
        let tx = ground.exact(&[(outpoint, coin, Sequence::MAX)], vec![output(1_000_000, ground.script(2))], 0);
        // The signature covers the outputs, so another amount makes it wrong.
        let mut stolen = tx.clone();
        stolen.output[0].value = Amount::from_sat(1_000_001);
        refuses_transaction(&ground, "block-script-verify-flag-failed", stolen);
        let hash = ground.node.mine_block_with(vec![tx], &ground.script(0), true);
        assert!(hash.is_ok(), "{kind:?}: {hash:?}");
    }
}

#[test]
fn the_witness_commitment_is_there_where_needed_and_right() {
    let ground = Ground::new();
    let tx = spend(&ground, 1, 1_000_000, Sequence::MAX, 0);
    refuses(&ground, "bad-witness-nonce-size", |block| {
        block.txdata[0].input[0].witness = Witness::from_slice(&[[0_u8; 31]]);
        grind(block);
    });
    refuses(&ground, "bad-witness-merkle-match", |block| {
        block.txdata.push(tx.clone());
        link(block);
    });
    refuses(&ground, "unexpected-witness", |block| {
        block.txdata.push(tx.clone());
        block.txdata[0].output.truncate(1);
        link(block);
    });
    let mut plain = ground.candidate();
    plain.txdata[0].output.truncate(1);
    plain.txdata[0].input[0].witness.clear();
    link(&mut plain);
    assert_eq!(ground.node.submit_block(plain), Ok(BlockOutcome::Connected), "no witness needs no commitment");
}

#[test]
fn lock_times_hold_in_blocks() {
    let ground = Ground::new();
    let next = HEIGHT + 1;
    let early = spend(&ground, 1, 1_000_000, Sequence::ENABLE_LOCKTIME_NO_RBF, next);
    refuses_transaction(&ground, "bad-txns-nonfinal", early);
    // Times are compared with the median time past of the parent, which is that of height 105.
    let median = BLOCK_TIME_EPOCH + BLOCK_SPACING * (HEIGHT - 5);
    let early = spend(&ground, 1, 1_000_000, Sequence::ENABLE_LOCKTIME_NO_RBF, median);
    refuses_transaction(&ground, "bad-txns-nonfinal", early);
    let by_height = spend(&ground, 1, 1_000_000, Sequence::ENABLE_LOCKTIME_NO_RBF, next - 1);
    let by_time = spend(&ground, 2, 1_000_000, Sequence::ENABLE_LOCKTIME_NO_RBF, median - 1);
    let disabled = spend(&ground, 3, 1_000_000, Sequence::MAX, next + 1000);
    ground.node.mine_block_with(vec![by_height, by_time, disabled], &ground.script(0), true).unwrap();
}

#[test]
fn relative_lock_times_hold_in_blocks() {
    let ground = Ground::new();
    // The coinbase of height 5 is 106 blocks deep in the block at height 111.
    let early = spend(&ground, 5, 1_000_000, Sequence::from_height(107), 0);
    refuses_transaction(&ground, "bad-txns-nonfinal", early);
    // From the median time past of height 4 (the third of the first four blocks and the genesis) to that of height 110.
    let since = BLOCK_TIME_EPOCH + BLOCK_SPACING * 2;
    let until = BLOCK_TIME_EPOCH + BLOCK_SPACING * (HEIGHT - 5);
    let intervals = u16::try_from((until - since) / 512).unwrap();
    let early = spend(&ground, 5, 1_000_000, Sequence::from_512_second_intervals(intervals + 1), 0);
    refuses_transaction(&ground, "bad-txns-nonfinal", early);
    let by_height = spend(&ground, 5, 1_000_000, Sequence::from_height(106), 0);
    let by_time = spend(&ground, 4, 1_000_000, Sequence::from_512_second_intervals(intervals), 0);
    ground.node.mine_block_with(vec![by_height, by_time], &ground.script(0), true).unwrap();
}

#[test]
fn weight_and_signature_operations_are_bounded() {
    let ground = Ground::new();
    let mut heavy = spend(&ground, 1, 1_000_000, Sequence::MAX, 0);
    heavy.input[0].witness.push(vec![0; 4_000_000]);
    refuses_transaction(&ground, "bad-blk-weight", heavy);
    let mut large = spend(&ground, 1, 1_000_000, Sequence::MAX, 0);
    large.output[0].script_pubkey = ScriptBuf::from_bytes(vec![0x6a; 1_000_000]);
    refuses_transaction(&ground, "bad-blk-length", large);

    let thousand = ScriptBuf::from_bytes(vec![OP_CHECKSIG.to_u8(); 1000]);
    let (outpoint, coin) = ground.coinbase(1);
    let many = |count: usize| {
        let outputs = vec![output(1_000, thousand.clone()); count];
        ground.exact(&[(outpoint, coin.clone(), Sequence::MAX)], outputs, 0)
    };
    refuses_transaction(&ground, "bad-blk-sigops", many(21));
    ground.node.mine_block_with(vec![many(20)], &ground.script(0), true).unwrap();
}

#[test]
fn an_invalid_block_found_during_a_reorganisation_leaves_the_old_chain_in_place() {
    let ground = Ground::new();
    let fork_parent = ground.node.block_hash(HEIGHT - 1).unwrap();
    let old_tip = ground.node.tip();
    // A second node at the fork point makes the branch.
    let other = Ground::new();
    other.node.invalidate(&other.node.tip().hash).unwrap();
    assert_eq!(other.node.tip().hash, fork_parent);
    let mut bad = other.candidate();
    bad.txdata.push(spend(&ground, 60, 1_000_000, Sequence::MAX, 0));
    seal(&mut bad);
    assert_eq!(ground.node.submit_block(bad.clone()), Ok(BlockOutcome::SideChain), "its coins are not looked at yet");
    let mut child = ground.candidate();
    child.header.prev_blockhash = bad.block_hash();
    grind(&mut child);
    let rejection = ground.node.submit_block(child.clone()).unwrap_err();
    assert_eq!(rejection.reason, "bad-txns-premature-spend-of-coinbase");
    assert_eq!(ground.node.tip(), old_tip);
    let again = ground.node.submit_block(child).unwrap_err();
    assert_eq!((again.kind, again.reason.as_ref()), (RejectionKind::Duplicate, "duplicate-invalid"));
    ground.node.mine_block(&ground.script(0)).unwrap();
}
