// A client over fetch: methods and routes by their names, with the types of their parameters and answers.

import type { Methods as BtcUsd } from "./btcusd.js";
import type { Methods as Espo } from "./espo.js";
import type { Methods as Forex } from "./forex.js";
import type { Methods as Main } from "./jsonrpc.js";
import type { Methods as Mempool } from "./mempool.js";
import type { Routes } from "./rest.js";

/** The methods of each surface; those of the main endpoint have no word in the path. */
export interface Surfaces {
  "": Main;
  btcusd: BtcUsd;
  espo: Espo;
  forex: Forex;
  mempool: Mempool;
}

/** Parameters and answer of a method or route. */
interface Described {
  params: unknown;
  answer: unknown;
}

type Params<T> = T extends Described ? T["params"] : never;
type Answer<T> = T extends Described ? T["answer"] : never;

/** The instance answered with an error. */
export class ApiError extends Error {
  /**
   * @param status of HTTP
   * @param code of JSON-RPC, where the answer has one
   * @param word that says what is wrong and stays the same, such as `NOT_FOUND`
   */
  constructor(
    message: string,
    readonly status: number,
    readonly code?: number,
    readonly word?: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export interface Options {
  /** An API key or an alias. It stands in the path. */
  key?: string;
  /** Longest time in milliseconds that rate limits are waited out for one request. */
  waitMax?: number;
  fetch?: typeof fetch;
}

/** The longest single wait that a server may ask for, in seconds. */
const RETRY_AFTER_MAX = 60;

export class Paraffin {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #waitMax: number;
  readonly #fetch: typeof fetch;

  /** @param base such as `http://127.0.0.1:8787` */
  constructor(base: string, options: Options = {}) {
    this.#base = base.replace(/\/+$/, "");
    this.#key = options.key === undefined ? undefined : encodeURIComponent(options.key);
    this.#waitMax = options.waitMax ?? 180_000;
    this.#fetch = options.fetch ?? fetch;
  }

  /** Calls a method of the main endpoint. */
  call<N extends keyof Main>(method: N, params: Params<Main[N]>): Promise<Answer<Main[N]>> {
    return this.callOn("", method, params);
  }

  /** Calls a method of a surface of its own, which needs a key. */
  async callOn<S extends keyof Surfaces, N extends keyof Surfaces[S] & string>(
    surface: S,
    method: N,
    params: Params<Surfaces[S][N]>,
  ): Promise<Answer<Surfaces[S][N]>> {
    const base = this.#key === undefined ? "/v4/jsonrpc" : `/v4/${this.#key}`;
    const path = surface === "" ? base : `${base}/${surface}`;
    const { status, body } = await this.#send("POST", path, { jsonrpc: "2.0", id: 1, method, params });
    const answer = body as { result?: unknown; error?: { code?: number; message?: string; data?: { code?: string } } };
    if (answer.error != null) {
      throw new ApiError(answer.error.message ?? "", status, answer.error.code, answer.error.data?.code);
    }
    return answer.result as Answer<Surfaces[S][N]>;
  }

  /** Asks a route by its verb and path: `POST /get-alkanes`. Members of the path are taken out of the parameters. */
  async ask<N extends keyof Routes & string>(route: N, params: Params<Routes[N]>): Promise<Answer<Routes[N]>> {
    const [verb = "", pattern = ""] = route.split(" ");
    const rest: Record<string, unknown> = { ...(params as object) };
    let path = pattern.replace(/\{([^}]+)\}/g, (_, name: string) => {
      const value = String(rest[name]);
      delete rest[name];
      return encodeURIComponent(value);
    });
    if (verb === "GET") {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(rest)) {
        if (value != null) query.set(name, String(value));
      }
      if (query.size > 0) path += `?${query}`;
    }
    const body = verb === "GET" ? undefined : "body" in rest ? rest["body"] : rest;
    const { status, body: answer } = await this.#send(verb, `/v4/${this.#key ?? "api"}${path}`, body);
    const wrapped = answer as Record<string, unknown>;
    if (status >= 300 || wrapped["ok"] === false) {
      throw new ApiError(String(wrapped["hint"] ?? wrapped["error"]), status, undefined, String(wrapped["code"] ?? wrapped["error"]));
    }
    if (wrapped["statusCode"] === 200 && "data" in wrapped) return wrapped["data"] as Answer<Routes[N]>;
    if (wrapped["error"] === null && "result" in wrapped) return wrapped["result"] as Answer<Routes[N]>;
    return answer as Answer<Routes[N]>;
  }

  /** Sends, and again after as long as the instance asks for where it refuses for a while; not where its key store is away. */
  async #send(verb: string, path: string, body: unknown): Promise<{ status: number; body: unknown }> {
    const until = Date.now() + this.#waitMax;
    for (;;) {
      const init: RequestInit = { method: verb };
      if (body !== undefined) {
        init.body = JSON.stringify(body);
        init.headers = { "content-type": "application/json" };
      }
      const response = await this.#fetch(this.#base + path, init);
      const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
      const answer: unknown = isJson ? await response.json() : await response.text();
      const asked = response.headers.get("retry-after");
      const isForAWhile = response.status === 429 || (response.status === 503 && asked !== null);
      const isAway = (answer as { code?: unknown } | null)?.code === "AUTH_UNAVAILABLE";
      const wait = Math.min(Math.max(Number(asked ?? 1) || 1, 1), RETRY_AFTER_MAX) * 1000;
      if (!isForAWhile || isAway || Date.now() + wait > until) {
        return { status: response.status, body: answer };
      }
      await new Promise<void>((resume) => void setTimeout(resume, wait));
    }
  }
}
