use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;
use ring::hmac;
use zeroize::Zeroizing;

use crate::WebhookError;

/// Bytes of a generated secret; the specification requires 24 to 64.
const BYTES: usize = 32;
const PREFIX: &str = "whsec_";

/// The text is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret is `whsec_` and the base64 of 24 to 64 bytes")]
pub struct InvalidSecret;

/// Key that signs the messages of an endpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

impl SigningSecret {
    /// A new one.
    ///
    /// # Errors
    /// [`WebhookError::NoRandomness`].
    pub fn generate() -> Result<Self, WebhookError> {
        let mut bytes = Zeroizing::new(vec![0; BYTES]);
        getrandom::fill(&mut bytes).map_err(|error| WebhookError::NoRandomness(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// The text that its owner is shown once.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", BASE64.encode(&self.0))
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The base64 of the HMAC-SHA256 of the identifier, the time and the body.
    fn sign(&self, id: &str, timestamp_seconds: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &self.0));
        context.update(format!("{id}.{timestamp_seconds}.").as_bytes());
        context.update(body);
        BASE64.encode(context.sign().as_ref())
    }
}

impl FromStr for SigningSecret {
    type Err = InvalidSecret;

    fn from_str(text: &str) -> Result<Self, InvalidSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(InvalidSecret)?;
        let bytes = Zeroizing::new(BASE64.decode(encoded.as_bytes()).map_err(|_| InvalidSecret)?);
        if (24..=64).contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(InvalidSecret) }
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningSecret")
    }
}

/// The value of `webhook-signature`: one signature for each secret, separated by spaces.
pub fn signature(secrets: &[SigningSecret], id: &str, timestamp_seconds: i64, body: &[u8]) -> String {
    let signed = secrets.iter().map(|secret| format!("v1,{}", secret.sign(id, timestamp_seconds, body)));
    signed.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    /// The vector of the public libraries of Standard Webhooks.
    #[test]
    fn a_signature_is_that_of_standard_webhooks() {
        let secret: SigningSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let signed = signature(std::slice::from_ref(&secret), ID, 1_614_265_330, BODY);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(secret.reveal(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    }

    #[test]
    fn two_secrets_give_two_signatures() {
        let secrets = [SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap()];
        let both = signature(&secrets, ID, 1, BODY);
        let single = |index: usize| signature(&secrets[index..=index], ID, 1, BODY);
        assert_eq!(both, format!("{} {}", single(0), single(1)));
        assert_ne!(single(0), single(1));
    }

    #[test]
    fn texts_that_are_no_secret_are_refused_and_none_is_shown() {
        for text in
            ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_*fKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
        {
            assert_eq!(text.parse::<SigningSecret>(), Err(InvalidSecret), "{text}");
        }
        assert_eq!(format!("{:?}", SigningSecret::generate().unwrap()), "SigningSecret");
    }
}
