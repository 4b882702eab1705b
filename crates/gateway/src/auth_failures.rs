//! Limits the rate of failed authentications of a client: each unknown credential costs one uncached look-up in the key store.

use std::net::IpAddr;

use paraffin_access::{ClientNet, Throttle, ThrottleSettings};

use crate::errors::Refusal;
use crate::state::unix_millis;

/// Failed look-ups of keys, aliases and origins that one client may cause: a burst of 200, refilled by 20 each second. A client
/// with a wrong key stays below this; one that guesses keys causes at most 20 look-ups each second.
const FAILURE_RATE: ThrottleSettings =
    ThrottleSettings { burst: 200, refill_per_minute: 1_200, wait_ms_max: 0, clients_max: 100_000 };

/// Token buckets of failed authentications by client. Each process that shares a store limits its own look-ups. No result is
/// cached, so a credential that another process creates or revokes takes effect at once.
#[derive(Default)]
pub(crate) struct AuthFailureLimiter(Throttle);

impl AuthFailureLimiter {
    /// Takes a token before a look-up of a credential that this process has not cached.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`] for a client with too many failed look-ups; the store is then not queried.
    pub(crate) fn acquire(&self, client: IpAddr, code: i64) -> Result<LookupPermit<'_>, Refusal> {
        let client = ClientNet::from(client);
        let reservation = self.0.reserve(client, FAILURE_RATE, unix_millis());
        if !reservation.granted {
            return Err(Refusal::RateLimited { retry_after: reservation.wait_ms.div_ceil(1_000).max(1), code });
        }
        Ok(LookupPermit { limiter: self, client })
    }
}

/// Limits health checks by client, which no request window counts, at the same rate as failed authentications.
#[derive(Default)]
pub(crate) struct HealthCheckLimiter(Throttle);

impl HealthCheckLimiter {
    /// Counts one health check. Loopback clients are not limited.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`] for a client that checks too often.
    pub(crate) fn check(&self, client: IpAddr, code: i64) -> Result<(), Refusal> {
        if client.is_loopback() {
            return Ok(());
        }
        let reservation = self.0.reserve(ClientNet::from(client), FAILURE_RATE, unix_millis());
        if reservation.granted {
            Ok(())
        } else {
            Err(Refusal::RateLimited { retry_after: reservation.wait_ms.div_ceil(1_000).max(1), code })
        }
    }
}

/// A look-up that counts as failed unless its token is refunded.
pub(crate) struct LookupPermit<'a> {
    limiter: &'a AuthFailureLimiter,
    client: ClientNet,
}

impl LookupPermit<'_> {
    /// Returns the token: the credential is valid, or the store is unavailable, which is not the client's fault.
    pub(crate) fn refund(self) {
        self.limiter.0.give_back(self.client, FAILURE_RATE, unix_millis());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failed_lookups_use_tokens_and_each_client_has_its_own_bucket() {
        let limiter = AuthFailureLimiter::default();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        for _ in 0..1_000 {
            limiter.acquire(client(1), -32_000).unwrap().refund();
        }
        let failed = (0..1_000).filter(|_| limiter.acquire(client(1), -32_000).is_ok()).count();
        assert!((200..220).contains(&failed), "{failed}");
        assert!(matches!(
            limiter.acquire(client(1), -32_000),
            Err(Refusal::RateLimited { retry_after: 1, code: -32_000 })
        ));
        assert!(limiter.acquire(client(2), -32_000).is_ok());
    }
}
