// Paraffin JSON-RPC: reorg.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** The height at which the chain ends: that in the path, whatever the real one is */
  "getblockcount": { params: Record<string, never>; answer: number };
  /** Hash of the block at which the chain ends */
  "getbestblockhash": { params: Record<string, never>; answer: Hash };
  /** Hash of the block at a height; above the end of the chain one that no block has */
  "getblockhash": { params: [height: number | string]; answer: Hash };
  /** What a PSBT still lacks */
  "analyzepsbt": { params: [psbt: string]; answer: Record<string, unknown> };
  /** PSBTs of one transaction as one */
  "combinepsbt": { params: [txs: Array<string>]; answer: string };
  /** Partly signed transactions as one */
  "combinerawtransaction": { params: [txs: Array<string>]; answer: string };
  /** A raw transaction as a PSBT */
  "converttopsbt": { params: [hexstring: string, permitsigdata?: boolean | null | null, iswitness?: boolean | null | null]; answer: string };
  /** A multi-signature address of public keys */
  "createmultisig": { params: [nrequired: number, keys: Array<string>, address_type?: string | null | null]; answer: Record<string, unknown> };
  /** A PSBT of inputs and outputs */
  "createpsbt": { params: [inputs: Array<Record<string, unknown>>, outputs: unknown, locktime?: number | null | null, replaceable?: boolean | null | null, version?: number | null | null]; answer: string };
  /** An unsigned transaction of inputs and outputs */
  "createrawtransaction": { params: [inputs: Array<Record<string, unknown>>, outputs: unknown, locktime?: number | null | null, replaceable?: boolean | null | null, version?: number | null | null]; answer: string };
  /** A PSBT as an object */
  "decodepsbt": { params: [psbt: string]; answer: Record<string, unknown> };
  /** A raw transaction as an object */
  "decoderawtransaction": { params: [hexstring: string, iswitness?: boolean | null | null]; answer: Record<string, unknown> };
  /** A script as an object */
  "decodescript": { params: [hexstring: string]; answer: Record<string, unknown> };
  /** Addresses of a descriptor */
  "deriveaddresses": { params: [descriptor: string, range?: unknown | null]; answer: Array<unknown> };
  /** Feerate for a target, with what it was estimated from */
  "estimaterawfee": { params: [conf_target: number, threshold?: number | null | null]; answer: Record<string, unknown> };
  /** Feerate for a target */
  "estimatesmartfee": { params: [conf_target: number, estimate_mode?: string | null | null]; answer: Record<string, unknown> };
  /** A signed PSBT as a transaction */
  "finalizepsbt": { params: [psbt: string, extract?: boolean | null | null]; answer: Record<string, unknown> };
  /** A block in hexadecimal digits, or as an object */
  "getblock": { params: [blockhash: Hash, verbosity?: unknown | null]; answer: unknown };
  /** State of the node's chain */
  "getblockchaininfo": { params: Record<string, never>; answer: Record<string, unknown> };
  /** The compact filter of a block */
  "getblockfilter": { params: [blockhash: Hash, filtertype?: string | null | null]; answer: Record<string, unknown> };
  /** A header in hexadecimal digits, or as an object */
  "getblockheader": { params: [blockhash: Hash, verbose?: boolean | null | null]; answer: unknown };
  /** Figures of a block */
  "getblockstats": { params: [hash_or_height: unknown, stats?: Array<string> | null | null]; answer: Record<string, unknown> };
  /** The node's chain states */
  "getchainstates": { params: Record<string, never>; answer: Record<string, unknown> };
  /** All branches that the node knows */
  "getchaintips": { params: Record<string, never>; answer: Array<Record<string, unknown>> };
  /** Transactions in a span of blocks */
  "getchaintxstats": { params: [nblocks?: number | null | null, blockhash?: Hash | null | null]; answer: Record<string, unknown> };
  /** State of soft forks */
  "getdeploymentinfo": { params: [blockhash?: Hash | null | null]; answer: Record<string, unknown> };
  /** A descriptor in canonical form, with its checksum */
  "getdescriptorinfo": { params: [descriptor: string]; answer: Record<string, unknown> };
  /** Difficulty as a multiple of the least */
  "getdifficulty": { params: Record<string, never>; answer: number };
  /** The node's own indexes */
  "getindexinfo": { params: [index_name?: string | null | null]; answer: Record<string, unknown> };
  /** Unconfirmed ancestors of a transaction */
  "getmempoolancestors": { params: [txid: Hash, verbose?: boolean | null | null]; answer: unknown };
  /** Unconfirmed transactions that belong together */
  "getmempoolcluster": { params: [txid: Hash]; answer: Record<string, unknown> };
  /** Unconfirmed descendants of a transaction */
  "getmempooldescendants": { params: [txid: Hash, verbose?: boolean | null | null]; answer: unknown };
  /** An unconfirmed transaction */
  "getmempoolentry": { params: [txid: Hash]; answer: Record<string, unknown> };
  /** State of the node's mempool */
  "getmempoolinfo": { params: Record<string, never>; answer: Record<string, unknown> };
  /** Transactions whose parents the node lacks */
  "getorphantxs": { params: [verbosity?: number | null | null]; answer: Array<unknown> };
  /** Unconfirmed transactions */
  "getrawmempool": { params: [verbose?: boolean | null | null, mempool_sequence?: boolean | null | null]; answer: unknown };
  /** A transaction in hexadecimal digits, or as an object */
  "getrawtransaction": { params: [txid: Hash, verbosity?: unknown | null, blockhash?: Hash | null | null]; answer: unknown };
  /** An unspent output */
  "gettxout": { params: [txid: Hash, n: number, include_mempool?: boolean | null | null]; answer: Record<string, unknown> | null };
  /** Proof that a block holds transactions */
  "gettxoutproof": { params: [txids: Array<Hash>, blockhash?: Hash | null | null]; answer: string };
  /** Which unconfirmed transactions spend outputs */
  "gettxspendingprevout": { params: [outputs: Array<Record<string, unknown>>]; answer: Array<Record<string, unknown>> };
  /** PSBTs of several transactions as one */
  "joinpsbts": { params: [txs: Array<string>]; answer: string };
  /** Hands a transaction to the network; its txid */
  "sendrawtransaction": { params: [hexstring: string, maxfeerate?: unknown | null, maxburnamount?: unknown | null]; answer: Hash };
  /** Hands several transactions to the network together */
  "submitpackage": { params: [package_: Array<string>, maxfeerate?: unknown | null, maxburnamount?: unknown | null]; answer: Record<string, unknown> };
  /** Whether the node would take transactions */
  "testmempoolaccept": { params: [rawtxs: Array<string>, maxfeerate?: unknown | null]; answer: Array<Record<string, unknown>> };
  /** A PSBT with the outputs that it spends */
  "utxoupdatepsbt": { params: [psbt: string, descriptors?: Array<unknown> | null | null]; answer: string };
  /** What an address is */
  "validateaddress": { params: [address: string]; answer: Record<string, unknown> };
  /** Whether a message was signed by an address */
  "verifymessage": { params: [address: string, signature: string, message: string]; answer: boolean };
  /** The transactions that a proof proves */
  "verifytxoutproof": { params: [proof: string]; answer: Array<Hash> };
  /** Fees and sizes of the mempool, best first */
  "getmempoolfeeratediagram": { params: Record<string, never>; answer: Array<Record<string, unknown>> };
}

/** 32 bytes in display order */
export type Hash = string;
