//! The console of an instance: its settings, its users beside the accounts, and the link that makes its owner.

use std::path::Path;
use std::sync::Arc;

use paraffin_access::{DatabaseKeyStore, OwnershipProver};
use paraffin_site::{ExplorerAccess, Site, SiteParts};
use paraffin_users::{NewLink, UserStore, UsersError};
use serde::{Deserialize, Serialize};

use crate::account_file;
use crate::accounts;
use crate::command_line::{AccountsArguments, ConsoleAccountCommand};
use crate::config::Config;
use crate::keys::{self, KeysError, now};

/// `[console]`: pages on which people manage keys, origins and aliases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConsoleSection {
    /// Whether the pages are served, at `/console`.
    pub enabled: bool,
    /// The address under which people reach the instance, such as `https://api.example.com`; for links and cookies. Absent: the
    /// host that a request names, without TLS.
    pub public_url: Option<String>,
    /// Who may see the explorer, at `/explorer`.
    pub explorer: ExplorerAccess,
}

impl Default for ConsoleSection {
    fn default() -> Self {
        Self { enabled: true, public_url: None, explorer: ExplorerAccess::default() }
    }
}

impl ConsoleSection {
    /// Finds an address that is none.
    ///
    /// # Errors
    /// The message.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Some(url) = &self.public_url else { return Ok(()) };
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let is_origin = |host: &str| {
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
        };
        if host.is_some_and(is_origin) {
            return Ok(());
        }
        Err("[console] public_url must be an address such as https://api.example.com, without a path".to_owned())
    }

    /// The address of a page of an instance that listens at `listen`.
    pub(crate) fn url(&self, listen: std::net::SocketAddr, page: &str) -> String {
        let base = self.public_url.clone().unwrap_or_else(|| format!("http://{listen}"));
        format!("{base}/console{page}")
    }
}

/// The console of an instance that serves.
pub(crate) struct Console {
    pub(crate) users: Arc<UserStore>,
    section: ConsoleSection,
}

impl Console {
    /// Opens the users beside the accounts; `None` where the console is switched off.
    ///
    /// # Errors
    /// The database refuses or does not answer.
    pub(crate) async fn open(config: &Config) -> Result<Option<Self>, UsersError> {
        if !config.console.enabled {
            return Ok(None);
        }
        let place = accounts::place(&config.access, &config.data_dir());
        let users = Arc::new(UserStore::open(&place).await?);
        Ok(Some(Self { users, section: config.console.clone() }))
    }

    /// The pages over these accounts.
    pub(crate) fn site(&self, config: &Config, keys: &Arc<DatabaseKeyStore>) -> Site {
        Site::new(SiteParts {
            users: Arc::clone(&self.users),
            keys: Arc::clone(keys) as Arc<dyn paraffin_access::KeyStore>,
            prover: OwnershipProver::new(config.access.proof.clone()),
            plans: config.plans.clone(),
            public_url: self.section.public_url.clone(),
            explorer: self.section.explorer,
        })
    }

    /// Prints the link that makes the owner, while there is none.
    pub(crate) async fn announce(&self, listen: std::net::SocketAddr) {
        match self.users.setup_link(now()).await {
            Ok(Some(link)) => {
                let link = self.link(listen, &link);
                println!("console: become the owner of this instance, once and within a day, at {link}");
            }
            Ok(None) => println!("console: {}", self.section.url(listen, "")),
            Err(error) => tracing::error!(%error, "the link for the owner could not be made"),
        }
    }

    fn link(&self, listen: std::net::SocketAddr, link: &NewLink) -> String {
        self.section.url(listen, &format!("/link/{}", link.token.reveal()))
    }
}

/// Runs `paraffin account`.
///
/// # Errors
/// There are no accounts at this location, or no owner; or see [`account_file`].
pub(crate) async fn run(command: ConsoleAccountCommand) -> Result<(), Box<dyn std::error::Error>> {
    let accounts = match command {
        ConsoleAccountCommand::ResetOwner { accounts } => accounts,
        ConsoleAccountCommand::Backup { file, accounts } => return Ok(account_file::backup(&file, &accounts).await?),
        ConsoleAccountCommand::Restore { file, replace, accounts } => {
            return Ok(account_file::restore(&file, replace, &accounts).await?);
        }
    };
    let (place, base) = users_of(&accounts)?;
    let users = UserStore::open(&place).await?;
    let link = users.reset_owner(now()).await?;
    println!("{base}/console/link/{}", link.token.reveal());
    eprintln!(
        "anyone who opens this link within an hour can set a new password for an owner; the second factor is removed"
    );
    users.close().await;
    Ok(())
}

/// Where the users of an instance are, and what its addresses begin with.
fn users_of(arguments: &AccountsArguments) -> Result<(paraffin_access::DatabaseLocation, String), KeysError> {
    let place = keys::place(arguments)?;
    let base = match &arguments.config {
        Some(file) => public_url(file)?,
        None => None,
    };
    Ok((place, base.unwrap_or_else(|| "http://ADDRESS".to_owned())))
}

fn public_url(file: &Path) -> Result<Option<String>, KeysError> {
    let config = Config::load(file)?;
    let listen = config.gateway.listen;
    Ok(Some(config.console.public_url.unwrap_or_else(|| format!("http://{listen}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_address_is_an_origin() {
        let check = |url: &str| ConsoleSection { public_url: Some(url.to_owned()), ..Default::default() }.check();
        for good in ["https://api.example.com", "http://127.0.0.1:8080", "http://[::1]:8080"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["", "api.example.com", "https://", "https://a/b", "ftp://a", "https://a;b", "https://a\nb"] {
            assert!(check(bad).unwrap_err().contains("[console] public_url"), "{bad}");
        }
    }
}
