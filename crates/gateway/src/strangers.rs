//! A bound on what unknown credentials cost: each of them is one question to the key store, whose answer is not cached.

use std::net::IpAddr;

use paraffin_access::{ClientNet, Throttle, ThrottleSettings};

use crate::errors::Refusal;
use crate::state::unix_millis;

/// Unknown keys, aliases and origins that a client may name: so many at once, and twenty come back every second. A client
/// that errs does not reach this; one that guesses asks the store twenty times a second and no more.
const IN_VAIN: ThrottleSettings =
    ThrottleSettings { burst: 200, refill_per_minute: 1_200, wait_ms_max: 0, clients_max: 100_000 };

/// Clients that have named something unknown. It bounds what this process asks of the store; processes that share a store
/// each bound their own, and what another process makes or ends is seen as if there were no bound, since nothing about a
/// credential is remembered.
#[derive(Default)]
pub(crate) struct Strangers(Throttle);

impl Strangers {
    /// Takes one question, before the store is asked for something that this process does not know.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`] for a client that has asked in vain too often; the store is then not asked.
    pub(crate) fn ask(&self, client: IpAddr, code: i64) -> Result<Question<'_>, Refusal> {
        let client = ClientNet::from(client);
        let place = self.0.reserve(client, IN_VAIN, unix_millis());
        if !place.granted {
            return Err(Refusal::RateLimited { retry_after: place.wait_ms.div_ceil(1_000).max(1), code });
        }
        Ok(Question { strangers: self, client })
    }
}

/// Looks at the health of an instance, which no window counts: so many of a client at once, and twenty come back every second.
#[derive(Default)]
pub(crate) struct HealthChecks(Throttle);

impl HealthChecks {
    /// Takes one look. Programs on the machine itself look as often as they like.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`] for a client that looks too often.
    pub(crate) fn ask(&self, client: IpAddr, code: i64) -> Result<(), Refusal> {
        if client.is_loopback() {
            return Ok(());
        }
        let place = self.0.reserve(ClientNet::from(client), IN_VAIN, unix_millis());
        if place.granted {
            Ok(())
        } else {
            Err(Refusal::RateLimited { retry_after: place.wait_ms.div_ceil(1_000).max(1), code })
        }
    }
}

/// A question that counts as failed unless it is said to be answered.
pub(crate) struct Question<'a> {
    strangers: &'a Strangers,
    client: ClientNet,
}

impl Question<'_> {
    /// The store knows the credential, or could not be asked: neither is the client's fault.
    pub(crate) fn answered(self) {
        self.strangers.0.give_back(self.client, IN_VAIN, unix_millis());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_costs_nothing_and_what_is_unknown_is_bounded_for_each_client() {
        let strangers = Strangers::default();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        for _ in 0..1_000 {
            strangers.ask(client(1), -32_000).unwrap().answered();
        }
        let in_vain = (0..1_000).filter(|_| strangers.ask(client(1), -32_000).is_ok()).count();
        assert!((200..220).contains(&in_vain), "{in_vain}");
        assert!(matches!(
            strangers.ask(client(1), -32_000),
            Err(Refusal::RateLimited { retry_after: 1, code: -32_000 })
        ));
        assert!(strangers.ask(client(2), -32_000).is_ok());
    }
}
