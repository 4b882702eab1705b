//! Accounts whose requests are counted in Redis, together with other gateways.

use std::sync::Arc;

use paraffin_database::{Database, DatabaseLocation, query};

use super::counting::Counting;
use super::{DatabaseKeyStore, FLUSH_INTERVAL, Inner, clock, counts};
use crate::lease::RENEWAL;
use crate::migrations::MIGRATIONS;
use crate::shared::SharedWindows;
use crate::store::AccessFuture;
use crate::{AccessError, Plans, SharedOptions};

impl DatabaseKeyStore {
    /// As [`DatabaseKeyStore::open_at`], with windows that gateways share through Redis. It opens whether or not Redis is there;
    /// when it is, requests are counted together from the beginning.
    ///
    /// # Errors
    /// As there; and where the accounts are in a file, which has no identity for the keys in Redis.
    pub fn open_shared(location: &DatabaseLocation, plans: Plans, shared: SharedOptions) -> AccessFuture<'_, Self> {
        Box::pin(async move {
            let database = Database::open(location, MIGRATIONS).await?;
            let row = query("SELECT identity FROM access_version").fetch_one(&mut database.session().await?).await?;
            let shared = Arc::new(SharedWindows::new(shared, &row.get::<String>("identity")?));
            let store = Self::open_with(database, plans, Counting::Shared(Arc::clone(&shared))).await?;
            if let Err(error) = store.0.come_back(&shared).await {
                tracing::warn!(%error, "the shared windows are away");
            }
            store.0.keep_shared(&shared);
            Ok(store)
        })
    }
}

impl Inner {
    /// Renews the counting in Redis, and reconnects after an outage.
    fn keep_shared(self: &Arc<Self>, shared: &Arc<SharedWindows>) {
        let (weak, shared) = (Arc::downgrade(self), Arc::clone(shared));
        tokio::spawn(async move {
            // Grants that this gateway and others made alone during the reconnect reach the database a little later.
            let mut again = Some(tokio::time::Instant::now() + 2 * FLUSH_INTERVAL);
            loop {
                tokio::time::sleep(RENEWAL).await;
                let Some(inner) = weak.upgrade() else { return };
                if inner.database.is_closed() {
                    return;
                }
                let is_up = shared.check().await;
                if is_up && again.is_none_or(|again| tokio::time::Instant::now() < again) {
                    continue;
                }
                again = if is_up { None } else { Some(tokio::time::Instant::now() + 2 * FLUSH_INTERVAL) };
                if let Err(error) = inner.come_back(&shared).await {
                    tracing::debug!(%error, "the shared windows are still away");
                }
            }
        });
    }

    async fn come_back(&self, shared: &SharedWindows) -> Result<(), AccessError> {
        shared
            .come_back(|| async {
                self.flush().await?;
                counts::today(self, clock()).await
            })
            .await
    }
}
