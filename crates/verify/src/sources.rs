//! Stored sources where several gateways have their records on one server: a source that one has built can be served by
//! all. A file is stored in parts, and a reader checks its SHA-256, so that an incomplete one is not used.

use std::collections::HashSet;

use paraffin_database::query;

use crate::blobs::{BlobError, Blobs, SourceList};
use crate::records::{Records, RecordsError, UnixMillis};
use crate::verdict::sha256_hex;

/// Bytes of a part: small enough for the timeout of one statement.
const PART_BYTES: usize = 1 << 20;
/// Files that no record names are removed only after this time, because their record may be about to be written.
const UNNAMED_MS: UnixMillis = 24 * 60 * 60 * 1_000;

/// A tree could not be copied to the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShareError {
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("the folder cannot be read: {0}")]
    Read(std::io::Error),
    #[error("the sources on the server have reached their limit ([verify] sources_mib)")]
    LimitReached,
}

impl Records {
    /// Copies a stored tree to the server, where all together may take `bytes_max`. The list is the last, so that a reader
    /// that finds it finds its files.
    pub(crate) async fn share(
        &self,
        blobs: &Blobs,
        list: &str,
        bytes_max: u64,
        now: UnixMillis,
    ) -> Result<(), ShareError> {
        let files = blobs.list(list)?.files;
        let mut seen = HashSet::new();
        let digests = files.iter().map(|file| file.sha256.as_str()).filter(|digest| seen.insert(*digest));
        let digests: Vec<String> = digests.chain([list]).map(str::to_owned).collect();
        for digest in digests {
            let (own, name) = (blobs.clone(), digest.clone());
            let read = tokio::task::spawn_blocking(move || own.get(&name)).await;
            let bytes = read.map_err(|error| ShareError::Read(std::io::Error::other(error)))??;
            if self.is_shared(&digest, bytes.len(), now).await? {
                continue;
            }
            if self.shared_bytes().await?.saturating_add(bytes.len() as u64) > bytes_max {
                return Err(ShareError::LimitReached);
            }
            // An empty file has one part as well.
            for (part, bytes) in (0_i64..).zip(parts(&bytes)) {
                let put = "INSERT INTO source_part (digest, part, size, bytes, added_at) VALUES ($1, $2, $3, $4, $5) \
                           ON CONFLICT (digest, part) DO UPDATE SET added_at = excluded.added_at";
                let put = query(put).bind(&digest).bind(part).bind(length(bytes)).bind(bytes).bind(now);
                put.execute(&mut self.session().await?).await.map_err(RecordsError::from)?;
            }
        }
        Ok(())
    }

    /// Whether a file is on the server; it is then as if it had just been put there.
    async fn is_shared(&self, digest: &str, size: usize, now: UnixMillis) -> Result<bool, RecordsError> {
        let touch = query("UPDATE source_part SET added_at = $1 WHERE digest = $2").bind(now).bind(digest);
        let parts = touch.execute(&mut self.session().await?).await?;
        Ok(parts == size.div_ceil(PART_BYTES).max(1) as u64)
    }

    /// Bytes of all files on the server.
    async fn shared_bytes(&self) -> Result<u64, RecordsError> {
        let sum = query("SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS bytes FROM source_part");
        let row = sum.fetch_one(&mut self.session().await?).await?;
        Ok(u64::try_from(row.get::<i64>("bytes")?).unwrap_or(0))
    }

    /// A file of the server; `None` where it is missing or incomplete.
    pub(crate) async fn shared(&self, digest: &str) -> Result<Option<Vec<u8>>, RecordsError> {
        let mut bytes = Vec::new();
        for part in 0_i64.. {
            let get = query("SELECT bytes FROM source_part WHERE digest = $1 AND part = $2").bind(digest).bind(part);
            let Some(row) = get.fetch_optional(&mut self.session().await?).await? else { break };
            bytes.extend(row.get::<Vec<u8>>("bytes")?);
        }
        Ok((sha256_hex(&bytes) == digest).then_some(bytes))
    }

