//! A [`Grammar`] with its kinds looked up: what a node does is a step in a table.

use super::kinds::Kinds;
use super::table::{Define, Grammar, Scopes, Written};
use super::typed::forms::Forms;
use super::{cfamily, ecma};
use rustc_hash::FxHashMap;
use tree_sitter::{Language, Node};

/// What a node is to the walk.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// Its children are looked at.
    None,
    /// It may define something, by the first rule that fits.
    Define(&'static [&'static Define]),
    /// It gives members to the type in this field.
    Owner(&'static str),
    /// It belongs to the definition inside.
    Wrapper,
    /// It belongs to the definition behind.
    Attribute,
    Comment,
    /// It imports.
    Import,
    /// Variables inside are local.
    Runs,
}

/// A grammar ready for use.
pub(super) struct Compiled {
    pub(super) table: &'static Grammar,
    pub(super) parser: Language,
    actions: Vec<Action>,
    /// By kind: what it imports, also where it defines or wraps as well.
    imports: Vec<Option<&'static Written>>,
    /// How names are bound, where uses are followed.
    pub(super) scopes: Option<(&'static Scopes, Kinds)>,
    /// What the nodes of a language with declared types are.
    pub(super) typed: Option<Forms>,
    /// What the visitor of TypeScript and JavaScript knows of the grammar.
    pub(super) ecma: Option<ecma::Kinds>,
    /// What the visitor of C and C++ knows of the grammar.
    pub(super) cfamily: Option<cfamily::Kinds>,
}

impl Compiled {
    pub(super) fn new(table: &'static Grammar) -> Self {
        let parser = (table.parser)();
        let n_kinds = parser.node_kind_count();
        let mut actions = vec![Action::None; n_kinds];
        let mut imports = vec![None; n_kinds];
        let mut ids: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for id in 0..n_kinds {
            if let (Some(kind), true) =
                (parser.node_kind_for_id(id as u16), parser.node_kind_is_named(id as u16))
            {
                ids.entry(kind).or_default().push(id);
            }
        }
        let mut set = |kind: &str, action: Action| {
            ids.get(kind).into_iter().flatten().for_each(|id| actions[*id] = action);
        };
        table.comments.iter().for_each(|kind| set(kind, Action::Comment));
        table.attributes.iter().for_each(|kind| set(kind, Action::Attribute));
        table.runs.iter().for_each(|kind| set(kind, Action::Runs));
        table.wrappers.iter().for_each(|kind| set(kind, Action::Wrapper));
        table.owners.iter().for_each(|(kind, field)| set(kind, Action::Owner(field)));
        for (kind, module) in table.imports {
            if !table.wrappers.contains(kind) {
                set(kind, Action::Import);
            }
            ids.get(kind).into_iter().flatten().for_each(|id| imports[*id] = Some(module));
        }
        let mut rules: Vec<(&str, Vec<&'static Define>)> = Vec::new();
        for define in table.rules() {
            match rules.iter_mut().find(|(kind, _)| *kind == define.kind) {
                Some((_, all)) => all.push(define),
                None => rules.push((define.kind, vec![define])),
            }
        }
        for (kind, all) in rules {
            set(kind, Action::Define(Vec::leak(all)));
        }
        let scopes = table.scopes.map(|s| (s, Kinds::new(&parser, s)));
        let ecma = ecma::is_ecma(table.language).then(|| ecma::Kinds::new(&parser));
        let typed = table.typed.map(|t| Forms::new(&parser, t));
        let cfamily = cfamily::is_cfamily(table.language).then(|| cfamily::Kinds::new(&parser));
        Self { table, parser: parser.clone(), actions, imports, scopes, typed, ecma, cfamily }
    }

    /// What a node of a kind is to the walk.
    pub(super) fn action(&self, kind_id: usize) -> Action {
        self.actions.get(kind_id).copied().unwrap_or(Action::None)
    }

    pub(super) fn import_of(&self, node: Node) -> Option<&'static Written> {
        self.imports.get(usize::from(node.kind_id())).copied().flatten()
    }
}
