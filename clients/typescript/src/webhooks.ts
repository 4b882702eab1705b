// Paraffin JSON-RPC: webhooks.
// Written from the declarations: docs/clients.md says how.

/** Parameters and answer of each, by its name. */
export interface Methods {
  /** Creates an endpoint. Its secret is shown in this answer only. */
  "webhooks_create": { params: { "url": string; "filter"?: unknown; "from"?: WebhooksCreateFrom | null; "description"?: string | null }; answer: WithSecret };
  /** All endpoints of the account, by number. */
  "webhooks_list": { params: Record<string, never>; answer: Array<Endpoint> };
  /** One endpoint, with its state and its last error. */
  "webhooks_get": { params: { "id": number }; answer: Endpoint };
  /** Changes an endpoint; absent members stay unchanged. */
  "webhooks_update": { params: { "id": number; "url"?: string | null; "filter"?: unknown; "from"?: WebhooksCreateFrom | null; "description"?: string | null }; answer: Endpoint };
  /** Stops the delivery. */
  "webhooks_pause": { params: { "id": number }; answer: Endpoint };
  /** Resumes the delivery with the message that was not acknowledged. */
  "webhooks_resume": { params: { "id": number }; answer: Endpoint };
  /** Replaces the secret; the new one is shown in this answer only. For a day messages are signed with the previous one as well. */
  "webhooks_rotate_secret": { params: { "id": number }; answer: WithSecret };
  /** Deletes an endpoint; the answer is its last state. */
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
  /** The filter in its normalised form. */
  "filter": unknown;
  "id": number;
  /** Why the last attempt failed. */
  "last_error": string | null;
  "last_error_at": string | null;
  "last_success_at": string | null;
  /** `webhook-id` of the message that is not acknowledged yet. */
  "message_id": string | null;
  /** When the pending message is sent again, after a failure. */
  "next_attempt_at": string | null;
  /** Until when messages are also signed with the previous secret. */
  "old_secret_until": string | null;
  /** `active`; `paused` by its owner; `failing` for too long, `gone` (the server answered 410) or `lost` (the cursor is unknown),
   * which are paused as well. */
  "state": string;
  "url": string;
}

/** Result of the delivery. */
export interface Tested {
  /** Whether the server acknowledged it. */
  "delivered": boolean;
  "elapsed_ms": number;
  "error": string | null;
  "message_id": string;
  /** HTTP status of the server's answer, if there was one. */
  "status": number | null;
}

export type WebhooksCreateFrom = number | string;

/** An endpoint and its secret, which is not shown again. */
export interface WithSecret {
  "created_at": string | null;
  /** The position after the last message that was acknowledged. */
  "cursor": string;
  "description": string | null;
  "failing_since": string | null;
  /** Attempts that have failed since the last success. */
  "failures": number;
  /** The filter in its normalised form. */
  "filter": unknown;
  "id": number;
  /** Why the last attempt failed. */
  "last_error": string | null;
  "last_error_at": string | null;
  "last_success_at": string | null;
  /** `webhook-id` of the message that is not acknowledged yet. */
  "message_id": string | null;
  /** When the pending message is sent again, after a failure. */
  "next_attempt_at": string | null;
  /** Until when messages are also signed with the previous secret. */
  "old_secret_until": string | null;
  /** `whsec_` and the base64 of 32 bytes. */
  "secret": string;
  /** `active`; `paused` by its owner; `failing` for too long, `gone` (the server answered 410) or `lost` (the cursor is unknown),
   * which are paused as well. */
  "state": string;
  "url": string;
}
