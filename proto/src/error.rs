//! The error object of an answer.

pub use indexd_api::error::ErrorCode;
use indexd_api::{JsonSchema, PackError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The `error` member of an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message} ({})", .data.code.name())]
pub struct ErrorObject {
    /// [`ErrorCode::number`]; two codes may share a standard number, `data.code` tells them apart.
    pub code: i32,
    /// What failed: lower case, no full stop, no content of files.
    pub message: String,
    /// The rest.
    pub data: Box<ErrorData>,
}

/// The `data` member of an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// The stable code.
    pub code: ErrorCode,
    /// The same failure in other contracts.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What to do next.
    pub hint: String,
    /// The exit status a command line should end with.
    pub exit: u8,
    /// Milliseconds after which another try makes sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Facts for programs, by code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl ErrorObject {
    /// An error with the code's own hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code: code.number(),
            message: message.into(),
            data: Box::new(ErrorData {
                code,
                aliases: code.aliases().iter().map(|a| (*a).to_owned()).collect(),
                hint: code.hint().to_owned(),
                exit: code.exit(),
                retry_after_ms: None,
                details: None,
            }),
        }
    }

    /// The error of a request that is wrong in itself.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// Replaces the number, where the standard has a better one than the code's own.
    #[must_use]
    pub fn with_number(mut self, number: i32) -> Self {
        self.code = number;
        self
    }

    /// Replaces the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.data.hint = hint.into();
        self
    }

    /// Says when another try makes sense.
    #[must_use]
    pub fn with_retry_after_ms(mut self, ms: u64) -> Self {
        self.data.retry_after_ms = Some(ms);
        self
    }

    /// Adds facts for programs.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.data.details = Some(details);
        self
    }
}

impl From<PackError> for ErrorObject {
    /// Makes the error of an answer without a pack.
    fn from(e: PackError) -> Self {
        let object = Self::new(e.code(), e.to_string());
        match e {
            PackError::IndexMissing { asked, held } => {
                object.with_details(serde_json::json!({"asked": asked, "indexSignature": held}))
            }
            _ => object,
        }
    }
}

/// The member `failure` in the details of the error for a folder that does not look like a project; beside
/// it, `root` is the folder.
pub const UNMARKED: &str = "unmarked";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crosses_the_wire_unchanged() {
        let error = ErrorObject::new(ErrorCode::Busy, "64 requests are waiting").with_retry_after_ms(50);
        let json = serde_json::to_string(&error).unwrap();
        assert!(json.contains(r#""code":"POC_E_BUSY""#) && json.contains(r#""retryAfterMs":50"#), "{json}");
        assert_eq!(serde_json::from_str::<ErrorObject>(&json).unwrap(), error);
    }
}