    /// Removes files from the server that no record names any more.
    pub(crate) async fn sweep_shared(&self, lists: &[String], now: UnixMillis) -> Result<(), RecordsError> {
        let mut named: HashSet<String> = lists.iter().cloned().collect();
        for list in lists {
            let list = self.shared(list).await?.and_then(|bytes| serde_json::from_slice::<SourceList>(&bytes).ok());
            named.extend(list.into_iter().flat_map(|list| list.files).map(|file| file.sha256));
        }
        let old = query("SELECT DISTINCT digest FROM source_part WHERE added_at < $1").bind(now - UNNAMED_MS);
        for row in old.fetch_all(&mut self.session().await?).await? {
            let digest: String = row.get("digest")?;
            if !named.contains(&digest) {
                let remove = query("DELETE FROM source_part WHERE digest = $1 AND added_at < $2");
                remove.bind(&digest).bind(now - UNNAMED_MS).execute(&mut self.session().await?).await?;
            }
        }
        Ok(())
    }
}

fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(PART_BYTES).chain(bytes.is_empty().then_some(bytes))
}

fn length(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use paraffin_database::DatabaseLocation;
    use paraffin_testkit::PostgresServer;

    use super::*;
    use crate::archive::SourceFile;

    #[tokio::test]
    async fn a_tree_that_one_gateway_has_is_read_by_all_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let Some(mut server) = PostgresServer::prepare(folder.path()) else { return };
        server.run();
        let place = DatabaseLocation::Server(server.url().parse().unwrap());
        let one = Records::open(&place, "1".repeat(32)).await.unwrap();
        let other = Records::open(&place, "2".repeat(32)).await.unwrap();

        let (tree, blobs) = (tempfile::tempdir().unwrap(), Blobs::new(folder.path().join("blobs")));
        std::fs::create_dir(folder.path().join("blobs")).unwrap();
        let large: Vec<u8> = (0..2 * PART_BYTES + 7).map(|byte| byte as u8).collect();
        let mut files = Vec::new();
        for (path, bytes) in [("large", &large[..]), ("empty", b""), ("small", b"fn main() {}")] {
            std::fs::write(tree.path().join(path), bytes).unwrap();
            files.push(SourceFile { path: path.to_owned(), size: bytes.len() as u64, sha256: sha256_hex(bytes) });
        }
        let (list, _) = blobs.put_tree(tree.path(), &files, 1 << 30).unwrap().unwrap();

        assert!(other.shared(&list).await.unwrap().is_none());
        assert!(matches!(one.share(&blobs, &list, PART_BYTES as u64, 5).await, Err(ShareError::LimitReached)));
        assert!(other.shared(&list).await.unwrap().is_none(), "no list without its files");
        for _ in 0..2 {
            one.share(&blobs, &list, 1 << 30, 5).await.unwrap();
        }
        let stored: SourceList = serde_json::from_slice(&other.shared(&list).await.unwrap().unwrap()).unwrap();
        assert_eq!(stored.files, files);
        for (file, bytes) in files.iter().zip([&large[..], b"", b"fn main() {}"]) {
            assert_eq!(other.shared(&file.sha256).await.unwrap().as_deref(), Some(bytes), "{}", file.path);
        }

        // A file that a record names, or a new one, stays. Any other is removed with all its parts.
        let later = 6 + UNNAMED_MS;
        other.sweep_shared(std::slice::from_ref(&list), later).await.unwrap();
        other.sweep_shared(&[], 5).await.unwrap();
        assert!(one.shared(&list).await.unwrap().is_some());
        let cut = query("DELETE FROM source_part WHERE digest = $1 AND part = 1").bind(&files[0].sha256);
        cut.execute(&mut one.session().await.unwrap()).await.unwrap();
        assert!(other.shared(&files[0].sha256).await.unwrap().is_none());
        one.share(&blobs, &list, 1 << 30, 5).await.unwrap();
        assert!(other.shared(&files[0].sha256).await.unwrap().is_some());
        other.sweep_shared(&[], later).await.unwrap();
        assert_eq!(one.shared_bytes().await.unwrap(), 0);
    }
}
