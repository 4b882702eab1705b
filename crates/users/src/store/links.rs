use paraffin_database::{Row, Session as Connection, query};

use super::UserStore;
use super::sessions::{begin_session, end_all};
use super::{second_factor, users};
use crate::link::{LINKS_MAX, LinkId, LinkKind, LinkRecord, NewLink};
use crate::name::Name;
use crate::password::check_new;
use crate::{Event, LinkToken, NewSession, Role, UnixMillis, UserId, UserRecord, UsersError};

impl UserStore {
    /// A link that makes the first owner; `None` when there is an owner. It replaces the link before.
    ///
    /// # Errors
    /// [`UsersError::TooManyLinks`].
    pub async fn setup_link(&self, now: UnixMillis) -> Result<Option<NewLink>, UsersError> {
        let mut transaction = self.database.begin().await?;
        if !users::owners(&mut transaction).await?.is_empty() {
            return Ok(None);
        }
        query("DELETE FROM console_link WHERE kind = 'setup'").execute(&mut transaction).await?;
        let link = insert(&mut transaction, LinkKind::Setup, Vec::new(), now).await?;
        transaction.commit().await?;
        Ok(Some(link))
    }

    /// A link that makes a user.
    ///
    /// # Errors
    /// [`UsersError::AccountNeeded`] for a member without one, [`UsersError::TooManyLinks`].
    pub async fn invite(&self, role: Role, account: Option<i64>, now: UnixMillis) -> Result<NewLink, UsersError> {
        users::check_account(role, account)?;
        let mut transaction = self.database.begin().await?;
        let link = insert(&mut transaction, LinkKind::Invitation { role, account }, Vec::new(), now).await?;
        transaction.commit().await?;
        Ok(link)
    }

    /// A link that gives a user a new password, removes the second factor and ends all sessions when it is used; nothing changes before.
    /// It replaces the link before for the same user.
    ///
    /// # Errors
    /// [`UsersError::NoSuchUser`], [`UsersError::Disabled`], [`UsersError::TooManyLinks`].
    pub async fn reset_link(&self, user: UserId, now: UnixMillis) -> Result<NewLink, UsersError> {
        let mut transaction = self.database.begin().await?;
        let found = users::find(&mut transaction, user).await?;
        if found.is_disabled {
            return Err(UsersError::Disabled);
        }
        query("DELETE FROM console_link WHERE user_id = $1").bind(user.0).execute(&mut transaction).await?;
        let link = insert(&mut transaction, LinkKind::Reset { user }, vec![found.name], now).await?;
        transaction.commit().await?;
        Ok(link)
    }

    /// A link as [`UserStore::reset_link`], for the owner whose name is given when it is used: for the command line, where
    /// all credentials were lost. It replaces the link before.
    ///
    /// # Errors
    /// [`UsersError::NoOwner`], [`UsersError::TooManyLinks`].
    pub async fn reset_owner(&self, now: UnixMillis) -> Result<NewLink, UsersError> {
        let mut transaction = self.database.begin().await?;
        let owners = users::owners(&mut transaction).await?;
        if owners.is_empty() {
            return Err(UsersError::NoOwner);
        }
        query("DELETE FROM console_link WHERE kind = 'owner-reset'").execute(&mut transaction).await?;
        let names = owners.into_iter().map(|owner| owner.name).collect();
        let link = insert(&mut transaction, LinkKind::OwnerReset, names, now).await?;
        transaction.commit().await?;
        Ok(link)
    }

    /// Kind of a link, without using it up; `None` for one that was used, replaced or withdrawn, is too old, or does not exist.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`].
    pub async fn look_at_link(&self, token: &LinkToken, now: UnixMillis) -> Result<Option<LinkRecord>, UsersError> {
        look(&mut self.database.session().await?, token, now).await
    }

