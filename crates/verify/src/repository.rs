//! Which git repositories may be fetched: `https` from named hosts, without anything that git would interpret as more than a URL.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Longest URL in bytes.
const URL_BYTES_MAX: usize = 512;
/// Longest name of a commit, branch or tag in bytes.
const REFERENCE_BYTES_MAX: usize = 200;
/// The port of all repositories.
pub(crate) const PORT: u16 = 443;

/// A repository that the rules allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Repository {
    /// At a host of the list.
    Https {
        /// The host.
        host: String,
        /// The whole URL.
        url: String,
    },
    /// A folder of this machine, for tests and for operators with mirrors.
    Local {
        /// The folder.
        path: PathBuf,
    },
}

/// A repository or commit is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// Not `https`.
    #[error("repo_url must begin with https://")]
    Scheme,
    /// Not a host and a plain path.
    #[error(
        "repo_url must be https://<host>/<path> of letters, digits and `._~-`, without user, port, query or fragment"
    )]
    Form,
    /// A host that is not on the operator's list.
    #[error("this instance does not fetch from that host; it fetches from {0}")]
    Host(String),
    /// Not a commit id, branch or tag.
    #[error("commit must be 40 hex digits, or the name of a branch or tag")]
    Commit,
    /// The host leads into the operator's own network, or nowhere.
    #[error("the host of the repository has no public address")]
    Address,
}

impl Repository {
    /// Reads a URL. With `local`, `file://` and an absolute path are taken as well.
    ///
    /// # Errors
    /// [`RepositoryError`].
    pub fn parse(url: &str, hosts: &[String], local: bool) -> Result<Self, RepositoryError> {
        if let Some(path) = url.strip_prefix("file://").filter(|_| local) {
            let path = PathBuf::from(path);
            let is_plain = path.is_absolute() && url.len() <= URL_BYTES_MAX && !url.contains(char::is_control);
            return if is_plain { Ok(Self::Local { path }) } else { Err(RepositoryError::Form) };
        }
        let rest = url.strip_prefix("https://").ok_or(RepositoryError::Scheme)?;
        let (host, path) = rest.split_once('/').ok_or(RepositoryError::Form)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let host_is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        let part_is_plain = |part: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'-');
            !part.is_empty() && !part.starts_with(['-', '.']) && part.bytes().all(plain)
        };
        if url.len() > URL_BYTES_MAX || host.is_empty() || !host_is_plain || !path.split('/').all(part_is_plain) {
            return Err(RepositoryError::Form);
        }
        let host = host.to_ascii_lowercase();
        if !hosts.contains(&host) {
            return Err(RepositoryError::Host(hosts.join(", ")));
        }
        Ok(Self::Https { url: format!("https://{host}/{path}"), host })
    }

    /// Whether the repository can be read without credentials by its web host; local folders cannot be read by third parties.
    pub const fn is_private(&self) -> bool {
        matches!(self, Self::Local { .. })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Https { url, .. } => formatter.write_str(url),
            Self::Local { path } => write!(formatter, "file://{}", path.display()),
        }
    }
}

/// Takes 40 hex digits, or a name as git allows it for branches and tags and that cannot be an option or a range.
///
/// # Errors
/// [`RepositoryError::Commit`].
pub(crate) fn check_commit(commit: &str) -> Result<(), RepositoryError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-');
    let odd = commit.contains("..")
        || commit.contains("//")
        || commit.ends_with(['/', '.'])
        || commit.strip_suffix(".lock").is_some();
    if commit.is_empty()
        || commit.len() > REFERENCE_BYTES_MAX
        || !commit.bytes().all(plain)
        || !commit.starts_with(|first: char| first.is_ascii_alphanumeric())
        || odd
    {
        return Err(RepositoryError::Commit);
    }
    Ok(())
}

/// Addresses of a host, all of them public. Git is then made to use exactly the first, so that a second answer of the name
/// server cannot lead elsewhere.
pub(crate) fn public_address(host: &str) -> Result<IpAddr, RepositoryError> {
    let resolved = (host, PORT).to_socket_addrs().map_err(|_| RepositoryError::Address)?;
    let addresses: Vec<IpAddr> = resolved.map(|address| address.ip()).collect();
    match addresses.first() {
        Some(first) if addresses.iter().all(|address| is_public(*address)) => Ok(*first),
        _ => Err(RepositoryError::Address),
    }
}

