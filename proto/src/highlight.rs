//! `highlight`: the classes of the words on shown lines, for a client that colours them.

use crate::answer::answer;
use crate::overlay::Overlay;
use crate::pack::LineRange;
use crate::workspace::Wait;
use indexd_api::JsonSchema;
use indexd_api::{kinds, params};
use serde::{Deserialize, Serialize};

params! {
    /// `highlight`: classifies the words of lines by the syntax of their language.
    HighlightParams {
        repo, cwd,
        /// The lines, at most 2,000 runs. Text of at most 8 MiB is parsed; later files come without pieces.
        places: Vec<HighlightPlace>,
        wait, overlays, progress,
    }
}

/// A run of lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HighlightPlace {
    /// Path from the root.
    pub file_rel_path: String,
    /// 1-based lines.
    pub lines: LineRange,
}

kinds! {
    /// The class of a piece of code.
    PieceClass {
        /// A comment.
        #[default]
        Comment = "comment",
        /// A string, its quotes included.
        String = "string",
        /// A number, or a constant of the language.
        Number = "number",
        /// A word of the language.
        Keyword = "keyword",
        /// The name of a type.
        Type = "type",
        /// The name of a function where it is defined or called.
        Function = "function",
    }
}

/// A classified piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinePiece {
    /// Its first byte (UTF-8), counted from the start of the line.
    pub start: u32,
    /// The byte behind its last.
    pub end: u32,
    /// Its class.
    pub class: PieceClass,
}

/// A line with its pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HighlightLine {
    /// Path from the root.
    pub file_rel_path: String,
    /// 1-based number.
    pub line: u32,
    /// The line without its end.
    pub text: String,
    /// Its pieces in order, none overlapping.
    pub pieces: Vec<LinePiece>,
}

answer! {
    /// Answer to `highlight`.
    HighlightResult("HighlightResult", envelope) {
        /// The lines that have pieces, each once, by path and number.
        lines: Vec<HighlightLine>,
    }
}
