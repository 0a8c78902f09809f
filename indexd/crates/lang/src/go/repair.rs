//! Keeps half-typed code from swallowing the declarations after it.
//!
//! An unclosed brace makes the parser read the next functions as part of the broken one. Formatted
//! Go starts declarations, and nothing else, at the first column, so such a place shows that the
//! declaration before it is broken: its body is blanked out and closed, and the file parsed again.
//! Offsets do not change, and the broken function keeps its name and signature.

use super::syntax::{Kind, SYNTAX};
use crate::patch::Patch;
use tree_sitter::{Node, Tree};

/// Broken declarations that are mended in one file.
const REPAIRS_MAX: usize = 8;

/// The tree of `text`, or of a text in which broken declarations are blanked out when they swallowed
/// others. `tree` is that of `text`.
pub(super) fn repair(text: &str, mut tree: Tree, parse: &dyn Fn(&str) -> Option<Tree>) -> Tree {
    if !tree.root_node().has_error() {
        return tree;
    }
    let starts: Vec<usize> = line_starts(text).filter(|&at| is_declaration(&text[at..])).collect();
    let mut mended = text.to_owned();
    let mut seen: Vec<usize> = Vec::new();
    for _ in 0..REPAIRS_MAX {
        let Some(guilty) = guilty(&tree, &starts, &seen) else { break };
        let is_known = seen.contains(&guilty);
        seen.push(guilty);
        let end = segment_end(text, &starts, guilty);
        let Some(repaired) = blank(&mended, guilty, end, is_known) else { break };
        mended = repaired;
        match parse(&mended) {
            Some(next) => tree = next,
            None => break,
        }
    }
    tree
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1))
}

fn is_declaration(line: &str) -> bool {
    ["func", "type", "var", "const", "import"]
        .iter()
        .any(|word| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '('])))
}

/// Returns the start of the broken declaration that hides the first lost one: the one around it, the one
/// before it when there is an error in its text, or the lost one itself.
fn guilty(tree: &Tree, starts: &[usize], seen: &[usize]) -> Option<usize> {
    let root = tree.root_node();
    let mut cursor = root.walk();
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut errors: Vec<(usize, usize)> = Vec::new();
    for child in root.children(&mut cursor) {
        let place = (child.start_byte(), child.end_byte());
        if child.has_error() {
            errors.push(place);
        }
        if child.is_named() && !child.is_error() && SYNTAX.kind(child.kind_id()) != Kind::Comment {
            found.push(place);
        }
    }
    let is_found = |at: usize| found.binary_search_by_key(&at, |f| f.0).is_ok();
    let lost = starts.iter().copied().find(|&at| !is_found(at) && !is_quoted(root, at))?;
    if let Some(around) = found.iter().find(|f| f.0 < lost && lost < f.1) {
        // Only what starts where declarations do can be cut off from what follows.
        return starts.binary_search(&around.0).is_ok().then_some(around.0);
    }
    let before = starts.iter().rev().copied().find(|&s| s < lost);
    let is_broken = |at: &usize| !seen.contains(at) && errors.iter().any(|e| e.0 < lost && e.1 > *at);
    Some(before.filter(is_broken).unwrap_or(lost))
}

/// Returns true if a place is inside a raw string or a comment.
fn is_quoted(root: Node, at: usize) -> bool {
    root.descendant_for_byte_range(at, at + 1)
        .is_some_and(|n| n.kind().starts_with("raw_string") || n.kind().starts_with("comment"))
}

/// The end of a declaration's text: before the next one and the comment that belongs to that.
fn segment_end(text: &str, starts: &[usize], from: usize) -> usize {
    let Some(&next) = starts.iter().find(|&&s| s > from) else { return text.len() };
    let mut end = next;
    while let Some(line) =
        text[from..end].strip_suffix('\n').map(|t| t.rfind('\n').map_or(from, |i| from + i + 1))
    {
        if line <= from || !text[line..].starts_with("//") {
            break;
        }
        end = line;
    }
    end
}

/// Blanks a declaration out behind the brace of its first line, and closes that; all of it when there is no
/// brace or that did not help. `None` when nothing is left to blank.
fn blank(text: &str, from: usize, end: usize, entirely: bool) -> Option<String> {
    let segment = &text[from..end];
    let first_line = segment.lines().next().unwrap_or("");
    let body = first_line.rfind('{').map(|i| i + 1).filter(|_| !entirely);
    let last = segment.trim_end().len();
    let keep = body.filter(|b| *b < last).unwrap_or(0);
    if segment[keep..].trim().is_empty() {
        return None;
    }
    let mut out = Patch::new(text);
    out.blank(from + keep..end);
    if keep > 0 {
        out.write(from + last - 1, b"}");
    }
    out.done()
}
