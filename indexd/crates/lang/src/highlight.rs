//! Classifies the pieces of a text for display: comments, strings, numbers, keywords, types, names of
//! functions. Reads the syntax tree by the kinds that grammars have in common, so one table serves all.

use crate::parse::Parses;
use indexd_model::limits::PARSE_CALLBACKS_MAX;
use indexd_model::{Language, LineIndex, Lines, Span};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// The class of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A comment.
    Comment,
    /// A string, its quotes included.
    String,
    /// A number, or a constant of the language.
    Number,
    /// A word of the language.
    Keyword,
    /// The name of a type.
    Type,
    /// The name of a function where it is defined or called.
    Function,
}

/// Returns the classified pieces in these parts of a text, in order, none overlapping. Empty for languages
/// without a grammar in this build, and where the parser stops early.
pub fn highlight(language: Language, text: &str, shown: &[Span]) -> Vec<(Span, Class)> {
    let tree = Parses::of(language).and_then(|parses| parses.parse(text, PARSE_CALLBACKS_MAX));
    let Some(tree) = tree else { return Vec::new() };
    let mut out = Vec::new();
    walk(tree.root_node(), text, &joined(shown), &mut out);
    out
}

/// The parts in order, those that touch each other as one.
fn joined(parts: &[Span]) -> Vec<Span> {
    let mut all = parts.to_vec();
    all.sort_unstable_by_key(|s| (s.start, s.end));
    all.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        last.end = if touches { last.end.max(next.end) } else { last.end };
        touches
    });
    all
}

/// The pieces of single lines by their numbers, in bytes from the start of the line. `lines` is the index of
/// `text`; runs outside of it are left out.
pub fn by_line(
    language: Language,
    text: &str,
    lines: &LineIndex,
    shown: &[Lines],
) -> BTreeMap<u32, Vec<(usize, usize, Class)>> {
    let there = shown.iter().filter(|l| l.start >= 1 && l.start <= l.end && l.end <= lines.count());
    let spans: Vec<Span> =
        there.map(|l| Span { start: lines.start(l.start), end: lines.span(l.end).end }).collect();
    let mut out: BTreeMap<u32, Vec<(usize, usize, Class)>> = BTreeMap::new();
    for (span, class) in highlight(language, text, &spans) {
        for number in lines.line(span.start)..=lines.line(span.end.saturating_sub(1)) {
            let of = lines.span(number);
            let (from, to) = (span.start.max(of.start), span.end.min(of.end));
            if from < to {
                let piece = ((from - of.start) as usize, (to - of.start) as usize, class);
                out.entry(number).or_default().push(piece);
            }
        }
    }
    out
}

/// The surroundings of a node.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    Code,
    String,
}

fn walk(root: Node, text: &str, shown: &[Span], out: &mut Vec<(Span, Class)>) {
    let is_shown = |n: &Node| {
        let first = shown.partition_point(|s| s.end as usize <= n.start_byte());
        shown.get(first).is_some_and(|s| (s.start as usize) < n.end_byte())
    };
    let mut cursor = root.walk();
    // The enclosing nodes, with the surroundings that they give to their children.
    let mut around: Vec<(Node, Around)> = Vec::new();
    loop {
        let node = cursor.node();
        let here = around.last().map_or(Around::Code, |a| a.1);
        let inside = enter(node, here);
        let whole = (here == Around::Code && is_comment(node)).then_some(Class::Comment);
        let is_seen = is_shown(&node);
        if is_seen {
            let leaf = || (node.child_count() == 0).then(|| class_of(node, inside, &around, text)).flatten();
            if let Some(class) = whole.or_else(leaf) {
                push(node, class, out);
            }
        }
        if is_seen && whole.is_none() && cursor.goto_first_child() {
            around.push((node, inside));
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            around.pop();
        }
    }
}

