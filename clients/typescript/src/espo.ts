// Paraffin JSON-RPC: espo.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** Liveness check of the surface: `pong`. */
  "essentials.ping": { params: Record<string, never>; answer: EssentialsPingAnswer };
  /** The same as `essentials.ping`. */
  "ping": Methods["essentials.ping"];
  /** The newest height that every method of this instance can answer for. */
  "essentials.get_espo_height": { params: Record<string, never>; answer: EssentialsGetEspoHeightAnswer };
  /** The same as `essentials.get_espo_height`. */
  "get_espo_height": Methods["essentials.get_espo_height"];
  /** Balances of an address. */
  "essentials.get_address_balances": { params: { "address": string; "height"?: EssentialsGetAddressBalancesHeight | null; "include_outpoints"?: boolean | null }; answer: EssentialsGetAddressBalancesAnswer };
  /** The same as `essentials.get_address_balances`. */
  "get_address_balances": Methods["essentials.get_address_balances"];
  /** The unspent outputs of an address that hold alkanes, oldest first. */
  "essentials.get_address_outpoints": { params: { "address": string; "height"?: EssentialsGetAddressBalancesHeight | null; "page"?: number | null; "limit"?: number | null }; answer: EssentialsGetAddressOutpointsAnswer };
  /** The same as `essentials.get_address_outpoints`. */
  "get_address_outpoints": Methods["essentials.get_address_outpoints"];
  /** Alkanes of an output, and the transaction that spent it. */
  "essentials.get_outpoint_balances": { params: { "outpoint": string; "height"?: EssentialsGetAddressBalancesHeight | null }; answer: EssentialsGetOutpointBalancesAnswer };
  /** The same as `essentials.get_outpoint_balances`. */
  "get_outpoint_balances": Methods["essentials.get_outpoint_balances"];
  /** Every unspent output of an address with all that a wallet needs to spend it. */
  "essentials.get_address_spendable_outpoints": { params: { "address": string; "height"?: EssentialsGetAddressBalancesHeight | null; "include_unconfirmed"?: boolean | null; "omit_raw_tx"?: boolean | null }; answer: EssentialsGetAddressSpendableOutpointsAnswer };
  /** The same as `essentials.get_address_spendable_outpoints`. */
  "get_address_spendable_outpoints": Methods["essentials.get_address_spendable_outpoints"];
  /** Holders of an alkane, the greatest amount first. */
  "essentials.get_holders": { params: { "alkane": string; "height"?: EssentialsGetAddressBalancesHeight | null; "include_contracts"?: boolean | null; "page"?: number | null; "limit"?: number | null; "size"?: number | null }; answer: EssentialsGetHoldersAnswer };
  /** The same as `essentials.get_holders`. */
  "get_holders": Methods["essentials.get_holders"];
  /** Number of holders of an alkane. */
  "essentials.get_holders_count": { params: { "alkane": string; "height"?: EssentialsGetAddressBalancesHeight | null; "include_contracts"?: boolean | null }; answer: EssentialsGetHoldersCountAnswer };
  /** The same as `essentials.get_holders_count`. */
  "get_holders_count": Methods["essentials.get_holders_count"];
  /** The storage of a contract, in the order of its keys' bytes. */
  "essentials.get_keys": { params: { "alkane": string; "keys"?: Array<string> | null; "try_decode_utf8"?: boolean | null; "height"?: EssentialsGetAddressBalancesHeight | null; "page"?: number | null; "limit"?: number | null; "size"?: number | null }; answer: EssentialsGetKeysAnswer };
  /** The same as `essentials.get_keys`. */
  "get_keys": Methods["essentials.get_keys"];
  /** Liveness check of the market methods: `pong`. */
  "ammdata.ping": { params: Record<string, never>; answer: EssentialsPingAnswer };
  /** Candles of a pool, the oldest of the page first; page 0 has the newest. */
  "ammdata.get_candles": { params: { "pool": string; "timeframe"?: string | null; "side"?: string | null; "fill"?: boolean | null; "height"?: EssentialsGetAddressBalancesHeight | null; "page"?: number | null; "limit"?: number | null; "size"?: number | null }; answer: AmmdataGetCandlesAnswer };
  /** Trades of a pool. */
  "ammdata.get_trades": { params: { "pool": string; "side"?: string | null; "filter_side"?: string | null; "sort"?: string | null; "dir"?: string | null; "direction"?: string | null; "height"?: EssentialsGetAddressBalancesHeight | null; "page"?: number | null; "limit"?: number | null; "size"?: number | null }; answer: AmmdataGetTradesAnswer };
  /** Activity of a pool: trades, and liquidity that was added and removed. */
  "ammdata.get_activity": { params: { "pool": string; "activity_type"?: string | null; "side"?: string | null; "filter_side"?: string | null; "sort"?: string | null; "dir"?: string | null; "direction"?: string | null; "height"?: EssentialsGetAddressBalancesHeight | null; "page"?: number | null; "limit"?: number | null; "size"?: number | null }; answer: AmmdataGetActivityAnswer };
  /** All pools and their reserves, in the order in which they were created. */
  "ammdata.get_pools": { params: { "factory"?: string | null; "height"?: EssentialsGetAddressBalancesHeight | null; "page"?: number | null; "limit"?: number | null; "size"?: number | null }; answer: AmmdataGetPoolsAnswer };
  /** The factories that have made pools. */
  "ammdata.get_amm_factories": { params: { "height"?: EssentialsGetAddressBalancesHeight | null; "page"?: number | null; "limit"?: number | null; "size"?: number | null }; answer: AmmdataGetAmmFactoriesAnswer };
  /** The best route through pools from one alkane to another. */
  "ammdata.find_best_swap_path": { params: { "token_in": string; "token_out": string; "mode"?: string | null; "amount_in"?: EssentialsGetAddressBalancesHeight | null; "amount_out"?: EssentialsGetAddressBalancesHeight | null; "available_in"?: EssentialsGetAddressBalancesHeight | null; "amount_out_min"?: EssentialsGetAddressBalancesHeight | null; "amount_in_max"?: EssentialsGetAddressBalancesHeight | null; "fees"?: string | null; "fee_bps"?: number | null; "max_hops"?: number | null; "factory"?: string | null; "cryptoswap"?: boolean | null; "height"?: EssentialsGetAddressBalancesHeight | null }; answer: AmmdataFindBestSwapPathAnswer };
  /** The cycle through a factory's pools with the greatest profit in an alkane. */
  "ammdata.get_best_mev_swap": { params: { "token": string; "height"?: EssentialsGetAddressBalancesHeight | null; "fees"?: string | null; "fee_bps"?: number | null; "max_hops"?: number | null; "factory"?: string | null; "cryptoswap"?: boolean | null }; answer: AmmdataGetBestMevSwapAnswer };
  /** Dollars for one bitcoin times 10^16, as text. */
  "ammdata.get_btc_usd_price": { params: { "height"?: EssentialsGetAddressBalancesHeight | null }; answer: EssentialsPingAnswer };
}

