//! One repository and one index of it, driven without threads, watchers or a daemon.

use indexd::config::Config;
use indexd::workspace::indexing::contents::ContentCache;
use indexd::workspace::indexing::engine::{Engine, Setup};
use indexd::workspace::indexing::parked::Bases;
use indexd::workspace::indexing::recovery::Verify;
use indexd::workspace::indexing::siblings::Sharing;
use indexd::workspace::indexing::stages::{Parts, StageLog};
use indexd::workspace::tree::ChangeSet;
use indexd_lang::Extracted;
use indexd_model::{FactsView, IndexView, Outcome, RepoPath};
use indexd_store::{Overlays, Snapshot};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

/// A repository in a temporary folder and an engine that follows it.
pub struct Bench {
    _tmp: Option<tempfile::TempDir>,
    top: PathBuf,
    root: PathBuf,
    parts: Parts,
    log: Arc<StageLog>,
    engine: Option<Engine>,
    overlays: Overlays,
    sharing: Option<Arc<Sharing>>,
}

impl Bench {
    /// An empty repository without an index.
    pub fn new() -> Self {
        Self::with_parts(Parts::default())
    }

    /// The same with another extractor.
    pub fn with_extract(extract: fn(&RepoPath, &[u8]) -> Extracted) -> Self {
        Self::with_parts(Parts { extract, ..Parts::default() })
    }

