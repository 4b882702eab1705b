// Paraffin REST data API.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Routes {
  /** Liquidity that an address holds.
   *
   * From what its unspent outputs hold, no matter who deposited it; the oldest pool first. */
  "POST /address-positions": { params: { "address": Address; "factoryId"?: FactoryId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: AddressPositionsAnswer };
  /** Alkanes that an address holds, the greatest amount first. */
  "GET /address/{address}/alkanes": { params: { "address": Address }; answer: Array<Token> };
  /** Balances of an address. */
  "GET /address/{address}/balances": { params: { "address": Address }; answer: ReadAddressAddressBalancesAnswer };
  /** The newest 50 alkanes. */
  "GET /alkanes": { params: Record<string, never>; answer: TokenPage };
  /** One alkane. */
  "GET /alkanes/{id}": { params: { "id": AlkaneIdText }; answer: Token };
  /** The 100 addresses with the greatest amounts of an alkane. */
  "GET /alkanes/{id}/holders": { params: { "id": AlkaneIdText }; answer: HolderPage };
  /** Number of addresses that hold an alkane. */
  "GET /alkanes/{id}/holders/count": { params: { "id": AlkaneIdText }; answer: ReadAlkanesIdHoldersCountAnswer };
  /** Hash of the newest indexed block. */
  "GET /blockhash": { params: Record<string, never>; answer: ReadBlockhashAnswer };
  /** Height of the newest indexed block. */
  "GET /blockheight": { params: Record<string, never>; answer: ReadBlockheightAnswer };
  /** Height of the newest indexed block. */
  "POST /blockheight": { params: Record<string, never>; answer: ReadBlockheightAnswer };
  /** Trades of a pool, the newest first, by the side of the base.
   *
   * Where more trades match than are answered, repeat with `end_time` at the time of the oldest: trades have numbers. */
  "GET /coingecko/historical_trades": { params: { "ticker_id": TickerId; "type"?: ReadCoingeckoHistoricalTradesType | null; "limit"?: number | null; "start_time"?: number | null; "end_time"?: number | null; "factory"?: AlkaneIdText | null }; answer: ReadCoingeckoHistoricalTradesAnswer };
  /** Output of trades of growing size as an order book: each order is a thousandth of the pool's reserve of the base. */
  "GET /coingecko/orderbook": { params: { "ticker_id": TickerId; "depth"?: number | null; "factory"?: AlkaneIdText | null }; answer: ReadCoingeckoOrderbookAnswer };
  /** Pools of a factory, the deepest first. */
  "GET /coingecko/pairs": { params: { "factory"?: AlkaneIdText | null; "limit"?: number | string | null; "count"?: number | string | null; "offset"?: number | string | null }; answer: Array<ReadCoingeckoPairsAnswerItem> };
  /** Pools of a factory that were ever traded, the deepest first, with the trade of the newest 24 hours: 144 buckets of ten minutes, the last of them that of the newest block. */
  "GET /coingecko/tickers": { params: { "factory"?: AlkaneIdText | null; "limit"?: number | string | null; "count"?: number | string | null; "offset"?: number | string | null }; answer: Array<ReadCoingeckoTickersAnswerItem> };
  /** An alkane. */
  "GET /dexscreener/asset": { params: { "id": AlkaneIdText }; answer: ReadDexscreenerAssetAnswer };
  /** Events of all pools in a range of blocks, in chain order: trades, and liquidity that was added and removed.
   *
   * The range has at most 1,000 blocks and, if it has several, at most 10,000 events: an answer is never truncated. */
  "GET /dexscreener/events": { params: { "fromBlock": BlockNumber; "toBlock": BlockNumber }; answer: ReadDexscreenerEventsAnswer };
  /** The newest block whose events can be read. */
  "GET /dexscreener/latest-block": { params: Record<string, never>; answer: ReadDexscreenerLatestBlockAnswer };
  /** A pool of any factory, or a `CryptoSwap` pool. */
  "GET /dexscreener/pair": { params: { "id": PoolIdText }; answer: ReadDexscreenerPairAnswer };
  /** Balance of all addresses of an account, in satoshis. */
  "POST /get-account-balance": { params: { "account": Account }; answer: Balance };
  /** Unspent outputs of all addresses of an account, newest first. */
  "POST /get-account-utxos": { params: { "account": Account; "limit"?: number | string | null }; answer: UtxoPage };
  /** Balance of an address, in satoshis. */
  "POST /get-address-balance": { params: { "address": Address }; answer: GetAddressBalanceAnswer };
  /** Balances of an address, without envelope. */
  "POST /get-address-balances": { params: { "address": Address; "includeOutpoints"?: boolean | null; "include_outpoints"?: boolean | null }; answer: GetAddressBalancesAnswer };
  /** What the outputs of an address hold; in the envelope and beside it. */
  "POST /get-address-outpoints": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: GetAddressOutpointsAnswer };
  /** Withdrawals of an address, newest first. */
  "POST /get-address-pool-burn-history": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: BurnPage };
  /** Pools that an address created, newest first. */
  "POST /get-address-pool-creation-history": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: CreationPage };
  /** Deposits of an address, newest first. */
  "POST /get-address-pool-mint-history": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: MintPage };
  /** Swaps of an address with a pool, newest first. */
  "POST /get-address-swap-history-for-pool": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: SwapPage };
  /** Swaps of an address with an alkane on either side, newest first. */
  "POST /get-address-swap-history-for-token": { params: { "address": Address; "alkaneId"?: AlkaneId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: SwapPage };
  /** Bitcoin that an address unwrapped, newest first. */
  "POST /get-address-unwrap-history": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: UnwrapPage };
  /** Unspent outputs of an address, newest first. */
  "POST /get-address-utxos": { params: { "address": Address; "limit"?: number | string | null }; answer: UtxoPage };
  /** Bitcoin that an address wrapped, newest first. */
  "POST /get-address-wrap-history": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: WrapPage };
  /** One alkane. */
  "POST /get-alkane-details": { params: { "alkaneId"?: AlkaneId | null }; answer: Token };
  /** Addresses that hold an alkane, the greatest amount first, without envelope. */
  "POST /get-alkane-holders": { params: { "alkane"?: AlkaneId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: HolderPage };
  /** Number of addresses that hold an alkane, without envelope. */
  "POST /get-alkane-holders-count": { params: { "alkane"?: AlkaneId | null }; answer: GetAlkaneHoldersCountAnswer };
  /** Pairs of an alkane by pages, each with its direct way, or the ways between two through at most three pools. */
  "POST /get-alkane-swap-pair-details": { params: { "factoryId"?: FactoryId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "tokenAId"?: AlkaneId | null; "tokenBId"?: AlkaneId | null; "tokenId"?: AlkaneId | null }; answer: GetAlkaneSwapPairDetailsAnswer };
  /** All alkanes, the newest first or in the requested order. */
  "POST /get-alkanes": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "order"?: GetAlkanesOrder | null; "page"?: number | string | null; "searchQuery"?: string | null; "sortBy"?: GetAlkanesSortBy | null }; answer: TokenPage };
  /** Alkanes that an address holds, the greatest amount first. */
  "POST /get-alkanes-by-address": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: Array<Token> };
  /** Unspent outputs of an address that hold alkanes.
   *
   * Outputs spent by unconfirmed transactions are left out. */
  "POST /get-alkanes-utxo": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: Array<Utxo> };
  /** Everything that an address did on markets, newest first. */
  "POST /get-all-address-amm-tx-history": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null; "transactionType"?: GetAllAddressAmmTxHistoryTransactionType | null }; answer: Activity };
  /** Everything on markets, newest first. */
  "POST /get-all-amm-tx-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null; "transactionType"?: GetAllAddressAmmTxHistoryTransactionType | null }; answer: Activity };
  /** Everything on a pool, newest first, also by kinds. */
  "POST /get-all-history": { params: { "category"?: GetAllHistoryCategory | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: TaggedActivity };
  /** Pools of a factory with what they are worth. */
  "POST /get-all-pools-details": { params: { "address"?: Address | null; "factoryId"?: FactoryId | null; "limit"?: number | string | null; "offset"?: number | string | null; "order"?: GetAlkanesOrder | null; "page"?: number | string | null; "searchQuery"?: string | null; "sortBy"?: GetAllPoolsDetailsSortBy | null }; answer: GetAllPoolsDetailsAnswer };
  /** Pairs that pools of a factory trade. */
  "POST /get-all-token-pairs": { params: { "factoryId"?: FactoryId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: PairPage };
  /** Bitcoin that was unwrapped, newest first. */
  "POST /get-all-unwrap-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: UnwrapPage };
  /** Bitcoin that was wrapped, newest first. */
  "POST /get-all-wrap-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: WrapPage };
  /** Unspent outputs of an address that hold liquidity.
   *
   * Of any pool, the oldest first; those that an unconfirmed transaction spends are left out. */
  "POST /get-amm-utxos": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: GetAmmUtxosAnswer };
  /** The bitcoin price over time. */
  "POST /get-bitcoin-market-chart": { params: { "days": GetBitcoinMarketChartDays }; answer: GetBitcoinMarketChartAnswer };
  /** The newest bitcoin price, and the highest and lowest of 52 weeks. */
  "POST /get-bitcoin-market-weekly": { params: Record<string, never>; answer: GetBitcoinMarketWeeklyAnswer };
  /** The market that the bitcoin price comes from. */
  "POST /get-bitcoin-markets": { params: Record<string, never>; answer: Array<GetBitcoinMarketsAnswerItem> };
  /** The newest bitcoin price. */
  "POST /get-bitcoin-price": { params: Record<string, never>; answer: GetBitcoinPriceAnswer };
  /** Hash of the newest indexed block. */
  "POST /get-block-hash": { params: Record<string, never>; answer: ReadBlockhashAnswer };
  /** Height of the newest indexed block. */
  "POST /get-block-height": { params: Record<string, never>; answer: ReadBlockheightAnswer };
  /** Withdrawals from a pool, newest first. */
  "POST /get-burn-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: BurnPage };
  /** The newest candles of a pool, of token 1 for token 0. */
  "POST /get-candles": { params: { "end_time"?: number | string | null; "interval"?: string | null; "limit"?: number | string | null; "pool"?: PoolId | null; "start_time"?: number | string | null }; answer: GetCandlesAnswer };
  /** Number of addresses that hold an alkane. */
  "POST /get-holder-count": { params: { "alkaneId"?: AlkaneId | null }; answer: ReadAlkanesIdHoldersCountAnswer };
  /** Addresses that hold an alkane, the greatest amount first. */
  "POST /get-holders": { params: { "alkaneId"?: AlkaneId | null; "limit"?: number | string | null; "minBalance"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: GetHoldersAnswer };
  /** Number of addresses that hold an alkane. */
  "POST /get-holders-count": { params: { "alkaneId"?: AlkaneId | null }; answer: ReadAlkanesIdHoldersCountAnswer };
  /** Height and hash of the newest indexed block. */
  "POST /get-indexer-position": { params: Record<string, never>; answer: GetIndexerPositionAnswer };
  /** Messages of the transactions of an address, newest first. */
  "POST /get-intent-history": { params: { "address": Address; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "totalTxs"?: number | string | null }; answer: GetIntentHistoryAnswer };
  /** Values in the storage of a contract, without envelope.
   *
   * A key that is text is given as text, any other in hexadecimal digits after 0x. */
  "POST /get-keys": { params: { "alkane"?: AlkaneId | null; "limit"?: number | string | null; "prefix"?: string | null }; answer: GetKeysAnswer };
  /** Deposits into a pool, newest first. */
  "POST /get-mint-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: MintPage };
  /** Balances of an output, without envelope. */
  "POST /get-outpoint-balances": { params: { "outpoint": Outpoint }; answer: GetOutpointBalancesAnswer };
  /** Withdrawals from a pool, newest first. */
  "POST /get-pool-burn-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: BurnPage };
  /** One pool with what it is worth. */
  "POST /get-pool-by-id": { params: { "factoryId"?: FactoryId | null; "poolId"?: PoolId | null }; answer: PoolDetails };
  /** Pools that a factory created, newest first. */
  "POST /get-pool-creation-history": { params: { "factoryId"?: FactoryId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: CreationPage };
  /** One pool with what it is worth. */
  "POST /get-pool-details": { params: { "factoryId"?: FactoryId | null; "poolId"?: PoolId | null }; answer: PoolDetails };
  /** Everything on a pool, newest first, also by kinds. */
  "POST /get-pool-history": { params: { "category"?: GetAllHistoryCategory | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: TaggedActivity };
  /** Deposits into a pool, newest first. */
  "POST /get-pool-mint-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: MintPage };
  /** Swaps of a pool, newest first. */
  "POST /get-pool-swap-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: SwapPage };
  /** Pools of a factory. */
  "POST /get-pools": { params: { "address"?: Address | null; "factoryId"?: FactoryId | null; "limit"?: number | string | null; "offset"?: number | string | null; "order"?: GetAlkanesOrder | null; "page"?: number | string | null; "searchQuery"?: string | null; "sortBy"?: GetAllPoolsDetailsSortBy | null }; answer: PoolPage };
  /** Reorganisations that this instance followed, the newest first: of the newest 1,000 blocks that left the best chain after they were indexed. A copy that starts from a snapshot has those of the instance that wrote it. */
  "POST /get-reorgs": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: GetReorgsAnswer };
  /** What a pool holds. */
  "POST /get-reserves": { params: { "pool"?: PoolId | null }; answer: GetReservesAnswer };
  /** Swaps of a pool, newest first. */
  "POST /get-swap-history": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "poolId"?: PoolId | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: SwapPage };
  /** Balance of a taproot address, in satoshis. */
  "POST /get-taproot-balance": { params: { "address": Address }; answer: Balance };
  /** Transactions of a taproot address, unconfirmed first, then the newest. */
  "POST /get-taproot-history": { params: { "taprootAddress": Address; "totalTxs"?: number | string | null }; answer: GetTaprootHistoryAnswer };
  /** Pairs with an alkane on either side. */
  "POST /get-token-pairs": { params: { "alkaneId"?: AlkaneId | null; "factoryId"?: FactoryId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null }; answer: PairPage };
  /** Swaps with an alkane on either side, newest first. */
  "POST /get-token-swap-history": { params: { "alkaneId"?: AlkaneId | null; "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "successful"?: GetAddressPoolBurnHistorySuccessful | null }; answer: SwapPage };
  /** All bitcoin that was ever unwrapped, less what was returned, in satoshis. */
  "POST /get-total-unwrap-amount": { params: Record<string, never>; answer: GetTotalUnwrapAmountAnswer };
  /** The newest trades of a pool, with what it held at the end of their blocks. */
  "POST /get-trades": { params: { "end_time"?: number | string | null; "limit"?: number | string | null; "pool"?: PoolId | null; "start_time"?: number | string | null }; answer: GetTradesAnswer };
  /** Alkanes and pools by id, symbol and name. */
  "POST /global-alkanes-search": { params: { "limit"?: number | string | null; "offset"?: number | string | null; "page"?: number | string | null; "searchQuery"?: string | null }; answer: GlobalAlkanesSearchAnswer };
  /** Whether the instance answers from the newest blocks; needs no key and is not counted.
   *
   * JSON at `/v4/api/health`; plain `OK` at `/health` and below a key. */
  "GET /health": { params: Record<string, never>; answer: ReadHealthAnswer };
  /** Whether the instance answers from the newest blocks; needs no key and is not counted.
   *
   * JSON at `/v4/api/health`; plain `OK` at `/health` and below a key. */
  "POST /health": { params: Record<string, never>; answer: ReadHealthAnswer };
  /** Height and hash of the newest indexed block. */
  "GET /indexer-position": { params: Record<string, never>; answer: GetIndexerPositionAnswer };
  /** Height of the newest indexed block, without envelope. */
  "GET /indexer/height": { params: Record<string, never>; answer: ReadBlockheightAnswer };
  /** The bitcoin price over time. */
  "GET /market-chart": { params: { "days": GetBitcoinMarketChartDays }; answer: GetBitcoinMarketChartAnswer };
  /** The events of a block in their order. */
  "GET /opi/v1/brc20/activity_on_block": { params: { "block_height": Brc20Height }; answer: Array<Brc20Event> };
  /** Balance of a script. */
  "GET /opi/v1/brc20/balance": { params: { "ticker": Brc20Ticker; "address"?: Address | null; "pkscript"?: Script | null }; answer: ReadOpiV1Brc20BalanceAnswer };
  /** Balance of a script before a block. */
  "GET /opi/v1/brc20/balance_on_block": { params: { "block_height": Brc20Height; "pkscript": Script; "ticker": Brc20Ticker }; answer: ReadOpiV1Brc20BalanceOnBlockAnswer };
  /** Node calls of the programmable module: none, as it does not run here. */
  "GET /opi/v1/brc20/bitcoin_rpc_results_on_block": { params: { "block_height": Brc20Height }; answer: Array<Record<string, unknown>> };
  /** Height of the newest block of the BRC-20 index. */
  "GET /opi/v1/brc20/block_height": { params: Record<string, never>; answer: string };
  /** Version of the index's rows. */
  "GET /opi/v1/brc20/db_version": { params: Record<string, never>; answer: string };
  /** The events of an inscription, the oldest first: both of a transfer; none of an inscription without effect. */
  "GET /opi/v1/brc20/event": { params: { "inscription_id": InscriptionId }; answer: Array<Brc20Event> };
  /** Version of the form of event strings. */
  "GET /opi/v1/brc20/event_hash_version": { params: Record<string, never>; answer: string };
  /** The same height: no data is indexed separately. */
  "GET /opi/v1/brc20/extras_block_height": { params: Record<string, never>; answer: string };
  /** Balance of a script. */
  "GET /opi/v1/brc20/get_current_balance_of_wallet": { params: { "ticker": Brc20Ticker; "address"?: Address | null; "pkscript"?: Script | null }; answer: ReadOpiV1Brc20BalanceAnswer };
  /** The hash of a block's events, and that of all blocks so far. */
  "GET /opi/v1/brc20/get_hash_of_all_activity": { params: { "block_height": Brc20Height }; answer: ReadOpiV1Brc20GetHashOfAllActivityAnswer };
  /** A hash over all balances; may take minutes.
   *
   * It is that of the newest block, or of one shortly before it whose hash is being computed. */
  "GET /opi/v1/brc20/get_hash_of_all_current_balances": { params: Record<string, never>; answer: ReadOpiV1Brc20GetHashOfAllCurrentBalancesAnswer };
  /** Transfer inscriptions of a token that have not moved, by owner. */
  "GET /opi/v1/brc20/get_valid_tx_notes_of_ticker": { params: { "ticker": Brc20Ticker; "limit"?: number | string | null; "offset"?: number | string | null }; answer: ReadOpiV1Brc20GetValidTxNotesOfTickerAnswer };
  /** Transfer inscriptions of a script that have not moved, by ticker. */
  "GET /opi/v1/brc20/get_valid_tx_notes_of_wallet": { params: { "address"?: Address | null; "pkscript"?: Script | null; "limit"?: number | string | null; "offset"?: number | string | null }; answer: ReadOpiV1Brc20GetValidTxNotesOfTickerAnswer };
  /** Events that involve a script, the newest first, or those of a block in their order. */
  "GET /opi/v1/brc20/history": { params: { "address"?: Address | null; "pkscript"?: Script | null; "height"?: Brc20Height | null; "ticker"?: Brc20Ticker | null; "limit"?: number | string | null; "cursor"?: string | null }; answer: ReadOpiV1Brc20HistoryAnswer };
  /** Holders of a token, the greatest balance first. */
  "GET /opi/v1/brc20/holders": { params: { "ticker": Brc20Ticker; "limit"?: number | string | null; "offset"?: number | string | null }; answer: ReadOpiV1Brc20HoldersAnswer };
  /** The address under which this request is counted. */
  "GET /opi/v1/brc20/ip": { params: Record<string, never>; answer: string };
  /** A token. */
  "GET /opi/v1/brc20/token_summary": { params: { "ticker": Brc20Ticker }; answer: ReadOpiV1Brc20TokenSummaryAnswer };
  /** The durable stream of change events. */
  "GET /orderbook/events": { params: { "since"?: number | string | null; "limit"?: number | string | null }; answer: ReadOrderbookEventsAnswer };
  /** Takes change events in; needs an admin key. */
  "POST /orderbook/ingest": { params: { "body": ChangeEvents }; answer: OrderbookIngestAnswer };
  /** The main markets that have active orders. */
  "GET /orderbook/markets": { params: Record<string, never>; answer: ReadOrderbookMarketsAnswer };
  /** One order, ended or not. */
  "GET /orderbook/order/{source}/{id}": { params: { "source": OrderSource; "id": OrderId }; answer: Order };
  /** The active orders of a market. */
  "GET /orderbook/snapshot": { params: { "market": OrderMarket }; answer: ReadOrderbookSnapshotAnswer };
  /** Balances of an output. */
  "GET /outpoint/{outpoint}/balances": { params: { "outpoint": Outpoint }; answer: ReadOutpointOutpointBalancesAnswer };
  /** The way through pools that gives most for an amount, with each pool's own fee and rounding. */
  "POST /pathfind": { params: { "amount_in"?: number | string | null; "cryptoswap"?: boolean | null; "factoryId"?: FactoryId | null; "max_hops"?: number | string | null; "token_in"?: AlkaneId | null; "token_out"?: AlkaneId | null }; answer: PathfindAnswer };
  /** Pools of the network's factory. */
  "GET /pools": { params: Record<string, never>; answer: PoolPage };
  /** One pool with what it is worth. */
  "GET /pools/{id}": { params: { "id": PoolIdText }; answer: PoolDetails };
  /** The newest 50 events of a pool. */
  "GET /pools/{id}/history": { params: { "id": PoolIdText }; answer: Activity };
  /** The newest 50 swaps of a pool. */
  "GET /pools/{id}/swaps": { params: { "id": PoolIdText }; answer: SwapPage };
  /** Reorganisations that this instance followed, the newest first: of the newest 1,000 blocks that left the best chain after they were indexed. A copy that starts from a snapshot has those of the instance that wrote it. */
  "GET /reorgs": { params: { "limit"?: number | string | null; "count"?: number | string | null; "offset"?: number | string | null }; answer: GetReorgsAnswer };
  /** Capabilities of the feed, and the factories whose pools it has. */
  "GET /udf/config": { params: Record<string, never>; answer: ReadUdfConfigAnswer };
  /** Bars of a pool, the oldest first. Buckets without trades have none. */
  "GET /udf/history": { params: { "symbol": PoolIdText; "resolution": ReadUdfHistoryResolution; "from"?: number | null; "to"?: number | null; "countback"?: number | null }; answer: ReadUdfHistoryAnswer };
  /** Pools by a text: the id of a pool or of one of its alkanes, or part of the pool's name or of its symbol; the best match first, then the deepest. Without a text the deepest pools. */
  "GET /udf/search": { params: { "query"?: string | null; "type"?: string | null; "exchange"?: string | null; "limit"?: number | null }; answer: Array<ReadUdfSearchAnswerItem> };
  /** A pool as a symbol of charts. */
  "GET /udf/symbols": { params: { "symbol": PoolIdText }; answer: ReadUdfSymbolsAnswer };
  /** The time of this instance's clock, Unix seconds. */
  "GET /udf/time": { params: Record<string, never>; answer: number };
}

/** An output descriptor, an extended public key, or one address */
export type Account = string;

/** Everything, each with its kind. */
export interface Activity {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  /** Of the whole listing. */
  "total": number;
  "transactions": Array<ActivityTransactionsItem>;
}

/** A row of any kind. */
export type ActivityTransactionsItem = Swap | Mint | Burn | Creation | Wrap | Unwrap;

/** A Bitcoin address of this instance's network; anything else is 400 */
export type Address = string;

/** How many records there are, and which of them a page holds. */
export interface AddressPositionsAnswer {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  "positions": Array<Position>;
  /** Of the whole listing. */
  "total": number;
}

/** An alkane's id, in any of the ways in which clients write it */
export type AlkaneId = AlkaneIdCase1 | string;

export interface AlkaneIdCase1 {
  "block": number | string;
  "tx": number | string;
}

/** An alkane's id, block:tx */
export type AlkaneIdText = string;

export interface Balance {
  "balance": number;
  /** Net change by unconfirmed transactions. */
  "unconfirmedBalance": number;
}

/** The height of a block */
export type BlockNumber = number;

/** An event of a token. Its members depend on `event_type`. */
export interface Brc20Event {
  "amount"?: string | null;
  /** Of a predeploy, as text. */
  "block_height"?: string | null;
  /** As text. */
  "decimals"?: string | null;
  /** A script in hexadecimal digits */
  "deployer_pkScript"?: string | null;
  /** Empty for a script without address */
  "deployer_wallet"?: string | null;
  "event_type": Brc20EventEventType;
  /** As written in the inscription. */
  "hash"?: string | null;
  "height": number;
  "inscription_id": string;
  /** `true` or `false`, as text. */
  "is_self_mint"?: string | null;
  "limit_per_mint"?: string | null;
  "max_supply"?: string | null;
  /** A script in hexadecimal digits */
  "minted_pkScript"?: string | null;
  /** Empty for a script without address */
  "minted_wallet"?: string | null;
  /** As written in the inscription. */
  "original_tick"?: string | null;
  /** The first parent of a mint; empty without one. */
  "parent_id"?: string | null;
  /** Index of the event in its block. */
  "place": number;
  /** A script in hexadecimal digits */
  "predeployer_pkScript"?: string | null;
  /** Empty for a script without address */
  "predeployer_wallet"?: string | null;
  /** A script in hexadecimal digits */
  "source_pkScript"?: string | null;
  /** Empty for a script without address */
  "source_wallet"?: string | null;
  /** `null` when the inscription was paid as a fee. */
  "spent_pkScript"?: string | null;
  /** `null` when the inscription was paid as a fee. */
  "spent_wallet"?: string | null;
  /** In lower case. */
  "tick"?: string | null;
  /** All zeros for a refund that no transaction made. */
  "txid": Hash;
  /** The transaction that moved the inscription; OPI has a number of its own database there. */
  "using_tx_id"?: Hash | null;
}

export type Brc20EventEventType = "predeploy-inscribe" | "deploy-inscribe" | "mint-inscribe" | "transfer-inscribe" | "transfer-transfer";

/** Height of a block */
export type Brc20Height = number;

/** A ticker, in any case */
export type Brc20Ticker = string;

/** A withdrawal from a pool. */
export interface Burn {
  /** Who did it; null where that has no address. */
  "address": string | null;
  "blockHeight": number;
  "block_height"?: number | null;
  "burnerAddress": string | null;
  "burner_address"?: string | null;
  "eventIndex": number;
  "event_index"?: number | null;
  "id": string;
  "kind"?: string | null;
  "lpTokenAmount": string;
  "lp_token_amount"?: number | string | null;
  "poolBlockId": string;
  "pool_block_id"?: number | string | null;
  "poolId": Id;
  "pool_id"?: Id | null;
  "poolTxId": string;
  "pool_tx_id"?: number | string | null;
  "successful": boolean;
  "timestamp": Time;
  "token0Amount": string;
  "token0_amount"?: number | string | null;
  "token0BlockId": string;
  "token0_block_id"?: number | string | null;
  "token0TxId": string;
  "token0_tx_id"?: number | string | null;
  "token1Amount": string;
  "token1_amount"?: number | string | null;
  "token1BlockId": string;
  "token1_block_id"?: number | string | null;
  "token1TxId": string;
  "token1_tx_id"?: number | string | null;
  "transactionId": Hash;
  "transaction_id"?: Hash | null;
  "transactionIndex": number;
  "transaction_index"?: number | null;
  "type"?: string | null;
  "vout": number;
}

/** A page of burns, newest first. */
export interface BurnPage {
  "burns": Array<Burn>;
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  /** Of the whole listing. */
  "total": number;
}

/** Bare, or wrapped as schema and payload. */
export type ChangeEvent = ChangeEventCase1 | ChangeEventCase2;

/** Operation on a row. */
export type ChangeEventCase1 = ChangeEventCase1C | ChangeEventCase1R | ChangeEventCase1U | ChangeEventCase1D | ChangeEventCase1T | ChangeEventCase1M;

/** The row was inserted. */
export interface ChangeEventCase1C {
  "after": Record<string, unknown>;
  "op": ChangeEventCase1COp;
  /** Origin of a change. */
  "source": ChangeEventCase1CSource;
}

export type ChangeEventCase1COp = "c";

/** Origin of a change. */
export interface ChangeEventCase1CSource {
  /** Position in the log of the database. */
  "lsn"?: number | null;
  /** Tables that are not configured are ignored. */
  "table": string;
  /** Unix milliseconds of the change. */
  "ts_ms"?: number | null;
}

/** The row was deleted. */
export interface ChangeEventCase1D {
  "before": Record<string, unknown>;
  "op": ChangeEventCase1DOp;
  /** Origin of a change. */
  "source": ChangeEventCase1CSource;
}

export type ChangeEventCase1DOp = "d";

/** A message that concerns no row. */
export interface ChangeEventCase1M {
  "op": ChangeEventCase1MOp;
}

export type ChangeEventCase1MOp = "m";

/** The row is part of an initial snapshot. */
export interface ChangeEventCase1R {
  "after": Record<string, unknown>;
  "op": ChangeEventCase1ROp;
  /** Origin of a change. */
  "source": ChangeEventCase1CSource;
}

export type ChangeEventCase1ROp = "r";

/** The table was truncated. */
export interface ChangeEventCase1T {
  "op": ChangeEventCase1TOp;
  /** Origin of a change. */
  "source": ChangeEventCase1CSource;
}

export type ChangeEventCase1TOp = "t";

/** The row was updated. */
export interface ChangeEventCase1U {
  "after": Record<string, unknown>;
  "op": ChangeEventCase1UOp;
  /** Origin of a change. */
  "source": ChangeEventCase1CSource;
}

export type ChangeEventCase1UOp = "u";

export interface ChangeEventCase2 {
  /** Operation on a row. */
  "payload": ChangeEventCase1;
}

/** One change event or an array of them, as Debezium writes them; an invalid one rejects all with 400. */
export type ChangeEvents = ChangeEvent | Array<ChangeEvent | null>;

/** The creation of a pool. */
export interface Creation {
  /** Who did it; null where that has no address. */
  "address": string | null;
  "blockHeight": number;
  "block_height"?: number | null;
  "creatorAddress": string | null;
  "creator_address"?: string | null;
  "eventIndex": number;
  "event_index"?: number | null;
  "id": string;
  "kind"?: string | null;
  "lpTokenAmount": string;
  "lp_token_amount"?: number | string | null;
  "poolBlockId": string;
  "pool_block_id"?: number | string | null;
  "poolId": Id;
  "pool_id"?: Id | null;
  "poolTxId": string;
  "pool_tx_id"?: number | string | null;
  "successful": boolean;
  "timestamp": Time;
  "token0Amount": string;
  "token0_amount"?: number | string | null;
  "token0BlockId": string;
  "token0_block_id"?: number | string | null;
  "token0TxId": string;
  "token0_tx_id"?: number | string | null;
  "token1Amount": string;
  "token1_amount"?: number | string | null;
  "token1BlockId": string;
  "token1_block_id"?: number | string | null;
  "token1TxId": string;
  "token1_tx_id"?: number | string | null;
  "tokenSupply": string;
  "token_supply"?: number | string | null;
  "transactionId": Hash;
  "transaction_id"?: Hash | null;
  "transactionIndex": number;
  "transaction_index"?: number | null;
  "type"?: string | null;
  "vout": number;
}

/** A page of creations, newest first. */
export interface CreationPage {
  /** Of the page. */
  "count": number;
  "creations": Array<Creation>;
  "limit": number | null;
  "offset": number;
  /** Of the whole listing. */
  "total": number;
}

export interface Entry {
  "alkane": IdText;
  "amount": string;
}

/** The id of a factory */
export type FactoryId = AlkaneId;

export interface FoundPath {
  "estimated_output": string;
  "hops": Array<FoundPathHopsItem>;
  "pools": Array<IdText>;
}

export interface FoundPathHopsItem {
  "amount_in": string;
  "amount_out": string;
  "kind": FoundPathHopsItemKind;
  "pool": IdText;
  "token_in": IdText;
  "token_out": IdText;
}

export type FoundPathHopsItemKind = "factory" | "cryptoswap";

export interface GetAddressBalanceAnswer {
  "address": string;
  "balance": number;
  "txCount": number;
  /** Net change by unconfirmed transactions. */
  "unconfirmedBalance": number;
}

export interface GetAddressBalancesAnswer {
  "address": string;
  "balances": Record<string, string>;
  "ok": true;
  "outpoints"?: Array<OutpointEntries> | null;
}

export interface GetAddressOutpointsAnswer {
  "address": string;
  "data": GetAddressOutpointsAnswerData;
  "ok": true;
  "outpoints": Array<OutpointEntries>;
  "statusCode": 200;
}

export interface GetAddressOutpointsAnswerData {
  "address": string;
  "outpoints": Array<OutpointEntries>;
}

export type GetAddressPoolBurnHistorySuccessful = boolean | GetAddressPoolBurnHistorySuccessfulCase2;

export type GetAddressPoolBurnHistorySuccessfulCase2 = "true" | "false" | "all";

export interface GetAlkaneHoldersCountAnswer {
  "alkane": IdText;
  "count": number;
  "ok": true;
}

export type GetAlkaneSwapPairDetailsAnswer = GetAlkaneSwapPairDetailsAnswerCase1 | GetAlkaneSwapPairDetailsAnswerCase2;

/** From one alkane. */
export interface GetAlkaneSwapPairDetailsAnswerCase1 {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  "pairs": Array<Pair>;
  "paths": Array<Path>;
  /** Of the whole listing. */
  "total": number;
}

/** Between two, by pages of paths. */
export interface GetAlkaneSwapPairDetailsAnswerCase2 {
  "count": number;
  /** Whether there are no other ways. */
  "isWhole": boolean;
  "limit": number | null;
  "offset": number;
  "pairs": Array<Pair>;
  "paths": Array<Path>;
  "total": number;
}

export type GetAlkanesOrder = "asc" | "desc";

export type GetAlkanesSortBy = "height" | "holders" | "volume" | "name";

export type GetAllAddressAmmTxHistoryTransactionType = "swap" | "mint" | "burn" | "creation" | "wrap" | "unwrap";

export type GetAllHistoryCategory = "swap" | "mint" | "burn" | "creation" | "wrap" | "unwrap" | "swaps" | "mints" | "burns" | "creations" | "wraps" | "unwraps" | "all";

/** How many records there are, and which of them a page holds. */
export interface GetAllPoolsDetailsAnswer {
  /** Of the page. */
  "count": number;
  "largestPool": PoolDetails | null;
  "limit": number | null;
  "offset": number;
  "pools": Array<PoolDetails>;
  /** Of the whole listing. */
  "total": number;
  "totalPoolVolume24h": number | null;
  "totalPoolVolume24hInSats": number;
  "totalTvl": number | null;
  "totalTvlInSats": number;
  /** The pool whose value rose most. */
  "trendingPools": GetAllPoolsDetailsAnswerTrendingPools | null;
}

/** The pool whose value rose most. */
export interface GetAllPoolsDetailsAnswerTrendingPools {
  "1d": PoolDetails;
}

export type GetAllPoolsDetailsSortBy = "height" | "age" | "name" | "tvl" | "volume" | "volume1d" | "volume7d" | "volume30d" | "volumeAllTime" | "apr" | "tvlChange";

export interface GetAmmUtxosAnswer {
  "count": number;
  "total": number;
  "utxos": Array<Utxo>;
}

/** Source and age of a price, and whether it is stale. */
export interface GetBitcoinMarketChartAnswer {
  /** Price times the bitcoins issued by the subsidy schedule up to the newest indexed block at that time. */
  "market_caps": Array<Array<number | null>>;
  /** Unix milliseconds and US dollars for one bitcoin, ascending. */
  "prices": Array<Array<number>>;
  /** Source of the price: the kind of the pool and its address. */
  "source": string;
  /** Whether the newest price is older than the configured limit. */
  "stale": boolean;
  /** Of the newest price. */
  "timestamp": Time;
  /** US dollars of the 24 hours before; points whose volume is unknown are absent. */
  "total_volumes": Array<Array<number>>;
}

/** The window, which ends at the newest point: every point of a day, the last of each hour of 7 or 30 days, the last of each
 * UTC day of 365. */
export type GetBitcoinMarketChartDays = number | string;

/** Source and age of a price, and whether it is stale. */
export interface GetBitcoinMarketWeeklyAnswer {
  "market_data": GetBitcoinMarketWeeklyAnswerMarketData;
  /** Source of the price: the kind of the pool and its address. */
  "source": string;
  /** Whether the newest price is older than the configured limit. */
  "stale": boolean;
  /** Of the newest price. */
  "timestamp": Time;
}

export interface GetBitcoinMarketWeeklyAnswerMarketData {
  /** US dollars for one bitcoin. */
  "current_price": GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice;
  /** US dollars for one bitcoin. */
  "high_52w": GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice;
  /** US dollars for one bitcoin. */
  "low_52w": GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice;
}

/** US dollars for one bitcoin. */
export interface GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice {
  /** US dollars for one bitcoin. */
  "usd": number;
}

/** Source and age of a price, and whether it is stale. */
export interface GetBitcoinMarketsAnswerItem {
  "base": GetBitcoinMarketsAnswerItemBase;
  /** US dollars for one bitcoin. */
  "converted_last": GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice;
  "last": number;
  /** The exchange, for people. */
  "name": string;
  /** Source of the price: the kind of the pool and its address. */
  "source": string;
  /** Whether the newest price is older than the configured limit. */
  "stale": boolean;
  "target": GetBitcoinMarketsAnswerItemTarget;
  /** Of the newest price. */
  "timestamp": Time;
  /** `yellow` when the price is stale. */
  "trust_score": GetBitcoinMarketsAnswerItemTrustScore;
  /** US dollars of 24 hours, estimated from the pool's fees; null when unknown. */
  "volume": number | null;
}

export type GetBitcoinMarketsAnswerItemBase = "BTC";

export type GetBitcoinMarketsAnswerItemTarget = "USD";

/** `yellow` when the price is stale. */
export type GetBitcoinMarketsAnswerItemTrustScore = "green" | "yellow";

/** Source and age of a price, and whether it is stale. */
export interface GetBitcoinPriceAnswer {
  /** US dollars for one bitcoin. */
  "bitcoin": GetBitcoinMarketWeeklyAnswerMarketDataCurrentPrice;
  /** Source of the price: the kind of the pool and its address. */
  "source": string;
  /** Whether the newest price is older than the configured limit. */
  "stale": boolean;
  /** Of the newest price. */
  "timestamp": Time;
}

export interface GetCandlesAnswer {
  "candles": Array<GetCandlesAnswerCandlesItem>;
  "interval": string;
  "ok": true;
  "pool": IdText;
}

export interface GetCandlesAnswerCandlesItem {
  /** A decimal number. */
  "close": string;
  "close_time": Time | null;
  /** A decimal number. */
  "high": string;
  /** A decimal number. */
  "low": string;
  /** A decimal number. */
  "open": string;
  "open_time": Time;
  "trade_count": number;
  "volume0": string;
  "volume1": string;
}

export interface GetHoldersAnswer {
  "count": number;
  "holders": Array<GetHoldersAnswerHoldersItem>;
  "limit": number;
  "offset": number;
  "total": number;
}

export interface GetHoldersAnswerHoldersItem {
  "address": string;
  "amount": string;
  "balance": string;
  "lastUpdatedBlock": number | null;
}

export interface GetIndexerPositionAnswer {
  "hash": Hash;
  "height": number;
}

export interface GetIntentHistoryAnswer {
  "intents": Array<Intent>;
  "total": number;
}

export interface GetKeysAnswer {
  "alkane": IdText;
  "keys": Record<string, GetKeysAnswerKeysValue>;
  "ok": true;
}

export interface GetKeysAnswerKeysValue {
  "block_height": number | null;
  "key": string;
  "key_hex": Hex;
  "last_txid": Hash | null;
  "last_vout": number | null;
  "updated_at": Time | null;
  "value": Hex;
  "value_str": string | null;
}

export interface GetOutpointBalancesAnswer {
  "items": Array<OutpointItem>;
  "ok": true;
  "outpoint": OutpointText;
}

export interface GetReorgsAnswer {
  /** Number of all recorded reorganisations. */
  "count": number;
  "reorgs": Array<GetReorgsAnswerReorgsItem>;
}

export interface GetReorgsAnswerReorgsItem {
  /** The removed blocks, the newest first. */
  "blocks": Array<GetReorgsAnswerReorgsItemBlocksItem>;
  /** Number of removed blocks. */
  "depth": number;
  /** Its hash. */
  "forkHash": Hash;
  /** Height of the last common block of both branches. */
  "forkHeight": number;
}

/** A block that left the best chain. */
export interface GetReorgsAnswerReorgsItemBlocksItem {
  "hash": Hash;
  "height": number;
  /** Hash of the block at this height in the best chain; null above the tip. */
  "replacedBy": Hash | null;
  /** Header time, Unix seconds. */
  "time": number;
}

export interface GetReservesAnswer {
  "block_height": number;
  "ok": true;
  "pool": IdText;
  "reserve0": string;
  "reserve1": string;
  "timestamp": Time | null;
}

export interface GetTaprootHistoryAnswer {
  "transactions": Array<GetTaprootHistoryAnswerTransactionsItem>;
}

export interface GetTaprootHistoryAnswerTransactionsItem {
  "blockHeight": number | null;
  "confirmed": boolean;
  "fee": number | null;
  "timestamp": Time | null;
  "txid": Hash;
  /** Change of the address's balance by the transaction, in satoshis. */
  "value": number;
}

export interface GetTotalUnwrapAmountAnswer {
  "totalAmount": string;
}

export interface GetTradesAnswer {
  "ok": true;
  "pool": IdText;
  "trades": Array<GetTradesAnswerTradesItem>;
}

export interface GetTradesAnswerTradesItem {
  "amount0_in": string;
  "amount0_out": string;
  "amount1_in": string;
  "amount1_out": string;
  "block_height": number;
  /** At the end of the block. */
  "reserve0_after": string;
  /** At the end of the block. */
  "reserve1_after": string;
  "timestamp": Time;
  "token0": IdText;
  "token1": IdText;
  "txid": Hash;
  "vout": number;
}

export interface GlobalAlkanesSearchAnswer {
  "pools": Array<PoolDetails>;
  "tokens": Array<Token>;
}

/** 32 bytes in display order */
export type Hash = string;

/** Bytes. */
export type Hex = string;

export interface HolderPage {
  "alkane": IdText;
  "has_more": boolean;
  "items": Array<HolderPageItemsItem>;
  "limit": number;
  "ok": true;
  /** Rank, from 1. */
  "page": number;
  "total": number;
}

export interface HolderPageItemsItem {
  "address": string;
  "amount": string;
}

/** An id as an object. */
export interface Id {
  "block": string;
  "tx": string;
}

export type IdText = string;

/** txid, i, index */
export type InscriptionId = string;

/** A message of one of the address's transactions. */
export interface Intent {
  "blockHeight": number;
  "incoming": Array<Transfer>;
  "inputs": Array<string>;
  "opcode": string | null;
  "outgoing": Array<Transfer>;
  /** `revert` also when all effects of the message were undone. */
  "status": IntentStatus;
  /** The called contract; null when the message led to no call. */
  "target": Id | null;
  "timestamp": Time;
  "txid": Hash;
  "vout": number;
}

/** `revert` also when all effects of the message were undone. */
export type IntentStatus = "success" | "revert";

/** A deposit into a pool. */
export interface Mint {
  /** Who did it; null where that has no address. */
  "address": string | null;
  "blockHeight": number;
  "block_height"?: number | null;
  "eventIndex": number;
  "event_index"?: number | null;
  "id": string;
  "kind"?: string | null;
  "lpTokenAmount": string;
  "lp_token_amount"?: number | string | null;
  "minterAddress": string | null;
  "minter_address"?: string | null;
  "poolBlockId": string;
  "pool_block_id"?: number | string | null;
  "poolId": Id;
  "pool_id"?: Id | null;
  "poolTxId": string;
  "pool_tx_id"?: number | string | null;
  "successful": boolean;
  "timestamp": Time;
  "token0Amount": string;
  "token0_amount"?: number | string | null;
  "token0BlockId": string;
  "token0_block_id"?: number | string | null;
  "token0TxId": string;
  "token0_tx_id"?: number | string | null;
  "token1Amount": string;
  "token1_amount"?: number | string | null;
  "token1BlockId": string;
  "token1_block_id"?: number | string | null;
  "token1TxId": string;
  "token1_tx_id"?: number | string | null;
  "transactionId": Hash;
  "transaction_id"?: Hash | null;
  "transactionIndex": number;
  "transaction_index"?: number | null;
  "type"?: string | null;
  "vout": number;
}

/** A page of mints, newest first. */
export interface MintPage {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "mints": Array<Mint>;
  "offset": number;
  /** Of the whole listing. */
  "total": number;
}

/** An order. */
export interface Order {
  "assets": Array<OrderAssetsItem>;
  /** Unix microseconds. */
  "createdAt"?: number | null;
  /** Columns that no other member holds. */
  "ext": Record<string, unknown>;
  "id": string;
  "kind": OrderKind;
  "makerAddress"?: string | null;
  /** Its main market. */
  "marketKey": string;
  "network": string;
  /** With all its digits, verbatim. */
  "price"?: string | null;
  "priceUnit"?: string | null;
  /** base64. */
  "psbt"?: string | null;
  "side"?: string | null;
  "source": string;
  /** The first three are active. */
  "status": OrderStatus;
  /** All its markets. */
  "topics": Array<string>;
  /** Unix microseconds. */
  "updatedAt"?: number | null;
}

export interface OrderAssetsItem {
  /** Base units. */
  "amountRaw"?: string | null;
  /** loan or collateral of a loan offer. */
  "role"?: string | null;
  "tokenId": string;
}

/** A change event with its sequence number. */
export interface OrderEventRecord {
  /** The event, verbatim. */
  "event": unknown;
  /** Unix microseconds. */
  "received_at": number;
  /** Sequence number in the stream. */
  "seq": number;
}

/** Id of an order within its source */
export type OrderId = string;

export type OrderKind = "listing" | "offer";

/** <source>:<network>:<scope>:<key>, such as orbitals:mainnet:book:*; anything else is 400 */
export type OrderMarket = string;

/** A market that has active orders. */
export interface OrderMarketRecord {
  "market_key": string;
  "network": string;
  /** Active orders that have it as their main market. */
  "open_orders": number;
  "source": string;
}

/** Where an order comes from */
export type OrderSource = string;

/** The first three are active. */
export type OrderStatus = "open" | "matched" | "pending" | "filled" | "taken" | "cancelled" | "expired" | "removed";

/** Result of accepting change events. */
export interface OrderbookIngestAnswer {
  /** Number of accepted events. */
  "events": number;
  "status": OrderbookIngestAnswerStatus;
}

export type OrderbookIngestAnswerStatus = "queued";

/** txid:vout, the txid in display order */
export type Outpoint = string;

export interface OutpointEntries {
  "entries": Array<Entry>;
  "outpoint": OutpointText;
}

export interface OutpointItem {
  /** The script in hexadecimal digits where it has no address form. */
  "address": string;
  "entries": Array<Entry>;
  "outpoint": OutpointText;
}

/** txid:vout */
export type OutpointText = string;

/** Two alkanes that a pool trades. */
export interface Pair {
  "poolId": Id;
  "poolName": string;
  "poolTvlInSats": number | null;
  "poolTvlInUsd": number | null;
  "poolVolume1dInSats": number | null;
  "poolVolume1dInUsd": number | null;
  "reserve0": string;
  "reserve1": string;
  /** An alkane of a pair, with its amount under two names. */
  "token0": PairToken0;
  /** An alkane of a pair, with its amount under two names. */
  "token1": PairToken1;
}

/** A page of pairs. */
export interface PairPage {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  "pairs": Array<Pair>;
  /** Of the whole listing. */
  "total": number;
}

/** An alkane of a pair, with its amount under two names. */
export interface PairToken0 {
  "alkaneId": Id;
  "amount": string;
  "decimals": number;
  "name": string | null;
  "symbol": string | null;
  "token0Amount": string;
}

/** An alkane of a pair, with its amount under two names. */
export interface PairToken1 {
  "alkaneId": Id;
  "amount": string;
  "decimals": number;
  "name": string | null;
  "symbol": string | null;
  "token1Amount": string;
}

/** A way from one alkane to another. */
export interface Path {
  "path": Array<Id>;
  "pools": Array<Pool>;
  "type": PathType;
}

export type PathType = "direct" | "multi";

export interface PathfindAnswer {
  "amount_in": string;
  "ok": true;
  "paths": Array<FoundPath>;
  "token_in": IdText;
  "token_out": IdText;
}

/** A pool. Every member stands there a second time under its snake_case name, some amounts as numbers, where the instance is set up so. */
export interface Pool {
  "block": string;
  "creationBlockHeight": number;
  "creation_block_height"?: number | null;
  "creatorAddress": string | null;
  "creator_address"?: string | null;
  "factoryBlockId": string;
  "factory_block_id"?: number | string | null;
  "factoryId": Id;
  "factory_id"?: Id | null;
  "factoryTxId": string;
  "factory_tx_id"?: number | string | null;
  "feePer1000": number | null;
  "fee_per1000"?: number | null;
  "id": IdText;
  "poolBlockId": string;
  "pool_block_id"?: number | string | null;
  "poolId": Id;
  "pool_id"?: Id | null;
  "poolName": string;
  "pool_name"?: string | null;
  "poolTxId": string;
  "pool_tx_id"?: number | string | null;
  "reserve0": string;
  "reserve1": string;
  "token0": Id;
  "token0Amount": string;
  "token0_amount"?: number | string | null;
  "token0BlockId": string;
  "token0_block_id"?: number | string | null;
  "token0TxId": string;
  "token0_tx_id"?: number | string | null;
  "token1": Id;
  "token1Amount": string;
  "token1_amount"?: number | string | null;
  "token1BlockId": string;
  "token1_block_id"?: number | string | null;
  "token1TxId": string;
  "token1_tx_id"?: number | string | null;
  "tokenSupply": string;
  "token_supply"?: number | string | null;
  "totalSupply": string;
  "total_supply"?: number | string | null;
  "tx": string;
}

/** A pool with what it is worth; null where no price is known. Every member stands there a second time under its snake_case name, some amounts as numbers, where the instance is set up so. */
export interface PoolDetails {
  "apr": number | null;
  "block": string;
  "creationBlockHeight": number;
  "creation_block_height"?: number | null;
  "creatorAddress": string | null;
  "creator_address"?: string | null;
  "factoryBlockId": string | null;
  "factory_block_id"?: number | string | null;
  "factoryId": Id | null;
  "factory_id"?: Id | null;
  "factoryTxId": string | null;
  "factory_tx_id"?: number | string | null;
  "feePer1000": number | null;
  "fee_per1000"?: number | null;
  "id": IdText;
  "initialToken0Amount"?: string | null;
  "initial_token0_amount"?: number | string | null;
  "initialToken1Amount"?: string | null;
  "initial_token1_amount"?: number | string | null;
  "lPTokenValueInSats": number | null;
  "l_p_token_value_in_sats"?: number | null;
  "lPTokenValueInUsd": number | null;
  "l_p_token_value_in_usd"?: number | null;
  "poolApr": number | null;
  "pool_apr"?: number | null;
  "poolBlockId": string;
  "pool_block_id"?: number | string | null;
  "poolId": Id;
  "pool_id"?: Id | null;
  "poolName": string | null;
  "pool_name"?: string | null;
  "poolTvlInSats": number | null;
  "pool_tvl_in_sats"?: number | null;
  "poolTvlInUsd": number | null;
  "pool_tvl_in_usd"?: number | null;
  "poolTxId": string;
  "pool_tx_id"?: number | string | null;
  "poolVolume1dInSats": number | null;
  "pool_volume1d_in_sats"?: number | null;
  "poolVolume1dInUsd": number | null;
  "pool_volume1d_in_usd"?: number | null;
  "poolVolume30dInSats": number | null;
  "pool_volume30d_in_sats"?: number | null;
  "poolVolume30dInUsd": number | null;
  "pool_volume30d_in_usd"?: number | null;
  "poolVolume7dInSats": number | null;
  "pool_volume7d_in_sats"?: number | null;
  "poolVolume7dInUsd": number | null;
  "pool_volume7d_in_usd"?: number | null;
  "poolVolumeAllTimeInSats": number | null;
  "pool_volume_all_time_in_sats"?: number | null;
  "poolVolumeAllTimeInUsd": number | null;
  "pool_volume_all_time_in_usd"?: number | null;
  "price": number | null;
  "priceChange24h": number | null;
  "price_change24h"?: number | null;
  "priceChange7d": number | null;
  "price_change7d"?: number | null;
  "reserve0": string;
  "reserve1": string;
  "token0": Id;
  "token0Amount": string;
  "token0_amount"?: number | string | null;
  "token0BlockId": string;
  "token0_block_id"?: number | string | null;
  "token0TvlInSats": number | null;
  "token0_tvl_in_sats"?: number | null;
  "token0TvlInUsd": number | null;
  "token0_tvl_in_usd"?: number | null;
  "token0TxId": string;
  "token0_tx_id"?: number | string | null;
  "token0Volume1d": string;
  "token0_volume1d"?: number | string | null;
  "token0Volume30d": string;
  "token0_volume30d"?: number | string | null;
  "token0Volume7d": string;
  "token0_volume7d"?: number | string | null;
  "token0VolumeAllTime": string;
  "token0_volume_all_time"?: number | string | null;
  "token1": Id;
  "token1Amount": string;
  "token1_amount"?: number | string | null;
  "token1BlockId": string;
  "token1_block_id"?: number | string | null;
  "token1TvlInSats": number | null;
  "token1_tvl_in_sats"?: number | null;
  "token1TvlInUsd": number | null;
  "token1_tvl_in_usd"?: number | null;
  "token1TxId": string;
  "token1_tx_id"?: number | string | null;
  "token1Volume1d": string;
  "token1_volume1d"?: number | string | null;
  "token1Volume30d": string;
  "token1_volume30d"?: number | string | null;
  "token1Volume7d": string;
  "token1_volume7d"?: number | string | null;
  "token1VolumeAllTime": string;
  "token1_volume_all_time"?: number | string | null;
  "tokenSupply": string | null;
  "token_supply"?: number | string | null;
  "totalSupply": string | null;
  "total_supply"?: number | string | null;
  "trades1d": number;
  "trades30d": number;
  "trades7d": number;
  "tradesAllTime": number;
  "trades_all_time"?: number | null;
  /** Change of the value in a day in percent, of the pool that rose most. */
  "trend"?: number | null;
  "tvl": number | null;
  "tvlChange": number | null;
  "tvl_change"?: number | null;
  "tvlChange24h": number | null;
  "tvl_change24h"?: number | null;
  "tvlChange7d": number | null;
  "tvl_change7d"?: number | null;
  "tx": string;
  /** Of a CryptoSwap pool alone. */
  "type"?: PoolDetailsType | null;
  "volume1d": number | null;
  "volume30d": number | null;
  "volume7d": number | null;
  "volumeAllTime": number | null;
  "volume_all_time"?: number | null;
}

/** Of a CryptoSwap pool alone. */
export type PoolDetailsType = "cryptoswap";

/** The id of a pool */
export type PoolId = AlkaneId;

/** The id of a pool, block:tx. */
export type PoolIdText = string;

/** A page of pools. */
export interface PoolPage {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  "pools": Array<Pool>;
  /** Of the whole listing. */
  "total": number;
}

/** What an address holds of a pool. */
export interface Position {
  "address": string;
  "balance": string;
  "liquidityAmount": string;
  "liquidity_amount"?: number | string | null;
  "pool": PoolDetails;
  "poolId": Id;
  "pool_id"?: Id | null;
  "poolName": string;
  "pool_name"?: string | null;
  /** Part of the liquidity, 1 for all of it. */
  "share": number;
  "token0": Id;
  "token0Amount": string;
  "token0_amount"?: number | string | null;
  "token0ValueInSats": number | null;
  "token0_value_in_sats"?: number | null;
  "token0ValueInUsd": number | null;
  "token0_value_in_usd"?: number | null;
  "token1": Id;
  "token1Amount": string;
  "token1_amount"?: number | string | null;
  "token1ValueInSats": number | null;
  "token1_value_in_sats"?: number | null;
  "token1ValueInUsd": number | null;
  "token1_value_in_usd"?: number | null;
  "totalValueInSats": number | null;
  "total_value_in_sats"?: number | null;
  "totalValueInUsd": number | null;
  "total_value_in_usd"?: number | null;
}

export interface ReadAddressAddressBalancesAnswer {
  "address": string;
  "balances": Array<ReadAddressAddressBalancesAnswerBalancesItem>;
}

/** Id, name and symbol beside an amount. */
export interface ReadAddressAddressBalancesAnswerBalancesItem {
  "alkaneId": Id;
  "amount": string;
  "id": IdText;
  "name": string | null;
  "symbol": string | null;
}

export interface ReadAlkanesIdHoldersCountAnswer {
  "count": number;
}

export interface ReadBlockhashAnswer {
  "hash": Hash;
}

export interface ReadBlockheightAnswer {
  "height": number;
}

export interface ReadCoingeckoHistoricalTradesAnswer {
  "buy": Array<ReadCoingeckoHistoricalTradesAnswerBuyItem>;
  "sell": Array<ReadCoingeckoHistoricalTradesAnswerBuyItem>;
}

export interface ReadCoingeckoHistoricalTradesAnswerBuyItem {
  /** A decimal as text. */
  "base_volume": string;
  /** Units of the target for one of the base, the fee included. */
  "price": string;
  /** A decimal as text. */
  "target_volume": string;
  /** Number of the trade among those of its pool, from 1. */
  "trade_id": number;
  /** Unix milliseconds of the block. */
  "trade_timestamp": number;
  /** The side of a trade. */
  "type": ReadCoingeckoHistoricalTradesType;
}

/** Both when absent. */
export type ReadCoingeckoHistoricalTradesType = "buy" | "sell";

export interface ReadCoingeckoOrderbookAnswer {
  /** Price and amount of the base, the lowest price first. */
  "asks": Array<Array<string>>;
  /** Price and amount of the base, the highest price first. */
  "bids": Array<Array<string>>;
  "pool_id": IdText;
  "ticker_id": TickerId;
  /** Unix milliseconds of the newest block. */
  "timestamp": number;
}

export interface ReadCoingeckoPairsAnswerItem {
  "base": IdText;
  "pool_id": IdText;
  "target": IdText;
  "ticker_id": TickerId;
}

export interface ReadCoingeckoTickersAnswerItem {
  /** The best price of the book; absent when it is empty. */
  "ask"?: string | null;
  "base_currency": IdText;
  /** A decimal as text. */
  "base_volume": string;
  /** The best price of the book; absent when it is empty. */
  "bid"?: string | null;
  /** Absent without a trade in the window. */
  "high"?: string | null;
  /** Units of the target for one of the base, as for all prices. */
  "last_price": string;
  /** Value of the pool's reserves, in dollars with cents, rounded down; absent while no source of dollars reports, or no price is known. */
  "liquidity_in_usd"?: string | null;
  /** Absent without a trade in the window. */
  "low"?: string | null;
  "pool_id": IdText;
  "target_currency": IdText;
  /** A decimal as text. */
  "target_volume": string;
  "ticker_id": TickerId;
}

export interface ReadDexscreenerAssetAnswer {
  "asset": ReadDexscreenerAssetAnswerAsset;
}

export interface ReadDexscreenerAssetAnswerAsset {
  "id": IdText;
  /** As its contract reports it; its symbol or its id where that is not printable. */
  "name": string;
  /** As its contract reports it; its name or its id where that is not printable. */
  "symbol": string;
  /** Whole alkanes; absent when the contract reports none. */
  "totalSupply"?: string | null;
}

export interface ReadDexscreenerEventsAnswer {
  "events": Array<ReadDexscreenerEventsAnswerEventsItem>;
}

export type ReadDexscreenerEventsAnswerEventsItem = ReadDexscreenerEventsAnswerEventsItemSwap | ReadDexscreenerEventsAnswerEventsItemCase2;

/** Liquidity that was added or removed. */
export interface ReadDexscreenerEventsAnswerEventsItemCase2 {
  /** A decimal as text. */
  "amount0": string;
  /** A decimal as text. */
  "amount1": string;
  "block": ReadDexscreenerEventsAnswerEventsItemSwapBlock;
  /** Index among the events of the transaction. */
  "eventIndex": number;
  "eventType": ReadDexscreenerEventsAnswerEventsItemCase2EventType;
  /** An address, or `unknown`. */
  "maker": string;
  "pairId": IdText;
  /** After the event; absent when only the reserves at the end of the block are known. */
  "reserves"?: ReadDexscreenerEventsAnswerEventsItemSwapReserves | null;
  "txnId": Hash;
  /** Index of the transaction in its block. */
  "txnIndex": number;
}

export type ReadDexscreenerEventsAnswerEventsItemCase2EventType = "join" | "exit";

/** A trade: one alkane goes into the pool, the other comes out. */
export interface ReadDexscreenerEventsAnswerEventsItemSwap {
  /** A decimal as text. */
  "asset0In"?: string | null;
  /** A decimal as text. */
  "asset0Out"?: string | null;
  /** A decimal as text. */
  "asset1In"?: string | null;
  /** A decimal as text. */
  "asset1Out"?: string | null;
  "block": ReadDexscreenerEventsAnswerEventsItemSwapBlock;
  /** Index among the events of the transaction. */
  "eventIndex": number;
  "eventType": ReadDexscreenerEventsAnswerEventsItemSwapEventType;
  /** An address, or `unknown`. */
  "maker": string;
  "pairId": IdText;
  /** Units of asset 1 for one of asset 0, rounded half to even at the 50th decimal place. */
  "priceNative": string;
  /** After the event; absent when only the reserves at the end of the block are known. */
  "reserves"?: ReadDexscreenerEventsAnswerEventsItemSwapReserves | null;
  "txnId": Hash;
  /** Index of the transaction in its block. */
  "txnIndex": number;
}

export interface ReadDexscreenerEventsAnswerEventsItemSwapBlock {
  "blockNumber": number;
  /** Unix seconds of its header. */
  "blockTimestamp": number;
}

export type ReadDexscreenerEventsAnswerEventsItemSwapEventType = "swap";

/** After the event; absent when only the reserves at the end of the block are known. */
export interface ReadDexscreenerEventsAnswerEventsItemSwapReserves {
  /** A decimal as text. */
  "asset0": string;
  /** A decimal as text. */
  "asset1": string;
}

export interface ReadDexscreenerLatestBlockAnswer {
  "block": ReadDexscreenerEventsAnswerEventsItemSwapBlock;
}

export interface ReadDexscreenerPairAnswer {
  "pair": ReadDexscreenerPairAnswerPair;
}

export interface ReadDexscreenerPairAnswerPair {
  "asset0Id": IdText;
  "asset1Id": IdText;
  "createdAtBlockNumber": number;
  /** Unix seconds. */
  "createdAtBlockTimestamp": number;
  /** Absent for a `CryptoSwap` pool. */
  "createdAtTxnId"?: Hash | null;
  /** Absent where its creator has no address. */
  "creator"?: string | null;
  /** The factory of the pool; 0:0 for a `CryptoSwap` pool, which none lists. */
  "dexKey": IdText;
  /** In parts of 10,000; absent for a `CryptoSwap` pool, whose fee varies. */
  "feeBps"?: number | null;
  "id": IdText;
}

export interface ReadHealthAnswer {
  /** Absent where other instances answer. */
  "contracts"?: ReadHealthAnswerContracts | null;
  "height": number | null;
  "network": string;
  "node": ReadHealthAnswerNode;
  /** The durable stream of change events; absent where there is no orderbook. */
  "orderbook"?: ReadHealthAnswerOrderbook | null;
  /** The native engine beside a hosted indexer program; absent where only one of them runs. */
  "shadow"?: ReadHealthAnswerShadow | null;
  /** `status` of `/v4/api/health` (docs/api.md, "Health"). */
  "status": ReadHealthAnswerStatus;
  /** Unix seconds. */
  "timestamp": number;
  /** Absent where no other instances answer. */
  "upstreams"?: ReadHealthAnswerUpstreams | null;
}

/** Absent where other instances answer. */
export interface ReadHealthAnswerContracts {
  /** Whether what depends on the contract index is answered. */
  "answered": boolean;
  /** Why not, and what to do. */
  "reason"?: string | null;
}

export interface ReadHealthAnswerNode {
  /** A class, since the text of an error could reveal where the node is. */
  "error": string | null;
  "height": number | null;
  "reachable": boolean;
}

/** The durable stream of change events; absent where there is no orderbook. */
export interface ReadHealthAnswerOrderbook {
  /** How its durable stream is: `ready`, `away` or `mismatch`. */
  "stream": string;
}

/** The native engine beside a hosted indexer program; absent where only one of them runs. */
export interface ReadHealthAnswerShadow {
  /** Blocks that both have run and that were compared. */
  "compared": number;
  /** Whether blocks are compared: no longer when the native engine has stopped. */
  "comparing": boolean;
  /** Compared blocks whose results differ. */
  "differences": number;
}

/** `status` of `/v4/api/health` (docs/api.md, "Health"). */
export type ReadHealthAnswerStatus = "ok" | "starting" | "degraded" | "stalled" | "draining";

/** Absent where no other instances answer. */
export interface ReadHealthAnswerUpstreams {
  /** All of them. */
  "configured": number;
  /** Instances behind this gateway that answer. */
  "reachable": number;
}

/** Balance of a script. */
export interface ReadOpiV1Brc20BalanceAnswer {
  /** The balance not reserved by transfer inscriptions. */
  "available_balance": string;
  "block_height": number;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "overall_balance": string;
}

/** Balance of a script. */
export interface ReadOpiV1Brc20BalanceOnBlockAnswer {
  /** The balance not reserved by transfer inscriptions. */
  "available_balance": string;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "overall_balance": string;
}

export interface ReadOpiV1Brc20GetHashOfAllActivityAnswer {
  "block_event_hash": Hash;
  "block_height": number;
  /** Of the programmable module, which does not run here. */
  "block_trace_hash": ReadOpiV1Brc20GetHashOfAllActivityAnswerBlockTraceHash;
  "cumulative_event_hash": Hash;
  /** Of the programmable module, which does not run here. */
  "cumulative_trace_hash": ReadOpiV1Brc20GetHashOfAllActivityAnswerBlockTraceHash;
  "indexer_version": string;
}

/** Of the programmable module, which does not run here. */
export type ReadOpiV1Brc20GetHashOfAllActivityAnswerBlockTraceHash = "";

export interface ReadOpiV1Brc20GetHashOfAllCurrentBalancesAnswer {
  "block_height": number;
  "current_balances_hash": Hash;
  "indexer_version": string;
}

/** A list under OPI's name for all lists. */
export interface ReadOpiV1Brc20GetValidTxNotesOfTickerAnswer {
  "block_height": number;
  "unused_txes": Array<ReadOpiV1Brc20GetValidTxNotesOfTickerAnswerUnusedTxesItem>;
}

export interface ReadOpiV1Brc20GetValidTxNotesOfTickerAnswerUnusedTxesItem {
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "amount": string;
  /** A script in hexadecimal digits */
  "current_holder_pkscript"?: string | null;
  /** Empty for a script without address */
  "current_holder_wallet"?: string | null;
  "genesis_height": number;
  "inscription_id": string;
  "tick": string;
}

export interface ReadOpiV1Brc20HistoryAnswer {
  "block_height": number;
  "cursor": string | null;
  "events": Array<Brc20Event>;
}

/** A list under OPI's name for all lists. */
export interface ReadOpiV1Brc20HoldersAnswer {
  "block_height": number;
  "unused_txes": Array<ReadOpiV1Brc20HoldersAnswerUnusedTxesItem>;
}

/** Balance of a script. */
export interface ReadOpiV1Brc20HoldersAnswerUnusedTxesItem {
  /** The balance not reserved by transfer inscriptions. */
  "available_balance": string;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "overall_balance": string;
  /** A script in hexadecimal digits */
  "pkscript": string;
  /** Empty for a script without address */
  "wallet": string;
}

export interface ReadOpiV1Brc20TokenSummaryAnswer {
  "block_height": number;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "burned_supply": string;
  /** At most 18. */
  "decimals": number;
  "deploy_block_height": number;
  "deploy_inscription_id": string;
  /** A script in hexadecimal digits */
  "deployer_pkScript": string;
  /** Empty for a script without address */
  "deployer_wallet": string;
  "holders": number;
  "is_self_mint": boolean;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "limit_per_mint": string;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "max_supply": string;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "minted_supply": string;
  "mints": number;
  /** As deployed. */
  "original_tick": string;
  /** In units of the 18th decimal place, whatever the token's own decimals are */
  "remaining_supply": string;
  /** In lower case. */
  "tick": string;
  "transfers": number;
}

/** A page of change events. */
export interface ReadOrderbookEventsAnswer {
  "events": Array<OrderEventRecord>;
  /** Whether more events are available now. */
  "has_more": boolean;
  /** `since` of the next page. */
  "next": number;
}

export interface ReadOrderbookMarketsAnswer {
  "markets": Array<OrderMarketRecord>;
}

/** The active orders of a market at one moment. */
export interface ReadOrderbookSnapshotAnswer {
  /** CRC-32 over id, status and price of each order. */
  "checksum": string;
  "market": string;
  /** Active ones by ascending id. */
  "orders": Array<Order>;
  /** Number of the newest change; the stream goes on after it. */
  "seq": number;
}

export interface ReadOutpointOutpointBalancesAnswer {
  "items": Array<OutpointItem>;
  "outpoint": OutpointText;
}

export interface ReadUdfConfigAnswer {
  /** The first is all of them, the others one each: the first 50 by id. */
  "exchanges": Array<ReadUdfConfigAnswerExchangesItem>;
  "supported_resolutions": Array<string>;
  "supports_group_request": boolean;
  "supports_marks": boolean;
  "supports_search": boolean;
  "supports_time": boolean;
  "supports_timescale_marks": boolean;
  "symbols_types": Array<ReadUdfConfigAnswerSymbolsTypesItem>;
}

export interface ReadUdfConfigAnswerExchangesItem {
  "desc": string;
  "name": string;
  /** The factory's id, or nothing for all of them. */
  "value": string;
}

export interface ReadUdfConfigAnswerSymbolsTypesItem {
  "name": string;
  "value": string;
}

/** Bars as columns, or that there are none. */
export type ReadUdfHistoryAnswer = ReadUdfHistoryAnswerOk | ReadUdfHistoryAnswerNoData;

export interface ReadUdfHistoryAnswerNoData {
  /** Where the newest bar before `from` begins, Unix seconds; absent when there is none. */
  "nextTime"?: number | null;
  "s": ReadUdfHistoryAnswerNoDataS;
}

export type ReadUdfHistoryAnswerNoDataS = "no_data";

export interface ReadUdfHistoryAnswerOk {
  "c": Array<number>;
  "h": Array<number>;
  "l": Array<number>;
  "o": Array<number>;
  "s": ReadUdfHistoryAnswerOkS;
  /** Where each begins, Unix seconds. */
  "t": Array<number>;
  /** Of the pool's first alkane. */
  "v": Array<number>;
}

export type ReadUdfHistoryAnswerOkS = "ok";

/** Width of a bar: minutes, or days, weeks, months. */
export type ReadUdfHistoryResolution = "10" | "60" | "240" | "1D" | "1W" | "1M" | "D" | "W" | "M";

export interface ReadUdfSearchAnswerItem {
  "description": string;
  "exchange": IdText;
  /** The ids of factory and pool. */
  "full_name": string;
  /** The symbols of both alkanes. */
  "symbol": string;
  /** The id of the pool. */
  "ticker": IdText;
  "type": string;
}

export interface ReadUdfSymbolsAnswer {
  /** The price is in units of this alkane. */
  "currency_code": string;
  "data_status": string;
  "description": string;
  "exchange": IdText;
  "format": string;
  /** The ids of factory and pool. */
  "full_name": string;
  "has_daily": boolean;
  "has_empty_bars": boolean;
  "has_intraday": boolean;
  "has_weekly_and_monthly": boolean;
  "intraday_multipliers": Array<string>;
  "listed_exchange": IdText;
  "minmov": number;
  /** The symbols of both alkanes. */
  "name": string;
  /** A power of ten, by the price of the newest trade. */
  "pricescale": number;
  "session": string;
  "supported_resolutions": Array<string>;
  /** The id of the pool, with which clients request data. */
  "ticker": IdText;
  "timezone": string;
  "type": string;
  "volume_precision": number;
}

/** A script in hexadecimal digits */
export type Script = string;

/** A trade with a pool. */
export interface Swap {
  /** Who did it; null where that has no address. */
  "address": string | null;
  "blockHeight": number;
  "block_height"?: number | null;
  "boughtAmount": string;
  "bought_amount"?: number | string | null;
  "boughtTokenBlockId": string;
  "bought_token_block_id"?: number | string | null;
  "boughtTokenTxId": string;
  "bought_token_tx_id"?: number | string | null;
  "eventIndex": number;
  "event_index"?: number | null;
  "id": string;
  "kind"?: string | null;
  /** An amount of an alkane. */
  "pay": SwapPay;
  "poolBlockId": string;
  "pool_block_id"?: number | string | null;
  "poolId": Id;
  "pool_id"?: Id | null;
  "poolTxId": string;
  "pool_tx_id"?: number | string | null;
  "price": number | null;
  /** An amount of an alkane. */
  "receive": SwapPay;
  "sellerAddress": string | null;
  "seller_address"?: string | null;
  "soldAmount": string;
  "sold_amount"?: number | string | null;
  "soldTokenBlockId": string;
  "sold_token_block_id"?: number | string | null;
  "soldTokenTxId": string;
  "sold_token_tx_id"?: number | string | null;
  "successful": boolean;
  "timestamp": Time;
  "transactionId": Hash;
  "transaction_id"?: Hash | null;
  "transactionIndex": number;
  "transaction_index"?: number | null;
  "type"?: string | null;
  "vout": number;
}

/** A page of swaps, newest first. */
export interface SwapPage {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  /** The pool of a page. */
  "pool"?: SwapPagePool | null;
  "swaps": Array<Swap>;
  /** Of the whole listing. */
  "total": number;
}

/** The pool of a page. */
export interface SwapPagePool {
  "poolId": Id;
  "poolName": string | null;
}

/** An amount of an alkane. */
export interface SwapPay {
  "amount": string;
  "tokenId": Id;
}

/** Everything, each with its kind, and once more by kinds. */
export interface TaggedActivity {
  "burns": Array<Burn>;
  /** Of the page. */
  "count": number;
  "creations": Array<Creation>;
  "limit": number | null;
  "mints": Array<Mint>;
  "offset": number;
  "swaps": Array<Swap>;
  /** Of the whole listing. */
  "total": number;
  "transactions": Array<ActivityTransactionsItem>;
}

/** Base and target of a pool: its alkanes in its order */
export type TickerId = string;

/** RFC 3339, UTC */
export type Time = string;

/** A contract; what it is worth is of 10^8 base units, null where no price is known. */
export interface Token {
  "alkaneId": Id;
  /** Where an address is asked about. */
  "balance": string | null;
  "busdPoolPriceInUsd": number | null;
  /** How many mints there may be. */
  "cap": string | null;
  "createdAtHeight": number;
  "decimals": number;
  /** Of all that can be minted. */
  "fdv": number | null;
  "fdvInSats": number | null;
  /** Dollars that pools ask: the lowest price that this instance knows. */
  "floorPrice": number | null;
  /** Satoshis with their fractions. */
  "frbtcPoolPriceInSats": number | null;
  "holders": number;
  "id": Id;
  /** What the contract tells: text, or a data URI. */
  "image": string | null;
  /** Of the supply that there is. */
  "marketcap": number | null;
  "marketcapInSats": number | null;
  /** Amount of one mint. */
  "max": string | null;
  /** How many mints there were. */
  "minted": string | null;
  "name": string | null;
  /** The supply without all mints, of a contract that counts them. */
  "premine": string | null;
  /** Percent. */
  "priceChange24h": number | null;
  /** Percent. */
  "priceChange7d": number | null;
  /** Whole satoshis, rounded down; at most 2^64 - 1. */
  "priceInSatoshi": number | null;
  "priceUsd": number | null;
  "symbol": string | null;
  /** The same under the name that some clients read. */
  "tokenImage": string | null;
  "tokenPoolsVolume1dInSats": number | null;
  /** Trade in all pools. */
  "tokenPoolsVolume1dInUsd": number | null;
  "tokenPoolsVolume30dInSats": number | null;
  "tokenPoolsVolume30dInUsd": number | null;
  "tokenPoolsVolume7dInSats": number | null;
  "tokenPoolsVolume7dInUsd": number | null;
  "tokenPoolsVolumeAllTimeInSats": number | null;
  "tokenPoolsVolumeAllTimeInUsd": number | null;
  "totalSupply": string | null;
}

export interface TokenPage {
  "count": number;
  "limit": number;
  "offset": number;
  "tokens": Array<Token>;
  "total": number;
}

/** Confirmation status of a transaction. */
export interface TransactionStatus {
  "block_hash"?: Hash | null;
  "block_height"?: number | null;
  "block_time"?: number | null;
  "confirmed": boolean;
}

export interface Transfer {
  "id": Id;
  "value": string;
}

/** Bitcoin that was unwrapped. */
export interface Unwrap {
  /** Who did it; null where that has no address. */
  "address": string | null;
  "amount": string;
  "blockHeight": number;
  "block_height"?: number | null;
  "eventIndex": number;
  "event_index"?: number | null;
  "id": string;
  "kind"?: string | null;
  "successful": boolean;
  "timestamp": Time;
  "transactionId": Hash;
  "transaction_id"?: Hash | null;
  "transactionIndex": number;
  "transaction_index"?: number | null;
  "type"?: string | null;
  "vout": number;
}

/** A page of unwraps, newest first. */
export interface UnwrapPage {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  /** Of the whole listing. */
  "total": number;
  "unwraps": Array<Unwrap>;
}

/** An unspent output as the REST routes render it: Esplora's members and those of the formatted records that clients parse. */
export interface Utxo {
  /** `null` for a script that has no address form. */
  "address": string | null;
  /** Alkanes of the output, block:tx to the amount. */
  "alkanes": Record<string, UtxoAlkanesValue>;
  "confirmations": number;
  "indexed": true;
  "inscriptions": Array<unknown>;
  "outputIndex": number;
  "runes": Record<string, unknown>;
  "satoshis": number;
  /** The script in hexadecimal digits. */
  "scriptPk": string;
  "status": TransactionStatus;
  "txId": Hash;
  "txid": Hash;
  "value": number;
  "vout": number;
}

/** An alkane in an output. */
export interface UtxoAlkanesValue {
  "balance": string;
  "name": string | null;
  "symbol": string | null;
}

export interface UtxoPage {
  /** Number of all outputs, including those beyond the limit. */
  "total": number;
  "utxos": Array<Utxo>;
}

/** Bitcoin that was wrapped. */
export interface Wrap {
  /** Who did it; null where that has no address. */
  "address": string | null;
  "amount": string;
  "blockHeight": number;
  "block_height"?: number | null;
  "eventIndex": number;
  "event_index"?: number | null;
  "id": string;
  "kind"?: string | null;
  "successful": boolean;
  "timestamp": Time;
  "transactionId": Hash;
  "transaction_id"?: Hash | null;
  "transactionIndex": number;
  "transaction_index"?: number | null;
  "type"?: string | null;
  "vout": number;
}

/** A page of wraps, newest first. */
export interface WrapPage {
  /** Of the page. */
  "count": number;
  "limit": number | null;
  "offset": number;
  /** Of the whole listing. */
  "total": number;
  "wraps": Array<Wrap>;
}
