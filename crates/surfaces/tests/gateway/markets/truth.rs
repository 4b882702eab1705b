//! Operations of the market, read from traces, transactions and balances alone: the delegated calls of pools, which the index
//! skips, and the answer of each.

use bitcoin::{Address, Block, Network};
use paraffin_alkanes::{CallKind, ChainState, StateKey, StateReader as _, Trace, Transfer};
use paraffin_devnet::market::{BTC_USD_POOL, FACTORY, USD_TOKEN, WRAPPED_BITCOIN};
use paraffin_primitives::AlkaneId;
use paraffin_store::Snapshot;
use serde_json::{Value, json};

use crate::traces::{Frame, frames};

/// An operation on the market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Create { amounts: [u128; 2], liquidity: u128 },
    Swap { sold: Transfer, bought: Transfer },
    Mint { amounts: [u128; 2], liquidity: u128 },
    Burn { amounts: [u128; 2], liquidity: u128 },
    Wrap(u128),
    Unwrap(u128),
}

/// An operation, with its address and its position in the chain.
#[derive(Debug, Clone)]
pub(super) struct Deed {
    pub(super) height: u32,
    pub(super) transaction: u32,
    /// Index among the operations of the transaction.
    pub(super) number: usize,
    pub(super) txid: String,
    pub(super) vout: u32,
    pub(super) time: u32,
    pub(super) address: String,
    pub(super) successful: bool,
    /// The pool and its alkanes.
    pub(super) pool: Option<Pool>,
    pub(super) doing: Doing,
    /// Index among all calls of the chain.
    sequence: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) id: AlkaneId,
    pub(super) tokens: [AlkaneId; 2],
    pub(super) height: u32,
}

/// The whole market.
pub(super) struct Truth {
    /// The oldest first.
    pub(super) deeds: Vec<Deed>,
    /// Operations on the pool of bitcoin and dollars, which no factory lists; the oldest first.
    pub(super) dollars: Vec<Deed>,
    /// The oldest first.
    pub(super) pools: Vec<Pool>,
    pub(super) state: ChainState,
}

impl Deed {
    /// `swap`, `mint` and so on.
    pub(super) fn kind(&self) -> &'static str {
        match self.doing {
            Doing::Create { .. } => "creation",
            Doing::Swap { .. } => "swap",
            Doing::Mint { .. } => "mint",
            Doing::Burn { .. } => "burn",
            Doing::Wrap(_) => "wrap",
            Doing::Unwrap(_) => "unwrap",
        }
    }

    pub(super) fn is_on(&self, pool: AlkaneId) -> bool {
        self.pool.is_some_and(|known| known.id == pool)
    }

    pub(super) fn trades(&self, token: AlkaneId) -> bool {
        matches!(self.doing, Doing::Swap { .. }) && self.pool.is_some_and(|pool| pool.tokens.contains(&token))
    }

    /// The members that its row must have.
    pub(super) fn row(&self) -> Value {
        let mut row = json!({
            "id": if self.is_on(BTC_USD_POOL) {
                format!("{}:{BTC_USD_POOL}:{}", self.txid, self.number)
            } else {
                format!("{}:{}", self.txid, self.number)
            },
            "eventIndex": self.number,
            "transactionId": self.txid,
            "blockHeight": self.height,
            "transactionIndex": self.transaction,
            "vout": self.vout,
            "timestamp": time(self.time),
            "successful": self.successful,
            "address": self.address,
        });
        if let Some(pool) = self.pool {
            row["poolBlockId"] = pool.id.block.to_string().into();
            row["poolTxId"] = pool.id.tx.to_string().into();
        }
        let mut put = |name: &str, value: String| row[name] = value.into();
        match self.doing {
            Doing::Swap { sold, bought } => {
                put("sellerAddress", self.address.clone());
                for (name, moved) in [("sold", sold), ("bought", bought)] {
                    put(&format!("{name}TokenBlockId"), moved.id.block.to_string());
                    put(&format!("{name}TokenTxId"), moved.id.tx.to_string());
                    put(&format!("{name}Amount"), moved.value.to_string());
                }
            }
            Doing::Wrap(amount) | Doing::Unwrap(amount) => put("amount", amount.to_string()),
            Doing::Create { amounts, liquidity }
            | Doing::Mint { amounts, liquidity }
            | Doing::Burn { amounts, liquidity } => {
                let actor = match self.kind() {
                    "creation" => "creatorAddress",
                    "mint" => "minterAddress",
                    _ => "burnerAddress",
                };
                put(actor, self.address.clone());
                let tokens = self.pool.expect("liquidity is a pool's").tokens;
                for (index, (amount, token)) in amounts.into_iter().zip(tokens).enumerate() {
                    put(&format!("token{index}Amount"), amount.to_string());
                    put(&format!("token{index}BlockId"), token.block.to_string());
                    put(&format!("token{index}TxId"), token.tx.to_string());
                }
                put("lpTokenAmount", liquidity.to_string());
            }
        }
        row
    }
}

