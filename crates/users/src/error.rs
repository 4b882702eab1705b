use paraffin_database::DatabaseError;

use crate::{LINKS_MAX, NAME_CHARS_MAX, PASSWORD_BYTES_MAX, PASSWORD_BYTES_MIN};

/// Errors of operations on users. No message holds a credential.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// The database cannot be consulted, so no sign-in and no session is accepted. The text is for the operator's log, never for a caller.
    #[error("the users are not available: {0}")]
    Unavailable(String),
    /// A newer version of the program wrote the database.
    #[error(
        "the users have schema version {found}, this program knows versions up to {known}: start a newer program or use another database"
    )]
    NewerSchema {
        /// Version of the database.
        found: i64,
        /// Newest version that this program knows.
        known: i64,
    },
    /// The operating system gave no random bytes.
    #[error("no random bytes from the operating system: {0}")]
    NoRandomness(String),
    /// Argon2 does not work with these parameters.
    #[error("passwords cannot be hashed with these parameters: {0}")]
    InvalidCost(&'static str),
    /// Too many passwords are being hashed: try again in some seconds.
    #[error("too many people sign in at this moment: try again in some seconds")]
    Busy,
    /// The name is empty, too long, or has characters that are invisible or change the direction of text.
    #[error("a name has 1 to {NAME_CHARS_MAX} characters, of which none is invisible or changes the direction of text")]
    InvalidName,
    /// Another user has this name.
    #[error("this name is taken")]
    NameTaken,
    /// The password is too short or too long.
    #[error("a password has {PASSWORD_BYTES_MIN} to {PASSWORD_BYTES_MAX} bytes")]
    PasswordLength,
    /// The password equals the name.
    #[error("the password must not be the name")]
    PasswordIsName,
    /// Name or password are wrong; the error and its cost do not reveal which.
    #[error("wrong name or password")]
    WrongNameOrPassword,
    /// The password of the signed-in user is wrong.
    #[error("wrong password")]
    WrongPassword,
    /// Too many failed attempts for this name or from this client.
    #[error("too many attempts: try again in {seconds} seconds")]
    Throttled {
        /// Seconds until the next attempt is checked, at least 1.
        seconds: u32,
    },
    /// The password is right, and an owner has disabled the user.
    #[error("this user is disabled: ask an owner")]
    Disabled,
    /// Neither a current unused code nor an unused recovery code.
    #[error("wrong code: wait for the next one, or take a recovery code")]
    WrongCode,
    /// The pending sign-in is too old, or had too many wrong codes: begin again with the password.
    #[error("begin again with name and password")]
    SignInExpired,
    /// The session has ended: sign in again.
    #[error("signed out: sign in again")]
    SignedOut,
    /// The link was used, replaced or withdrawn, is too old, or does not exist.
    #[error("this link is not valid any more: ask for a new one")]
    InvalidLink,
    /// Too many links are open: withdraw some.
    #[error("{LINKS_MAX} links are open: withdraw some of them")]
    TooManyLinks,
    /// There is no owner to reset: use the setup link.
    #[error("there is no owner yet: use the setup link")]
    NoOwner,
    /// The link is for an owner, and no owner who can sign in has this name.
    #[error("no owner has this name")]
    NotAnOwner,
    /// At least one enabled owner has to remain.
    #[error("this is the last owner: make another one first")]
    LastOwner,
    /// A member belongs to an account.
    #[error("a member belongs to an account: name one")]
    AccountNeeded,
    /// No user has that number.
    #[error("no such user")]
    NoSuchUser,
    /// The user has no session of that number.
    #[error("no such session")]
    NoSuchSession,
    /// No open link has that number.
    #[error("no such link")]
    NoSuchLink,
    /// Remove the second factor before another one is set up.
    #[error("there is a second factor already: remove it first")]
    HasSecondFactor,
    /// There is no second factor, or none was begun within the last hour.
    #[error("there is no second factor: begin to set one up")]
    NoSecondFactor,
}

impl From<DatabaseError> for UsersError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::NewerSchema { found, known } => Self::NewerSchema { found, known },
            other => Self::Unavailable(other.to_string()),
        }
    }
}
