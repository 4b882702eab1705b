// Paraffin JSON-RPC: mempool.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** Figures of the whole set. */
  "mempool_info": { params: Record<string, never>; answer: InfoAnswer };
  /** Ids of transactions, in no order. */
  "mempool_txids": { params: { "limit"?: number | null }; answer: TxidsAnswer };
  /** One transaction. */
  "mempool_entry": { params: { "txid": string; "include_hex"?: boolean | null }; answer: MempoolEntryAnswer };
  /** Several transactions, in the order of their first mention, without duplicates. */
  "mempool_entries": { params: { "txids": Array<string>; "include_hex"?: boolean | null }; answer: EntriesAnswer };
  /** The bytes of a transaction. */
  "mempool_raw": { params: { "txid": string }; answer: RawAnswer };
  /** The newest transactions, the newest first. */
  "mempool_recent": { params: { "limit"?: number | null; "include_hex"?: boolean | null }; answer: RecentAnswer };
  /** The whole set, page by page, by ascending `seq`.
   *
   * Begin with cursor 0 and go on with the `cursor` of each answer until `has_more` is false; then follow the stream from the `seq`
   * of the first page. */
  "mempool_snapshot": { params: { "limit"?: number | null; "cursor"?: number | null; "instance"?: string | null; "include_hex"?: boolean | null }; answer: SnapshotAnswer };
  /** Virtual bytes by feerate. */
  "mempool_feerate_histogram": { params: { "buckets"?: Array<number> | null }; answer: FeerateHistogramAnswer };
  /** Transactions replaced by a later one that spends the same output, the newest first; the newest 1,000 since this process started. */
  "mempool_replacements": { params: { "limit"?: number | null; "txid"?: string | null }; answer: ReplacementsAnswer };
}

/** The entries that are in the set, and the ids of the others. */
export interface EntriesAnswer {
  /** Entries as serialised into an answer, without intermediate JSON values: a page holds thousands. */
  "entries": Array<MempoolEntryRecord>;
  "missing": Array<string>;
}

/** Virtual bytes by feerate. */
export interface FeerateHistogramAnswer {
  "count": number;
  /** Share of transactions whose fee is known; the others are in no bucket. */
  "fee_coverage": number;
  /** For each bucket the feerate at which it begins, and the virtual bytes in it. */
  "histogram": Array<[number, number]>;
}

/** Figures of the whole set. */
export interface InfoAnswer {
  /** Since this process started. */
  "added_total": number;
  /** Bytes of raw transactions. */
  "bytes": number;
  /** Of all ids, 16 hexadecimal digits; equal sets have equal checksums. */
  "checksum": string;
  "count": number;
  /** Share of transactions whose fee is known, four decimal places. */
  "fee_coverage": number;
  /** Number of transactions whose fee is known. */
  "fee_known": number;
  /** Id of this process: it changes with a restart, which streams and pages can detect by it. */
  "instance": string;
  /** Number of the oldest frame that can be replayed. */
  "oldest_seq": number;
  /** Number of transactions that an admin submitted and no peer has announced. */
  "provisional": number;
  "removed_total": number;
  /** Number of the newest frame. */
  "seq": number;
  /** Open streams. */
  "subscribers": number;
  /** Sum of the known fees, satoshis. */
  "total_fee": number;
  "vbytes": number;
}

/** The requested entry. */
export interface MempoolEntryAnswer {
  /** Satoshis; absent while an input is unknown. */
  "fee"?: number | null;
  /** Satoshis for one virtual byte; absent while the fee is unknown. */
  "feerate"?: number | null;
  /** When this instance saw it first, milliseconds since 1970. */
  "first_seen": number;
  /** Consensus encoding in hexadecimal digits, where it was requested. */
  "hex"?: string | null;
  "origin": Origin;
  /** Whether an admin submitted it and no peer has announced it. */
  "provisional": boolean;
  /** Whether it, or an unconfirmed ancestor, signals replaceability (BIP125). */
  "rbf": boolean;
  /** Number of the frame of the stream that added it. */
  "seq": number;
  "txid": string;
  /** Virtual bytes. */
  "vsize": number;
  /** Weight units. */
  "weight": number;
  "wtxid": string;
}

/** An unconfirmed transaction as answers and the stream show it (docs/mempool.md). */
export interface MempoolEntryRecord {
  /** Satoshis; absent while an input is unknown. */
  "fee"?: number | null;
  /** Satoshis for one virtual byte; absent while the fee is unknown. */
  "feerate"?: number | null;
  /** When this instance saw it first, milliseconds since 1970. */
  "first_seen": number;
  /** Consensus encoding in hexadecimal digits, where it was requested. */
  "hex"?: string | null;
  "origin": Origin;
  /** Whether an admin submitted it and no peer has announced it. */
  "provisional": boolean;
  /** Whether it, or an unconfirmed ancestor, signals replaceability (BIP125). */
  "rbf": boolean;
  /** Number of the frame of the stream that added it. */
  "seq": number;
  "txid": string;
  /** Virtual bytes. */
  "vsize": number;
  /** Weight units. */
  "weight": number;
  "wtxid": string;
}

/** Where a transaction was seen first. It moves from edge to p2p, never back. */
export type Origin = "p2p" | "edge";

/** The bytes of a transaction. */
export interface RawAnswer {
  /** Consensus encoding in hexadecimal digits. */
  "hex": string;
}

/** The newest transactions. */
export interface RecentAnswer {
  /** Entries as serialised into an answer, without intermediate JSON values: a page holds thousands. */
  "entries": Array<MempoolEntryRecord>;
  /** Number of the newest frame of the stream. */
  "seq": number;
}

/** The newest replacements. */
export interface ReplacementsAnswer {
  "replacements": Array<ReplacementsAnswerReplacementsItem>;
}

/** A replacement. */
export interface ReplacementsAnswerReplacementsItem {
  /** When this process saw it, milliseconds since 1970. */
  "at": number;
  /** A transaction of a replacement. */
  "by": ReplacementsAnswerReplacementsItemBy;
  /** A transaction of a replacement. */
  "replaced": ReplacementsAnswerReplacementsItemBy;
}

/** A transaction of a replacement. */
export interface ReplacementsAnswerReplacementsItemBy {
  /** Satoshis; null where it was not known. */
  "fee": number | null;
  "txid": string;
  "vsize": number;
}

/** A page of the set. */
export interface SnapshotAnswer {
  /** Of the whole set, as in `mempool_info`. */
  "checksum": string;
  /** Of the whole set. */
  "count": number;
  /** `cursor` of the next page. */
  "cursor": number;
  /** Entries as serialised into an answer, without intermediate JSON values: a page holds thousands. */
  "entries": Array<MempoolEntryRecord>;
  "has_more": boolean;
  "instance": string;
  /** Number of the newest frame of the stream. */
  "seq": number;
}

/** Ids, with the size of the set. */
export interface TxidsAnswer {
  /** Of the whole set. */
  "count": number;
  /** Number of the newest frame of the stream. */
  "seq": number;
  "txids": Array<string>;
}
