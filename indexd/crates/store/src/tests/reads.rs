//! Answers of a snapshot, against answers computed naively from the tree.

use super::world::{State, World, facts, history, link, terms, tree};
use crate::{FileStat, Snapshot};
use indexd_model::links::EdgeKind;
use indexd_model::memory::MemoryFacts;
use indexd_model::terms::Vocabulary;
use indexd_model::view::{Edge, FactsView, IndexView, N_FIELDS};
use indexd_model::{ChunkDoc, DefDoc, DefIdx, FileDoc, LineIndex, RepoPath};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn def_name(s: &Snapshot, def: DefDoc) -> String {
    let d = s.def(def);
    format!("{}:{}", s.path(d.file), d.idx.some().map_or(-1, |i| i64::from(i.0)))
}

fn chunk_name(s: &Snapshot, chunk: ChunkDoc) -> String {
    let file = s.chunk(chunk).file;
    format!("{}@{}", s.path(file), chunk.0 - s.file(file).chunks.start)
}

/// Compares all answers of a snapshot with the tree.
pub fn compare(s: &Snapshot, state: &State) {
    let paths: Vec<String> = s.files().into_iter().map(|f| s.path(f).to_string()).collect();
    assert_eq!(paths, state.tree.keys().cloned().collect::<Vec<_>>(), "files by path");
    compare_files(s, state);
    compare_terms(s, state);
    compare_names(s, state);
    compare_edges(s, state);
    compare_history(s, state);
    assert_eq!(s.head(), state.head.clone().unwrap_or_else(|| "none".into()));
}

fn compare_files(s: &Snapshot, state: &State) {
    let mut n_chunks = 0;
    for (path, text) in &state.tree {
        let file = s.file_by_path(path).expect("indexed");
        let expect = facts(path, text);
        assert_eq!(s.facts(file).expect("facts"), expect);
        assert_eq!(*s.interface(file), expect.interface);
        assert_eq!(&*s.text(file), text);
        assert_eq!(*s.lines(file), LineIndex::new(text));
        let record = s.file(file);
        assert_eq!((record.size, &*record.path), (text.len() as u64, &**path));
        assert_eq!(record.chunks.len(), expect.chunks.len());
        for (chunk, doc) in expect.chunks.iter().zip(record.chunks) {
            let c = s.chunk(ChunkDoc(doc));
            assert_eq!((c.file, c.span, c.lines, c.part), (file, chunk.span, chunk.lines, chunk.part));
            assert_eq!(s.def(c.def).idx, chunk.def);
            assert!(s.chunks_of(c.def).contains(&ChunkDoc(doc)));
        }
        for (i, def) in (0u32..).zip(&expect.interface.defs) {
            let d = s.def(s.def_doc(file, DefIdx(i)));
            assert_eq!((d.idx, d.span, d.name_span), (DefIdx(i), def.span, def.name_span));
            assert_eq!((d.lines.start, d.name_line), (i + 1, i + 1));
            assert_eq!(d.parent.some().map(|p| s.def(p).idx), def.parent.some());
            let parts = expect.chunks.iter().filter(|c| c.def == DefIdx(i)).count();
            assert_eq!(s.chunks_of(s.def_doc(file, DefIdx(i))).len(), parts);
        }
        let own = s.def(s.def_doc(file, DefIdx::NONE));
        assert_eq!((own.idx, &*own.name), (DefIdx::NONE, &**path));
        n_chunks += expect.chunks.len() as u64;
    }
    assert_eq!((s.stats().n_files, s.stats().n_chunks), (state.tree.len() as u64, n_chunks));
    let mut sizes = BTreeMap::new();
    s.all_stats(|path, stat| assert_eq!(sizes.insert(path.to_owned(), stat.size), None));
    assert!(sizes.into_iter().eq(state.tree.iter().map(|(path, text)| (path.clone(), text.len() as u64))));
    assert_eq!(s.meta().source_bytes, state.tree.values().map(|t| t.len() as u64).sum::<u64>());
    assert!(s.file_by_path("no/such").is_none());
}

