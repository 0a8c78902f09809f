//! The second pass over a file of a language with declared types: names get their bindings, and each use,
//! type and value an expression, so that types can be found later.
//!
//! Definitions come from the table of the language; this pass fills in their types, values, parameters,
//! results and bases. What a node is says a table as well ([`forms`]); a language adds functions of its own for
//! the rest ([`Form::Own`]). A name is local from where it is declared to the end of the scope around, so one
//! pass is enough and a later declaration hides an earlier one.

mod declare;
pub(in crate::grammars) mod forms;
mod values;

use super::flat::Flat;
use super::made::Made;
use super::table::Keys;
use super::{base_keys, missed};
use crate::builder::Builder;
use forms::{Form, Forms, Place, Row};
use indexd_model::facts::LiteralKind;
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{
    BindingId, BindingKind, DefFlags, DefIdx, ExprId, Facts, Key, Node as Shape, Role, Source,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Adds the uses of names in the tree of `text`, whose definitions are in `b`, and all that tells types.
pub(super) fn uses<'s>(
    b: &mut Builder<'s>,
    text: &'s str,
    forms: &Forms,
    tree: &Flat,
    (asides, made): (&Asides, &Made<'s>),
) {
    let by_name = b.defs.iter().enumerate();
    let by_name = by_name.filter(|(_, d)| !d.flags.has(DefFlags::TITLE));
    let by_name = by_name.map(|(i, d)| (d.name_span.start, DefIdx(i as u32))).collect();
    let opaque = b.node(Shape::Opaque, 0);
    let told = missed::is_damaged(tree).then(FxHashSet::default);
    let mut it = Visitor {
        b,
        text,
        tree,
        forms,
        by_name,
        told,
        opaque,
        bound: FxHashMap::default(),
        log: Vec::new(),
        class: DefIdx::NONE,
        function: DefIdx::NONE,
        receivers: [BindingId::NONE; 2],
        def_bindings: FxHashMap::default(),
        returns: Vec::new(),
        decorators: Vec::new(),
        result: None,
        subject: opaque,
        asides,
        made,
        n_asides: 0,
        block: Block::default(),
        depth: 0,
    };
    it.inside(0);
    if let Some(told) = it.told.take() {
        missed::add(b, text, &|kind| forms.is_name(kind), tree, told);
    }
}

/// Keys under which other files find a type by its bases, and the methods without a body of a type. `module` begins
/// the keys of the names of the file.
pub(super) fn keys(facts: &Facts, idx: DefIdx, module: &str, out: &mut Keys) {
    let def = facts.def(idx);
    if let Some(owner) =
        def.parent.some().filter(|_| def.flags.has(DefFlags::ABSTRACT) && def.kind.is_callable())
    {
        let owner = indexd_model::names::qualified_name(facts, owner);
        out.push((Key::member(module, &format!("{owner}.()")), idx));
    }
    let group = format!("base:{}", facts.interface.language.id());
    base_keys(facts, idx, &group, out);
    // A constant of an enumeration has that for a base.
    if let Some(Shape::Def { def }) = def.bases.first().map(|b| facts.expr(*b).node) {
        out.push((Key::any(&group, facts.def_name(def)), idx));
    }
}

/// Reads a tree. `class` and `function` are the definitions around.
pub(in crate::grammars) struct Visitor<'b, 's> {
    pub(in crate::grammars) b: &'b mut Builder<'s>,
    pub(in crate::grammars) text: &'s str,
    pub(in crate::grammars) tree: &'b Flat<'b>,
    forms: &'b Forms,
    by_name: FxHashMap<u32, DefIdx>,
    told: Option<FxHashSet<u32>>,
    opaque: ExprId,
    /// Local names with their bindings, the innermost last; `NONE` where a name is a member again.
    bound: FxHashMap<&'s str, SmallVec<[BindingId; 1]>>,
    /// The names of the scopes that are open, in the order in which they were bound.
    log: Vec<&'s str>,
    pub(in crate::grammars) class: DefIdx,
    pub(in crate::grammars) function: DefIdx,
    /// The bindings of `this` and `super` so far.
    receivers: [BindingId; 2],
    def_bindings: FxHashMap<DefIdx, BindingId>,
    /// What the function literals around return, the innermost last.
    returns: Vec<Vec<ExprId>>,
    /// The decorators of the definition that is being read, as far as they are kept.
    decorators: Vec<ExprId>,
    /// What the function around is declared to give.
    result: Option<ExprId>,
    /// What the innermost `switch` or `match` looks at.
    pub(in crate::grammars) subject: ExprId,
    asides: &'b Asides<'b>,
    pub(in crate::grammars) made: &'b Made<'s>,
    /// How many of them are being read, one inside the other.
    n_asides: u32,
    /// The block around that gives members to a type.
    pub(in crate::grammars) block: Block,
    depth: usize,
}

/// What a block that gives members to a type says of each.
#[derive(Default)]
pub(in crate::grammars) struct Block {
    pub(in crate::grammars) bases: Vec<ExprId>,
    pub(in crate::grammars) type_params: Vec<BindingId>,
}

/// Parts of a file that its grammar does not read, in trees of their own with the same places.
#[derive(Default)]
pub(super) struct Asides<'t> {
    trees: Vec<&'t Flat<'t>>,
    /// By where a part begins: the tree, and its node there.
    at: FxHashMap<u32, (usize, usize)>,
}

