//! JSON-RPC 2.0 envelopes: what stands around the parameters and results of every method.

use crate::error::{ErrorCode, ErrorObject};
use crate::workspace::Phase;
use crate::{PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use indexd_api::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The id of a request: a whole number or a string, chosen by the client, unique among its
/// requests in flight.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A string.
    String(String),
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::String(s) => f.write_str(s),
        }
    }
}

#[derive(Deserialize)]
struct RawIncoming<'a> {
    #[serde(default, borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default)]
    v: Option<u32>,
}

/// A member that is there, be it `null`: whoever sends that as an id waits for an answer.
fn present<'de, D: serde::Deserializer<'de>>(member: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(member).map(Some)
}

/// A message to the daemon.
#[derive(Clone, Debug)]
pub struct Incoming<'a> {
    /// `None` for notifications.
    pub id: Option<Id>,
    /// The method's name as sent.
    pub method: Cow<'a, str>,
    /// The parameters as sent; `{}` when absent.
    pub params: &'a str,
}

impl<'a> Incoming<'a> {
    /// Reads one line.
    ///
    /// # Errors
    /// The error to answer with, beside the id if there was a usable one: `POC_E_PARSE` for what
    /// is no JSON, `POC_E_INVALID_REQUEST` for what is no request, `POC_E_CONTRACT_VERSION` for a
    /// `v` that is not spoken.
    pub fn parse(line: &'a [u8]) -> Result<Self, (Option<Id>, ErrorObject)> {
        let raw = RawIncoming::parse(line).map_err(|e| (None, e))?;
        let id = raw.id.map(|id| serde_json::from_str(id.get())).transpose();
        let id: Option<Id> = id.map_err(|_| (None, invalid("id must be a whole number or a string")))?;
        match raw.call() {
            Ok((method, params)) => Ok(Self { id, method, params }),
            Err(e) => Err((id, e)),
        }
    }
}

impl<'a> RawIncoming<'a> {
    fn parse(line: &'a [u8]) -> Result<Self, ErrorObject> {
        let text = std::str::from_utf8(line).map_err(|e| {
            let message = format!("the line is not UTF-8 at byte {}", e.valid_up_to());
            ErrorObject::new(ErrorCode::Parse, message)
        })?;
        if text.trim_start().starts_with('[') {
            let hint = "send one object a line; answers come by id in any order";
            return Err(invalid("batches are not served").with_hint(hint));
        }
        serde_json::from_str(text).map_err(|e| unreadable(text, &e))
    }

    /// The method and its parameters.
    fn call(self) -> Result<(Cow<'a, str>, &'a str), ErrorObject> {
        if self.jsonrpc.is_some_and(|v| v != "2.0") {
            return Err(invalid("jsonrpc must be \"2.0\""));
        }
        if let Some(v) = self.v
            && !(PROTOCOL_VERSION_MIN..=PROTOCOL_VERSION).contains(&v)
        {
            return Err(unknown_version(v, v));
        }
        let method = self.method.ok_or_else(|| invalid("method is missing"))?;
        match self.params.map_or("{}", RawValue::get) {
            params if params.starts_with('{') => Ok((method, params)),
            _ => Err(ErrorObject::invalid("params must be an object")),
        }
    }
}

/// The error for a client that speaks versions `min` to `max` only.
pub fn unknown_version(min: u32, max: u32) -> ErrorObject {
    let asked = if min == max { format!("{min}") } else { format!("{min} to {max}") };
    ErrorObject::new(
        ErrorCode::ContractVersion,
        format!("protocol {asked} is not spoken here, only {PROTOCOL_VERSION_MIN} to {PROTOCOL_VERSION}"),
    )
    .with_details(serde_json::json!({"supported": {"min": PROTOCOL_VERSION_MIN, "max": PROTOCOL_VERSION}}))
}

/// An envelope that is no request: the standard's -32600.
fn invalid(message: &str) -> ErrorObject {
    ErrorObject::invalid(message).with_number(-32600)
}

fn unreadable(text: &str, e: &serde_json::Error) -> ErrorObject {
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        invalid("the line is JSON and no request object")
    } else {
        ErrorObject::new(ErrorCode::Parse, format!("the line is not JSON at column {}", e.column()))
    }
}

#[derive(Serialize)]
struct OutgoingRequest<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    method: &'a str,
    params: P,
}

/// Writes a request (or, without an id, a notification) without its line end.
pub fn request<P: Serialize>(id: Option<Id>, method: &str, params: P) -> Vec<u8> {
    to_vec(&OutgoingRequest { jsonrpc: "2.0", id, method, params })
}

#[derive(Serialize)]
struct OutgoingResult<'a, R> {
    jsonrpc: &'static str,
    id: &'a Id,
    result: R,
}

/// Writes an answer without its line end.
pub fn result<R: Serialize>(id: &Id, result: R) -> Vec<u8> {
    to_vec(&OutgoingResult { jsonrpc: "2.0", id, result })
}

#[derive(Serialize)]
struct OutgoingError<'a> {
    jsonrpc: &'static str,
    /// `null` when the request's id could not be read.
    id: Option<&'a Id>,
    error: &'a ErrorObject,
}

