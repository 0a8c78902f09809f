//! The stages of one file: read, extract, terms. And a log of the stages that ran, for tests that assert
//! which work was *not* repeated.

use super::contents::ContentCache;
use super::overlays;
use crate::workspace::tree::scan::{now_ns, remembered};
use indexd_lang::Extracted;
use indexd_model::limits::FILE_BYTES_LISTED_MAX;
use indexd_model::terms::Vocabulary;
use indexd_model::{
    ContentHash, Facts, FactsView, FileDoc, FileFacts, FileRoles, IndexView, LineIndex, Links, Outcome,
    RepoPath,
};
use indexd_os::{ReadError, Root};
use indexd_store::{FileInput, FileStat, Snapshot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The pure functions that the stages call; tests put others in their place.
#[derive(Clone, Copy)]
pub struct Parts {
    /// Bytes to facts.
    pub extract: fn(&RepoPath, &[u8]) -> Extracted,
    /// Facts to links.
    pub link: fn(FileDoc, Facts, &dyn FactsView) -> Links,
    /// True if secrets are removed from a text before it is used.
    pub redacts: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { extract: indexd_lang::extract, link: indexd_resolve::link, redacts: true }
    }
}

/// A stage that a file went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Its bytes were read.
    Read,
    /// Its bytes were the same as before.
    Touch,
    /// Its facts were extracted.
    Extract,
    /// It was put into the index.
    Put,
    /// It was taken out of the index.
    Remove,
    /// Its uses were linked.
    Link,
}

/// A record of stage runs: the number of files extracted and linked, and from [`StageLog::start`] on their
/// paths.
#[derive(Default)]
pub struct StageLog {
    runs: Mutex<Option<Vec<(Stage, String)>>>,
    n_extracted: AtomicU64,
    n_linked: AtomicU64,
}

impl StageLog {
    /// Starts recording.
    pub fn start(&self) {
        *self.lock() = Some(Vec::new());
    }

    /// Takes the recorded entries, sorted by stage and path.
    pub fn take(&self) -> Vec<(Stage, String)> {
        let mut runs = self.lock().as_mut().map(std::mem::take).unwrap_or_default();
        runs.sort();
        runs
    }

    /// Files extracted so far, and files linked.
    pub fn counts(&self) -> (u64, u64) {
        (self.n_extracted.load(Ordering::Relaxed), self.n_linked.load(Ordering::Relaxed))
    }

