//! Types and declarations.

use super::kinds::K;
use super::{Function, Visitor};
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, DefKind, ExprId, Node as Shape, Role, Source};

/// What a declarator says.
struct Declared {
    /// The node of the name; `None` for a parameter without one.
    name: Option<usize>,
    ty: ExprId,
    /// The node that holds the parameters, where a function is declared.
    function: Option<usize>,
    value: ExprId,
    /// Names of `auto [a, b]`.
    names: Vec<usize>,
}

impl<'s> Visitor<'_, 's> {
    // ---- types

    pub(super) fn ty(&mut self, node: usize) -> ExprId {
        self.ty_as(node, Role::Type)
    }

    /// The type that a node names, where naming it does what `role` says; `NONE` where it is inferred.
    pub(super) fn ty_as(&mut self, node: usize, role: Role) -> ExprId {
        match self.k(node) {
            K::Primitive => self.plain,
            K::Auto => {
                self.inside(node);
                ExprId::NONE
            }
            K::Record => self.record(node),
            K::Descriptor => {
                let ty = self.field(node, self.f.kind).map_or(self.opaque, |t| self.ty_as(t, role));
                let ty = if ty == ExprId::NONE { self.opaque } else { ty };
                match self.field(node, self.f.declarator) {
                    Some(d) => self.declarator(d, ty).ty,
                    None => ty,
                }
            }
            _ => self.expr(node, role),
        }
    }

    /// The type of a declaration.
    fn ty_of(&mut self, node: usize) -> ExprId {
        self.field(node, self.f.kind).map_or(ExprId::NONE, |t| self.ty(t))
    }

    /// A struct, union, class or enumeration: its definition, or its name.
    fn record(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let holder = std::mem::replace(&mut self.holder, DefIdx::NONE);
        let name = self.field(node, self.f.name);
        let Some(body) = self.field(node, self.f.body) else {
            if self.is_statement(node) {
                return self.forward(Some(node));
            }
            // In C each struct is announced by its use. `struct T *` in C++ announces T as well.
            if let Some(name) = name.filter(|n| self.is_cpp && self.k(*n) == K::TypeName) {
                self.announce(name);
            }
            return name.map_or(self.opaque, |n| self.ty(n));
        };
        let def = name.and_then(|n| self.def_of_record(n));
        let Some(def) = def else {
            self.in_class(holder.some().unwrap_or(self.class), |it| it.inside(body));
            return holder.some().map_or(self.opaque, |holder| self.node(Shape::StructType { holder }, at));
        };
        let type_params = std::mem::take(&mut self.type_params);
        if let Some(name) = name.filter(|n| self.k(*n) == K::Template) {
            // A specialisation says what it is one of.
            let base = self.opaque;
            self.b.defs[def.index()].ty = self.applied(name, base);
        }
        let mut bases = Vec::new();
        for child in self.children(node) {
            if self.tree.node(child).kind() == "base_class_clause" {
                let all = self.children(child).into_iter();
                let is_type = |it: &Self, n: usize| {
                    matches!(it.k(n), K::TypeName | K::Qualified | K::Template | K::Dependent | K::Name)
                };
                for base in all {
                    if is_type(self, base) {
                        bases.push(self.expr(base, Role::Base));
                    }
                }
            } else if child != body && Some(child) != name {
                self.expr(child, Role::Read);
            }
        }
        let it = &mut self.b.defs[def.index()];
        (it.bases, it.type_params) = (bases, type_params);
        self.in_class(def, |it| it.inside(body));
        self.node(Shape::Def { def }, at)
    }

    /// Whether a node stands where declarations do.
    fn is_statement(&self, node: usize) -> bool {
        let around = self.tree.parent(node).map_or("", |p| self.tree.node(p).kind());
        matches!(
            around,
            "translation_unit" | "declaration_list" | "template_declaration" | "friend_declaration"
        ) || around.starts_with("preproc_")
    }

    fn def_of_record(&self, name: usize) -> Option<DefIdx> {
        let mut name = name;
        while let Some(inner) = self.field(name, self.f.name) {
            name = inner;
        }
        self.def_at(name).filter(|d| self.b.defs[d.index()].kind.is_type())
    }

    fn in_class(&mut self, class: DefIdx, f: impl FnOnce(&mut Self)) {
        let outer = (self.class, std::mem::replace(&mut self.function, Function::none()));
        self.class = class;
        f(self);
        (self.class, self.function) = outer;
    }

    // ---- declarators

    fn declarator(&mut self, node: usize, ty: ExprId) -> Declared {
        let mut out = Declared { name: None, ty, function: None, value: ExprId::NONE, names: Vec::new() };
        let mut at = node;
        loop {
            match self.k(at) {
                K::Init => {
                    let value = self.field(at, self.f.value);
                    let inner = self.inner(at).map_or("", |i| self.tree.node(i).kind());
                    let elem = if inner == "array_declarator" { ty } else { ExprId::NONE };
                    out.value = value.map_or(ExprId::NONE, |v| self.initial(v, ty, elem));
                }
                K::FunctionDeclarator => {
                    let inner = self.inner(at);
                    if inner.is_none() || inner.is_some_and(|i| self.is_pointer_in_brackets(i)) {
                        self.scoped(|it| it.parameters(at));
                        let results = if out.ty == ExprId::NONE { self.opaque } else { out.ty };
                        let results = self.b.list(&[results]);
                        let params = self.b.list(&[]);
                        let place = self.start(at);
                        out.ty = self.node(Shape::FuncType { params, results, variadic: false }, place);
                    } else {
                        out.function = Some(at);
                    }
                }
                K::Wrapped | K::Pointing => {
                    if self.k(at) == K::Pointing {
                        out.ty = self.pointer_to(out.ty, node, at);
                    }
                    for child in self.children(at) {
                        if Some(child) != self.inner(at) {
                            self.expr(child, Role::Read);
                        }
                    }
                }
                K::Structured => {
                    out.names = self.children(at);
                    return out;
                }
                K::Name | K::TypeName | K::Qualified | K::Operator | K::Template => {
                    out.name = Some(at);
                    return out;
                }
                _ => {
                    self.inside(at);
                    return out;
                }
            }
            match self.inner(at) {
                Some(inner) => at = inner,
                None => return out,
            }
        }
    }

    /// The declarator inside another one.
    fn inner(&self, node: usize) -> Option<usize> {
        let by_field = self.field(node, self.f.declarator);
        by_field.or_else(|| {
            let is_declarator = |c: &usize| {
                matches!(
                    self.k(*c),
                    K::Wrapped
                        | K::Pointing
                        | K::FunctionDeclarator
                        | K::Name
                        | K::TypeName
                        | K::Qualified
                        | K::Structured
                        | K::Init
                        | K::Operator
                )
            };
            matches!(self.k(node), K::Wrapped | K::Pointing)
                .then(|| self.tree.children(node).find(is_declarator))
                .flatten()
        })
    }

    /// The type of a pointer to, or an array of, a type; a text is one by itself.
    fn pointer_to(&mut self, elem: ExprId, declarator: usize, node: usize) -> ExprId {
        match elem {
            ExprId::NONE => elem,
            ty if ty == self.plain && self.is_text(declarator) => self.text_type,
            ty if ty == self.plain || ty == self.opaque => ty,
            elem => {
                let at = self.start(node);
                self.node(Shape::ArrayType { elem }, at)
            }
        }
    }

    /// Whether a declarator stands behind `char`: what points to one is a text.
    fn is_text(&self, declarator: usize) -> bool {
        let declaration = self.tree.parent(declarator);
        let ty = declaration.and_then(|d| self.field(d, self.f.kind));
        ty.is_some_and(|t| self.slice(t).ends_with("char"))
    }

    /// `(*f)`: what is declared is not a function but leads to one.
    fn is_pointer_in_brackets(&self, node: usize) -> bool {
        self.tree.node(node).kind().ends_with("parenthesized_declarator")
            && self.inner(node).is_some_and(|i| self.k(i) == K::Pointing)
    }

    /// The value behind a declarator; lists in the list of an array are values of `elem`.
    fn initial(&mut self, node: usize, ty: ExprId, elem: ExprId) -> ExprId {
        match self.k(node) {
            K::List => self.list(node, ty, elem),
            _ if self.tree.node(node).kind() == "argument_list" => self.arguments_of_declared(node),
            _ => self.expr(node, Role::Read),
        }
    }

    pub(super) fn declaration(&mut self, node: usize) -> ExprId {
        let declarators: Vec<usize> =
            self.tree.tokens(node).filter(|c| self.tree.field(*c) == self.f.declarator).collect();
        let ty_node = self.field(node, self.f.kind);
        self.holder = declarators.first().and_then(|d| self.def_in(*d)).unwrap_or(DefIdx::NONE);
        let is_forward =
            declarators.is_empty() && ty_node.is_some_and(|t| self.field(t, self.f.body).is_none());
        let ty = if is_forward { self.forward(ty_node) } else { self.ty_of(node) };
        self.holder = DefIdx::NONE;
        let type_params = std::mem::take(&mut self.type_params);
        for declarator in &declarators {
            let mut it = self.declarator(*declarator, ty);
            for field in [self.f.value, self.f.default_value] {
                if let Some(value) = self.field(node, field) {
                    it.value = self.initial(value, ty, ExprId::NONE);
                }
            }
            self.declare(&it, &type_params);
        }
        for child in self.children(node) {
            let field = self.tree.field(child);
            let known = [self.f.kind, self.f.declarator, self.f.value, self.f.default_value];
            if field == 0 || !known.contains(&field) {
                self.expr(child, Role::Read);
            }
        }
        self.opaque
    }

    /// A type that is only announced.
    fn forward(&mut self, ty: Option<usize>) -> ExprId {
        let name = ty.and_then(|t| self.field(t, self.f.name)).filter(|n| self.k(*n) == K::TypeName);
        if let Some(name) = name {
            self.tell_names(name);
            self.announce(name);
        }
        ExprId::NONE
    }

    fn announce(&mut self, name: usize) {
        let name = self.id(name);
        if !self.forwards.contains(&name) {
            self.forwards.push(name);
        }
    }

    /// The definition that a declarator names.
    fn def_in(&self, declarator: usize) -> Option<DefIdx> {
        let mut at = declarator;
        loop {
            if matches!(self.k(at), K::Name | K::TypeName) {
                return self.def_at(at);
            }
            at = self.inner(at).or_else(|| self.field(at, self.f.name))?;
        }
    }

    /// Fills a definition, or binds a local name.
    fn declare(&mut self, it: &Declared, type_params: &[BindingId]) {
        for (i, name) in it.names.iter().enumerate() {
            let index = i.min(1000) as u16;
            self.bind(*name, BindingKind::Local, Some(Source::Unpacked { value: it.value, index }));
        }
        let Some(name) = it.name else { return };
        let target = self.last_name(name);
        match (self.def_at(target), it.function) {
            (Some(def), Some(function)) => {
                let params = self.scoped(|v| v.parameters(function));
                self.fill_function(def, params, it.ty, type_params);
                self.scope_of_name(name);
            }
            (Some(def), None) => {
                let d = &mut self.b.defs[def.index()];
                (d.ty, d.value) = (it.ty, it.value);
                self.scope_of_name(name);
            }
            (None, Some(function)) => self.local_function(name, function, it.ty),
            (None, None) if self.k(name) == K::Name => {
                let source = match it.ty {
                    ExprId::NONE => Source::Assigned(it.value),
                    ty => Source::Declared(ty),
                };
                self.bind(name, BindingKind::Local, Some(source));
            }
            (None, None) => {
                self.expr(name, Role::Read);
            }
        }
    }

    /// `T x(a, b);` in a function declares a variable where the brackets hold values.
    fn local_function(&mut self, name: usize, function: usize, ty: ExprId) {
        let list = self.field(function, self.f.parameters);
        let params = list.map_or_else(Vec::new, |l| self.children(l));
        let is_value = |it: &Self, p: &usize| {
            let ty = it.field(*p, it.f.kind);
            let is_name = ty.is_some_and(|t| matches!(it.k(t), K::TypeName | K::Qualified | K::Template));
            let declarator = it.field(*p, it.f.declarator);
            let is_called =
                declarator.is_some_and(|d| it.k(d) == K::FunctionDeclarator && it.inner(d).is_none());
            is_name && (it.children(*p).len() == 1 || it.children(*p).len() == 2 && is_called)
        };
        let is_bound =
            |it: &Self, p: &usize| it.field(*p, it.f.kind).is_some_and(|t| it.find(it.slice(t)).is_some());
        let is_variable = ty != self.plain
            && !params.is_empty()
            && params.iter().all(|p| is_value(self, p))
            && (self.is_cpp || params.iter().any(|p| is_bound(self, p)));
        if !is_variable || self.k(name) != K::Name {
            self.scoped(|it| it.parameters(function));
            return;
        }
        for param in params {
            let role = if self.children(param).len() == 1 { Role::Read } else { Role::Call };
            if let Some(value) = self.field(param, self.f.kind) {
                let value = self.value_as(value, role);
                if role == Role::Call {
                    let (args, at) = (self.b.list(&[]), self.start(param));
                    self.node(Shape::Call { callee: value, args }, at);
                }
            }
        }
        self.bind(name, BindingKind::Local, Some(Source::Declared(ty)));
    }

    /// The last part of a qualified name.
    fn last_name(&self, mut name: usize) -> usize {
        while self.k(name) == K::Qualified || self.k(name) == K::Template {
            match self.field(name, self.f.name) {
                Some(inner) => name = inner,
                None => break,
            }
        }
        name
    }

    /// The scope before the name of a definition: a use of the types in it.
    fn scope_of_name(&mut self, name: usize) -> ExprId {
        if self.k(name) != K::Qualified {
            return ExprId::NONE;
        }
        let base = self.field(name, self.f.scope).map_or(self.opaque, |s| self.expr(s, Role::Type));
        let inner = self.field(name, self.f.name).filter(|n| self.k(*n) == K::Qualified);
        let Some(inner) = inner else { return base };
        let at = self.start(inner);
        let base = self.word("::", base, at);
        self.scope_behind(inner, base)
    }

    fn scope_behind(&mut self, name: usize, base: ExprId) -> ExprId {
        let Some(scope) = self.field(name, self.f.scope) else { return base };
        let target = self.last_name(scope);
        let (text, at) = (self.slice(target), self.start(target));
        let text = self.b.str(text);
        let mut out = self.b.expr(Shape::Attr { base, name: text }, at, Role::Type);
        if self.k(scope) == K::Template {
            out = self.applied(scope, out);
        }
        match self.field(name, self.f.name).filter(|n| self.k(*n) == K::Qualified) {
            Some(inner) => {
                let base = self.word("::", out, at);
                self.scope_behind(inner, base)
            }
            None => out,
        }
    }

    fn fill_function(&mut self, def: DefIdx, params: Params, ty: ExprId, type_params: &[BindingId]) {
        if !self.is_callable(def) {
            return;
        }
        let d = &self.b.defs[def.index()];
        let is_free = d.kind == DefKind::Function && self.b.text(d.name).starts_with("operator");
        if let (true, [first, _]) = (is_free, &params.all[..]) {
            // The left side of an operator is what it runs on.
            let (_, at, scope, _) = self.b.binding_head(*first);
            self.b.place(*first, at, scope, BindingKind::Receiver);
        }
        let d = &mut self.b.defs[def.index()];
        (d.params, d.type_params) = (params.all, type_params.to_vec());
        d.results = [params.result.some().unwrap_or(ty)].into_iter().filter(|t| *t != ExprId::NONE).collect();
        if params.is_variadic {
            d.flags.set(DefFlags::VARIADIC);
        }
    }

    /// The parameters in a declarator of a function, and the result behind it; names are bound where a body
    /// follows.
    pub(super) fn parameters(&mut self, declarator: usize) -> Params {
        let mut out = Params { all: Vec::new(), is_variadic: false, result: ExprId::NONE };
        let list = self.field(declarator, self.f.parameters);
        for child in list.map_or_else(Vec::new, |l| self.tree.tokens(l).collect()) {
            let kind = self.tree.node(child).kind();
            if kind.ends_with("parameter_declaration") {
                let ty = self.ty_of(child);
                let inner = self.field(child, self.f.declarator).map(|d| self.declarator(d, ty));
                let default = self.field(child, self.f.default_value).map(|v| self.expr(v, Role::Read));
                let is_void = ty == self.plain && inner.is_none() && self.slice(child) == "void";
                if is_void {
                    continue;
                }
                let ty = inner.as_ref().map_or(ty, |i| i.ty);
                // The type of `auto` follows from the place of the function literal.
                let source = (ty != ExprId::NONE).then_some(Source::Declared(ty));
                let name = inner.and_then(|i| i.name);
                let is_rest = kind.starts_with("variadic");
                let of = if is_rest { BindingKind::VarArgs } else { BindingKind::Param };
                let binding = match name {
                    Some(name) => self.bind(name, of, source),
                    None => {
                        let binding = self.unnamed(self.start(child), self.function.def, of);
                        source.into_iter().for_each(|s| self.b.source(binding, s));
                        binding
                    }
                };
                default.into_iter().for_each(|e| self.b.source(binding, Source::Assigned(e)));
                out.is_variadic |= is_rest;
                out.all.push(binding);
            } else if self.slice(child) == "..." {
                out.all.push(self.unnamed(self.start(child), self.function.def, BindingKind::VarArgs));
                out.is_variadic = true;
            } else if self.tree.node(child).is_named() {
                self.expr(child, Role::Read);
            }
        }
        for child in self.children(declarator) {
            match self.tree.node(child).kind() {
                "trailing_return_type" => {
                    let ty = self.children(child).first().map(|t| self.ty(*t));
                    out.result = ty.unwrap_or(ExprId::NONE);
                }
                "noexcept" | "requires_clause" | "attribute_specifier" => self.inside(child),
                _ => {}
            }
        }
        out
    }

    // ---- types under names

    pub(super) fn typedef(&mut self, node: usize) -> ExprId {
        let declarators: Vec<usize> =
            self.tree.tokens(node).filter(|c| self.tree.field(*c) == self.f.declarator).collect();
        self.holder = declarators.first().and_then(|d| self.def_in(*d)).unwrap_or(DefIdx::NONE);
        let ty = self.ty_of(node);
        self.holder = DefIdx::NONE;
        for declarator in declarators {
            let it = self.declarator(declarator, ty);
            let mut ty = it.ty;
            if let Some(function) = it.function {
                self.scoped(|v| v.parameters(function));
                let (params, results) = (self.b.list(&[]), self.b.list(&[ty]));
                let at = self.start(function);
                ty = self.node(Shape::FuncType { params, results, variadic: false }, at);
            }
            if let Some(def) = it.name.and_then(|n| self.def_at(n)) {
                self.b.defs[def.index()].ty = ty;
            }
        }
        self.opaque
    }

    /// `using T = U;`
    pub(super) fn using_type(&mut self, node: usize) -> ExprId {
        let def = self.field(node, self.f.name).and_then(|n| self.def_at(n));
        let type_params = std::mem::take(&mut self.type_params);
        self.holder = def.unwrap_or(DefIdx::NONE);
        let ty = self.ty_of(node);
        self.holder = DefIdx::NONE;
        if let Some(def) = def {
            let d = &mut self.b.defs[def.index()];
            (d.ty, d.type_params) = (ty, type_params);
        }
        self.opaque
    }

    pub(super) fn template(&mut self, node: usize) -> ExprId {
        self.scoped(|it| {
            let mut params = Vec::new();
            for child in it.children(node) {
                match it.tree.node(child).kind() {
                    "template_parameter_list" => it.template_parameters(child, &mut params),
                    _ => {
                        it.type_params = params.clone();
                        it.expr(child, Role::Read);
                    }
                }
            }
            it.type_params.clear();
        });
        self.opaque
    }

    fn template_parameters(&mut self, list: usize, out: &mut Vec<BindingId>) {
        for child in self.children(list) {
            let kind = self.tree.node(child).kind();
            let name = match kind {
                _ if kind.contains("type_parameter") => {
                    let name = self.field(child, self.f.name);
                    name.or_else(|| self.children(child).into_iter().find(|c| self.k(*c) == K::TypeName))
                }
                "template_template_parameter_declaration" => {
                    let inner = self.children(child).into_iter().last();
                    inner.and_then(|i| self.children(i).into_iter().find(|c| self.k(*c) == K::TypeName))
                }
                _ => None,
            };
            match name {
                Some(name) => {
                    let default = self.field(child, self.f.default_type).map(|t| self.ty(t));
                    out.push(self.bind(name, BindingKind::TypeParam, default.map(Source::Assigned)));
                }
                // A value, or a type without a name.
                None => {
                    let ty = self.ty_of(child);
                    let it = self.field(child, self.f.declarator).map(|d| self.declarator(d, ty));
                    self.field(child, self.f.default_value).map(|v| self.expr(v, Role::Read));
                    let binding = match it.and_then(|i| i.name) {
                        Some(name) => self.bind(name, BindingKind::Param, Some(Source::Declared(ty))),
                        None => self.unnamed(self.start(child), DefIdx::NONE, BindingKind::TypeParam),
                    };
                    out.push(binding);
                }
            }
        }
    }

    // ---- functions

    pub(super) fn function_definition(&mut self, node: usize) -> ExprId {
        let type_params = std::mem::take(&mut self.type_params);
        let ty = self.ty_of(node);
        let Some(declarator) = self.field(node, self.f.declarator) else {
            self.inside(node);
            return self.opaque;
        };
        if let Some((def, base)) = self.titled(declarator) {
            if let Some(body) = self.field(node, self.f.body) {
                self.test_body(def, base, body);
            }
            return self.opaque;
        }
        let it = self.declarator(declarator, ty);
        let name = it.name.map(|n| self.last_name(n));
        let def = name.and_then(|n| self.def_at(n)).filter(|d| self.is_callable(*d));
        let scope = it.name.map_or(ExprId::NONE, |n| self.scope_of_name(n));
        let this = match scope.some() {
            Some(scope) => Some(Source::Declared(scope)),
            None => self.this_of_class(def.unwrap_or(DefIdx::NONE)),
        };
        let is_inferred = ty == ExprId::NONE;
        let mut params = None;
        let function = self.in_function(def.unwrap_or(self.function.def), this, |v| {
            v.function.returns = is_inferred.then(Vec::new);
            params = it.function.map(|f| v.parameters(f));
            for child in v.children(node) {
                let field = v.tree.field(child);
                if field != v.f.kind && field != v.f.declarator || field == 0 {
                    match v.k(child) {
                        K::Block => v.inside(child),
                        _ => {
                            v.expr(child, Role::Read);
                        }
                    }
                }
            }
        });
        if let (Some(def), Some(params)) = (def, params) {
            let is_said = params.result != ExprId::NONE;
            self.fill_function(def, params, it.ty, &type_params);
            if let (Some(returns), false) = (function.returns, is_said) {
                self.b.defs[def.index()].returns = returns;
            }
        }
        self.opaque
    }

    /// `: x_(a), Base(b)`.
    pub(super) fn initializer(&mut self, node: usize) -> ExprId {
        let mut children = self.children(node).into_iter();
        let Some(name) = children.next() else { return self.opaque };
        match self.k(name) {
            K::Name => {
                let (text, at) = (self.slice(name), self.start(name));
                if self.is_class_or_base(text) {
                    let callee = self.free(text, at, Role::Call);
                    let args = children.next().map_or_else(Vec::new, |list| self.exprs(list));
                    let args = self.b.list(&args);
                    self.node(Shape::Call { callee, args }, at);
                } else {
                    self.free(text, at, Role::Key);
                }
            }
            _ => {
                self.expr(name, Role::Call);
            }
        }
        children.for_each(|c| {
            self.expr(c, Role::Read);
        });
        self.opaque
    }

    /// Whether a name is that of the class of the constructor that is read, or of a base of it.
    fn is_class_or_base(&self, name: &str) -> bool {
        let is_named = |e: &ExprId| match self.b.get(*e).map(|e| e.node) {
            Some(Shape::Name { name: n, .. } | Shape::Attr { name: n, .. }) => self.b.text(n) == name,
            _ => false,
        };
        let is_own =
            self.function.def.some().is_some_and(|d| self.b.text(self.b.defs[d.index()].name) == name);
        let bases = self.class.some().map_or(&[][..], |c| &self.b.defs[c.index()].bases);
        is_own || bases.iter().any(is_named)
    }

    pub(super) fn for_range(&mut self, node: usize) -> ExprId {
        self.scoped(|it| {
            let ty = it.ty_of(node);
            let of = it.field(node, it.f.right).map_or(it.opaque, |r| it.expr(r, Role::Read));
            if let Some(d) = it.field(node, it.f.declarator) {
                let declared = it.declarator(d, ty);
                for (i, name) in declared.names.iter().enumerate() {
                    let index = i.min(1000) as u16;
                    it.bind(*name, BindingKind::Local, Some(Source::ElementUnpacked { of, index }));
                }
                let source = match ty {
                    ExprId::NONE => Source::Element { of, index: 0 },
                    ty => Source::Declared(ty),
                };
                declared.name.map(|n| it.bind(n, BindingKind::Local, Some(source)));
            }
            if let Some(body) = it.field(node, it.f.body) {
                it.expr(body, Role::Read);
            }
        });
        self.opaque
    }

    pub(super) fn catch(&mut self, node: usize) -> ExprId {
        self.parameters(node);
        if let Some(body) = self.field(node, self.f.body) {
            self.inside(body);
        }
        self.opaque
    }

    // ---- tests by macros

    /// The test that the call of a macro in a node defines, and the class that it may derive from.
    pub(super) fn titled(&mut self, node: usize) -> Option<(DefIdx, Option<usize>)> {
        let is_call = |k: K| matches!(k, K::Call | K::FunctionDeclarator);
        let call = if is_call(self.k(node)) { node } else { self.children(node).first().copied()? };
        let list = self.field(call, self.f.arguments).or_else(|| self.field(call, self.f.parameters))?;
        let macro_name = self.children(call).first().copied()?;
        if !is_call(self.k(call)) || self.def_at(macro_name).is_some() {
            return None;
        }
        let within = self.tree.within(list);
        let inside = self.tree.node(list).byte_range();
        let def = within.clone().find_map(|n| {
            let at = self.start(n);
            [at, at + 1]
                .iter()
                .find_map(|a| self.by_name.get(a))
                .copied()
                .filter(|_| inside.contains(&(at as usize)))
        })?;
        let is_function = self.b.defs[def.index()].kind == DefKind::Function;
        let names: Vec<usize> = within.filter(|n| matches!(self.k(*n), K::Name | K::TypeName)).collect();
        let said = self.slice(macro_name);
        let has_fixture = ["_F", "_P", "FIXTURE", "METHOD", "TYPED"].iter().any(|w| said.contains(w));
        // Boost names the test first.
        let nth = usize::from(said.starts_with("BOOST"));
        let base = names.get(nth).copied().filter(|_| has_fixture);
        if self.k(call) == K::FunctionDeclarator && is_function {
            let at = self.start(macro_name);
            self.free(said, at, Role::Call);
            names.iter().for_each(|n| self.tell_names(*n));
        }
        is_function.then_some((def, base))
    }

    /// The code of such a test: a method of a class that derives from one of the names.
    pub(super) fn test_body(&mut self, def: DefIdx, base: Option<usize>, body: usize) {
        let is_test = self.b.defs[def.index()].flags.has(DefFlags::TEST);
        let base = base.filter(|_| is_test).map(|n| {
            let (text, at) = (self.slice(n), self.start(n));
            // The arguments of a call are uses already.
            let is_parameter = self.tree.parent(n).is_some_and(|p| {
                self.k(p) == K::Other && self.tree.node(p).kind() == "parameter_declaration"
            });
            self.free(text, at, if is_parameter { Role::Type } else { Role::None })
        });
        self.b.defs[def.index()].bases = base.into_iter().collect();
        let this = is_test.then_some(Source::Def(def));
        self.in_function(def, this, |it| it.inside(body));
    }
}

/// The parameters of a function, and the result where it stands behind them.
pub(super) struct Params {
    pub(super) all: Vec<BindingId>,
    is_variadic: bool,
    result: ExprId,
}