    fn with_parts(parts: Parts) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let mut bench = Self::at(tmp.path(), parts);
        bench._tmp = Some(tmp);
        bench
    }

    /// The repository and the index in a folder that outlives this.
    pub fn at(top: &Path, parts: Parts) -> Self {
        let top = fs::canonicalize(top).unwrap();
        let root = top.join("repo");
        fs::create_dir_all(&root).unwrap();
        let mut bench = Self {
            _tmp: None,
            top,
            root,
            parts,
            log: Arc::default(),
            engine: None,
            overlays: Overlays::default(),
            sharing: None,
        };
        bench.reopen();
        bench
    }

    /// An index of `root` in a folder of `cache` beside others, sharing what indexes share.
    pub fn beside(cache: &Path, root: &Path, sharing: &Arc<Sharing>) -> Self {
        let mut bench = Self {
            _tmp: None,
            top: cache.to_owned(),
            root: fs::canonicalize(root).unwrap(),
            parts: Parts::default(),
            log: Arc::default(),
            engine: None,
            overlays: Overlays::default(),
            sharing: Some(Arc::clone(sharing)),
        };
        bench.reopen();
        bench
    }

    /// Has contents that leave the index kept.
    pub fn share(&mut self) {
        self.engine = None;
        self.sharing = Some(sharing(&self.top));
        self.reopen();
    }

    /// The repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The index folder.
    pub fn home(&self) -> PathBuf {
        let name = self.root.file_name().unwrap().to_string_lossy();
        self.top.join(format!("index-{name}"))
    }

    /// What ran.
    pub fn log(&self) -> &StageLog {
        &self.log
    }

    /// Writes a file without telling the index.
    pub fn write(&self, path: &str, text: &str) {
        let at = self.root.join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    /// Builds the index from the tree.
    pub fn build(&mut self) {
        self.engine().build(None, &|_| {}, &|| false).unwrap();
    }

    /// What the whole tree has that the index has not.
    pub fn found(&mut self) -> ChangeSet {
        self.engine().tree.sweep(None).unwrap()
    }

    /// Builds the index after a sweep that found this.
    pub fn build_after(&mut self, found: ChangeSet) {
        self.engine().build(Some(found), &|_| {}, &|| false).unwrap();
    }

    /// Takes in dirty paths.
    pub fn update(&mut self, dirty: &[String]) {
        let engine = self.engine();
        let changes = engine.tree.examine(dirty.iter().map(String::as_str)).unwrap();
        engine.apply(&changes, true, &|| false).unwrap();
    }

    /// Takes in dirty paths and is told to stop after it was asked `n` times whether to; says whether
    /// it did.
    pub fn update_until(&mut self, dirty: &[String], n: usize) -> bool {
        let engine = self.engine();
        let changes = engine.tree.examine(dirty.iter().map(String::as_str)).unwrap();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let cancelled = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= n;
        match engine.apply(&changes, true, &cancelled) {
            Ok(_) => false,
            Err(indexd::workspace::indexing::engine::EngineError::Cancelled) => true,
            Err(e) => panic!("{e}"),
        }
    }

    /// Compares the whole tree.
    pub fn sweep(&mut self) {
        let engine = self.engine();
        let changes = engine.tree.sweep(None).unwrap();
        if engine.needs_build(&changes) {
            self.build_after(changes);
        } else {
            engine.apply(&changes, true, &|| false).unwrap();
        }
    }

    /// Names that the last comparison of the whole tree left out.
    pub fn skipped_names(&mut self) -> Vec<String> {
        self.found();
        self.engine().tree.skipped_names.clone()
    }

    /// A file of the environment in use.
    pub fn current_file(&self, name: &str) -> PathBuf {
        let current = fs::read_to_string(self.home().join("current")).unwrap();
        self.home().join(current.lines().next().unwrap()).join(name)
    }

    /// Copies the index compactly and puts the copy in place.
    pub fn compact(&mut self) {
        let transaction = self.engine().copy_job().unwrap().run(&|| false).unwrap();
        assert!(self.engine().adopt(transaction).unwrap());
    }

    /// Lays an index made by another tool over the links; no bytes take it back.
    pub fn import(&mut self, index: &[u8]) {
        self.keep_import(index);
        self.follow_import();
    }

    /// Keeps an import without letting the index follow it.
    pub fn keep_import(&mut self, index: &[u8]) {
        let overlays = if index.is_empty() {
            Overlays::default()
        } else {
            let snapshot = self.snapshot();
            let index = indexd_scip::read(index).unwrap();
            let read = |path: &str| {
                let file = snapshot.file_by_path(path)?;
                Some((snapshot.file(file).hash, snapshot.text(file)))
            };
            let imported = indexd_scip::resolve_import(&index, "", &read, &snapshot);
            assert!(!imported.overlays.is_empty(), "{imported:?}");
            indexd::workspace::stored_overlays(&imported.overlays, &index.tool)
        };
        self.keep(&overlays);
    }

    /// Keeps what an import came to.
    pub fn keep(&mut self, overlays: &Overlays) {
        self.engine().keep_overlays(overlays).unwrap();
        self.overlays = overlays.clone();
    }

    /// What the last import came to.
    pub fn kept_import(&self) -> Overlays {
        self.overlays.clone()
    }

    /// Lets the index follow what is kept, as the event loop does.
    pub fn follow_import(&mut self) {
        let engine = self.engine();
        if engine.overlays_are_due().unwrap() {
            assert!(engine.lay_over(&|| false).unwrap());
        }
    }

    /// Throws the index away, as what was found damaged is.
    pub fn discard(&mut self) {
        self.engine().discard();
    }

    /// Closes the index cleanly.
    pub fn close(&mut self) {
        self.engine.take().unwrap().close().unwrap();
    }

    /// Whether opening found a damaged index.
    pub fn was_damaged(&self) -> bool {
        self.engine.as_ref().unwrap().was_damaged
    }

    /// Opens the index that is there.
    pub fn reopen(&mut self) {
        let mut config = Config::default();
        config.index_background_tokens = false;
        let setup = Setup {
            root: self.root.clone(),
            home: self.home(),
            config: Arc::new(config),
            parts: self.parts,
            verify: Verify::InProcess,
            sharing: self.sharing.clone(),
        };
        let engine = Engine::open(setup).unwrap();
        self.log = Arc::clone(&engine.log);
        self.engine = Some(engine);
    }

    /// The committed state.
    pub fn snapshot(&self) -> Snapshot {
        self.engine.as_ref().unwrap().store().unwrap().snapshot().unwrap()
    }

    /// The index.
    pub fn store(&self) -> indexd_store::Store {
        self.engine.as_ref().unwrap().store().unwrap().clone()
    }

    /// The dump of the committed state.
    pub fn dump(&self) -> String {
        dump_of(&self.snapshot())
    }

    /// How reading a file went.
    pub fn outcome(&self, path: &str) -> Outcome {
        let snapshot = self.snapshot();
        snapshot.file(snapshot.file_by_path(path).unwrap()).outcome
    }

    /// How many definitions have this name.
    pub fn defs_named(&self, name: &str) -> usize {
        self.snapshot().defs_named(name).len()
    }

    fn engine(&mut self) -> &mut Engine {
        self.engine.as_mut().unwrap()
    }
}

