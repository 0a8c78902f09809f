//! The change that a request names: both sides of each file that differs, read from git's objects and
//! from the index, or found by a patch. Secrets are taken out of what git kept as they are of what is
//! indexed, and files that the index leaves out stay out.

mod git;

use crate::server::backend::Context;
use crate::server::place;
use crate::workspace::why::{Place, place as place_of};
use indexd_history::{CompareError, Hunk, compare};
use indexd_model::view::FactsView as _;
use indexd_model::{IndexView as _, LineIndex, RepoPath};
use indexd_pack::change::patch::{self, FilePatch};
use indexd_pack::change::{Change, ChangedFile, Run, Version};
use indexd_pack::request::ChangeRequest;
use indexd_proto::error::ErrorObject;
use indexd_store::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Files of a change that are looked into; a change of more does not fit one pack.
const FILES_MAX: usize = 2_000;
/// Bytes of texts that are compared and parsed, both sides together; what comes later by path is named.
const BYTES_MAX: usize = 48 << 20;
/// Pairs of files that went and came which are compared line by line to find renamed ones.
const PAIRS_MAX: usize = 400;
/// Percent of the bytes of the longer text that two texts have in common, by lines, when one is the other
/// renamed: git's figure.
const ALIKE_PERCENT: usize = 50;
/// Names of the states that are not commits.
const WORKTREE: &str = "worktree";
const STAGED: &str = "staged";
const PATCH: &str = "patch";

/// What a change is read from.
pub struct Ground<'a> {
    /// The state of the index.
    pub snapshot: &'a Snapshot,
    /// The workspace's root.
    pub root: &'a Path,
    /// The setting `index.exclude`.
    pub excludes: &'a [String],
    /// Whether secrets are taken out.
    pub redacts: bool,
    /// The folder of the client.
    pub cwd: Option<&'a Path>,
}

/// Reads the change that `asked` names.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for names of no commits, a workspace without git, and a patch that fits no
/// file; `POC_E_CANCELLED`.
pub fn read(asked: &ChangeRequest, ground: &Ground, ctx: &Context) -> Result<Change, ErrorObject> {
    let mut change = match &asked.patch {
        Some(text) => of_patch(text, ground, ctx)?,
        None => git::read(asked, ground, ctx)?,
    };
    find_renamed(&mut change.files);
    change.files.sort_by(|a, b| a.path.cmp(&b.path));
    change.id.digest = digest(&change.files);
    Ok(change)
}

/// Whether nothing stands at a path that the index would hold.
fn is_gone(ground: &Ground, path: &str) -> bool {
    matches!(place_of(ground.root, ground.excludes, path).0, Place::Missing)
}

/// Returns true if a rule or a limit keeps a path out of the index.
fn is_left_out(ground: &Ground, path: &str) -> bool {
    // A folder, or a link that no file of the change is, took the place of a file.
    !matches!(
        place_of(ground.root, ground.excludes, path).0,
        Place::Missing | Place::Folder | Place::Link | Place::File
    )
}

/// Reads texts, as many as there may be.
struct Reader<'a> {
    ground: &'a Ground<'a>,
    bytes: usize,
}

/// The text of a side: none where there is no file, or why it is not read.
type Side = Option<Result<String, &'static str>>;

impl Reader<'_> {
    /// What git kept, as the index would hold it.
    fn text(&self, path: &RepoPath, bytes: &[u8]) -> Result<String, &'static str> {
        if indexd_lang::roles::is_sensitive(path, bytes) {
            return Err(SENSITIVE);
        }
        let text = indexd_lang::decode::decode(bytes).ok_or(NO_TEXT)?;
        if self.ground.redacts && !indexd_secrets::is_exempt(path) {
            return Ok(indexd_secrets::redact(&text).0.into_owned());
        }
        Ok(text.into_owned())
    }

    /// A file on two sides; `None` when their texts are the same. `shown` is shown in place of the text after, and
    /// has the same lines with other ends.
    fn file(
        &mut self,
        path: &RepoPath,
        texts: [Side; 2],
        shown: Option<String>,
        indexed: Option<&str>,
    ) -> Option<ChangedFile> {
        if texts[0] == texts[1] && !matches!(texts[0], Some(Err(_))) {
            return None;
        }
        self.bytes += texts.iter().flatten().flatten().map(String::len).sum::<usize>();
        let is_too_large = self.bytes > BYTES_MAX;
        let [before, after] = match texts.map(Option::transpose) {
            [Err(why), _] | [_, Err(why)] => return Some(unread(path, why)),
            _ if is_too_large => return Some(unread(path, "the change is too large")),
            [Ok(before), Ok(after)] => [before, after],
        };
        let [b, a] = [&before, &after].map(|text| text.as_deref().unwrap_or_default());
        let hunks =
            if has_odd_lines(b) || has_odd_lines(a) { None } else { compare(b.as_bytes(), a.as_bytes()) };
        let Some(hunks) = hunks else { return Some(unread(path, "too much of it differs")) };
        let after = shown.or(after);
        Some(ChangedFile {
            hunks: runs(hunks),
            is_indexed: after.as_deref() == indexed,
            before: before.map(|t| version(path, &t)),
            after: after.map(|t| version(path, &t)),
            ..untouched(path)
        })
    }
}

