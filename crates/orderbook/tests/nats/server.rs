//! A NATS server in a temporary folder.

use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use paraffin_orderbook::NatsOptions;
use paraffin_testkit::NatsServer;

/// A NATS server whose folder is removed with it.
pub(crate) struct Server {
    // Ends before its folder goes.
    server: NatsServer,
    _folder: tempfile::TempDir,
}

impl Server {
    /// A running server; `None` where the program is missing, which CI does not allow. `lines` are added to its configuration.
    pub(crate) fn start(lines: &str) -> Option<Self> {
        let mut server = Self::prepare(lines)?;
        server.run();
        Some(server)
    }

    /// A server that does not run yet.
    pub(crate) fn prepare(lines: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let server = NatsServer::prepare(folder.path(), lines)?;
        Some(Self { server, _folder: folder })
    }

    pub(crate) fn options(&self) -> NatsOptions {
        NatsOptions::new(&self.url())
    }
}

impl Deref for Server {
    type Target = NatsServer;

    fn deref(&self) -> &NatsServer {
        &self.server
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut NatsServer {
        &mut self.server
    }
}

/// Waits until a condition holds.
pub(crate) fn wait(within: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < within, "{what}: not within {within:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
