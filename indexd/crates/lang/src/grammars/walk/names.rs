//! Names of definitions, read off their nodes.

use super::{NAME_BYTES_MAX, Walk};
use crate::grammars::table::{Define, Name};
use crate::grammars::{cfamily, macros};
use indexd_model::{DefKind, Language, Span};
use tree_sitter::Node;

impl<'s, 'g> Walk<'s, 'g> {
    pub(super) fn find_name(&self, at: usize, rule: &Define, n: usize) -> Option<Found> {
        let node = self.tree.node(at);
        let mut is_class = false;
        let (at, mut is_function) = match rule.name {
            Name::Path(path) => self.at_path(node, path, rule, n)?,
            Name::First(functions) => return self.first(node, functions),
            Name::Macro => {
                let end = self.body_at(at, rule)?.start_byte();
                let start = node.start_byte();
                return macros::named(self.text.get(start..end)?, start as u32);
            }
            Name::Made => {
                let (name, is) = *self.made.items.get(&at)?;
                let name = self.tree.node(name);
                return (is == rule.is)
                    .then(|| Found { span: self.span(name), ..Found::named(self.slice(name)) });
            }
            Name::Call(functions) => return self.called_with(node, functions),
            Name::Symbols(functions) => return self.symbol(node, functions, rule.each, n),
            Name::Word(word) => {
                let start = node.start_byte() as u32 + self.slice(node).find(word)? as u32;
                let span = Span { start, end: start + word.len() as u32 };
                let value = node.child_by_field_name("value").map_or("", |v| v.kind());
                let is_function = rule.functions.contains(&value);
                let is_class = !rule.functions.is_empty() && value == "class";
                return Some(Found { span, is_function, is_class, ..Found::named(word) });
            }
            Name::Labels => return self.labels(node),
            Name::Unnamed(kind) => {
                let start = step_to(node, kind)?.start_byte() as u32;
                return Some(Found { span: Span { start, end: start }, ..Found::named("") });
            }
        };
        if !rule.functions.is_empty() {
            let value = ["value", "right"].iter().find_map(|f| node.child_by_field_name(f));
            is_function |= value.is_some_and(|v| rule.functions.contains(&v.kind()));
            is_class = value.is_some_and(|v| v.kind() == "class");
        }
        let is_csharp = self.grammar.table.language == Language::CSharp;
        let mut found = match rule.is {
            DefKind::Module => whole_name(self.slice(at), self.span(at))?,
            // Colons and dots are part of a name.
            _ if self.grammar.table.language == Language::Bash => {
                let (name, span) = (self.slice(at), self.span(at));
                Found { is_function, span, ..Found::named(name) }
            }
            // What an extension block holds are members of the type around.
            DefKind::Class if is_csharp && self.slice(node).starts_with("extension") => return None,
            _ => qualified(self.slice(at), self.span(at))?,
        };
        let is_c = cfamily::is_cfamily(self.grammar.table.language);
        if is_c && rule.is != DefKind::Macro && cfamily::is_reserved(&found.name) {
            return None;
        }
        found.is_function = is_function;
        found.is_class = is_class;
        Some(found)
    }