    /// The open links, by number.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`].
    pub async fn links(&self, now: UnixMillis) -> Result<Vec<LinkRecord>, UsersError> {
        let mut connection = self.database.session().await?;
        let rows = query("SELECT id, kind, role, account, user_id, created_at, expires_at FROM console_link WHERE expires_at > $1 ORDER BY id")
            .bind(now)
            .fetch_all(&mut connection)
            .await?;
        let mut links = Vec::with_capacity(rows.len());
        for row in &rows {
            links.push(record(&mut connection, row).await?);
        }
        Ok(links)
    }

    /// Ends a link that was not used.
    ///
    /// # Errors
    /// [`UsersError::NoSuchLink`].
    pub async fn withdraw_link(&self, link: LinkId) -> Result<Event, UsersError> {
        let mut transaction = self.database.begin().await?;
        let withdrawn = query("DELETE FROM console_link WHERE id = $1").bind(link.0).execute(&mut transaction).await?;
        if withdrawn == 0 {
            return Err(UsersError::NoSuchLink);
        }
        transaction.commit().await?;
        Ok(Event::LinkWithdrawn(link))
    }

    /// Uses a link: makes the user, or resets the password, and signs in. Of several at once one wins. After any error the link
    /// can be used still.
    ///
    /// `name` is that of the new user; for [`LinkKind::OwnerReset`] that of the owner; for [`LinkKind::Reset`] it is
    /// ignored. `client` names the origin of the request.
    ///
    /// # Errors
    /// [`UsersError::InvalidLink`], [`UsersError::InvalidName`], [`UsersError::NameTaken`], [`UsersError::NotAnOwner`],
    /// [`UsersError::PasswordLength`], [`UsersError::PasswordIsName`], [`UsersError::Busy`].
    pub async fn accept_link(
        &self,
        token: &LinkToken,
        name: &str,
        password: &str,
        client: &str,
        now: UnixMillis,
    ) -> Result<NewSession, UsersError> {
        // Everything is checked before the password is hashed, so that hashing needs a valid link, and again in the transaction.
        let checked = {
            let mut connection = self.database.session().await?;
            let link = look(&mut connection, token, now).await?.ok_or(UsersError::InvalidLink)?;
            Acceptance::check(&mut connection, link, name).await?
        };
        check_new(password, &checked.name)?;
        let password = self.hasher.hash(password).await?;

        let mut transaction = self.database.begin().await?;
        let link = look(&mut transaction, token, now).await?.ok_or(UsersError::InvalidLink)?;
        let accepted = Acceptance::check(&mut transaction, link, name).await?;
        query("DELETE FROM console_link WHERE id = $1").bind(accepted.link.0).execute(&mut transaction).await?;
        let (user, event) = match accepted.effect {
            Effect::NewUser(role, account) => {
                let user = users::insert(&mut transaction, &accepted.name, role, account, &password, now).await?;
                (user, Event::Joined { user, link: accepted.link, role, account })
            }
            Effect::Reset(user) => {
                users::set_password(&mut transaction, user, &password).await?;
                second_factor::remove(&mut transaction, user).await?;
                end_all(&mut transaction, user).await?;
                query("DELETE FROM console_link WHERE user_id = $1").bind(user.0).execute(&mut transaction).await?;
                (user, Event::Reset { user, link: accepted.link })
            }
        };
        let session = begin_session(&mut transaction, user, client, |_| event, now).await?;
        transaction.commit().await?;
        Ok(session)
    }
}

/// The checked effect of using a link.
struct Acceptance {
    link: LinkId,
    name: Name,
    effect: Effect,
}

enum Effect {
    NewUser(Role, Option<i64>),
    Reset(UserId),
}

