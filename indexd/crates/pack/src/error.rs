//! Everything that can end a request without a pack, with codes that are never renamed or reused.

use thiserror::Error;

/// Why there is no pack.
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
        limit: &'static str,
        /// What was asked for.
        asked: u64,
        /// What is allowed.
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
        /// What happened.
        detail: String,
    },
    /// The rendered text came out above the budget: a bug; nothing is returned.
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
        /// What is wrong with it.
        detail: String,
    },
    /// The caller withdrew the request.
    #[error("cancelled")]
    Cancelled,
}

/// Every public code in a fixed order; a test pins the list.
pub const CODES: [&str; 8] = [
    "POC_E_INDEX_MISSING",
    "POC_E_CONTRACT_VERSION",
    "POC_E_BUDGET_EXCEEDED",
    "POC_E_NOT_SUPPORTED",
    "ACODE-CTX-002",
    "ACODE-CTX-003",
    "POC_E_INVALID_REQUEST",
    "POC_E_CANCELLED",
];

/// The warning code of an empty pack.
pub const NO_CONTENT: &str = "ACODE-CTX-004";

impl PackError {
    /// The primary public code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::IndexMissing { .. } => "POC_E_INDEX_MISSING",
            Self::ContractVersion { .. } => "POC_E_CONTRACT_VERSION",
            Self::BudgetExceeded { .. } => "POC_E_BUDGET_EXCEEDED",
            Self::NotSupported { .. } => "POC_E_NOT_SUPPORTED",
            Self::TokenCount { .. } => "ACODE-CTX-002",
            Self::ContextOverflow { .. } => "ACODE-CTX-003",
            Self::InvalidRequest { .. } => "POC_E_INVALID_REQUEST",
            Self::Cancelled => "POC_E_CANCELLED",
        }
    }

    /// Codes of the other family that mean the same.
    pub fn aliases(&self) -> &'static [&'static str] {
        match self {
            Self::BudgetExceeded { .. } => &["ACODE-CTX-003"],
            Self::ContextOverflow { .. } => &["POC_E_BUDGET_EXCEEDED"],
            _ => &[],
        }
    }

    /// What the caller can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::IndexMissing { .. } => {
                "leave out indexSignature to use the current index, or wait for the first build"
            }
            Self::ContractVersion { .. } => "use a client of the same release",
            Self::BudgetExceeded { .. } => "lower the limit, or use strictness warn to have it clamped",
            Self::NotSupported { .. } => {
                "`ctl pack --help` and the request schema have the values that exist"
            }
            Self::ContextOverflow { .. } => "this is a bug: please report it with the request",
            Self::TokenCount { .. } => {
                "use one of the named tokenizers: o200k_base, cl100k_base, generic, claude"
            }
            Self::InvalidRequest { .. } => "correct the request; query and a budget are enough",
            Self::Cancelled => "send the request again",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_pinned_and_distinct() {
        let text = || "x".to_owned();
        let all = [
            PackError::IndexMissing { asked: text(), held: text() },
            PackError::ContractVersion { asked: text(), supported: "1.0.0" },
            PackError::BudgetExceeded { limit: "maxItems", asked: 2, cap: 1 },
            PackError::NotSupported { what: text() },
            PackError::TokenCount { detail: text() },
            PackError::ContextOverflow { tokens: 2, budget: 1 },
            PackError::InvalidRequest { detail: text() },
            PackError::Cancelled,
        ];
        let codes: Vec<_> = all.iter().map(PackError::code).collect();
        assert_eq!(codes, CODES);
        for e in &all {
            assert!(!e.hint().is_empty());
            assert!(e.aliases().iter().all(|a| CODES.contains(a)), "{e:?}");
        }
    }
}
