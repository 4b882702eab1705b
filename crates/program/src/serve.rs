//! `paraffin serve`: follow a node and answer requests, or hand them to instances that do.

use crate::config::Config;
use crate::instance::Instance;
use crate::leave::Leave;
use crate::program::Program;
use crate::progress;

/// Runs until `SIGTERM`, then for `[gateway] drain_seconds` more; or until `SIGINT`.
///
/// # Errors
/// The instance could not be started.
pub(crate) async fn run(config: Config, program: &Program) -> Result<(), Box<dyn std::error::Error>> {
    let leave = Leave::listen()?;
    if config.upstream.is_used() {
        return crate::upstream::serve(&config, &leave, program).await;
    }
    let instance = Instance::start(&config, config.gateway.clone(), program).await?;
    println!("listening on http://{} ({})", instance.gateway().local_addr(), config.network);
    if let Some(address) = instance.gateway().metrics_addr() {
        println!("metrics on http://{address}/metrics");
    }
    if let Some(console) = instance.console() {
        console.announce(instance.gateway().local_addr()).await;
    }
    let shown = progress::show(&config, instance.store(), instance.status());
    let ended = instance.serve_until(leave.leaving(), leave.stopping()).await;
    shown.abort();
    ended?;
    Ok(())
}
