//! Brings the index up to date, by comparing the whole tree or by the paths that the watcher reported.

use super::Driver;
use super::watching::Watching;
use crate::workspace::Problem;
use crate::workspace::indexing::engine::EngineError;
use crate::workspace::noticing::condition::settings_ignored;
use crate::workspace::noticing::watch::Noticed;
use crate::workspace::tree::ChangeSet;
use crate::workspace::tree::git::GitFolders;
use crate::workspace::tree::rules;
use indexd_proto::workspace::How;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time without a change that ends a burst: programs write several files within a few milliseconds.
const SETTLED: Duration = Duration::from_millis(8);
/// Time after which a burst is taken in although changes go on.
const BURST_MAX: Duration = Duration::from_millis(50);
/// Paths in a batch that is indexed without waiting for more, once all its files are closed.
const LONE_PATHS_MAX: usize = 4;
/// Rounds of watching new folders and listing them again. A tree that still grows after them is compared
/// as a whole.
pub(super) const ROUNDS_MAX: usize = 16;

impl Driver {
    pub(super) fn sweep_if_due(&mut self) -> Result<(), EngineError> {
        let is_lost = self.inbox.peek(|n| n.lost);
        let is_time = self.sweep_at.is_some_and(|at| at <= self.now());
        let is_unwatched = matches!(self.watching, Watching::Not);
        if self.needs_sweep || is_lost || is_time || is_unwatched { self.sweep() } else { Ok(()) }
    }

    /// Compares the whole tree, which covers every change reported before.
    fn sweep(&mut self) -> Result<(), EngineError> {
        let started = self.now();
        if self.inbox.take().lost {
            self.shared.update(|c| c.status.n_rescans += 1);
        }
        self.needs_sweep = true;
        self.sweep_at = None;
        self.maintenance.has_waste = true;
        self.start_watching();
        let Some(changes) = self.sweep_watching()? else { return Ok(()) };
        self.head_is_dirty = true;
        if self.absorb(changes, true)? {
            self.needs_sweep = false;
            self.cookies.give_up();
            // Requests may have arrived during the comparison, which may cover some of them.
            while let Ok(event) = self.events.try_recv() {
                self.take(event);
            }
            self.answer_until(started, How::Scan);
        }
        if self.watching.is_degraded() {
            let wait = Duration::from_secs(self.setup.engine.config.watch_sweep_s.max(1));
            self.sweep_at = Some(self.now() + wait);
        }
        Ok(())
    }

    /// Applies changes to the index. First watches the new folders among them and lists those again, since
    /// files created in a folder before its watch raise no event. `are_all` is true if the changes are the
    /// whole difference between index and tree. Returns false if they went to a build.
    fn absorb(&mut self, mut changes: ChangeSet, are_all: bool) -> Result<bool, EngineError> {
        for round in 0.. {
            let gone = std::mem::take(&mut changes.folders_gone);
            let new = std::mem::take(&mut changes.folders_new);
            self.unwatch(&gone);
            if new.is_empty() || self.watching.watcher().is_none() {
                break;
            }
            let fresh = self.watch_all(&new);
            let Some(engine) = &mut self.engine else { return Ok(false) };
            if fresh.is_empty() {
                break;
            }
            changes.merge(match round {
                0..ROUNDS_MAX => engine.tree.examine(fresh.iter().map(String::as_str))?,
                _ => engine.tree.sweep(None)?,
            });
            if round > ROUNDS_MAX {
                break;
            }
        }
        if self.head_is_dirty {
            // Another branch may have its reference in another folder. Watch it first to miss no move.
            self.watch_own();
        }
        let Some(engine) = &mut self.engine else { return Ok(false) };
        if engine.needs_build(&changes) {
            self.start_build(are_all.then_some(changes));
            return Ok(false);
        }
        let look_at_head = std::mem::take(&mut self.head_is_dirty);
        if let Err(e) = engine.apply(&changes, look_at_head, &|| self.shared.is_stopping()) {
            self.head_is_dirty |= look_at_head;
            self.needs_sweep = true;
            return Err(e);
        }
        let is_worn = engine.is_worn();
        (self.n_rebuilds, self.n_panics) = (0, 0);
        let now = self.now();
        self.maintenance.changed(is_worn, now);
        self.setup.pressure.check();
        Ok(true)
    }

