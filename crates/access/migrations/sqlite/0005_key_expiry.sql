-- A key may have an end of its own: `own_expires_at`, given when it was made. `expires_at` is the moment from which it is refused,
-- by its own end or by the grace after a reroll, whichever comes first; `is_replaced` says that it was rerolled.
ALTER TABLE api_key ADD COLUMN own_expires_at INTEGER;
ALTER TABLE api_key ADD COLUMN is_replaced INTEGER NOT NULL DEFAULT 0;
UPDATE api_key SET is_replaced = 1 WHERE expires_at IS NOT NULL;
