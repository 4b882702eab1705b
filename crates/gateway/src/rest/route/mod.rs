//! REST routes, each declared once.
//!
//! A route is the struct of its members with an implementation of [`Route`]: the doc comment is its description, the fields are the
//! members of the body, of the query or of the path with their doc comments, [`Route::Answer`] is its answer. A [`Group`] lists the
//! routes of one tag. Routing, parsing of members and its errors, 304, and the OpenAPI documents are all derived from these
//! declarations, so a new route is one struct and one line in its group's list.

mod answer;
mod describe;
mod find;

use std::future::{Future, ready};

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode};
use paraffin_store::ModuleId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::answer::{Answer, Enveloped, Made};
pub(crate) use self::describe::{DescribedField, DescribedRoute, same_as};
pub use self::find::{NoRoute, body_limit, find, serve};
use super::{RestBody, RestResult, Validator};
use crate::errors::{ApiError, ErrorKind};
use crate::methods::{ParamError, fields, read_members};
use crate::respond::Reply;
use crate::rest::part::Part;
use crate::state::{BoxFuture, RequestContext};

/// The verb of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Also HEAD. Members are in the path and in the query.
    Get,
    /// Members are in a JSON object.
    Post,
}

impl Verb {
    /// Whether an HTTP request has this verb.
    pub fn takes(self, method: &Method) -> bool {
        match self {
            Self::Get => matches!(*method, Method::GET | Method::HEAD),
            Self::Post => *method == Method::POST,
        }
    }
}

/// How an answer is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapping {
    /// `{"statusCode":200,"data":…}`.
    Enveloped,
    /// As it is.
    Bare,
    /// As it is; missing objects are `{"ok":false,"error":"not_found",…}`.
    Flat,
    /// `{"error":null,"result":…}`.
    WithError,
}

/// Base paths of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// `/v4/api` and `/v4/<key>`.
    Api,
    /// `/v4` and `/v4/<key>`; the first segment of a path names the surface.
    BesideApi,
    /// `/v4/<key>`; the first segment of a path names the surface.
    Keyed,
    /// `/api/v1/<key>`.
    Apart,
    /// Below the paths of [`Self::Api`] and at `/`; no key is needed, and requests are not counted.
    Open,
}

impl Base {
    /// How many segments of a path name the surface, and are removed from the segments of the request.
    fn surface_segments(self) -> usize {
        match self {
            Self::Api | Self::Apart | Self::Open => 0,
            Self::BesideApi | Self::Keyed => 1,
        }
    }
}

/// When answers to GET change, which decides on `ETag` and 304.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// With the newest block.
    WithBlocks,
    /// With the newest block, and with the bitcoin price where this instance has one.
    WithPrices,
    /// With the newest block of a module, unless the server of that name answers ([`crate::Families`]). An error is never "unchanged", so
    /// that the answer is computed first.
    WithModule {
        /// The module.
        module: ModuleId,
        /// Name of the server.
        unless: &'static str,
    },
    /// At any time.
    Anytime,
}

/// How many records a page of a listing has.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    /// Default; `None` is all.
    pub default: Option<usize>,
    /// Maximum; larger values are capped.
    pub max: usize,
}

/// Paths with the verbs that they take.
pub type Paths = &'static [(Verb, &'static str)];
/// Fields with their other names.
pub type OtherNames = &'static [(&'static str, &'static [&'static str])];
/// Statuses with their descriptions.
pub type Statuses = &'static [(StatusCode, &'static str)];

