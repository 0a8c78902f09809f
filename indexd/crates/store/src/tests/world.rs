//! A made-up language for tests: each line `name: use use ...` is a function that calls others by
//! name; everything has one scope. Facts, terms and links are functions of path and text, like the
//! real ones, and small enough to be obviously right.

use crate::{Bulk, FileInput, FileStat, History, HistoryFile, Opened, Overlays, Snapshot, Store, WriteTxn};
use indexd_model::facts::{Arena, FileFacts};
use indexd_model::limits::TERM_BYTES_MAX;
use indexd_model::links::{EdgeKind, Rule, UnresolvedReason};
use indexd_model::terms::{ChunkTerms, FileTerms, Vocabulary};
use indexd_model::view::{FactsView, FileHistory, N_FIELDS, Touched};
use indexd_model::{
    BindingId, Chunk, ChunkKind, ContentHash, Def, DefFlags, DefIdx, DefKind, DefRef, Entry, Expr, ExprId,
    FileDoc, FileRoles, Interface, Key, Language, LineIndex, Lines, Link, Links, Node, Outcome, RepoPath,
    Role, Span, StrId, Unresolved,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Path to text.
pub type Tree = BTreeMap<String, String>;

pub const CONFIG: &[u8] = b"test config";

/// The key of a function.
pub fn key(name: &str) -> Key {
    Key::member("world", name)
}

fn words(line: &str) -> (&str, Vec<(usize, &str)>) {
    let (name, rest) = line.split_once(':').unwrap_or((line, ""));
    let at = line.len() - rest.len();
    let mut uses = Vec::new();
    let mut from = 0;
    for word in rest.split(' ') {
        if !word.is_empty() {
            uses.push((at + from, word));
        }
        from += word.len() + 1;
    }
    (name, uses)
}

/// The facts of a file. A word `_x` is not a use, only a term.
pub fn facts(path: &str, text: &str) -> FileFacts {
    let mut strings: Vec<String> = Vec::new();
    let mut exprs = Vec::new();
    let mut defs: Vec<Def> = Vec::new();
    let mut chunks = Vec::new();
    let mut entries = vec![Entry { key: Key::file(path), def: DefIdx::NONE, digest: 1 }];
    let mut start = 0u32;
    for (i, line) in (0u32..).zip(text.split_inclusive('\n')) {
        let span = Span { start, end: start + line.len() as u32 };
        let (name, uses) = words(line.trim_end());
        let def = DefIdx(defs.len() as u32);
        strings.push(name.to_owned());
        let none = Span { start, end: start };
        defs.push(Def {
            name: StrId(strings.len() as u32 - 1),
            kind: DefKind::Function,
            flags: DefFlags::EXPORTED,
            // The first function of a file holds those whose names start with `in`.
            parent: if i > 0 && name.starts_with("in") { DefIdx(0) } else { DefIdx::NONE },
            receiver: None,
            ordinal: 0,
            name_span: Span { start, end: start + name.len() as u32 },
            span,
            head: Span { start, end: start + name.len() as u32 },
            doc: none,
            ty: ExprId::NONE,
            value: ExprId::NONE,
            value_index: 0,
            params: Vec::<BindingId>::new(),
            results: Vec::new(),
            returns: Vec::new(),
            bases: Vec::new(),
            decorators: Vec::new(),
            type_params: Vec::new(),
        });
        // The number of uses represents a signature: changing it is an interface edit.
        entries.push(Entry { key: key(name), def, digest: uses.len() as u64 });
        for (at, word) in uses.into_iter().filter(|u| !u.1.starts_with('_')) {
            strings.push(word.to_owned());
            let node = Node::Name { name: StrId(strings.len() as u32 - 1), binding: BindingId::NONE };
            exprs.push(Expr { node, at: start + at as u32, role: Role::Call });
        }
        let lines = Lines { start: i + 1, end: i + 1 };
        // Lines that begin with `two` make two chunks.
        let n_parts = if name.starts_with("two") && line.len() > 6 { 2 } else { 1 };
        let middle = start + 4;
        for part in 0..n_parts {
            let span = match (part, n_parts) {
                (0, 2) => Span { start, end: middle },
                (1, 2) => Span { start: middle, end: span.end },
                _ => span,
            };
            chunks.push(Chunk { span, lines, def, kind: ChunkKind::Definition, part, n_parts });
        }
        start = span.end;
    }
    let mut interface = Interface::empty(Language::Python, Outcome::Parsed, FileRoles::default());
    let mut seen: BTreeMap<String, u16> = BTreeMap::new();
    interface.arena = Arena { strings, ..Arena::default() };
    interface.defs = defs;
    for i in 0..interface.defs.len() {
        let name =
            indexd_model::names::descriptor(&indexd_model::Facts::outside(&interface), DefIdx(i as u32));
        let n = seen.entry(name).or_default();
        interface.defs[i].ordinal = *n;
        *n += 1;
    }
    entries.sort_unstable_by_key(|e| (e.key, e.def));
    interface.entries = entries;
    FileFacts { interface, body: Arena { exprs, ..Arena::default() }, chunks }
}

/// The terms of a file: words in the body, the name in the name field, the parts of the path.
pub fn terms(path: &str, text: &str, vocabulary: &mut Vocabulary) -> FileTerms {
    let facts = facts(path, text);
    let mut chunks = Vec::new();
    for chunk in &facts.chunks {
        let mut counts: BTreeMap<&str, [u8; N_FIELDS]> = BTreeMap::new();
        let part = &text[chunk.span.range()];
        for word in part.split([' ', ':', '\n']).filter(|w| !w.is_empty()) {
            let word = &word[..word.len().min(TERM_BYTES_MAX)];
            counts.entry(word).or_default()[4] += 1;
        }
        let mut lens = [0; N_FIELDS];
        lens[4] = counts.values().map(|c| u16::from(c[4])).sum();
        if chunk.part == 0 {
            lens[0] = 1;
            let name = words(part).0.trim_end();
            counts.entry(&name[..name.len().min(TERM_BYTES_MAX)]).or_default()[0] += 1;
        }
        counts.remove("");
        let terms = counts.into_iter().map(|(word, c)| (vocabulary.intern(word), c)).collect();
        chunks.push(ChunkTerms { terms, lens });
    }
    let mut parts: BTreeMap<&str, u8> = BTreeMap::new();
    path.split('/').for_each(|p| {
        let n = parts.entry(p).or_default();
        *n = n.saturating_add(1);
    });
    let path_len = path.split('/').count() as u16;
    let path = parts.into_iter().map(|(p, n)| (vocabulary.intern(p), n)).collect();
    FileTerms { chunks, path, path_len }
}

/// Everything about a file.
pub fn input(path: &str, text: &str, vocabulary: &mut Vocabulary) -> FileInput {
    FileInput {
        path: RepoPath::new(path).expect("a path"),
        hash: ContentHash::of(text.as_bytes()),
        size: text.len() as u64,
        lines: LineIndex::new(text),
        stat: FileStat { size: text.len() as u64, mtime_ns: 7, ..FileStat::default() },
        facts: facts(path, text),
        text: Arc::from(text),
        terms: terms(path, text, vocabulary),
    }
}

/// Links each use to every function of that name.
pub fn link(interface: &Interface, body: &Arena, view: &dyn FactsView) -> Links {
    let mut out = Links::default();
    let mut lookups = BTreeSet::new();
    for e in &body.exprs {
        let Node::Name { name: id, .. } = e.node else {
            continue;
        };
        let name = &interface.arena.strings[id.index()];
        let source =
            interface.defs.iter().position(|d| d.span.holds(e.at)).map_or(DefIdx::NONE, |i| DefIdx(i as u32));
        lookups.insert(key(name));
        let mut targets = Vec::new();
        for file in view.providers(key(name)) {
            targets.extend(view.interface(file).provided(key(name)).map(|def| DefRef { file, def }));
        }
        for target in &targets {
            let kind = match name.get(..2) {
                Some("in") => EdgeKind::Usage,
                Some("ge") => EdgeKind::DataflowIn,
                _ => EdgeKind::Call,
            };
            let confidence = 100 / targets.len() as u8;
            let (role, rule) = (Role::Call, Rule::Scope);
            out.links.push(Link {
                kind,
                source,
                target: *target,
                at: e.at,
                len: name.len() as u16,
                role,
                rule,
                confidence,
            });
        }
        if targets.is_empty() {
            let reason = UnresolvedReason::NotFound;
            out.unresolved.push(Unresolved { source, name: id, at: e.at, role: Role::Call, reason });
        }
    }
    out.lookups = lookups.into_iter().collect();
    out
}

/// Some history of some paths.
pub fn history(seed: u8) -> History {
    let file = |i: u8| HistoryFile {
        path: RepoPath::new(&format!("d/f{i}")).expect("a path"),
        history: FileHistory { n_commits: u32::from(i) + 1, newest: u32::from(seed) },
        terms: vec![("fix".into(), u32::from(i) + 1), (format!("topic{seed}"), 2)],
        touched: (0..u32::from(i))
            .map(|n| Touched { lines: Lines { start: 1 + n, end: 3 + 2 * n }, newest: u32::from(seed) + n })
            .collect(),
    };
    History { files: (0..seed % 6).map(file).collect(), digest: [seed; 32] }
}

/// Overlays of a few paths, derived from the seed.
pub fn overlays(seed: u8) -> Overlays {
    let file = |i: u8| (RepoPath::new(&format!("d/f{i}")).expect("a path"), vec![i, seed / 16]);
    Overlays { files: (0..seed % 6).map(file).collect(), digest: [seed; 32], tool: String::new() }
}

/// The inputs of an index, besides the config.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub tree: Tree,
    pub head: Option<String>,
    pub history: Option<u8>,
    pub overlays: u8,
}

