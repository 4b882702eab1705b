// Written from the declarations: docs/clients.md says how.
export * as btcusd from "./btcusd.js";
export * as espo from "./espo.js";
export * as forex from "./forex.js";
export * as jsonrpc from "./jsonrpc.js";
export * as mempool from "./mempool.js";
export * as reorg from "./reorg.js";
export * as rest from "./rest.js";
export * as verification from "./verification.js";
export * as webhooks from "./webhooks.js";
export * from "./client.js";