    /// Records one run.
    pub fn ran(&self, stage: Stage, path: &str) {
        match stage {
            Stage::Extract => _ = self.n_extracted.fetch_add(1, Ordering::Relaxed),
            Stage::Link => _ = self.n_linked.fetch_add(1, Ordering::Relaxed),
            Stage::Read | Stage::Touch | Stage::Put | Stage::Remove => {}
        }
        if let Some(runs) = self.lock().as_mut() {
            runs.push((stage, path.to_owned()));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<(Stage, String)>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file as read.
pub struct Loaded {
    /// The path of the file.
    pub path: RepoPath,
    /// The stat to store.
    pub stat: FileStat,
    /// Hash of its bytes, or of its size if they were not read.
    pub hash: ContentHash,
    /// Bytes on disk.
    pub size: u64,
    /// Its bytes, or the reason why it was not read.
    pub bytes: Result<Vec<u8>, Outcome>,
}

/// Reads the file at `path`; `None` when it is not a regular file any more. Symbolic links are not followed
/// and special files are not waited for. Two kinds of files are not read: those whose name shows that they
/// hold a secret, and those too large for chunks, which may have any number of bytes (a sparse one of a
/// terabyte takes no room on the disk).
///
/// # Errors
/// The file is there and cannot be read.
pub fn load(root: &Root, path: &RepoPath) -> Result<Option<Loaded>, ReadError> {
    let read_ns = now_ns();
    let read = if indexd_lang::roles::is_sensitive_unread(path) {
        root.stat(path).map(|meta| (Err(Outcome::Sensitive), meta))
    } else {
        match root.read(path, FILE_BYTES_LISTED_MAX) {
            Ok((bytes, meta)) => Ok((Ok(bytes), meta)),
            Err(ReadError::TooLarge(meta)) => Ok((Err(Outcome::TooLarge), meta)),
            Err(e) => Err(e),
        }
    };
    let (bytes, meta) = match read {
        Ok(read) => read,
        Err(ReadError::Missing | ReadError::Outside | ReadError::NotRegular) => return Ok(None),
        Err(e) => return Err(e),
    };
    let (hash, size) = match &bytes {
        Ok(bytes) => (ContentHash::of(bytes), bytes.len() as u64),
        Err(_) => (hash_unread(meta.size), meta.size),
    };
    let stat = remembered(meta, read_ns);
    Ok(Some(Loaded { path: path.clone(), stat, hash, size, bytes }))
}

/// The file as it would be read if `text` were saved at `path`.
pub fn unsaved(path: &RepoPath, text: &str) -> Loaded {
    let size = text.len() as u64;
    let bytes = match indexd_lang::roles::is_sensitive_unread(path) {
        true => Err(Outcome::Sensitive),
        false if size > FILE_BYTES_LISTED_MAX => Err(Outcome::TooLarge),
        false => Ok(text.as_bytes().to_vec()),
    };
    let hash = if bytes.is_ok() { ContentHash::of(text.as_bytes()) } else { hash_unread(size) };
    Loaded { path: path.clone(), stat: FileStat::default(), hash, size, bytes }
}

/// Returns the hash of a file that is not read. It differs from the hash of any bytes.
fn hash_unread(size: u64) -> ContentHash {
    let mut hasher = blake3::Hasher::new_derive_key("indexd 2026 size of a file that is not read");
    hasher.update(&size.to_le_bytes());
    ContentHash(*hasher.finalize().as_bytes())
}

/// Sources of facts that need not be extracted again, for one thread.
#[derive(Default)]
pub struct Reuse<'a> {
    /// Contents that left an index.
    pub contents: Option<&'a ContentCache>,
    /// The index of the same tree before.
    pub before: Option<Snapshot>,
}

impl Reuse<'_> {
    fn facts(&self, parts: &Parts, loaded: &Loaded) -> Option<FileFacts> {
        let (path, hash) = (&loaded.path, &loaded.hash);
        let stored = self.before.as_ref().and_then(|before| {
            let file = before.file_by_path(path).filter(|file| before.file(*file).hash == *hash)?;
            before.facts(file).ok()
        });
        stored.or_else(|| self.contents?.get(path, hash, parts.redacts))
    }
}

/// Finds the facts of a file that was seen before, or extracts them.
pub fn find_or_extract(parts: &Parts, loaded: &Loaded, reuse: &Reuse, log: &StageLog) -> Extracted {
    let found = reuse.facts(parts, loaded).and_then(|facts| with_text(parts, loaded, facts));
    found.unwrap_or_else(|| {
        log.ran(Stage::Extract, &loaded.path);
        extract(parts, loaded)
    })
}

/// Returns facts with the text that they belong to. Only facts of parsers: the others cost less than finding
/// them, and some result from a panic.
fn with_text(parts: &Parts, loaded: &Loaded, facts: FileFacts) -> Option<Extracted> {
    let read = loaded.bytes.as_ref().ok()?;
    if !is_reusable(&facts) {
        return None;
    }
    let is_redacted = parts.redacts && facts.interface.roles.has(FileRoles::REDACTED);
    let redacted = if is_redacted { Some(redacted(&loaded.path, read)?) } else { None };
    let text: Arc<str> =
        indexd_lang::decode::decode(redacted.as_deref().map_or(&read[..], str::as_bytes))?.into();
    let fits = facts.chunks.iter().all(|chunk| text.get(chunk.span.range()).is_some());
    fits.then(|| Extracted { facts, lines: LineIndex::new(&text), text })
}

/// Returns true if facts are worth caching.
pub fn is_reusable(facts: &FileFacts) -> bool {
    matches!(facts.interface.outcome, Outcome::Parsed | Outcome::Recovered)
}

/// Extracts the facts of a file, secrets in it left out. A panic costs that file its structure only:
/// it is chunked by lines.
pub fn extract(parts: &Parts, loaded: &Loaded) -> Extracted {
    let read = match &loaded.bytes {
        Ok(bytes) => bytes,
        Err(outcome) => return indexd_lang::listed(&loaded.path, *outcome),
    };
    let redacted = if parts.redacts { redacted(&loaded.path, read) } else { None };
    let bytes = redacted.as_deref().map_or(&read[..], str::as_bytes);
    let run = || (parts.extract)(&loaded.path, bytes);
    let mut extracted = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        tracing::error!("extraction failed for one file; it is searchable and not linked");
        text_only(&loaded.path, bytes)
    });
    if redacted.is_some() {
        let roles = &mut extracted.facts.interface.roles;
        *roles = roles.with(FileRoles::REDACTED);
        if indexd_lang::decode::read(read).is_some_and(|d| d.is_recoded) {
            *roles = roles.with(FileRoles::RECODED);
        }
    }
    extracted
}