/** A page of events. */
export interface ActivityAnswer {
  "activity": Array<ActivityItem>;
  "activity_type": string;
  "dir": string;
  "filter_side": string;
  "has_more": boolean;
  "limit": number;
  "ok": boolean;
  "page": number;
  "pool": string;
  "side": string;
  "sort": string;
  /** Number of items on all pages. */
  "total": number;
  /** Present where a sort order or a filter covers the newest events only. */
  "window"?: EventWindow | null;
}

/** An event of a pool. Amounts are base units in decimal digits unless stated otherwise. */
export interface ActivityItem {
  /** `null` where the script has none. */
  "address": string | null;
  /** Unsigned change of the reserve of the `side` token, in units of 10^8 base units. */
  "amount": number;
  /** Of a trade. */
  "amount_in"?: string | null;
  /** Of a trade. */
  "amount_out"?: string | null;
  /** Signed change of the pool's reserve of its first alkane. */
  "base_delta": string;
  "block_height": number;
  /** Of a trade: `base_in` or `quote_in`. */
  "direction": string | null;
  /** `trade_buy`, `trade_sell`, `pool_create`, `liquidity_add` or `liquidity_remove`. */
  "kind": string;
  /** Liquidity shares minted or burnt; absent for a trade. */
  "liquidity"?: string | null;
  /** Of a trade; `null` where the amount out was zero. */
  "price"?: string | null;
  /** Signed change of the pool's reserve of its second alkane. */
  "quote_delta": string;
  /** `buy` or `sell` for a trade, else `neutral`. */
  "side": string;
  /** Unix seconds. */
  "timestamp": number;
  "txid": string;
  "vout": number;
}

