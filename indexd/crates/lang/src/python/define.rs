//! Functions and classes: signatures, flags, bodies in scopes of their own.

use super::kinds::{F, Kind, kind};
use super::scope::{Scope, ScopeKind};
use super::visit::Visitor;
use indexd_model::facts::LiteralKind;
use indexd_model::limits::DEFS_PER_FILE_MAX;
use indexd_model::{BindingKind, Def, DefFlags, DefIdx, DefKind, ExprId, Node as Shape, Role, Source, Span};
use tree_sitter::Node;

/// Return and yield expressions kept of a function without an annotation.
const RETURNS_MAX: usize = 8;

/// A decorator: its expression and the dotted name it ends in, arguments left out.
#[derive(Clone, Copy)]
pub(super) struct Decorator<'s> {
    expr: ExprId,
    name: &'s str,
}

impl<'s> Decorator<'s> {
    fn last(&self) -> &'s str {
        self.name.rsplit('.').next().unwrap_or("")
    }
}

impl<'s> Visitor<'s, '_> {
    pub(super) fn decorated(&mut self, node: Node) {
        let mut decorators = Vec::new();
        for c in self.kids(node) {
            if kind(c) != Kind::Decorator {
                continue;
            }
            let Some(inner) = self.kids(c).first().copied() else { continue };
            let expr = self.expr(inner, Role::Decorator);
            let mut named = inner;
            if kind(inner) == Kind::Call {
                if let Some(Shape::Call { callee, .. }) = self.b.get(expr).map(|e| e.node) {
                    self.b.set_role(callee, Role::Decorator);
                }
                named = self.field(inner, F.function).unwrap_or(inner);
            }
            decorators.push(Decorator { expr, name: self.slice(named) });
        }
        match self.field(node, F.definition) {
            Some(d) if kind(d) == Kind::Function => self.function(d, &decorators, node),
            Some(d) if kind(d) == Kind::Class => self.class(d, &decorators, node),
            _ => {}
        }
    }

    /// Reads a function; `whole` is the node with its decorators.
    pub(super) fn function(&mut self, node: Node, decorators: &[Decorator<'s>], whole: Node) {
        let Some(name_node) = self.field(node, F.name) else { return };
        if self.b.defs.len() >= DEFS_PER_FILE_MAX {
            return;
        }
        let text = self.slice(name_node);
        let in_class = self.scope_kind() == ScopeKind::Class;
        let class = in_class.then(|| self.around());
        let mut def =
            self.head(node, name_node, whole, if in_class { DefKind::Method } else { DefKind::Function });
        self.function_flags(node, text, decorators, &mut def);

        // Annotations and defaults are read in the scope around the function, with its type parameters.
        let mark = self.scope().mark();
        if let Some(p) = self.field(node, F.type_parameters) {
            def.type_params = self.type_params(p);
        }
        let params = self.parameters(node);
        if let Some(r) = self.field(node, F.return_type) {
            def.results = vec![self.annotation(r)];
        }
        def.decorators = decorators.iter().map(|d| d.expr).collect();
        let idx = self.open(ScopeKind::Function, def, mark);
        self.bind(&params, idx, class);
        if let Some(body) = self.field(node, F.body) {
            self.b.defs[idx.index()].doc = self.docstring(body);
            self.block(body);
        }
        self.end_function(idx);
        self.introduce(text, self.start(name_node), idx);
    }

    /// Adds a definition and opens its scope, which has the type parameters that were set since `mark` to itself.
    fn open(&mut self, kind: ScopeKind, def: Def, mark: usize) -> DefIdx {
        let type_params = self.scope().changes(mark);
        self.scope().rewind(mark);
        let idx = self.b.def(def);
        self.scopes.push(Scope::new(kind, idx));
        type_params.into_iter().for_each(|(name, b)| self.scope().assign(name, b));
        idx
    }

    /// Makes the parameters of a function known in its scope; the first one of a method of `class` is the
    /// receiver.
    fn bind(&mut self, params: &[Parameter<'s>], idx: DefIdx, class: Option<DefIdx>) {
        let is_static = self.b.defs[idx.index()].flags.has(DefFlags::STATIC);
        let mut bindings = Vec::with_capacity(params.len());
        for (i, p) in params.iter().enumerate() {
            let receiver = class.is_some() && i == 0 && p.kind == BindingKind::Param && !is_static;
            let kind = if receiver { BindingKind::Receiver } else { p.kind };
            let b = self.local(p.name, p.at, kind, p.ty.map(Source::Declared));
            if let Some(d) = p.default {
                self.b.source(b, Source::Assigned(d));
            }
            let scope = self.scope();
            scope.assign(p.name, b);
            if let Some(class) = class.filter(|_| receiver) {
                scope.receiver = b;
                scope.class = class;
            }
            bindings.push(b);
        }
        self.b.defs[idx.index()].params = bindings;
    }

    /// Leaves the scope of a function and records its result.
    fn end_function(&mut self, idx: DefIdx) {
        let Some(scope) = self.pop_scope() else { return };
        let d = &mut self.b.defs[idx.index()];
        if scope.is_generator {
            d.flags.set(DefFlags::GENERATOR);
        }
        if d.results.is_empty() {
            let mut values = if scope.is_generator { scope.yields } else { scope.returns };
            values.truncate(RETURNS_MAX);
            d.returns = values;
        }
    }

    /// Makes the name of a nested definition known in the scope around it.
    fn introduce(&mut self, name: &'s str, at: u32, def: DefIdx) {
        match self.scope_kind() {
            ScopeKind::Module => {}
            ScopeKind::Class => {
                self.scope().members.insert(name, def);
            }
            ScopeKind::Function => {
                let b = self.local(name, at, BindingKind::Def, Some(Source::Def(def)));
                self.scope().assign(name, b);
            }
        }
    }

    /// A definition with its place filled in.
    fn head(&mut self, node: Node, name: Node, whole: Node, kind: DefKind) -> Def {
        let id = self.b.str(self.slice(name));
        let parent = self.around();
        let span = self.span(whole);
        let mut def = self.b.blank_def(id, kind, parent, self.span(name), span);
        let body_start = self.field(node, F.body).map_or(span.end, |b| self.start(b));
        let head = self.text.get(span.start as usize..body_start as usize).unwrap_or("");
        // The body of an indented block starts after its comments; the head ends at the colon.
        let mut end = span.start + head.trim_end().len() as u32;
        if let Some(colon) = self.colon(node) {
            end = colon;
        }
        def.head = Span::new(span.start, end.max(span.start));
        if self.n_conditions > 0 {
            def.flags.set(DefFlags::CONDITIONAL);
        }
        if !self.slice(name).starts_with('_') {
            def.flags.set(DefFlags::EXPORTED);
        }
        if self.scopes.iter().any(|s| s.kind == ScopeKind::Function) {
            def.flags.set(DefFlags::LOCAL);
        }
        def
    }

    /// The end of the colon before the body.
    fn colon(&self, node: Node) -> Option<u32> {
        let n = node.child_count();
        (0..n)
            .rev()
            .filter_map(|i| node.child(i))
            .find(|c| !c.is_named() && self.slice(*c) == ":")
            .map(|c| self.span(c).end)
    }

    fn function_flags(&mut self, node: Node, name: &str, decorators: &[Decorator<'s>], def: &mut Def) {
        let method = def.kind == DefKind::Method;
        if node.child(0).is_some_and(|c| !c.is_named() && self.slice(c) == "async") {
            def.flags.set(DefFlags::ASYNC);
        }
        if name.starts_with("test") {
            def.flags.set(DefFlags::TEST);
        }
        if method && matches!(name, "__new__" | "__init_subclass__" | "__class_getitem__") {
            def.flags.set(DefFlags::CLASS);
        }
        decorators.iter().for_each(|d| Self::decorate(d, method, def));
    }

    /// Applies a decorator to a function.
    fn decorate(d: &Decorator<'s>, method: bool, def: &mut Def) {
        match d.last() {
            "staticmethod" => def.flags.set(DefFlags::STATIC),
            "classmethod" | "abstractclassmethod" => def.flags.set(DefFlags::CLASS),
            "abstractmethod" => def.flags.set(DefFlags::ABSTRACT),
            "overload" => def.flags.set(DefFlags::OVERLOAD),
            "contextmanager" | "asynccontextmanager" => def.flags.set(DefFlags::CONTEXT_MANAGER),
            "setter" | "deleter" if method && d.name.contains('.') => {
                def.kind = DefKind::Property;
                def.flags.set(DefFlags::SETTER);
            }
            "getter" if method && d.name.contains('.') => def.kind = DefKind::Property,
            last if method && last.ends_with("property") => {
                def.kind = DefKind::Property;
                if last.starts_with("abstract") {
                    def.flags.set(DefFlags::ABSTRACT);
                }
                if last.starts_with("class") {
                    def.flags.set(DefFlags::CLASS);
                }
            }
            "final" | "override" | "wraps" | "lru_cache" | "cache" | "fixture" | "parametrize" => {}
            _ => def.flags.set(DefFlags::WRAPPED),
        }
    }

    fn parameters(&mut self, node: Node) -> Vec<Parameter<'s>> {
        let mut out = Vec::new();
        let Some(list) = self.field(node, F.parameters) else { return out };
        for p in self.kids(list) {
            let ty = self.field(p, F.type_).map(|t| self.annotation(t));
            let default = self.field(p, F.value).map(|d| self.expr(d, Role::Read));
            // `def f(x=None)` does not show the type of `x`.
            let default = default.filter(|d| {
                !matches!(self.b.get(*d).map(|e| e.node), Some(Shape::Literal { kind: LiteralKind::None }))
            });
            let mut name = match kind(p) {
                Kind::DefaultParameter | Kind::TypedDefaultParameter => self.field(p, F.name),
                Kind::TypedParameter => self.kids(p).first().copied(),
                _ => Some(p),
            };
            let mut param_kind = BindingKind::Param;
            if let Some(n) = name {
                match kind(n) {
                    Kind::ListSplatPattern => param_kind = BindingKind::VarArgs,
                    Kind::DictSplatPattern => param_kind = BindingKind::KwArgs,
                    _ => {}
                }
                if param_kind != BindingKind::Param {
                    name = self.kids(n).first().copied();
                }
            }
            let Some(name) = name.filter(|n| kind(*n) == Kind::Identifier) else {
                // `*` and `/` separate; a tuple parameter of Python 2 binds its names untyped.
                if let Some(t) = name.filter(|n| kind(*n) == Kind::TuplePattern) {
                    for c in self.kids(t).into_iter().filter(|c| kind(*c) == Kind::Identifier) {
                        out.push(Parameter {
                            name: self.slice(c),
                            at: self.start(c),
                            kind: BindingKind::Local,
                            ty: None,
                            default: None,
                        });
                    }
                }
                continue;
            };
            out.push(Parameter {
                name: self.slice(name),
                at: self.start(name),
                kind: param_kind,
                ty,
                default,
            });
        }
        out
    }

    /// The docstring of a body: its first statement, when that is a string.
    fn docstring(&self, body: Node) -> Span {
        let none = Span::new(self.start(body), self.start(body));
        let Some(first) = self.kids(body).first().copied().filter(|s| kind(*s) == Kind::ExpressionStatement)
        else {
            return none;
        };
        match self.kids(first).first() {
            Some(s) if matches!(kind(*s), Kind::String | Kind::ConcatenatedString) => self.span(*s),
            _ => none,
        }
    }

    /// Reads a class; `whole` is the node with its decorators.
    pub(super) fn class(&mut self, node: Node, decorators: &[Decorator<'s>], whole: Node) {
        let Some(name_node) = self.field(node, F.name) else { return };
        if self.b.defs.len() >= DEFS_PER_FILE_MAX {
            return;
        }
        let text = self.slice(name_node);
        let mut def = self.head(node, name_node, whole, DefKind::Class);
        if text.starts_with("Test") {
            def.flags.set(DefFlags::TEST);
        }
        if decorators.iter().any(|d| {
            matches!(d.last(), "dataclass" | "define" | "frozen" | "mutable" | "attrs" | "attributes" | "s")
        }) {
            def.flags.set(DefFlags::RECORD);
        }
        let mark = self.scope().mark();
        if let Some(p) = self.field(node, F.type_parameters) {
            def.type_params = self.type_params(p);
        }
        for a in self.field(node, F.superclasses).map_or_else(Default::default, |s| self.kids(s)) {
            let base = self.expr(a, Role::Base);
            if matches!(self.slice(a).rsplit('.').next(), Some("NamedTuple" | "TypedDict")) {
                def.flags.set(DefFlags::RECORD);
            }
            def.bases.push(base);
        }
        def.decorators = decorators.iter().map(|d| d.expr).collect();
        let idx = self.open(ScopeKind::Class, def, mark);
        if let Some(body) = self.field(node, F.body) {
            self.b.defs[idx.index()].doc = self.docstring(body);
            self.block(body);
        }
        self.pop_scope();
        self.introduce(text, self.start(name_node), idx);
    }
}

/// A parameter before its function exists.
struct Parameter<'s> {
    name: &'s str,
    at: u32,
    kind: BindingKind,
    ty: Option<ExprId>,
    default: Option<ExprId>,
}
