//! `correlationId`: the client's own id of a request, a member of the parameters of every method. It
//! stands on every line of the log about the request and in the answer's envelope, and shapes nothing.

use crate::error::{ErrorCode, ErrorObject};
use crate::limits::CORRELATION_ID_BYTES_MAX;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parameters of any method beside the member that all of them may have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Correlated<P> {
    /// The client's own id for its logs and ours: 1 to 64 of the characters `A-Z a-z 0-9 - _ . :`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<CorrelationId>,
    /// The parameters of the method.
    #[serde(flatten)]
    pub params: P,
}

/// A name for a request that may stand in a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct CorrelationId(String);

impl CorrelationId {
    /// Takes the id out of the parameters of a request.
    ///
    /// # Errors
    /// `POC_E_INVALID_REQUEST` for an id that is not 1 to 64 of the characters `A-Z a-z 0-9 - _ . :`.
    pub fn take(params: &mut Value) -> Result<Option<Self>, ErrorObject> {
        let given = params.as_object_mut().and_then(|members| members.remove("correlationId"));
        given.map_or(Ok(None), serde_json::from_value).map_err(|_| refused())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CorrelationId {
    type Error = ErrorObject;

    fn try_from(id: String) -> Result<Self, ErrorObject> {
        let is_plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
        let is_valid = is_plain && (1..=CORRELATION_ID_BYTES_MAX).contains(&id.len());
        if is_valid { Ok(Self(id)) } else { Err(refused()) }
    }
}

/// The error for an id that may not.
fn refused() -> ErrorObject {
    let message = format!(
        "correlationId must be 1 to {CORRELATION_ID_BYTES_MAX} of the characters A-Z a-z 0-9 - _ . :"
    );
    ErrorObject::new(ErrorCode::InvalidRequest, message).with_hint("leave it out, and one is made")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_id_is_taken_out_and_the_rest_is_left() {
        let check = |mut params: Value, id: Option<&str>, rest: Value| {
            let found = CorrelationId::take(&mut params).unwrap();
            assert_eq!((found.as_ref().map(CorrelationId::as_str), params), (id, rest));
        };
        check(json!({"query": "correlationId"}), None, json!({"query": "correlationId"}));
        check(json!({"correlationId": "a:1", "n": 1.5}), Some("a:1"), json!({"n": 1.5}));
        check(json!({"correlationId": null}), None, json!({}));
        check(json!(["correlationId"]), None, json!(["correlationId"]));
        for id in [json!(""), json!("a b"), json!(7), json!("x".repeat(65))] {
            let error = CorrelationId::take(&mut json!({"correlationId": id})).unwrap_err();
            assert_eq!(error.data.code, ErrorCode::InvalidRequest, "{id}");
        }
    }
}