/// A route: the struct of its members. Members that may be absent are `Option`; `null` counts as absent, and members that are no
/// field are ignored.
pub trait Route: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its verbs and paths. A segment in braces is the member of that name.
    const PATHS: Paths;
    /// Members of a request, as JSON.
    const EXAMPLE: &'static str = "{}";
    /// Other names of fields. Where several are given, they must agree.
    const OTHER_NAMES: OtherNames = &[];
    /// For a listing: `limit` or `count`, and `offset` or `page`.
    const PAGES: Option<Pages> = None;
    /// For a listing: a field that is the limit where neither `limit` nor `count` is given.
    const LIMIT_FIELD: Option<&'static str> = None;
    /// How the answer is wrapped.
    const WRAPPING: Wrapping = Wrapping::Enveloped;
    /// When the answer changes.
    const CHANGES: Changes = Changes::WithBlocks;
    /// Whether the requested object may not exist: 404.
    const MAY_BE_MISSING: bool = false;
    /// Fields of [`Wrapping::Flat`] routes with their own error word in `error`.
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = &[];
    /// Statuses of the answer with their descriptions; the first is set where the answer has none of its own.
    const STATUSES: Statuses = &[(StatusCode::OK, "The answer")];
    /// Media types of the answer; its schema is that of the first.
    const MEDIA_TYPES: &'static [&'static str] = &["application/json"];
    /// The field that receives the whole body, `None` where that is not UTF-8; other members are in the query.
    const WHOLE_BODY: Option<&'static str> = None;
    /// Largest body in bytes, where it may be larger than others.
    const BODY_BYTES_MAX: Option<usize> = None;
    /// Status for a member of a wrong type, where that differs from other errors.
    const TYPE_ERROR: Option<ErrorKind> = None;
    /// Statuses of refusals specific to the route.
    const REFUSALS: &'static [StatusCode] = &[];
    /// Its answer.
    type Answer: Answer + Send;

    /// Answers a request for a part of the listing; for a route without pages it is the whole.
    fn answer(
        self,
        context: &RequestContext,
        part: Part,
    ) -> impl Future<Output = Result<Self::Answer, ApiError>> + Send;
}

/// The type-erased declaration of a route.
pub struct Declared {
    paths: Paths,
    example: &'static str,
    other_names: OtherNames,
    pages: Option<Pages>,
    wrapping: Wrapping,
    changes: Changes,
    may_be_missing: bool,
    statuses: Statuses,
    media_types: &'static [&'static str],
    whole_body: Option<&'static str>,
    body_bytes_max: Option<usize>,
    refusals: &'static [StatusCode],
    fields: fn() -> Vec<&'static str>,
    members: fn(&mut SchemaGenerator) -> Schema,
    answer: fn(&mut SchemaGenerator) -> Schema,
    check: fn(RestBody) -> Result<(), ApiError>,
    run: for<'a> fn(&'a RequestContext, RestBody) -> BoxFuture<'a, RestResult>,
}

impl Declared {
    /// The declaration of a route.
    pub const fn of<R: Route>() -> Self {
        Self {
            paths: R::PATHS,
            example: R::EXAMPLE,
            other_names: R::OTHER_NAMES,
            pages: R::PAGES,
            wrapping: R::WRAPPING,
            changes: R::CHANGES,
            may_be_missing: R::MAY_BE_MISSING,
            statuses: R::STATUSES,
            media_types: R::MEDIA_TYPES,
            whole_body: R::WHOLE_BODY,
            body_bytes_max: R::BODY_BYTES_MAX,
            refusals: R::REFUSALS,
            fields: fields::<R>,
            members: R::json_schema,
            answer: |generator| generator.subschema_for::<<R::Answer as Answer>::Shape>(),
            check: |body| read::<R>(body).map(drop).map_err(Unread::into_error),
            run: run::<R>,
        }
    }

    /// Whether members may be in the query of a path.
    fn reads_query(&self, path: &str) -> bool {
        let is_in_query = |field: &&str| !self.is_in_path(field, path) && self.whole_body != Some(*field);
        self.pages.is_some() || (self.fields)().iter().any(is_in_query)
    }

    /// Whether a path has a field, under any of its names.
    fn is_in_path(&self, field: &str, path: &str) -> bool {
        placeholders(path).any(|name| name == field || self.others_of(field).contains(&name))
    }

    fn others_of(&self, field: &str) -> &'static [&'static str] {
        self.other_names.iter().find(|(name, _)| *name == field).map_or(&[], |(_, others)| *others)
    }
}

/// The names in braces.
fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// The routes of a tag.
pub struct Group {
    /// The tag of the routes in the OpenAPI document.
    pub tag: &'static str,
    /// The base paths of the routes.
    pub base: Base,
    /// Refuses where the instance cannot answer, before members are read.
    pub admit: fn(&RequestContext) -> Result<(), ApiError>,
    /// Its routes.
    pub routes: &'static [Declared],
}

