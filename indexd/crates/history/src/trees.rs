//! The paths that differ between two trees.

use crate::changes::{Kept, Kind};
use crate::repository::{Unavailable, raw};
use gix::bstr::{BStr, BString, ByteSlice, ByteVec};
use gix::diff::tree::{Error, State, Visit, visit};
use gix::hash::ObjectId;
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The contents of a path on two sides; `None` for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// On the first.
    pub before: Option<Kept>,
    /// On the second.
    pub after: Option<Kept>,
}

/// The paths of the `wanted` kinds that differ between two trees, in the order of a breadth-first walk; `None` for
/// more than `n_max`. No tree counts as an empty one.
///
/// # Errors
/// [`Unavailable::Unreadable`] when the object of a tree is missing.
pub(crate) fn differing(
    repo: &gix::Repository,
    trees: [Option<ObjectId>; 2],
    wanted: fn(Kind) -> bool,
    n_max: usize,
) -> Result<Option<Vec<(String, Sides)>>, Unavailable> {
    let missing = || Unavailable::Unreadable { reason: "a folder is missing" };
    let data = |tree: Option<ObjectId>| match tree {
        Some(id) => repo.find_tree(id).map(|mut tree| tree.take_data()).map_err(|_| missing()),
        None => Ok(Vec::new()),
    };
    let [before, after] = trees.map(data);
    let (before, after) = (before?, after?);
    let entries = |data| TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1);
    let mut changes =
        Changes { path: BString::default(), queued: VecDeque::new(), found: Vec::new(), wanted, n_max };
    let (before, after) = (entries(&before), entries(&after));
    match gix::diff::tree(before, after, State::default(), &repo.objects, &mut changes) {
        Ok(()) => Ok(Some(changes.found)),
        Err(Error::Cancelled) => Ok(None),
        Err(Error::Failure(_)) => Err(missing()),
    }
}

/// The kind of an entry of a tree; `None` for a folder.
pub(crate) fn kind_of(mode: EntryMode) -> Option<Kind> {
    match mode.kind() {
        EntryKind::Tree => None,
        EntryKind::Blob => Some(Kind::File),
        EntryKind::BlobExecutable => Some(Kind::Program),
        EntryKind::Link => Some(Kind::Link),
        EntryKind::Commit => Some(Kind::Module),
    }
}

/// Collects the changed paths.
struct Changes {
    path: BString,
    queued: VecDeque<BString>,
    found: Vec<(String, Sides)>,
    wanted: fn(Kind) -> bool,
    n_max: usize,
}

impl Visit for Changes {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.path = self.queued.pop_front().unwrap_or_default();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.push_path_component(component);
        self.queued.push_back(self.path.clone());
    }

    fn push_path_component(&mut self, component: &BStr) {
        if !component.is_empty() {
            if !self.path.is_empty() {
                self.path.push(b'/');
            }
            self.path.push_str(component);
        }
    }

    fn pop_path_component(&mut self) {
        let parent = self.path.rfind_byte(b'/').unwrap_or(0);
        self.path.truncate(parent);
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        let kept = |mode, id: ObjectId| Some(Kept { kind: kind_of(mode)?, id: raw(&id).ok()? });
        let is_wanted = kind_of(change.entry_mode()).is_some_and(self.wanted);
        let sides = match change {
            visit::Change::Addition { entry_mode, oid, .. } => {
                Sides { before: None, after: kept(entry_mode, oid) }
            }
            visit::Change::Deletion { entry_mode, oid, .. } => {
                Sides { before: kept(entry_mode, oid), after: None }
            }
            visit::Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid } => {
                Sides { before: kept(previous_entry_mode, previous_oid), after: kept(entry_mode, oid) }
            }
        };
        if is_wanted {
            if self.found.len() >= self.n_max {
                return ControlFlow::Break(());
            }
            // A path that is not UTF-8 cannot belong to a workspace.
            if let Ok(path) = self.path.to_str() {
                self.found.push((path.to_owned(), sides));
            }
        }
        ControlFlow::Continue(())
    }
}