/// The text of a file without the secrets in it; `None` when it has none.
fn redacted(path: &RepoPath, bytes: &[u8]) -> Option<String> {
    if indexd_secrets::is_exempt(path) {
        return None;
    }
    let text = indexd_lang::decode::decode(bytes)?;
    match indexd_secrets::redact(&text) {
        (_, found) if found.is_empty() => None,
        (text, _) => Some(text.into_owned()),
    }
}

/// A file without structure: chunked by lines.
fn text_only(path: &RepoPath, bytes: &[u8]) -> Extracted {
    use indexd_lang::{Input, decode, lines, roles};
    let Some(text) = decode::decode(bytes) else { return indexd_lang::listed(path, Outcome::Binary) };
    let text: Arc<str> = text.into();
    let language = roles::language(path);
    let index = LineIndex::new(&text);
    let roles = roles::path_roles(path, language);
    let input = Input { path, text: &text, lines: &index, language, roles };
    let facts = lines::facts(input, Outcome::TextOnly);
    Extracted { facts, text, lines: index }
}

/// A file on its way into the index; its terms are numbered in `vocabulary`.
pub fn input(loaded: Loaded, extracted: Extracted, vocabulary: &mut Vocabulary) -> FileInput {
    let Extracted { facts, text, lines } = extracted;
    let terms = terms(&facts, &loaded.path, &text, vocabulary);
    let Loaded { path, stat, hash, size, bytes: _ } = loaded;
    FileInput { path, hash, size, lines, stat, facts, text, terms }
}

/// Returns the terms of a file. Stored and new files use the same function.
pub fn terms(
    facts: &FileFacts,
    path: &str,
    text: &str,
    vocabulary: &mut Vocabulary,
) -> indexd_model::terms::FileTerms {
    indexd_text::file_terms(Facts::inside(facts), &facts.chunks, path, text, vocabulary)
}

/// Links a file, and applies the imported overlay of its content. Vendored trees and files that were not
/// parsed have no links; nor has a file whose linking panics.
pub fn link(
    parts: &Parts,
    file: FileDoc,
    facts: Facts,
    imported: (Option<&[u8]>, Option<ContentHash>),
    view: &dyn FactsView,
) -> Links {
    let interface = &facts.interface;
    let is_parsed = matches!(interface.outcome, Outcome::Parsed | Outcome::Recovered);
    if !is_parsed || interface.roles.has(FileRoles::VENDORED) {
        return Links::default();
    }
    let run = || {
        let mut links = (parts.link)(file, facts, view);
        overlays::lay(imported.0, imported.1, file, facts, &mut links, view);
        links
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        tracing::error!("linking failed for one file; its uses have no edges");
        Links::default()
    })
}
