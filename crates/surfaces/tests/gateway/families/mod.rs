//! Families answered by servers of the operator.

pub(crate) mod hostile;
/// The programs that the ordinals index is compared with.
#[allow(dead_code, unreachable_pub, reason = "written for the tests of that crate, which use more of it")]
#[path = "../../../../ordinals-index/tests/ordinals/node.rs"]
mod node;
mod opi;
mod ord;
mod ord_server;
mod peer;
pub(crate) mod upstream;

use paraffin_gateway::Families;

use crate::instance::{Instance, Setup};

/// An instance without an index of inscriptions that uses these servers.
async fn asking(families: Families) -> Instance {
    Instance::with(Setup { families, ..Setup::default() }).await
}

fn ord_at(url: &str) -> Families {
    Families { ord: Some(url.parse().unwrap()), opi: None }
}

fn opi_at(url: &str) -> Families {
    Families { ord: None, opi: Some(url.parse().unwrap()) }
}
