//! Beside the published `ord`, on the same chain of a real Bitcoin Core: every answer is equal.

use std::collections::{BTreeSet, HashMap};

use bitcoin::consensus::encode::serialize;
use bitcoin::{Address, OutPoint, Transaction, Txid};
use ordinals::Sat;
use paraffin_ordinals_index::OrdinalsIndex;
use paraffin_ordinals_index::envelope::inscription_of;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::inscription::Inscription;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use serde::Serialize;
use serde_json::{Value, json};

use crate::chain::{Chain, extend, random_chain, tip};
use crate::instance::{Instance, NETWORK, PLAIN, WITH_SATS};
use crate::node::{Core, Ord};

/// Both sides of a comparison.
struct Sides<'a> {
    index: OrdinalsIndex,
    ord: &'a Ord,
    chain: &'a Chain,
    transactions: HashMap<Txid, &'a Transaction>,
    compared: u64,
}

impl Sides<'_> {
    fn same(&mut self, path: &str, ours: &impl Serialize) -> Value {
        let theirs = self.ord.json(path);
        let ours = serde_json::to_value(ours).unwrap();
        assert_eq!(ours, theirs, "{path}");
        self.compared += 1;
        ours
    }

    fn inscription(&self, id: &InscriptionId) -> Inscription {
        inscription_of(self.transactions[&id.txid], id).unwrap()
    }

    fn inscriptions(&mut self) {
        let mut sequence = 0;
        while let Some(facts) = self.index.facts(sequence).unwrap() {
            let id = facts.id;
            let inscription = self.inscription(&id);
            let delegate =
                inscription.delegate().filter(|id| self.index.sequence(&InscriptionQuery::Id(*id)).unwrap().is_some());
            let delegated = delegate.map(|id| self.inscription(&id));
            let record = facts.record(&inscription, delegated.as_ref(), &|_| true);
            let number = record.number;
            self.same(&format!("/inscription/{id}"), &record);
            self.same(&format!("/inscription/{number}"), &record);
            let query = InscriptionQuery::Number(number);
            assert_eq!(self.index.sequence(&query).unwrap(), Some(sequence));
            let children = self.index.children(&id, 0).unwrap().unwrap();
            self.same(&format!("/children/{id}"), &children);
            let parents = self.index.parents(&id, 0).unwrap().unwrap();
            let parents = json!({ "ids": parents.ids, "more": parents.more, "page_index": parents.page_index });
            self.same(&format!("/r/parents/{id}"), &parents);
            self.content(&id, &inscription, delegated.as_ref());
            sequence += 1;
        }
        assert!(sequence > 100, "{sequence} inscriptions");
        for page in 0..=sequence / 100 {
            self.same(&format!("/inscriptions/{page}"), &self.index.inscriptions(page).unwrap());
        }
    }

    /// What `ord_content` answers from: the delegate's body, else the inscription's own.
    fn content(&mut self, id: &InscriptionId, inscription: &Inscription, delegated: Option<&Inscription>) {
        if inscription.delegate().is_some() && delegated.is_none() || inscription.content_encoding.is_some() {
            return;
        }
        let shown = delegated.unwrap_or(inscription);
        if shown.content_encoding.is_some() {
            return;
        }
        let (status, body) = self.ord.get(&format!("/content/{id}")).unwrap();
        let ours = shown.body.as_deref();
        assert_eq!(
            (ours.is_some(), ours.unwrap_or_default()),
            (status == 200, if status == 200 { &body[..] } else { &[] }),
            "{id}"
        );
        self.compared += 1;
    }

    fn runes(&mut self) {
        let mut pages = 0;
        let mut ids = Vec::new();
        loop {
            let page = self.index.runes(pages).unwrap();
            self.same(&format!("/runes/{pages}"), &page);
            ids.extend(page.entries.iter().map(|(id, _)| *id));
            pages += 1;
            if !page.more {
                break;
            }
        }
        assert!(ids.len() >= 10, "{} runes", ids.len());
        for id in ids {
            let record = self.index.rune(&RuneQuery::Id(id)).unwrap().unwrap();
            let (name, number) = (record.entry.spaced_rune, record.entry.number);
            self.same(&format!("/rune/{id}"), &record);
            self.same(&format!("/rune/{}", percent_encoded(&name.to_string())), &record);
            assert_eq!(self.index.rune(&RuneQuery::Name(name.rune)).unwrap().as_ref(), Some(&record));
            assert_eq!(self.index.rune(&RuneQuery::Number(number)).unwrap(), Some(record));
        }
    }

    fn outputs(&mut self) {
        let txids: Vec<(Txid, u32)> =
            self.transactions.iter().map(|(txid, transaction)| (*txid, transaction.output.len() as u32)).collect();
        for (txid, outputs) in txids {
            for vout in 0..outputs {
                let outpoint = OutPoint { txid, vout };
                let record = self.index.output(&outpoint, usize::MAX).unwrap().unwrap();
                self.same(&format!("/output/{outpoint}"), &record);
            }
        }
        for outpoint in [OutPoint::null(), paraffin_ordinals_index::unbound_outpoint()] {
            let record = self.index.output(&outpoint, usize::MAX).unwrap().unwrap();
            self.same(&format!("/output/{outpoint}"), &record);
        }
    }

    fn addresses(&mut self) {
        let scripts: BTreeSet<_> = self
            .transactions
            .values()
            .flat_map(|transaction| &transaction.output)
            .map(|output| output.script_pubkey.clone())
            .collect();
        for script in scripts {
            let Ok(address) = Address::from_script(&script, NETWORK.bitcoin()) else { continue };
            self.same(
                &format!("/address/{address}"),
                &self.index.address_record(&address, usize::MAX).unwrap().unwrap(),
            );
            for (kind, name) in [
                (OutputKind::Any, "any"),
                (OutputKind::Cardinal, "cardinal"),
                (OutputKind::Inscribed, "inscribed"),
                (OutputKind::Runic, "runic"),
            ] {
                let outputs = self.index.outputs_of(&address, kind, usize::MAX).unwrap().unwrap();
                self.same(&format!("/outputs/{address}?type={name}"), &outputs);
            }
        }
    }

    fn blocks(&mut self) {
        for (height, block) in (0u32..).zip(&self.chain.blocks) {
            let record = self.index.block_record(height, block.clone(), usize::MAX).unwrap().unwrap();
            self.same(&format!("/block/{height}"), &record);
            let page = self.index.inscriptions_of_block(height, 0).unwrap();
            self.same(&format!("/inscriptions/block/{height}"), &page);
        }
        self.same("/blocks", &self.index.newest_blocks().unwrap());
        let all: Vec<(Txid, Transaction)> =
            self.transactions.iter().map(|(txid, transaction)| (*txid, (*transaction).clone())).collect();
        for (txid, transaction) in all {
            self.same(&format!("/tx/{txid}"), &self.index.transaction_record(txid, transaction).unwrap());
        }
    }

    fn sats(&mut self) {
        let mut sats: BTreeSet<u64> =
            [0, 1, 50 * 100_000_000 - 1, 50 * 100_000_000, 450 * 100_000_000, Sat::LAST.n()].into();
        let mut sequence = 0;
        while let Some(facts) = self.index.facts(sequence).unwrap() {
            sats.extend(facts.record(&Inscription::default(), None, &|_| true).sat.map(Sat::n));
            sequence += 1;
        }
        for sat in sats {
            let record = self.index.sat(Sat(sat), usize::MAX, 0).unwrap();
            if record.satpoint.is_some_and(|satpoint| satpoint.outpoint == OutPoint::null()) {
                // The published program fails on sats that are lost.
                continue;
            }
            self.same(&format!("/sat/{sat}"), &record);
        }
    }
}

