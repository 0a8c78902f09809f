//! What differs by git: commits, what is staged and the work tree, with git's own view of which files it
//! looks at and of how it converts them.

use super::{
    ENCODED, FILES_MAX, FILTERED, Ground, LEFT_OUT, LINK, MISSING, MODE, MODULE, NO_TEXT, Reader, SENSITIVE,
    STAGED, Side, TOO_LARGE, UNMERGED, WORKTREE, is_left_out, refused, unread,
};
use crate::server::backend::Context;
use crate::workspace::tree::git::{GitFolders, Settings};
use indexd_history::{
    Cleaner, CommitId, CompareError, ContentError, Index, Kept, Kind, Repository, Staged, Unavailable,
    blob_id,
};
use indexd_model::limits::FILE_BYTES_PARSED_MAX;
use indexd_model::view::{FactsView as _, FileRecord};
use indexd_model::{ContentHash, FileDoc, IndexView as _, Outcome, RepoPath};
use indexd_pack::change::{Change, ChangedFile};
use indexd_pack::request::ChangeRequest;
use indexd_proto::error::ErrorObject;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};

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

/// A path that may differ.
struct Pair {
    /// The content that git keeps of it on the first side; none for a missing file.
    before: Option<Kept>,
    after: After,
}

/// The second side of a path.
enum After {
    /// The content that git keeps, or would keep of a link or a submodule; none for a missing file.
    Kept(Option<Kept>),
    /// The file of the work tree.
    Tree(Tree),
    /// Several contents: nobody has resolved the conflict yet.
    Unmerged,
}

/// A file of the work tree.
struct Tree {
    /// Its staged content.
    staged: Option<Kept>,
    /// True if it has the time and the size that git noted when it last knew its content.
    is_untouched: bool,
    kind: Kind,
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
    let settings = Settings::of(GitFolders::find(ground.root).as_ref());
    let ways = Ways { modes: settings.keeps_modes(), links: settings.keeps_links() };
    let Differing { pairs, notes } =
        differing(&repository, [&from, &to], &ways, ground, ctx).map_err(refused)?;
    if pairs.len() > FILES_MAX {
        let message = format!("{} files differ; a change of at most {FILES_MAX} is read", pairs.len());
        return Err(ErrorObject::invalid(message).with_hint("name a smaller range"));
    }
    let mut change = Change { notes, ..Change::default() };
    (change.id.from, change.id.to) = (from.name(), to.name());
    let cleaner = Cleaner::new(&repository, settings.conversions(), pairs.keys().map(String::as_str));
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
    let commit = |name: &str| match name {
        "" | "HEAD" => Ok(repository.head()?),
        _ => repository.commit_named(name),
    };
    if asked.staged {
        return match commit("HEAD") {
            Err(CompareError::Unavailable(Unavailable::NoCommits)) => Ok((State::Unborn, State::Staged)),
            head => Ok((State::Commit(head?), State::Staged)),
        };
    }
    if asked.worktree {
        return Ok((State::Staged, State::Worktree));
    }
    let range = asked.diff.as_deref().unwrap_or("").trim();
    if let Some((a, b)) = range.split_once("...") {
        let (a, b) = (commit(a)?, commit(b)?);
        return Ok((State::Commit(repository.common(&a, &b)?), State::Commit(b)));
    }
    match range.split_once("..") {
        Some((a, b)) => Ok((State::Commit(commit(a)?), State::Commit(commit(b)?))),
        None => Ok((State::Commit(commit(range)?), State::Worktree)),
    }
}

/// The properties of files in the work tree that git compares in a repository.
struct Ways {
    /// True if the right to be executed is compared.
    modes: bool,
    /// True if links are links, and not files that name their targets.
    links: bool,
}

/// The paths that may differ.
fn differing(
    repository: &Repository,
    [from, to]: [&State; 2],
    ways: &Ways,
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
        State::Commit(id) => repository.paths_of(id)?,
        State::Unborn => BTreeMap::new(),
        State::Staged | State::Worktree => {
            let kept = index.files.iter().map(|(path, s)| (path.clone(), s.kept));
            let ours = index.unmerged.iter().filter_map(|(path, kept)| Some((path.clone(), (*kept)?)));
            kept.chain(ours).collect()
        }
    };
    if *to == State::Worktree {
        let mut out = against_the_tree(from, &before, &index, ways, ground, ctx);
        if *from == State::Staged && !index.unmerged.is_empty() {
            let n = index.unmerged.len();
            out.notes.push(format!("{n} files are in conflict and compared with our side of the merge"));
        }
        return Ok(out);
    }
    Ok(against_what_is_staged(before, index))
}

