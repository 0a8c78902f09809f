//! Collects the facts of one file while a visitor walks its tree, then splits them into the
//! interface that other files observe and the body.
//!
//! Visitors never number anything themselves: they intern strings, push expressions, bindings and
//! definitions in any convenient order and name, at the end, under which keys others find the
//! definitions. [`Builder::finish`] sorts definitions by position, moves whatever is reachable from
//! a definition to the front of each index space and computes the digests.

use crate::Input;
use crate::digest::Digester;
use indexd_model::facts::{Arena, Import, ImportKind, Part};
use indexd_model::{
    Binding, BindingId, BindingKind, Def, DefFlags, DefIdx, DefKind, Entry, Expr, ExprId, Facts, FileRoles,
    Interface, Key, Language, List, Node, Outcome, Role, Source, Span, StrId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A binding under construction.
struct OpenBinding {
    name: StrId,
    at: u32,
    scope: DefIdx,
    kind: BindingKind,
    sources: SmallVec<[Source; 2]>,
}

/// The facts of a file under construction.
#[derive(Default)]
pub struct Builder<'s> {
    interned: FxHashMap<&'s str, StrId>,
    owned: FxHashMap<String, StrId>,
    strings: Vec<String>,
    exprs: Vec<Expr>,
    lists: Vec<ExprId>,
    bindings: Vec<OpenBinding>,
    /// Definitions in the order they were opened: parents before children.
    pub defs: Vec<Def>,
    /// Imports in source order.
    pub imports: Vec<Import>,
}

impl<'s> Builder<'s> {
    /// Starts empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Interns a slice of the source.
    pub fn str(&mut self, text: &'s str) -> StrId {
        if let Some(&id) = self.interned.get(text) {
            return id;
        }
        let id = self.string(text);
        self.interned.insert(text, id);
        id
    }

    /// Interns any string.
    pub fn string(&mut self, text: &str) -> StrId {
        if let Some(&id) = self.owned.get(text) {
            return id;
        }
        let id = StrId(self.strings.len() as u32);
        self.strings.push(text.to_owned());
        self.owned.insert(text.to_owned(), id);
        id
    }

    /// Reads an interned string back.
    pub fn text(&self, id: StrId) -> &str {
        self.strings.get(id.index()).map_or("", String::as_str)
    }