    /// The node at the end of a path, through the `n`th of what may occur several times, and whether the way
    /// went through a kind of functions.
    fn at_path<'t>(
        &self,
        node: Node<'t>,
        path: &[&str],
        rule: &Define,
        n: usize,
    ) -> Option<(Node<'t>, bool)> {
        let kinds = rule.functions;
        let mut at = node;
        let mut is_through = false;
        for step in path {
            at = if *step == rule.each { step_to_nth(at, step, n)? } else { step_to(at, step)? };
            is_through |= kinds.contains(&at.kind()) && !leads_to_function(at);
        }
        let Some(last) = path.last() else { return Some((at, false)) };
        while let Some(next) = repeat_of(at, last) {
            at = next;
            is_through |= kinds.contains(&at.kind()) && !leads_to_function(at);
        }
        Some((at, is_through))
    }

    fn called_with(&self, node: Node, functions: &[&str]) -> Option<Found> {
        // Most calls are of something else, and fields are looked up by name.
        if !functions.iter().any(|f| self.slice(node).starts_with(f)) {
            return None;
        }
        let called = ["function", "method", "name"].iter().find_map(|f| node.child_by_field_name(f))?;
        let called = self.slice(called);
        let first = called.split(['.', '(']).next().unwrap_or("");
        if !functions.contains(&called) && !functions.contains(&first) {
            return None;
        }
        let arguments = node.child_by_field_name("arguments")?;
        let title = arguments.named_child(0)?;
        let (inner, span) = bare(self.slice(title), self.span(title).start, &['"', '\'', '`']);
        is_title(inner).then(|| Found { span, ..Found::named(inner) })
    }

    /// What a call of Ruby calls, with the value before it.
    fn called(&self, call: Node) -> &'s str {
        let Some(method) = call.child_by_field_name("method") else { return "" };
        self.text.get(call.start_byte()..method.end_byte()).unwrap_or("")
    }

    /// `alias_method :a, :b`, `define_method("a") { }`.
    fn first(&self, node: Node, functions: &[&str]) -> Option<Found> {
        let arguments =
            node.child_by_field_name("arguments").filter(|_| functions.contains(&self.called(node)))?;
        let first = arguments.named_child(0).filter(|a| matches!(a.kind(), "simple_symbol" | "string"))?;
        let (name, span) = bare(self.slice(first), self.span(first).start, &[':', '"', '\'']);
        is_name(name).then(|| Found { span, ..Found::named(name) })
    }

    /// `attr_reader :a, :b`.
    fn symbol(&self, node: Node, functions: &[&str], kind: &str, n: usize) -> Option<Found> {
        if !functions.contains(&self.called(node)) {
            return None;
        }
        let symbol = step_to_nth(node.child_by_field_name("arguments")?, kind, n)?;
        let name = self.slice(symbol).trim_start_matches(':');
        let span = self.span(symbol);
        let span = Span { start: span.end - name.len() as u32, end: span.end };
        is_name(name).then(|| Found { span, ..Found::named(name) })
    }

    /// `resource "a" "b" {`.
    fn labels(&self, node: Node) -> Option<Found> {
        let mut cursor = node.walk();
        let labels: Vec<Node> = node
            .named_children(&mut cursor)
            .take_while(|c| matches!(c.kind(), "identifier" | "string_lit"))
            .collect();
        let name: Vec<&str> = labels.iter().map(|l| self.slice(*l).trim_matches('"')).collect();
        let span = Span { start: labels.first()?.start_byte() as u32, end: labels.last()?.end_byte() as u32 };
        Some(Found { span, ..Found::named(&name.join(".")) })
    }
}

/// A name in the source.
pub(in crate::grammars) struct Found {
    pub(in crate::grammars) name: String,
    /// The type or table it is a member of, when the name says so.
    pub(in crate::grammars) receiver: Option<String>,
    pub(in crate::grammars) span: Span,
    pub(in crate::grammars) is_function: bool,
    pub(in crate::grammars) is_class: bool,
}

impl Found {
    /// A name without a place.
    pub(in crate::grammars) fn named(name: &str) -> Self {
        let span = Span { start: 0, end: 0 };
        Self { name: name.to_owned(), receiver: None, span, is_function: false, is_class: false }
    }
}

/// A text that begins at `at` without the marks around it, and its place.
pub(in crate::grammars) fn bare<'s>(text: &'s str, at: u32, marks: &[char]) -> (&'s str, Span) {
    let inner = text.trim_matches(marks);
    let start = at + (text.len() - text.trim_start_matches(marks).len()) as u32;
    (inner, Span { start, end: start + inner.len() as u32 })
}

/// The name of a module is the whole path.
fn whole_name(text: &str, span: Span) -> Option<Found> {
    let (inner, span) = bare(text, span.start, &['"', '\'']);
    let name = inner.replace("::", ".");
    is_title(&name).then(|| Found { span, ..Found::named(&name) })
}