fn against_what_is_staged(before: BTreeMap<String, Kept>, index: Index) -> Differing {
    let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
    for (path, kept) in before {
        pairs.insert(path, Pair { before: Some(kept), after: After::Kept(None) });
    }
    let nothing = || Pair { before: None, after: After::Kept(None) };
    for (path, staged) in index.files.into_iter().filter(|(_, s)| !s.is_intended) {
        pairs.entry(path).or_insert_with(nothing).after = After::Kept(Some(staged.kept));
    }
    for path in index.unmerged.into_keys() {
        pairs.entry(path).or_insert_with(nothing).after = After::Unmerged;
    }
    pairs.retain(|_, pair| !matches!(pair.after, After::Kept(kept) if kept == pair.before));
    Differing { pairs, notes: Vec::new() }
}

/// The paths of which git does not know that they are as they were.
fn against_the_tree(
    from: &State,
    before: &BTreeMap<String, Kept>,
    index: &Index,
    ways: &Ways,
    ground: &Ground,
    ctx: &Context,
) -> Differing {
    let mut out = Differing::default();
    let mut modules = Vec::new();
    let indexed: BTreeSet<String> =
        ground.snapshot.files().into_iter().map(|file| ground.snapshot.path(file).to_string()).collect();
    for path in before.keys().chain(index.files.keys()).chain(&indexed).collect::<BTreeSet<_>>() {
        if ctx.cancel.is_cancelled() {
            break;
        }
        let (mut before, staged) = (before.get(path).copied(), index.files.get(path));
        let kept = staged.map(|s| s.kept);
        // Git does not know a file that rules leave out and that is not staged.
        let is_unknown = staged.is_none() && !index.unmerged.contains_key(path) && !indexed.contains(path);
        let after = if staged.is_some_and(|s| s.is_fixed) {
            After::Kept(kept)
        } else if is_unknown {
            After::Kept(None)
        } else {
            let known = kept.or(before);
            modules.extend(known.filter(|k| k.kind == Kind::Module).map(|_| path.as_str()));
            in_the_tree(path, staged, known, ways, ground)
        };
        // A file that is meant to be added is new where it exists, unless git does not look.
        let is_intended = staged.is_some_and(|s| s.is_intended && !s.is_fixed);
        if is_intended && *from == State::Staged && !matches!(after, After::Kept(None)) {
            before = None;
        }
        if !is_unchanged(&after, before, kept) {
            out.pairs.insert(path.clone(), Pair { before, after });
        }
    }
    modules.retain(|path| GitFolders::at(&ground.root.join(path)).is_some());
    if !modules.is_empty() {
        out.notes.push(format!("submodules are compared by their commits alone: {}", modules.join(", ")));
    }
    out
}

/// True if git knows that a path is as it was before; `kept` is the entry of git's index.
fn is_unchanged(after: &After, before: Option<Kept>, kept: Option<Kept>) -> bool {
    match after {
        After::Kept(after) => *after == before,
        After::Tree(tree) => {
            tree.is_untouched && kept == before && kept.is_some_and(|kept| kept.kind == tree.kind)
        }
        After::Unmerged => false,
    }
}