/// Hunks with their places in the text before, too.
fn runs(hunks: Vec<Hunk>) -> Vec<Run> {
    let mut shift = 0i64;
    let run = |h: Hunk| {
        let before = (i64::from(h.after) - shift) as u32;
        shift += i64::from(h.added) - i64::from(h.removed);
        Run { before, removed: h.removed, after: h.after, added: h.added }
    };
    hunks.into_iter().map(run).collect()
}

/// A file of which nothing is known yet but its path.
fn untouched(path: &RepoPath) -> ChangedFile {
    ChangedFile { path: path.to_string(), ..ChangedFile::default() }
}

/// A file of which no text is shown.
fn unread(path: &RepoPath, why: &'static str) -> ChangedFile {
    ChangedFile { unreadable: Some(why), ..untouched(path) }
}

const NO_TEXT: &str = "it is not text";
const SENSITIVE: &str = "it may hold secrets";
const TOO_LARGE: &str = "it is too large";
const MISSING: &str = "git has not fetched it: the clone is a partial one";
const FILTERED: &str = "git passes it through a program, which is not run";
const ENCODED: &str = "git keeps it in another encoding, which is not known here";
const UNMERGED: &str = "it is in conflict";
const LEFT_OUT: &str = "the index leaves it out";
const LINK: &str = "it is a symbolic link";
const MODULE: &str = "it is a submodule";
const MODE: &str = "only its mode differs";

/// Whether a line ends in a carriage return alone, which git does not count as an end.
fn has_odd_lines(text: &str) -> bool {
    text.match_indices('\r').any(|(at, _)| text.as_bytes().get(at + 1) != Some(&b'\n'))
}

fn version(path: &RepoPath, text: &str) -> Version {
    let extracted = indexd_lang::extract(path, text.as_bytes());
    // A text that was decoded before has no other one.
    let text: Arc<str> = if *extracted.text == *text { extracted.text } else { Arc::from(text) };
    Version { lines: LineIndex::new(&text), text, facts: extracted.facts }
}

fn of_patch(text: &str, ground: &Ground, ctx: &Context) -> Result<Change, ErrorObject> {
    let files = patch::parse(text);
    let invalid = |message: &str| {
        ErrorObject::invalid(message).with_hint("give a patch in the unified format, as `git diff` prints it")
    };
    if files.is_empty() {
        return Err(invalid("the text holds no patch"));
    }
    let mut change = Change::default();
    let (mut n_applied, mut n_not, mut misfits) = (0, 0, BTreeSet::new());
    let mut reader = Reader { ground, bytes: 0 };
    let n_files = files.len();
    for file in files {
        ctx.check()?;
        let Some((path, texts)) = sides(&file, ground) else {
            misfits.extend(file.paths().next().map(str::to_owned));
            continue;
        };
        let there = ground.snapshot.file_by_path(&path).map(|f| ground.snapshot.text(f));
        *(if texts.is_applied { &mut n_applied } else { &mut n_not }) += 1;
        let Ok(path) = RepoPath::new(&path) else { continue };
        let bytes = [texts.before, texts.after].map(|t| t.map(|t| reader.text(&path, t.as_bytes())));
        let was = file.before.filter(|b| file.after.as_ref().is_some_and(|a| a != b));
        let same = || was.is_some().then(|| untouched(&path));
        let mut changed = reader.file(&path, bytes, None, there.as_deref()).or_else(same);
        if let Some(changed) = &mut changed {
            changed.previous_path = was;
        }
        change.files.extend(changed);
    }
    if misfits.len() == n_files {
        return Err(invalid("the patch fits no file of the index, neither before nor after it is applied"));
    }
    for path in misfits {
        change.notes.push(format!("the patch does not fit {path}"));
    }
    (change.id.from, change.id.to) = match (n_applied, n_not) {
        (_, 0) => (PATCH.to_owned(), WORKTREE.to_owned()),
        _ => (WORKTREE.to_owned(), PATCH.to_owned()),
    };
    Ok(change)
}