fn compare_terms(s: &Snapshot, state: &State) {
    let mut expect: BTreeMap<String, BTreeSet<(String, [u8; N_FIELDS])>> = BTreeMap::new();
    let mut expect_paths: BTreeMap<String, BTreeSet<(String, u8)>> = BTreeMap::new();
    let mut lens = [0u64; N_FIELDS];
    for (path, text) in &state.tree {
        let mut vocabulary = Vocabulary::default();
        let terms = terms(path, text, &mut vocabulary);
        for (i, chunk) in terms.chunks.iter().enumerate() {
            for (term, counts) in &chunk.terms {
                expect
                    .entry(vocabulary.term(*term).into())
                    .or_default()
                    .insert((format!("{path}@{i}"), *counts));
            }
            (0..N_FIELDS).for_each(|f| lens[f] += u64::from(chunk.lens[f]));
        }
        for (term, n) in &terms.path {
            expect_paths.entry(vocabulary.term(*term).into()).or_default().insert((path.clone(), *n));
        }
    }
    assert_eq!(s.stats().field_lens, lens);
    for term in expect.keys().map(String::as_str).chain(["never", "", "a\0"]) {
        let mut out = Vec::new();
        s.postings(term, &mut out);
        assert!(out.windows(2).all(|w| w[0].chunk < w[1].chunk), "ascending");
        let is: BTreeSet<_> = out.iter().map(|p| (chunk_name(s, p.chunk), p.counts)).collect();
        let expect = expect.get(term).cloned().unwrap_or_default();
        let df = s.doc_frequency(term);
        assert_eq!(df as usize, expect.len(), "{term}");
        for most in [df.saturating_sub(1), df, df + 1] {
            assert_eq!(s.doc_frequency_within(term, most), Some(df).filter(|n| *n <= most), "{term}");
        }
        assert_eq!(is, expect, "{term}");
    }
    for (term, expect) in expect_paths {
        let mut out = Vec::new();
        s.path_postings(&term, &mut out);
        let is: BTreeSet<_> = out.iter().map(|p| (s.path(p.file).to_string(), p.count)).collect();
        assert_eq!(is, expect, "{term}");
    }
}

fn compare_names(s: &Snapshot, state: &State) {
    let mut expect: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in &state.tree {
        for (i, line) in text.lines().enumerate() {
            expect
                .entry(line.split(':').next().unwrap_or("").into())
                .or_default()
                .push(format!("{path}:{i}"));
        }
    }
    for (name, expect) in &expect {
        let is: Vec<String> = s.defs_named(name).into_iter().map(|d| def_name(s, d)).collect();
        assert_eq!(&is, expect, "{name}");
    }
    assert!(s.defs_named("never").is_empty());
}

fn memory(state: &State) -> MemoryFacts {
    let one = |(path, text): (&String, &String)| {
        (RepoPath::new(path).expect("path"), Arc::new(facts(path, text).interface))
    };
    MemoryFacts::new(state.tree.iter().map(one).collect())
}

fn compare_edges(s: &Snapshot, state: &State) {
    let view = memory(state);
    let mut out: BTreeMap<(String, &str, String), Vec<u32>> = BTreeMap::new();
    for (i, (path, text)) in (0u32..).zip(&state.tree) {
        let own = facts(path, text);
        let links = link(&own.interface, &own.body, &view);
        for l in &links.links {
            let idx = |d: DefIdx| d.some().map_or(-1, |i| i64::from(i.0));
            let source = format!("{path}:{}", idx(l.source));
            let target = format!("{}:{}", view.path(l.target.file), idx(l.target.def));
            let edge = match l.kind {
                EdgeKind::DataflowIn => (target, EdgeKind::Dataflow.name(), source),
                kind => (source, kind.name(), target),
            };
            out.entry(edge).or_default().push(l.at);
        }
        let file = s.file_by_path(path).expect("indexed");
        assert_eq!(view.path(FileDoc(i)), s.path(file));
        let is: Vec<(u32, String)> =
            s.unresolved(file).into_iter().map(|u| (u.at, u.name.to_string())).collect();
        let expect: Vec<(u32, String)> = links
            .unresolved
            .iter()
            .map(|u| (u.at, own.interface.arena.strings[u.name.index()].clone()))
            .collect();
        assert_eq!(is, expect);
    }
    let mut is = BTreeMap::new();
    for file in s.files() {
        let n = s.interface(file).defs.len() as u32;
        for def in std::iter::once(DefIdx::NONE).chain((0..n).map(DefIdx)) {
            let doc = s.def_doc(file, def);
            let edges = s.edges_from(doc, &EdgeKind::ALL);
            let order: Vec<_> = edges.iter().map(|e| (e.kind, def_position(s, e.target))).collect();
            assert!(order.is_sorted(), "edges out by kind, then target");
            for e in edges.into_iter().chain(s.flows_from(doc, usize::MAX)) {
                let lines: Vec<u32> = e.occurrences.iter().map(|o| o.line).collect();
                assert!(lines.iter().all(|l| *l == s.def(e.site()).lines.start), "one line is one function");
                let places = e.occurrences.iter().map(|o| o.at).collect();
                is.insert((def_name(s, e.source), e.kind.name(), def_name(s, e.target)), places);
            }
            compare_edges_to(s, doc, &out);
        }
    }
    assert_eq!(is, out);
}