    /// Answers the requests whose earlier changes are indexed, and starts what the others wait for.
    pub(super) fn answer_requests(&mut self) -> Result<(), EngineError> {
        if !self.cookies.is_wanted() {
            return Ok(());
        }
        let Watching::Events(watcher) = &self.watching else { return self.sweep() };
        let until = self.now();
        if watcher.catch_up() {
            if self.inbox.peek(|n| n.lost) {
                return self.sweep();
            }
            let noticed = self.inbox.take();
            if self.process(&noticed)? {
                self.answer_until(until, How::Queue);
            }
            return Ok(());
        }
        let has_returned =
            self.inbox.peek(|n| n.paths.keys().any(|p| p.parent() == Some(self.cookies.dir())));
        if has_returned {
            self.take_in()?;
        }
        if !self.is_open() {
            return Ok(());
        }
        if self.cookies.due(self.patience()).is_some_and(|at| at <= self.now()) {
            self.cookies.give_up();
            self.shared.update(|c| c.status.n_rescans += 1);
            return self.sweep();
        }
        match self.cookies.make(&self.clock) {
            Ok(()) => Ok(()),
            Err(_) => self.sweep(),
        }
    }

    pub(super) fn take_in_if_due(&mut self) -> Result<(), EngineError> {
        let began = self.now();
        if self.batch_due().is_none_or(|at| at > began) {
            return Ok(());
        }
        let done = self.take_in();
        self.calm.took_in(began, self.now(), self.last_request);
        done
    }

    /// Applies the reported changes and answers the requests whose cookies are among them.
    fn take_in(&mut self) -> Result<(), EngineError> {
        let noticed = self.inbox.take();
        let until = noticed.paths.keys().filter_map(|p| self.cookies.returned(p)).max();
        let is_in = self.process(&noticed)?;
        if let (true, Some(until)) = (is_in, until) {
            self.answer_until(until, How::Cookie);
        }
        Ok(())
    }

    /// Applies the reported changes. Returns false if they went to a build.
    fn process(&mut self, noticed: &Noticed) -> Result<bool, EngineError> {
        if noticed.lost {
            self.needs_sweep = true;
            return Ok(false);
        }
        let mut dirty = self.dirty_paths(noticed);
        if dirty.contains(crate::config::REPO_CONFIG) && self.read_config() {
            self.engine.iter_mut().for_each(|engine| engine.set_config(&self.setup.engine.config));
            self.needs_sweep = true;
        }
        if std::mem::take(&mut self.needs_sweep) {
            dirty.insert(String::new());
        }
        dirty.extend(self.engine.iter().flat_map(|engine| engine.to_read_again()));
        if dirty.is_empty() && !self.head_is_dirty {
            return Ok(true);
        }
        let replaced = self.unwatch_replaced(&dirty);
        let Some(engine) = &mut self.engine else { return Ok(false) };
        let examined = engine.tree.examine(dirty.iter().map(String::as_str)).map(|mut changes| {
            changes.folders_new.extend(replaced.into_iter().filter(|dir| engine.tree.watches(dir)));
            changes
        });
        let absorbed = examined.map_err(EngineError::from).and_then(|changes| self.absorb(changes, false));
        if absorbed.is_err() {
            self.needs_sweep = true;
        }
        absorbed
    }

    /// Classifies the reported paths: returns those of the indexed set, relative to the root, and records
    /// whether HEAD or the rules may have changed.
    fn dirty_paths(&mut self, noticed: &Noticed) -> BTreeSet<String> {
        let root = self.setup.engine.root.clone();
        let git = GitFolders::find(&root);
        let mut dirty = BTreeSet::new();
        for path in noticed.paths.keys() {
            if path.starts_with(self.cookies.dir()) {
                continue;
            }
            let in_git =
                git.as_ref().is_some_and(|g| path.starts_with(&g.head) || path.starts_with(&g.common));
            if in_git && git.as_ref().is_some_and(|g| *path != g.root.join(".git")) {
                self.head_is_dirty |= is_head(path);
                // Settings may name other excludes.
                self.needs_sweep |=
                    ["info/exclude", "config", "config.worktree"].iter().any(|name| path.ends_with(name));
                continue;
            }
            if path.file_name().is_some_and(|name| name == ".git")
                && path.parent().is_some_and(|top| root.starts_with(top))
            {
                // A nested repository came or went, with its rules.
                self.head_is_dirty = true;
                self.needs_sweep = true;
                continue;
            }
            match path.strip_prefix(&root) {
                Ok(rel) => dirty.extend(rel.to_str().map(str::to_owned)),
                // An ignore file above the root, or the user's own.
                Err(_) => self.needs_sweep |= rules::is_outside_rule(&root, path),
            }
        }
        dirty
    }

