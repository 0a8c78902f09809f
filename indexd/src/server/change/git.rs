//! What differs by git: commits, what is staged and the work tree, with git's own view of which files it
//! looks at and of how it converts them.

use super::{
    FILES_MAX, FILTERED, Ground, MISSING, NO_TEXT, Reader, SENSITIVE, STAGED, Side, TOO_LARGE, UNMERGED,
    WORKTREE, is_gone, refused,
};
use crate::server::backend::Context;
use crate::workspace::tree::git::{GitFolders, Settings};
use indexd_history::{
    Cleaner, CommitId, CompareError, ContentError, Index, Repository, Staged, Unavailable, blob_id,
};
use indexd_model::limits::FILE_BYTES_PARSED_MAX;
use indexd_model::view::{FactsView as _, FileRecord};
use indexd_model::{ContentHash, FileDoc, IndexView as _, Outcome, RepoPath};
use indexd_pack::change::{Change, ChangedFile};
use indexd_pack::request::ChangeRequest;
use indexd_proto::error::{ErrorCode, ErrorObject};
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes of a file that is too large to be shown, up to which it is read to see whether it changed.
const HASHED_BYTES_MAX: u64 = 64 << 20;
/// The state before the first commit.
const UNBORN: &str = "none";

/// One side of a comparison.
#[derive(Clone, PartialEq)]
enum State {
    /// No file at all: there is no commit yet.
    Unborn,
    Commit(String),
    Staged,
    Worktree,
}

impl State {
    fn name(&self) -> String {
        match self {
            Self::Unborn => UNBORN.to_owned(),
            Self::Commit(id) => id.clone(),
            Self::Staged => STAGED.to_owned(),
            Self::Worktree => WORKTREE.to_owned(),
        }
    }
}

/// A file that may differ.
struct Pair {
    /// What git keeps of it on the first side; none where there is no file.
    before: Option<CommitId>,
    after: After,
}

/// The second side of a file.
enum After {
    /// What git keeps; none where there is no file.
    Kept(Option<CommitId>),
    /// The file of the work tree, and what is staged of it. `is_untouched` where git has seen it as it is.
    Tree { staged: Option<CommitId>, is_untouched: bool },
    /// Several contents: nobody has resolved the conflict yet.
    Unmerged,
}

/// Files by path, and notes for the reader.
#[derive(Default)]
struct Differing {
    pairs: BTreeMap<String, Pair>,
    notes: Vec<String>,
}

/// Reads the change between two states of a repository.
pub(super) fn read(asked: &ChangeRequest, ground: &Ground, ctx: &Context) -> Result<Change, ErrorObject> {
    let refused = |e: CompareError| refused(&e);
    let repository = Repository::open(ground.root).map_err(|e| refused(CompareError::Unavailable(e)))?;
    let (from, to) = states(asked, &repository).map_err(refused)?;
    let Differing { mut pairs, notes } = differing(&repository, &from, &to, ground, ctx).map_err(refused)?;
    // What the index leaves out is left out here, too.
    pairs.retain(|path, _| ground.snapshot.file_by_path(path).is_some() || is_gone(ground, path));
    if pairs.len() > FILES_MAX {
        let message = format!("{} files differ; a change of at most {FILES_MAX} is read", pairs.len());
        return Err(ErrorObject::new(ErrorCode::InvalidRequest, message).with_hint("name a smaller range"));
    }
    let mut change = Change { notes, ..Change::default() };
    (change.id.from, change.id.to) = (from.name(), to.name());
    let settings = Settings::of(GitFolders::find(ground.root).as_ref()).conversions();
    let cleaner = Cleaner::new(&repository, settings, pairs.keys().map(String::as_str));
    let mut sides = Sides { reader: Reader { ground, bytes: 0 }, repository: &repository, cleaner };
    let mut n_elsewhere = 0;
    for (path, pair) in pairs {
        ctx.check()?;
        let Ok(path) = RepoPath::new(&path) else { continue };
        let file = sides.compared(&path, &pair);
        n_elsewhere += usize::from(file.as_ref().is_some_and(|f| !f.is_indexed && f.unreadable.is_none()));
        change.files.extend(file);
    }
    if n_elsewhere > 0 && to != State::Worktree {
        change.notes.push(format!(
            "{n_elsewhere} of {} changed files are other ones in the work tree by now: callers, tests and \
             references are those of the work tree",
            change.files.len()
        ));
    }
    Ok(change)
}

