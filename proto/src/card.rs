//! `card`: a definition at a glance, in a few hundred tokens.

use crate::answer::answer;
use crate::graph::Through;
use crate::overlay::Overlay;
use crate::search::Symbol;
use crate::workspace::Wait;
use indexd_api::JsonSchema;
use indexd_api::params;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of `card`.
    CardParams {
        repo, cwd,
        /// A name, a qualified name (`Class.method`), a symbol id, or `path:line`.
        symbol: String,
        /// Tokens (`o200k_base`) of the text. Default 400, 100 to 2,000.
        max_tokens: Option<u32>,
        wait, progress, overlays,
    }
}

answer! {
    /// Answer to `card`.
    CardResult("Card", envelope) {
        /// The definition: of several with the name the one that is used most.
        symbol: Symbol,
        /// What it is a member of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<Symbol>,
        /// The first paragraph of what is written about it, on one line; empty when there is nothing.
        doc: String,
        /// Its callers, or its users if it is not a function; tests are left out.
        callers: CardLinks,
        /// What it calls; the members of a type.
        callees: CardLinks,
        /// Tests that reach it, directly or through a caller.
        tests: CardLinks,
        /// What it may be called through: methods of interfaces and bases that it implements or overrides, with
        /// callers of their own.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        through: Vec<Through>,
        /// What stands of the name in the text without an edge, in a sentence; empty for nothing.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        beside: String,
        /// How many other definitions of the name there are.
        #[serde(default)]
        n_others: u64,
        /// Other definitions of the name, at most 20.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<Symbol>,
        /// All of it as text within the limit.
        text: String,
        /// Tokens of the text.
        tokens: u32,
    }
}

/// Definitions on the other side of edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardLinks {
    /// How many were counted.
    pub n: u32,
    /// Whether there are more: of a definition that is used everywhere not every use is read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The first of them, at most 50, in the order of the text.
    pub first: Vec<CardLink>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardLink {
    /// Its name with those around it.
    pub name: String,
    /// Path.
    pub file_rel_path: String,
    /// 1-based line: of the use for callers and tests, of the definition for callees.
    pub line: u32,
}

/// Those at the other end of a definition's edges; at most three of each kind are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Neighbors {
    /// Who calls or uses it.
    pub callers: CardLinks,
    /// What it calls, or its members.
    pub callees: CardLinks,
    /// Tests that reach it.
    pub tests: CardLinks,
}
