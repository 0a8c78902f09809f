//! Names in a damaged or very deep tree that no fact tells of, as [`crate::unread`] has them for Go
//! and Python: whoever asks for the uses of a name must hear of each place where it is written.

use super::flat::Flat;
use crate::builder::Builder;
use crate::tokens::is_identifier;
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{Node, Role};
use rustc_hash::FxHashSet;

/// Words before a bracket that call nothing, in one language or another.
#[rustfmt::skip]
const STATEMENTS: &[&str] = &[
    "and", "assert", "await", "case", "catch", "do", "elif", "else", "elseif", "elsif", "for", "foreach", "fn",
    "func", "function", "if", "in", "isset", "match", "not", "or", "return", "sizeof", "switch", "synchronized",
    "throw", "typeof", "unless", "until", "using", "when", "while", "yield",
];

/// Whether names of a tree may be passed over: source in it was not understood, or lies too deep.
pub(super) fn is_damaged(tree: &Flat) -> bool {
    tree.node(0).has_error() || tree.depth() >= PARSE_DEPTH_MAX
}

/// Adds what no fact tells of so far. `is_name` tells kinds of nodes that are names; `told` are the places of names that were looked at and need no
/// fact: keys, labels, local variables that are read.
pub(super) fn add<'s>(
    b: &mut Builder<'s>,
    text: &'s str,
    is_name: &dyn Fn(&str) -> bool,
    tree: &Flat,
    mut told: FxHashSet<u32>,
) {
    told.extend(b.known_places());
    let is_called_at = |at: &u32| {
        let rest = text.get(*at as usize..).unwrap_or("");
        let end = rest.find(|c: char| !is_part(c)).map_or(text.len(), |n| *at as usize + n);
        is_called(text, end)
    };
    told.extend(b.imports.iter().map(|i| i.at).filter(|at| !is_called_at(at)));
    for node in 0..tree.len() {
        let (start, end) = (tree.node(node).start_byte(), tree.node(node).end_byte());
        let kind = tree.node(node).kind();
        let is_text = kind.contains("comment") || kind.contains("string");
        let has_gaps = if tree.is_leaf(node) {
            tree.node(node).is_error()
        } else {
            !is_text || tree.node(node).has_error()
        };
        if has_gaps {
            // Grammars have tokens that are not nodes: there, the source between the nodes says more.
            let inner: Vec<usize> = tree.tokens(node).collect();
            let starts = inner.iter().map(|n| tree.node(*n).start_byte()).chain([end]);
            let ends = [start].into_iter().chain(inner.iter().map(|n| tree.node(*n).end_byte()));
            for (from, to) in ends.zip(starts) {
                let gap = text.get(from..to).unwrap_or("");
                words(gap).for_each(|(at, word)| unread(b, text, word, from + at, &told));
            }
        } else if tree.is_leaf(node) {
            let word = text.get(start..end).unwrap_or("");
            if is_identifier(word) && may_use(is_name, tree, node, word, is_called(text, end)) {
                unread(b, text, word, start, &told);
            } else if is_torn_string(tree, node, word) {
                words(word).for_each(|(at, word)| unread(b, text, word, start + at, &told));
            }
        }
    }
}

/// Whether a leaf seems to be what a string holds, and no string is around it: beside an error, scanners
/// take code for that.
fn is_torn_string(tree: &Flat, leaf: usize, written: &str) -> bool {
    let node = tree.node(leaf);
    let mut around = std::iter::successors(tree.parent(leaf), |p| tree.parent(*p)).map(|p| tree.node(p));
    let Some(parent) = around.next() else { return false };
    let is_loose = parent.is_error() || parent.has_error() && node.kind() == "jsx_text";
    // A quote that is missing further up turns strings and code round.
    let has_lines = parent.start_position().row < parent.end_position().row;
    let is_code = is_loose || has_lines && node.kind().contains("string") && around.any(|p| p.is_error());
    is_code && node.is_named() && !node.kind().contains("comment") && !written.starts_with(['"', '\''])
}

fn unread<'s>(b: &mut Builder<'s>, text: &str, word: &'s str, at: usize, told: &FxHashSet<u32>) {
    if !told.contains(&(at as u32)) {
        let name = b.str(word);
        let role = if is_called(text, at + word.len()) { Role::Call } else { Role::Read };
        b.expr(Node::Unread { name }, at as u32, role);
    }
}

/// Whether a bracket stands behind a name that ends at `end`.
pub(super) fn is_called(text: &str, end: usize) -> bool {
    text.get(end..).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('('))
}

/// Whether a leaf may use a name. A keyword beside an error that is called may be a name as well, and a
/// key there may be one that lost what it stood behind.
fn may_use(
    is_of_names: &dyn Fn(&str) -> bool,
    tree: &Flat,
    leaf: usize,
    written: &str,
    is_called: bool,
) -> bool {
    let node = tree.node(leaf);
    let kind = node.kind();
    if !node.is_named() {
        let is_loose = tree.parent(leaf).is_some_and(|p| tree.node(p).is_error());
        return is_loose && is_called && !STATEMENTS.contains(&written);
    }
    // Any word of a shell may be a command.
    if kind == "word" || is_of_names(kind) {
        return true;
    }
    let is_name = kind.contains("identifier") || matches!(kind, "name" | "constant");
    let around = std::iter::successors(tree.parent(leaf), |p| tree.parent(*p)).take(3);
    is_name && around.into_iter().any(|p| tree.node(p).has_error())
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of a text with where they start.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = text.split(|c: char| !is_part(c)).filter(|w| is_identifier(w));
    all.map(|w| (w.as_ptr() as usize - text.as_ptr() as usize, w))
}
