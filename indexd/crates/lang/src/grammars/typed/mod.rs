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

use super::base_keys;
use super::flat::Flat;
use super::made::Made;
use super::pass::Pass;
use super::table::Keys;
use crate::builder::Builder;
use forms::{Form, Forms, Place, Row};
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{
    BindingId, BindingKind, DefFlags, DefIdx, ExprId, Facts, Key, Node as Shape, Role, Source,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Adds the uses of names in the tree of `text`, whose definitions are in `b`, and all that tells types.
pub(super) fn uses<'s>(
    b: &mut Builder<'s>,
    text: &'s str,
    forms: &Forms,
    tree: &Flat,
    (asides, made): (&Asides, &Made<'s>),
) {
    let own = State {
        forms,
        bound: FxHashMap::default(),
        log: Vec::new(),
        class: DefIdx::NONE,
        function: DefIdx::NONE,
        returns: Vec::new(),
        decorators: Vec::new(),
        result: None,
        subject: ExprId::NONE,
        asides,
        made,
        n_asides: 0,
        block: Block::default(),
        depth: 0,
    };
    let mut it = Pass::new(b, text, tree, own);
    it.subject = it.opaque;
    it.inside(0);
    it.end(&|kind| forms.is_name(kind));
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

/// Reads a tree.
pub(in crate::grammars) type Visitor<'b, 's> = Pass<'b, 's, State<'b, 's>>;

/// The state of the pass. `class` and `function` are the definitions around.
pub(in crate::grammars) struct State<'b, 's> {
    forms: &'b Forms,
    /// Local names with their bindings, the innermost last; `NONE` where a name is a member again.
    bound: FxHashMap<&'s str, SmallVec<[BindingId; 1]>>,
    /// The names of the scopes that are open, in the order in which they were bound.
    log: Vec<&'s str>,
    pub(in crate::grammars) class: DefIdx,
    pub(in crate::grammars) function: DefIdx,
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
        let tree = self.asides.trees[n];
        let outer = std::mem::replace(&mut self.tree, tree);
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

    /// A member of a value.
    pub(in crate::grammars) fn attr(&mut self, base: ExprId, name: usize, role: Role) -> ExprId {
        let at = self.start(name);
        if self.by_name.contains_key(&at) {
            self.tell(name);
            return self.opaque;
        }
        let name = self.id(name);
        self.b.expr(Shape::Attr { base, name }, at, role)
    }

    pub(in crate::grammars) fn ty(&mut self, node: usize) -> ExprId {
        self.expr(node, Role::Type)
    }

    // ---- names

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
        let binding = self.binding_of_def(def, text, at);
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
        let State { log, bound, .. } = &mut **self;
        for name in log.drain(open..) {
            if let Some(all) = bound.get_mut(name) {
                all.pop();
            }
        }
    }

    /// `this` or `super` of the class around.
    pub(in crate::grammars) fn receiver(&mut self, word: &'s str, at: u32, role: Role) -> ExprId {
        let Some(class) = self.class.some() else { return self.opaque };
        self.receiver_of(word, at, role, self.function, Source::Def(class))
    }
}
