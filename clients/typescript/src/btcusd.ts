// Paraffin JSON-RPC: btcusd.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** A view of the pool index: a protobuf message in and out. */
  "metashrew_view": { params: [name: string, input?: string | null | null, tag?: number | string | null | null]; answer: string };
  /** The newest height that views answer at, in decimal digits. */
  "metashrew_height": { params: Record<string, never>; answer: string };
}