/// The second side of a path of the work tree, of which git keeps or kept `known`.
fn in_the_tree(
    path: &str,
    staged: Option<&Staged>,
    known: Option<Kept>,
    ways: &Ways,
    ground: &Ground,
) -> After {
    let at = ground.root.join(path);
    // Paths behind a link are not part of the repository, and never in the index.
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    let is_beneath = || !folders.clone().any(|dir| ground.root.join(dir).is_symlink());
    let meta = fs::symlink_metadata(&at).ok();
    let Some(meta) = meta.filter(|_| ground.snapshot.file_by_path(path).is_some() || is_beneath()) else {
        return After::Kept(None);
    };
    if meta.is_file() {
        let kind = match known {
            Some(known) if !ways.links && known.kind == Kind::Link => Kind::Link,
            Some(known) if !ways.modes && known.kind.is_file() => known.kind,
            _ if is_program(&meta) => Kind::Program,
            _ => Kind::File,
        };
        let is_untouched = staged.is_some_and(|staged| is_untouched(&meta, staged));
        return After::Tree(Tree { staged: staged.map(|s| s.kept), is_untouched, kind });
    }
    if meta.is_symlink() {
        let target = fs::read_link(&at).ok();
        let id = target.and_then(|target| blob_id(target.as_os_str().as_encoded_bytes()));
        return After::Kept(id.map(|id| Kept { id, kind: Kind::Link }));
    }
    let Some(module) = known.filter(|known| known.kind == Kind::Module && meta.is_dir()) else {
        return After::Kept(None);
    };
    // A submodule that was not fetched is an empty folder.
    let head = GitFolders::at(&at).and_then(|git| git.head_id());
    let id = head.map_or(Some(module.id), |head| indexd_history::commit_id(&head));
    After::Kept(id.map(|id| Kept { id, kind: Kind::Module }))
}

#[cfg(unix)]
fn is_program(meta: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(_meta: &Metadata) -> bool {
    false
}

/// Whether a file has the time and the size that git noted when it last knew its content.
#[cfg(unix)]
fn is_untouched(meta: &Metadata, staged: &Staged) -> bool {
    use std::os::unix::fs::MetadataExt;
    // Where git keeps no parts of seconds, they are 0.
    let same_time =
        |(s, ns): (u32, u32)| meta.mtime() as u32 == s && (ns == 0 || meta.mtime_nsec() as u32 == ns);
    staged.mtime.is_some_and(same_time) && meta.len() as u32 == staged.size
}

#[cfg(not(unix))]
fn is_untouched(_meta: &Metadata, _staged: &Staged) -> bool {
    false
}

/// Reads both sides of files.
struct Sides<'a> {
    reader: Reader<'a>,
    repository: &'a Repository,
    cleaner: Cleaner,
}