/// A store in a temporary folder.
pub struct World {
    pub store: Store,
    pub dir: tempfile::TempDir,
}

impl World {
    /// Builds an index of `state` from scratch.
    pub fn build(state: &State) -> Self {
        let dir = tempfile::tempdir().expect("temporary folder");
        let Opened::Fresh(store) = Store::open(dir.path(), CONFIG).expect("opens") else {
            panic!("a new folder is fresh")
        };
        fill(&store.bulk().expect("first build"), &state.tree)
            .finish_with(store.bulk().expect("first build"), state);
        Self { store, dir }
    }

    pub fn snapshot(&self) -> Snapshot {
        self.store.snapshot().expect("snapshot")
    }

    pub fn dump(&self) -> String {
        dump(&self.snapshot())
    }
}

pub fn dump(snapshot: &Snapshot) -> String {
    let mut out = Vec::new();
    snapshot.dump(&mut out).expect("dumps");
    String::from_utf8(out).expect("text")
}

struct Filled;

/// Checks that an abandoned build leaves nothing behind: half of the tree goes into a build that is
/// dropped.
fn fill(bulk: &Bulk, tree: &Tree) -> Filled {
    let mut vocabulary = Vocabulary::default();
    for (path, text) in tree.iter().step_by(2) {
        bulk.add(input(path, text, &mut vocabulary), &vocabulary).expect("add");
    }
    Filled
}