/// The path and both texts of a file of a patch, with the file as the index has it.
fn sides(file: &FilePatch, ground: &Ground) -> Option<(String, patch::Texts)> {
    for path in file.paths() {
        let Some(at) = place::of_file(ground.snapshot, ground.root, ground.cwd, path) else { continue };
        let there = ground.snapshot.text(ground.snapshot.file_by_path(&at)?);
        if let Some(texts) = file.sides(Some(&there)) {
            return Some((at, texts));
        }
    }
    let path = file.paths().next()?;
    let is_new = ground.snapshot.file_by_path(path).is_none() && is_gone(ground, path);
    is_new.then(|| file.sides(None)).flatten().map(|texts| (path.to_owned(), texts))
}

/// Joins files that went with files that came and have most of their lines.
fn find_renamed(files: &mut Vec<ChangedFile>) {
    let is_gone = |f: &ChangedFile| f.before.is_some() && f.after.is_none();
    let is_new = |f: &ChangedFile| f.before.is_none() && f.after.is_some();
    let gone: Vec<usize> = (0..files.len()).filter(|i| is_gone(&files[*i])).collect();
    let new: Vec<usize> = (0..files.len()).filter(|i| is_new(&files[*i])).collect();
    if gone.len() * new.len() > PAIRS_MAX {
        return;
    }
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for &g in &gone {
        for &n in &new {
            let (Some(before), Some(after)) = (&files[g].before, &files[n].after) else { continue };
            if let Some(percent) = alike(&before.text, &after.text) {
                pairs.push((percent, g, n));
            }
        }
    }
    pairs.sort_by_key(|p| (std::cmp::Reverse(p.0), p.1, p.2));
    let mut done: Vec<usize> = Vec::new();
    for (_, g, n) in pairs {
        if done.contains(&g) || done.contains(&n) {
            continue;
        }
        let (before, path) = (files[g].before.take(), files[g].path.clone());
        let (Some(b), Some(a)) = (&before, &files[n].after) else { continue };
        let Some(hunks) = compare(b.text.as_bytes(), a.text.as_bytes()) else { continue };
        files[n].hunks = runs(hunks);
        (files[n].before, files[n].previous_path) = (before, Some(path));
        done.extend([g, n]);
    }
    files.retain(|f| {
        f.before.is_some() || f.after.is_some() || f.unreadable.is_some() || f.previous_path.is_some()
    });
}

/// Percent of the bytes of the longer text that stand in lines of both, where it is enough.
fn alike(a: &str, b: &str) -> Option<usize> {
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    if longer == 0 || shorter * 100 < longer * ALIKE_PERCENT {
        return None;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    a.split_inclusive('\n').for_each(|l| *counts.entry(l).or_default() += 1);
    let mut common = 0;
    for line in b.split_inclusive('\n') {
        if let Some(n) = counts.get_mut(line).filter(|n| **n > 0) {
            *n -= 1;
            common += line.len();
        }
    }
    Some(common * 100 / longer).filter(|p| *p >= ALIKE_PERCENT)
}

fn digest(files: &[ChangedFile]) -> String {
    let mut h = blake3::Hasher::new();
    let mut put = |part: &[u8]| {
        h.update(&(part.len() as u64).to_le_bytes());
        h.update(part);
    };
    for f in files {
        put(f.path.as_bytes());
        put(f.previous_path.as_deref().unwrap_or("").as_bytes());
        put(f.unreadable.unwrap_or("").as_bytes());
        for side in [&f.before, &f.after] {
            put(&[u8::from(side.is_some())]);
            put(side.as_ref().map_or("", |v| &v.text).as_bytes());
        }
    }
    format!("b3:{}", h.finalize().to_hex())
}

fn refused(e: &CompareError) -> ErrorObject {
    let hint = match e {
        CompareError::Unavailable(_) => "give a patch with --diff -, or work in a clone of git",
        CompareError::Unknown(_) => "name commits as git does: HEAD~2, a branch, a tag, an id",
        CompareError::Unrelated(..) => "compare with two dots: A..B",
        CompareError::TooMany => "name a smaller range",
    };
    ErrorObject::invalid(format!("the change cannot be read: {e}")).with_hint(hint)
}
