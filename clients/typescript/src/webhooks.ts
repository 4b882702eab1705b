// Paraffin JSON-RPC: webhooks.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** A new endpoint; the only time that its secret is shown. */
  "webhooks_create": { params: { "url": string; "filter"?: unknown; "from"?: WebhooksCreateFrom | null; "description"?: string | null }; answer: WithSecret };
  /** All endpoints of the account, by number. */
  "webhooks_list": { params: Record<string, never>; answer: Array<Endpoint> };
  /** One endpoint, with its state and its last error. */
  "webhooks_get": { params: { "id": number }; answer: Endpoint };
  /** Changes an endpoint; what is absent stays as it is. */
  "webhooks_update": { params: { "id": number; "url"?: string | null; "filter"?: unknown; "from"?: WebhooksCreateFrom | null; "description"?: string | null }; answer: Endpoint };
  /** Stops the delivery. */
  "webhooks_pause": { params: { "id": number }; answer: Endpoint };
  /** Goes on where the delivery stopped, with the message that was not acknowledged. */
  "webhooks_resume": { params: { "id": number }; answer: Endpoint };
  /** A new secret; the only time that it is shown. For a day the one before signs as well. */
  "webhooks_rotate_secret": { params: { "id": number }; answer: WithSecret };
  /** Ends an endpoint; the answer is its last state. */
  "webhooks_delete": { params: { "id": number }; answer: Endpoint };
  /** Sends a message of type `ping` once, now, also to an endpoint that is paused. */
  "webhooks_test": { params: { "id": number }; answer: Tested };
}

/** An endpoint. */
export interface Endpoint {
  "created_at": string | null;
  /** The position after the last message that was acknowledged. */
  "cursor": string;
  "description": string | null;
  "failing_since": string | null;
  /** Attempts that have failed since the last success. */
  "failures": number;
  /** As it is applied. */
  "filter": unknown;
  "id": number;
  /** Why the last attempt failed. */
  "last_error": string | null;
  "last_error_at": string | null;
  "last_success_at": string | null;
  /** `webhook-id` of the message that waits for its acknowledgement. */
  "message_id": string | null;
  /** When the waiting message is sent again, after a failure. */
  "next_attempt_at": string | null;
  /** Until when the secret before the present one signs as well. */
  "old_secret_until": string | null;
  /** `active`; `paused` by its owner; `failing` for too long, `gone` (the server answered 410) or `lost` (the cursor is unknown),
   * which are paused as well. */
  "state": string;
  "url": string;
}

/** What came of it. */
export interface Tested {
  /** Whether the server acknowledged it. */
  "delivered": boolean;
  "elapsed_ms": number;
  "error": string | null;
  "message_id": string;
  /** Of the server's answer, if there was one. */
  "status": number | null;
}

export type WebhooksCreateFrom = number | string;

/** An endpoint and its secret, which is shown this once. */
export interface WithSecret {
  "created_at": string | null;
  /** The position after the last message that was acknowledged. */
  "cursor": string;
  "description": string | null;
  "failing_since": string | null;
  /** Attempts that have failed since the last success. */
  "failures": number;
  /** As it is applied. */
  "filter": unknown;
  "id": number;
  /** Why the last attempt failed. */
  "last_error": string | null;
  "last_error_at": string | null;
  "last_success_at": string | null;
  /** `webhook-id` of the message that waits for its acknowledgement. */
  "message_id": string | null;
  /** When the waiting message is sent again, after a failure. */
  "next_attempt_at": string | null;
  /** Until when the secret before the present one signs as well. */
  "old_secret_until": string | null;
  /** `whsec_` and the base64 of 32 bytes. */
  "secret": string;
  /** `active`; `paused` by its owner; `failing` for too long, `gone` (the server answered 410) or `lost` (the cursor is unknown),
   * which are paused as well. */
  "state": string;
  "url": string;
}
