//! TLS with the operator's certificate.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::listener::ListenError;

/// Reads certificates and key, both in PEM.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, ListenError> {
    let unreadable = |setting, path: &Path, reason: String| ListenError::Tls { setting, path: path.to_owned(), reason };
    let of_certificate = |reason: String| unreadable("tls_certificate", certificate, reason);
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| of_certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(of_certificate("it holds no certificate".to_owned()));
    }
    // The error of a key is not included, since it may reveal parts of it.
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|_| unreadable("tls_key", key, "it cannot be read or holds no private key".to_owned()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| of_certificate(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| of_certificate(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