fn def_position(s: &Snapshot, def: DefDoc) -> (Arc<str>, u32) {
    let d = s.def(def);
    (s.path(d.file), d.idx.0.wrapping_add(1))
}

fn compare_edges_to(s: &Snapshot, target: DefDoc, out: &BTreeMap<(String, &str, String), Vec<u32>>) {
    let name = def_name(s, target);
    for kinds in [&EdgeKind::ALL[..], &[EdgeKind::Call], &[EdgeKind::Usage, EdgeKind::Import]] {
        let expect: BTreeSet<_> = out
            .keys()
            .filter(|k| k.2 == name && kinds.iter().any(|kind| kind.name() == k.1))
            .map(|k| (k.0.clone(), k.1))
            .collect();
        let edges = s.edges_to(target, kinds, usize::MAX);
        let order: Vec<_> = edges.iter().map(|e| (def_position(s, e.source), e.kind)).collect();
        assert!(order.is_sorted(), "edges in by source, then kind");
        let is: BTreeSet<_> = edges.iter().map(|e| (def_name(s, e.source), e.kind.name())).collect();
        assert_eq!(is, expect);
        assert_eq!(s.edges_to(target, kinds, 1), edges[..edges.len().min(1)]);
        let degree: u32 = kinds.iter().map(|k| s.in_degree(target, *k)).sum();
        assert_eq!(degree as usize, expect.len());
    }
}

fn compare_history(s: &Snapshot, state: &State) {
    let expect = state.history.map(history).unwrap_or_default();
    let mut topics: BTreeMap<String, BTreeSet<(String, u32)>> = BTreeMap::new();
    for f in &expect.files {
        for (term, n) in f.terms.iter().filter(|_| state.tree.contains_key(&*f.path)) {
            topics.entry(term.clone()).or_default().insert((f.path.to_string(), *n));
        }
    }
    for path in state.tree.keys() {
        let file = s.file_by_path(path).expect("indexed");
        let expect = expect.files.iter().find(|f| &*f.path == path).map(|f| f.history).unwrap_or_default();
        assert_eq!(s.history(file), expect);
    }
    for term in ["fix", "topic3", "never"] {
        let mut out = Vec::new();
        s.history_postings(term, &mut out);
        assert!(out.is_sorted());
        let is: BTreeSet<_> = out.into_iter().map(|(f, n)| (s.path(f).to_string(), n)).collect();
        assert_eq!(is, topics.get(term).cloned().unwrap_or_default(), "{term}");
    }
}

#[test]
fn answers_are_those_of_the_tree() {
    let long = "x/".repeat(300) + "f";
    let tree = tree(&[
        ("d/f1", "a: b b in_c none;b: a;in_c: a _w;two_long: a b;"),
        ("d/f0", "b: in_c a;a: ;b: b;"),
        ("empty", ""),
        (&long, "z: a z;"),
        (&(long.clone() + "a"), "y: z;"),
    ]);
    let state = State { tree, head: Some("c0ffee".into()), history: Some(3), overlays: 0 };
    let world = World::build(&state);
    compare(&world.snapshot(), &state);
}

