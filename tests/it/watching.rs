//! A request sees every save made before it, whatever the save looks like and whatever the watcher
//! loses.

use crate::edits::{Edit, Repository};
use crate::support::{dump_of, dump_of_fresh_build, git};
use indexd::config::Config;
use indexd::workspace::handle::Workspace;
use indexd::workspace::indexing::engine::Setup;
use indexd::workspace::indexing::recovery::Verify;
use indexd::workspace::indexing::stages::Parts;
use indexd::workspace::life::driver::WorkspaceSetup;
use indexd::workspace::noticing::watch::{self, Inbox, Watch, WatchError, Watcher};
use indexd::workspace::{Freshness, Pressure, Wait, WorkspaceError};
use indexd_model::{FactsView, IndexView};
use indexd_proto::workspace::{FailureCode, How, State};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

struct World {
    _tmp: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
}

/// Waits up to `ms` milliseconds for saves.
fn wait(ms: u64) -> Wait {
    Wait { fresh_for: Duration::from_millis(ms), ..Wait::default() }
}

impl World {
    fn new(watch: Watch) -> Self {
        let mut config = Config::default();
        // A busy machine must not look like a deaf watcher.
        config.freshness_wait_ms = 60_000;
        Self::with(watch, config)
    }

    fn with(watch: Watch, mut config: Config) -> Self {
        config.index_background_tokens = false;
        let tmp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(tmp.path()).unwrap();
        let root = top.join("repo");
        fs::create_dir(&root).unwrap();
        let workspace = Workspace::new(WorkspaceSetup {
            engine: Setup {
                root: root.clone(),
                home: top.join("index"),
                config: Arc::new(config),
                verify: Verify::InProcess,
                parts: Parts::default(),
                sharing: None,
            },
            cookies: top.join("cookies"),
            watch,
            pressure: Pressure::none(),
        });
        Self { _tmp: tmp, root, workspace }
    }