    /// Reads the settings of the repository. Refused ones leave those in force, and false is returned.
    pub(super) fn read_config(&mut self) -> bool {
        match self.user_config.for_repository(&self.setup.engine.root) {
            Ok(config) => {
                self.setup.engine.config = Arc::new(config);
                self.shared.solved(|kind| kind == Problem::Settings);
                true
            }
            Err(e) => {
                self.shared.problem(Problem::Settings, settings_ignored(&e));
                false
            }
        }
    }

    /// When the reported changes are applied.
    pub(super) fn batch_due(&self) -> Option<Instant> {
        let tree = self.engine.as_ref().map(|e| &e.tree);
        let root = &self.setup.engine.root;
        let is_known = |p: &Path| {
            let rel = p.strip_prefix(root).ok().and_then(Path::to_str);
            rel.is_none_or(|rel| tree.is_some_and(|t| t.holds(rel)))
        };
        self.inbox.peek(|n| {
            let (first, last) = (n.first?, n.last?);
            // A new file may be temporary and about to be renamed.
            let is_lone =
                n.paths.len() <= LONE_PATHS_MAX && n.paths.iter().all(|(p, done)| *done && is_known(p));
            let due = if is_lone || n.lost { first } else { (last + SETTLED).min(first + BURST_MAX) };
            Some(self.calm.until.map_or(due, |until| due.max(until)))
        })
    }
}

/// Pauses between changes that are taken in without a request. A file that grows all the time, as a log does,
/// is read as a whole each time; requests do not wait for the end of a pause.
#[derive(Default)]
pub(super) struct Calm {
    pause: Duration,
    until: Option<Instant>,
}

/// Time that taking changes in may take without a pause after it.
const QUICK: Duration = Duration::from_millis(50);
/// The first pause, in the times that the work took; each further one is twice as long.
const PAUSE_FACTOR: u32 = 4;
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(60);

impl Calm {
    /// Records work done without a request, and the time of the last request.
    fn took_in(&mut self, began: Instant, ended: Instant, asked: Instant) {
        let took = ended.saturating_duration_since(began);
        let is_asked = self.until.is_some_and(|until| asked + self.pause >= until);
        if took < QUICK {
            *self = Self::default();
            return;
        }
        if is_asked {
            self.pause = Duration::ZERO;
        }
        self.pause = (self.pause * 2).max(took * PAUSE_FACTOR).min(PAUSE_MAX);
        self.until = Some(ended + self.pause);
    }
}

/// True if a path inside a git folder determines HEAD or the commits behind it.
fn is_head(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    !name.ends_with(".lock")
        && (matches!(name, "HEAD" | "packed-refs" | "shallow") || path.iter().any(|p| p == "refs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log that takes the given number of milliseconds to read and is written to all the time.
    #[test]
    fn what_changes_all_the_time_is_read_at_a_falling_rate_until_somebody_asks() {
        let start = Instant::now();
        let read_in_an_hour = |took_ms: u64, asked_every: Option<u64>| {
            let (mut calm, mut now, mut n) = (Calm::default(), start, 0_u64);
            let end = start + Duration::from_secs(3_600);
            while now < end {
                let took = Duration::from_millis(took_ms);
                let since = asked_every.map(|s| Duration::from_secs((now - start).as_secs() / s * s));
                calm.took_in(now, now + took, since.map_or(start, |since| start + since));
                n += 1;
                now = calm.until.unwrap_or(now + took + SETTLED);
            }
            n
        };
        assert!((60..80).contains(&read_in_an_hour(300, None)), "{}", read_in_an_hour(300, None));
        assert!(read_in_an_hour(10, None) > 100_000, "what is quick has no pause");
        assert!(read_in_an_hour(300, Some(30)) > 2 * read_in_an_hour(300, None), "somebody works there");
    }
}
