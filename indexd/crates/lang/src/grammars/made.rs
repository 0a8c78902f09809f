//! Arguments of macros of the same file of Rust, by what the macro does with them: an item gets its name from one, or a path
//! ends in it. `macro_rules! m { ($n:ident, $k:ident) => { fn $n() -> A { B::$k } } }` makes a function `f` of
//! `m!(f, C);` and refers to `B::C`.

use super::flat::Flat;
use indexd_model::DefKind;
use rustc_hash::FxHashMap;

/// Names of a path with their places.
pub(super) type Path<'s> = Vec<(&'s str, u32)>;

/// The arguments of macros that a file defines and calls.
#[derive(Default)]
pub(super) struct Made<'s> {
    /// The argument that names an item, by the call, and what the item is.
    pub(super) items: FxHashMap<usize, (usize, DefKind)>,
    /// The type that a function of an argument gives back, by the place of the argument.
    pub(super) results: FxHashMap<u32, Path<'s>>,
    /// The path that an argument ends, by its place.
    pub(super) paths: FxHashMap<u32, Path<'s>>,
}

/// A parameter of a macro.
struct Param {
    /// Which argument; every one for `None`.
    nth: Option<usize>,
    /// True for the last word of its argument, false for the first.
    is_last: bool,
}

/// The use that a macro makes of an argument.
enum Does<'s> {
    Item(DefKind, Path<'s>),
    Path(Path<'s>),
}

struct Reader<'s, 't> {
    text: &'s str,
    tree: &'t Flat<'t>,
}

/// Reads a file.
pub(super) fn made<'s>(text: &'s str, tree: &Flat) -> Made<'s> {
    let mut out = Made::default();
    if !text.contains("macro_rules!") {
        return out;
    }
    let it = Reader { text, tree };
    let mut macros: FxHashMap<&str, Vec<(Param, Does)>> = FxHashMap::default();
    let of_kind = |kind: &'static str| (0..tree.len()).filter(move |n| tree.node(*n).kind() == kind);
    for node in of_kind("macro_definition") {
        let Some(name) = tree.children(node).next() else { continue };
        let rules = tree.children(node).filter(|c| tree.node(*c).kind() == "macro_rule");
        rules.for_each(|rule| it.rule(rule, macros.entry(it.slice(name)).or_default()));
    }
    for node in of_kind("macro_invocation") {
        let name = tree.children(node).next().map_or("", |n| it.slice(n));
        for (param, does) in macros.get(name).into_iter().flatten() {
            for argument in it.arguments(node, param) {
                let at = tree.node(argument).start_byte() as u32;
                match does {
                    Does::Item(kind, result) if it.is_item(node) && !out.items.contains_key(&node) => {
                        out.items.insert(node, (argument, *kind));
                        out.results.insert(at, result.clone());
                    }
                    Does::Item(..) => {}
                    Does::Path(path) => _ = out.paths.entry(at).or_insert_with(|| path.clone()),
                }
            }
        }
    }
    out
}

