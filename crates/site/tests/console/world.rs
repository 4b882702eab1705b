//! Real accounts and users in a file, and a browser that reads their pages.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{COOKIE, LOCATION, SET_COOKIE};
use hyper::{Request, Response, StatusCode};
use paraffin_access::{DatabaseKeyStore, DatabaseLocation, KeyStore, OwnershipProver, Plan, Plans};
use paraffin_site::{Api, ApiAnswer, ApiFuture, Call, ExplorerAccess, Site, SiteParts, Tip};
use paraffin_users::{PasswordCost, UserSettings, UserStore};
use paraffin_webhooks::{Deliverer, WebhookSettings, WebhookStore, Webhooks};

use super::webhooks::{NumberedBlocks, Receiver};

pub(crate) const NOW: i64 = 1_800_000_000_000;
pub(crate) const DAY_MS: i64 = 86_400_000;
pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) struct World {
    site: Site,
    pub(crate) webhooks: Option<Arc<Webhooks>>,
    pub(crate) receiver: Receiver,
    pub(crate) keys: Arc<DatabaseKeyStore>,
    pub(crate) users: Arc<UserStore>,
    _folder: tempfile::TempDir,
}

/// A browser: a cookie, and the last page.
#[derive(Default)]
pub(crate) struct Browser {
    pub(crate) cookie: String,
    pub(crate) page: String,
}

/// Pages of the console use only the webhooks of the API.
struct NoApi(Option<Arc<Webhooks>>);

impl Api for NoApi {
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer> {
        panic!("{call:?}")
    }

    fn tip(&self) -> Tip {
        panic!("no page of the console has the newest block")
    }

    fn webhooks(&self) -> Option<Arc<Webhooks>> {
        self.0.clone()
    }

    fn tip_other_than(&self, known: String) -> ApiFuture<'_, Tip> {
        panic!("{known}")
    }
}

impl World {
    pub(crate) async fn new(public_url: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseLocation::File(folder.path().join("accounts.sqlite"));
        let keys = Arc::new(DatabaseKeyStore::open_at(&database, Plans::default()).await.unwrap());
        let cheap =
            UserSettings { password_cost: PasswordCost { memory_kib: 8, passes: 1, lanes: 1 }, ..Default::default() };
        let users = Arc::new(UserStore::open_with(&database, cheap).await.unwrap());
        let site = Site::new(SiteParts {
            users: Arc::clone(&users),
            keys: Arc::clone(&keys) as Arc<dyn KeyStore>,
            prover: OwnershipProver::default(),
            plans: Plans::default(),
            public_url: public_url.map(str::to_owned),
            explorer: ExplorerAccess::Off,
        });
        let (store, receiver) = (WebhookStore::open(&database).await.unwrap(), Receiver::default());
        let settings = WebhookSettings { endpoints_per_account_max: 3, ..WebhookSettings::default() };
        let (source, transport) = (Arc::new(NumberedBlocks), Arc::new(receiver.clone()));
        let deliverer = Deliverer::new(store, source, transport, settings, Arc::new(|| NOW));
        let webhooks = Some(Arc::new(Webhooks::with(deliverer)));
        Self { site, webhooks, receiver, keys, users, _folder: folder }
    }

    pub(crate) async fn ask(&self, browser: &mut Browser, request: Request<Bytes>) -> Response<Bytes> {
        let client: IpAddr = "192.0.2.7".parse().unwrap();
        let response = self.site.answer(request, client, NOW, Arc::new(NoApi(self.webhooks.clone()))).await;
        for cookie in response.headers().get_all(SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            pair.clone_into(&mut browser.cookie);
        }
        browser.page = String::from_utf8(response.body().to_vec()).unwrap();
        response
    }

    pub(crate) async fn get(&self, browser: &mut Browser, path: &str) -> StatusCode {
        let request = Request::get(path).header("host", "node:8080").header(COOKIE, &browser.cookie);
        self.ask(browser, request.body(Bytes::new()).unwrap()).await.status()
    }

    pub(crate) async fn post(&self, browser: &mut Browser, path: &str, fields: &[(&str, &str)]) -> Response<Bytes> {
        let mut body = String::new();
        for (name, value) in fields {
            let _ = write!(body, "&{name}=");
            for byte in value.bytes() {
                let _ = write!(body, "%{byte:02x}");
            }
        }
        let request = Request::post(path)
            .header("host", "node:8080")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin")
            .header(COOKIE, &browser.cookie);
        self.ask(browser, request.body(body.into()).unwrap()).await
    }

    /// Posts with the token of the page that was read last.
    pub(crate) async fn send(&self, browser: &mut Browser, path: &str, fields: &[(&str, &str)]) -> Response<Bytes> {
        let csrf = browser.between("name=\"csrf\" value=\"", "\"");
        self.post(browser, path, &[fields, &[("csrf", &csrf)]].concat()).await
    }

    /// A signed-in owner.
    pub(crate) async fn owner(&self) -> Browser {
        let link = self.users.setup_link(NOW).await.unwrap().unwrap();
        self.join("owner", &link.token.reveal()).await
    }

    pub(crate) async fn join(&self, name: &str, token: &str) -> Browser {
        let mut browser = Browser::default();
        let path = format!("/console/link/{token}");
        assert_eq!(self.get(&mut browser, &path).await, StatusCode::OK);
        let fields = [("name", name), ("password", PASSWORD), ("again", PASSWORD)];
        let joined = self.post(&mut browser, &path, &fields).await;
        assert_eq!(
            (joined.status(), joined.headers()[LOCATION].to_str().unwrap()),
            (StatusCode::SEE_OTHER, "/console/keys")
        );
        browser
    }

    pub(crate) async fn account(&self, name: &str, plan: Plan) -> String {
        self.keys.create_account(name, plan, "test", NOW).await.unwrap().id.to_string()
    }
}

impl Browser {
    pub(crate) fn between(&self, before: &str, after: &str) -> String {
        let start = self.page.find(before).unwrap_or_else(|| panic!("no {before} in {}", self.page)) + before.len();
        self.page[start..].split(after).next().unwrap().to_owned()
    }
}
