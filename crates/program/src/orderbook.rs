//! The book of orders that others keep in a database and publish as change events.

mod nats;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paraffin_orderbook::{JournalError, Limits, Options, Orderbook, STREAM_DEFAULT, Status, Table, Tables};
use paraffin_primitives::Network;
use serde::{Deserialize, Serialize};

use nats::Secret;

/// Folder of the orderbook in a data folder.
pub(crate) const FOLDER: &str = "orderbook";

/// `[orderbook]`: the book of orders.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OrderbookSection {
    /// Whether there is one. Without it the orderbook surface is not served.
    pub enabled: bool,
    /// Most active orders; events that would bring more are refused.
    pub active_orders_max: usize,
    /// Orders that have ended and can still be asked for.
    pub finished_orders_max: usize,
    /// Orders that ended before those, of which only the position is remembered.
    pub remembered_orders_max: usize,
    /// Changes kept for clients of the stream that come back.
    pub replay_changes: usize,
    /// Megabytes of those changes.
    pub replay_mb: usize,
    /// Megabytes of events kept in the data folder for readers of the durable stream.
    pub events_mb: u64,
    /// Events after which the whole book is written to the disk, so that a start reads no more than about so many.
    pub keep_every: u64,
    /// `nats://host:port` or `tls://host:port`, several with commas between: NATS JetStream keeps the events, and gateways share
    /// them. Absent: a log in the data folder.
    pub nats_url: Option<Secret>,
    /// Name of the stream.
    pub nats_stream: String,
    /// User of the NATS server; with `nats_password`.
    pub nats_user: Option<String>,
    /// Password of the NATS server.
    pub nats_password: Option<Secret>,
    /// Token of the NATS server.
    pub nats_token: Option<Secret>,
    /// File with a JWT and its key (`.creds`).
    pub nats_credentials_file: Option<PathBuf>,
    /// PEM file of the certificate authorities of the NATS server; with it the connection must be encrypted.
    pub nats_ca_file: Option<PathBuf>,
    /// PEM file of our own certificate; with `nats_key_file`.
    pub nats_certificate_file: Option<PathBuf>,
    /// PEM file of its key.
    pub nats_key_file: Option<PathBuf>,
    /// Tables whose rows are orders, in addition to the shipped ones or replacing them.
    pub tables: BTreeMap<String, Table>,
    /// Words of a row's state beside the shipped ones.
    pub statuses: BTreeMap<String, Status>,
}

impl Default for OrderbookSection {
    fn default() -> Self {
        let Limits { active_max, finished_max, remembered_max, changes_max, change_bytes_max } = Limits::default();
        Self {
            enabled: true,
            active_orders_max: active_max,
            finished_orders_max: finished_max,
            remembered_orders_max: remembered_max,
            replay_changes: changes_max,
            replay_mb: change_bytes_max >> 20,
            events_mb: 1_024,
            keep_every: 250_000,
            nats_url: None,
            nats_stream: STREAM_DEFAULT.to_owned(),
            nats_user: None,
            nats_password: None,
            nats_token: None,
            nats_credentials_file: None,
            nats_ca_file: None,
            nats_certificate_file: None,
            nats_key_file: None,
            tables: BTreeMap::new(),
            statuses: BTreeMap::new(),
        }
    }
}

impl OrderbookSection {
    fn options(&self, network: Network, data_dir: &Path) -> Options {
        let mut tables = Tables::on(network.name());
        tables.tables.extend(self.tables.clone());
        let words = self.statuses.iter().map(|(word, status)| (word.to_ascii_lowercase(), *status));
        tables.statuses.extend(words);
        Options {
            limits: Limits {
                active_max: self.active_orders_max,
                finished_max: self.finished_orders_max,
                remembered_max: self.remembered_orders_max,
                changes_max: self.replay_changes,
                change_bytes_max: self.replay_mb << 20,
            },
            // Contradictions were refused when the configuration was read.
            nats: self.nats().unwrap_or_default(),
            log_bytes: self.events_mb << 20,
            keep_every: self.keep_every.max(1),
            ..Options::new(data_dir.join(FOLDER), tables)
        }
    }
}

/// Rebuilds the book of a data folder; `None` where it is switched off.
///
/// # Errors
/// Another process uses it, it is damaged, or the disk refuses.
pub(crate) async fn open(
    section: &OrderbookSection,
    network: Network,
    data_dir: &Path,
) -> Result<Option<Arc<Orderbook>>, JournalError> {
    if !section.enabled {
        return Ok(None);
    }
    let options = section.options(network, data_dir);
    let folder = options.folder.clone();
    match tokio::task::spawn_blocking(move || Orderbook::open(options)).await {
        Ok(opened) => opened.map(Some),
        Err(error) => Err(JournalError::File { file: folder, source: std::io::Error::other(error) }),
    }
}

/// Ends what is under way and keeps the book.
pub(crate) async fn close(orderbook: Arc<Orderbook>) {
    // Without it the next start reads more of the log.
    let _ = tokio::task::spawn_blocking(move || orderbook.close()).await;
}

#[cfg(test)]
mod tests {
    use figment::Figment;
    use figment::providers::{Format as _, Toml};

    use super::*;

    #[test]
    fn a_table_is_added_by_its_columns_and_the_shipped_ones_stay() {
        let text = r#"
            [statuses]
            Live = "open"
            [tables.nft_asks]
            source = "nft"
            kind = "listing"
            side = "sell"
            price_unit = "sats"
            id_prefix = "ask-"
            columns = { price = "ask_price", id = "ask_id" }
            assets = [{ token = ["inscription"] }]
            markets = [{ scope = "collection", key = ["collection"] }]
            main_market = "collection"
            ext = { seller_note = "note" }
        "#;
        let section: OrderbookSection = Figment::from(Toml::string(text)).extract().unwrap();
        let options = section.options(Network::Signet, Path::new("/data"));
        assert_eq!(options.folder, Path::new("/data/orderbook"));
        let row = r#"{"op":"c","source":{"table":"nft_asks","lsn":1},"after":{"ask_id":7,"ask_price":"5","status":"LIVE",
            "inscription":"abci0","collection":"x","seller_note":"mint"}}"#;
        let events = paraffin_orderbook::read(row.as_bytes(), &options.tables, 0).unwrap();
        let paraffin_orderbook::Effect::Order(order) = &events[0].effect else { panic!("{events:?}") };
        let order: serde_json::Value = serde_json::from_slice(order.text()).unwrap();
        let expected = serde_json::json!({
            "source": "nft", "id": "ask-7", "network": "signet", "kind": "listing", "marketKey": "nft:signet:collection:x",
            "topics": ["nft:signet:book:*", "nft:signet:collection:x"], "side": "sell", "status": "open", "price": "5",
            "priceUnit": "sats", "assets": [{ "tokenId": "abci0" }], "ext": { "note": "mint", "status": "LIVE" },
        });
        assert_eq!(order, expected);
        assert!(options.tables.tables.contains_key("lending_offers"));
        assert!(Figment::from(Toml::string("[tables.x]\nkind = \"listing\"")).extract::<OrderbookSection>().is_err());
    }
}