impl<'s, 't> Reader<'s, 't> {
    fn slice(&self, node: usize) -> &'s str {
        self.text.get(self.tree.node(node).byte_range()).unwrap_or("")
    }

    fn kind(&self, node: usize) -> &'t str {
        self.tree.node(node).kind()
    }

    fn named(&self, node: usize) -> (&'s str, u32) {
        (self.slice(node).trim_start_matches('$'), self.tree.node(node).start_byte() as u32)
    }

    /// True if a call is at a place for items.
    fn is_item(&self, node: usize) -> bool {
        let around = |n| self.tree.parent(n).map_or((0, ""), |p| (p, self.kind(p)));
        let (parent, mut kind) = around(node);
        if kind == "expression_statement" {
            kind = around(parent).1;
        }
        matches!(kind, "source_file" | "declaration_list")
    }

    /// The arguments of a call that a parameter means, if they are names.
    fn arguments(&self, call: usize, param: &Param) -> Vec<usize> {
        let Some(list) = self.tree.children(call).find(|c| self.kind(*c) == "token_tree") else {
            return Vec::new();
        };
        let all: Vec<usize> = self.tree.tokens(list).filter(|t| !self.tree.node(*t).is_extra()).collect();
        let inner = all.get(1..all.len().saturating_sub(1)).unwrap_or(&[]);
        let groups = inner.split(|t| self.kind(*t) == ",");
        let word =
            |group: &[usize]| if param.is_last { group.last().copied() } else { group.first().copied() };
        let is_meant = |n: usize| param.nth.is_none_or(|nth| nth == n);
        let words = groups.enumerate().filter(|(n, _)| is_meant(*n)).filter_map(|(_, group)| word(group));
        words.filter(|w| self.kind(*w) == "identifier").collect()
    }

    /// Collects the parameters of a rule of a macro, with their uses.
    fn rule(&self, rule: usize, out: &mut Vec<(Param, Does<'s>)>) {
        let part = |kind: &str| self.tree.children(rule).find(|c| self.kind(*c) == kind);
        let (Some(left), Some(right)) = (part("token_tree_pattern"), part("token_tree")) else { return };
        let leaves: Vec<usize> = self.tree.within(right).filter(|n| self.tree.is_leaf(*n)).collect();
        for (i, node) in leaves.iter().enumerate().filter(|(_, n)| self.kind(**n) == "metavariable") {
            let before = i.checked_sub(1).map_or("", |i| self.slice(leaves[i]));
            let is = match before {
                "fn" => Some(DefKind::Function),
                "struct" => Some(DefKind::Struct),
                "enum" => Some(DefKind::Enum),
                "const" => Some(DefKind::Constant),
                _ => None,
            };
            let does = match is {
                Some(kind) if self.is_directly_in(*node, right) => Does::Item(kind, self.result(*node)),
                None if before == "::" => match self.path_before(&leaves[..i - 1]) {
                    Some(path) => Does::Path(path),
                    None => continue,
                },
                _ => continue,
            };
            out.extend(self.param(left, self.slice(*node)).map(|param| (param, does)));
        }
    }

    /// True if only the brackets of repetitions are between a node and the text of a macro.
    fn is_directly_in(&self, node: usize, right: usize) -> bool {
        let mut around = std::iter::successors(self.tree.parent(node), |n| self.tree.parent(*n));
        around.find(|n| self.kind(*n) == "token_tree") == Some(right)
    }

    /// True for a token that names a part of a path and is not a parameter.
    fn is_name(&self, token: usize) -> bool {
        matches!(self.kind(token), "identifier" | "crate" | "self" | "super") || self.slice(token) == "$crate"
    }

    /// The names at the end of `leaves` with `::` between them.
    fn path_before(&self, leaves: &[usize]) -> Option<Path<'s>> {
        let mut out = Vec::new();
        for pair in leaves.rchunks(2) {
            let (name, before) = (pair[pair.len() - 1], pair[0]);
            if !self.is_name(name) {
                return None;
            }
            out.push(self.named(name));
            if self.slice(before) != "::" {
                break;
            }
        }
        out.reverse();
        Some(out)
    }

    /// The type behind `->` of the function whose name is `node`, without its arguments.
    fn result(&self, node: usize) -> Path<'s> {
        let Some(parent) = self.tree.parent(node) else { return Vec::new() };
        let head = self.tree.tokens(parent).skip_while(|t| *t <= node);
        let head = head.take_while(|t| !self.slice(*t).starts_with('{'));
        let mut depth = 0;
        let is_before = |t: &usize| {
            match self.slice(*t) {
                "<" => depth += 1,
                ">" => depth -= 1,
                "->" => return depth > 0,
                _ => {}
            }
            true
        };
        let mut out = Vec::new();
        for token in head.skip_while(is_before).skip(1) {
            match self.slice(token) {
                "::" => {}
                _ if self.is_name(token) => out.push(self.named(token)),
                _ => break,
            }
        }
        out
    }

    /// The place of the parameter `name` among the arguments.
    fn param(&self, left: usize, name: &str) -> Option<Param> {
        let all: Vec<usize> = self.tree.tokens(left).collect();
        let binds = |n: usize| self.tree.children(n).next().is_some_and(|v| self.slice(v) == name);
        let is_binding = |n: &usize| self.kind(*n) == "token_binding_pattern";
        if let Some(i) = all.iter().position(|n| is_binding(n) && binds(*n)) {
            let n_commas = all[..i].iter().filter(|n| self.kind(**n) == ",").count();
            let is_end = |n: Option<&usize>| {
                n.is_none_or(|n| matches!(self.slice(*n), "," | ")" | "]" | "}" | "(" | "[" | "{"))
            };
            let (is_first, is_last) = (is_end(all.get(i.wrapping_sub(1))), is_end(all.get(i + 1)));
            return (is_first || is_last).then_some(Param { nth: Some(n_commas), is_last });
        }
        // `$($name:ident),*` and nothing else.
        let bindings = self.tree.within(left).filter(is_binding).collect::<Vec<_>>();
        let is_alone = bindings.len() == 1 && binds(bindings[0]);
        is_alone.then_some(Param { nth: None, is_last: true })
    }
}
