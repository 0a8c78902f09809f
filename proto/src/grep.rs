//! `grep`: lines that match a regular expression, each with what it is and where it stands in the code.

use crate::answer::answer;
use crate::overlay::Overlay;
use crate::pack::LineRange;
use crate::workspace::Wait;
use indexd_api::JsonSchema;
use indexd_api::{kinds, params};
use serde::{Deserialize, Serialize};

params! {
    /// `grep`: searches the text of every file of the index, line by line, as ripgrep does on the disk.
    GrepParams {
        repo, cwd,
        /// Regular expressions of the crate `regex`, or texts where `fixed` is set. A line matches if one of
        /// them does. At least one, at most 100, together at most 256 KiB.
        patterns: Vec<String>,
        /// Whether the patterns are texts and no expressions.
        fixed: bool,
        /// Whether capitals and small letters are the same.
        ignore_case: bool,
        /// Whether a match must be a word of its own.
        word: bool,
        /// Files and folders to search, from `cwd` or the root. Default all.
        paths: Vec<String>,
        /// Globs of paths as in `.gitignore`, those with `!` before them to leave out.
        globs: Vec<String>,
        /// Kinds of files as ripgrep names them, such as `rust` or `py`.
        types: Vec<String>,
        /// Only lines that are one of these: `def`, `call`, `ref`, `import`, `string`, `comment`, `unknown`.
        roles: Vec<GrepRole>,
        /// Only lines of tests, or only others.
        tests: Option<bool>,
        /// Lines of context before each, at most 100.
        before: u32,
        /// Lines of context behind each, at most 100.
        after: u32,
        /// Lines at most. Default and most 20,000.
        limit: Option<u32>,
        /// Lines passed over, in order of path and line: for the next part of a long answer.
        skip: u32,
        /// Only count, by file: the answer has no lines.
        count: bool,
        /// Whether lines come without what they are and where they stand, as programs need them.
        plain: bool,
        /// With it the answer has a text for readers of tokens (`o200k_base`), at most so long: 200 to 90,000.
        max_tokens: Option<u32>,
        wait, overlays, progress,
    }
}

kinds! {
    /// What a line is, where it matches.
    GrepRole {
        /// The name of a definition.
        Def = "def",
        /// A call.
        Call = "call",
        /// Another use: a value, a type, a field.
        Ref = "ref",
        /// An import.
        Import = "import",
        /// Inside a string.
        String = "string",
        /// Inside a comment.
        Comment = "comment",
        /// Neither the syntax nor the edges say.
        #[default]
        Unknown = "unknown",
    }
}

impl GrepRole {
    /// The name on the wire; `?` for unknown ones.
    pub fn mark(self) -> &'static str {
        if self == Self::Unknown { "?" } else { self.name() }
    }
}

answer! {
    /// Answer to `grep`.
    GrepResult("GrepResult", envelope) {
        /// Files with a matching line, by path, all of them.
        files: Vec<GrepFile>,
        /// Matching lines by path and number, from `skip` on, at most `limit`.
        lines: Vec<GrepLine>,
        /// How many matching lines there are.
        n_lines: u64,
        /// The text, when asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }
}

/// A file with matching lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrepFile {
    /// Path.
    pub file_rel_path: String,
    /// How many lines match.
    pub n_lines: u64,
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrepLine {
    /// Path.
    pub file_rel_path: String,
    /// 1-based line.
    pub line: u32,
    /// 1-based column of the first match in UTF-8 bytes.
    pub column: u32,
    /// The line without its end; of lines above 400 bytes the part around the match.
    pub text: String,
    /// What it is; absent for `plain` answers and for lines that were not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<GrepRole>,
    /// Whether it belongs to a test, or to a file of tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test: bool,
    /// The innermost definition around it; absent at file level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<GrepScope>,
    /// What a resolved use names, where several definitions have that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<GrepTarget>,
    /// The lines before it, nearest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// A definition around a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrepScope {
    /// Its qualified name.
    pub name: String,
    /// Its lines.
    pub lines: LineRange,
}

/// A definition that a line names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrepTarget {
    /// Its qualified name.
    pub name: String,
    /// Its file.
    pub file_rel_path: String,
    /// Its line.
    pub line: u32,
}
