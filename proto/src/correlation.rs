//! `correlationId`: the client's own id of a request, a member of the parameters of every method. It
//! stands on every line of the log about the request and in the answer's envelope, and shapes nothing.

use crate::error::{ErrorCode, ErrorObject};
use crate::limits::CORRELATION_ID_BYTES_MAX;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The name of the member.
pub const MEMBER: &str = "correlationId";

/// Takes the id out of the parameters of a request.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for an id that is not 1 to 64 of the characters `A-Z a-z 0-9 - _ . :`.
pub fn split(params: &str) -> Result<(Option<String>, Cow<'_, str>), ErrorObject> {
    if !params.contains(MEMBER) {
        return Ok((None, Cow::Borrowed(params)));
    }
    // Anything but an object is refused where the method reads its parameters.
    let Ok(mut members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(params) else {
        return Ok((None, Cow::Borrowed(params)));
    };
    let Some(given) = members.remove(MEMBER) else { return Ok((None, Cow::Borrowed(params))) };
    let id: Option<String> = serde_json::from_str(given.get()).map_err(|_| refused())?;
    if !id.as_deref().is_none_or(is_valid) {
        return Err(refused());
    }
    let rest = serde_json::to_string(&members)
        .map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("the parameters: {e}")))?;
    Ok((id, Cow::Owned(rest)))
}

/// Whether an id may stand in a log.
pub fn is_valid(id: &str) -> bool {
    let is_plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
    is_plain && (1..=CORRELATION_ID_BYTES_MAX).contains(&id.len())
}

/// The error for an id that may not.
pub fn refused() -> ErrorObject {
    let message =
        format!("{MEMBER} must be 1 to {CORRELATION_ID_BYTES_MAX} of the characters A-Z a-z 0-9 - _ . :");
    ErrorObject::new(ErrorCode::InvalidRequest, message).with_hint("leave it out, and one is made")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_taken_out_and_the_rest_is_left() {
        let check = |params: &str, id: Option<&str>, rest: &str| {
            let (found, left) = split(params).unwrap();
            assert_eq!((found.as_deref(), &*left), (id, rest), "{params}");
        };
        check(r#"{"query":"x"}"#, None, r#"{"query":"x"}"#);
        check(r#"{"correlationId":"a:1","n":1.50}"#, Some("a:1"), r#"{"n":1.50}"#);
        check(r#"{"correlationId":null}"#, None, "{}");
        // A text that only speaks of it is left as it is.
        check(r#"{"query":"correlationId"}"#, None, r#"{"query":"correlationId"}"#);
        check(r#"["correlationId"]"#, None, r#"["correlationId"]"#);
        for id in [r#""""#.to_owned(), r#""a b""#.to_owned(), "7".to_owned(), format!("{:?}", "x".repeat(65))]
        {
            let error = split(&format!(r#"{{"correlationId":{id}}}"#)).unwrap_err();
            assert_eq!(error.data.code, ErrorCode::InvalidRequest, "{id}");
        }
    }
}