#[test]
fn an_index_of_nothing_has_no_answers() {
    let world = World::build(&State::default());
    let s = world.snapshot();
    compare(&s, &State::default());
    assert_eq!((s.generation(), s.history_digest(), s.head()), (1, None, "none".into()));
    assert!(s.signature().starts_with("b3:") && s.signature().len() == 67);
}

#[test]
fn names_of_any_length_are_found() {
    let (a, b) = ("n".repeat(700), "n".repeat(701));
    let tree = tree(&[("f", &format!("{a}: {b};{b}: {a};"))]);
    let world = World::build(&State { tree, ..State::default() });
    let s = world.snapshot();
    assert_eq!(s.defs_named(&a).len(), 1);
    assert_eq!(&*s.def(s.defs_named(&b)[0]).name, b);
}

#[test]
fn caches_stats_and_token_counts_outside_the_dump() {
    let world = World::build(&State { tree: tree(&[("f", "a: b;")]), ..State::default() });
    let before = (world.dump(), world.snapshot().signature());
    let stat = FileStat { mtime_ns: -5, ctime_ns: 6, size: 7, inode: 8, dev: 9 };
    let mut txn = world.store.begin().expect("begin");
    txn.touch("f", &stat).expect("touch");
    txn.touch("no/such", &stat).expect("nothing to touch");
    txn.put_token_counts(&[("o200k", [1; 16], 42), ("cl100k", [1; 16], 43)]).expect("counts");
    assert_eq!(txn.commit().expect("commit"), 1, "the same state");
    let s = world.snapshot();
    let mut stats = Vec::new();
    s.all_stats(|path, stat| stats.push((path.to_owned(), stat)));
    assert_eq!(stats, [("f".to_owned(), stat)]);
    let count = |tokenizer, hash| s.token_count(tokenizer, [hash; 16]);
    assert_eq!([count("o200k", 1), count("cl100k", 1), count("o200k", 2)], [Some(42), Some(43), None]);
    assert_eq!((world.dump(), s.signature()), before);
}

/// Dataflow recorded at the reader leads from the definition read to its readers, in the same file or
/// another one.
#[test]
fn what_is_read_flows_to_its_readers() {
    let state = State {
        tree: tree(&[("d/a", "get_x:;near: get_x;"), ("d/b", "far: get_x get_x a;"), ("e", "a: get_x;")]),
        ..State::default()
    };
    let world = World::build(&state);
    let s = world.snapshot();
    let def = |name: &str| s.defs_named(name)[0];
    let shown = |edges: Vec<Edge>| -> Vec<String> {
        let one = |e: &Edge| {
            let site = s.def(e.site());
            assert!(e.occurrences.iter().all(|o| o.line == site.lines.start), "places stand in the reader");
            format!(
                "{} {} {} x{}",
                s.def(e.source).name,
                e.kind.name(),
                s.def(e.target).name,
                e.occurrences.len()
            )
        };
        edges.iter().map(one).collect()
    };
    let flows = ["get_x dataflow near x1", "get_x dataflow far x2", "get_x dataflow a x1"];
    assert_eq!(shown(s.flows_from(def("get_x"), 9)), flows);
    assert_eq!(shown(s.flows_from(def("get_x"), 2)), flows[..2]);
    assert_eq!(shown(s.edges_from(def("far"), &EdgeKind::ALL)), ["far call a x1"], "none of its own kind");
    assert_eq!(shown(s.edges_to(def("far"), &EdgeKind::ALL, 9)), flows[1..2]);
    assert_eq!(shown(s.edges_to(def("a"), &EdgeKind::ALL, 9)), [flows[2], "far call a x1"]);
    assert!(
        s.edges_to(def("a"), &[EdgeKind::Call], 9).len() == 1
            && s.in_degree(def("a"), EdgeKind::Dataflow) == 1
    );
    assert_eq!(shown(s.edges_to(def("get_x"), &EdgeKind::ALL, 9)), [""; 0]);
}
