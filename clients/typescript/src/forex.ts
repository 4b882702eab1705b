// Paraffin JSON-RPC: forex.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** What a currency costs in others. */
  "forex_rates": { params: { "base"?: string | null; "quotes"?: Array<string> | null; "provenance"?: boolean | null }; answer: RatesAnswer };
  /** An amount of one currency in another. */
  "forex_convert": { params: { "from": string; "to": string; "amount": ForexConvertAmount }; answer: ConvertAnswer };
  /** How the sources do.
   *
   * It has no errors of its own: without any rate it answers that there is none. */
  "forex_status": { params: Record<string, never>; answer: StatusAnswer };
  /** Which currencies there are, and which have a rate now. */
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
  /** How many of `to` one of `from` costs, 12 significant digits. */
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

/** What a rate was made of. */
export interface RateProvenance {
  "method": string;
  /** Units of the currency for one dollar. */
  "per_usd": string;
  "sources": Array<RateSource>;
}

/** What one source said of a rate. */
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
  /** Codes that were asked for and have no rate. */
  "missing": Array<string>;
  /** By code: `no_quotes`, `unsupported` or `stale_beyond_limit`. */
  "missing_reasons": Record<string, string>;
  /** By code, but of the dollar. */
  "provenance"?: Record<string, RateProvenance> | null;
  /** By code, how many of it one of the base costs. */
  "rates": Record<string, string>;
  /** Whether even the freshest is older than `stale_after_hours`. */
  "stale": boolean;
}

/** A source as the operator has set it. */
export interface SourceAnswer {
  /** When it answered last. */
  "answered_at": string | null;
  /** The time of its freshest rate. */
  "as_of": string | null;
  /** How many currencies it has. */
  "currencies": number;
  /** Why the last question failed. */
  "failure": string | null;
  /** What it is, as `[[forex.sources]]` has it. */
  "kind": string;
  "name": string;
  /** By code, why a rate was not taken. */
  "refused": Record<string, string>;
}

/** How old the rates are, and of which sources. */
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