/** Balances of an address. */
export interface AddressBalancesAnswer {
  "address": string;
  /** Base units in decimal digits, by the alkane's id. */
  "balances": Record<string, string>;
  "ok": boolean;
  "outpoints"?: Array<HoldingOutpoint> | null;
}

/** Outputs of an address. */
export interface AddressOutpointsAnswer {
  "address": string;
  /** Items of a page. */
  "has_more"?: boolean | null;
  "limit"?: number | null;
  "ok": boolean;
  "outpoints": Array<HoldingOutpoint>;
  "page"?: number | null;
}

/** An answer or a failure result. */
export type AmmdataFindBestSwapPathAnswer = BestSwapPathAnswer | Refusal;

/** An answer or a failure result. */
export type AmmdataGetActivityAnswer = ActivityAnswer | Refusal;

/** An answer or a failure result. */
export type AmmdataGetAmmFactoriesAnswer = FactoriesAnswer | Refusal;

/** An answer or a failure result. */
export type AmmdataGetBestMevSwapAnswer = BestCycleAnswer | Refusal;

/** An answer or a failure result. */
export type AmmdataGetCandlesAnswer = CandlesAnswer | Refusal;

/** An answer or a failure result. */
export type AmmdataGetPoolsAnswer = PoolsAnswer | Refusal;

/** An answer or a failure result. */
export type AmmdataGetTradesAnswer = TradesAnswer | Refusal;

/** A cycle. Amounts are base units in decimal digits. */
export interface BestCycleAnswer {
  "amount_in": string;
  "amount_out": string;
  "factory": string;
  /** `null` where every pool has its own. */
  "fee_bps": number | null;
  "hops": Array<RouteHop>;
  "max_hops": number;
  "ok": boolean;
  "profit": string;
  /** Upper bound of the profit, whatever the amount in. */
  "profit_bound": string;
  "token": string;
}

/** A route. Amounts are base units in decimal digits. */
export interface BestSwapPathAnswer {
  "amount_in": string;
  "amount_out": string;
  "factory": string;
  /** `null` where every pool has its own. */
  "fee_bps": number | null;
  "hops": Array<RouteHop>;
  "max_hops": number;
  "mode": string;
  "ok": boolean;
  "token_in": string;
  "token_out": string;
}

/** A candle. Prices are decimal text, volumes base units in decimal digits, times Unix seconds. */
export interface Candle {
  "close": string;
  /** Where the next candle begins. */
  "close_time": string;
  "high": string;
  "low": string;
  "open": string;
  "open_time": string;
  "trade_count": number;
  /** The same as `trade_count`. */
  "trades": number;
  /** The same as `open_time`, as a number. */
  "ts": number;
  /** Of the token named by `side`. */
  "volume": string;
  /** Of the pool's first alkane. */
  "volume0": string;
  /** Of the pool's second alkane. */
  "volume1": string;
}

/** A page of candles. */
export interface CandlesAnswer {
  "candles": Array<Candle>;
  "has_more": boolean;
  "limit": number;
  "ok": boolean;
  "page": number;
  "pool": string;
  "side": string;
  "timeframe": string;
  /** Number of items on all pages. */
  "total": number;
}

/** An answer or a failure result. */
export type EssentialsGetAddressBalancesAnswer = AddressBalancesAnswer | Refusal;

