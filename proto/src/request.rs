//! `pack` and `preview`: what is asked. A query is enough; everything else has a default.

use crate::answer::answer;
use crate::overlay::Overlay;
use crate::workspace::{Envelope, Wait};
use indexd_api::JsonSchema;
use indexd_api::PackError;
use indexd_api::params;
pub use indexd_api::request::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Parameters of `pack` and `preview`: the options of one call, beside the members of a
/// [`Request`], which alone shape the pack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Members")]
#[schemars(!try_from)]
pub struct PackParams {
    /// The options of this call.
    #[serde(flatten)]
    pub call: CallOptions,
    /// The request. An unknown member or value is `POC_E_NOT_SUPPORTED`.
    #[serde(flatten)]
    pub request: Request,
}

/// The same as it arrives: what is not an option of the call is of the request, which refuses what it does
/// not know.
#[derive(Deserialize)]
struct Members {
    #[serde(flatten)]
    call: CallOptions,
    #[serde(flatten)]
    request: Map<String, Value>,
}

impl TryFrom<Members> for PackParams {
    type Error = serde_json::Error;

    fn try_from(members: Members) -> Result<Self, Self::Error> {
        Ok(Self { call: members.call, request: serde_json::from_value(Value::Object(members.request))? })
    }
}

impl PackParams {
    /// The parameters in a JSON object of both kinds of members.
    ///
    /// # Errors
    /// As [`Request::from_json`].
    pub fn from_json(members: Value) -> Result<Self, PackError> {
        let members: Members = serde_json::from_value(members)
            .map_err(|e| PackError::InvalidRequest { detail: e.to_string() })?;
        Ok(Self { call: members.call, request: Request::from_json(Value::Object(members.request))? })
    }
}

/// What concerns one call and not its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CallOptions {
    /// The root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// A folder inside the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the answer requires of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Unsaved texts to answer with, as if they were saved. At most 32, of 4 MiB together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// Whether to send `$/progress`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Whether the text that was budgeted stands beside the pack, as `rendered`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rendered: bool,
    /// Whether the pack stands beside itself as a page to look at, one HTML document, as `page`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub page: bool,
    /// Assembles afresh even when an equal pack is cached.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_cache: bool,
    /// The client's own defaults: limits that hold where neither the request nor the configuration
    /// names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_budgets: Option<BudgetsRequest>,
    /// Keeps a record of the pack, to be read again by its id with `pack.get`. Not beside `overlays`, of
    /// which nothing is stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub write: bool,
}

/// Answer to `pack`, as written by the daemon: the pack is passed on as the engine wrote it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PackResult<'a> {
    /// The pack.
    #[serde(borrow)]
    #[schemars(with = "crate::pack::Pack")]
    pub pack: &'a RawValue,
    /// What is known beside it.
    pub envelope: Envelope,
    /// The text that was budgeted, when asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Cow<'a, str>>,
    /// The page, when asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Cow<'a, str>>,
}

params! {
    /// `pack.get`: reads a record that was kept with `write`.
    PackGetParams {
        repo, cwd,
        /// The pack's id.
        pack_id: String,
    }
}

/// Answer to `pack.get`: the record's bytes as they were written.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PackGetResult<'a> {
    /// The pack.
    #[serde(borrow)]
    #[schemars(with = "crate::pack::Pack")]
    pub pack: &'a RawValue,
}

answer! {
    /// Answer to `preview`: what a pack would hold, without its text.
    PreviewResult("PreviewResult", envelope) {
        /// What would be included, in rank order.
        preview: Value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_of_the_call_are_taken_out_of_the_request() {
        let params: PackParams = serde_json::from_value(json!({
            "cwd": "/r", "query": "x", "noCache": true, "wait": {"mode": "strict"}, "budgets": {"maxItems": 3},
        }))
        .unwrap();
        assert_eq!(params.call.cwd.as_deref(), Some("/r"));
        assert!(params.call.no_cache);
        assert_eq!(
            serde_json::to_value(params.request).unwrap(),
            json!({"query": "x", "budgets": {"maxItems": 3}})
        );
        let unknown = serde_json::from_value::<PackParams>(json!({"query": "x", "colour": 1})).unwrap_err();
        assert!(unknown.to_string().starts_with("unknown field `colour`"), "{unknown}");
    }

    #[test]
    fn a_typed_request_writes_only_what_is_set() {
        let request = Request { query: "x".into(), layout: Some(Layout::Agent), ..Request::default() };
        assert_eq!(serde_json::to_value(request).unwrap(), json!({"query": "x", "layout": "agent"}));
    }
}
