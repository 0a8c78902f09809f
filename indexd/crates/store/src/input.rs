//! Inputs of the store: one file as read and extracted, and the facts of past commits.

use indexd_model::terms::FileTerms;
use indexd_model::view::{FileHistory, Touched};
use indexd_model::{ContentHash, FileFacts, LineIndex, RepoPath};
use indexd_os::FileStat;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One file on its way into the index.
#[derive(Clone, Debug)]
pub struct FileInput {
    /// Its path.
    pub path: RepoPath,
    /// Hash of its bytes on disk, or a substitute where the bytes are not read.
    pub hash: ContentHash,
    /// Bytes on disk.
    pub size: u64,
    /// Starts of the lines of `text`.
    pub lines: LineIndex,
    /// Metadata of the file system.
    pub stat: FileStat,
    /// The extracted facts.
    pub facts: FileFacts,
    /// The decoded text; empty for files without chunks.
    pub text: Arc<str>,
    /// Terms of each chunk and of the path, as numbers of the vocabulary passed along.
    pub terms: FileTerms,
}

/// The facts of all commits that were read: a new history replaces the old one. The default, without files
/// and with a digest of zeros, means that there is no history.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// One for each path that the commits touched, in any order, no path twice.
    pub files: Vec<HistoryFile>,
    /// Digest of the ordered ids of the commits read; part of the index signature.
    pub digest: [u8; 32],
}

impl History {
    /// The digest; `None` without a history.
    pub(crate) fn known_digest(&self) -> Option<[u8; 32]> {
        (!self.files.is_empty() || self.digest != [0; 32]).then_some(self.digest)
    }
}

/// All overlays of an imported index, for files of the tree: new overlays replace the old ones. The store
/// does not look into them. The default means that there is no import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// The overlay of each path, which need not be a file of the tree at the moment.
    pub files: BTreeMap<RepoPath, Vec<u8>>,
    /// Digest of them all; part of the index signature.
    pub digest: [u8; 32],
    /// Name and version of the tool that made the index, for status alone.
    pub tool: String,
}

impl Overlays {
    /// The digest; `None` without an import.
    pub fn known_digest(&self) -> Option<[u8; 32]> {
        (!self.files.is_empty()).then_some(self.digest)
    }
}

/// The facts of past commits about one path, which need not exist any more.
#[derive(Clone, Debug)]
pub struct HistoryFile {
    /// The path.
    pub path: RepoPath,
    /// Counts.
    pub history: FileHistory,
    /// Terms of the subjects of commits that touched it, each once, with the number of commits.
    pub terms: Vec<(String, u32)>,
    /// Lines that the newest commits changed, by first line.
    pub touched: Vec<Touched>,
}
