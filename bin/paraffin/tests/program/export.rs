//! `paraffin export`, read back by DuckDB and compared row by row with the answers of the API.

use std::path::Path;
use std::process::Output;

use crate::support::dev::Dev;
use crate::support::process::paraffin;

/// `paraffin export` of the instance that runs on a data folder.
fn export(dev: &Dev, dataset: &str, file: &Path, further: &[&str]) -> Output {
    let mut command = paraffin();
    command.args(["export", dataset, "--out"]).arg(file).arg("--data-dir").arg(dev.folder()).args(further);
    command.output().unwrap()
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_program_without_the_feature_says_how_to_get_one_that_exports() {
    let dev = Dev::start_with(&["--blocks", "110"]);
    let file = dev.folder().join("rows.parquet");
    let output = export(&dev, "swaps", &file, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("cargo build --release --features parquet"), "{said}");
    assert!(!file.exists());
}

#[cfg(feature = "parquet")]
mod rows {
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use serde_json::{Value, json};

    use super::export;
    use crate::events;
    use crate::support::dev::Dev;
    use crate::support::process::{paraffin, write_config};

    /// Prints every row of a query as a line of JSON; decimals are texts.
    const QUERY: &str = r#"
import decimal, duckdb, json, sys
text = lambda value: format(value, "f") if isinstance(value, decimal.Decimal) else str(value)
answer = duckdb.connect().execute(sys.argv[1])
names = [column[0] for column in answer.description]
for row in answer.fetchall():
    print(json.dumps(dict(zip(names, row)), default=text))
"#;

    /// A development chain, and DuckDB.
    struct Chain {
        dev: Dev,
        python: OsString,
        folder: tempfile::TempDir,
    }

    impl Chain {
        /// Exports; the path of the file and what the command printed.
        #[track_caller]
        fn export(&self, dataset: &str, further: &[&str]) -> (PathBuf, Value) {
            let file = self.folder.path().join(format!("{dataset}{}.parquet", further.concat().replace(':', "-")));
            let output = export(&self.dev, dataset, &file, further);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            (file, serde_json::from_slice(&output.stdout).unwrap())
        }

        /// What a refused export says.
        #[track_caller]
        fn refused(&self, dataset: &str, file: &Path, further: &[&str]) -> String {
            let output = export(&self.dev, dataset, file, further);
            assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            String::from_utf8_lossy(&output.stderr).into_owned()
        }

        #[track_caller]
        fn query(&self, sql: &str) -> Vec<Value> {
            let output = Command::new(&self.python).args(["-I", "-c", QUERY, sql]).output().unwrap();
            assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }

        /// All rows of a file, its time as Unix seconds.
        #[track_caller]
        fn rows(&self, (file, printed): &(PathBuf, Value), time: &str) -> Vec<Value> {
            let replaced =
                if time.is_empty() { String::new() } else { format!(" REPLACE (epoch({time})::BIGINT AS {time})") };
            let rows = self.query(&format!("SELECT *{replaced} FROM '{}'", file.display()));
            assert_eq!(printed["rows"], rows.len(), "{printed}");
            assert_eq!(printed["bytes"], std::fs::metadata(file).unwrap().len(), "{printed}");
            rows
        }

        fn pools(&self) -> Vec<String> {
            let all = self.dev.post("get-all-pools-details", json!({ "limit": 1000 }));
            let listed = all["pools"].as_array().unwrap().iter().map(|pool| text(&pool["poolId"]));
            let mut pools: Vec<String> = listed.collect();
            assert!(pools.len() >= 2, "{all}");
            pools.sort();
            pools
        }
    }

    /// The text of a value; ids may be objects of two numbers.
    #[track_caller]
    fn text(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Object(id) => format!("{}:{}", text(&id["block"]), text(&id["tx"])),
            other => panic!("no text: {other}"),
        }
    }

    #[track_caller]
    fn number(value: &Value) -> i128 {
        let read = value.as_str().map_or_else(|| value.to_string().parse(), str::parse);
        read.unwrap_or_else(|_| panic!("no number: {value}"))
    }

    /// An amount, which stands in two columns.
    #[track_caller]
    fn amount(row: &Value, name: &str) -> i128 {
        let [decimal, text] = [name.to_owned(), format!("{name}_text")].map(|name| number(&row[name]));
        assert_eq!(decimal, text, "{row}");
        text
    }

    /// Pages of a method, by its list.
    fn pages(dev: &Dev, method: &str, list: &str, parameters: &Value) -> Vec<Value> {
        let mut rows = Vec::new();
        for page in 0.. {
            let mut parameters = parameters.clone();
            parameters["page"] = json!(page);
            parameters["limit"] = json!(100);
            let path = format!("{}/espo", dev.path());
            let answer = crate::support::http::result(dev.listen(), &path, method, parameters);
            rows.extend(answer[list].as_array().unwrap_or_else(|| panic!("{answer}")).iter().cloned());
            if answer["has_more"] == false {
                break;
            }
        }
        rows
    }

    #[test]
    fn every_row_that_duckdb_reads_is_one_of_the_api() {
        let Some(python) = std::env::var_os("PARAFFIN_DUCKDB") else {
            return paraffin_testkit::missing("`cargo xtask duckdb` installs DuckDB and runs this test");
        };
        let dev = Dev::start();
        let chain = Chain { dev, python, folder: tempfile::tempdir().unwrap() };
        swaps(&chain);
        candles(&chain);
        transfers(&chain);
        balances(&chain);
        metadata(&chain);
        refusals(&chain);
        stopped(chain);
    }

    fn swaps(chain: &Chain) {
        let exported = chain.export("swaps", &[]);
        let rows = chain.rows(&exported, "time");
        assert!(rows.len() > 20, "{}", rows.len());
        let order = |row: &Value| ["height", "transaction_index", "vout", "event_index"].map(|name| number(&row[name]));
        assert!(rows.is_sorted_by_key(order));
        let (mut pools, mut sums) = (BTreeSet::new(), BTreeMap::<String, i128>::new());
        for row in &rows {
            pools.insert(text(&row["pool"]));
            *sums.entry(text(&row["sold_alkane"])).or_default() += amount(row, "sold_amount");
        }
        assert!(chain.pools().iter().filter(|pool| pools.contains(*pool)).count() >= 2, "{pools:?}");
        for pool in &pools {
            let mut answered = Vec::new();
            for trade in pages(&chain.dev, "ammdata.get_trades", "trades", &json!({ "pool": pool })) {
                let flows = ["base_inflow", "quote_inflow"].map(|name| number(&trade[name]));
                let place = ["block_height", "timestamp", "vout"].map(|name| number(&trade[name]));
                answered.push((text(&trade["txid"]), place, flows, trade["address"].clone()));
            }
            let mut found = Vec::new();
            for row in rows.iter().filter(|row| row["pool"] == **pool) {
                let (sold, bought) = (amount(row, "sold_amount"), amount(row, "bought_amount"));
                let id = |name: &str| {
                    text(&row[name])
                        .split_once(':')
                        .map(|(block, tx)| (block.parse::<u128>().unwrap(), tx.parse::<u128>().unwrap()))
                };
                // The lower id is the base.
                let flows = if id("sold_alkane") < id("bought_alkane") { [sold, -bought] } else { [-bought, sold] };
                let place = ["height", "time", "vout"].map(|name| number(&row[name]));
                found.push((text(&row["txid"]), place, flows, row["address"].clone()));
            }
            let key = |(txid, place, flows, _): &(String, [i128; 3], [i128; 2], Value)| (txid.clone(), *place, *flows);
            answered.sort_by_key(key);
            found.sort_by_key(key);
            assert_eq!(found, answered, "{pool}");
        }
        // What DuckDB adds up is what the rows add up to, as decimals and as integers of 128 bits.
        let sql =
            "SELECT sold_alkane, sum(sold_amount)::VARCHAR AS one, sum(sold_amount_text::HUGEINT)::VARCHAR AS other";
        for row in chain.query(&format!("{sql} FROM '{}' GROUP BY ALL", exported.0.display())) {
            let sum = sums[&text(&row["sold_alkane"])].to_string();
            assert_eq!((text(&row["one"]), text(&row["other"])), (sum.clone(), sum), "{row}");
        }
        let part = chain.export("swaps", &["--from", "115", "--to", "121", "--token", "32:0"]);
        let is_part = |row: &&Value| {
            (115..=121).contains(&number(&row["height"]))
                && [&row["sold_alkane"], &row["bought_alkane"]].contains(&&json!("32:0"))
        };
        let expected: Vec<&Value> = rows.iter().filter(is_part).collect();
        assert!(!expected.is_empty());
        assert_eq!(chain.rows(&part, "time").iter().collect::<Vec<_>>(), expected);
        let pool = pools.first().unwrap();
        let of_pool = chain.export("swaps", &["--pool", pool]);
        let expected: Vec<&Value> = rows.iter().filter(|row| row["pool"] == **pool).collect();
        assert_eq!(chain.rows(&of_pool, "time").iter().collect::<Vec<_>>(), expected);
    }

    fn candles(chain: &Chain) {
        for bucket in ["10m", "1d"] {
            let exported = chain.export("candles", &["--bucket", bucket]);
            let rows = chain.rows(&exported, "start");
            let pools: BTreeSet<String> = rows.iter().map(|row| text(&row["pool"])).collect();
            assert!(pools.len() >= 2, "{pools:?}");
            for pool in &pools {
                let parameters = json!({ "pool": pool, "timeframe": bucket });
                let mut answered: Vec<Value> = pages(&chain.dev, "ammdata.get_candles", "candles", &parameters);
                answered.sort_by_key(|candle| candle["ts"].as_u64());
                let found: Vec<&Value> = rows.iter().filter(|row| row["pool"] == **pool).collect();
                assert_eq!(found.len(), answered.len(), "{pool}");
                for (row, candle) in found.iter().zip(&answered) {
                    assert_eq!((&row["start"], &row["trades"]), (&candle["ts"], &candle["trades"]), "{row} {candle}");
                    for name in ["open", "high", "low", "close"] {
                        let decimal = text(&row[name]);
                        assert_eq!(decimal.trim_end_matches('0').trim_end_matches('.'), text(&candle[name]), "{row}");
                        let ratio = text(&row[format!("{name}_ratio")]);
                        let (above, below) = ratio.split_once('/').unwrap();
                        let ratio = above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap();
                        let shown = decimal.parse::<f64>().unwrap();
                        assert!((ratio - shown).abs() <= shown * 1e-9 + 1e-18, "{row}");
                    }
                    assert_eq!(amount(row, "base_volume"), number(&candle["volume0"]));
                    assert_eq!(amount(row, "quote_volume"), number(&candle["volume1"]));
                }
            }
        }
    }

    fn transfers(chain: &Chain) {
        let exported = chain.export("transfers", &[]);
        let rows = chain.rows(&exported, "time");
        let events = events::history(&chain.dev, "transfer");
        assert!(rows.len() > 100 && rows.len() == events.len(), "{} {}", rows.len(), events.len());
        for (row, event) in rows.iter().zip(&events) {
            for name in ["height", "txid", "alkane"] {
                assert_eq!(row[name], event[name], "{row} {event}");
            }
            assert_eq!(amount(row, "amount"), number(&event["amount"]), "{row} {event}");
            for side in ["from", "to"] {
                let members = [("type", "type"), ("outpoint", "outpoint"), ("address", "address"), ("contract", "id")];
                for (column, member) in members {
                    assert_eq!(row[format!("{side}_{column}")], event[side][member], "{row} {event}");
                }
            }
        }
        let part = chain.export("transfers", &["--token", "2:0", "--from", "112"]);
        let is_part = |row: &&Value| row["alkane"] == "2:0" && number(&row["height"]) >= 112;
        let without_index = |row: &Value| {
            let mut row = row.clone();
            row.as_object_mut().unwrap().remove("transfer_index");
            row
        };
        let expected: Vec<Value> = rows.iter().filter(is_part).map(without_index).collect();
        assert!(!expected.is_empty());
        assert_eq!(chain.rows(&part, "time").iter().map(without_index).collect::<Vec<_>>(), expected);
    }

    fn balances(chain: &Chain) {
        let tip = chain.dev.height();
        for height in [tip, tip - 30] {
            let exported = chain.export("balances", &["--height", &height.to_string()]);
            assert_eq!(exported.1["height"], height);
            let rows = chain.rows(&exported, "");
            let alkanes: BTreeSet<String> = rows.iter().map(|row| text(&row["alkane"])).collect();
            assert!(alkanes.len() >= 3, "{alkanes:?}");
            for alkane in &alkanes {
                let parameters = json!({ "alkane": alkane, "height": height, "include_contracts": true });
                let mut answered: Vec<(String, i128)> = Vec::new();
                for holder in pages(&chain.dev, "get_holders", "items", &parameters) {
                    let name = ["address", "alkane", "script", "contract", "script_pubkey"]
                        .into_iter()
                        .find_map(|name| holder[name].as_str());
                    answered.push((name.unwrap_or_else(|| panic!("{holder}")).to_owned(), number(&holder["amount"])));
                }
                let mut found: Vec<(String, i128)> = Vec::new();
                for row in rows.iter().filter(|row| row["alkane"] == **alkane) {
                    let holder = ["address", "contract", "script"].into_iter().find_map(|name| row[name].as_str());
                    found.push((holder.unwrap().to_owned(), amount(row, "amount")));
                }
                answered.sort();
                found.sort();
                assert_eq!(found, answered, "{alkane} at {height}");
            }
        }
        let one = chain.export("balances", &["--token", "2:0"]);
        assert!(chain.rows(&one, "").iter().all(|row| row["alkane"] == "2:0"));
    }

    fn metadata(chain: &Chain) {
        let (file, printed) = chain.export("candles", &["--bucket", "1h", "--to", "120"]);
        let sql =
            format!("SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata('{}')", file.display());
        let notes: BTreeMap<String, String> =
            chain.query(&sql).iter().map(|row| (text(&row["key"]), text(&row["value"]))).collect();
        let hash = chain.dev.call("btc_getblockhash", json!([120]));
        let hash_text = text(&hash);
        for (name, expected) in [
            ("dataset", "candles"),
            ("network", "regtest"),
            ("height", "120"),
            ("block_hash", hash_text.as_str()),
            ("from_height", "0"),
            ("bucket", "1h"),
        ] {
            assert_eq!(notes[&format!("paraffin.{name}")], expected, "{notes:?}");
        }
        assert_eq!((&printed["height"], &printed["hash"]), (&json!(120), &hash));
        assert!(notes["paraffin.version"].starts_with(env!("CARGO_PKG_VERSION")), "{notes:?}");
        for row in chain.query(&format!("DESCRIBE SELECT * FROM '{}'", file.display())) {
            let name = text(&row["column_name"]);
            assert!(!notes[&format!("paraffin.unit.{name}")].is_empty());
            let expected = match name.as_str() {
                "open" | "high" | "low" | "close" => "DECIMAL(38,18)",
                "base_volume" | "quote_volume" => "DECIMAL(38,0)",
                "start" => "TIMESTAMP WITH TIME ZONE",
                "trades" => "UINTEGER",
                _ => "VARCHAR",
            };
            assert_eq!(row["column_type"], expected, "{row}");
        }
    }

    fn refusals(chain: &Chain) {
        let folder = chain.folder.path();
        let (file, _) = chain.export("swaps", &["--to", "112"]);
        let before = std::fs::read(&file).unwrap();
        let said = chain.refused("swaps", &file, &[]);
        assert!(said.contains("exists already") && said.contains("--force"), "{said}");
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert!(export(&chain.dev, "swaps", &file, &["--force"]).status.success());
        assert_ne!(std::fs::read(&file).unwrap(), before);

        let absent = folder.join("absent.parquet");
        for (dataset, further, expected) in [
            ("swaps", &["--pool", "2:99999"][..], "there is no pool 2:99999"),
            ("transfers", &["--to", "99999"][..], "block 99999 is not indexed: the newest is "),
            ("candles", &["--from", "20", "--to", "10"][..], "the first block, 20, comes after the last, 10"),
        ] {
            let said = chain.refused(dataset, &absent, further);
            assert!(said.contains(expected), "{said}");
        }
        let said = chain.refused("swaps", &folder.join("no/folder.parquet"), &[]);
        assert!(said.contains("No such file or directory"), "{said}");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| !name.contains("absent") && !name.contains(".part")));
    }

    /// The same file comes from the store of an instance that does not run.
    fn stopped(chain: Chain) {
        let running = chain.export("transfers", &["--to", "130"]);
        let expected = chain.rows(&running, "time");
        let Chain { mut dev, folder, python } = chain;
        dev.process.terminate(std::time::Duration::from_secs(60));
        let chain = Chain { dev, python, folder };
        let file = chain.folder.path().join("stopped.parquet");
        let said = chain.refused("transfers", &file, &[]);
        assert!(said.contains("no instance runs on") && said.contains("--config"), "{said}");
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://127.0.0.1:1\"\nuser = \"a\"\npassword = \"b\"\n",
            chain.dev.folder().display()
        );
        let config = write_config(chain.folder.path(), &text);
        let mut command = paraffin();
        command.args(["export", "transfers", "--to", "130", "--out"]).arg(&file).arg("--config").arg(config);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(chain.rows(&(file, printed), "time"), expected);
    }
}
