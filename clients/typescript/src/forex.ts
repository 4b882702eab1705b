// Paraffin JSON-RPC: forex.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** Exchange rates of a currency. */
  "forex_rates": { params: { "base"?: string | null; "quotes"?: Array<string> | null; "provenance"?: boolean | null }; answer: RatesAnswer };
  /** Converts an amount of one currency to another. */
  "forex_convert": { params: { "from": string; "to": string; "amount": ForexConvertAmount }; answer: ConvertAnswer };
  /** State of the sources.
   *
   * It has no errors of its own: without any rate the answer says so. */
  "forex_status": { params: Record<string, never>; answer: StatusAnswer };
  /** Supported currencies, and which of them have a rate now. */
  "forex_currencies": { params: Record<string, never>; answer: CurrenciesAnswer };
}

/** What the amount is worth. */
export interface ConvertAnswer {
  /** By code, of both currencies but the dollar, seconds. */
  "age_seconds_by_currency": Record<string, number>;
  /** Of the fresher rate, ISO 8601 in UTC. */
  "as_of": string | null;
  /** The same in Unix seconds. */
  "as_of_unix": number | null;
  "from": string;
  /** Units of `to` for one of `from`, 12 significant digits. */
  "rate": string;
  /** 12 decimal places at most. */
  "result": string;
  /** Whether the rate is older than `stale_after_hours`. */
  "stale": boolean;
  "to": string;
}

/** The twenty currencies. */
export interface CurrenciesAnswer {
  "available": Array<string>;
  "currencies": Array<string>;
  "default_base": string;
  "missing": Array<string>;
  /** By code, as in `forex_rates`. */
  "missing_reasons": Record<string, string>;
}

export type ForexConvertAmount = string | number;

/** Sources of a rate. */
export interface RateProvenance {
  "method": string;
  /** Units of the currency for one dollar. */
  "per_usd": string;
  "sources": Array<RateSource>;
}

/** The quote of one source. */
export interface RateSource {
  "age_seconds": number;
  "as_of": string | null;
  "per_usd": string;
  /** `used`, `outlier`, `stale` or `stale_beyond_limit`. */
  "role": string;
  "source": string;
}

/** Rates, and how old they are. */
export interface RatesAnswer {
  /** By code, of every rate but the base's own, seconds. */
  "age_seconds_by_currency": Record<string, number>;
  /** Of the freshest rate, ISO 8601 in UTC; `null` where there is none. */
  "as_of": string | null;
  /** The same in Unix seconds. */
  "as_of_unix": number | null;
  "base": string;
  /** Requested codes without a rate. */
  "missing": Array<string>;
  /** By code: `no_quotes`, `unsupported` or `stale_beyond_limit`. */
  "missing_reasons": Record<string, string>;
  /** By code, without the dollar. */
  "provenance"?: Record<string, RateProvenance> | null;
  /** By code, units of the currency for one of the base. */
  "rates": Record<string, string>;
  /** Whether even the freshest is older than `stale_after_hours`. */
  "stale": boolean;
}

/** A configured source. */
export interface SourceAnswer {
  /** When it answered last. */
  "answered_at": string | null;
  /** The time of its freshest rate. */
  "as_of": string | null;
  /** Number of currencies that it quotes. */
  "currencies": number;
  /** Why the last poll failed. */
  "failure": string | null;
  /** Its kind, as in `[[forex.sources]]`. */
  "kind": string;
  "name": string;
  /** By code, why a quote was rejected. */
  "refused": Record<string, string>;
}

/** Age of the rates, and state of their sources. */
export interface StatusAnswer {
  /** Of the freshest rate. */
  "age_seconds": number | null;
  "as_of": string | null;
  "as_of_unix": number | null;
  /** Codes that have a rate. */
  "available": Array<string>;
  "sources": Array<SourceAnswer>;
  "stale": boolean;
}
