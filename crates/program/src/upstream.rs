//! A gateway without a store: it authenticates callers and forwards requests to instances that have an index.

use std::sync::Arc;

use paraffin_access::{ApiKey, KeyStore as _};
use paraffin_gateway::{ChainState, Families, Gateway, GatewayParts, Metrics, Node, Upstreams};
use paraffin_otlp::Exporter;
use serde::{Deserialize, Serialize};

use crate::accounts;
use crate::config::Config;
use crate::console::Console;
use crate::instance::{self, InstanceError};
use crate::leave::Leave;
use crate::log;
use crate::memory::MemorySection;
use crate::program::Program;

/// `[upstream]`: the instances that answer instead of an own store.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UpstreamSection {
    /// Address of the one instance.
    pub url: Option<String>,
    /// Addresses of several, those first that are asked first.
    pub urls: Vec<String>,
    /// The key by which they know this gateway; all of them know the same.
    pub key: Option<String>,
}

/// Shows neither the key nor the addresses.
impl std::fmt::Debug for UpstreamSection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("UpstreamSection")
            .field("url", &self.url.is_some())
            .field("urls", &self.urls.len())
            .field("key", &self.key.is_some())
            .finish()
    }
}

/// The section, understood.
struct Behind {
    addresses: Vec<hyper::Uri>,
    key: ApiKey,
}

impl UpstreamSection {
    /// Whether this is a gateway without a store.
    pub(crate) fn is_used(&self) -> bool {
        self.url.is_some() || !self.urls.is_empty() || self.key.is_some()
    }

    /// Finds what is wrong with the section.
    ///
    /// # Errors
    /// The member that is wrong, without its value.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_used() { self.behind().map(|_| ()) } else { Ok(()) }
    }

    fn behind(&self) -> Result<Behind, String> {
        let urls = match (&self.url, self.urls.as_slice()) {
            (Some(url), []) => std::slice::from_ref(url),
            (None, urls @ [_, ..]) => urls,
            (None, []) => return Err("[upstream] url is missing".to_owned()),
            (Some(_), _) => return Err("[upstream] give either url or urls, not both".to_owned()),
        };
        let mut addresses = Vec::new();
        for url in urls {
            match paraffin_web::checked(url) {
                Ok(uri) if uri.query().is_none() => addresses.push(uri),
                Ok(_) => return Err("[upstream] url must not hold a query".to_owned()),
                Err(reason) => return Err(format!("[upstream] url {reason}")),
            }
        }
        let key =
            self.key.as_deref().ok_or("[upstream] key is missing: the key by which the instances know this gateway")?;
        let key = key.trim().parse().map_err(|error| format!("[upstream] key: {error}"))?;
        Ok(Behind { addresses, key })
    }
}

/// Runs until `leave` says so, as an instance does.
///
/// # Errors
/// The gateway could not be started.
pub(crate) async fn serve(config: &Config, leave: &Leave, program: &Program) -> Result<(), Box<dyn std::error::Error>> {
    let Behind { addresses, key } = config.upstream.behind()?;
    let folder = config.data_dir();
    instance::create_folder(&folder)?;
    let keys = Arc::new(accounts::open(config).await.map_err(InstanceError::from)?);
    let console = Console::open(config).await.map_err(InstanceError::from)?;
    let upstreams = Upstreams::start(config.network, &addresses, key, &config.gateway.limits);
    let exporter = instance::start_exporter(config)?;
    let metrics = Metrics::default();
    MemorySection::measure(config, &metrics);
    let parts = GatewayParts {
        chain: Arc::clone(&upstreams) as Arc<dyn ChainState>,
        node: Arc::clone(&upstreams) as Arc<dyn Node>,
        alkanes: None,
        markets: None,
        prices: None,
        mempool: None,
        hosted: None,
        surfaces: program.surfaces,
        electrum: None,
        webhooks: None,
        families: Families::default(),
        upstreams: Some(upstreams),
        scripts: None,
        keys: Arc::clone(&keys) as Arc<dyn paraffin_access::KeyStore>,
        windows: Arc::clone(&keys) as Arc<dyn paraffin_access::Windows>,
        plans: config.plans.clone(),
        access: config.access.clone(),
        keyed: Vec::new(),
        site: console.as_ref().map(|console| console.site(config, &keys)),
        metrics,
        access_log: log::of_requests(),
        tracer: exporter.as_ref().map(Exporter::tracer),
    };
    let gateway = Gateway::bind(config.gateway.clone(), parts).await?;
    println!("listening on http://{} ({}, without a store)", gateway.local_addr(), config.network);
    if let Some(address) = gateway.metrics_addr() {
        println!("metrics on http://{address}/metrics");
    }
    if let Some(console) = &console {
        console.announce(gateway.local_addr()).await;
    }
    gateway.serve_until(leave.leaving(), leave.stopping()).await;
    if let Some(console) = &console {
        console.users.close().await;
    }
    if let Some(exporter) = exporter {
        exporter.close().await;
    }
    keys.close().await.map_err(InstanceError::from)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn section(url: Option<&str>, urls: &[&str], key: Option<&str>) -> UpstreamSection {
        UpstreamSection {
            url: url.map(str::to_owned),
            urls: urls.iter().map(|url| (*url).to_owned()).collect(),
            key: key.map(str::to_owned),
        }
    }

    #[test]
    fn the_section_is_checked_and_never_shown() {
        assert!(!UpstreamSection::default().is_used() && UpstreamSection::default().check().is_ok());
        let (one, two) = ("http://127.0.0.1:8787", "https://b.example/prefix");
        assert!(section(Some(one), &[], Some(KEY)).check().is_ok());
        assert!(section(None, &[one, two], Some(KEY)).check().is_ok());
        for (bad, word) in [
            (section(Some(one), &[two], Some(KEY)), "not both"),
            (section(None, &[], Some(KEY)), "url is missing"),
            (section(Some(one), &[], None), "key is missing"),
            (section(Some(one), &[], Some("0123")), "32 hex digits"),
            (section(Some("host:8787"), &[], Some(KEY)), "url"),
            (section(None, &[one, "http://h/?a=b"], Some(KEY)), "query"),
            (section(None, &[one, "http://u:p@h/"], Some(KEY)), "password"),
        ] {
            let refused = bad.check().unwrap_err();
            assert!(
                refused.starts_with("[upstream] ") && refused.contains(word) && !refused.contains("0123"),
                "{refused}"
            );
        }
        let shown = format!("{:?}", section(Some(one), &[], Some(KEY)));
        assert!(!shown.contains("0123") && !shown.contains("127.0.0.1"), "{shown}");
    }
}
