//! Rate limits of signed-in users, separate from those of anonymous callers.
//!
//! A gateway counts a request before it is answered, and must not ask the database for the session of everyone who sends a
//! cookie. So sessions that pages have looked up are cached here, each under a keyed digest of its token; a visitor without a cached
//! session is counted as anonymous. An ended session is counted here until its entry expires, but gets no data.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use paraffin_access::UnixMillis;
use paraffin_users::{SessionToken, UserId};
use parking_lot::Mutex;

/// How long a session is cached after its look-up, milliseconds.
const CACHED_MS: i64 = 10 * 60 * 1_000;
/// Maximum of cached sessions.
const SESSIONS_MAX: usize = 10_000;
/// Requests of one user in a minute, and the burst.
const PER_MINUTE: i64 = 300;
/// Milliseconds in which one more request is granted.
const EACH_MS: i64 = 60_000 / PER_MINUTE;

#[derive(Default)]
pub(crate) struct SignedIn {
    random: RandomState,
    cache: Mutex<SessionCache>,
}

#[derive(Default)]
struct SessionCache {
    /// The user of each session, and when the entry expires.
    sessions: HashMap<u64, (UserId, UnixMillis)>,
    /// When the bucket of each user would be full again.
    full_at: HashMap<UserId, UnixMillis>,
}

impl SignedIn {
    fn digest(&self, token: &SessionToken) -> u64 {
        self.random.hash_one(token.reveal())
    }

    /// Caches a session.
    pub(crate) fn remember(&self, token: &SessionToken, user: UserId, now: UnixMillis) {
        let digest = self.digest(token);
        let mut cache = self.cache.lock();
        if cache.sessions.len() >= SESSIONS_MAX && !cache.sessions.contains_key(&digest) {
            cache.forget(now);
            if cache.sessions.len() >= SESSIONS_MAX {
                return;
            }
        }
        cache.sessions.insert(digest, (user, now.saturating_add(CACHED_MS)));
    }

    /// Counts a request; `None` for a session that is not cached, otherwise the seconds to wait where there were too many.
    pub(crate) fn take(&self, token: &SessionToken, now: UnixMillis) -> Option<Result<(), u32>> {
        let digest = self.digest(token);
        let mut cache = self.cache.lock();
        let &(user, until) = cache.sessions.get(&digest)?;
        if until < now {
            cache.forget(now);
            return None;
        }
        let full_at = cache.full_at.entry(user).or_insert(now);
        let next = (*full_at).max(now).saturating_add(EACH_MS);
        let beyond = next.saturating_sub(now).saturating_sub(PER_MINUTE * EACH_MS);
        if beyond > 0 {
            return Some(Err(u32::try_from(beyond.div_euclid(1_000)).unwrap_or(u32::MAX).saturating_add(1)));
        }
        *full_at = next;
        Some(Ok(()))
    }
}

impl SessionCache {
    fn forget(&mut self, now: UnixMillis) {
        self.sessions.retain(|_, (_, until)| *until >= now);
        self.full_at.retain(|_, full_at| *full_at > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(number: u8) -> SessionToken {
        let text: String = std::iter::repeat_n(char::from(b'a' + number), 64).collect();
        text.parse().unwrap()
    }

    #[test]
    fn requests_of_a_user_are_counted_over_all_sessions_and_refilled() {
        let all = SignedIn::default();
        assert_eq!(all.take(&token(1), 0), None);
        all.remember(&token(1), UserId(7), 0);
        all.remember(&token(2), UserId(7), 0);
        all.remember(&token(3), UserId(8), 0);
        for number in 0..PER_MINUTE {
            assert_eq!(all.take(&token(if number % 2 == 0 { 1 } else { 2 }), 0), Some(Ok(())), "{number}");
        }
        assert_eq!(all.take(&token(1), 0), Some(Err(1)));
        assert_eq!(all.take(&token(3), 0), Some(Ok(())));
        assert_eq!(all.take(&token(2), EACH_MS), Some(Ok(())));
        assert_eq!(all.take(&token(2), EACH_MS), Some(Err(1)));
        assert_eq!(all.take(&token(1), CACHED_MS + 1), None);
        assert!(all.cache.lock().sessions.is_empty() && all.cache.lock().full_at.is_empty());
    }

    #[test]
    fn sessions_are_bounded() {
        let all = SignedIn::default();
        let tokens: Vec<SessionToken> =
            (0..=SESSIONS_MAX).map(|number| format!("{number:0>64}").parse().unwrap()).collect();
        for token in &tokens {
            all.remember(token, UserId(1), 0);
        }
        assert_eq!(all.cache.lock().sessions.len(), SESSIONS_MAX);
        assert_eq!(all.take(&tokens[SESSIONS_MAX], 0), None);
        all.remember(&tokens[SESSIONS_MAX], UserId(1), CACHED_MS + 1);
        assert_eq!(all.take(&tokens[SESSIONS_MAX], CACHED_MS + 1), Some(Ok(())));
    }
}
