//! `[orderbook] nats_…`: a stream of NATS JetStream instead of the log in the data folder.

use std::fmt;

use paraffin_orderbook::{Login, NatsOptions, TlsFiles};
use serde::{Deserialize, Serialize};

use super::OrderbookSection;

/// A text that no log shows.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

impl OrderbookSection {
    /// Where the shared stream is, if one is configured.
    ///
    /// # Errors
    /// Settings that contradict each other; the message names them.
    pub(crate) fn nats(&self) -> Result<Option<NatsOptions>, &'static str> {
        let login = self.login()?;
        let alone = "[orderbook] nats_certificate_file and nats_key_file come together";
        let certificate = both(self.nats_certificate_file.as_ref(), self.nats_key_file.as_ref(), alone)?;
        let tls = TlsFiles { authorities: self.nats_ca_file.clone(), certificate };
        let Some(Secret(url)) = &self.nats_url else {
            let is_plain = matches!(login, Login::None) && tls == TlsFiles::default();
            return if is_plain {
                Ok(None)
            } else {
                Err("[orderbook] nats_url is needed for the other nats_ settings")
            };
        };
        let options = NatsOptions::new(url);
        Ok(Some(NatsOptions {
            servers: url.split(',').map(|server| server.trim().to_owned()).collect(),
            stream: self.nats_stream.clone(),
            login,
            tls,
            ..options
        }))
    }

    fn login(&self) -> Result<Login, &'static str> {
        let alone = "[orderbook] nats_user and nats_password come together";
        let password = both(self.nats_user.as_ref(), self.nats_password.as_ref(), alone)?;
        let logins = [
            password.map(|(user, Secret(password))| Login::Password { user, password }),
            self.nats_token.clone().map(|Secret(token)| Login::Token(token)),
            self.nats_credentials_file.clone().map(Login::CredentialsFile),
        ];
        let mut given = logins.into_iter().flatten();
        match (given.next(), given.next()) {
            (login, None) => Ok(login.unwrap_or(Login::None)),
            _ => Err("[orderbook] give one of nats_user with nats_password, nats_token and nats_credentials_file"),
        }
    }
}

/// Two settings of which neither stands alone; `alone` says so.
fn both<A: Clone, B: Clone>(
    first: Option<&A>,
    second: Option<&B>,
    alone: &'static str,
) -> Result<Option<(A, B)>, &'static str> {
    match (first, second) {
        (None, None) => Ok(None),
        (Some(first), Some(second)) => Ok(Some((first.clone(), second.clone()))),
        _ => Err(alone),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use figment::Figment;
    use figment::providers::{Format as _, Toml};

    use super::*;

    fn nats(text: &str) -> Result<Option<NatsOptions>, &'static str> {
        Figment::from(Toml::string(text)).extract::<OrderbookSection>().unwrap().nats()
    }

    #[test]
    fn a_shared_stream_is_named_with_one_login() {
        assert_eq!(nats("").unwrap(), None);
        let plain = nats("nats_url = \"nats://a:4222\"").unwrap().unwrap();
        assert_eq!(plain, NatsOptions::new("nats://a:4222"));
        assert_eq!((plain.stream.as_str(), plain.start_within), ("orderbook", Duration::from_secs(3)));
        let full = nats(
            "nats_url = \"tls://a, tls://b\"\nnats_stream = \"orders\"\nnats_user = \"u\"\nnats_password = \"p\"\nnats_ca_file = \"ca\"\n\
             nats_certificate_file = \"c\"\nnats_key_file = \"k\"",
        );
        let expected = NatsOptions {
            servers: vec!["tls://a".to_owned(), "tls://b".to_owned()],
            stream: "orders".to_owned(),
            login: Login::Password { user: "u".to_owned(), password: "p".to_owned() },
            tls: TlsFiles { authorities: Some(PathBuf::from("ca")), certificate: Some(("c".into(), "k".into())) },
            ..plain
        };
        assert_eq!(full.unwrap().unwrap(), expected);
        let token = nats("nats_url = \"nats://a\"\nnats_token = \"t\"").unwrap().unwrap();
        assert_eq!(token.login, Login::Token("t".to_owned()));
        let file = nats("nats_url = \"nats://a\"\nnats_credentials_file = \"x.creds\"").unwrap().unwrap();
        assert_eq!(file.login, Login::CredentialsFile("x.creds".into()));
    }

    #[test]
    fn settings_that_contradict_each_other_are_named_and_secrets_are_not_shown() {
        for (text, named) in [
            ("nats_user = \"u\"", "nats_password"),
            ("nats_password = \"p\"", "nats_user"),
            ("nats_token = \"t\"", "nats_url"),
            ("nats_ca_file = \"t\"", "nats_url"),
            ("nats_url = \"nats://a\"\nnats_certificate_file = \"c\"", "nats_key_file"),
            ("nats_url = \"nats://a\"\nnats_token = \"t\"\nnats_credentials_file = \"c\"", "one of"),
        ] {
            let error = nats(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
        let text = "nats_url = \"nats://u:hunter2@a\"\nnats_token = \"hunter2\"\nnats_password = \"hunter2\"";
        let section: OrderbookSection = Figment::from(Toml::string(text)).extract().unwrap();
        assert!(!format!("{section:?}").contains("hunter2"));
    }
}
