//! How a serving instance is asked to stop: `SIGTERM` lets it drain, `SIGINT` or a second signal does not.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Signals received so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Heard {
    Nothing,
    Leave,
    Stop,
}

/// Listens for the signals as long as the process lives.
pub(crate) struct Leave(watch::Receiver<Heard>);

impl Leave {
    /// Takes both signals over.
    ///
    /// # Errors
    /// The system gives no signal handler.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let (sender, heard) = watch::channel(Heard::Nothing);
        tokio::spawn(hear(signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, sender));
        Ok(Self(heard))
    }

    /// Ends with the first signal.
    pub(crate) fn leaving(&self) -> impl Future<Output = ()> + Send + 'static {
        at_least(self.0.clone(), Heard::Leave)
    }

    /// Ends with the signal that bears no delay.
    pub(crate) fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        at_least(self.0.clone(), Heard::Stop)
    }
}

async fn hear(mut terminate: Signal, mut interrupt: Signal, sender: watch::Sender<Heard>) {
    loop {
        let is_patient = tokio::select! {
            _ = terminate.recv() => true,
            _ = interrupt.recv() => false,
        };
        sender.send_modify(|heard| {
            *heard = if is_patient && *heard == Heard::Nothing { Heard::Leave } else { Heard::Stop };
        });
    }
}

async fn at_least(mut heard: watch::Receiver<Heard>, least: Heard) {
    // The sender lives as long as the runtime.
    let _ = heard.wait_for(|heard| *heard >= least).await;
}