/// What indexes share, kept in a folder.
pub fn sharing(top: &Path) -> Arc<Sharing> {
    let contents = ContentCache::new(top.join("contents"), 4 << 20, None);
    Arc::new(Sharing::new(contents, Bases::new(top.join("bases"))))
}

/// What git prints in a folder, with a name and without the settings of this machine; why it failed.
pub fn try_git(root: &Path, args: &[&str]) -> Result<String, String> {
    let out = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git is installed");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    if out.status.success() { Ok(text(out.stdout)) } else { Err(text(out.stderr)) }
}

/// What git prints in a folder.
#[track_caller]
pub fn git(root: &Path, args: &[&str]) -> String {
    try_git(root, args).unwrap_or_else(|why| panic!("git {args:?}: {why}"))
}

/// Runs a test on a thread with the stack that the daemon's own threads have.
pub fn on_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// A number from the environment: how long a test that is short by default runs.
pub fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The canonical packs that answer a few requests from a snapshot.
pub fn packs_of(snapshot: &Snapshot) -> Vec<String> {
    let requests = [
        ("where does T0 wait for F1", "graph", 4_000),
        ("C1 m2 pkg/m.py", "agent", 1_500),
        ("retry text", "graph", 300),
    ];
    packs(snapshot, &requests)
}

/// The canonical packs that answer queries.
pub fn packs_for(snapshot: &Snapshot, queries: &[&str]) -> Vec<String> {
    packs(snapshot, &queries.iter().map(|q| (*q, "graph", 4_000)).collect::<Vec<_>>())
}

fn packs(snapshot: &Snapshot, requests: &[(&str, &str, u64)]) -> Vec<String> {
    let pack = |(query, layout, budget): &(&str, &str, u64)| {
        let request =
            serde_json::json!({"query": query, "layout": layout, "budgets": {"maxTotalTokens": budget}});
        let pack = pack_of(snapshot, &request).unwrap();
        assert!(pack.stats.token_count <= *budget, "{query}: {} of {budget} tokens", pack.stats.token_count);
        pack.canonical()
    };
    requests.iter().map(pack).collect()
}

/// The pack that answers a request from a view, all of whose files are those of HEAD.
pub fn pack_of(
    view: &dyn IndexView,
    request: &serde_json::Value,
) -> Result<indexd_pack::Pack, indexd_pack::PackError> {
    static COUNTER: LazyLock<Arc<indexd_text::CachedCounter>> = LazyLock::new(|| {
        indexd_text::counter("o200k_base", &indexd_text::CounterOptions::default()).unwrap()
    });
    let (config, tuning) = (indexd_pack::Config::default(), indexd_pack::Tuning::default());
    let context = indexd_pack::Context {
        tool_version: "test",
        repo_id: "fixture",
        created_at: "2024-01-01T00:00:00Z",
        matches_head: &|_| true,
        ..indexd_pack::Context::new(&config, &tuning, &**COUNTER)
    };
    indexd_pack::build(view, &indexd_pack::Request::from_json(request.clone())?, &context)
}

/// A snapshot's dump.
pub fn dump_of(snapshot: &Snapshot) -> String {
    let mut out = Vec::new();
    snapshot.dump(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The dump of an index built from the tree as it is now.
pub fn dump_of_fresh_build(root: &Path) -> String {
    fresh_build(root).dump()
}

/// An index built from the tree as it is now.
pub fn fresh_build(root: &Path) -> Bench {
    let mut fresh = Bench::new();
    fresh.engine = None;
    fresh.root = root.to_owned();
    fresh.reopen();
    fresh.build();
    fresh
}

/// The first line in which two dumps differ, with the ones around it.
pub fn first_difference(a: &str, b: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
    let at = a.iter().zip(&b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
    let around = |lines: &[&str]| lines[at.saturating_sub(2)..lines.len().min(at + 3)].join("\n");
    format!("line {at}: followed\n{}\nbuilt\n{}", around(&a), around(&b))
}