/// A route with one of its paths and the verb of that path.
#[derive(Clone, Copy)]
pub struct Endpoint {
    group: &'static Group,
    route: &'static Declared,
    /// Its verb.
    pub verb: Verb,
    /// Its path, with placeholders.
    pub path: &'static str,
}

impl Group {
    /// Every path with its verb.
    pub fn paths(&'static self) -> impl Iterator<Item = Endpoint> {
        self.routes.iter().flat_map(move |route| {
            route.paths.iter().map(move |&(verb, path)| Endpoint { group: self, route, verb, path })
        })
    }
}

impl Group {
    /// Checks of all declarations of the group; returns the first finding.
    pub fn finding(&'static self) -> Option<String> {
        let mut generators = crate::methods::generators();
        for endpoint in self.paths() {
            let (route, path) = (endpoint.route, endpoint.path);
            let whole = route.whole_body.map(|field| json!({ field: route.example }).to_string());
            let example = RestBody::parse(whole.as_deref().unwrap_or(route.example).as_bytes(), 8);
            if let Err(error) = example.and_then(route.check) {
                return Some(format!("{path}: its example is refused: {}", error.message));
            }
            let members = (route.members)(generators.read());
            if members.get("description").is_none() {
                return Some(format!("{path} has no doc comment"));
            }
            for field in (route.fields)() {
                let schema = members.get("properties").and_then(|all| all.get(field));
                let has = |name: &str| schema.is_some_and(|schema| schema.get(name).is_some());
                if !has("description") && !has("$ref") {
                    return Some(format!("{path}: {field} has no doc comment"));
                }
            }
            let is_field = |name: &&str| (route.fields)().contains(name);
            if let Some((unknown, _)) = route.other_names.iter().find(|(name, _)| !is_field(name)) {
                return Some(format!("{path}: {unknown} is no field"));
            }
            let is_field = |name: &&str| (route.fields)().iter().any(|field| route.is_in_path(field, name));
            if let Some(name) = placeholders(path).find(|name| !is_field(&&*format!("{{{name}}}"))) {
                return Some(format!("{path}: {name} is no field"));
            }
        }
        None
    }
}

impl Endpoint {
    /// Largest body of a request in bytes, where it may be larger than others.
    pub fn body_bytes_max(self) -> Option<usize> {
        self.route.body_bytes_max
    }

    /// The path, as segments of the request.
    fn segments(self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').skip(self.group.base.surface_segments())
    }

    /// Answers with the members of the body, or of the query.
    ///
    /// # Errors
    /// Those of the route.
    pub async fn answer(
        self,
        context: &RequestContext,
        headers: &HeaderMap,
        query: Option<&str>,
        body: Bytes,
    ) -> RestResult {
        (self.group.admit)(context)?;
        let mut members = self.members(query, body, context.limits().json_depth_max)?;
        let shared = context.shared();
        let validator = match self.route.changes {
            Changes::WithModule { module, unless } if shared.families.of(unless).is_none() => {
                Some(Validator::of(context, &[module]))
            }
            Changes::WithBlocks => Some(Validator::new(context)),
            Changes::WithPrices if shared.prices.is_none() => Some(Validator::new(context)),
            _ => None,
        };
        let validator =
            validator.filter(|_| self.verb == Verb::Get).map(|tag| tag.ok_or_else(ApiError::starting)).transpose()?;
        let unchanged = validator.as_ref().and_then(|validator| validator.unchanged(headers));
        let is_answered_first = matches!(self.route.changes, Changes::WithModule { .. });
        let unchanged = match unchanged {
            Some(unchanged) if !is_answered_first => return Ok(unchanged),
            unchanged => unchanged,
        };
        for (wanted, given) in self.segments().zip(context.segments()) {
            if let Some(name) = wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                members.insert(name, Value::String(given.clone()));
            }
        }
        let reply = (self.route.run)(context, members).await?;
        Ok(match (unchanged, validator) {
            (Some(unchanged), _) => unchanged,
            (None, Some(validator)) => validator.mark(reply),
            (None, None) => reply,
        })
    }

    /// The members of a request. A query that the route does not read is ignored.
    fn members(self, query: Option<&str>, body: Bytes, depth_max: usize) -> Result<RestBody, ApiError> {
        let in_query = || RestBody::of_query(query.filter(|_| self.route.reads_query(self.path)));
        match (self.verb, self.route.whole_body) {
            (Verb::Get, _) => in_query(),
            (Verb::Post, None) => RestBody::parse(&body, depth_max),
            (Verb::Post, Some(field)) => {
                let mut members = in_query()?;
                members.insert(field, String::from_utf8(body.into()).map_or(Value::Null, Value::String));
                Ok(members)
            }
        }
    }
}

