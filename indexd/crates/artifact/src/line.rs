//! The shape of the lines of each artifact. Places are bytes of the stored text; lines count from 1 and
//! are inclusive; numbers of files, symbols and chunks count from 0 over the whole index.

use crate::names;
use indexd_model::links::{Rule, UnresolvedReason};
use indexd_model::view::N_FIELDS;
use indexd_model::{ChunkKind, DefKind, Language, Outcome, Role};
use serde::{Deserialize, Serialize};

/// The state that was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IndexLine {
    /// [`crate::FORMAT`].
    pub format: u32,
    /// The signature of the index.
    pub signature: String,
    /// HEAD's commit id, or `none`.
    pub head: String,
    /// Chunks.
    pub n_chunks: u64,
    /// Files.
    pub n_files: u64,
    /// Summed lengths, in terms, by field: name, qualifier, signature, doc, body.
    pub field_lens: [u64; N_FIELDS],
    /// Summed lengths of paths, in terms.
    pub path_len: u64,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileLine {
    /// Relative path.
    pub path: String,
    /// Language.
    #[serde(with = "names")]
    pub language: Language,
    /// Roles, as bits.
    pub roles: u16,
    /// How parsing went.
    #[serde(with = "names")]
    pub outcome: Outcome,
    /// BLAKE3 of its bytes, hexadecimal.
    pub hash: String,
    /// Bytes on disk.
    pub size: u64,
    /// Lines of text.
    pub n_lines: u32,
    /// Length of the path, in terms.
    pub path_len: u16,
    /// Commits that touched it.
    pub n_commits: u32,
    /// Position of the newest of them, from HEAD.
    pub newest_commit: u32,
    /// Lines that recent commits changed: first, last, position of the commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<[u32; 3]>,
    /// What other files can see of it, as this version of the program stores it, in Base64.
    pub interface: String,
    /// The stored text: secrets are replaced in it.
    pub text: String,
}

/// A definition, or a file itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SymbolLine {
    /// Number of its file.
    pub file: u32,
    /// Name; the path of a file.
    pub name: String,
    /// Names from file level down, joined by dots; empty for a file.
    pub qualified: String,
    /// Kind.
    #[serde(with = "names")]
    pub kind: DefKind,
    /// Whether it is the file itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_file: bool,
    /// Marks, as bits.
    pub flags: u32,
    /// Number of the definition around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The whole definition.
    pub span: [u32; 2],
    /// Its lines.
    pub lines: [u32; 2],
    /// The name token.
    pub name_span: [u32; 2],
    /// Its line.
    pub name_line: u32,
    /// The signature.
    pub head: [u32; 2],
    /// The doc comment.
    pub doc: [u32; 2],
}

/// A chunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChunkLine {
    /// Number of its file.
    pub file: u32,
    /// Its path, for readers of this artifact alone.
    pub path: String,
    /// Bytes.
    pub span: [u32; 2],
    /// Lines.
    pub lines: [u32; 2],
    /// Number of its definition; absent between definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<u32>,
    /// Kind.
    #[serde(with = "names")]
    pub kind: ChunkKind,
    /// Which part of its definition.
    pub part: u16,
    /// Of how many.
    pub n_parts: u16,
    /// Length of each field, in terms.
    pub lens: [u16; N_FIELDS],
}

/// An edge with all its uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EdgeLine {
    /// Number of the source.
    pub source: u32,
    /// Number of the target.
    pub target: u32,
    /// Path and name of the source, for readers of this artifact alone.
    pub from: String,
    /// Of the target.
    pub to: String,
    /// Whether the uses stand in the target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_turned: bool,
    /// Where, how, and by which rule.
    pub uses: Vec<UseLine>,
}

/// One use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UseLine {
    /// Byte of the token.
    pub at: u32,
    /// Its line.
    pub line: u32,
    /// What the place does.
    #[serde(with = "names")]
    pub role: Role,
    /// The rule that fired.
    #[serde(with = "names")]
    pub rule: Rule,
    /// Percent.
    pub confidence: u8,
}

/// A use whose meaning is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnresolvedLine {
    /// Number of its file.
    pub file: u32,
    /// Number of the definition around it.
    pub symbol: u32,
    /// The identifier.
    pub name: String,
    /// Byte.
    pub at: u32,
    /// Line.
    pub line: u32,
    /// What the place does.
    #[serde(with = "names")]
    pub role: Role,
    /// Why.
    #[serde(with = "names")]
    pub reason: UnresolvedReason,
}

/// A term and the chunks that hold it: the number of each, then how often by field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostingsLine {
    /// The term.
    pub term: String,
    /// Number of the chunk, counts.
    pub chunks: Vec<(u32, [u8; N_FIELDS])>,
}

/// A term and files, with counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TermLine {
    /// The term.
    pub term: String,
    /// Number of the file, count.
    pub files: Vec<(u32, u32)>,
}