export type EssentialsGetAddressBalancesHeight = string | number;

/** An answer or a failure result. */
export type EssentialsGetAddressOutpointsAnswer = AddressOutpointsAnswer | Refusal;

/** An answer or a failure result. */
export type EssentialsGetAddressSpendableOutpointsAnswer = SpendableOutpointsAnswer | Refusal;

/** An answer or a failure result. */
export type EssentialsGetEspoHeightAnswer = IndexHeightAnswer | Refusal;

/** An answer or a failure result. */
export type EssentialsGetHoldersAnswer = HoldersAnswer | Refusal;

/** An answer or a failure result. */
export type EssentialsGetHoldersCountAnswer = HoldersCountAnswer | Refusal;

/** An answer or a failure result. */
export type EssentialsGetKeysAnswer = KeysAnswer | Refusal;

/** An answer or a failure result. */
export type EssentialsGetOutpointBalancesAnswer = OutpointBalancesAnswer | Refusal;

/** An answer or a failure result. */
export type EssentialsPingAnswer = string | Refusal;

/** The part of a pool's events that an answer covers, where it does not cover all. */
export interface EventWindow {
  /** How many of the pool's newest events the answer covers. */
  "newest": number;
  /** How many events the pool has. */
  "of": number;
}

/** A page of factories. */
export interface FactoriesAnswer {
  /** Ids. */
  "factories": Array<string>;
  "has_more": boolean;
  "limit": number;
  "ok": boolean;
  "page": number;
  /** Number of items on all pages. */
  "total": number;
}

/** An alkane that an output holds. */
export interface HeldAlkane {
  /** Its id. */
  "alkane": string;
  /** Base units in decimal digits. */
  "amount": string;
}

/** A base rune that an output holds. */
export interface HeldBaseRune {
  /** Base units in decimal digits. */
  "amount": string;
  "id": string;
  /** Its name, where it is known. */
  "rune": string | null;
}

/** A holder. */
export interface HolderItem {
  /** An address, the script in hexadecimal digits where it has none, or a contract's id. */
  "address": string;
  /** The id of a contract. */
  "alkane"?: string | null;
  /** Base units in decimal digits. */
  "amount": string;
  /** `address` or `alkane`. */
  "type": string;
}

/** A page of holders. */
export interface HoldersAnswer {
  "alkane": string;
  "has_more": boolean;
  "items": Array<HolderItem>;
  "limit": number;
  "ok": boolean;
  "page": number;
  /** Number of items on all pages. */
  "total": number;
}

/** A count. */
export interface HoldersCountAnswer {
  "count": number;
  "ok": boolean;
}

/** An output and its alkanes. */
export interface HoldingOutpoint {
  "entries": Array<HeldAlkane>;
  /** `txid:vout`. */
  "outpoint": string;
}

/** A height. */
export interface IndexHeightAnswer {
  "height": number;
}

/** A key and its value. Some values appear under several names, for different clients. */
export interface KeyItem {
  "hex": string;
  "key_hex": string;
  "key_str": string | null;
  /** The transaction that stored the value, where a trace shows it. */
  "last_txid": string | null;
  "utf8": string | null;
  "value_hex": string;
  "value_str": string | null;
  /** The value as a little-endian number, where it has 1 to 16 bytes. */
  "value_u128": string | null;
  "value_utf8": string | null;
}

/** A page of a contract's storage. */
export interface KeysAnswer {
  "alkane": string;
  "has_more": boolean;
  /** By key, in hexadecimal digits after `0x`. */
  "items": Record<string, KeyItem>;
  "limit": number;
  "ok": boolean;
  "page": number;
  /** Number of keys on all pages; at most 100,000 is reported. */
  "total": number;
}

/** A pool, with the members that the different clients read. Amounts are base units in decimal digits. */
export interface ListedPool {
  "base": string;
  "base_reserve": string;
  "factory": string;
  "fee_per_1000": string;
  "name": string;
  "quote": string;
  "quote_reserve": string;
  "reserve0": string;
  "reserve1": string;
  "source": string;
  "token0": string;
  "token1": string;
  "total_supply": string;
}

