//! The walk from HEAD: the commits, their order, and their changes.
//!
//! Commits leave a queue by descending commit time, then descending id, so the order is a function of the
//! commits alone. Merges are passed through: their changes are those of the merged commits. All work is
//! bounded by counts.

use crate::changes::content;
use crate::lines::{self, Hunk};
use crate::repository::{Unavailable, raw};
use crate::{Commit, CommitId, Limits, Past, SUBJECT_BYTES_MAX};
use gix::bstr::{BStr, BString, ByteSlice, ByteVec};
use gix::diff::tree::{State, Visit, visit};
use gix::hash::ObjectId;
use gix::objs::{FindExt, TreeRefIter};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BinaryHeap, VecDeque};
use std::ops::ControlFlow;

/// Merges passed through for each commit that counts, so that a walk through merges alone ends too.
const MERGES_PER_COMMIT_MAX: usize = 4;

/// Ids of at most `n_max` commits reachable from one, itself first, as [`read`] orders them.
pub(crate) fn reachable(repo: &gix::Repository, from: CommitId, n_max: usize) -> Vec<ObjectId> {
    let boundary = shallow_commits(repo).unwrap_or_default();
    let (mut queue, mut found) = (Queue::default(), Vec::new());
    queue.push(repo, ObjectId::from(from));
    while found.len() < n_max
        && let Some(next) = queue.heap.pop()
    {
        if !boundary.contains(&next.id) {
            next.parents.iter().for_each(|id| queue.push(repo, *id));
        }
        found.push(next.id);
    }
    found
}

pub(crate) fn read(
    repo: &gix::Repository,
    head: CommitId,
    prefix: &str,
    limits: &Limits,
    previous: Option<&Past>,
) -> Result<Past, Unavailable> {
    let boundary = shallow_commits(repo)?;
    let boundary_digest = digest(&boundary);
    let previous = previous.filter(|p| p.prefix == prefix && p.boundary == boundary_digest);
    if let Some(previous) = previous
        && (previous.head, previous.limits) == (head, *limits)
    {
        return Ok(previous.clone());
    }
    let known = Known::of(previous, limits);
    let boundary = boundary.into_iter().collect();
    let mut reader = Reader { repo, limits, boundary, state: State::default(), trees: Default::default() };
    let mut past = Past {
        head,
        limits: *limits,
        prefix: prefix.to_owned(),
        boundary: boundary_digest,
        ..Past::default()
    };
    let mut numbers = Numbers::default();
    let mut queue = Queue::default();
    queue.push(repo, ObjectId::from(head));
    let visits_max = limits.commits_max * (1 + MERGES_PER_COMMIT_MAX);
    for _ in 0..visits_max {
        if past.commits.len() >= limits.commits_max {
            break;
        }
        let Some(next) = queue.heap.pop() else { break };
        if !reader.boundary.contains(&next.id) {
            next.parents.iter().for_each(|id| queue.push(repo, *id));
        }
        if next.parents.len() > 1 {
            continue;
        }
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
            _ => reader.read(&next, prefix, wants_lines),
        };
        let Found { n_files, paths, hunks } = found;
        let paths = paths.into_iter().map(|path| numbers.of(path, &mut past.paths)).collect();
        past.commits.push(Commit { id, subject: next.subject, n_files, paths, hunks });
    }
    Ok(past)
}

/// Commits whose parents a shallow clone lacks.
fn shallow_commits(repo: &gix::Repository) -> Result<Vec<ObjectId>, Unavailable> {
    match repo.shallow_commits() {
        Ok(Some(commits)) => Ok(commits.iter().copied().collect()),
        Ok(None) => Ok(Vec::new()),
        Err(_) => Err(Unavailable::Unreadable { reason: "its list of shallow commits is broken" }),
    }
}

/// The place of each path in a list.
#[derive(Default)]
struct Numbers(FxHashMap<String, u32>);

