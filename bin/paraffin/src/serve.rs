//! `paraffin serve`: follow a node and answer requests.

use crate::config::Config;
use crate::instance::{Instance, shutdown_signal};
use crate::progress;

/// Runs until `SIGTERM` or `SIGINT`.
///
/// # Errors
/// What kept the instance from starting.
pub(crate) async fn run(config: Config) -> Result<(), Box<dyn std::error::Error>> {
    let shutdown = shutdown_signal()?;
    let instance = Instance::start(&config, config.gateway.clone()).await?;
    println!("listening on http://{} ({})", instance.gateway().local_addr(), config.network);
    if let Some(address) = instance.gateway().metrics_addr() {
        println!("metrics on http://{address}/metrics");
    }
    let shown = progress::show(&config, instance.store(), instance.status());
    let ended = instance.serve(shutdown).await;
    shown.abort();
    ended?;
    Ok(())
}