impl Filled {
    fn finish_with(self, bulk: Bulk, state: &State) {
        // Two vocabularies represent two worker threads.
        let mut vocabularies = [Vocabulary::default(), Vocabulary::default()];
        for (i, (path, text)) in state.tree.iter().rev().enumerate() {
            let vocabulary = &mut vocabularies[i % 2];
            let input = input(path, text, vocabulary);
            bulk.add(input, vocabulary).expect("add");
        }
        let view = bulk.seal().expect("seal");
        for file in (0..view.n_files()).map(FileDoc) {
            let body = bulk.body(file).expect("body");
            bulk.put_links(file, link(&view.interface(file), &body, &*view)).expect("links");
        }
        let history = state.history.map(history);
        assert_eq!(
            bulk.finish(state.head.as_deref(), history.as_ref(), &overlays(state.overlays)).expect("finish"),
            1
        );
    }
}

/// Brings the index from one state to another in one transaction, as the daemon does.
pub fn update(txn: &mut WriteTxn, from: &State, to: &State) {
    let mut vocabulary = Vocabulary::default();
    let mut changed = BTreeSet::new();
    let mut put = Vec::new();
    for (path, text) in &from.tree {
        if !to.tree.contains_key(path) {
            let old = terms(path, text, &mut vocabulary);
            let stored = txn.stored(path).expect("stored").expect("known");
            changed.extend(txn.remove_file(&stored, &vocabulary, &old).expect("remove"));
        }
    }
    for (path, text) in &to.tree {
        let old = from.tree.get(path);
        if old == Some(text) {
            continue;
        }
        let old = old.map(|old| terms(path, old, &mut vocabulary));
        let input = input(path, text, &mut vocabulary);
        let stored = txn.stored(path).expect("stored");
        let outcome = txn.put_file(&input, &vocabulary, stored.as_ref().zip(old.as_ref())).expect("put");
        changed.extend(outcome.changed);
        put.push(outcome.doc);
    }
    let changed: Vec<Key> = changed.into_iter().collect();
    let dependants = txn.dependants(&changed).expect("dependants");
    for file in put.into_iter().chain(dependants) {
        let facts = txn.facts(file).expect("facts");
        let links = link(&facts.interface, &facts.body, &*txn);
        txn.put_links(file, &links).expect("links");
    }
    for file in txn.put_overlays(&overlays(to.overlays)).expect("overlays") {
        assert!(to.tree.contains_key(&*txn.path(file)), "a file of the tree");
    }
    txn.set_head(to.head.as_deref());
    if let Some(seed) = to.history {
        txn.put_history(&history(seed)).expect("history");
    }
}

/// A tree from `path = text` pairs with `;` for line ends.
pub fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(p, t)| ((*p).to_owned(), t.replace(';', "\n"))).collect()
}
