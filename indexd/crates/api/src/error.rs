//! Error codes, and the reasons for which there is no pack. Codes are never renamed, renumbered or reused;
//! the list is pinned by `codes.golden` in this folder.

use crate::JsonSchema;
use crate::pack::Word;
use serde::{Deserialize, Serialize};
use thiserror::Error;

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

            /// The next step for the user, where the failure has no better hint.
            pub fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            /// The meaning of the code.
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
    TokenCount = -32005, "ACODE-CTX-002", &[], exit 2, "choose another tokenizer: o200k_base, cl100k_base, generic or claude";
    /// Nothing to return. A warning beside an empty pack; an error only where there is no pack.
    NoContent = -32006, "ACODE-CTX-004", &[], exit 1, "try other words, or a symbol or file name";
    /// The request is malformed: a field is missing, unknown, of the wrong type or out of range.
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
    /// A file to import is missing, is not an index, or says nothing about the files of the workspace.
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
    /// The store of published indexes does not answer, or not as it should.
    StoreUnavailable = -32020, "POC_E_STORE_UNAVAILABLE", &[], exit 69, "check the URL, the network and the store; indexes are built without it";
}

/// A failure to build a pack.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PackError {
    /// No index, or not the one the request pins.
    #[error("the index asked for is not held: asked for {asked}, held is {held}")]
    IndexMissing {
        /// The signature that was asked for.
        asked: String,
        /// The signature that is held.
        held: String,
    },
    /// A schema or protocol version that this build does not speak.
    #[error("contract version {asked:?} is not supported; this build speaks {supported:?}")]
    ContractVersion {
        /// The version asked for.
        asked: String,
        /// The version spoken.
        supported: &'static str,
    },
    /// A strict request asks for more than a hard cap allows.
    #[error("{limit} of {asked} is above the hard cap of {cap}")]
    BudgetExceeded {
        /// Name of the limit.
        limit: Word,
        /// The value asked for.
        asked: u64,
        /// The largest value allowed.
        cap: u64,
    },
    /// An option, value or provider that does not exist here.
    #[error("not supported: {what}")]
    NotSupported {
        /// The option or value.
        what: String,
    },
    /// The token counter failed or is unknown.
    #[error("token count failed: {detail}")]
    TokenCount {
        /// The cause.
        detail: String,
    },
    /// The rendered text is larger than the budget: a bug; nothing is returned.
    #[error("rendered text has {tokens} tokens, above the budget of {budget}")]
    ContextOverflow {
        /// Tokens of the rendering.
        tokens: u64,
        /// The budget.
        budget: u64,
    },
    /// The request contradicts itself or has a value of the wrong form.
    #[error("invalid request: {detail}")]
    InvalidRequest {
        /// The fault in it.
        detail: String,
    },
    /// The caller withdrew the request.
    #[error("cancelled")]
    Cancelled,
}

impl PackError {
    /// The code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::IndexMissing { .. } => ErrorCode::IndexMissing,
            Self::ContractVersion { .. } => ErrorCode::ContractVersion,
            Self::BudgetExceeded { .. } => ErrorCode::BudgetExceeded,
            Self::NotSupported { .. } => ErrorCode::NotSupported,
            Self::TokenCount { .. } => ErrorCode::TokenCount,
            Self::ContextOverflow { .. } => ErrorCode::ContextOverflow,
            Self::InvalidRequest { .. } => ErrorCode::InvalidRequest,
            Self::Cancelled => ErrorCode::Cancelled,
        }
    }
}

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
            assert!((-32099..=-32000).contains(&n) || matches!(n, -32700 | -32603..=-32600), "{n}");
            let message = c.hint();
            assert!(!message.ends_with('.') && !message.is_empty());
        }
    }
}