    /// Adds an expression.
    pub fn expr(&mut self, node: Node, at: u32, role: Role) -> ExprId {
        self.exprs.push(Expr { node, at, role });
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds an expression that is not a use by itself.
    pub fn node(&mut self, node: Node, at: u32) -> ExprId {
        self.expr(node, at, Role::None)
    }

    /// Reads an expression back.
    pub fn get(&self, id: ExprId) -> Option<&Expr> {
        self.exprs.get(id.index())
    }

    /// Changes the role of an expression, when the surroundings are known only later.
    pub fn set_role(&mut self, id: ExprId, role: Role) {
        if let Some(e) = self.exprs.get_mut(id.index()) {
            e.role = role;
        }
    }

    /// Replaces the shape of an expression.
    pub fn set_node(&mut self, id: ExprId, node: Node) {
        if let Some(e) = self.exprs.get_mut(id.index()) {
            e.node = node;
        }
    }

    /// Stores an argument list.
    pub fn list(&mut self, items: &[ExprId]) -> List {
        let list = List { start: self.lists.len() as u32, len: items.len() as u32 };
        self.lists.extend_from_slice(items);
        list
    }

    /// Reads a list back.
    pub fn items(&self, list: List) -> &[ExprId] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    /// Opens a binding without sources.
    pub fn bind(&mut self, name: StrId, at: u32, scope: DefIdx, kind: BindingKind) -> BindingId {
        self.bindings.push(OpenBinding { name, at, scope, kind, sources: SmallVec::new() });
        BindingId(self.bindings.len() as u32 - 1)
    }

    /// Sets the place and the kind of a binding that was used before.
    pub fn place(&mut self, binding: BindingId, at: u32, scope: DefIdx, kind: BindingKind) {
        if let Some(b) = self.bindings.get_mut(binding.index()) {
            (b.at, b.scope, b.kind) = (at, scope, kind);
        }
    }

    /// Adds where the type of a binding comes from.
    pub fn source(&mut self, binding: BindingId, source: Source) {
        if let Some(b) = self.bindings.get_mut(binding.index()) {
            b.sources.push(source);
        }
    }

    /// The sources of a binding so far.
    pub fn sources_of(&self, binding: BindingId) -> &[Source] {
        self.bindings.get(binding.index()).map_or(&[], |b| &b.sources[..])
    }

    /// Name, place, scope and kind of a binding; panics on `NONE`.
    pub fn binding_head(&self, binding: BindingId) -> (StrId, u32, DefIdx, BindingKind) {
        let b = &self.bindings[binding.index()];
        (b.name, b.at, b.scope, b.kind)
    }

    /// Returns the places of identifiers that are recorded so far: uses, local names, definitions.
    pub fn known_places(&self) -> FxHashSet<u32> {
        let is_told = |e: &&Expr| {
            let is_local = matches!(e.node, Node::Name { binding, .. } if binding != BindingId::NONE);
            is_local || e.role != Role::None || matches!(e.node, Node::Keyword { .. })
        };
        let uses = self.exprs.iter().filter(is_told).map(|e| e.at);
        let bindings = self.bindings.iter().map(|b| b.at);
        uses.chain(bindings).chain(self.defs.iter().map(|d| d.name_span.start)).collect()
    }

    /// Returns the number of expressions; the next one gets this number.
    pub fn n_exprs(&self) -> u32 {
        self.exprs.len() as u32
    }

    /// A definition with the given place and nothing else known; `head` and `doc` are empty.
    pub fn blank_def(
        &mut self,
        name: StrId,
        kind: DefKind,
        parent: DefIdx,
        name_span: Span,
        span: Span,
    ) -> Def {
        Def {
            name,
            kind,
            flags: DefFlags::default(),
            parent,
            receiver: None,
            ordinal: 0,
            name_span,
            span,
            head: Span::new(span.start, span.start),
            doc: Span::new(span.start, span.start),
            ty: ExprId::NONE,
            value: ExprId::NONE,
            value_index: 0,
            params: Vec::new(),
            results: Vec::new(),
            returns: Vec::new(),
            bases: Vec::new(),
            decorators: Vec::new(),
            type_params: Vec::new(),
        }
    }

    /// Adds a definition; children come after their parents.
    pub fn def(&mut self, def: Def) -> DefIdx {
        self.defs.push(def);
        DefIdx(self.defs.len() as u32 - 1)
    }

    /// Ends the file. `keys` returns, given the finished interface, the entries for other files: `(key,
    /// definition)`; `DefIdx::NONE` means the file, with a digest over its imports, exports and package
    /// clause. Returns the interface and the body.
    ///
    /// Definitions keep the order in which they were added, so visitors add them in source order, parents
    /// first. Ordinals of equal descriptors are filled in here.
    pub fn finish(
        mut self,
        header: Header,
        keys: impl FnOnce(&Facts) -> Vec<(Key, DefIdx)>,
    ) -> (Interface, Arena) {
        let marks = self.mark(&header);
        let (front, back) = self.split(&marks);
        let mut interface = Interface {
            language: header.language,
            outcome: header.outcome,
            roles: header.roles,
            package: header.package.map(|s| marks.strings.new[s.index()]).map(StrId),
            constraint: header.constraint.map(|s| marks.strings.new[s.index()]).map(StrId),
            exports: header.exports.map(|v| v.iter().map(|s| StrId(marks.strings.new[s.index()])).collect()),
            defs: std::mem::take(&mut self.defs),
            imports: std::mem::take(&mut self.imports),
            entries: Vec::new(),
            arena: front,
        };
        number_equals(&mut interface);
        let facts = Facts::outside(&interface);
        let mut digester = Digester::new(facts);
        let mut entries: Vec<Entry> = keys(&facts)
            .into_iter()
            .map(|(key, def)| Entry { key, def, digest: half(digester.entry(def)) })
            .collect();
        entries.sort_unstable_by_key(|e| (e.key, e.def));
        entries.dedup_by_key(|e| (e.key, e.def));
        interface.entries = entries;
        (interface, back)
    }

    /// Finds everything reachable from definitions, imports and the header.
    fn mark(&self, header: &Header) -> Marks {
        let has_shapes =
            matches!(header.language, Language::TypeScript | Language::Tsx | Language::JavaScript);
        let mut m = Marker {
            has_shapes,
            b: self,
            strings: vec![false; self.strings.len()],
            exprs: vec![false; self.exprs.len()],
            bindings: vec![false; self.bindings.len()],
            todo: Vec::new(),
        };
        for s in header.package.iter().chain(&header.constraint).chain(header.exports.iter().flatten()) {
            m.string(*s);
        }
        for i in &self.imports {
            m.string(i.module);
            i.name.iter().chain(&i.alias).for_each(|s| m.string(*s));
        }
        for d in &self.defs {
            m.string(d.name);
            d.receiver.iter().for_each(|s| m.string(*s));
            m.expr(d.ty);
            if d.ty == ExprId::NONE {
                m.expr(d.value);
            }
            d.params.iter().chain(&d.type_params).for_each(|b| m.binding(*b));
            for e in d.results.iter().chain(&d.returns).chain(&d.bases).chain(&d.decorators) {
                m.expr(*e);
            }
        }
        m.run();
        let (strings, exprs, bindings) =
            (Renumber::new(&m.strings), Renumber::new(&m.exprs), Renumber::new(&m.bindings));
        Marks { strings, exprs, bindings }
    }

    /// Renumbers every index space with marked items first, and cuts it in two.
    fn split(&mut self, marks: &Marks) -> (Arena, Arena) {
        let (mut front, mut back) = (Arena::default(), Arena::default());
        let n_front_lists: u32 = self
            .exprs
            .iter()
            .zip(&marks.exprs.marked)
            .filter(|(_, m)| **m)
            .flat_map(|(e, _)| lists_of(&e.node))
            .map(|l| l.len)
            .sum();
        let n_front_sources: usize = self
            .bindings
            .iter()
            .zip(&marks.bindings.marked)
            .filter(|(_, m)| **m)
            .map(|(b, _)| b.sources.len())
            .sum();
        for (text, &m) in self.strings.iter_mut().zip(&marks.strings.marked) {
            if m { &mut front } else { &mut back }.strings.push(std::mem::take(text));
        }
        for (i, e) in self.exprs.iter().enumerate() {
            let m = marks.exprs.marked[i];
            let (arena, offset) = if m { (&mut front, 0) } else { (&mut back, n_front_lists) };
            let mut e = *e;
            renumber_node(&mut e.node, marks, &mut |list| {
                let start = offset + arena.lists.len() as u32;
                let old = &self.lists[list.start as usize..(list.start + list.len) as usize];
                arena.lists.extend(old.iter().map(|x| marks.expr(*x)));
                List { start, len: list.len }
            });
            arena.exprs.push(e);
        }
        for (i, b) in self.bindings.iter().enumerate() {
            let m = marks.bindings.marked[i];
            let (arena, offset) = if m { (&mut front, 0) } else { (&mut back, n_front_sources) };
            let sources = List { start: (offset + arena.sources.len()) as u32, len: b.sources.len() as u32 };
            arena.sources.extend(b.sources.iter().map(|s| marks.source(*s)));
            let OpenBinding { name, at, scope, kind, .. } = *b;
            arena.bindings.push(Binding { name: marks.str(name), at, scope, kind, sources });
        }
        self.renumber_outside(marks);
        (front, back)
    }

    /// Renumbers what definitions and imports refer to.
    fn renumber_outside(&mut self, marks: &Marks) {
        for d in &mut self.defs {
            d.name = marks.str(d.name);
            d.receiver = d.receiver.map(|s| marks.str(s));
            d.ty = marks.expr(d.ty);
            d.value = marks.expr(d.value);
            d.params.iter_mut().chain(&mut d.type_params).for_each(|b| *b = marks.binding(*b));
            let exprs =
                d.results.iter_mut().chain(&mut d.returns).chain(&mut d.bases).chain(&mut d.decorators);
            exprs.for_each(|e| *e = marks.expr(*e));
        }
        for i in &mut self.imports {
            i.module = marks.str(i.module);
            i.name = i.name.map(|s| marks.str(s));
            i.alias = i.alias.map(|s| marks.str(s));
        }
    }
}

/// Properties of the file as a whole, as the visitor knows them.
pub struct Header {
    /// Language.
    pub language: Language,
    /// The outcome of parsing.
    pub outcome: Outcome,
    /// Roles.
    pub roles: FileRoles,
    /// See [`Interface::package`].
    pub package: Option<StrId>,
    /// See [`Interface::constraint`].
    pub constraint: Option<StrId>,
    /// See [`Interface::exports`].
    pub exports: Option<Vec<StrId>>,
}

impl Header {
    /// A file of which nothing else is known.
    pub fn new(input: Input, outcome: Outcome) -> Self {
        let Input { language, roles, .. } = input;
        Self { language, outcome, roles, package: None, constraint: None, exports: None }
    }
}

/// An import of a module of which nothing else is known.
pub fn blank_import(module: StrId, kind: ImportKind, at: u32, span: Span) -> Import {
    let scope = DefIdx::NONE;
    Import { module, level: 0, name: None, alias: None, kind, at, span, scope, conditional: false }
}

/// Half of the bits tell two versions of one entry apart, and take half the room in the index.
fn half(digest: u64) -> u64 {
    (digest ^ digest >> 32) & 0xffff_ffff
}

fn number_equals(interface: &mut Interface) {
    let mut seen: FxHashMap<(String, DefKind), u16> = FxHashMap::default();
    for i in 0..interface.defs.len() {
        let name = indexd_model::names::descriptor(&Facts::outside(interface), DefIdx(i as u32));
        let n = seen.entry((name, DefKind::Section)).or_default();
        interface.defs[i].ordinal = *n;
        *n = n.saturating_add(1);
    }
}

struct Renumber {
    marked: Vec<bool>,
    new: Vec<u32>,
}

impl Renumber {
    fn new(marked: &[bool]) -> Self {
        let n_marked = marked.iter().filter(|m| **m).count() as u32;
        let (mut front, mut back) = (0, n_marked);
        let new = marked
            .iter()
            .map(|m| {
                let next = if *m { &mut front } else { &mut back };
                *next += 1;
                *next - 1
            })
            .collect();
        Self { marked: marked.to_vec(), new }
    }
}

struct Marks {
    strings: Renumber,
    exprs: Renumber,
    bindings: Renumber,
}

impl Marks {
    fn str(&self, id: StrId) -> StrId {
        id.some().map_or(id, |s| StrId(self.strings.new[s.index()]))
    }