impl<'t> Asides<'t> {
    /// Adds a tree: what stands alone as a statement in it stands for the node with this place elsewhere.
    pub(super) fn add(&mut self, tree: &'t Flat<'t>) {
        for node in 0..tree.len() {
            let it = tree.node(node);
            if it.kind().ends_with("statement") {
                self.at.entry(it.start_byte() as u32).or_insert((self.trees.len(), node));
            }
        }
        self.trees.push(tree);
    }
}

impl<'b, 's> Visitor<'b, 's> {
    // ---- the tree

    fn row(&self, node: usize) -> Row {
        self.forms.row(self.tree.kind_id(node))
    }

    pub(in crate::grammars) fn form(&self, node: usize) -> Form {
        self.row(node).form
    }

    pub(in crate::grammars) fn slice(&self, node: usize) -> &'s str {
        self.text.get(self.tree.node(node).byte_range()).unwrap_or("")
    }

    pub(in crate::grammars) fn start(&self, node: usize) -> u32 {
        self.tree.node(node).start_byte() as u32
    }

    /// The named nodes directly in one, without comments.
    pub(in crate::grammars) fn children(&self, node: usize) -> impl Iterator<Item = usize> + use<'b, 's> {
        let tree: &'b Flat<'b> = self.tree;
        tree.children(node).filter(|c| !tree.node(*c).is_extra())
    }

    /// The same of a node that may be missing.
    pub(in crate::grammars) fn children_of(
        &self,
        node: Option<usize>,
    ) -> impl Iterator<Item = usize> + use<'b, 's> {
        let tree: &'b Flat<'b> = self.tree;
        let all = node.into_iter().flat_map(|n| tree.children(n));
        all.filter(|c| !tree.node(*c).is_extra())
    }

    /// The part of a node that stands `n`th in its row.
    pub(in crate::grammars) fn part(&self, node: usize, n: usize) -> Option<usize> {
        match self.row(node).parts[n] {
            Place::Nowhere => None,
            Place::First => self.children(node).next(),
            Place::Last => self.children(node).last(),
            Place::BeforeLast => {
                let all: SmallVec<[usize; 4]> = self.children(node).collect();
                all.len().checked_sub(2).map(|n| all[n])
            }
            Place::Field(field) => self.tree.in_field(node, field),
            Place::Kind(kind) => self.children(node).find(|c| self.tree.kind_id(*c) == usize::from(kind)),
        }
    }

    /// All nodes that stand as the `n`th part of a node.
    pub(in crate::grammars) fn parts(&self, node: usize, n: usize) -> SmallVec<[usize; 4]> {
        match self.row(node).parts[n] {
            Place::Field(field) => self.tree.tokens(node).filter(|c| self.tree.field(*c) == field).collect(),
            Place::Kind(kind) => {
                self.children(node).filter(|c| self.tree.kind_id(*c) == usize::from(kind)).collect()
            }
            _ => self.part(node, n).into_iter().collect(),
        }
    }

    /// The first child of a kind, by its name.
    pub(in crate::grammars) fn child(&self, node: usize, kind: &str) -> Option<usize> {
        self.children(node).find(|c| self.tree.node(*c).kind() == kind)
    }

    /// The definition whose name is this node, or that begins there without a name.
    pub(in crate::grammars) fn def_at(&self, name: usize) -> Option<DefIdx> {
        self.by_name.get(&self.start(name)).copied()
    }

    /// Visits all that is in a node.
    pub(in crate::grammars) fn inside(&mut self, node: usize) {
        for child in self.children(node) {
            self.expr(child, Role::Read);
        }
    }

    /// The expression of a node, in its scope; opaque for statements.
    pub(in crate::grammars) fn expr(&mut self, node: usize, role: Role) -> ExprId {
        if self.depth >= PARSE_DEPTH_MAX {
            return self.opaque;
        }
        let row = self.row(node);
        self.depth += 1;
        let open = self.log.len();
        let out = self.visit(node, row.form, role);
        if row.opens {
            self.close(open);
        }
        self.depth -= 1;
        out
    }

    /// The same for a part that may be missing.
    pub(in crate::grammars) fn expr_part(&mut self, node: usize, n: usize, role: Role) -> ExprId {
        self.part(node, n).map_or(self.opaque, |child| self.expr(child, role))
    }

    fn visit(&mut self, node: usize, form: Form, role: Role) -> ExprId {
        match form {
            Form::Own(own) => own(self, node, role),
            Form::Name | Form::TypeName => self.name(node, form, role),
            Form::Builtin => self.free(self.slice(node), self.start(node), Role::None),
            Form::Passed => {
                self.tell_all(node);
                self.opaque
            }
            Form::This => self.receiver("this", self.start(node), Role::None),
            Form::Super => self.receiver("super", self.start(node), Role::None),
            Form::Variables => self.variables(node),
            Form::Declarator | Form::Param => {
                self.param(node, BindingKind::Local);
                self.opaque
            }
            Form::VarArgs => {
                self.param(node, BindingKind::VarArgs);
                self.opaque
            }
            Form::ForEach => self.for_each(node),
            Form::Function => self.function(node),
            Form::TypeDef => self.type_def(node),
            Form::TypeParam => {
                self.type_param(node);
                self.opaque
            }
            Form::EnumMember => self.enum_member(node),
            Form::Return => self.return_statement(node),
            _ => self.value(node, form, role),
        }
    }

    // ---- parts in other trees

    /// The node in another tree that stands for what a node holds, where it was understood.
    pub(in crate::grammars) fn aside(&self, node: usize) -> Option<(usize, usize)> {
        let own = self.tree.node(node);
        let (n, mut at) = *self.asides.at.get(&(own.start_byte() as u32))?;
        let tree = *self.asides.trees.get(n)?;
        // A statement may hold the brackets alone.
        while tree.node(at).kind().ends_with("statement") {
            at = tree.children(at).next()?;
        }
        let it = tree.node(at);
        let is_it = it.start_byte() == own.start_byte() && it.end_byte() == own.end_byte();
        (is_it && !it.has_error()).then_some((n, at))
    }

    /// Runs `f` in another tree.
    pub(in crate::grammars) fn in_aside<T>(
        &mut self,
        (n, at): (usize, usize),
        f: impl FnOnce(&mut Self, usize) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.tree, self.asides.trees[n]);
        self.n_asides += 1;
        let out = f(self, at);
        self.n_asides -= 1;
        self.tree = outer;
        out
    }

    pub(in crate::grammars) fn is_aside(&self) -> bool {
        self.n_asides > 0
    }

    // ---- what is made

    pub(in crate::grammars) fn opaque(&self) -> ExprId {
        self.opaque
    }

    pub(in crate::grammars) fn node(&mut self, shape: Shape, at: u32) -> ExprId {
        self.b.node(shape, at)
    }

    pub(in crate::grammars) fn literal(&mut self, kind: LiteralKind, at: u32) -> ExprId {
        self.node(Shape::Literal { kind }, at)
    }

    pub(in crate::grammars) fn word(&mut self, word: &'s str, value: ExprId, at: u32) -> ExprId {
        let word = self.b.str(word);
        self.node(Shape::Word { word, value }, at)
    }

    /// A member of a value.
    pub(in crate::grammars) fn attr(&mut self, base: ExprId, name: usize, role: Role) -> ExprId {
        let at = self.start(name);
        if self.by_name.contains_key(&at) {
            self.tell(name);
            return self.opaque;
        }
        let name = self.b.str(self.slice(name));
        self.b.expr(Shape::Attr { base, name }, at, role)
    }

    /// A name that is not local.
    pub(in crate::grammars) fn free(&mut self, text: &'s str, at: u32, role: Role) -> ExprId {
        let name = self.b.str(text);
        self.b.expr(Shape::Name { name, binding: BindingId::NONE }, at, role)
    }

    pub(in crate::grammars) fn ty(&mut self, node: usize) -> ExprId {
        self.expr(node, Role::Type)
    }

    // ---- names

    /// Notes that a name needs no fact. In damaged source what is called is counted, whatever it seems to be.
    pub(in crate::grammars) fn tell(&mut self, node: usize) {
        let (at, end) = (self.start(node), self.tree.node(node).end_byte());
        if let Some(told) = &mut self.told
            && !missed::is_called(self.text, end)
        {
            told.insert(at);
        }
    }

    /// Notes that the names in a node need no facts, unless it is damaged.
    pub(in crate::grammars) fn tell_all(&mut self, node: usize) {
        if self.told.is_some() && !self.tree.node(node).has_error() {
            self.tree.within(node).for_each(|n| self.tell(n));
        }
    }

    fn name(&mut self, node: usize, form: Form, role: Role) -> ExprId {
        let (text, at) = (self.slice(node), self.start(node));
        if self.by_name.contains_key(&at) {
            self.tell(node);
            return self.opaque;
        }
        if role != Role::Call {
            self.tell(node);
        }
        let role = if matches!(form, Form::TypeName) && role == Role::Read { Role::Type } else { role };
        self.named(text, at, role)
    }

    /// A use of a name: local, or free.
    pub(in crate::grammars) fn named(&mut self, text: &'s str, at: u32, role: Role) -> ExprId {
        let Some(binding) = self.local(text) else { return self.free(text, at, role) };
        let name = self.b.str(text);
        let role = if self.b.binding_head(binding).3 == BindingKind::Def { role } else { Role::None };
        self.b.expr(Shape::Name { name, binding }, at, role)
    }

    /// The binding of a local name.
    pub(in crate::grammars) fn local(&self, text: &str) -> Option<BindingId> {
        self.bound.get(text)?.last().copied().filter(|b| *b != BindingId::NONE)
    }

    /// Binds a name up to the end of the scope around.
    pub(in crate::grammars) fn bind(&mut self, node: usize, kind: BindingKind) -> BindingId {
        let (text, at) = (self.slice(node), self.start(node));
        self.tell(node);
        let name = self.b.str(text);
        let binding = self.b.bind(name, at, DefIdx::NONE, kind);
        self.bind_as(text, binding);
        binding
    }

    pub(in crate::grammars) fn bind_as(&mut self, text: &'s str, binding: BindingId) {
        self.bound.entry(text).or_default().push(binding);
        self.log.push(text);
    }

    /// Binds a name to a definition of this file.
    pub(in crate::grammars) fn bind_def(&mut self, text: &'s str, at: u32, def: DefIdx) {
        let name = self.b.str(text);
        let binding = match self.def_bindings.get(&def) {
            Some(known) => *known,
            None => self.b.bind(name, at, DefIdx::NONE, BindingKind::Def),
        };
        if self.def_bindings.insert(def, binding).is_none() {
            self.b.source(binding, Source::Def(def));
        }
        self.bind_as(text, binding);
    }

    /// How many names were bound in the scopes that are open.
    pub(in crate::grammars) fn n_bound(&self) -> usize {
        self.log.len()
    }

    /// The binding of a name that was bound since then.
    pub(in crate::grammars) fn bound_since(&self, n: usize, text: &str) -> Option<BindingId> {
        let is_bound = self.log.get(n..).is_some_and(|log| log.contains(&text));
        self.local(text).filter(|_| is_bound)
    }

    pub(in crate::grammars) fn is_type_param(&self, text: &str) -> bool {
        self.local(text).is_some_and(|b| self.b.binding_head(b).3 == BindingKind::TypeParam)
    }

    /// A binding that only tells names of one kind from others.
    pub(in crate::grammars) fn mark(&mut self) -> BindingId {
        if let Some(known) = self.def_bindings.get(&DefIdx::NONE) {
            return *known;
        }
        let name = self.b.str("");
        let binding = self.b.bind(name, 0, DefIdx::NONE, BindingKind::Def);
        self.def_bindings.insert(DefIdx::NONE, binding);
        binding
    }

    /// Runs `f` in a scope of its own.
    pub(in crate::grammars) fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let open = self.log.len();
        let out = f(self);
        self.close(open);
        out
    }

    fn close(&mut self, open: usize) {
        for name in self.log.drain(open..) {
            if let Some(all) = self.bound.get_mut(name) {
                all.pop();
            }
        }
    }

    /// `this` or `super` of the class around.
    pub(in crate::grammars) fn receiver(&mut self, word: &'s str, at: u32, role: Role) -> ExprId {
        let Some(class) = self.class.some() else { return self.opaque };
        let name = self.b.str(word);
        let which = usize::from(word == "super");
        if self.receivers[which] == BindingId::NONE {
            self.receivers[which] = self.b.bind(name, at, self.function, BindingKind::Receiver);
            self.b.source(self.receivers[which], Source::Def(class));
        }
        let binding = self.receivers[which];
        self.b.expr(Shape::Name { name, binding }, at, role)
    }
}