/// Why the members of a request are invalid.
enum Unread {
    /// In the route's own form.
    Field {
        error: ApiError,
        field: String,
    },
    Other(ApiError),
}

impl Unread {
    fn into_error(self) -> ApiError {
        match self {
            Self::Field { error, .. } | Self::Other(error) => error,
        }
    }
}

impl From<ApiError> for Unread {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

/// Reads the members of a request, under any of their names.
fn read<R: Route>(mut body: RestBody) -> Result<(R, Part), Unread> {
    let part = match R::PAGES {
        Some(pages) => {
            let named = R::LIMIT_FIELD.map_or(Ok(None), |field| body.positive(field, pages.max))?;
            Part::read(&body, named.or(pages.default), pages.max)?
        }
        None => Part { offset: 0, limit: None },
    };
    let mut given_names = Vec::new();
    for (field, others) in R::OTHER_NAMES {
        let given = body.unify(field, others).map_err(|error| Unread::Field { error, field: (*field).to_owned() })?;
        given_names.extend(given.map(|given| (*field, given)));
    }
    read_members(body.into_members()).map(|route| (route, part)).map_err(|error| {
        let field = error.field().to_owned();
        let mut refused = in_given_words::<R>(&error, &given_names);
        if let Some(kind) = R::TYPE_ERROR.filter(|_| error.is_of_type()) {
            refused.kind = kind;
        }
        Unread::Field { error: refused, field }
    })
}

/// Reads the text of a body.
///
/// # Errors
/// 400: a member is missing or invalid.
pub fn read_text<R: Route>(body: &str) -> Result<R, ApiError> {
    read(RestBody::parse(body.as_bytes(), 8)?).map(|(route, _)| route).map_err(Unread::into_error)
}

/// The error about a member, under the name that the request used.
fn in_given_words<R: Route>(error: &ParamError, given_names: &[(&str, &str)]) -> ApiError {
    let field = error.field();
    let others = R::OTHER_NAMES.iter().find(|(name, _)| *name == field).map(|(_, others)| *others);
    match (others, given_names.iter().find(|(name, _)| *name == field)) {
        (Some(others), None) if error.is_missing() => ApiError::missing(&[&[field], others].concat()),
        (_, Some((_, given))) => {
            let sentence = error.to_string();
            ApiError::invalid(format!("{given}{}", sentence.strip_prefix(field).unwrap_or(&sentence)))
        }
        _ => ApiError::invalid(error.to_string()),
    }
}

fn run<R: Route>(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    let (route, part) = match read::<R>(body) {
        Ok(read) => read,
        Err(Unread::Field { error, field }) if R::WRAPPING == Wrapping::Flat => {
            let word = R::FIELD_ERRORS.iter().find(|(name, _)| *name == field).map(|(_, word)| *word);
            return Box::pin(ready(word.map_or_else(|| Err(error.clone()), |word| Ok(flat_error(&error, word)))));
        }
        Err(unread) => return Box::pin(ready(Err(unread.into_error()))),
    };
    Box::pin(async move {
        match (route.answer(context, part).await, R::WRAPPING) {
            (Ok(answer), wrapping) => {
                let status = R::STATUSES.first().map_or(StatusCode::OK, |(status, _)| *status);
                answer.into_reply(status, wrapping)
            }
            (Err(error), Wrapping::Flat) if error.kind.status == StatusCode::NOT_FOUND => {
                Ok(flat_error(&error, "not_found"))
            }
            (Err(error), _) => Err(error),
        }
    })
}

/// An error of the routes without envelope: the error word that their clients read, and our own members.
fn flat_error(error: &ApiError, word: &str) -> Reply {
    let body = json!({
        "ok": false,
        "error": word,
        "hint": error.message,
        "statusCode": error.kind.status.as_u16(),
        "code": error.kind.name,
    });
    Reply::json(error.kind.status, body.to_string())
}