    fn write(&self, path: &str, text: &str) {
        let at = self.root.join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    fn git(&self, args: &[&str]) {
        git(&self.root, args);
    }

    /// Those of some files that the index has as its HEAD has them.
    fn at_head<'p>(&self, paths: &[&'p str]) -> Vec<&'p str> {
        let snapshot = self.workspace.snapshot().unwrap();
        let at_head = self.workspace.at_head(&snapshot);
        paths.iter().copied().filter(|path| at_head.holds(path)).collect()
    }

    fn fresh(&self) -> Freshness {
        let freshness = self.workspace.freshness(wait(20_000), &|| false, &mut |_| {}).unwrap();
        assert!(freshness.fresh, "{freshness:?}");
        freshness
    }

    fn text(&self, path: &str) -> Option<String> {
        let snapshot = self.workspace.snapshot().unwrap();
        snapshot.file_by_path(path).map(|file| snapshot.text(file).to_string())
    }

    /// Waits until the watcher is in charge.
    fn watching(&self) {
        self.fresh();
        self.state(|s| s.watch.name() == "events" && s.n_watched > 0);
    }

    fn state(&self, wanted: impl Fn(&indexd_proto::workspace::WorkspaceStatus) -> bool) {
        let until = Instant::now() + Duration::from_secs(20);
        while !wanted(&self.workspace.status()) {
            assert!(Instant::now() < until, "{:?}", self.workspace.status());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn check_dump(&self) {
        let snapshot = self.workspace.snapshot().unwrap();
        assert_eq!(dump_of(&snapshot), dump_of_fresh_build(&self.root));
    }
}

#[test]
fn every_kind_of_save_is_in_the_next_answer() {
    saves_are_in_the_next_answer(watch::portable::start, How::Cookie);
    if cfg!(target_os = "linux") {
        saves_are_in_the_next_answer(watch::system, How::Queue);
    }
}

fn saves_are_in_the_next_answer(watch: Watch, how: How) {
    let world = World::new(watch);
    world.write("a.md", "0");
    world.watching();
    for i in 1..=20 {
        let text = format!("save {i}\n");
        let at = |name: &str| world.root.join(name);
        match i % 5 {
            0 => fs::write(at("a.md"), &text).unwrap(),
            1 => {
                fs::write(at(".a.md.swp"), &text).unwrap();
                fs::rename(at(".a.md.swp"), at("a.md")).unwrap();
            }
            2 => {
                fs::rename(at("a.md"), at("a.md~")).unwrap();
                fs::write(at("a.md"), &text).unwrap();
                fs::remove_file(at("a.md~")).unwrap();
            }
            3 => {
                fs::remove_file(at("a.md")).unwrap();
                fs::write(at("a.md"), &text).unwrap();
            }
            _ => {
                use std::io::Write;
                let mut file = fs::File::create(at("a.md")).unwrap();
                file.write_all(text.as_bytes()).unwrap();
                // Still open when the request is made.
                let freshness = world.fresh();
                assert_eq!(freshness.how, how);
                assert_eq!(world.text("a.md").as_deref(), Some(text.as_str()), "save {i}");
                continue;
            }
        }
        assert_eq!(world.fresh().how, how);
        assert_eq!(world.text("a.md").as_deref(), Some(text.as_str()), "save {i}");
        assert_eq!(world.workspace.status().n_files, 1, "no temporary name stays");
    }
}

#[test]
fn folders_made_moved_and_ignored_are_followed() {
    let world = World::new(watch::system);
    world.write("a.md", "0");
    let outside = tempfile::tempdir_in(world.root.parent().unwrap()).unwrap();
    fs::create_dir_all(outside.path().join("in/deep")).unwrap();
    fs::write(outside.path().join("in/deep/b.md"), "b").unwrap();
    world.watching();
    world.write("n1/n2/n3/c.md", "c");
    world.fresh();
    assert_eq!(world.text("n1/n2/n3/c.md").as_deref(), Some("c"));
    world.write("n1/n2/n3/c.md", "changed");
    world.fresh();
    assert_eq!(world.text("n1/n2/n3/c.md").as_deref(), Some("changed"));
    fs::rename(outside.path().join("in"), world.root.join("in")).unwrap();
    world.fresh();
    assert_eq!(world.text("in/deep/b.md").as_deref(), Some("b"));
    fs::rename(world.root.join("in"), world.root.join("out")).unwrap();
    world.write("out/deep/b.md", "after the move");
    world.fresh();
    assert_eq!(
        (world.text("in/deep/b.md"), world.text("out/deep/b.md").as_deref()),
        (None, Some("after the move"))
    );
    world.write("out/.gitignore", "deep/\n");
    world.fresh();
    assert_eq!(world.text("out/deep/b.md"), None);
    fs::remove_file(world.root.join("out/.gitignore")).unwrap();
    world.fresh();
    assert_eq!(world.text("out/deep/b.md").as_deref(), Some("after the move"));
    world.check_dump();
}

#[test]
fn a_folder_that_is_replaced_is_watched_again() {
    let world = World::new(watch::system);
    world.write("d/e/a.md", "0");
    world.watching();
    for round in 0..5 {
        fs::remove_dir_all(world.root.join("d")).unwrap();
        world.write("d/e/a.md", "again");
        world.fresh();
        let text = format!("round {round}");
        world.write("d/e/a.md", &text);
        assert_ne!(world.fresh().how, How::Scan);
        assert_eq!(world.text("d/e/a.md"), Some(text));
    }
}

#[test]
fn random_edits_through_the_watcher() {
    let world = World::new(watch::system);
    let mut repository = Repository::new(&world.root);
    world.watching();
    for step in 0..60usize {
        let edit = match step % 6 {
            0 => Edit::RenameFolder(step % 7, (step / 3) % 7),
            1 => Edit::Delete((step * 5) % 18),
            2 => Edit::Ignore(step % 4, (step / 2) % 8),
            3 => Edit::Body(step % 18, step as u8),
            _ => Edit::Write((step * 7) % 18, step as u16),
        };
        repository.apply(&edit, &world.root);
        if step % 3 == 0 {
            world.fresh();
        }
        if step % 20 == 19 {
            world.fresh();
            world.check_dump();
        }
    }
}

#[test]
fn each_writer_reads_its_own_writes() {
    let world = World::new(watch::system);
    world.write("w0.md", "start");
    world.watching();
    std::thread::scope(|s| {
        for w in 0..4 {
            let world = &world;
            s.spawn(move || {
                for i in 0..15 {
                    let (path, text) = (format!("w{w}.md"), format!("{w} {i}"));
                    world.write(&path, &text);
                    world.fresh();
                    assert_eq!(world.text(&path).as_deref(), Some(text.as_str()));
                }
            });
        }
    });
}

/// Watches nothing and says nothing.
struct Deaf;

impl Watcher for Deaf {
    fn watch(&self, _: &Path) -> Result<bool, WatchError> {
        Ok(true)
    }
    fn unwatch(&self, _: &Path) {}
    fn unwatch_others(&self, _: &dyn Fn(&Path) -> bool) {}
    fn n_watched(&self) -> usize {
        1
    }
}

/// Has room for no folder.
struct Full;

impl Watcher for Full {
    fn watch(&self, _: &Path) -> Result<bool, WatchError> {
        Err(WatchError::Limit)
    }
    fn unwatch(&self, _: &Path) {}
    fn unwatch_others(&self, _: &dyn Fn(&Path) -> bool) {}
    fn n_watched(&self) -> usize {
        0
    }
}

#[test]
fn a_watcher_that_says_nothing_is_not_believed() {
    let mut config = Config::default();
    config.freshness_wait_ms = 120;
    let world = World::with(|_: &Arc<Inbox>| Some(Arc::new(Deaf)), config);
    world.write("a.md", "0");
    world.watching();
    world.write("a.md", "1");
    let freshness = world.fresh();
    assert_eq!((freshness.how, world.text("a.md").as_deref()), (How::Scan, Some("1")));
    assert!(world.workspace.status().n_rescans > 0);
}

/// Its queue is readable to requests, and overflows before the event loop reads it.
struct Overflowing(Arc<Inbox>);

impl Watcher for Overflowing {
    fn watch(&self, _: &Path) -> Result<bool, WatchError> {
        Ok(true)
    }
    fn unwatch(&self, _: &Path) {}
    fn unwatch_others(&self, _: &dyn Fn(&Path) -> bool) {}
    fn n_watched(&self) -> usize {
        1
    }
    fn catch_up(&self) -> bool {
        match std::thread::current().name() {
            Some("workspace") => self.0.lost(),
            _ => self.0.dirty("/elsewhere".into(), true),
        }
        true
    }
}

#[test]
fn events_lost_at_the_last_moment_lead_to_a_comparison() {
    let world = World::new(|inbox: &Arc<Inbox>| Some(Arc::new(Overflowing(Arc::clone(inbox)))));
    world.write("a.md", "0");
    world.watching();
    for i in 1..=3 {
        let before = world.workspace.status().n_rescans;
        world.write("a.md", &i.to_string());
        assert_eq!(world.fresh().how, How::Scan);
        assert_eq!(world.text("a.md"), Some(i.to_string()));
        assert!(world.workspace.status().n_rescans > before);
    }
}

#[test]
fn a_full_or_absent_watcher_leads_to_scans_and_says_so() {
    let full: Watch = |_| Some(Arc::new(Full));
    for (watch, name) in [(full, "degraded"), (watch::none as Watch, "scan")] {
        let world = World::new(watch);
        world.write("a.md", "0");
        world.fresh();
        world.write("a.md", "1");
        assert_eq!(world.fresh().how, How::Scan);
        assert_eq!(world.text("a.md").as_deref(), Some("1"));
        let status = world.workspace.status();
        assert_eq!(status.watch.name(), name);
        assert_eq!(status.problems.iter().any(|p| p.contains("max_user_watches")), name == "degraded");
    }
}

#[test]
fn lost_events_lead_to_a_comparison() {
    let world = World::new(|inbox: &Arc<Inbox>| {
        // As after an overflow: everything before is lost, which the system says once.
        inbox.lost();
        Some(Arc::new(Deaf))
    });
    world.write("a.md", "0");
    world.watching();
    world.state(|s| s.n_rescans > 0);
}

#[test]
fn a_root_that_goes_and_comes_back() {
    let world = World::new(watch::system);
    world.write("a.md", "0");
    world.watching();
    let aside = world.root.with_file_name("aside");
    fs::rename(&world.root, &aside).unwrap();
    world.state(|s| s.failure.as_ref().is_some_and(|f| f.code == FailureCode::RootGone));
    assert_eq!(world.text("a.md").as_deref(), Some("0"), "the index is kept");
    let freshness = world.workspace.freshness(wait(100), &|| false, &mut |_| {}).unwrap();
    assert!(!freshness.fresh);
    // A request does not wait for the next try, and what came back need not be what went.
    world.write("c.md", "1");
    world.fresh();
    assert_eq!((world.text("a.md"), world.text("c.md").as_deref()), (None, Some("1")));
    fs::remove_dir_all(&world.root).unwrap();
    world.state(|s| s.failure.as_ref().is_some_and(|f| f.code == FailureCode::RootGone));
    fs::rename(&aside, &world.root).unwrap();
    world.write("b.md", "1");
    world.state(|s| s.state == State::Ready && s.n_files == 2);
    world.write("b.md", "2");
    world.fresh();
    assert_eq!(world.text("b.md").as_deref(), Some("2"));
}

#[test]
fn head_is_followed() {
    let world = World::new(watch::system);
    world.write("a.md", "0");
    let [one, two] = ["1", "2"].map(|d| d.repeat(40));
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.write(".git/refs/heads/main", &one);
    world.write(".git/refs/heads/topic/x", &two);
    world.watching();
    assert_eq!(world.workspace.snapshot().unwrap().head(), one);
    world.write(".git/refs/heads/main", &two);
    world.fresh();
    assert_eq!(world.workspace.snapshot().unwrap().head(), two);
    world.write(".git/HEAD", &one);
    world.fresh();
    assert_eq!(world.workspace.snapshot().unwrap().head(), one);
    // A branch whose folder was not of interest before.
    let three = "3".repeat(40);
    world.write(".git/HEAD", "ref: refs/heads/topic/x\n");
    world.fresh();
    assert_eq!(world.workspace.snapshot().unwrap().head(), two);
    world.write(".git/refs/heads/topic/x", &three);
    world.fresh();
    assert_eq!(world.workspace.snapshot().unwrap().head(), three);
    fs::remove_dir_all(world.root.join(".git")).unwrap();
    world.fresh();
    assert_eq!(world.workspace.snapshot().unwrap().head(), "none");
}

#[test]
fn what_is_as_head_has_it_follows_both() {
    let world = World::new(watch::system);
    let paths = ["a.md", "b.md", "c.md"];
    let write = |texts: [&str; 3]| paths.iter().zip(texts).for_each(|(path, text)| world.write(path, text));
    let check = |expected: &[&str]| {
        world.fresh();
        assert_eq!(world.at_head(&paths), expected);
    };
    write(["0", "0", "0"]);
    world.watching();
    check(&[]);
    world.git(&["init", "-q", "-b", "main"]);
    world.git(&["add", "a.md", "b.md"]);
    world.git(&["commit", "-q", "-m", "one"]);
    check(&["a.md", "b.md"]);
    write(["0", "1", "1"]);
    check(&["a.md"]);
    world.git(&["add", "."]);
    world.git(&["commit", "-q", "-m", "two"]);
    check(&paths);
    // The commit before: the files of a repository that is open may not answer for another HEAD.
    world.git(&["checkout", "-q", "HEAD~1"]);
    check(&["a.md", "b.md"]);
    world.git(&["checkout", "-q", "main"]);
    write(["2", "1", "1"]);
    check(&["b.md", "c.md"]);
    // As many packs as git likes: what an id stands for stays.
    world.git(&["gc", "-q", "--prune=now"]);
    write(["2", "2", "1"]);
    check(&["c.md"]);
    write(["0", "0", "0"]);
    check(&["a.md"]);
}

#[test]
fn settings_of_the_repository_take_effect_at_once() {
    let world = World::new(watch::system);
    world.write("a.md", "0");
    world.write("gen/b.md", "1");
    world.watching();
    world.write(".indexd.toml", "[index]\nexclude = [\"gen/\"]\n");
    world.fresh();
    assert_eq!(world.text("gen/b.md"), None);
    world.write(".indexd.toml", "[index]\nexlude = []\n");
    world.fresh();
    let problems = world.workspace.status().problems;
    assert!(problems.iter().any(|p| p.contains("did you mean `index.exclude`")), "{problems:?}");
}

#[test]
fn who_does_not_wait_is_told_at_once() {
    let world = World::new(watch::system);
    for i in 0..300 {
        world.write(&format!("p/f{i}.py"), "def f():\n    return 1\n");
    }
    let at_once = Wait { built_for: Duration::ZERO, ..wait(0) };
    let now = world.workspace.freshness(at_once, &|| false, &mut |_| {});
    assert!(matches!(now, Err(WorkspaceError::Building)), "{now:?}");
    let cancelled = world.workspace.freshness(wait(20_000), &|| true, &mut |_| {});
    assert!(
        matches!(cancelled, Err(WorkspaceError::Cancelled) | Ok(Freshness { fresh: true, .. })),
        "{cancelled:?}"
    );
    world.fresh();
    let now = world.workspace.freshness(at_once, &|| false, &mut |_| {}).unwrap();
    assert_eq!((now.fresh, now.how), (false, How::None));
}

#[test]
fn an_idle_workspace_is_closed_and_opens_again() {
    let mut config = Config::default();
    config.workspace_idle_close_s = 1;
    let world = World::with(watch::system, config);
    world.write("a.md", "0");
    world.watching();
    world.state(|s| s.state == State::Closed);
    world.write("a.md", "1");
    world.fresh();
    assert_eq!(world.text("a.md").as_deref(), Some("1"));
}

#[test]
fn settings_that_were_mended_while_the_index_was_closed_are_no_problem_any_more() {
    let world = World::new(watch::system);
    world.write(".indexd.toml", "bad [");
    world.fresh();
    assert_eq!(world.workspace.status().problems.len(), 1);
    world.workspace.close(false);
    world.write(".indexd.toml", "");
    world.fresh();
    assert_eq!(world.workspace.status().problems, Vec::<String>::new());
}

/// Branches of many files are switched while clients ask: what a client wrote itself is in its next
/// answer, and the end is the index of the tree. Few files by default, `INDEXD_TEST_FILES=20000`.
#[test]
fn a_storm_of_checkouts_under_four_clients_ends_in_its_tree() {
    let n_files = crate::support::number("INDEXD_TEST_FILES", 250);
    let n_switches = 10;
    let world = World::new(watch::system);
    let branch = |branch: usize| {
        for i in 0..n_files {
            let calls = format!("package p{i}\n\nfunc F{i}() int {{ return {branch} }}\n");
            // Some files are of one branch alone.
            match i % 7 == branch {
                true => _ = fs::remove_file(world.root.join(format!("p{i}/f.go"))),
                false => world.write(&format!("p{i}/f.go"), &calls),
            }
        }
    };
    branch(0);
    world.watching();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|s| {
        let (world, is_over) = (&world, &is_over);
        for client in 0..4 {
            s.spawn(move || {
                for turn in 0.. {
                    let (path, text) = (format!("client{client}.md"), format!("{client} {turn}"));
                    world.write(&path, &text);
                    let freshness = world.workspace.freshness(wait(300_000), &|| false, &mut |_| {}).unwrap();
                    assert!(freshness.fresh, "{freshness:?}");
                    assert_eq!(world.text(&path), Some(text));
                    if is_over.load(std::sync::atomic::Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        for switch in 1..=n_switches {
            branch(switch % 2);
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    world.fresh();
    world.check_dump();
}
