//! Functions, classes and variables: the content of their definitions and bindings.

use super::kinds::K;
use super::visit::{Function, This, Visitor};
use indexd_model::{
    BindingId, BindingKind, DefFlags, DefIdx, DefKind, ExprId, List, Node as Shape, Role, Source,
};

/// Parameters and results as they are declared.
pub(super) struct Signature {
    params: Vec<BindingId>,
    type_params: Vec<BindingId>,
    /// The parameters as expressions.
    list: List,
    results: List,
    result: Option<ExprId>,
}

impl Signature {
    /// A function type.
    pub(super) fn shape(&self) -> Shape {
        Shape::FuncType { params: self.list, results: self.results, variadic: false }
    }
}

impl<'s> Visitor<'_, 's> {
    /// Runs `f` one level deeper, in the scope that a node opens; gives `or` where the nesting is too deep.
    pub(super) fn deeper<T>(&mut self, node: usize, or: T, f: impl FnOnce(&mut Self, usize) -> T) -> T {
        if !self.enter() {
            return or;
        }
        let out = self.scoped(node, |it| f(it, node));
        self.leave();
        out
    }

    // ---- functions

    /// A function, or the type of one, without its body.
    pub(super) fn signature(&mut self, node: usize) -> Signature {
        let type_params = self.type_params(node);
        let params = self.params(node);
        let result = self.type_in(node, self.f.return_type).or_else(|| match self.k(node) {
            K::ConstructSignature | K::ConstructorType => self.type_in(node, self.f.kind),
            _ => None,
        });
        let list = self.values_of(&params);
        let list = self.b.list(&list);
        let results = self.b.list(result.as_slice());
        Signature { params, type_params, list, results, result }
    }

    /// Writes a signature into the definition of a method without a body.
    pub(super) fn declare_signature(
        &mut self,
        node: usize,
        def: Option<DefIdx>,
        signature: &Signature,
    ) -> Option<ExprId> {
        let def = def?;
        self.accessor(node, def);
        let it = &mut self.b.defs[def.index()];
        it.params.clone_from(&signature.params);
        it.type_params.clone_from(&signature.type_params);
        it.results = signature.result.into_iter().collect();
        let at = self.start(node);
        Some(self.node(Shape::Def { def }, at))
    }

    /// A getter or setter is a property.
    fn accessor(&mut self, node: usize, def: DefIdx) {
        for word in ["get", "set"] {
            if self.has_token(node, word) {
                self.b.defs[def.index()].kind = DefKind::Property;
                if word == "set" {
                    self.set_flag(def, DefFlags::SETTER);
                }
            }
        }
    }

    /// A function with its body, as the value of `named`, or under its own name.
    pub(super) fn function(&mut self, node: usize, named: Option<DefIdx>) -> ExprId {
        self.deeper(node, self.opaque, |it, node| {
            let own = it.field(node, it.f.name).and_then(|n| it.def_of(n));
            let is_arrow = it.tree.node(node).kind() == "arrow_function";
            let def = named.or(own);
            match def {
                _ if is_arrow || named.is_some() && own.is_none() && it.is_of_prototype(named) => {
                    it.function_in(node, def)
                }
                // `this` of a plain function is the object that it makes when it is called with `new`.
                Some(d) if own.is_some() => {
                    let this = This::Class { class: d, member: DefIdx::NONE };
                    it.with_this(this, |it| it.function_in(node, def))
                }
                _ if named.is_some() => it.function_in(node, def),
                _ => it.with_this(This::None, |it| it.function_in(node, def)),
            }
        })
    }

    fn is_of_prototype(&self, def: Option<DefIdx>) -> bool {
        def.is_some_and(|d| self.b.defs[d.index()].receiver.is_some())
    }

    fn function_in(&mut self, node: usize, def: Option<DefIdx>) -> ExprId {
        let at = self.start(node);
        if let Some(name) = self.field(node, self.f.name) {
            // The name of a function expression is seen inside.
            self.bound(name, BindingKind::Local);
        }
        let is_async = self.has_token(node, "async");
        let is_generator = self.has_token(node, "*");
        let outer_narrowed = if is_async || def.is_some() { self.narrowed.len() } else { usize::MAX };
        let this = self.this;
        let out = self.with_this(this, |it| {
            let signature = it.signature(node);
            it.functions.push(Function { returns: Vec::new(), is_generator });
            let body = it.field(node, it.f.body);
            if let Some(body) = body {
                let value = it.expr(body, Role::Read);
                if it.k(body) != K::Block {
                    it.functions.last_mut().into_iter().for_each(|f| f.returns.push(value));
                }
            }
            let function = it.functions.pop();
            let mut returns = function.map_or(Vec::new(), |f| f.returns);
            returns.iter_mut().for_each(|r| *r = it.returned(*r, signature.result, is_async));
            match def {
                Some(def) => it.define_function(def, node, &signature, returns, is_async),
                None => it.lambda(at, &signature, returns, is_async),
            }
        });
        self.narrowed.truncate(outer_narrowed);
        out
    }

    /// Returns a returned value with the declared result type of the function.
    fn returned(&mut self, value: ExprId, result: Option<ExprId>, is_async: bool) -> ExprId {
        let Some(ty) = result.filter(|_| value != self.opaque) else { return value };
        let at = self.b.get(value).map_or(0, |e| e.at);
        let ty = if is_async { self.word("awaited", ty, at) } else { ty };
        self.node(Shape::Assert { value, ty }, at)
    }

    fn define_function(
        &mut self,
        def: DefIdx,
        node: usize,
        signature: &Signature,
        returns: Vec<ExprId>,
        is_async: bool,
    ) -> ExprId {
        let it = &mut self.b.defs[def.index()];
        it.params.clone_from(&signature.params);
        it.type_params.clone_from(&signature.type_params);
        it.results = signature.result.into_iter().collect();
        if signature.result.is_none() {
            it.returns = returns;
        }
        if is_async {
            self.set_flag(def, DefFlags::ASYNC);
        }
        if self.has_token(node, "*") {
            self.set_flag(def, DefFlags::GENERATOR);
        }
        self.documented(def);
        let at = self.start(node);
        self.node(Shape::Def { def }, at)
    }

    fn lambda(&mut self, at: u32, signature: &Signature, returns: Vec<ExprId>, is_async: bool) -> ExprId {
        let opaque = self.opaque;
        let result = match signature.result {
            // The values stay below, for the types that they are expected to have.
            Some(ty) => {
                let value = self.any(returns, at).unwrap_or(opaque);
                self.node(Shape::Assert { value, ty }, at)
            }
            None if returns.is_empty() => {
                let none = self.literal(indexd_model::facts::LiteralKind::None, at);
                if is_async { self.node(Shape::Address { value: none }, at) } else { none }
            }
            None => {
                let value = self.any(returns, at).unwrap_or(opaque);
                match is_async && value != opaque {
                    true => self.node(Shape::Address { value }, at),
                    false => value,
                }
            }
        };
        self.node(Shape::Lambda { params: signature.list, result }, at)
    }

    fn params(&mut self, node: usize) -> Vec<BindingId> {
        if let Some(single) = self.field(node, self.f.parameter) {
            return self.param(single, single, None).into_iter().collect();
        }
        let Some(list) = self.field(node, self.f.parameters) else { return Vec::new() };
        let parts: Vec<usize> = self.children(list).collect();
        parts.into_iter().filter_map(|p| self.any_param(p)).collect()
    }

    fn any_param(&mut self, node: usize) -> Option<BindingId> {
        if self.tree.node(node).is_extra() {
            return None;
        }
        let Some(pattern) = self.field(node, self.f.pattern) else {
            return self.param(node, node, None);
        };
        self.decorators(node);
        let ty = self.type_in(node, self.f.kind);
        if self.k(pattern) == K::This {
            if let Some(ty) = ty {
                self.set_this(This::Declared(ty));
            }
            return None;
        }
        self.param(node, pattern, ty)
    }

    /// The binding of a parameter; one without a name for a pattern.
    fn param(&mut self, node: usize, pattern: usize, ty: Option<ExprId>) -> Option<BindingId> {
        let at = self.start(pattern);
        let default = self.field(node, self.f.value).filter(|_| node != pattern);
        let (pattern, kind, default) = match self.k(pattern) {
            K::Rest => (self.children(pattern).next()?, BindingKind::VarArgs, default),
            K::AssignPattern => {
                (self.field(pattern, self.f.left)?, BindingKind::Param, self.field(pattern, self.f.right))
            }
            _ => (pattern, BindingKind::Param, default),
        };
        let is_name = self.k(pattern) == K::Name;
        let binding =
            if is_name { self.bound_anyhow(pattern, kind) } else { self.unnamed(at, DefIdx::NONE, kind) };
        if let Some(ty) = ty {
            self.b.source(binding, Source::Declared(ty));
        }
        if let Some(default) = default {
            let value = self.expr(default, Role::Read);
            self.b.source(binding, Source::Assigned(value));
        }
        if let Some(def) = self.def_of(pattern).filter(|_| is_name) {
            let value = self.b.sources_of(binding).iter().find_map(|s| match s {
                Source::Assigned(e) => Some(*e),
                _ => None,
            });
            let it = &mut self.b.defs[def.index()];
            (it.ty, it.value) = (ty.unwrap_or(ExprId::NONE), value.unwrap_or(ExprId::NONE));
        }
        if !is_name {
            let base = self.value_of(binding);
            self.take_apart(pattern, base);
        }
        Some(binding)
    }

    fn bound_anyhow(&mut self, name: usize, kind: BindingKind) -> BindingId {
        let at = self.start(name);
        let text = self.id(name);
        match self.bound(name, kind) {
            Some(binding) => binding,
            // A parameter that is a field as well.
            None => self.own_binding(name, text, at, kind),
        }
    }

    // ---- variables

    pub(super) fn declarator(&mut self, node: usize) -> ExprId {
        let Some(name) = self.field(node, self.f.name) else { return self.opaque };
        let def = self.def_of(name).filter(|_| self.k(name) == K::Name);
        let ty = self.type_in(node, self.f.kind);
        let value_node = self.field(node, self.f.value);
        let mut value = value_node.map_or(ExprId::NONE, |v| match self.k(v) {
            K::Function => self.function(v, def.filter(|d| self.b.defs[d.index()].kind.is_callable())),
            _ => self.expr(v, Role::Read),
        });
        if let Some(def) = def {
            self.b.defs[def.index()].ty = ty.unwrap_or(ExprId::NONE);
            if value_node.is_some()
                && !matches!(self.b.get(value).map(|e| e.node), Some(Shape::Def { def: d }) if d == def)
            {
                self.b.defs[def.index()].value = value;
            }
        }
        def.filter(|d| !self.b.defs[d.index()].kind.is_callable())
            .into_iter()
            .for_each(|d| self.documented(d));
        let at = self.start(name);
        if matches!(self.k(name), K::ObjectPattern | K::ArrayPattern) {
            if let Some(ty) = ty {
                value = self.node(Shape::Assert { value, ty }, at);
            }
            self.take_apart(name, value);
        } else if let Some(binding) = self.bound(name, BindingKind::Local) {
            ty.into_iter().for_each(|t| self.b.source(binding, Source::Declared(t)));
            if value_node.is_some() {
                self.b.source(binding, Source::Assigned(value));
            }
        }
        self.opaque
    }

    /// Assigns the parts of a value to the names in a pattern.
    pub(super) fn take_apart(&mut self, pattern: usize, base: ExprId) {
        if !self.enter() {
            return;
        }
        match self.k(pattern) {
            K::ObjectPattern => {
                for part in self.children(pattern) {
                    self.take_member(part, base);
                }
            }
            K::ArrayPattern => self.take_elements(pattern, base),
            K::AssignPattern => {
                if let Some(left) = self.field(pattern, self.f.left) {
                    self.take_apart(left, base);
                }
                let default = self.expr_in(pattern, self.f.right, Role::Read);
                if let Some(left) = self.field(pattern, self.f.left)
                    && let Some(binding) = self.bound_name(left)
                {
                    self.b.source(binding, Source::Assigned(default));
                }
            }
            K::Rest => {
                for part in self.children(pattern) {
                    self.take_apart(part, base);
                }
            }
            K::Name | K::ShorthandPattern => {
                match (self.bound(pattern, BindingKind::Local), self.def_of(pattern)) {
                    (Some(binding), _) => self.b.source(binding, Source::Assigned(base)),
                    (None, Some(def)) => self.b.defs[def.index()].value = base,
                    (None, None) => {
                        self.expr(pattern, Role::Write);
                    }
                }
            }
            _ => {
                self.expr(pattern, Role::Write);
            }
        }
        self.leave();
    }

    fn bound_name(&mut self, node: usize) -> Option<BindingId> {
        let is_name = matches!(self.k(node), K::Name | K::ShorthandPattern);
        if is_name { self.bound(node, BindingKind::Local) } else { None }
    }

    fn take_member(&mut self, part: usize, base: ExprId) {
        match self.k(part) {
            K::ShorthandPattern => {
                let value = self.attribute_of(part, base);
                self.take_apart(part, value);
            }
            K::PairPattern => {
                let (key, value) = (self.field(part, self.f.key), self.field(part, self.f.value));
                let (Some(key), Some(value)) = (key, value) else { return };
                let of = self.attribute_of(key, base);
                self.take_apart(value, of);
            }
            K::AssignPattern => {
                let Some(left) = self.field(part, self.f.left) else { return };
                let value = self.attribute_of(left, base);
                let default = self.expr_in(part, self.f.right, Role::Read);
                self.take_apart(left, value);
                if let Some(binding) = self.bound_name(left) {
                    self.b.source(binding, Source::Assigned(default));
                }
            }
            _ => self.take_apart(part, base),
        }
    }

    fn attribute_of(&mut self, key: usize, base: ExprId) -> ExprId {
        let Some((name, at)) = self.key(key) else { return self.opaque };
        self.attr(base, name, at, Role::Read)
    }

    fn take_elements(&mut self, pattern: usize, base: ExprId) {
        let mut index = 0u16;
        for part in self.tree.tokens(pattern).collect::<Vec<_>>() {
            if self.tree.node(part).kind() == "," {
                index = index.saturating_add(1);
            } else if self.tree.node(part).is_named() {
                let at = self.start(part);
                let value = match self.k(part) {
                    K::Rest => self.node(Shape::Slice { base }, at),
                    _ => self.node(Shape::Item { base, index }, at),
                };
                self.take_apart(part, value);
            }
        }
    }

    pub(super) fn for_in(&mut self, node: usize) -> ExprId {
        let right = self.expr_in(node, self.f.right, Role::Read);
        if let Some(left) = self.field(node, self.f.left) {
            let at = self.start(left);
            let is_of = self.field(node, self.f.operator).is_some_and(|o| self.slice(o) == "of");
            let element = self.unnamed(at, DefIdx::NONE, BindingKind::Local);
            if is_of {
                self.b.source(element, Source::Element { of: right, index: 0 });
            }
            let value = self.value_of(element);
            self.take_apart(left, value);
        }
        self.expr_in(node, self.f.body, Role::Read);
        self.opaque
    }

    pub(super) fn catch(&mut self, node: usize) -> ExprId {
        if let Some(name) = self.field(node, self.f.parameter) {
            let opaque = self.opaque;
            self.take_apart(name, opaque);
        }
        self.expr_in(node, self.f.body, Role::Read);
        self.opaque
    }

    // ---- types

    pub(super) fn class(&mut self, node: usize) -> ExprId {
        let def = self.class_def(node);
        self.decorators(node);
        if let Some(name) = self.field(node, self.f.name) {
            self.tell(name);
            if let (Some(def), Some(binding)) = (def, self.bound(name, BindingKind::Def)) {
                self.b.source(binding, Source::Def(def));
            }
        }
        let type_params = self.type_params(node);
        let mut bases = Vec::new();
        for heritage in self.children(node).filter(|c| self.tree.node(*c).kind() == "class_heritage") {
            self.heritage(heritage, &mut bases);
        }
        if let Some(def) = def {
            let it = &mut self.b.defs[def.index()];
            (it.bases, it.type_params) = (bases, type_params);
        }
        if let Some(body) = self.field(node, self.f.body) {
            self.scoped(body, |it| it.class_body(body, def.unwrap_or(DefIdx::NONE)));
        }
        let at = self.start(node);
        def.map_or(self.opaque, |def| self.node(Shape::Def { def }, at))
    }

    /// Returns the definition of a class: by its name, or of the variable or field that the class is assigned
    /// to.
    fn class_def(&self, node: usize) -> Option<DefIdx> {
        let named = self.field(node, self.f.name).and_then(|n| self.def_of(n));
        named.or_else(|| {
            let body = self.field(node, self.f.body);
            let anonymous = body.and_then(|b| self.def_of(b));
            anonymous.or_else(|| {
                let parent = self.tree.parent(node)?;
                let name = match self.k(parent) {
                    K::Declarator | K::Field => self.field(parent, self.f.name),
                    K::Pair => self.field(parent, self.f.key),
                    K::Assign => {
                        let left = self.field(parent, self.f.left)?;
                        self.field(left, self.f.property).or(Some(left))
                    }
                    K::Export => self.tree.tokens(parent).find(|t| self.tree.node(*t).kind() == "default"),
                    _ => None,
                };
                name.and_then(|n| self.def_of(n))
            })
        })
    }

    fn heritage(&mut self, node: usize, bases: &mut Vec<ExprId>) {
        for clause in self.children(node) {
            let at = self.start(clause);
            match self.tree.node(clause).kind() {
                "extends_clause" => {
                    let value = self.expr_in(clause, self.f.value, Role::Base);
                    bases.push(self.applied(clause, value));
                }
                "implements_clause" => {
                    for ty in self.children(clause) {
                        let ty = self.base_type(ty);
                        bases.push(self.word("implements", ty, at));
                    }
                }
                _ => bases.push(self.expr(clause, Role::Base)),
            }
        }
    }

    /// A type as a base.
    fn base_type(&mut self, node: usize) -> ExprId {
        let ty = self.ty(node);
        let named = match self.b.get(ty).map(|e| e.node) {
            Some(Shape::Apply { base, .. }) => base,
            _ => ty,
        };
        if self.b.get(named).is_some_and(|e| e.role == Role::Type) {
            self.b.set_role(named, Role::Base);
        }
        ty
    }

    fn class_body(&mut self, body: usize, class: DefIdx) {
        let mut unnamed = Vec::new();
        for member in self.children(body) {
            match self.k(member) {
                K::Method | K::MethodSignature | K::Field => {
                    let name = self.field(member, self.f.name).or(self.field(member, self.f.property));
                    let def = name.and_then(|n| self.def_of(n));
                    let is_static = self.has_token(member, "static");
                    let this = match class.some() {
                        Some(class) if is_static => {
                            This::Class { class, member: def.unwrap_or(DefIdx::NONE) }
                        }
                        Some(class) => This::Class { class, member: DefIdx::NONE },
                        None => This::None,
                    };
                    self.with_this(this, |it| it.member_of_class(member, def));
                }
                K::IndexSignature => unnamed.extend(self.signature_member(member)),
                K::Decorator => {
                    self.decorator(member);
                }
                _ => {
                    let this = match class.some() {
                        Some(class) => This::Class { class, member: class },
                        None => This::None,
                    };
                    self.with_this(this, |it| it.expr(member, Role::Read));
                }
            }
        }
        self.type_of_unnamed(class, &unnamed, body);
    }

    /// The signatures without names of a type are its own type.
    fn type_of_unnamed(&mut self, def: DefIdx, unnamed: &[ExprId], body: usize) {
        if !unnamed.is_empty() && def != DefIdx::NONE {
            let at = self.start(body);
            let elems = self.b.list(unnamed);
            self.b.defs[def.index()].ty = self.node(Shape::Composite { ty: ExprId::NONE, elems }, at);
        }
    }

    fn member_of_class(&mut self, node: usize, def: Option<DefIdx>) {
        self.decorators(node);
        match self.k(node) {
            K::Method => {
                self.method(node);
            }
            K::MethodSignature => {
                let name = self.field(node, self.f.name);
                name.into_iter().for_each(|n| _ = self.key(n));
                self.deeper(node, (), |it, node| {
                    let signature = it.signature(node);
                    it.declare_signature(node, def, &signature);
                });
            }
            _ => self.class_field(node, def),
        }
    }

    fn class_field(&mut self, node: usize, def: Option<DefIdx>) {
        let name = self.field(node, self.f.name).or(self.field(node, self.f.property));
        name.into_iter().for_each(|n| _ = self.key(n));
        let ty = self.type_in(node, self.f.kind);
        let is_callable = |it: &Self, d: &DefIdx| it.b.defs[d.index()].kind.is_callable();
        let value = self.field(node, self.f.value).map(|v| match self.k(v) {
            K::Function => {
                let def = def.filter(|d| is_callable(self, d));
                self.function(v, def)
            }
            _ => self.expr(v, Role::Read),
        });
        if let Some(def) = def {
            let is_itself = value.is_some_and(
                |v| matches!(self.b.get(v).map(|e| e.node), Some(Shape::Def { def: d }) if d == def),
            );
            let it = &mut self.b.defs[def.index()];
            it.ty = ty.unwrap_or(ExprId::NONE);
            if !is_itself {
                it.value = value.unwrap_or(ExprId::NONE);
            }
        }
    }

    /// A method of a class or an object literal.
    pub(super) fn method(&mut self, node: usize) -> ExprId {
        let name = self.field(node, self.f.name);
        let def = name.and_then(|n| self.def_of(n));
        let named = name.and_then(|n| self.key(n));
        let value = self.deeper(node, self.opaque, |it, node| it.function_in(node, def));
        if let Some(def) = def {
            self.accessor(node, def);
        }
        let Some((name, at)) = named else { return value };
        self.keyword(name, at, value)
    }

    pub(super) fn enumeration(&mut self, node: usize) -> ExprId {
        let def = self.field(node, self.f.name).and_then(|n| self.def_of(n));
        let outer = std::mem::replace(&mut self.enumeration, def.unwrap_or(DefIdx::NONE));
        if let Some(body) = self.field(node, self.f.body) {
            for member in self.children(body) {
                match self.k(member) {
                    K::EnumMember => _ = self.enum_member(member),
                    _ => self.tell(member),
                }
            }
        }
        self.enumeration = outer;
        self.opaque
    }

    pub(super) fn enum_member(&mut self, node: usize) -> ExprId {
        let value = self.expr_in(node, self.f.value, Role::Read);
        if let Some(def) = self.field(node, self.f.name).and_then(|n| self.def_of(n)) {
            self.b.defs[def.index()].value = value;
        }
        self.opaque
    }

    pub(super) fn interface(&mut self, node: usize) -> ExprId {
        let def = self.field(node, self.f.name).and_then(|n| self.def_of(n)).unwrap_or(DefIdx::NONE);
        let type_params = self.type_params(node);
        let mut bases = Vec::new();
        for clause in self.children(node).filter(|c| self.tree.node(*c).kind() == "extends_type_clause") {
            for ty in self.children(clause) {
                bases.push(self.base_type(ty));
            }
        }
        if let Some(it) = self.b.defs.get_mut(def.index()) {
            (it.bases, it.type_params) = (bases, type_params);
        }
        let Some(body) = self.field(node, self.f.body) else { return self.opaque };
        let this = def.some().map_or(This::None, |class| This::Class { class, member: DefIdx::NONE });
        let mut unnamed = Vec::new();
        self.with_this(this, |it| {
            for member in it.children(body) {
                let kind = it.k(member);
                let ty = it.deeper(member, None, Self::signature_member);
                if !matches!(kind, K::PropertySignature | K::MethodSignature) {
                    unnamed.extend(ty);
                }
            }
        });
        self.type_of_unnamed(def, &unnamed, body);
        self.opaque
    }

    pub(super) fn alias(&mut self, node: usize) -> ExprId {
        let def = self.field(node, self.f.name).and_then(|n| self.def_of(n));
        let type_params = self.type_params(node);
        let ty = self.type_in(node, self.f.value).unwrap_or(self.opaque);
        if let Some(def) = def {
            let it = &mut self.b.defs[def.index()];
            (it.ty, it.type_params) = (ty, type_params);
        }
        self.opaque
    }

    // ---- exports and decorators

    pub(super) fn export(&mut self, node: usize) -> ExprId {
        let default = self.tree.tokens(node).find(|t| self.tree.node(*t).kind() == "default");
        let unnamed = default.and_then(|d| self.def_of(d));
        for child in self.children(node) {
            let is_value = self.tree.field(child) == self.f.value;
            match unnamed.filter(|_| is_value) {
                Some(def) => {
                    let value = match self.k(child) {
                        K::Function => self.function(child, Some(def)),
                        _ => self.expr(child, Role::Read),
                    };
                    self.b.defs[def.index()].value = value;
                }
                None => _ = self.expr(child, Role::Read),
            }
        }
        self.opaque
    }

    fn decorators(&mut self, node: usize) {
        for child in self.children(node) {
            if self.k(child) == K::Decorator {
                self.decorator(child);
            }
        }
    }

    pub(super) fn decorator(&mut self, node: usize) -> ExprId {
        self.children(node).map(|c| self.expr(c, Role::Decorator)).last().unwrap_or(self.opaque)
    }
}
