use std::net::{IpAddr, SocketAddr};

use hyper::Uri;

use crate::WebhookSettings;

/// Why an address is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// What is wrong with the text.
    #[error("the address {0}")]
    Malformed(&'static str),
    /// The operator requires encryption.
    #[error("the address must begin with https://")]
    NotEncrypted,
    /// It is not in the public internet.
    #[error("the address is not public")]
    NotPublic,
}

/// The server behind the address of an endpoint. Its name is not looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// As in the request: with the port where it is not the usual one.
    pub(crate) authority: String,
    /// A name or an address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_encrypted: bool,
    /// Path and query.
    pub(crate) path: String,
}

impl Destination {
    /// Reads an address and checks all of it that can be checked without a look-up.
    ///
    /// # Errors
    /// See [`DestinationError`].
    pub fn parse(url: &str, settings: &WebhookSettings) -> Result<Self, DestinationError> {
        if url.contains('#') {
            return Err(DestinationError::Malformed("must not have a fragment"));
        }
        let uri: Uri = paraffin_web::checked(url).map_err(DestinationError::Malformed)?;
        let is_encrypted = uri.scheme_str() == Some("https");
        if !is_encrypted && !settings.allow_http {
            return Err(DestinationError::NotEncrypted);
        }
        let Some(authority) = uri.authority() else { return Err(DestinationError::Malformed("names no host")) };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = port_of(authority.as_str(), authority.port_u16(), is_encrypted)?;
        if let Ok(address) = host.parse::<IpAddr>() {
            allowed([address], settings)?;
        }
        let path = uri.path_and_query().map_or_else(|| "/".to_owned(), |path| path.as_str().to_owned());
        Ok(Self { authority: authority.as_str().to_owned(), host, port, is_encrypted, path })
    }

    /// The address to connect to, out of those that the name resolves to. All of them have to be allowed: a name with a public and a
    /// private address may be an attempt at DNS rebinding.
    ///
    /// # Errors
    /// [`DestinationError::NotPublic`], also where there is none.
    pub(crate) fn choose(
        &self,
        addresses: impl IntoIterator<Item = IpAddr>,
        settings: &WebhookSettings,
    ) -> Result<Vec<SocketAddr>, DestinationError> {
        let addresses = allowed(addresses, settings)?;
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, self.port)).collect())
    }
}

/// The port of an authority, which `named` is where it can be read.
fn port_of(authority: &str, named: Option<u16>, is_encrypted: bool) -> Result<u16, DestinationError> {
    let has_port = !authority.ends_with(']') && authority.contains(':');
    match named {
        Some(port) if port > 0 => Ok(port),
        None if !has_port => Ok(if is_encrypted { 443 } else { 80 }),
        _ => Err(DestinationError::Malformed("has an impossible port")),
    }
}

fn allowed(
    addresses: impl IntoIterator<Item = IpAddr>,
    settings: &WebhookSettings,
) -> Result<Vec<IpAddr>, DestinationError> {
    let addresses: Vec<IpAddr> = addresses.into_iter().collect();
    let is_allowed = settings.allow_private || addresses.iter().all(|address| paraffin_web::is_public(*address));
    if is_allowed && !addresses.is_empty() { Ok(addresses) } else { Err(DestinationError::NotPublic) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Destination, DestinationError> {
        Destination::parse(url, &WebhookSettings::default())
    }

    #[test]
    fn an_address_is_an_encrypted_one_of_the_public_internet() {
        let parsed = parse("https://hooks.example:8443/in?x=1").unwrap();
        assert_eq!((parsed.host.as_str(), parsed.port, parsed.path.as_str()), ("hooks.example", 8443, "/in?x=1"));
        assert_eq!(parsed.authority, "hooks.example:8443");
        assert_eq!(parse("https://[2606:4700::1111]/").unwrap().host, "2606:4700::1111");
        assert_eq!(parse("https://hooks.example").unwrap().port, 443);
        for (url, error) in [
            ("http://hooks.example/", DestinationError::NotEncrypted),
            ("https://127.0.0.1/", DestinationError::NotPublic),
            ("https://[::1]:1/", DestinationError::NotPublic),
            ("https://[::ffff:10.0.0.1]/", DestinationError::NotPublic),
            ("https://[64:ff9b::a00:1]/", DestinationError::NotPublic),
            ("https://169.254.169.254/latest", DestinationError::NotPublic),
            ("https://hooks.example:0/", DestinationError::Malformed("has an impossible port")),
            ("https://hooks.example:99999/", DestinationError::Malformed("has an impossible port")),
            ("https://hooks.example/#x", DestinationError::Malformed("must not have a fragment")),
            ("https://user:pass@hooks.example/", DestinationError::Malformed("must not hold a user and password")),
        ] {
            assert_eq!(parse(url), Err(error), "{url}");
        }
        for url in ["", "hooks.example", "ftp://hooks.example/", "file:///etc/passwd", "https://", "gopher://x"] {
            assert!(parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn every_address_of_a_name_has_to_be_public() {
        let settings = WebhookSettings::default();
        let name = parse("https://hooks.example/").unwrap();
        let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        let public = name.choose(addresses(&["1.1.1.1", "2606:4700::1111"]), &settings).unwrap();
        assert_eq!(public, ["1.1.1.1:443".parse().unwrap(), "[2606:4700::1111]:443".parse().unwrap()]);
        for mixed in [&["1.1.1.1", "127.0.0.1"][..], &["::ffff:192.168.0.1"], &["fe80::1"], &[]] {
            assert_eq!(name.choose(addresses(mixed), &settings), Err(DestinationError::NotPublic), "{mixed:?}");
        }
        let private = WebhookSettings { allow_private: true, ..settings };
        assert_eq!(name.choose(addresses(&["127.0.0.1"]), &private).unwrap().len(), 1);
        assert!(name.choose(addresses(&[]), &private).is_err());
    }
}
