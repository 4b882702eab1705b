-- The last attempts of an endpoint, the newest first: a JSON array of objects with `at`, `elapsed_ms`, `status` and `error`.
ALTER TABLE webhook_endpoint ADD COLUMN attempts TEXT NOT NULL DEFAULT '[]';