/// A Unix time as answers write it, by another way than theirs.
pub(super) fn time(unix: u32) -> String {
    let (days, seconds) = (unix / 86_400, unix % 86_400);
    // Days since 1 March of the year 0 (proleptic), by eras of 400 years.
    let shifted = i64::from(days) + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year_of_era + era * 400 + year;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

fn sum(transfers: &[Transfer], id: AlkaneId) -> u128 {
    transfers.iter().filter(|transfer| transfer.id == id).map(|transfer| transfer.value).sum()
}

/// Incoming and returned alkanes of every delegated call on a contract in a successful message.
pub(super) fn delegated(trace: &Trace, contract: AlkaneId) -> Vec<[Vec<Transfer>; 2]> {
    let calls = frames(trace).0.into_iter();
    let calls = calls.filter(|frame| frame.kind == CallKind::Delegate && frame.myself == contract);
    calls.filter_map(|frame| Some([frame.incoming, frame.answer?])).collect()
}

/// The pool of bitcoin and dollars.
const DOLLARS: Pool = Pool { id: BTC_USD_POOL, tokens: [USD_TOKEN, WRAPPED_BITCOIN], height: 0 };

/// The operation of a call on the pool of bitcoin and dollars.
fn dollars(frame: &Frame) -> Option<Doing> {
    if frame.myself != DOLLARS.id || frame.kind != CallKind::Delegate {
        return None;
    }
    let (came, went) = (&frame.incoming[..], frame.answer.as_deref()?);
    let gained = DOLLARS.tokens.map(|token| sum(came, token).cast_signed() - sum(went, token).cast_signed());
    let amounts = gained.map(i128::unsigned_abs);
    match frame.inputs.first()? {
        1 => Some(Doing::Mint { amounts, liquidity: sum(went, DOLLARS.id) - sum(came, DOLLARS.id) }),
        2 | 3 => Some(Doing::Burn { amounts, liquidity: sum(came, DOLLARS.id) - sum(went, DOLLARS.id) }),
        5 => {
            let moved = [0, 1].map(|index: usize| Transfer { id: DOLLARS.tokens[index], value: amounts[index] });
            let [first, second] = moved;
            Some(if gained[0] > 0 {
                Doing::Swap { sold: first, bought: second }
            } else {
                Doing::Swap { sold: second, bought: first }
            })
        }
        _ => None,
    }
}

impl Truth {
    pub(super) fn read(snapshot: &Snapshot, blocks: &[Block]) -> Self {
        let newest = u32::try_from(blocks.len() - 1).unwrap();
        let state = ChainState::at(snapshot, newest);
        let mut truth = Self { deeds: Vec::new(), dollars: Vec::new(), pools: Vec::new(), state: state.clone() };
        for (height, block) in (0..).zip(blocks) {
            for message in state.block_traces(height).unwrap() {
                let (mut frames, created) = frames(&message.trace);
                if !message.stands {
                    for frame in &mut frames {
                        frame.answer = None;
                    }
                }
                let transaction = &block.txdata[message.transaction_index as usize];
                // The market's messages point at output 0.
                let script = &transaction.output[0].script_pubkey;
                let address = Address::from_script(script, Network::Regtest).unwrap().to_string();
                for frame in frames {
                    let txid = message.outpoint.txid.to_string();
                    let dollars = dollars(&frame);
                    let (pool, doing) = match dollars {
                        Some(doing) => (Some(DOLLARS), doing),
                        None => match truth.doing(height, &frame, &created) {
                            Some(found) => found,
                            None => continue,
                        },
                    };
                    let sequence = truth.deeds.len() + truth.dollars.len();
                    let deeds = if dollars.is_some() { &mut truth.dollars } else { &mut truth.deeds };
                    let number = deeds.iter().rev().take_while(|deed| deed.txid == txid).count();
                    deeds.push(Deed {
                        sequence,
                        height,
                        transaction: message.transaction_index,
                        number,
                        txid,
                        vout: message.outpoint.vout,
                        time: block.header.time,
                        address: address.clone(),
                        successful: frame.answer.is_some(),
                        pool,
                        doing,
                    });
                }
            }
        }
        truth
    }

    fn doing(&mut self, height: u32, frame: &Frame, created: &[AlkaneId]) -> Option<(Option<Pool>, Doing)> {
        let opcode = *frame.inputs.first()?;
        let answer = frame.answer.as_deref();
        if frame.myself == WRAPPED_BITCOIN && frame.kind == CallKind::Call {
            let given = answer.map_or(0, |answer| sum(answer, WRAPPED_BITCOIN));
            let taken = if answer.is_some() { sum(&frame.incoming, WRAPPED_BITCOIN) } else { 0 };
            return match opcode {
                77 => Some((None, Doing::Wrap(given - taken))),
                78 => Some((None, Doing::Unwrap(taken - given))),
                _ => None,
            };
        }
        if frame.kind != CallKind::Delegate {
            return None;
        }
        if opcode == 0 && created.contains(&frame.myself) && frame.inputs.len() == 7 {
            let answer = answer?;
            let factory = AlkaneId { block: frame.inputs[5], tx: frame.inputs[6] };
            assert_eq!(factory, FACTORY);
            let mut tokens = [1, 3].map(|at: usize| AlkaneId { block: frame.inputs[at], tx: frame.inputs[at + 1] });
            tokens.sort();
            let pool = Pool { id: frame.myself, tokens, height };
            self.pools.push(pool);
            let amounts = tokens.map(|token| sum(&frame.incoming, token) - sum(answer, token));
            return Some((Some(pool), Doing::Create { amounts, liquidity: sum(answer, pool.id) }));
        }
        let pool = *self.pools.iter().find(|pool| pool.id == frame.myself)?;
        let empty = Vec::new();
        let (came, went) = answer.map_or((&empty[..], &empty[..]), |answer| (&frame.incoming[..], answer));
        let net = |amounts: (&[Transfer], &[Transfer])| {
            pool.tokens.map(|token| sum(amounts.0, token) - sum(amounts.1, token))
        };
        let doing = match opcode {
            1 => Doing::Mint { amounts: net((came, went)), liquidity: sum(went, pool.id) - sum(came, pool.id) },
            2 => Doing::Burn { amounts: net((went, came)), liquidity: sum(came, pool.id) - sum(went, pool.id) },
            3 => {
                let sold = frame.incoming[0].id;
                let bought = if pool.tokens[0] == sold { pool.tokens[1] } else { pool.tokens[0] };
                Doing::Swap {
                    sold: Transfer { id: sold, value: sum(came, sold) },
                    bought: Transfer { id: bought, value: sum(went, bought) },
                }
            }
            _ => return None,
        };
        Some((Some(pool), doing))
    }

    /// The rows of some deeds on pools of any kind, the newest first.
    pub(super) fn rows_everywhere(&self, which: impl Fn(&Deed) -> bool) -> Vec<Value> {
        let mut deeds: Vec<&Deed> = self.deeds.iter().chain(&self.dollars).filter(|deed| which(deed)).collect();
        deeds.sort_by_key(|deed| std::cmp::Reverse(deed.sequence));
        deeds.into_iter().map(Deed::row).collect()
    }

    /// The rows of some deeds, the newest first.
    pub(super) fn rows(&self, which: impl Fn(&Deed) -> bool) -> Vec<Value> {
        self.deeds.iter().rev().filter(|deed| which(deed)).map(Deed::row).collect()
    }

    pub(super) fn balance(&self, what: AlkaneId, who: AlkaneId) -> u128 {
        self.state.balance(what, who).unwrap()
    }

    /// An integer in a contract's storage.
    pub(super) fn slot(&self, who: AlkaneId, name: &str) -> u128 {
        let stored = self.state.get(&StateKey::Storage(who, name.as_bytes().to_vec())).unwrap();
        stored.map_or(0, |bytes| u128::from_le_bytes(bytes.try_into().unwrap()))
    }

    pub(super) fn text(&self, who: AlkaneId, name: &str) -> String {
        let stored = self.state.get(&StateKey::Storage(who, name.as_bytes().to_vec())).unwrap();
        String::from_utf8(stored.unwrap_or_default()).unwrap()
    }
}
