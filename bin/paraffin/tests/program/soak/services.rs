//! What the disturbed instances share: PostgreSQL with their accounts and Redis with their windows. Each instance reaches both
//! through relays of its own, so that it alone can be cut off.

use std::path::Path;

use paraffin_testkit::{PostgresServer, RedisServer};

use crate::support::relay::Relay;
use crate::support::served::Numbers;

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Postgres,
    Redis,
}

/// How it goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `kill -9`, with all that is in memory.
    Kill,
    /// `SIGSTOP`.
    Pause,
    /// The connections of one instance or of all end, or nothing passes on them any more.
    Cut,
}

/// Both servers, and the way of each instance to them.
pub(crate) struct Services {
    postgres: PostgresServer,
    redis: RedisServer,
    to_postgres: Vec<Relay>,
    to_redis: Vec<Relay>,
    /// What is to be put right again.
    away: Option<(Service, Way)>,
}

impl Services {
    /// Both run; `None` after saying what this machine lacks.
    pub(crate) fn start(folder: &Path, instances: usize) -> Option<Self> {
        let mut postgres = PostgresServer::prepare(folder)?;
        let mut redis = RedisServer::prepare(folder)?;
        postgres.run();
        redis.run();
        let relays = |port: u16| (0..instances).map(|_| Relay::start(port)).collect();
        let (to_postgres, to_redis) = (relays(postgres.port()), relays(redis.port()));
        Some(Self { postgres, redis, to_postgres, to_redis, away: None })
    }

    /// The section of an instance's configuration.
    pub(crate) fn section(&self, instance: usize) -> String {
        let (postgres, redis) = (self.to_postgres[instance].port(), self.to_redis[instance].port());
        format!(
            "[access]\ndatabase_url = \"postgres://postgres:unused@127.0.0.1:{postgres}/postgres\"\n\
             redis_url = \"redis://127.0.0.1:{redis}/0\"\ngateways = {}\nredis_timeout_ms = 1000\n",
            self.to_redis.len()
        )
    }

    /// Takes one away; the instances that it is away for, as bits.
    pub(crate) fn take_away(&mut self, service: Service, way: Way, numbers: &mut Numbers) -> u8 {
        self.away = Some((service, way));
        let relays = match service {
            Service::Postgres => &self.to_postgres,
            Service::Redis => &self.to_redis,
        };
        let all = (1 << relays.len()) - 1;
        match (service, way) {
            (Service::Postgres, Way::Kill) => self.postgres.kill(),
            (Service::Postgres, Way::Pause) => self.postgres.signal("STOP"),
            (Service::Redis, Way::Kill) => self.redis.kill(),
            (Service::Redis, Way::Pause) => self.redis.signal("STOP"),
            (_, Way::Cut) => {
                let one = numbers.below(2 * relays.len() as u64) as usize;
                let chosen = if one < relays.len() { 1 << one } else { all };
                let is_silent = numbers.below(2) == 0;
                for (_, relay) in relays.iter().enumerate().filter(|(place, _)| chosen & (1 << place) != 0) {
                    if is_silent { relay.freeze() } else { relay.cut() }
                }
                return chosen;
            }
        }
        all
    }

    /// It is there again.
    pub(crate) fn bring_back(&mut self) {
        match self.away.take() {
            Some((Service::Postgres, Way::Kill)) => self.postgres.run(),
            Some((Service::Postgres, Way::Pause)) => self.postgres.signal("CONT"),
            Some((Service::Redis, Way::Kill)) => self.redis.run(),
            Some((Service::Redis, Way::Pause)) => self.redis.signal("CONT"),
            Some((_, Way::Cut)) => self.to_postgres.iter().chain(&self.to_redis).for_each(Relay::restore),
            None => {}
        }
    }
}