/// Writes an error answer without its line end.
pub fn error(id: Option<&Id>, error: &ErrorObject) -> Vec<u8> {
    to_vec(&OutgoingError { jsonrpc: "2.0", id, error })
}

fn to_vec<T: Serialize>(message: &T) -> Vec<u8> {
    // The wire types hold no map with keys that are no strings and no failing serializer.
    serde_json::to_vec(message).expect("wire types always serialise")
}

/// A message from the daemon, its result left as it came.
#[derive(Debug, Deserialize)]
pub struct Outgoing<'a> {
    /// The request that is answered; absent in notifications, null when it could not be read.
    #[serde(default)]
    pub id: Option<Id>,
    /// The name of a notification.
    #[serde(default, borrow)]
    pub method: Option<Cow<'a, str>>,
    /// The parameters of a notification.
    #[serde(default, borrow)]
    pub params: Option<&'a RawValue>,
    /// The answer.
    #[serde(default, borrow)]
    pub result: Option<&'a RawValue>,
    /// Or why there is none.
    #[serde(default)]
    pub error: Option<ErrorObject>,
}

impl<'a> Outgoing<'a> {
    /// Reads one line.
    ///
    /// # Errors
    /// `POC_E_PARSE` when the other side speaks something else.
    pub fn parse(line: &'a [u8]) -> Result<Self, ErrorObject> {
        serde_json::from_slice(line).map_err(|e| {
            ErrorObject::new(ErrorCode::Parse, format!("the daemon's answer is no message: {e}"))
        })
    }
}

/// `$/progress`: how far the work behind a request has come. Sent only to requests that ask with
/// `progress: true`, at most ten times a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressParams {
    /// The request.
    pub id: Id,
    /// The phase.
    pub phase: Phase,
    /// Units done.
    pub done: u64,
    /// Units in all; 0 when not known yet.
    pub total: u64,
}

/// `$/chunk`: a piece of a long text answer. The pieces of one request come in order, the answer
/// after the last of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChunkParams {
    /// The request.
    pub id: Id,
    /// Counts from 0.
    pub seq: u64,
    /// The text, whole lines.
    pub text: String,
}

/// `$/cancelRequest`: the client no longer wants the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelParams {
    /// The request.
    pub id: Id,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (i32, &'static str, Option<Id>) {
        let (id, e) = Incoming::parse(line.as_bytes()).expect_err(line);
        (e.code, e.data.code.name(), id)
    }

    #[test]
    fn reads_requests_and_notifications() {
        let it = Incoming::parse(br#"{"jsonrpc":"2.0","id":7,"method":"pack","params":{"query":"x"},"v":1}"#)
            .unwrap();
        assert_eq!((it.id, &*it.method, it.params), (Some(Id::Number(7)), "pack", r#"{"query":"x"}"#));
        let it = Incoming::parse(br#"{"method":"$/cancelRequest","params":{"id":"a"}}"#).unwrap();
        assert_eq!((it.id, it.params), (None, r#"{"id":"a"}"#));
        let it = Incoming::parse(br#"{"id":"\u0061","method":"p\u0061ck"}"#).unwrap();
        assert_eq!((it.id, &*it.method, it.params), (Some(Id::String("a".into())), "pack", "{}"));
    }

    #[test]
    fn says_what_is_wrong_with_a_line() {
        for (line, expect) in [
            ("{nope", (-32700, "POC_E_PARSE", None)),
            ("hello", (-32700, "POC_E_PARSE", None)),
            ("7", (-32600, "POC_E_INVALID_REQUEST", None)),
            ("[]", (-32600, "POC_E_INVALID_REQUEST", None)),
            ("{}", (-32600, "POC_E_INVALID_REQUEST", None)),
            (r#"{"id":1.5,"method":"x"}"#, (-32600, "POC_E_INVALID_REQUEST", None)),
            (r#"{"id":1}"#, (-32600, "POC_E_INVALID_REQUEST", Some(Id::Number(1)))),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#,
                (-32600, "POC_E_INVALID_REQUEST", Some(Id::Number(1))),
            ),
            (r#"{"id":1,"method":"x","params":[1]}"#, (-32602, "POC_E_INVALID_REQUEST", Some(Id::Number(1)))),
            (r#"{"id":1,"method":"x","v":9}"#, (-32001, "POC_E_CONTRACT_VERSION", Some(Id::Number(1)))),
        ] {
            assert_eq!(code(line), expect, "{line}");
        }
        assert_eq!(Incoming::parse(b"{\"id\":\"\xff\"}").unwrap_err().1.data.code, ErrorCode::Parse);
    }

    #[test]
    fn an_answer_passes_its_result_through() {
        let bytes = result(&Id::Number(1), RawValue::from_string("{\"b\": 1.50,\"a\":2}".into()).unwrap());
        let answer = Outgoing::parse(&bytes).unwrap();
        assert_eq!(answer.result.unwrap().get(), "{\"b\": 1.50,\"a\":2}");
        assert!(answer.error.is_none() && answer.method.is_none());
        let bytes = error(None, &ErrorObject::new(ErrorCode::Parse, "x"));
        assert!(bytes.starts_with(br#"{"jsonrpc":"2.0","id":null,"error""#));
    }
}
