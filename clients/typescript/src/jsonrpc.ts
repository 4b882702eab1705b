// Paraffin JSON-RPC.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** Hash of the newest indexed block */
  "btc_getbestblockhash": { params: Record<string, never>; answer: Hash };
  /** Height of the newest indexed block */
  "btc_getblockcount": { params: Record<string, never>; answer: number };
  /** Hash of the indexed block at a height. */
  "btc_getblockhash": { params: [height: number | string]; answer: Hash };
  /** What a PSBT still lacks */
  "btc_analyzepsbt": { params: [psbt: string]; answer: Record<string, unknown> };
  /** PSBTs of one transaction as one */
  "btc_combinepsbt": { params: [txs: Array<string>]; answer: string };
  /** Partly signed transactions as one */
  "btc_combinerawtransaction": { params: [txs: Array<string>]; answer: string };
  /** A raw transaction as a PSBT */
  "btc_converttopsbt": { params: [hexstring: string, permitsigdata?: boolean | null | null, iswitness?: boolean | null | null]; answer: string };
  /** A multi-signature address of public keys */
  "btc_createmultisig": { params: [nrequired: number, keys: Array<string>, address_type?: string | null | null]; answer: Record<string, unknown> };
  /** A PSBT of inputs and outputs */
  "btc_createpsbt": { params: [inputs: Array<Record<string, unknown>>, outputs: unknown, locktime?: number | null | null, replaceable?: boolean | null | null, version?: number | null | null]; answer: string };
  /** An unsigned transaction of inputs and outputs */
  "btc_createrawtransaction": { params: [inputs: Array<Record<string, unknown>>, outputs: unknown, locktime?: number | null | null, replaceable?: boolean | null | null, version?: number | null | null]; answer: string };
  /** A PSBT as an object */
  "btc_decodepsbt": { params: [psbt: string]; answer: Record<string, unknown> };
  /** A raw transaction as an object */
  "btc_decoderawtransaction": { params: [hexstring: string, iswitness?: boolean | null | null]; answer: Record<string, unknown> };
  /** A script as an object */
  "btc_decodescript": { params: [hexstring: string]; answer: Record<string, unknown> };
  /** Addresses of a descriptor */
  "btc_deriveaddresses": { params: [descriptor: string, range?: unknown | null]; answer: Array<unknown> };
  /** Feerate for a target, with what it was estimated from */
  "btc_estimaterawfee": { params: [conf_target: number, threshold?: number | null | null]; answer: Record<string, unknown> };
  /** Feerate for a target */
  "btc_estimatesmartfee": { params: [conf_target: number, estimate_mode?: string | null | null]; answer: Record<string, unknown> };
  /** A signed PSBT as a transaction */
  "btc_finalizepsbt": { params: [psbt: string, extract?: boolean | null | null]; answer: Record<string, unknown> };
  /** A block in hexadecimal digits, or as an object */
  "btc_getblock": { params: [blockhash: Hash, verbosity?: unknown | null]; answer: unknown };
  /** State of the node's chain */
  "btc_getblockchaininfo": { params: Record<string, never>; answer: Record<string, unknown> };
  /** The compact filter of a block */
  "btc_getblockfilter": { params: [blockhash: Hash, filtertype?: string | null | null]; answer: Record<string, unknown> };
  /** A header in hexadecimal digits, or as an object */
  "btc_getblockheader": { params: [blockhash: Hash, verbose?: boolean | null | null]; answer: unknown };
  /** Figures of a block */
  "btc_getblockstats": { params: [hash_or_height: unknown, stats?: Array<string> | null | null]; answer: Record<string, unknown> };
  /** The node's chain states */
  "btc_getchainstates": { params: Record<string, never>; answer: Record<string, unknown> };
  /** All branches that the node knows */
  "btc_getchaintips": { params: Record<string, never>; answer: Array<Record<string, unknown>> };
  /** Transactions in a span of blocks */
  "btc_getchaintxstats": { params: [nblocks?: number | null | null, blockhash?: Hash | null | null]; answer: Record<string, unknown> };
  /** State of soft forks */
  "btc_getdeploymentinfo": { params: [blockhash?: Hash | null | null]; answer: Record<string, unknown> };
  /** A descriptor in canonical form, with its checksum */
  "btc_getdescriptorinfo": { params: [descriptor: string]; answer: Record<string, unknown> };
  /** Difficulty as a multiple of the least */
  "btc_getdifficulty": { params: Record<string, never>; answer: number };
  /** The node's own indexes */
  "btc_getindexinfo": { params: [index_name?: string | null | null]; answer: Record<string, unknown> };
  /** Unconfirmed ancestors of a transaction */
  "btc_getmempoolancestors": { params: [txid: Hash, verbose?: boolean | null | null]; answer: unknown };
  /** Unconfirmed transactions that belong together */
  "btc_getmempoolcluster": { params: [txid: Hash]; answer: Record<string, unknown> };
  /** Unconfirmed descendants of a transaction */
  "btc_getmempooldescendants": { params: [txid: Hash, verbose?: boolean | null | null]; answer: unknown };
  /** An unconfirmed transaction */
  "btc_getmempoolentry": { params: [txid: Hash]; answer: Record<string, unknown> };
  /** State of the node's mempool */
  "btc_getmempoolinfo": { params: Record<string, never>; answer: Record<string, unknown> };
  /** Transactions whose parents the node lacks */
  "btc_getorphantxs": { params: [verbosity?: number | null | null]; answer: Array<unknown> };
  /** Unconfirmed transactions */
  "btc_getrawmempool": { params: [verbose?: boolean | null | null, mempool_sequence?: boolean | null | null]; answer: unknown };
  /** A transaction in hexadecimal digits, or as an object */
  "btc_getrawtransaction": { params: [txid: Hash, verbosity?: unknown | null, blockhash?: Hash | null | null]; answer: unknown };
  /** An unspent output */
  "btc_gettxout": { params: [txid: Hash, n: number, include_mempool?: boolean | null | null]; answer: Record<string, unknown> | null };
  /** Proof that a block holds transactions */
  "btc_gettxoutproof": { params: [txids: Array<Hash>, blockhash?: Hash | null | null]; answer: string };
  /** Which unconfirmed transactions spend outputs */
  "btc_gettxspendingprevout": { params: [outputs: Array<Record<string, unknown>>]; answer: Array<Record<string, unknown>> };
  /** PSBTs of several transactions as one */
  "btc_joinpsbts": { params: [txs: Array<string>]; answer: string };
  /** Hands a transaction to the network; its txid */
  "btc_sendrawtransaction": { params: [hexstring: string, maxfeerate?: unknown | null, maxburnamount?: unknown | null]; answer: Hash };
  /** Hands several transactions to the network together */
  "btc_submitpackage": { params: [package_: Array<string>, maxfeerate?: unknown | null, maxburnamount?: unknown | null]; answer: Record<string, unknown> };
  /** Whether the node would take transactions */
  "btc_testmempoolaccept": { params: [rawtxs: Array<string>, maxfeerate?: unknown | null]; answer: Array<Record<string, unknown>> };
  /** A PSBT with the outputs that it spends */
  "btc_utxoupdatepsbt": { params: [psbt: string, descriptors?: Array<unknown> | null | null]; answer: string };
  /** What an address is */
  "btc_validateaddress": { params: [address: string]; answer: Record<string, unknown> };
  /** Whether a message was signed by an address */
  "btc_verifymessage": { params: [address: string, signature: string, message: string]; answer: boolean };
  /** The transactions that a proof proves */
  "btc_verifytxoutproof": { params: [proof: string]; answer: Array<Hash> };
  /** Fees and sizes of the mempool, best first */
  "btc_getmempoolfeeratediagram": { params: Record<string, never>; answer: Array<Record<string, unknown>> };
  /** A transaction */
  "esplora_tx": { params: [txid: Hash]; answer: EsploraTransaction };
  /** Whether a transaction is confirmed, and in which block */
  "esplora_tx::status": { params: [txid: Hash]; answer: TransactionStatus };
  /** A transaction in hexadecimal digits */
  "esplora_tx::hex": { params: [txid: Hash]; answer: string };
  /** A transaction in hexadecimal digits */
  "esplora_tx::raw": { params: [txid: Hash]; answer: string };
  /** What spent the outputs of a transaction */
  "esplora_tx::outspends": { params: [txid: Hash]; answer: Array<EsploraSpend> };
  /** What spent an output */
  "esplora_tx::outspend": { params: [txid: Hash, vout: number | string]; answer: EsploraSpend };
  /** Proof that a block holds the transaction, as Electrum has it */
  "esplora_tx::merkle-proof": { params: [txid: Hash]; answer: Record<string, unknown> };
  /** Proof that a block holds the transaction, as the node has it */
  "esplora_tx::merkleblock-proof": { params: [txid: Hash]; answer: string };
  /** Totals of an address */
  "esplora_address": { params: [address: string]; answer: Record<string, unknown> };
  /** Unspent outputs of an address */
  "esplora_address::utxo": { params: [address: string]; answer: Array<EsploraOutput> };
  /** Unconfirmed and the newest 25 confirmed transactions of an address */
  "esplora_address::txs": { params: [address: string]; answer: Array<EsploraTransaction> };
  /** Unconfirmed transactions of an address */
  "esplora_address::txs:mempool": { params: [address: string]; answer: Array<EsploraTransaction> };
  /** 25 confirmed transactions of an address, after the last one seen */
  "esplora_address::txs:chain": { params: [address: string, last_seen_txid?: Hash | null | null]; answer: Array<EsploraTransaction> };
  /** Totals of a script, by its SHA-256 */
  "esplora_scripthash": { params: [scripthash: Hash]; answer: Record<string, unknown> };
  /** Unspent outputs of a script */
  "esplora_scripthash::utxo": { params: [scripthash: Hash]; answer: Array<EsploraOutput> };
  /** Unconfirmed and the newest 25 confirmed transactions of a script */
  "esplora_scripthash::txs": { params: [scripthash: Hash]; answer: Array<EsploraTransaction> };
  /** Unconfirmed transactions of a script */
  "esplora_scripthash::txs:mempool": { params: [scripthash: Hash]; answer: Array<EsploraTransaction> };
  /** 25 confirmed transactions of a script, after the last one seen */
  "esplora_scripthash::txs:chain": { params: [scripthash: Hash, last_seen_txid?: Hash | null | null]; answer: Array<EsploraTransaction> };
  /** Up to ten addresses with this beginning */
  "esplora_address-prefix": { params: [prefix: string]; answer: Array<string> };
  /** A block */
  "esplora_block": { params: [hash: Hash]; answer: Record<string, unknown> };
  /** The header of a block */
  "esplora_block::header": { params: [hash: Hash]; answer: string };
  /** Whether a block is in the best chain */
  "esplora_block::status": { params: [hash: Hash]; answer: Record<string, unknown> };
  /** A whole block */
  "esplora_block::raw": { params: [hash: Hash]; answer: string };
  /** One txid of a block */
  "esplora_block::txid": { params: [hash: Hash, index: number | string]; answer: Hash };
  /** All txids of a block */
  "esplora_block::txids": { params: [hash: Hash]; answer: Array<Hash> };
  /** 25 transactions of a block */
  "esplora_block::txs": { params: [hash: Hash, start_index?: number | string | null | null]; answer: Array<EsploraTransaction> };
  /** Hash of the block at a height */
  "esplora_block-height": { params: [height: number | string]; answer: Hash };
  /** Ten blocks downwards */
  "esplora_blocks": { params: [start_height?: number | string | null | null]; answer: Array<Record<string, unknown>> };
  /** Height of the newest indexed block */
  "esplora_blocks:tip:height": { params: Record<string, never>; answer: number };
  /** Hash of the newest indexed block */
  "esplora_blocks:tip:hash": { params: Record<string, never>; answer: Hash };
  /** Totals of the mempool and a histogram of its feerates */
  "esplora_mempool": { params: Record<string, never>; answer: Record<string, unknown> };
  /** All unconfirmed transactions */
  "esplora_mempool:txids": { params: Record<string, never>; answer: Array<Hash> };
  /** The ten newest unconfirmed transactions */
  "esplora_mempool:recent": { params: Record<string, never>; answer: Array<Record<string, unknown>> };
  /** Feerate in sat/vB for each target in blocks */
  "esplora_fee-estimates": { params: Record<string, never>; answer: EsploraFees };
  /** Broadcasts a transaction; returns its txid. */
  "esplora_broadcast": { params: [transaction: string]; answer: Hash };
  /** Broadcasts several transactions as a package.
   *
   * Parameters and answer are those of the node's `submitpackage`. */
  "esplora_txs:package": { params: [transactions: Array<string>, maxfeerate?: unknown | null, maxburnamount?: unknown | null]; answer: Record<string, unknown> };
  /** Number of indexed blocks, including the genesis block. */
  "ord_blockcount": { params: Record<string, never>; answer: number };
  /** Height of the newest indexed block. */
  "ord_blockheight": { params: Record<string, never>; answer: number };
  /** Hash of a block. */
  "ord_blockhash": { params: [height?: number | string | null | null]; answer: Hash };
  /** Time of the newest indexed block in Unix seconds. */
  "ord_blocktime": { params: Record<string, never>; answer: number };
  /** A block with its transactions, inscriptions and runes. */
  "ord_block": { params: [block: number | string]; answer: Record<string, unknown> };
  /** The newest hundred blocks, with inscriptions of the newest five. */
  "ord_blocks": { params: Record<string, never>; answer: Record<string, unknown> };
  /** An inscription. */
  "ord_inscription": { params: [inscription: string, child?: number | string | null | null]; answer: Inscription };
  /** A page of a hundred inscriptions, newest first. */
  "ord_inscriptions": { params: [page?: number | string | null | null]; answer: InscriptionsPage };
  /** Inscriptions of a block. */
  "ord_inscriptions::block": { params: [height: number | string, page?: number | string | null | null]; answer: InscriptionsPage };
  /** Children of an inscription. */
  "ord_children": { params: [id: InscriptionId, page?: number | string | null | null]; answer: Record<string, unknown> };
  /** Parents of an inscription. */
  "ord_parents": { params: [id: InscriptionId, page?: number | string | null | null]; answer: Record<string, unknown> };
  /** Content of an inscription in base64, its delegate's where it has one. */
  "ord_content": { params: [id: InscriptionId]; answer: string };
  /** Metadata of an inscription: CBOR in hexadecimal digits. */
  "ord_metadata": { params: [id: InscriptionId]; answer: string };
  /** A rune. */
  "ord_rune": { params: [rune: string]; answer: Rune };
  /** A page of fifty runes, newest first. */
  "ord_runes": { params: [page?: number | string | null | null]; answer: Record<string, unknown> };
  /** A sat. */
  "ord_sat": { params: [sat: string]; answer: Record<string, unknown> };
  /** Inscriptions on a sat, oldest first. */
  "ord_r:sat": { params: [number: number | string, page?: number | string | null | null]; answer: Record<string, unknown> };
  /** One inscription on a sat; null where there is none. */
  "ord_r:sat::at": { params: [sat: string, place: unknown]; answer: Record<string, unknown> };
  /** An output with its inscriptions and runes. */
  "ord_output": { params: [outpoint: string]; answer: OrdOutputRecord };
  /** Unspent outputs of an address. */
  "ord_outputs": { params: [address: string, kind?: string | null | null]; answer: Array<OrdOutputRecord> };
  /** Balance, outputs, inscriptions and runes of an address. */
  "ord_address": { params: [address: string]; answer: Record<string, unknown> };
  /** Inscriptions that an address holds. */
  "ord_address::inscriptions": { params: [address: string]; answer: Array<InscriptionId> };
  /** A transaction, with the rune that it etched and the number of inscriptions that it revealed. */
  "ord_tx": { params: [txid: Hash]; answer: Record<string, unknown> };
  /** The height that views answer at, in decimal digits. */
  "metashrew_height": { params: Record<string, never>; answer: string };
  /** A view: a protobuf message in and out, or for some an object in and JSON out.
   *
   * The messages are those of the files at `/v4/proto/`. */
  "metashrew_view": { params: [name: string, input?: ViewInput | null | null, tag?: number | string | null | null]; answer: unknown };
  /** The answer of a view after one more block, which is executed on a copy and discarded. */
  "metashrew_preview": { params: [block: string, name: string, input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** `0x` and the hash of a block, in display order. */
  "metashrew_getblockhash": { params: [height?: number | string | null | null]; answer: string };
  /** The digest of everything that the contract index wrote in one block: equal on two instances that agree. */
  "metashrew_stateroot": { params: [height?: number | string | null | null]; answer: string };
  /** Digests of one block, of each part of the index and of everything up to the block.
   *
   * Two instances that agree have the same, and the first block in which they differ is found by halving. */
  "metashrew_blockdigest": { params: [height?: number | string | null | null]; answer: BlockDigestAnswer };
  /** What other hosts report about their snapshots, as JSON inside a string. */
  "metashrew_snapshot": { params: Record<string, never>; answer: string };
  /** Simulates a call. One that fails has status 1 and its error message. */
  "alkanes_simulate": { params: [call: Call, tag?: number | string | null | null]; answer: Simulated };
  /** A contract's description of its operations: its own JSON, or `0x` and hexadecimal digits where it is not JSON. */
  "alkanes_meta": { params: [id: Target, tag?: number | string | null | null]; answer: unknown };
  /** The module of a contract: `0x` and hexadecimal digits. */
  "alkanes_getbytecode": { params: [id: Target, tag?: number | string | null | null]; answer: string };
  /** The output that made a contract. */
  "alkanes_getdeployment": { params: [id: Target, tag?: number | string | null | null]; answer: Deployment };
  /** The same as `alkanes_getdeployment`. */
  "alkanes_alkanesidtooutpoint": Methods["alkanes_getdeployment"];
  /** The same as `alkanes_getdeployment`. */
  "alkanes_alkanes_id_to_outpoint": Methods["alkanes_getdeployment"];
  /** Events of a message, by its shadow output. */
  "alkanes_trace": { params: [outpoint: OutpointObject, tag?: number | string | null | null]; answer: Array<TraceEvent> };
  /** Traces of a block. */
  "alkanes_traceblock": { params: [height?: HeightOrObject | null | null, tag?: number | string | null | null]; answer: Array<BlockTrace> };
  /** Alkanes of an output.
   *
   * With a tag the answer is an array of tokens and values, without one an object. The first parameter may also be the txid, with the
   * number of the output, a tag and the protocol tag after it. */
  "alkanes_protorunesbyoutpoint": { params: [outpoint: OutpointOrTxid, tag?: unknown | null, block_tag?: number | string | null | null, protocol_tag?: string | null | null]; answer: unknown };
  /** The same as `alkanes_protorunesbyoutpoint`. */
  "alkanes_protorunes_by_outpoint": Methods["alkanes_protorunesbyoutpoint"];
  /** Alkanes of the unspent outputs of an address. */
  "alkanes_protorunesbyaddress": { params: [address: AddressOrObject, tag?: number | string | null | null, protocol_tag?: string | null | null]; answer: unknown };
  /** Alkanes that first appeared in outputs in a block. */
  "alkanes_protorunesbyheight": { params: [height?: HeightOrObject | null | null, tag?: number | string | null | null]; answer: ByHeightAnswer };
  /** All unspent outputs of an address, for coin selection; may be called without its family. */
  "alkanes_spendablesbyaddress": { params: [address: AddressOrObject, tag?: number | string | null | null]; answer: unknown };
  /** A value in the storage of a contract: `0x` and hexadecimal digits, empty where there is none. */
  "alkanes_getstorageat": { params: [request: StorageRequest, tag?: number | string | null | null]; answer: string };
  /** Alkanes that a contract holds. */
  "alkanes_getinventory": { params: [id: Target, tag?: number | string | null | null]; answer: Inventory };
  /** The number of the next contract 2:n, in decimal digits. */
  "alkanes_sequence": { params: [tag?: number | string | null | null]; answer: string };
  /** Pending payments of the wrapped-bitcoin contract. */
  "alkanes_unwrap": { params: [tag?: number | string | null | null]; answer: PendingPayments };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_getblock": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_multisimluate": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_multisimulate": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_runesbyaddress": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_runesbyheight": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_runesbyoutpoint": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_simulateblock": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_simulateprotostones": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The view in hexadecimal digits, as `metashrew_view` has it. */
  "alkanes_simulatetransaction": { params: [input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** Many calls in one: an answer for each, in order.
   *
   * Each parameter is a method and its params. */
  "sandshrew_multicall": { params: [...call: Array<MultiCall>]; answer: Array<MultiAnswer> };
  /** Unspent outputs of an address, grouped by their content. */
  "sandshrew_balances": { params: [request: BalancesRequest]; answer: Balances };
  /** Runs a Lua script; what follows its source stands in its `args`, any number of parameters. */
  "sandshrew_evalscript": { params: [script: string, ...argument: Array<unknown>]; answer: ScriptResult };
  /** Saves a Lua script under the SHA-256 of its source. */
  "sandshrew_savescript": { params: [script: string]; answer: SavedScript };
  /** Runs a saved script. */
  "sandshrew_evalsaved": { params: [hash: string, ...argument: Array<unknown>]; answer: ScriptResult };
  /** Runs a Lua script; what follows its source stands in its `args`, any number of parameters. */
  "lua_evalscript": { params: [script: string, ...argument: Array<unknown>]; answer: ScriptResult };
  /** Saves a Lua script under the SHA-256 of its source. */
  "lua_savescript": { params: [script: string]; answer: SavedScript };
  /** Runs a saved script. */
  "lua_evalsaved": { params: [hash: string, ...argument: Array<unknown>]; answer: ScriptResult };
  /** Creates a key of the caller's account. The key itself is shown in this answer only. */
  "admin_createApiKey": { params: { "name": string; "perMinute"?: number | null; "perDay"?: number | null; "expiresInDays"?: number | null }; answer: CreatedApiKey };
  /** The keys of the caller's account. */
  "admin_listApiKeys": { params: Record<string, never>; answer: ListedApiKeys };
  /** Revokes a key. */
  "admin_revokeApiKey": { params: { "id": AdminRevokeApiKeyId }; answer: RevokedApiKey };
  /** Replaces a key by a new one with the same settings. */
  "admin_rerollApiKey": { params: { "id": AdminRevokeApiKeyId; "graceSeconds"?: number | null }; answer: CreatedApiKey };
  /** Requests of the caller's account: by UTC day and surface, and by key, alias and origin. */
  "admin_getUsage": { params: { "days"?: number | null }; answer: Usage };
}

/** An address, alone or in an object. */
export type AddressOrObject = string | AddressOrObjectCase2;

/** An address in an object. */
export interface AddressOrObjectCase2 {
  "address": string;
  "protocolTag"?: number | string | null;
}

export type AdminRevokeApiKeyId = number | string;

/** The id of an alkane; numbers in decimal digits. */
export interface AlkaneIdDigits {
  "block": string;
  "tx": string;
}

/** Unspent outputs in three lists, each ascending by height. */
export interface Balances {
  /** Outputs with alkanes. */
  "assets": Array<BalancesAssetsItem>;
  "metashrewHeight": number;
  /** Always 0: inscriptions and runes are not considered. */
  "ordHeight": number;
  /** Unconfirmed outputs. */
  "pending": Array<BalancesAssetsItem>;
  /** Outputs without alkanes. */
  "spendable": Array<BalancesAssetsItem>;
}

/** An unspent output. */
export interface BalancesAssetsItem {
  "height"?: number | null;
  /** txid:vout. */
  "outpoint": string;
  "runes"?: Array<BalancesAssetsItemRunesItem> | null;
  /** Satoshis. */
  "value": number;
}

/** An amount of an alkane, all in decimal digits. */
export interface BalancesAssetsItemRunesItem {
  "amount": string;
  "block": string;
  "tx": string;
}

/** Whose outputs. */
export interface BalancesRequest {
  "address": string;
  /** A second address. */
  "assetAddress"?: string | null;
  /** Protocol tag, 1 when absent; lists of any other are empty. */
  "protocolTag"?: number | string | null;
}

/** Digests of a block, each `0x` and 64 hexadecimal digits. */
export interface BlockDigestAnswer {
  /** Of everything that was written up to the block. */
  "cumulative": string;
  /** Of everything that was written in the block. */
  "digest": string;
  /** Version of the store's format. */
  "format": number;
  /** In display order. */
  "hash": string;
  "height": number;
  /** By the name of the module. */
  "modules": Record<string, ModuleDigestAnswer>;
  "network": string;
}

/** A message of a block, with its trace. */
export interface BlockTrace {
  /** Its shadow output. */
  "outpoint": PlainOutpoint;
  "trace": Array<TraceEvent>;
  /** Index of its transaction in the block. */
  "txindex": number;
}

/** Alkanes of a block. */
export interface ByHeightAnswer {
  "runes": Array<FirstSeen>;
}

/** A call to simulate. */
export interface Call {
  /** Incoming alkanes. */
  "alkanes"?: Array<CallAlkanesItem> | null;
  /** The block that the call reads, consensus encoding. */
  "block"?: string | null;
  /** The height that the call reads; that of the view when absent or out of range. */
  "height"?: number | string | null;
  /** The opcode and its arguments. */
  "inputs"?: Array<number | string> | null;
  /** The contract. */
  "target": Target;
  /** The transaction that the call reads, consensus encoding. */
  "transaction"?: string | null;
  /** The shadow output of the message. */
  "vout"?: number | string | null;
}

export interface CallAlkanesItem {
  "id": Target;
  "value": number | string;
}

/** What a call answered. */
export interface CallResponse {
  /** What it hands on. */
  "alkanes": Array<Transfer>;
  /** `0x` and hexadecimal digits. */
  "data": string;
  /** Why it failed; absent in traces. */
  "error"?: string | null;
  /** What it stored. */
  "storage": Array<StoredItem>;
}

/** A new key. The key itself is not shown again. */
export interface CreatedApiKey {
  "createdAt": string | null;
  /** When it expires, if it does. */
  "expiresAt"?: string | null;
  /** Seconds for which the old key still works. */
  "graceSeconds"?: number | null;
  "id": string;
  /** The key as requests send it. */
  "key": string;
  "name": string;
  /** The id of the key that it replaces. */
  "replaces"?: string | null;
}

/** The output that made a contract. */
export interface Deployment {
  "outpoint": DeploymentOutpoint;
}

/** Empty for built-in and unknown contracts. */
export interface DeploymentOutpoint {
  "txid"?: string | null;
  "vout"?: number | null;
}

/** Target to feerate. */
export type EsploraFees = Record<string, number>;

/** An unspent output. */
export interface EsploraOutput {
  "status": TransactionStatus;
  "txid": Hash;
  /** Satoshis. */
  "value": number;
  "vout": number;
}

/** What spent an output, if something did. */
export interface EsploraSpend {
  "spent": boolean;
  "status"?: TransactionStatus | null;
  "txid"?: Hash | null;
  "vin"?: number | null;
}

/** A transaction. */
export interface EsploraTransaction {
  /** Satoshis; absent while an output that it spends is not known yet. */
  "fee"?: number | null;
  "locktime": number;
  "size": number;
  "status": TransactionStatus;
  "txid": Hash;
  "version": number;
  "vin": Array<Record<string, unknown>>;
  "vout": Array<Record<string, unknown>>;
  "weight": number;
}

/** In what a contract was called. */
export interface EventContext {
  "caller": AlkaneIdDigits;
  "incomingAlkanes": Array<Transfer>;
  /** The operation first. */
  "inputs": Array<string>;
  "myself": AlkaneIdDigits;
  "vout": number;
}

/** By the event: the id of a contract that was made, a call, how it ended, or that the rest was too long. */
export type EventData = AlkaneIdDigits | EventDataCase2 | EventDataCase3 | EventDataCase4;

export interface EventDataCase2 {
  "context": EventContext;
  "fuel": number;
  /** `call`, `delegatecall` or `staticcall`. */
  "type": string;
}

export interface EventDataCase3 {
  "fuelUsed": number;
  "response": CallResponse;
  /** `success` or `revert`. */
  "status": string;
}

export interface EventDataCase4 {
  /** Size of all events. */
  "bytes": number;
  /** The contracts that were called. */
  "contracts": Array<AlkaneIdDigits>;
  /** Of all events, SHA-256. */
  "digest": string;
  /** How many there were. */
  "events": number;
  /** `success` or `revert`. */
  "status": string;
}

/** An alkane. */
export interface FirstSeen {
  "id": AlkaneIdDigits;
  "name": string;
  /** Alias of `id`. */
  "runeId": AlkaneIdDigits;
  "symbol": string;
}

/** 32 bytes in display order */
export type Hash = string;

export type HeightOrObject = number | string | HeightOrObjectCase2;

export interface HeightOrObjectCase2 {
  "block"?: number | string | null;
  "height"?: number | string | null;
}

/** An inscription. */
export interface Inscription {
  "address": string | null;
  "charms": Array<string>;
  "child_count": number;
  /** The first four. */
  "children": Array<InscriptionId>;
  "content_length": number | null;
  "content_type": string | null;
  "effective_content_type": string | null;
  /** Satoshis. */
  "fee": number;
  "height": number;
  "id": InscriptionId;
  "metaprotocol": string | null;
  "next": InscriptionId | null;
  /** Negative for cursed inscriptions. */
  "number": number;
  /** The first four. */
  "parents": Array<InscriptionId>;
  "previous": InscriptionId | null;
  "properties": Record<string, unknown>;
  "rune": string | null;
  "sat": number | null;
  "satpoint": string;
  /** Unix seconds. */
  "timestamp": number;
  /** Satoshis. */
  "value": number | null;
}

export type InscriptionId = string;

/** A page of inscriptions. */
export interface InscriptionsPage {
  "ids": Array<InscriptionId>;
  "more": boolean;
  "page_index": number;
}

/** Alkanes that a contract holds. */
export interface Inventory {
  "alkanes": Array<Transfer>;
}

/** A key in listings. Times are ISO 8601 in UTC. */
export interface ListedApiKey {
  /** Whether it has the rights of an operator's key. */
  "admin": boolean;
  "createdAt": string | null;
  /** When it ends, if an end is set. */
  "expiresAt": string | null;
  "id": string;
  "lastUsedAt": string | null;
  "name": string;
  "perDay": number | null;
  "perMinute": number | null;
  "plan": string;
  /** First characters of the key. */
  "prefix": string;
  "requestCount": number;
  "revokedAt": string | null;
}

/** Keys, without the secret part. */
export interface ListedApiKeys {
  "keys": Array<ListedApiKey>;
}

/** Digests of a module's writes in a block. */
export interface ModuleDigestAnswer {
  "digest": string;
  /** Version of the module's tables. */
  "version": number;
}

/** The answer of one of the calls. */
export type MultiAnswer = MultiAnswerCase1 | MultiAnswerCase2;

export interface MultiAnswerCase1 {
  "result": unknown;
}

export interface MultiAnswerCase2 {
  "error": Record<string, unknown>;
}

/** A method and its params; any number of them follow each other. */
export type MultiCall = Array<unknown>;

/** An output. */
export interface OrdOutputRecord {
  "address": string | null;
  "confirmations": number;
  "indexed": boolean;
  "inscriptions": Array<InscriptionId>;
  "outpoint": string;
  /** By name. */
  "runes": Record<string, unknown>;
  "sat_ranges": Array<Array<number>> | null;
  "script_pubkey": string;
  "spent": boolean;
  "transaction": Hash;
  /** Satoshis. */
  "value": number;
}

/** The shadow output of a message. */
export interface OutpointObject {
  /** In either order of its bytes. */
  "txid": string;
  /** Its number. */
  "vout": number | string;
}

/** An output, or its txid. */
export type OutpointOrTxid = OutpointObject | string;

/** The output to be paid. */
export interface PaymentOutput {
  /** In hexadecimal digits. */
  "script": string;
  /** Satoshis. */
  "value": number;
}

/** A pending payment. */
export interface PendingPayment {
  /** `false`. */
  "fulfilled": boolean;
  "output": PaymentOutput;
  /** The output that the wrapped bitcoin was burnt with. */
  "spendable": PlainOutpoint;
}

/** Pending payments. */
export interface PendingPayments {
  "payments": Array<PendingPayment>;
}

/** An output. */
export interface PlainOutpoint {
  /** In display order. */
  "txid": string;
  "vout": number;
}

/** The revoked key. */
export interface RevokedApiKey {
  "id": string;
  "name": string;
  "revokedAt": string | null;
}

/** A rune. */
export interface Rune {
  /** Integers have up to 128 bits. */
  "entry": Record<string, unknown>;
  "id": string;
  "mintable": boolean;
  "parent": InscriptionId | null;
}

/** The key of the saved script. */
export interface SavedScript {
  /** SHA-256 of the source, 64 hexadecimal digits. */
  "hash": string;
}

/** What a script returned. */
export interface ScriptResult {
  /** Calls of `_RPC` that the script made. */
  "calls": number;
  "error": ScriptResultError | null;
  /** The first value that the script returned. */
  "returns": unknown;
  /** Milliseconds. */
  "runtime": number;
}

/** Why a script ended early. */
export interface ScriptResultError {
  "code": number;
  /** Machine-readable kind of the error. */
  "data"?: unknown;
  "message": string;
}

/** Outcome of a simulated call. */
export interface Simulated {
  "execution": CallResponse;
  /** Fuel used. */
  "gasUsed": number;
  /** 0, or 1 where it fails. */
  "status": number;
  "trace": Array<TraceEvent>;
}

/** The contract as one of `id`, `target`, `alkaneId`, or as `block` and `tx`; the key as `path` or `key` */
export interface StorageRequest {
  "alkaneId"?: Target | null;
  "block"?: number | string | null;
  "id"?: Target | null;
  /** The same as path */
  "key"?: string | null;
  /** Text, or bytes in hexadecimal digits after 0x */
  "path"?: string | null;
  "target"?: Target | null;
  "tx"?: number | string | null;
}

/** A value that a contract stored. */
export interface StoredItem {
  /** Its segments between slashes, in hexadecimal digits where they are no plain words. */
  "key": string;
  /** `0x` and hexadecimal digits. */
  "value": string;
}

/** An id, alone or as a member of an object */
export type Target = string | TargetCase2 | Record<string, unknown>;

export interface TargetCase2 {
  "block": number | string;
  "tx": number | string;
}

/** An event of a trace. */
export interface TraceEvent {
  "data": EventData;
  /** `create`, `invoke`, `return` or `omitted`. */
  "event": string;
}

/** Where a transaction is. */
export interface TransactionStatus {
  "block_hash"?: Hash | null;
  "block_height"?: number | null;
  /** Unix seconds. */
  "block_time"?: number | null;
  "confirmed": boolean;
}

/** An amount of an alkane. */
export interface Transfer {
  "id": AlkaneIdDigits;
  /** Base units in decimal digits. */
  "value": string;
}

/** Requests of an account. */
export interface Usage {
  /** Most requests first; at most 1,000. */
  "callers": Array<UsageOfCaller>;
  /** Days and then surfaces ascending; without those in which there was no request. */
  "surfaces": Array<UsageOfSurface>;
}

/** Requests of one key, alias or origin in all of the days. */
export interface UsageOfCaller {
  /** Answered with any other status of 400 or above. */
  "errors": number;
  /** Its number; of a key, as `admin_listApiKeys` shows it. */
  "id": string;
  /** `key`, `alias` or `origin`. */
  "kind": string;
  /** Refused by a rate limit: 429. */
  "rateLimited": number;
  /** All requests, whatever their status. */
  "requests": number;
}

/** Requests on one surface in one UTC day. */
export interface UsageOfSurface {
  /** Such as `2026-11-28`. */
  "day": string | null;
  /** Answered with any other status of 400 or above. */
  "errors": number;
  /** Refused by a rate limit: 429. */
  "rateLimited": number;
  /** All requests, whatever their status. */
  "requests": number;
  "surface": string;
}

/** A message in hexadecimal digits after 0x, or an object. */
export type ViewInput = string | Record<string, unknown>;