/// Whether an address belongs to the public internet: none of a private network, this machine, a link, or a special purpose
/// (RFC 6890 and its registries).
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 127 | 240..=255, ..) | (100, 64..=127, _) | (192, 0, 0) | (198, 18 | 19, _) | (192, 88, 99)
    );
    !(special
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || address.is_broadcast())
}

/// Only global unicast, without the ranges that carry an address of version 4 or are for documentation.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    (0x2000..0x4000).contains(&first)
        && first != 0x2002
        && !(first == 0x2001 && (second < 0x200 || second == 0xdb8))
        && !(first == 0x3fff && second < 0x1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Vec<String> {
        vec!["github.com".to_owned(), "git.example.org".to_owned()]
    }

    fn parse(url: &str) -> Result<String, RepositoryError> {
        Repository::parse(url, &hosts(), false).map(|repository| repository.to_string())
    }

    #[test]
    fn a_plain_url_of_a_named_host_is_taken() {
        for (given, taken) in [
            ("https://github.com/a/b", "https://github.com/a/b"),
            ("https://GitHub.com/a/b.git/", "https://github.com/a/b.git"),
            ("https://git.example.org/group/sub/x_y~z", "https://git.example.org/group/sub/x_y~z"),
        ] {
            assert_eq!(parse(given).as_deref(), Ok(taken));
        }
    }

    #[test]
    fn other_transports_and_options_are_refused() {
        for bad in [
            "ext::sh -c touch% /tmp/x",
            "http://github.com/a/b",
            "ssh://github.com/a/b",
            "git@github.com:a/b",
            "git://github.com/a/b",
            "file:///etc",
            "--upload-pack=touch /tmp/x",
            "-u",
            "",
            "HTTPS://github.com/a/b",
        ] {
            assert_eq!(parse(bad), Err(RepositoryError::Scheme), "{bad}");
        }
        for bad in [
            "https://github.com",
            "https://github.com/",
            "https://user:secret@github.com/a/b",
            "https://github.com:22/a/b",
            "https://github.com/a/b?x=1",
            "https://github.com/a/b#x",
            "https://github.com/a/%2e%2e/b",
            "https://github.com/a/../b",
            "https://github.com/a/-b",
            "https://github.com/a//b",
            "https://github.com/a b",
            "https://github.com/a\n/b",
            "https://github.com@127.0.0.1/a",
            "https://github.com\\@127.0.0.1/a",
            "https:///a/b",
        ] {
            assert_eq!(parse(bad), Err(RepositoryError::Form), "{bad}");
        }
        let long = format!("https://github.com/{}", "a".repeat(URL_BYTES_MAX));
        assert_eq!(parse(&long), Err(RepositoryError::Form));
    }

    #[test]
    fn hosts_that_nobody_named_are_refused() {
        for bad in [
            "https://127.0.0.1/a",
            "https://localhost/a",
            "https://github.com.evil.org/a",
            "https://169.254.169.254/a",
            "https://evilgithub.com/a",
        ] {
            assert!(matches!(parse(bad), Err(RepositoryError::Host(_))), "{bad}");
        }
    }

    #[test]
    fn local_folders_need_the_operators_word() {
        assert_eq!(Repository::parse("file:///srv/a", &[], false), Err(RepositoryError::Scheme));
        assert_eq!(Repository::parse("file:///srv/a", &[], true), Ok(Repository::Local { path: "/srv/a".into() }));
        assert_eq!(Repository::parse("file://srv/a", &[], true), Err(RepositoryError::Form));
    }

    #[test]
    fn commits_cannot_be_options_or_ranges() {
        for good in ["0123456789abcdef0123456789abcdef01234567", "main", "v1.2.3", "release/2.x", "HEAD"] {
            assert_eq!(check_commit(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "-x",
            "--upload-pack=x",
            "a..b",
            "a b",
            "a:b",
            "^a",
            "a~1",
            "@{u}",
            "a//b",
            "a/",
            ".a",
            "x.lock",
            "a\n",
        ] {
            assert_eq!(check_commit(bad), Err(RepositoryError::Commit), "{bad:?}");
        }
    }

    #[test]
    fn addresses_of_private_networks_are_not_public() {
        for public in ["140.82.121.3", "8.8.8.8", "2606:4700::1111", "2001:4860:4860::8888"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "192.0.0.8",
            "240.0.0.1",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "64:ff9b::7f00:1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        assert_eq!(public_address("localhost"), Err(RepositoryError::Address));
    }
}