fn percent_encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn compare(program: &std::path::Path, core: &Core, instance: &Instance, chain: &Chain, has_sats: bool) {
    core.wait_for_index(chain.height());
    assert_eq!(core.call("getbestblockhash", &json!([])), json!(tip(chain).to_string()));
    let ord = Ord::start(program, core, has_sats, chain.blocks.len() as u32);
    let transactions = chain.blocks.iter().flat_map(|block| &block.txdata);
    let transactions = transactions.map(|transaction| (transaction.compute_txid(), transaction)).collect();
    let mut sides = Sides { index: instance.index(), ord: &ord, chain, transactions, compared: 0 };
    sides.inscriptions();
    sides.runes();
    sides.outputs();
    sides.addresses();
    sides.blocks();
    sides.sats();
    let bytes: usize = chain.blocks.iter().map(|block| serialize(block).len()).sum();
    println!(
        "{} answers equal at height {} with sats {has_sats} ({} transactions, {bytes} bytes of blocks)",
        sides.compared,
        chain.height(),
        sides.transactions.len()
    );
}

/// Before and after a reorg, with sats and without.
#[test]
fn every_answer_equals_that_of_the_published_ord() {
    let (Some(program), Some(bitcoind)) = (paraffin_testkit::ord(), paraffin_testkit::bitcoind()) else { return };
    let seed = std::env::var("PARAFFIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2026);
    for (seed, has_sats) in [(seed, false), (seed + 1, true)] {
        println!("seed {seed}");
        let mut core = Core::start(&bitcoind);
        let old = random_chain(seed, 158, 12);
        let mut instance = Instance::new(if has_sats { WITH_SATS } else { PLAIN });
        old.blocks.iter().skip(1).for_each(|block| core.submit(block));
        instance.follow(&old, 0);
        compare(&program, &core, &instance, &old, has_sats);

        let mut new = random_chain(seed, 151, 12);
        assert_eq!(tip(&new), old.blocks[151].block_hash());
        new.reseed(1);
        extend(&mut new, 166, 12);
        new.blocks.iter().skip(152).for_each(|block| core.submit(block));
        for _ in 151..158 {
            instance.writer.undo_block().unwrap();
        }
        instance.follow(&new, 152);
        core.restart();
        compare(&program, &core, &instance, &new, has_sats);
    }
}
