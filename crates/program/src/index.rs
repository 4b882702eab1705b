//! `paraffin index` and `paraffin reindex`: the index without the API.

use data_encoding::HEXLOWER;
use std::time::Instant;

use paraffin_chain::NodeClient;
use paraffin_indexer::{FollowOptions, IndexStatus, Indexer};
use paraffin_otlp::Exporter;
use paraffin_store::{Rewound, Store};
use serde_json::json;
use tokio::sync::watch;

use crate::config::Config;
use crate::contracts::Contracts;
use crate::control::Control;
use crate::instance::{self, Indexing, InstanceError, shutdown_signal};
use crate::progress;
use crate::rows_file::Origin;

/// Follows the node; with `once` until the index equals the node's chain, then prints the digests.
///
/// # Errors
/// What kept the index from starting, or stopped it.
pub(crate) async fn run(config: Config, once: bool, version: &'static str) -> Result<(), Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let shutdown = shutdown_signal()?;
    let contracts = Contracts::of(&config)?;
    let store = instance::open_store(&config)?;
    let client = NodeClient::new(config.node_config())?;
    let control = Control::start(&config.data_dir(), Origin { store: store.clone(), network: config.network, version });
    let exporter = instance::start_exporter(&config)?;
    let (options, tracer) = (FollowOptions { stop_when_synced: once }, exporter.as_ref().map(Exporter::tracer));
    let indexing = Indexing::start(&config, contracts.as_ref(), &store, &client, options, tracer)?;
    let shown = progress::show(&config, &store, indexing.status());
    let mut status = indexing.status();
    let interrupted = tokio::select! {
        () = shutdown => true,
        // The sender is dropped when the thread ends.
        () = async { while status.changed().await.is_ok() {} } => false,
    };
    let ended = indexing.stop().await;
    shown.abort();
    if once && !interrupted && ended.is_ok() {
        let height = store.snapshot().tip().map(|tip| tip.id.height);
        tracing::info!(height, seconds = begun.elapsed().as_secs_f64(), "the index holds the node's chain");
    }
    if let Some(control) = control {
        control.stop().await;
    }
    instance::flush(&store).await;
    if let Some(exporter) = exporter {
        exporter.close().await;
    }
    ended?;
    if once && !interrupted {
        print_digests(&store)?;
    }
    Ok(())
}

/// One line of JSON: the tip and what two instances compare.
fn print_digests(store: &Store) -> Result<(), InstanceError> {
    let snapshot = store.snapshot();
    let Some(tip) = snapshot.tip() else {
        println!("{}", json!({"height": null}));
        return Ok(());
    };
    println!(
        "{}",
        json!({
            "height": tip.id.height,
            "hash": tip.id.hash.to_string(),
            "digest": HEXLOWER.encode(&tip.digest),
            "cumulative": HEXLOWER.encode(&tip.cumulative),
            "content": HEXLOWER.encode(&snapshot.content_digest()?),
        })
    );
    Ok(())
}

/// The word that stands for every module in `paraffin reindex`.
const ALL: &str = "all";

/// Removes the whole index and builds it anew from the node; accounts and keys stay.
///
/// # Errors
/// Another process holds the store, or what kept the index from starting or stopped it.
async fn rebuild(config: Config, version: &'static str) -> Result<(), Box<dyn std::error::Error>> {
    let folder = config.data_dir().join("store");
    // Opened once, so that a store in use or of another network is refused instead of removed.
    drop(instance::open_store(&config)?);
    std::fs::remove_dir_all(&folder).map_err(|source| InstanceError::Folder { folder, source })?;
    eprintln!(
        "the index was removed and is built anew; stopped in between, `paraffin serve` or `paraffin index` goes on"
    );
    run(config, true, version).await
}

/// Runs one module again from height `from`, the others stay; or rebuilds everything.
///
/// # Errors
/// The module does not exist, `from` is above the tip, or the store or the node failed. Started again it goes on.
pub(crate) async fn reindex(
    config: Config,
    module: String,
    from: u32,
    version: &'static str,
) -> Result<(), Box<dyn std::error::Error>> {
    if module == ALL {
        if from > 0 {
            return Err("`reindex all` begins at the genesis block: leave out --from".into());
        }
        return rebuild(config, version).await;
    }
    let shutdown = shutdown_signal()?;
    let contracts = Contracts::of(&config)?;
    let schema = instance::schemas(&config).into_iter().find(|schema| schema.name == module);
    instance::create_folder(&config.data_dir())?;
    let folder = config.data_dir().join("store");
    let store = match schema {
        Some(schema) => {
            Store::open_for_reindex(&folder, &instance::store_options(&config), &instance::schemas(&config), schema.id)?
        }
        None => instance::open_store(&config)?,
    };
    let client = NodeClient::new(config.node_config())?;
    let mut indexer = Indexer::new(
        store.clone(),
        instance::modules(&config, contracts.as_ref(), &store),
        instance::indexer_options(&config, &store),
    )?;
    let plan = indexer.rewind_module(&module, from)?;
    match plan.rewound {
        Rewound::Cleared => eprintln!(
            "undo does not reach height {from}: the tables of `{module}` were emptied, running from height {} to {}",
            plan.from, plan.to
        ),
        Rewound::Undone { .. } | Rewound::Unchanged => {
            eprintln!("running `{module}` again from height {} to {}", plan.from, plan.to);
        }
    }
    if !plan.readers.is_empty() {
        eprintln!("so are the modules that read it: {}", plan.readers.join(", "));
    }
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        shutdown.await;
        stop.send_replace(true);
    });
    let (status_sender, status) = watch::channel(IndexStatus::starting());
    let shown = progress::show(&config, &store, status);
    let runtime = tokio::runtime::Handle::current();
    let (result, left) = tokio::task::spawn_blocking(move || {
        let result = instance::catch_up(&mut indexer, &client, &runtime, &status_sender, &stopped);
        (result, indexer.next_missing())
    })
    .await
    .map_err(|_| InstanceError::ThreadEnded)?;
    shown.abort();
    result?;
    match left? {
        Some((_, block)) => eprintln!("stopped before height {}; the same command goes on", block.height),
        None => eprintln!("done"),
    }
    Ok(())
}