fn push(node: Node, class: Class, out: &mut Vec<(Span, Class)>) {
    let (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
    match out.last_mut() {
        Some((last, was)) if last.end == start && *was == class => last.end = end,
        Some((last, _)) if last.end > start => {}
        _ if start < end => out.push((Span { start, end }, class)),
        _ => {}
    }
}

fn is_comment(node: Node) -> bool {
    node.is_named() && (node.kind().contains("comment") || node.kind() == "hash_bang_line")
}

/// Returns the surroundings of the children of a node.
fn enter(node: Node, here: Around) -> Around {
    let kind = node.kind();
    if here == Around::String {
        let is_code = kind.contains("interpolation") || kind.contains("substitution");
        return if is_code { Around::Code } else { Around::String };
    }
    let is_string = node.is_named()
        && (kind.contains("string")
            || matches!(
                kind,
                "char_literal" | "rune_literal" | "character_literal" | "heredoc_body" | "regex"
            ))
        && !kind.contains("type");
    if is_string { Around::String } else { Around::Code }
}

/// Returns the class of a node without children.
fn class_of(node: Node, inside: Around, around: &[(Node, Around)], text: &str) -> Option<Class> {
    let kind = node.kind();
    if inside == Around::String {
        return Some(Class::String);
    }
    if !node.is_named() {
        let is_word = kind.len() > 1 && kind.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
        return is_word.then_some(Class::Keyword);
    }
    let has = |parts: &[&str]| parts.iter().any(|p| kind.contains(p));
    if has(&["integer", "float", "number", "int_literal", "imaginary_literal", "decimal"]) {
        return Some(Class::Number);
    }
    if matches!(
        kind,
        "true" | "false" | "nil" | "none" | "null" | "null_literal" | "iota" | "boolean_literal"
    ) {
        return Some(Class::Number);
    }
    if has(&["type_identifier", "primitive_type", "predefined_type", "builtin_type"]) {
        return Some(Class::Type);
    }
    if matches!(kind, "self" | "this" | "super") {
        return Some(Class::Keyword);
    }
    if has(&["identifier", "constant", "name", "word"]) {
        return name(node, around, text);
    }
    None
}

/// Returns the class of a name, by the nodes around it.
fn name(node: Node, around: &[(Node, Around)], text: &str) -> Option<Class> {
    let mut parents = around.iter().rev().map(|a| a.0);
    let mut at = node;
    let mut parent = parents.next()?;
    // The last name of a path is the one that is called.
    let is_last = |parent: Node, at: Node| parent.end_byte() == at.end_byte();
    if matches!(
        parent.kind(),
        "selector_expression" | "attribute" | "member_expression" | "field_expression" | "scoped_identifier"
    ) && is_last(parent, at)
    {
        at = parent;
        parent = parents.next()?;
    }
    let is_field = |name: &str| parent.child_by_field_name(name).is_some_and(|n| n.id() == at.id());
    let kind = parent.kind();
    let is_definition = ["function", "method", "constructor"].iter().any(|k| kind.contains(k));
    if is_definition && is_field("name") {
        return Some(Class::Function);
    }
    let is_type = kind.contains("class") || kind.contains("interface") || kind == "type";
    if is_type && (kind == "type" || is_field("name")) {
        return Some(Class::Type);
    }
    let is_called = is_field("function") || is_field("method") || is_field("name");
    if is_called { called(node, kind, text) } else { None }
}

/// Returns the class of a name in the place of the callee in a node of this kind.
fn called(node: Node, kind: &str, text: &str) -> Option<Class> {
    if kind != "call" && !kind.contains("call_expression") && !kind.contains("invocation") {
        return None;
    }
    let first = text.get(node.byte_range()).and_then(|t| t.chars().next());
    // A call of a capitalised name in Python and the like makes an object.
    let is_made = kind == "call" && first.is_some_and(char::is_uppercase);
    Some(if is_made { Class::Type } else { Class::Function })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces as `text:class`, in order.
    #[track_caller]
    fn check(language: Language, text: &str, expect: &str) {
        let pieces = highlight(language, text, &[Span { start: 0, end: text.len() as u32 }]);
        let said: Vec<String> = pieces.iter().map(|(s, c)| format!("{}:{c:?}", &text[s.range()])).collect();
        assert_eq!(said.join(" "), expect);
        assert!(pieces.windows(2).all(|p| p[0].0.end <= p[1].0.start), "{pieces:?}");
    }

    #[test]
    fn pieces_of_go() {
        check(
            Language::Go,
            "package p\n// c\nfunc (r *T) F(n int) string { return g.H(\"a\\n\", 1) }\n",
            "package:Keyword // c:Comment func:Keyword T:Type F:Function int:Type string:Type return:Keyword \
             H:Function \"a\\n\":String 1:Number",
        );
    }

    #[test]
    fn pieces_of_python() {
        check(
            Language::Python,
            "class A(B):\n    def f(self):\n        # c\n        return g(f\"x{y}z\", None, A())\n",
            "class:Keyword A:Type def:Keyword f:Function # c:Comment return:Keyword g:Function f\"x:String \
             z\":String None:Number A:Type",
        );
    }

    #[test]
    fn nothing_is_said_of_what_has_no_grammar() {
        check(Language::Text, "func f() {}", "");
        check(Language::Markdown, "# a", "");
    }

    fn check_ends(text: &str) {
        highlight(Language::Go, text, &[Span { start: 0, end: text.len() as u32 }]);
    }

    #[test]
    fn what_is_not_shown_is_not_looked_at() {
        let text = "package p\nfunc f() {}\nfunc g() {}\n";
        let pieces = highlight(Language::Go, text, &[Span { start: 10, end: 21 }]);
        assert_eq!(pieces.len(), 2, "{pieces:?}");
    }

    #[test]
    fn broken_and_deep_texts_end() {
        for text in ["func (", "\"", "((((((((((", "\u{0}\u{1}", ""] {
            check_ends(text);
        }
        check_ends(&format!("package p\nvar x = {}1{}", "(".repeat(20_000), ")".repeat(20_000)));
    }
}