    fn expr(&self, id: ExprId) -> ExprId {
        id.some().map_or(id, |e| ExprId(self.exprs.new[e.index()]))
    }

    fn binding(&self, id: BindingId) -> BindingId {
        id.some().map_or(id, |b| BindingId(self.bindings.new[b.index()]))
    }

    fn source(&self, mut s: Source) -> Source {
        if let Some(e) = s.expr_mut() {
            *e = self.expr(*e);
        }
        s
    }
}

/// Members of a literal that other files see, where its shape is its type.
const SHAPE_MAX: usize = 256;

struct Marker<'a, 's> {
    /// True if the members of a literal are its type.
    has_shapes: bool,
    b: &'a Builder<'s>,
    strings: Vec<bool>,
    exprs: Vec<bool>,
    bindings: Vec<bool>,
    todo: Vec<ExprId>,
}

impl Marker<'_, '_> {
    fn string(&mut self, id: StrId) {
        if let Some(s) = id.some() {
            self.strings[s.index()] = true;
        }
    }

    fn expr(&mut self, id: ExprId) {
        if let Some(e) = id.some()
            && !std::mem::replace(&mut self.exprs[e.index()], true)
        {
            self.todo.push(e);
        }
    }

    fn binding(&mut self, id: BindingId) {
        let Some(b) = id.some() else { return };
        if std::mem::replace(&mut self.bindings[b.index()], true) {
            return;
        }
        let (name, n) = (self.b.bindings[b.index()].name, self.b.bindings[b.index()].sources.len());
        self.string(name);
        for i in 0..n {
            let mut source = self.b.bindings[b.index()].sources[i];
            if let Some(e) = source.expr_mut() {
                self.expr(*e);
            }
        }
    }

