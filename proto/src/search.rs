//! `search` and `symbol`: ranked places and definitions by name.

use crate::answer::answer;
use crate::card::Neighbors;
use crate::overlay::Overlay;
use crate::pack::{Confidence, LineRange, Range};
use crate::workspace::Wait;
use indexd_api::JsonSchema;
use indexd_api::params;
use serde::{Deserialize, Serialize};

params! {
    /// `search`: the best places for a text, without assembling a pack.
    SearchParams {
        repo, cwd,
        /// What to look for.
        query: String,
        /// Names, words and phrases that the caller expects in the code that answers, at most 64.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        expect: Vec<String>,
        /// Hits at most, 1 to 500. Default 10, for a plain question 20, and then up to 3 definitions of expected
        /// names that are not among them.
        limit: Option<u32>,
        /// Whether hits come with those at the other end of their edges.
        neighbors: bool,
        wait, overlays, progress,
    }
}

answer! {
    /// Answer to `search`.
    SearchResult("SearchResult", envelope) {
        /// Best first.
        hits: Vec<Hit>,
        /// How sure the answer can be.
        #[serde(default)]
        confidence: Confidence,
        /// What was expected and no code holds.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    }
}

/// A place found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Path.
    pub file_rel_path: String,
    /// Place.
    pub range: Range,
    /// Place in lines.
    pub lines: LineRange,
    /// The chunk.
    pub chunk_uid: String,
    /// The symbol, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// The signature, or a heading, or the first line.
    pub title: String,
    /// The line of the definition's name; for text between definitions its first line.
    #[serde(default)]
    pub line: u32,
    /// The qualified name; empty for text between definitions.
    #[serde(default)]
    pub name: String,
    /// The number of the line that matters: the one with the heaviest words of the text.
    #[serde(default)]
    pub match_line: u32,
    /// The place as one line of text: path, line, name, and the line that matters.
    #[serde(default)]
    pub text: String,
    /// Retrieval score in 0..1, comparable within one answer.
    pub score: f64,
    /// The signals behind it.
    #[serde(default)]
    pub signals: std::collections::BTreeMap<String, f64>,
    /// Those at the other end of its edges, when asked for and where it has a definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbors: Option<Neighbors>,
}

params! {
    /// `symbol`: definitions by symbol id, place (`path:line`), qualified name or name; where there is none of
    /// that name, those whose names hold all its words.
    SymbolParams {
        repo, cwd,
        /// The name.
        name: String,
        /// Definitions at most. Default 20, at most 500.
        limit: Option<u32>,
        wait, overlays, progress,
    }
}

answer! {
    /// Answer to `symbol`.
    SymbolResult("SymbolResult", envelope) {
        /// Exact matches first, then by path and position.
        symbols: Vec<Symbol>,
        /// How many there are.
        #[serde(default)]
        n_symbols: u64,
    }
}

/// A definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Symbol {
    /// Identity, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// Name; the path for a whole file.
    pub name: String,
    /// Names from file level down, joined by dots; empty for a whole file.
    pub qualified_name: String,
    /// `function`, `method`, `class`, ..., `file`.
    pub kind: String,
    /// Path.
    pub file_rel_path: String,
    /// The whole definition.
    pub lines: LineRange,
    /// The line of its name.
    pub line: u32,
    /// The signature, on one line.
    pub signature: String,
    /// Whether it is a test, or stands in a file of tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test: bool,
}

params! {
    /// `show`: definitions whole, with the numbers of their lines, in one text.
    DefinitionsParams {
        repo, cwd,
        /// Names, symbol ids and places (`path:line`, `path:first-last`, `path`), at most 64.
        what: Vec<String>,
        /// Words. Of a definition of more than 40 lines only the head and the lines near those that hold one
        /// of them are shown, without regard to case; the whole one if none does.
        expect: Vec<String>,
        /// Tokens of the text at most, counted with `o200k_base`. Default 4,000.
        max_tokens: Option<u32>,
        wait, overlays, progress,
    }
}

answer! {
    /// Answer to `show`.
    DefinitionsResult("Definitions", envelope) {
        /// The definitions that the text shows, in its order.
        symbols: Vec<Symbol>,
        /// The text, in the form of a pack's.
        text: String,
        /// Its tokens.
        tokens: u32,
        /// Places (`path:first-last`) that had no room.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cut: Vec<String>,
        /// Places (`path:first-last`) of definitions in tests that bear a name of one that is shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tests: Vec<String>,
        /// Names and places that stand for nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unknown: Vec<String>,
    }
}