/// The states that a request compares.
fn states(asked: &ChangeRequest, repository: &Repository) -> Result<(State, State), CompareError> {
    let commit = |name: &str| {
        let name = if name.is_empty() { "HEAD" } else { name };
        if name == "HEAD" {
            return Ok(State::Commit(repository.head()?));
        }
        repository.commit_named(name).map(State::Commit)
    };
    if asked.staged {
        return match commit("HEAD") {
            Err(CompareError::Unavailable(Unavailable::NoCommits)) => Ok((State::Unborn, State::Staged)),
            head => Ok((head?, State::Staged)),
        };
    }
    if asked.worktree {
        return Ok((State::Staged, State::Worktree));
    }
    let range = asked.diff.as_deref().unwrap_or("").trim();
    if let Some((a, b)) = range.split_once("...") {
        let (State::Commit(a), State::Commit(b)) = (commit(a)?, commit(b)?) else {
            return Err(CompareError::Unknown(range.to_owned()));
        };
        return Ok((State::Commit(repository.common(&a, &b)?), State::Commit(b)));
    }
    match range.split_once("..") {
        Some((a, b)) => Ok((commit(a)?, commit(b)?)),
        None => Ok((commit(range)?, State::Worktree)),
    }
}

/// The files that may differ.
fn differing(
    repository: &Repository,
    from: &State,
    to: &State,
    ground: &Ground,
    ctx: &Context,
) -> Result<Differing, CompareError> {
    if let (State::Commit(a), State::Commit(b)) = (from, to) {
        let differing = repository.differing(a, b)?.into_iter();
        let pair =
            |sides: indexd_history::Sides| Pair { before: sides.before, after: After::Kept(sides.after) };
        let pairs = differing.map(|(path, sides)| (path, pair(sides))).collect();
        return Ok(Differing { pairs, notes: Vec::new() });
    }
    let index = repository.staged()?;
    let before = match from {
        State::Commit(id) => repository.files_of(id)?,
        State::Unborn => BTreeMap::new(),
        State::Staged | State::Worktree => {
            let kept = index.files.iter().map(|(path, s)| (path.clone(), s.id));
            let ours = index.unmerged.iter().filter_map(|(path, id)| Some((path.clone(), (*id)?)));
            kept.chain(ours).collect()
        }
    };
    if *to == State::Worktree {
        let mut out = against_the_tree(&before, &index, ground, ctx);
        if *from == State::Staged && !index.unmerged.is_empty() {
            let n = index.unmerged.len();
            out.notes.push(format!("{n} files are in conflict and compared with our side of the merge"));
        }
        return Ok(out);
    }
    Ok(against_what_is_staged(before, index))
}

fn against_what_is_staged(before: BTreeMap<String, CommitId>, index: Index) -> Differing {
    let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
    for (path, id) in before {
        pairs.insert(path, Pair { before: Some(id), after: After::Kept(None) });
    }
    let nothing = || Pair { before: None, after: After::Kept(None) };
    for (path, staged) in index.files {
        pairs.entry(path).or_insert_with(nothing).after = After::Kept(Some(staged.id));
    }
    for path in index.unmerged.into_keys() {
        pairs.entry(path).or_insert_with(nothing).after = After::Unmerged;
    }
    pairs.retain(|_, pair| !matches!(pair.after, After::Kept(id) if id == pair.before));
    Differing { pairs, notes: Vec::new() }
}

/// The files of which git does not know that they are as they were.
fn against_the_tree(
    before: &BTreeMap<String, CommitId>,
    index: &Index,
    ground: &Ground,
    ctx: &Context,
) -> Differing {
    let mut pairs = BTreeMap::new();
    for file in ground.snapshot.files() {
        if ctx.cancel.is_cancelled() {
            break;
        }
        let path = ground.snapshot.path(file);
        let staged = index.files.get(&*path);
        if staged.is_some_and(|s| s.is_fixed) {
            continue;
        }
        let before = before.get(&*path).copied();
        let is_untouched = staged.is_some_and(|s| is_untouched(&ground.root.join(&*path), s));
        if before.is_none() || !is_untouched || staged.map(|s| s.id) != before {
            let after = After::Tree { staged: staged.map(|s| s.id), is_untouched };
            pairs.insert(path.to_string(), Pair { before, after });
        }
    }
    let fixed = |path: &str| index.files.get(path).filter(|s| s.is_fixed).map(|s| s.id);
    for (path, id) in before {
        if fixed(path).is_none() && ground.snapshot.file_by_path(path).is_none() {
            pairs.insert(path.clone(), Pair { before: Some(*id), after: After::Kept(None) });
        }
    }
    for (path, staged) in index.files.iter().filter(|(_, staged)| staged.is_fixed) {
        let before = before.get(path).copied();
        if before != Some(staged.id) {
            pairs.insert(path.clone(), Pair { before, after: After::Kept(Some(staged.id)) });
        }
    }
    Differing { pairs, notes: Vec::new() }
}

/// Whether a file has the time and the size that git noted when it last knew its content.
#[cfg(unix)]
fn is_untouched(path: &Path, staged: &Staged) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::symlink_metadata(path) else { return false };
    // Where git keeps no parts of seconds, they are 0.
    let same_time =
        |(s, ns): (u32, u32)| meta.mtime() as u32 == s && (ns == 0 || meta.mtime_nsec() as u32 == ns);
    staged.mtime.is_some_and(same_time) && meta.len() as u32 == staged.size
}

#[cfg(not(unix))]
fn is_untouched(_path: &Path, _staged: &Staged) -> bool {
    false
}