impl Sides<'_> {
    /// A path on two sides; `None` when they are the same to git.
    fn compared(&mut self, path: &RepoPath, pair: &Pair) -> Option<ChangedFile> {
        let snapshot = self.reader.ground.snapshot;
        let there = snapshot.file_by_path(path);
        if let Some(why) = self.unshown(path, pair, there.is_some()) {
            return why.map(|why| unread(path, why));
        }
        let before = pair.before.map(|kept| kept.id);
        let indexed = there.map(|f| snapshot.text(f));
        match (&pair.after, there) {
            (After::Unmerged, _) => Some(unread(path, UNMERGED)),
            (After::Tree(tree), Some(file)) => self.against_tree(path, before, file, tree).or_else(|| {
                let is_other = pair.before.is_some_and(|kept| kept.kind != tree.kind);
                is_other.then(|| unread(path, MODE))
            }),
            (After::Kept(after), _) => {
                let texts = [before, after.map(|kept| kept.id)].map(|id| self.kept(path, id));
                self.reader.file(path, texts, None, indexed.as_deref())
            }
            (After::Tree(_), None) => None,
        }
    }

    /// The reason for which a path is named without its difference; `None` inside if nothing differs. `None` for
    /// a file with sides that are compared.
    fn unshown(&mut self, path: &RepoPath, pair: &Pair, is_indexed: bool) -> Option<Option<&'static str>> {
        let after = match &pair.after {
            After::Kept(kept) => kept.map(|kept| kept.kind),
            After::Tree(tree) => Some(tree.kind),
            After::Unmerged => None,
        };
        let kinds = [pair.before.map(|kept| kept.kind), after];
        let odd = if kinds.contains(&Some(Kind::Link)) {
            Some(LINK)
        } else {
            kinds.contains(&Some(Kind::Module)).then_some(MODULE)
        };
        match &pair.after {
            After::Tree(tree) if odd.is_some() || !is_indexed => {
                let is_same = match pair.before {
                    Some(kept) => kept.kind == tree.kind && self.is_kept(path, kept.id, tree),
                    // A file that neither git nor the index knows is not a change.
                    None => tree.staged.is_none(),
                };
                Some((!is_same).then_some(odd.unwrap_or(LEFT_OUT)))
            }
            After::Kept(_) if odd.is_some() => Some(odd),
            After::Kept(after) if after.map(|kept| kept.id) == pair.before.map(|kept| kept.id) => {
                Some(Some(MODE))
            }
            After::Kept(_) if !is_indexed && is_left_out(self.reader.ground, path) => Some(Some(LEFT_OUT)),
            _ => None,
        }
    }

    /// Returns true if git would keep a file of the work tree that is not in the index as this content.
    fn is_kept(&mut self, path: &RepoPath, id: CommitId, tree: &Tree) -> bool {
        if tree.is_untouched && tree.staged.is_some_and(|kept| kept.id == id) {
            return true;
        }
        let Some(bytes) = self.on_disk(path, HASHED_BYTES_MAX) else { return false };
        let staged = tree.staged.and_then(|kept| self.repository.content(&kept.id, FILE_BYTES_PARSED_MAX));
        self.cleaner.clean(path, &bytes, staged.as_deref()).and_then(|bytes| blob_id(&bytes)) == Some(id)
    }

    /// What git keeps of a file.
    fn kept(&self, path: &RepoPath, id: Option<CommitId>) -> Side {
        let bytes = self.repository.read(&id?, FILE_BYTES_PARSED_MAX).map_err(reason);
        Some(bytes.and_then(|bytes| self.reader.text(path, &bytes)))
    }

    /// A file as it was, against the one in the index.
    fn against_tree(
        &mut self,
        path: &RepoPath,
        before: Option<CommitId>,
        file: FileDoc,
        tree: &Tree,
    ) -> Option<ChangedFile> {
        let (staged, is_untouched) = (tree.staged.map(|kept| kept.id), tree.is_untouched);
        let snapshot = self.reader.ground.snapshot;
        let (record, indexed) = (snapshot.file(file), snapshot.text(file));
        if self.cleaner.needs_a_program(path) {
            let after = if is_untouched { self.kept(path, staged) } else { Some(Err(FILTERED)) };
            return self.reader.file(path, [self.kept(path, before), after], None, Some(&indexed));
        }
        let kept = before.map(|id| self.repository.read(&id, FILE_BYTES_PARSED_MAX));
        let is_same = match &kept {
            Some(Ok(bytes)) => record.outcome != Outcome::TooLarge && ContentHash::of(bytes) == record.hash,
            Some(Err(ContentError::TooLarge(size))) => *size == record.size && self.is_blob(path, before),
            _ => false,
        };
        let was = kept.map(|bytes| bytes.map_err(reason).and_then(|bytes| self.reader.text(path, &bytes)));
        if let Some(why) = without_text(record.outcome) {
            let is_secret =
                was == Some(Err(SENSITIVE)) && why == SENSITIVE && is_untouched && before == staged;
            if is_same || is_secret {
                return None;
            }
            return self.reader.file(path, [was, Some(Err(why))], None, Some(&indexed));
        }
        let bytes = self.bytes(path, &record, &indexed);
        let is_kept = staged.and_then(|id| self.repository.content(&id, FILE_BYTES_PARSED_MAX));
        let Some(cleaned) = self.cleaner.clean(path, &bytes, is_kept.as_deref()) else {
            return self.reader.file(path, [was, Some(Err(ENCODED))], None, Some(&indexed));
        };
        if blob_id(&cleaned) == before && before.is_some() {
            return None;
        }
        let after = self.reader.text(path, &cleaned);
        let n_lines = |text: &str| text.bytes().filter(|b| *b == b'\n').count();
        let is_in_step = after.as_ref().is_ok_and(|after| n_lines(after) == n_lines(&indexed));
        let shown = is_in_step.then(|| indexed.to_string());
        self.reader.file(path, [was, Some(after)], shown, Some(&indexed))
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

/// The reason for which the index has no text of a file.
fn without_text(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Binary => Some(NO_TEXT),
        Outcome::Sensitive => Some(SENSITIVE),
        Outcome::TooLarge => Some(TOO_LARGE),
        _ => None,
    }
}

fn reason(e: ContentError) -> &'static str {
    match e {
        ContentError::Missing => MISSING,
        ContentError::TooLarge(_) => TOO_LARGE,
    }
}