    fn run(&mut self) {
        while let Some(e) = self.todo.pop() {
            let node = self.b.exprs[e.index()].node;
            match node {
                Node::Name { name, binding } => {
                    self.string(name);
                    self.binding(binding);
                }
                Node::Attr { name, .. } | Node::Keyword { name, .. } | Node::Word { word: name, .. } => {
                    self.string(name);
                }
                _ => {}
            }
            children_of(&node, &mut |c| self.expr(c));
            // The first elements tell the type of a display; tables may have thousands.
            let seen = match node {
                Node::Composite { .. } if self.has_shapes => SHAPE_MAX,
                Node::Composite { .. } => 0,
                Node::Sequence { .. } => 8,
                _ => usize::MAX,
            };
            for list in lists_of(&node) {
                for i in 0..(list.len as usize).min(seen) {
                    let c = self.b.lists[list.start as usize + i];
                    self.expr(c);
                }
            }
        }
    }
}

/// Calls `f` for each direct child expression that is not in a list.
pub(crate) fn children_of(node: &Node, f: &mut dyn FnMut(ExprId)) {
    let mut node = *node;
    node.parts_mut(&mut |part| {
        if let Part::Expr(e) = part {
            f(*e);
        }
    });
}

/// The lists of a node, in order.
pub(crate) fn lists_of(node: &Node) -> SmallVec<[List; 2]> {
    let mut lists = SmallVec::new();
    let mut node = *node;
    node.parts_mut(&mut |part| {
        if let Part::List(list) = part {
            lists.push(*list);
        }
    });
    lists
}

fn renumber_node(node: &mut Node, marks: &Marks, relist: &mut dyn FnMut(List) -> List) {
    node.parts_mut(&mut |part| match part {
        Part::Text(id) => *id = marks.str(*id),
        Part::Binding(id) => *id = marks.binding(*id),
        Part::Expr(id) => *id = marks.expr(*id),
        Part::List(list) => *list = relist(*list),
    });
}
