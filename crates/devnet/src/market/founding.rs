//! How the market is founded: block by block, what each block needs was made in the blocks before.

use bitcoin::Txid;
use paraffin_alkanes::Transfer;
use paraffin_alkanes::codec::Cellpack;
use paraffin_primitives::AlkaneId;

use super::compose::Order;
use super::{DIESEL, FACTORY, FOUNDER, Market, MarketError, NAMES, WRAPPED_BITCOIN, postage};
use crate::node::Node;

/// Blocks that the founding takes.
pub(super) const STEPS: u32 = 8;

const AUTH_TOKEN: &[u8] = include_bytes!("../../../../contracts/wasm/auth-token.wasm");
const BEACON_PROXY: &[u8] = include_bytes!("../../../../contracts/wasm/beacon-proxy.wasm");
const UPGRADEABLE_BEACON: &[u8] = include_bytes!("../../../../contracts/wasm/upgradeable-beacon.wasm");
const UPGRADEABLE_PROXY: &[u8] = include_bytes!("../../../../contracts/wasm/upgradeable-proxy.wasm");
const AMM_POOL: &[u8] = include_bytes!("../../../../contracts/wasm/amm-pool.wasm");
const AMM_FACTORY: &[u8] = include_bytes!("../../../../contracts/wasm/amm-factory.wasm");
const FREE_MINT: &[u8] = include_bytes!("../../../../contracts/wasm/free-mint.wasm");
const OWNED_TOKEN: &[u8] = include_bytes!("../../../../contracts/wasm/owned-token.wasm");

/// Numbers n of the contracts `4:n` (docs/contracts.md).
const AUTH_TOKEN_NUMBER: u128 = 65_517;
const POOL_NUMBER: u128 = 65_520;
const FACTORY_CODE_NUMBER: u128 = 65_524;
const BEACON_NUMBER: u128 = 0xbeac0;
const POOL_TEMPLATE_NUMBER: u128 = 0xbeac1;

/// Opcodes of proxies: set up, and give back what came in.
const PROXY_INITIALIZE: u128 = 0x7fff;
const PROXY_FORWARD: u128 = 0x8fff;
/// Opcode of factory and pool that does nothing.
const FORWARD: u128 = 50;
const NAME: u128 = 99;
const MINT: u128 = 77;
const CREATE_POOL: u128 = 1;

/// Coins that the founder deploys with, in satoshis.
const FOUNDER_COINS: u64 = 12;
const FOUNDER_COIN_SAT: u64 = 50_000_000;
/// What each trader starts with, in satoshis.
const TRADER_SAT: u64 = 700_000_000;
/// What each trader wraps first, in satoshis.
const WRAPPED_SAT: u64 = 200_000_000;
/// The trader who mints the free token first and founds its pool.
const FREE_FOUNDER: usize = 2;
/// Supply of the token with an owner, in base units.
const OWNED_SUPPLY: u128 = 2_000_000_000_000;
/// Base units that one mint of the free token gives.
const FREE_VALUE: u128 = 100_000_000_000;

/// A new contract `4:n`, or a call to one.
fn call(block: u128, tx: u128, inputs: &[u128]) -> Cellpack {
    Cellpack { target: AlkaneId { block, tx }, inputs: inputs.to_vec() }
}

/// Text of up to 16 bytes as one integer, the first byte lowest.
fn word(text: &str) -> u128 {
    text.bytes().rev().fold(0, |word, byte| word << 8 | u128::from(byte))
}

/// Text as the contracts' strings take it: 16 bytes in an integer, a zero byte at its end.
pub(super) fn string(text: &str) -> Vec<u128> {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    bytes.chunks(16).map(|chunk| chunk.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))).collect()
}

impl Market {
    /// The transactions of block number `step` of the founding.
    pub(super) fn found(&mut self, node: &Node, step: u32) -> Result<Vec<Txid>, MarketError> {
        match step {
            0 => {
                let founder = (0..FOUNDER_COINS).map(|_| (FOUNDER, FOUNDER_COIN_SAT));
                let traders = (1..NAMES.len()).map(|trader| (trader, TRADER_SAT));
                self.fund(node, &founder.chain(traders).collect::<Vec<_>>())
            }
            1 => self.deploy_all(
                node,
                &[
                    (AUTH_TOKEN, call(3, AUTH_TOKEN_NUMBER, &[NAME])),
                    (AMM_POOL, call(3, POOL_NUMBER, &[FORWARD])),
                    (AMM_FACTORY, call(3, FACTORY_CODE_NUMBER, &[FORWARD])),
                    (BEACON_PROXY, call(3, POOL_TEMPLATE_NUMBER, &[PROXY_FORWARD])),
                ],
            ),
            2 => {
                let owned = [&[1, 1, OWNED_SUPPLY][..], &string("Paraffin Dollar"), &string("PUSD")].concat();
                let free = [0, 0, FREE_VALUE, 0, word("Open Candle"), 0, word("CNDL")];
                let sent = self.deploy_all(
                    node,
                    &[
                        (UPGRADEABLE_BEACON, call(3, BEACON_NUMBER, &[PROXY_INITIALIZE, 4, POOL_NUMBER, 1])),
                        (UPGRADEABLE_PROXY, call(3, FACTORY.tx, &[PROXY_INITIALIZE, 4, FACTORY_CODE_NUMBER, 1])),
                        (OWNED_TOKEN, call(1, 0, &owned)),
                        (FREE_MINT, call(1, 0, &free)),
                    ],
                )?;
                self.deployed = sent[2..].to_vec();
                Ok(sent)
            }
            3 => self.set_up_factory(node),
            4 => self.each_trader(node, |market, _| market.wrap(WRAPPED_SAT)),
            5 => self.first_mints(node),
            6 => self.distribute(node),
            _ => self.first_pools(node),
        }
    }