impl Acceptance {
    async fn check(connection: &mut Connection, link: LinkRecord, name: &str) -> Result<Self, UsersError> {
        let (name, effect) = match link.kind {
            LinkKind::Setup => (Name::parse(name)?, Effect::NewUser(Role::Owner, None)),
            LinkKind::Invitation { role, account } => (Name::parse(name)?, Effect::NewUser(role, account)),
            LinkKind::Reset { user } => {
                let found = users::find(connection, user).await?;
                (Name::parse(&found.name)?, Effect::Reset(user))
            }
            LinkKind::OwnerReset => {
                let name = Name::parse(name).map_err(|_| UsersError::NotAnOwner)?;
                let found = users::find_by_name(connection, &name).await?;
                let is_owner = |user: &UserRecord| user.role == Role::Owner && !user.is_disabled;
                let owner = found.map(|(user, _)| user).filter(is_owner).ok_or(UsersError::NotAnOwner)?;
                (name, Effect::Reset(owner.id))
            }
        };
        if let Effect::NewUser(..) = effect
            && users::find_by_name(connection, &name).await?.is_some()
        {
            return Err(UsersError::NameTaken);
        }
        Ok(Self { link: link.id, name, effect })
    }
}

async fn insert(
    connection: &mut Connection,
    kind: LinkKind,
    names: Vec<String>,
    now: UnixMillis,
) -> Result<NewLink, UsersError> {
    query("DELETE FROM console_link WHERE expires_at <= $1").bind(now).execute(connection).await?;
    let open: i64 = query("SELECT COUNT(*) AS links FROM console_link").fetch_one(connection).await?.get("links")?;
    if open >= i64::from(LINKS_MAX) {
        return Err(UsersError::TooManyLinks);
    }
    let token = LinkToken::generate()?;
    let (role, account, user) = kind.columns();
    let expires_at = now.saturating_add(kind.lifetime_ms());
    let row = query("INSERT INTO console_link (digest, kind, role, account, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id")
        .bind(token.digest().to_vec())
        .bind(kind.as_str())
        .bind(&role.map(|role| role.as_str().to_owned()))
        .bind(account)
        .bind(user.map(|user| user.0))
        .bind(now)
        .bind(expires_at)
        .fetch_one(connection)
        .await?;
    let id = LinkId(row.get("id")?);
    let record = LinkRecord { id, kind, names, created_at: now, expires_at };
    let event = Event::LinkMade { link: id, kind: kind.as_str(), user, role, account };
    Ok(NewLink { token, record, event })
}

async fn look(
    connection: &mut Connection,
    token: &LinkToken,
    now: UnixMillis,
) -> Result<Option<LinkRecord>, UsersError> {
    let row = query("SELECT id, kind, role, account, user_id, created_at, expires_at FROM console_link WHERE digest = $1 AND expires_at > $2")
        .bind(token.digest().to_vec())
        .bind(now)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let record = record(connection, &row).await?;
    // An invitation may have made an owner in the meantime.
    let is_late = record.kind == LinkKind::Setup && !users::owners(connection).await?.is_empty();
    Ok((!is_late).then_some(record))
}

async fn record(connection: &mut Connection, row: &Row) -> Result<LinkRecord, UsersError> {
    let kind = kind(row)?;
    let names = match kind {
        LinkKind::Reset { user } => vec![users::find(connection, user).await?.name],
        LinkKind::OwnerReset => users::owners(connection).await?.into_iter().map(|owner| owner.name).collect(),
        LinkKind::Setup | LinkKind::Invitation { .. } => Vec::new(),
    };
    Ok(LinkRecord {
        id: LinkId(row.get("id")?),
        kind,
        names,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
    })
}

fn kind(row: &Row) -> Result<LinkKind, UsersError> {
    let text: String = row.get("kind")?;
    let unknown = || UsersError::Unavailable(format!("a link of the kind `{text}` without what belongs to it"));
    Ok(match text.as_str() {
        "setup" => LinkKind::Setup,
        "invitation" => {
            let role: String = row.get::<Option<String>>("role")?.ok_or_else(unknown)?;
            LinkKind::Invitation { role: users::role(&role)?, account: row.get("account")? }
        }
        "reset" => LinkKind::Reset { user: UserId(row.get::<Option<i64>>("user_id")?.ok_or_else(unknown)?) },
        "owner-reset" => LinkKind::OwnerReset,
        _ => return Err(unknown()),
    })
}
