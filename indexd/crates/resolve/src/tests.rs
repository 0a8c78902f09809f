//! Properties of every language: a use that is written in the source is answered or counted.

use super::*;
use indexd_lang::tokens::{Token, tokens};
use indexd_model::memory::MemoryFacts;
use indexd_model::{LineIndex, RepoPath};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::sync::Arc;

/// The name that is defined and used in each file of `damage`.
const NAME: &str = "total";

/// The files of `damage`: one program in each language that is linked.
fn programs() -> Vec<(String, String)> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/damage");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let name = |p: &std::path::Path| p.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|p| (name(p), std::fs::read_to_string(p).unwrap())).collect()
}

/// The text without the tokens at these positions.
fn without(text: &str, all: &[Token], gone: &[usize]) -> String {
    let mut out = text.to_owned();
    let mut gone: Vec<usize> = gone.iter().map(|i| i % all.len()).collect();
    gone.sort_unstable();
    gone.dedup();
    for i in gone.into_iter().rev() {
        out.replace_range(all[i].span.range(), "");
    }
    out
}

/// Returns the places of [`NAME`] outside strings and comments; with `is_call` only those of callees.
fn places(text: &str, language: Language, is_call: bool) -> Vec<u32> {
    let all = tokens(text, language);
    let word = |i: usize| all.get(i).map_or("", |t| t.text(text));
    let is_called = |i: usize| match language {
        Language::Bash => is_command(&text[..all[i].span.start as usize]),
        // A variable of PHP may be called as well.
        _ => word(i + 1) == "(" && word(i.wrapping_sub(1)) != "$",
    };
    let is_meant = |i: usize| word(i) == NAME && (!is_call || is_called(i));
    (0..all.len()).filter(|i| is_meant(*i)).map(|i| all[i].span.start).collect()
}

/// Returns true if a command of a shell begins behind this text.
fn is_command(before: &str) -> bool {
    let before = before.trim_end_matches(' ');
    let last = before.split_whitespace().next_back().unwrap_or("");
    before.ends_with("$(")
        || before.ends_with(['\n', ';', '&', '|'])
        || matches!(last, "if" | "then" | "while" | "do" | "!")
}

/// Returns the lines where [`NAME`] is written and neither defined nor recorded in any way.
fn passed_over(path: &str, text: &str, is_damaged: bool) -> Vec<u32> {
    let path = RepoPath::new(path).unwrap();
    let facts = indexd_lang::extract(&path, text.as_bytes()).facts;
    let language = facts.interface.language;
    // The words of a file that was not parsed are counted when one is asked for.
    if facts.interface.outcome == indexd_model::Outcome::TextOnly {
        return Vec::new();
    }
    let view = MemoryFacts::new(vec![(path, Arc::new(facts.interface.clone()))]);
    let links = link(FileDoc(0), Facts::inside(&facts), &view);
    let read = Facts::inside(&facts);
    let bound = (0..read.n_bindings() as u32).filter_map(|i| read.binding(indexd_model::BindingId(i)));
    let mut told: Vec<u32> = Vec::new();
    // A name of PHP may follow its namespace.
    let last = |at: u32, len: usize| at + (len - NAME.len().min(len)) as u32;
    told.extend(links.links.iter().map(|l| last(l.at, usize::from(l.len))));
    let whole = links.unresolved.iter().map(|u| (u.at, read.str(u.name)));
    told.extend(whole.filter(|u| u.1.rsplit('\\').next() == Some(NAME)).map(|u| last(u.0, u.1.len())));
    told.extend(facts.interface.defs.iter().map(|d| d.name_span.start));
    told.extend(bound.map(|b| b.at));
    // A name that damage has made a variable of a function is that variable's.
    let local = (0..read.n_exprs() as u32).map(|i| read.expr(ExprId(i)));
    told.extend(
        local
            .filter(|e| matches!(e.node, Node::Name { binding, .. } if binding.some().is_some()))
            .map(|e| e.at),
    );
    let is_call = is_damaged && !matches!(language, Language::Go | Language::Python);
    let index = LineIndex::new(text);
    let missing = places(text, language, is_call).into_iter().filter(|at| !told.contains(at));
    missing.map(|at| index.line(at)).collect()
}

#[test]
fn a_whole_file_is_told_of() {
    let all = programs();
    assert_eq!(all.len(), 15);
    for (path, text) in &all {
        assert!(text.matches(NAME).count() >= 8, "{path}");
        assert_eq!(passed_over(path, text, false), [0u32; 0], "{path}");
    }
}

/// Checks each program without the tokens at these positions.
fn check_without(gone: &[usize]) {
    for (path, whole) in programs() {
        let language = indexd_lang::roles::language(&RepoPath::new(&path).unwrap());
        // The first line of a script may name its interpreter.
        let is_kept = |t: &Token| whole[..t.span.start as usize].lines().count() < 2;
        let all: Vec<Token> = tokens(&whole, language).into_iter().filter(|t| !is_kept(t)).collect();
        let text = without(&whole, &all, gone);
        assert_eq!(passed_over(&path, &text, true), [0u32; 0], "{path} without {gone:?}: {text}");
    }
}

#[test]
fn a_use_is_answered_or_counted_without_any_one_token() {
    (0..400).for_each(|gone| check_without(&[gone]));
}

/// Sets of up to five tokens from a fixed seed; `INDEXD_TEST_DAMAGES` sets of them.
#[test]
fn a_use_in_damaged_source_is_answered_or_counted() {
    let n = std::env::var("INDEXD_TEST_DAMAGES").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let sets = proptest::collection::vec(0usize..400, 1..6);
    for _ in 0..n {
        check_without(&sets.new_tree(&mut runner).unwrap().current());
    }
}
