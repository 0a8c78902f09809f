//! A second pass over a file, which adds the uses of names to its definitions: the state and the steps that the passes
//! of all languages have in common.

use super::flat::Flat;
use super::missed;
use crate::builder::Builder;
use indexd_model::facts::LiteralKind;
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, ExprId, Node as Shape, Role, Source, StrId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Deref, DerefMut};

/// A tree of `text` that is being read, whose definitions are in `b`.
pub(super) struct Pass<'b, 's, Own> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) text: &'s str,
    pub(super) tree: &'b Flat<'b>,
    /// Definitions by where their names begin.
    pub(super) by_name: FxHashMap<u32, DefIdx>,
    /// Places of names that need no fact, while the tree is damaged.
    pub(super) told: Option<FxHashSet<u32>>,
    /// The one expression of which nothing is known.
    pub(super) opaque: ExprId,
    /// The bindings of names that mean a definition.
    pub(super) def_bindings: FxHashMap<DefIdx, BindingId>,
    /// The bindings of `this` and `super` so far.
    pub(super) receivers: [BindingId; 2],
    /// The state of the pass of one language, whose fields are reached as if they were here.
    pub(super) own: Own,
}

impl<Own> Deref for Pass<'_, '_, Own> {
    type Target = Own;

    fn deref(&self) -> &Own {
        &self.own
    }
}

impl<Own> DerefMut for Pass<'_, '_, Own> {
    fn deref_mut(&mut self) -> &mut Own {
        &mut self.own
    }
}

impl<'b, 's, Own> Pass<'b, 's, Own> {
    pub(super) fn new(b: &'b mut Builder<'s>, text: &'s str, tree: &'b Flat<'b>, own: Own) -> Self {
        // A title is not a name: a suite that stands in one may be a type.
        let named = b.defs.iter().enumerate().filter(|(_, d)| !d.flags.has(DefFlags::TITLE));
        let by_name = named.map(|(i, d)| (d.name_span.start, DefIdx(i as u32))).collect();
        let told = missed::is_damaged(tree).then(FxHashSet::default);
        let (opaque, receivers) = (b.node(Shape::Opaque, 0), [BindingId::NONE; 2]);
        let def_bindings = FxHashMap::default();
        Self { b, text, tree, by_name, told, opaque, def_bindings, receivers, own }
    }

    /// Exchanges the state.
    pub(super) fn with<Other>(self, of: impl FnOnce(Own) -> Other) -> Pass<'b, 's, Other> {
        let Self { b, text, tree, by_name, told, opaque, def_bindings, receivers, own } = self;
        Pass { b, text, tree, by_name, told, opaque, def_bindings, receivers, own: of(own) }
    }

    /// Adds the names that were passed over in a damaged tree; `is_name` holds for kinds of nodes that are names.
    pub(super) fn end(&mut self, is_name: &dyn Fn(&str) -> bool) {
        if let Some(told) = self.told.take() {
            missed::add(self.b, self.text, is_name, self.tree, told);
        }
    }

    pub(super) fn slice(&self, node: usize) -> &'s str {
        self.text.get(self.tree.node(node).byte_range()).unwrap_or("")
    }

    pub(super) fn start(&self, node: usize) -> u32 {
        self.tree.node(node).start_byte() as u32
    }

    /// The text of a node as a name.
    pub(super) fn id(&mut self, node: usize) -> StrId {
        self.b.str(self.slice(node))
    }

    /// The definition whose name is this node, or that begins there without a name.
    pub(super) fn def_at(&self, name: usize) -> Option<DefIdx> {
        self.by_name.get(&self.start(name)).copied()
    }

    pub(super) fn node(&mut self, shape: Shape, at: u32) -> ExprId {
        self.b.node(shape, at)
    }

    pub(super) fn literal(&mut self, kind: LiteralKind, at: u32) -> ExprId {
        self.node(Shape::Literal { kind }, at)
    }

    pub(super) fn word(&mut self, word: &'s str, value: ExprId, at: u32) -> ExprId {
        let word = self.b.str(word);
        self.node(Shape::Word { word, value }, at)
    }

    /// A name that is not local.
    pub(super) fn free(&mut self, text: &'s str, at: u32, role: Role) -> ExprId {
        let name = self.b.str(text);
        self.b.expr(Shape::Name { name, binding: BindingId::NONE }, at, role)
    }

    /// Any of several values; `None` without one.
    pub(super) fn any(&mut self, values: Vec<ExprId>, at: u32) -> Option<ExprId> {
        values.into_iter().reduce(|then, otherwise| self.node(Shape::Conditional { then, otherwise }, at))
    }

    /// Notes that a name needs no fact. In damaged source what is called is counted, whatever it seems to be.
    pub(super) fn tell(&mut self, node: usize) {
        let (at, end) = (self.start(node), self.tree.node(node).end_byte());
        if let Some(told) = &mut self.told
            && !missed::is_called(self.text, end)
        {
            told.insert(at);
        }
    }

    /// Notes that the names in a node need no facts, unless it is damaged.
    pub(super) fn tell_all(&mut self, node: usize) {
        if self.told.is_some() && !self.tree.node(node).has_error() {
            self.tree.within(node).for_each(|n| self.tell(n));
        }
    }

    /// A binding without a name.
    pub(super) fn unnamed(&mut self, at: u32, scope: DefIdx, kind: BindingKind) -> BindingId {
        let name = self.b.str("");
        self.b.bind(name, at, scope, kind)
    }

    /// A binding as a value.
    pub(super) fn value_of(&mut self, binding: BindingId) -> ExprId {
        let (name, at, ..) = self.b.binding_head(binding);
        self.node(Shape::Name { name, binding }, at)
    }

    /// Bindings as values.
    pub(super) fn values_of(&mut self, bindings: &[BindingId]) -> Vec<ExprId> {
        bindings.iter().map(|b| self.value_of(*b)).collect()
    }

    /// The binding of a name that means a definition.
    pub(super) fn binding_of_def(&mut self, def: DefIdx, text: &'s str, at: u32) -> BindingId {
        if let Some(known) = self.def_bindings.get(&def) {
            return *known;
        }
        let name = self.b.str(text);
        let binding = self.b.bind(name, at, DefIdx::NONE, BindingKind::Def);
        self.b.source(binding, Source::Def(def));
        self.def_bindings.insert(def, binding);
        binding
    }

    /// `this` or `super`, bound in `scope` where it is the first.
    pub(super) fn receiver_of(
        &mut self,
        word: &'s str,
        at: u32,
        role: Role,
        scope: DefIdx,
        source: Source,
    ) -> ExprId {
        let name = self.b.str(word);
        let which = usize::from(word == "super");
        if self.receivers[which] == BindingId::NONE {
            self.receivers[which] = self.b.bind(name, at, scope, BindingKind::Receiver);
            self.b.source(self.receivers[which], source);
        }
        let binding = self.receivers[which];
        self.b.expr(Shape::Name { name, binding }, at, role)
    }
}
