//! `graph.callers`, `graph.callees`, `graph.refs`, `graph.impact`, `graph.around`: walks along resolved edges, with
//! the evidence of each and a statement of what the graph may be missing.

use crate::answer::answer;
use crate::overlay::Overlay;
use crate::search::Symbol;
use crate::workspace::Wait;
use indexd_api::JsonSchema;
pub use indexd_api::graph::{EdgeWord, NoEdge, Relation};
use indexd_api::params;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

params! {
    /// Parameters of the graph methods.
    GraphParams {
        repo, cwd,
        /// A name, a qualified name (`Class.method`), a symbol id, a path, or `path:line`.
        symbol: String,
        /// Steps to follow, at most 4. Default 1; 3 for `graph.impact`.
        depth: Option<u32>,
        /// Edges at most. Default 200, at most 2,000.
        limit: Option<u32>,
        /// Percent; edges below are left out and counted. Default 50.
        min_confidence: Option<u8>,
        /// Whether callers of what a method implements or overrides stand among the edges, as `dispatch`.
        dispatch: bool,
        /// Whether the edges stand beside themselves as a picture, as `picture`.
        picture: Option<Picture>,
        /// Whether everything is named: each definition of the name, each place without an edge, up to 2,000
        /// edges.
        all: bool,
        wait, overlays, progress,
    }
}

/// How a picture of edges is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Picture {
    /// A picture laid out and drawn, for browsers.
    Svg,
    /// A graph for Graphviz.
    Dot,
    /// A flow chart for Markdown.
    Mermaid,
}

answer! {
    /// Answer to the graph methods.
    GraphResult("GraphResult", envelope) {
        /// The question.
        relation: Relation,
        /// What the name was taken for, those first that are used most, product code before tests, docs and
        /// generated files. All were walked from; the first 20 are here unless `all` is asked for.
        roots: Vec<Symbol>,
        /// How many there are.
        #[serde(default)]
        n_roots: u64,
        /// By depth, then by place.
        edges: Vec<GraphEdge>,
        /// Whether a limit stopped the walk.
        bounded: bool,
        /// Edges that were met; more than in `edges` where a limit cut them. What lies behind those that were cut
        /// is not counted.
        #[serde(default)]
        n_edges: u64,
        /// Of `callers`: methods of interfaces and base classes that the roots implement or override, with
        /// how many definitions call those; each call may reach a root.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        through: Vec<Through>,
        /// What may be missing.
        coverage: Coverage,
        /// The picture, when asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        picture: Option<String>,
    }
}

/// A method that is called in the place of a root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Through {
    /// What declares it.
    pub owner: Symbol,
    /// The method.
    pub method: Symbol,
    /// The root that implements or overrides it.
    pub root: Symbol,
    /// Definitions that call it.
    pub n_callers: u32,
}

/// An edge of the walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphEdge {
    /// Steps from a root, from 1.
    pub depth: u32,
    /// Its kind.
    pub kind: EdgeWord,
    /// The definition around the use; of `dataflow` the one that a value comes from.
    pub source: Symbol,
    /// What the use names; of `dataflow` where the value goes.
    pub target: Symbol,
    /// Where, in the file of the source; at most 20.
    pub evidence: Vec<GraphEvidence>,
    /// How many places there are.
    pub n_evidence: u32,
    /// 0 to 1: the best of its places.
    pub confidence: f64,
}

/// A place where the source names the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphEvidence {
    /// `callsite`, `identifier`, `importStmt`, `span` or `tooling`.
    pub kind: String,
    /// 1-based line.
    pub line: u32,
    /// 1-based column in UTF-8 bytes.
    pub column: u32,
    /// 0 to 1.
    pub confidence: f64,
    /// The rule that resolved it.
    pub via: String,
    /// The line of code, without blanks at its ends; of lines above 400 bytes the part around the place.
    #[serde(default)]
    pub text: String,
}

/// What the graph was made from, and what it could not tie to anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Source files of linked languages that were parsed without an error.
    pub parsed: u64,
    /// Parsed around syntax errors: some uses may be missing.
    pub recovered: u64,
    /// Source files not parsed (too large, too deep, minified): their uses are missing.
    pub text_only: u64,
    /// Vendored source files: searchable, never linked.
    pub vendored: u64,
    /// Files of other kinds: searchable, never linked.
    pub other: u64,
    /// Places of the same name in the indexed text that have no edge and are not a local, definition or comment;
    /// for `graph.callees` calls inside the roots.
    pub unresolved_same_name: u64,
    /// Those among them that are not calls; of `graph.callers` alone.
    #[serde(default)]
    pub values_same_name: u64,
    /// Files that hold the name and were not looked at, since so many do.
    #[serde(default)]
    pub not_looked_at: u64,
    /// Files with syntax errors that hold the name.
    #[serde(default)]
    pub recovered_with_name: u64,
    /// The same by reason.
    pub unresolved_by_reason: BTreeMap<NoEdge, u64>,
    /// The first of them, what could be a use first, external names last, product code before tests; ten, or
    /// all with `all`.
    pub unresolved_examples: Vec<UnresolvedPlace>,
    /// Edges left out for low confidence.
    pub below_confidence: u64,
    /// The same in one sentence.
    pub statement: String,
}

/// A use without an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnresolvedPlace {
    /// Path.
    pub file_rel_path: String,
    /// 1-based line.
    pub line: u32,
    /// The reason.
    pub reason: NoEdge,
    /// The qualified name of the definition around it; empty at file level.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// The line of code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}
