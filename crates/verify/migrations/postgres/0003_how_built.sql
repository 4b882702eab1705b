-- How the source of a record was built, as JSON; absent for records from before this was kept.
ALTER TABLE record ADD COLUMN how_built TEXT;

-- All attempts at one module.
CREATE INDEX run_wasm_sha256 ON run (wasm_sha256);