    fn deploy_all(&mut self, node: &Node, contracts: &[(&[u8], Cellpack)]) -> Result<Vec<Txid>, MarketError> {
        let purse = self.purse(node, FOUNDER)?;
        let mut sent = Vec::new();
        for (coin, (code, call)) in contracts.iter().enumerate() {
            sent.push(self.deploy(node, &purse, coin, code, call.clone())?);
        }
        Ok(sent)
    }

    /// The founder names the template and the beacon; the ownership tokens go along and come back.
    fn set_up_factory(&mut self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let purse = self.purse(node, FOUNDER)?;
        let order = Order {
            sends: purse.held.transfers().into_iter().filter(|held| held.value == 1).collect(),
            call: Some(call(4, FACTORY.tx, &[0, POOL_TEMPLATE_NUMBER, 4, BEACON_NUMBER])),
            ..Order::default()
        };
        Ok(self.send(node, FOUNDER, &purse, &order)?.into_iter().collect())
    }

    /// An order that wraps some of a trader's bitcoin.
    pub(super) fn wrap(&self, value: u64) -> Result<Order, MarketError> {
        let signer =
            bitcoin::TxOut { value: bitcoin::Amount::from_sat(value), script_pubkey: self.state.signer_script()? };
        Ok(Order {
            call: Some(Cellpack { target: WRAPPED_BITCOIN, inputs: vec![MINT] }),
            outputs: vec![signer],
            ..Order::default()
        })
    }

    fn each_trader(
        &self,
        node: &Node,
        order: impl Fn(&Self, usize) -> Result<Order, MarketError>,
    ) -> Result<Vec<Txid>, MarketError> {
        let mut sent = Vec::new();
        for trader in 1..NAMES.len() {
            let purse = self.purse(node, trader)?;
            sent.extend(self.send(node, trader, &purse, &order(self, trader)?)?);
        }
        Ok(sent)
    }

    /// One trader mints the free token, the others the genesis token.
    fn first_mints(&mut self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let created = self.deployed.iter().map(|txid| self.state.created(txid));
        let missing = || MarketError::Inconsistent("a token of the founding was not created".to_owned());
        self.tokens = created.collect::<Option<Vec<_>>>().ok_or_else(missing)?;
        let free = self.tokens[1];
        self.each_trader(node, |_, trader| {
            let target = if trader == FREE_FOUNDER { free } else { DIESEL };
            Ok(Order { call: Some(Cellpack { target, inputs: vec![MINT] }), ..Order::default() })
        })
    }

    /// The founder hands out the owned token: to the traders, and to the scenario's accounts.
    fn distribute(&mut self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let Some(token) = self.tokens.first().copied() else { return Ok(Vec::new()) };
        let purse = self.purse(node, FOUNDER)?;
        let scripts: Vec<_> = (1..NAMES.len()).map(|trader| self.script(trader)).chain(self.guests.clone()).collect();
        let share = purse.held.get(token) / (scripts.len() as u128 + 1);
        let order = Order {
            gifts: vec![Transfer { id: token, value: share }; scripts.len()],
            outputs: scripts.into_iter().map(postage).collect(),
            ..Order::default()
        };
        Ok(self.send(node, FOUNDER, &purse, &order)?.into_iter().collect())
    }

    /// Three traders found a pool each, and where the market is a triangle the fourth does.
    fn first_pools(&mut self, node: &Node) -> Result<Vec<Txid>, MarketError> {
        let [owned, free] = self.tokens[..] else { return Ok(Vec::new()) };
        let mut sent = Vec::new();
        let mut pairs = vec![
            (1, [DIESEL, WRAPPED_BITCOIN]),
            (FREE_FOUNDER, [free, WRAPPED_BITCOIN]),
            (3, [owned, WRAPPED_BITCOIN]),
        ];
        if self.is_triangle {
            pairs.push((4, [DIESEL, owned]));
        }
        for (trader, pair) in pairs {
            let purse = self.purse(node, trader)?;
            let sends: Vec<Transfer> = pair.iter().filter_map(|id| purse.some(*id, purse.held.get(*id) / 3)).collect();
            let [a, b] = sends[..] else {
                return Err(MarketError::Inconsistent(format!("{} has nothing to found a pool with", NAMES[trader])));
            };
            let inputs = vec![CREATE_POOL, a.id.block, a.id.tx, b.id.block, b.id.tx, a.value, b.value];
            let order = Order { sends, call: Some(Cellpack { target: FACTORY, inputs }), ..Order::default() };
            sent.extend(self.send(node, trader, &purse, &order)?);
        }
        Ok(sent)
    }
}
