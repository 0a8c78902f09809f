//! The walk from HEAD: the commits, their order, and their changes.
//!
//! Commits leave a queue by descending commit time, then descending id, so the order is a function of the
//! commits alone. Merges are passed through: their changes are those of the merged commits. All work is
//! bounded by counts.

use crate::changes::{Kept, Kind};
use crate::lines::{self, Hunk};
use crate::repository::{Repository, Unavailable, raw};
use crate::trees::{self, Sides};
use crate::{Commit, CommitId, Limits, Past, SUBJECT_BYTES_MAX};
use gix::bstr::ByteSlice;
use gix::hash::ObjectId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, BinaryHeap};

/// Merges passed through for each commit that counts, so that a walk through merges alone ends too.
const MERGES_PER_COMMIT_MAX: usize = 4;

/// Ids of at most `n_max` commits reachable from one, itself first, as [`read`] orders them.
pub(crate) fn reachable(repository: &Repository, from: CommitId, n_max: usize) -> Vec<ObjectId> {
    let boundary = shallow_commits(repository).unwrap_or_default();
    Commits::from(repository, from, &boundary).take(n_max).map(|commit| commit.id).collect()
}

pub(crate) fn read(
    repository: &Repository,
    head: CommitId,
    limits: &Limits,
    previous: Option<&Past>,
) -> Result<Past, Unavailable> {
    let prefix = &repository.prefix;
    let boundary = shallow_commits(repository)?;
    let boundary_digest = digest(&boundary);
    let previous = previous.filter(|p| p.prefix == *prefix && p.boundary == boundary_digest);
    if let Some(previous) = previous
        && (previous.head, previous.limits) == (head, *limits)
    {
        return Ok(previous.clone());
    }
    let known = Known::of(previous, limits);
    let reader = Reader { repository, limits, boundary: &boundary };
    let mut past =
        Past { head, limits: *limits, prefix: prefix.clone(), boundary: boundary_digest, ..Past::default() };
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let visits_max = limits.commits_max * (1 + MERGES_PER_COMMIT_MAX);
    let visited = Commits::from(repository, head, &boundary).take(visits_max);
    for next in visited.filter(|commit| commit.parents.len() < 2).take(limits.commits_max) {
        let id = raw(&next.id)?;
        // Known lines are kept while the commit is among the newest, and read when it becomes one of them.
        let wants_lines = past.commits.len() < limits.lines_commits_max;
        let lines_known = |c: &Commit| !wants_lines || c.hunks.len() == c.paths.len();
        let found = match known.commits.get(&id) {
            Some(commit) if lines_known(commit) => Found {
                n_files: commit.n_files,
                paths: commit.paths.iter().map(|i| known.paths[*i as usize].clone()).collect(),
                hunks: if wants_lines { commit.hunks.clone() } else { Vec::new() },
            },
            _ => reader.read(&next, wants_lines),
        };
        let Found { n_files, paths, hunks } = found;
        let mut number = |path| {
            *numbers.entry(path).or_insert_with_key(|path| {
                past.paths.push(path.clone());
                past.paths.len() as u32 - 1
            })
        };
        let paths = paths.into_iter().map(&mut number).collect();
        past.commits.push(Commit { id, subject: next.subject, n_files, paths, hunks });
    }
    Ok(past)
}

/// Commits whose parents a shallow clone lacks.
fn shallow_commits(repository: &Repository) -> Result<BTreeSet<ObjectId>, Unavailable> {
    match repository.repo.shallow_commits() {
        Ok(Some(commits)) => Ok(commits.iter().copied().collect()),
        Ok(None) => Ok(BTreeSet::new()),
        Err(_) => Err(Unavailable::Unreadable { reason: "its list of shallow commits is broken" }),
    }
}

/// The changes of a commit.
struct Found {
    n_files: u32,
    paths: Vec<String>,
    /// Changed lines of each path, where they are wanted.
    hunks: Vec<Option<Vec<Hunk>>>,
}

/// Commits that need not be read again.
#[derive(Default)]
struct Known<'p> {
    commits: FxHashMap<CommitId, &'p Commit>,
    paths: &'p [String],
}

impl<'p> Known<'p> {
    /// The changes of a commit depend on two of the limits alone. Commits without known changes are read
    /// again, in case missing objects have arrived.
    fn of(previous: Option<&'p Past>, limits: &Limits) -> Self {
        let Some(past) = previous else { return Self::default() };
        let Limits { commits_max: _, files_per_commit_max, files_looked_at_max, lines_commits_max: _ } =
            past.limits;
        if (files_per_commit_max, files_looked_at_max)
            != (limits.files_per_commit_max, limits.files_looked_at_max)
        {
            return Self::default();
        }
        let commits = past.commits.iter().filter(|c| c.n_files > 0).map(|c| (c.id, c)).collect();
        Self { commits, paths: &past.paths }
    }
}

