//! Error codes and the error object. Codes are never renamed, renumbered or reused; the list is
//! pinned by `codes.golden` beside this file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $number:literal, $name:literal, $aliases:expr, exit $exit:literal, $hint:literal;)*) => {
        /// What went wrong, as a closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The number in JSON-RPC's `error.code`: the standard's where it has one, else from
            /// its range for implementations.
            pub fn number(self) -> i32 {
                match self { $(Self::$variant => $number,)* }
            }

            /// Names of the same failure in other contracts.
            pub fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $aliases,)* }
            }

            /// The exit status of `ctl`.
            pub fn exit(self) -> u8 {
                match self { $(Self::$variant => $exit,)* }
            }

            /// What to do next when the failure itself knows nothing better.
            pub fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            /// What the code means.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)* }
            }
        }
    };
}

codes! {
    /// No index for the workspace, or the pinned signature is no longer held.
    IndexMissing = -32000, "POC_E_INDEX_MISSING", &[], exit 66, "build it with `ctl index --repo DIR --wait`, or leave the signature out";
    /// Unknown version of the protocol or of a schema.
    ContractVersion = -32001, "POC_E_CONTRACT_VERSION", &[], exit 65, "install `ctl` and `indexd` of the same release and run `ctl daemon stop`";
    /// A limit that cannot be met, or that lies above a hard cap in strict mode.
    BudgetExceeded = -32002, "POC_E_BUDGET_EXCEEDED", &["ACODE-CTX-003"], exit 65, "ask for less, or leave strict mode";
    /// An option value or a provider that does not exist here.
    NotSupported = -32003, "POC_E_NOT_SUPPORTED", &[], exit 2, "see the allowed values in `ctl pack --help`";
    /// Assembling the pack failed.
    PackingFailed = -32004, "ACODE-CTX-001", &[], exit 70, "run again; if it stays, report it with the log named by `ctl status`";
    /// Counting tokens failed.
    TokenCount = -32005, "ACODE-CTX-002", &[], exit 70, "choose another tokenizer: o200k_base, cl100k_base or generic";
    /// Nothing to return. A warning beside an empty pack; an error only where there is no pack.
    NoContent = -32006, "ACODE-CTX-004", &[], exit 1, "try other words, or a symbol or file name";
    /// The request is not one: a field is missing, unknown, of the wrong type or out of range.
    InvalidRequest = -32602, "POC_E_INVALID_REQUEST", &[], exit 2, "compare with the examples in PROTOCOL.md";
    /// Every search provider failed.
    SearchUnavailable = -32007, "POC_E_SEARCH_UNAVAILABLE", &["ACODE-CTX-004"], exit 69, "build the index with `ctl index --wait`";
    /// The request was cancelled by its client.
    Cancelled = -32008, "POC_E_CANCELLED", &[], exit 130, "send it again if it is still wanted";
    /// No record of a pack with this id.
    PackNotFound = -32009, "POC_E_PACK_NOT_FOUND", &[], exit 66, "`ctl pack --write` keeps one; elsewhere, name its repository with --repo";
    /// No definition of this name in the index.
    SymbolNotFound = -32010, "POC_E_SYMBOL_NOT_FOUND", &[], exit 66, "search for it with `ctl symbol NAME`";
    /// No such folder, or a folder that cannot be a workspace.
    WorkspaceInvalid = -32011, "POC_E_WORKSPACE_INVALID", &[], exit 66, "name an existing folder with --repo DIR";
    /// The operating system refuses access.
    PermissionDenied = -32012, "POC_E_PERMISSION_DENIED", &[], exit 77, "check the owner and the mode of the path";
    /// Too many requests at once.
    Busy = -32013, "POC_E_BUSY", &[], exit 75, "try again in a moment";
    /// The first build is not complete and the request does not wait for it.
    Indexing = -32014, "POC_E_INDEXING", &[], exit 75, "try again later, or wait with --wait";
    /// The disk is full or a file cannot be written or read.
    Storage = -32015, "POC_E_STORAGE", &[], exit 74, "free some space; the index is rebuilt from the tree by itself";
    /// A file or folder cannot be created.
    CannotCreate = -32016, "POC_E_CANNOT_CREATE", &[], exit 73, "check the folder named in the message";
    /// A configuration file cannot be read or holds a wrong value.
    Config = -32017, "POC_E_CONFIG", &[], exit 78, "correct what the message names, or take it away";
    /// The daemon cannot be reached or started.
    DaemonUnavailable = -32018, "POC_E_DAEMON_UNAVAILABLE", &[], exit 69, "run `ctl doctor`";
    /// The daemon is stopping and takes no new requests.
    ShuttingDown = -32019, "POC_E_SHUTTING_DOWN", &[], exit 75, "connect again: a new daemon starts by itself";
    /// A file to import is not there, is no index, or says nothing about the files of the workspace.
    ImportInvalid = -32602, "POC_E_IMPORT_INVALID", &[], exit 65, "make the index again with its indexer, in the root of the workspace";
    /// The line is not JSON.
    Parse = -32700, "POC_E_PARSE", &[], exit 65, "send one JSON object a line, UTF-8, without line ends inside";
    /// The line is longer than the limit.
    FrameTooLong = -32600, "POC_E_FRAME_TOO_LONG", &[], exit 65, "a line holds at most 16 MiB: send a shorter one";
    /// There is no such method.
    MethodNotFound = -32601, "POC_E_METHOD_NOT_FOUND", &[], exit 65, "`hello` lists the methods";
    /// The rendered text came out above the budget: a fault; nothing is returned.
    ContextOverflow = -32603, "ACODE-CTX-003", &["POC_E_BUDGET_EXCEEDED"], exit 70, "please report it with the request";
    /// A fault of the daemon; the request is lost, the daemon goes on.
    Internal = -32603, "POC_E_INTERNAL", &[], exit 70, "please report it with the log named by `ctl status`";
}

impl ErrorCode {
    /// The code with this name or alias.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }
}

/// The `error` member of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

impl std::fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.data.code.name())
    }
}

impl std::error::Error for ErrorObject {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_pinned() {
        let mut list = String::new();
        for c in ErrorCode::ALL {
            list +=
                &format!("{} {} exit={} aliases={}\n", c.name(), c.number(), c.exit(), c.aliases().join(","));
        }
        assert_eq!(
            list,
            include_str!("codes.golden"),
            "codes are never renamed, renumbered or reused; append new ones"
        );
    }

    #[test]
    fn names_are_unique_and_numbers_lie_in_the_ranges_of_the_standard() {
        let names: BTreeSet<_> = ErrorCode::ALL.iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        for c in ErrorCode::ALL {
            let n = c.number();
            assert!((-32019..=-32000).contains(&n) || matches!(n, -32700 | -32603..=-32600), "{n}");
            assert_eq!(ErrorCode::from_name(c.name()), Some(*c));
            let message = c.hint();
            assert!(!message.ends_with('.') && !message.is_empty());
        }
    }

    #[test]
    fn crosses_the_wire_unchanged() {
        let error = ErrorObject::new(ErrorCode::Busy, "64 requests are waiting").with_retry_after_ms(50);
        let json = serde_json::to_string(&error).unwrap();
        assert!(json.contains(r#""code":"POC_E_BUSY""#) && json.contains(r#""retryAfterMs":50"#), "{json}");
        assert_eq!(serde_json::from_str::<ErrorObject>(&json).unwrap(), error);
    }
}