/// Takes `a::B::m`, `M.f` and `M:g` apart.
fn qualified(text: &str, span: Span) -> Option<Found> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).filter(|t| !t.is_empty());
    let text = inner.unwrap_or(text).trim_matches(['"', '\'', '`']);
    let offset = u32::from(text.len() as u32 + 1 < span.len());
    let cut = if text.contains("operator") {
        text.rfind("::").map(|i| i + 2)
    } else {
        text.rfind([':', '.']).map(|i| i + 1)
    };
    let (owner, name) = text.split_at(cut.unwrap_or(0));
    let owner = without_arguments(owner.trim_end_matches([':', '.'])).replace("::", ".");
    let receiver = (!owner.is_empty() && is_title(&owner)).then_some(owner);
    if !is_title(name) {
        return None;
    }
    let start = span.start + offset + cut.unwrap_or(0) as u32;
    let span = Span { start, end: start + name.len() as u32 };
    Some(Found { receiver, span, ..Found::named(name) })
}

/// The names of a path of C++ without the arguments of templates.
fn without_arguments(path: &str) -> String {
    let mut depth = 0;
    let mut is_outside = |c: char| {
        depth -= i32::from(c == '>');
        let out = depth <= 0 && c != '>';
        depth += i32::from(c == '<');
        out && c != '<'
    };
    path.chars().filter(|c| is_outside(*c)).collect()
}

fn is_title(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(['\n', '\r'])
}

pub(super) fn is_name(name: &str) -> bool {
    is_title(name) && !name.contains(char::is_whitespace)
}

/// The name of a type without its arguments and the names around it.
pub(super) fn base_name(text: &str) -> &str {
    // `&'a mut T`, `dyn T`.
    let mut text = text.trim_start_matches(['&', '(']);
    while let Some((word, rest)) = text.split_once(' ')
        && (matches!(word, "mut" | "dyn") || word.starts_with('\''))
    {
        text = rest.trim_start();
    }
    let text = text.split(['<', '[', ' ', ')']).next().unwrap_or("");
    text.rsplit([':', '.', '&']).next().unwrap_or(text)
}

/// Whether a declarator of C declares what leads to a function: `(*f)(int)`.
fn leads_to_function(declarator: Node) -> bool {
    let inner = declarator.child_by_field_name("declarator");
    let inner = inner.filter(|i| i.kind() == "parenthesized_declarator").and_then(|i| i.named_child(0));
    inner.is_some_and(|i| i.kind() == "pointer_declarator")
}

fn step_to<'t>(node: Node<'t>, step: &str) -> Option<Node<'t>> {
    node.child_by_field_name(step).or_else(|| child_of_kind(node, step))
}

/// The same where there may be several.
fn step_to_nth<'t>(node: Node<'t>, step: &str, n: usize) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    let by_field = node.children_by_field_name(step, &mut cursor).filter(Node::is_named).nth(n);
    by_field.or_else(|| {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).filter(|c| c.kind() == step).nth(n)
    })
}

/// The next of declarators inside each other.
fn repeat_of<'t>(node: Node<'t>, step: &str) -> Option<Node<'t>> {
    match node.kind() {
        "parenthesized_declarator" | "reference_declarator" => node.named_child(0),
        // A specialisation has the name of its template.
        "template_type" | "template_function" => node.child_by_field_name("name"),
        _ if step == "declarator" => node.child_by_field_name(step),
        _ => None,
    }
}

fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|c| c.kind() == kind)
}

pub(super) fn body_of<'t>(node: Node<'t>, rule: &Define) -> Option<Node<'t>> {
    let of = |node: Node<'t>| rule.body.iter().find_map(|b| step_to(node, b));
    of(node).or_else(|| node.child_by_field_name("value").and_then(of))
}

/// The first string in a node, not deeper than `depth`.
pub(super) fn first_string(node: Node, depth: u32) -> Option<Node> {
    if node.kind().contains("string") && node.is_named() || node.kind() == "word" {
        return Some(node);
    }
    let depth = depth.checked_sub(1)?;
    let mut cursor = node.walk();
    let children: Vec<Node> = node.named_children(&mut cursor).collect();
    children.into_iter().find_map(|c| first_string(c, depth))
}