/// The digest of the boundary; zero without one.
fn digest(boundary: &BTreeSet<ObjectId>) -> [u8; 32] {
    if boundary.is_empty() {
        return [0; 32];
    }
    let mut h = blake3::Hasher::new();
    for id in boundary {
        h.update(id.as_bytes());
    }
    *h.finalize().as_bytes()
}

/// A commit in the queue. Orders by time, then by id, which is unique.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    time: i64,
    id: ObjectId,
    tree: ObjectId,
    parents: Vec<ObjectId>,
    subject: String,
}

/// The commits reachable from one, by descending time, then by descending id; those of the boundary without their
/// parents.
struct Commits<'r> {
    repository: &'r Repository,
    boundary: &'r BTreeSet<ObjectId>,
    queue: BinaryHeap<Next>,
    seen: FxHashSet<ObjectId>,
}

impl<'r> Commits<'r> {
    fn from(repository: &'r Repository, first: CommitId, boundary: &'r BTreeSet<ObjectId>) -> Self {
        let mut commits = Self { repository, boundary, queue: BinaryHeap::new(), seen: FxHashSet::default() };
        commits.push(ObjectId::from(first));
        commits
    }

    /// Adds a commit once; a commit whose object is missing or broken is left out.
    fn push(&mut self, id: ObjectId) {
        if !self.seen.insert(id) {
            return;
        }
        let Ok(commit) = self.repository.repo.find_commit(id) else { return };
        let Ok(decoded) = commit.decode() else { return };
        let subject = decoded.message.lines().next().unwrap_or_default();
        self.queue.push(Next {
            time: decoded.time().map_or(0, |t| t.seconds),
            id,
            tree: decoded.tree(),
            parents: decoded.parents().collect(),
            subject: cut(subject),
        });
    }
}

impl Iterator for Commits<'_> {
    type Item = Next;

    fn next(&mut self) -> Option<Next> {
        let next = self.queue.pop()?;
        if !self.boundary.contains(&next.id) {
            next.parents.iter().for_each(|id| self.push(*id));
        }
        Some(next)
    }
}

fn cut(subject: &[u8]) -> String {
    let mut subject = subject.to_str_lossy().trim().to_owned();
    let mut end = subject.len().min(SUBJECT_BYTES_MAX);
    while !subject.is_char_boundary(end) {
        end -= 1;
    }
    subject.truncate(end);
    subject
}

struct Reader<'r> {
    repository: &'r Repository,
    limits: &'r Limits,
    boundary: &'r BTreeSet<ObjectId>,
}

impl Reader<'_> {
    /// Reads the changes of a commit in the workspace.
    fn read(&self, commit: &Next, wants_lines: bool) -> Found {
        let changed = self.changed(commit).unwrap_or_default();
        let n_files = changed.len() as u32;
        let own: Vec<(String, Sides)> = changed
            .into_iter()
            .filter_map(|(path, sides)| {
                Some((path.strip_prefix(&*self.repository.prefix)?.to_owned(), sides))
            })
            .collect();
        let is_telling = n_files as usize <= self.limits.files_per_commit_max;
        let compare = |(_, sides): &(String, Sides)| is_telling.then(|| self.compare(sides)).flatten();
        let hunks = if wants_lines { own.iter().map(compare).collect() } else { Vec::new() };
        Found { n_files, paths: own.into_iter().map(|c| c.0).collect(), hunks }
    }

    /// The files that a commit changed against its only parent, or all files of a first commit; `None` when
    /// there are too many or they cannot be known.
    fn changed(&self, commit: &Next) -> Option<Vec<(String, Sides)>> {
        if self.boundary.contains(&commit.id) {
            return None;
        }
        let repo = &self.repository.repo;
        let before = match commit.parents.first() {
            Some(parent) => Some(repo.find_commit(*parent).ok()?.tree_id().ok()?.detach()),
            None => None,
        };
        let trees = [before, Some(commit.tree)];
        trees::differing(repo, trees, Kind::is_file, self.limits.files_looked_at_max).ok()?
    }

    /// The changed lines of a file; an added or removed file is compared with an empty one.
    fn compare(&self, sides: &Sides) -> Option<Vec<Hunk>> {
        let text = |kept: Option<Kept>| match kept {
            Some(kept) => self.repository.content(&kept.id, lines::FILE_BYTES_MAX as u64),
            None => Some(Vec::new()),
        };
        lines::compare(&text(sides.before)?, &text(sides.after)?)
    }
}