/** The requested output. */
export interface OutpointBalancesAnswer {
  "items": Array<OutputItem>;
  "ok": boolean;
  "outpoint": string;
}

/** An output. For one that holds no alkanes, or does not exist, only its outpoint is known. */
export interface OutputItem {
  /** `null` where its script has none. */
  "address"?: string | null;
  "block_height"?: number | null;
  "entries": Array<HeldAlkane>;
  /** Whether the output holds or held alkanes. */
  "known": boolean;
  "outpoint": string;
  "spent": boolean;
  /** The transaction that spent it; `null` while none has. */
  "spent_by"?: string | null;
  /** Satoshis. */
  "value"?: number | null;
}

/** A page of pools. */
export interface PoolsAnswer {
  "has_more": boolean;
  "limit": number;
  "ok": boolean;
  "page": number;
  /** By id. */
  "pools": Record<string, ListedPool>;
  /** Number of items on all pages. */
  "total": number;
}

/** The result of a well-formed call that has no answer. */
export interface Refusal {
  /** A more specific word, where the error word has several causes. */
  "detail"?: string | null;
  /** Stable, machine-readable error word. */
  "error": string;
  /** What to do about it. */
  "hint": string;
  /** `false`. */
  "ok": boolean;
}

/** One pool of a route. Amounts are base units in decimal digits. */
export interface RouteHop {
  "amount_in": string;
  "amount_out": string;
  /** Parts of 10,000; `null` where the fee is part of the pool's own formula. */
  "fee_bps": number | null;
  /** Parts of 1,000, where the fee is the pool's own. */
  "fee_per_1000"?: number | null;
  /** `factory` or `cryptoswap`. */
  "kind": string;
  "pool": string;
  "token_in": string;
  "token_out": string;
}

/** An unspent output. */
export interface SpendableOutpoint {
  "alkanes": Array<HeldAlkane>;
  /** `null` while its transaction is in no block. */
  "block_height": number | null;
  "coinbase": boolean;
  /** Blocks from its own to the height of the answer, both included. */
  "confirmations": number;
  /** Whether its alkanes are known: `false` until its transaction is in a block. */
  "indexed": boolean;
  /** `txid:vout`. */
  "outpoint": string;
  /** The whole transaction in hexadecimal digits; `0` where it was not requested. */
  "raw_tx_hex": string;
  "runes": Array<HeldBaseRune>;
  "script_pubkey_hex": string;
  /** Satoshis. */
  "value": number;
}

/** The unspent outputs of an address. */
export interface SpendableOutpointsAnswer {
  "address": string;
  /** Block height that the answer is as of. */
  "height": number;
  /** Number of outputs. */
  "length": number;
  "ok": boolean;
  "outpoints": Array<SpendableOutpoint>;
}

/** A trade. Amounts are base units in decimal digits. */
export interface Trade {
  /** Address of the trader; `null` where the script has none. */
  "address": string | null;
  "amount_in": string;
  "amount_out": string;
  /** Change of the pool's reserve of its first alkane. */
  "base_inflow": string;
  "block_height": number;
  "price": string | null;
  /** Change of the pool's reserve of its second alkane. */
  "quote_inflow": string;
  /** `buy` or `sell`. */
  "side": string;
  /** Unix seconds. */
  "timestamp": string;
  "txid": string;
  "vout": number;
  /** The key in a taproot script, in hexadecimal digits; empty for other scripts. */
  "xpubkey": string;
}

/** A page of trades. */
export interface TradesAnswer {
  "dir": string;
  "filter_side": string;
  "has_more": boolean;
  "limit": number;
  "ok": boolean;
  "page": number;
  "pool": string;
  "side": string;
  "sort": string;
  /** Number of items on all pages. */
  "total": number;
  "trades": Array<Trade>;
  /** Present where a sort order or a filter covers the newest events only. */
  "window"?: EventWindow | null;
}