impl Numbers {
    /// The place of `path` in `paths`, to which it is added when it is new.
    fn of(&mut self, path: String, paths: &mut Vec<String>) -> u32 {
        *self.0.entry(path).or_insert_with_key(|path| {
            paths.push(path.clone());
            paths.len() as u32 - 1
        })
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
fn digest(boundary: &[ObjectId]) -> [u8; 32] {
    if boundary.is_empty() {
        return [0; 32];
    }
    let mut sorted = boundary.to_vec();
    sorted.sort_unstable();
    let mut h = blake3::Hasher::new();
    for id in &sorted {
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

#[derive(Default)]
struct Queue {
    heap: BinaryHeap<Next>,
    seen: FxHashSet<ObjectId>,
}

impl Queue {
    /// Adds a commit once; a commit whose object is missing or broken is left out.
    fn push(&mut self, repo: &gix::Repository, id: ObjectId) {
        if !self.seen.insert(id) {
            return;
        }
        let Ok(commit) = repo.find_commit(id) else { return };
        let Ok(decoded) = commit.decode() else { return };
        let subject = decoded.message.lines().next().unwrap_or_default();
        let next = Next {
            time: decoded.time().map_or(0, |t| t.seconds),
            id,
            tree: decoded.tree(),
            parents: decoded.parents().collect(),
            subject: cut(subject),
        };
        self.heap.push(next);
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
    repo: &'r gix::Repository,
    limits: &'r Limits,
    boundary: FxHashSet<ObjectId>,
    state: State,
    trees: [Vec<u8>; 2],
}

impl Reader<'_> {
    /// Reads the changes of a commit below `prefix`.
    fn read(&mut self, commit: &Next, prefix: &str, wants_lines: bool) -> Found {
        let changed = self.changed(commit);
        let n_files = changed.len() as u32;
        let own: Vec<(String, Sides)> = changed
            .into_iter()
            .filter_map(|(path, sides)| Some((path.strip_prefix(prefix)?.to_owned(), sides)))
            .collect();
        let is_telling = n_files as usize <= self.limits.files_per_commit_max;
        let compare = |(_, sides): &(String, Sides)| is_telling.then(|| self.compare(sides)).flatten();
        let hunks = if wants_lines { own.iter().map(compare).collect() } else { Vec::new() };
        Found { n_files, paths: own.into_iter().map(|c| c.0).collect(), hunks }
    }

    /// The files that a commit changed against its only parent, or all files of a first commit; empty when
    /// there are too many or they cannot be known.
    fn changed(&mut self, commit: &Next) -> Vec<(String, Sides)> {
        if self.boundary.contains(&commit.id) {
            return Vec::new();
        }
        let [before_buf, after_buf] = &mut self.trees;
        let objects = &self.repo.objects;
        let before = match commit.parents.first() {
            None => TreeRefIter::from_bytes(&[], gix::hash::Kind::Sha1),
            Some(parent) => {
                let Ok(parent) = self.repo.find_commit(*parent) else { return Vec::new() };
                let Ok(tree) = parent.tree_id() else { return Vec::new() };
                match objects.find_tree_iter(&tree, before_buf) {
                    Ok(tree) => tree,
                    Err(_) => return Vec::new(),
                }
            }
        };
        let Ok(after) = objects.find_tree_iter(&commit.tree, after_buf) else { return Vec::new() };
        let mut changes = Changes { limit: self.limits.files_looked_at_max, ..Changes::default() };
        let done = gix::diff::tree(before, after, &mut self.state, objects, &mut changes);
        if done.is_err() || changes.is_over {
            return Vec::new();
        }
        changes.paths
    }

    /// The changed lines of a file; an added or removed file is compared with an empty one.
    fn compare(&self, sides: &Sides) -> Option<Vec<Hunk>> {
        let read = |id: &Option<ObjectId>| match id {
            Some(id) => content(self.repo, *id, lines::FILE_BYTES_MAX as u64),
            None => Some(Vec::new()),
        };
        lines::compare(&read(&sides.before)?, &read(&sides.after)?)
    }
}

/// The contents of a file before and after a commit; `None` where it did not exist.
struct Sides {
    before: Option<ObjectId>,
    after: Option<ObjectId>,
}

/// Collects the changed files.
#[derive(Default)]
struct Changes {
    path: BString,
    queued: VecDeque<BString>,
    paths: Vec<(String, Sides)>,
    limit: usize,
    is_over: bool,
}

impl Changes {
    fn push(&mut self, component: &BStr) {
        if !component.is_empty() {
            if !self.path.is_empty() {
                self.path.push(b'/');
            }
            self.path.push_str(component);
        }
    }
}

impl Visit for Changes {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.path = self.queued.pop_front().unwrap_or_default();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.push(component);
        self.queued.push_back(self.path.clone());
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.push(component);
    }

    fn pop_path_component(&mut self) {
        let parent = self.path.rfind_byte(b'/').unwrap_or(0);
        self.path.truncate(parent);
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        let mode = change.entry_mode();
        if mode.is_blob() {
            if self.paths.len() >= self.limit {
                self.is_over = true;
                return ControlFlow::Break(());
            }
            // A path that is not UTF-8 cannot belong to a workspace.
            if let Ok(path) = self.path.to_str() {
                let sides = match change {
                    visit::Change::Addition { oid, .. } => Sides { before: None, after: Some(oid) },
                    visit::Change::Deletion { oid, .. } => Sides { before: Some(oid), after: None },
                    visit::Change::Modification { previous_oid, oid, .. } => {
                        Sides { before: Some(previous_oid), after: Some(oid) }
                    }
                };
                self.paths.push((path.to_owned(), sides));
            }
        }
        ControlFlow::Continue(())
    }
}