/// Reads both sides of files.
struct Sides<'a> {
    reader: Reader<'a>,
    repository: &'a Repository,
    cleaner: Cleaner,
}

impl Sides<'_> {
    /// A file on two sides; `None` when they are the same to git.
    fn compared(&mut self, path: &RepoPath, pair: &Pair) -> Option<ChangedFile> {
        let snapshot = self.reader.ground.snapshot;
        let there = snapshot.file_by_path(path);
        let indexed = there.map(|f| snapshot.text(f));
        match (&pair.after, there) {
            (After::Unmerged, _) => self.reader.file(path, [None, Some(Err(UNMERGED))], None),
            (After::Tree { staged, is_untouched }, Some(file)) => {
                self.against_tree(path, pair.before, file, *staged, *is_untouched)
            }
            (After::Kept(after), _) => {
                let texts = [pair.before, *after].map(|id| self.kept(path, id));
                self.reader.file(path, texts, indexed.as_deref())
            }
            (After::Tree { .. }, None) => None,
        }
    }

    /// What git keeps of a file.
    fn kept(&self, path: &RepoPath, id: Option<CommitId>) -> Side<String> {
        let bytes = self.repository.read(&id?, FILE_BYTES_PARSED_MAX).map_err(reason);
        Some(bytes.and_then(|bytes| self.reader.text(path, &bytes)))
    }

    /// A file as it was, against the one in the index.
    fn against_tree(
        &mut self,
        path: &RepoPath,
        before: Option<CommitId>,
        file: FileDoc,
        staged: Option<CommitId>,
        is_untouched: bool,
    ) -> Option<ChangedFile> {
        let snapshot = self.reader.ground.snapshot;
        let (record, indexed) = (snapshot.file(file), snapshot.text(file));
        if self.cleaner.needs_a_program(path) {
            let after = if is_untouched { self.kept(path, staged) } else { Some(Err(FILTERED)) };
            return self.reader.file(path, [self.kept(path, before), after], Some(&indexed));
        }
        let kept = before.map(|id| self.repository.read(&id, FILE_BYTES_PARSED_MAX));
        let is_same = match &kept {
            Some(Ok(bytes)) => record.outcome != Outcome::TooLarge && ContentHash::of(bytes) == record.hash,
            Some(Err(ContentError::TooLarge(size))) => *size == record.size && self.is_blob(path, before),
            _ => false,
        };
        if is_same {
            return None;
        }
        let was = kept.map(|bytes| bytes.map_err(reason).and_then(|bytes| self.reader.text(path, &bytes)));
        let unread = match record.outcome {
            Outcome::Binary => Some(NO_TEXT),
            Outcome::Sensitive => Some(SENSITIVE),
            Outcome::TooLarge => Some(TOO_LARGE),
            _ => None,
        };
        if let Some(unread) = unread {
            let is_secret =
                was == Some(Err(SENSITIVE)) && unread == SENSITIVE && is_untouched && before == staged;
            return if is_secret {
                None
            } else {
                self.reader.file(path, [was, Some(Err(unread))], Some(&indexed))
            };
        }
        let bytes = self.bytes(path, &record, &indexed);
        let is_kept = staged.and_then(|id| self.repository.content(&id, FILE_BYTES_PARSED_MAX));
        let cleaned = self.cleaner.clean(path, &bytes, is_kept.as_deref());
        if blob_id(&cleaned) == before && before.is_some() {
            return None;
        }
        let after = self.reader.text(path, &cleaned);
        let n_lines = |text: &str| text.bytes().filter(|b| *b == b'\n').count();
        let is_in_step = after.as_ref().is_ok_and(|after| n_lines(after) == n_lines(&indexed));
        let shown = is_in_step.then(|| indexed.to_string());
        self.reader.shown_file(path, [was, Some(after)], shown, Some(&indexed))
    }

    /// The bytes of a file in the index, where they are known: the index may hold another text of them.
    fn bytes(&self, path: &RepoPath, record: &FileRecord, indexed: &str) -> Vec<u8> {
        let is_of = |bytes: &[u8]| ContentHash::of(bytes) == record.hash;
        let on_disk = || self.on_disk(path, record.size).filter(|bytes| is_of(bytes));
        if is_of(indexed.as_bytes()) { None } else { on_disk() }
            .unwrap_or_else(|| indexed.as_bytes().to_vec())
    }

    fn on_disk(&self, path: &RepoPath, bytes_max: u64) -> Option<Vec<u8>> {
        let root = indexd_os::Root::open(self.reader.ground.root).ok()?;
        root.read(path, bytes_max).ok().map(|(bytes, _)| bytes)
    }

    /// Whether a large file is what git keeps.
    fn is_blob(&self, path: &RepoPath, id: Option<CommitId>) -> bool {
        self.on_disk(path, HASHED_BYTES_MAX).is_some_and(|bytes| blob_id(&bytes) == id)
    }
}

fn reason(e: ContentError) -> &'static str {
    match e {
        ContentError::Missing => MISSING,
        ContentError::TooLarge(_) => TOO_LARGE,
    }
}
