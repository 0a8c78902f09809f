//! Variables, functions and types: what their definitions and bindings are told.

use super::Visitor;
use super::forms::Form;
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, ExprId, Node as Shape, Role, Source};

/// Lists inside each other that bases are looked for in.
const LISTS_MAX: u32 = 4;

impl<'s> Visitor<'_, 's> {
    // ---- variables

    /// The type in a part of a node; `None` where it is to be told from the value.
    fn declared(&mut self, node: usize, n: usize) -> Option<ExprId> {
        let ty = self.part(node, n)?;
        if self.forms.table.inferred.contains(&self.slice(ty)) {
            self.tell(ty);
            return None;
        }
        Some(self.ty(ty))
    }

    /// A type, and an array of it where something says so behind the name.
    fn as_array(&mut self, ty: Option<ExprId>, marks: Option<usize>) -> Option<ExprId> {
        let (elem, mark) = (ty?, marks);
        match mark {
            Some(mark) => {
                let at = self.start(mark);
                Some(self.node(Shape::ArrayType { elem }, at))
            }
            None => Some(elem),
        }
    }

    pub(super) fn variables(&mut self, node: usize) -> ExprId {
        let ty = self.declared(node, 0);
        let (kind, declarators) = (self.part(node, 0), self.parts(node, 1));
        let ((), decorators) = self.decorated(|it| {
            for child in it.children(node).filter(|c| Some(*c) != kind && !declarators.contains(c)) {
                it.expr(child, Role::Read);
            }
        });
        for declarator in declarators {
            self.declarator(declarator, ty);
            if let Some(def) = self.part(declarator, 0).and_then(|name| self.def_at(name)) {
                self.b.defs[def.index()].decorators.clone_from(&decorators);
            }
        }
        // A type without decorators of its own says that its fields have some.
        if !decorators.is_empty()
            && let Some(class) = self.class.some()
            && self.b.defs[class.index()].decorators.is_empty()
        {
            let mark = self.opaque;
            self.b.defs[class.index()].decorators.push(mark);
        }
        self.opaque
    }

    fn declarator(&mut self, node: usize, ty: Option<ExprId>) {
        let Some(name) = self.part(node, 0) else { return self.inside(node) };
        let marks = self.part(node, 2);
        let ty = self.as_array(ty, marks);
        let value = self.part(node, 1);
        let value_of = |it: &mut Self| {
            value.map(|v| match ty {
                Some(ty) => it.expecting(v, ty),
                None => it.expr(v, Role::Read),
            })
        };
        match self.def_at(name) {
            Some(def) => {
                self.tell(name);
                let value = value_of(self);
                let it = &mut self.b.defs[def.index()];
                (it.ty, it.value) = (ty.unwrap_or(ExprId::NONE), value.unwrap_or(ExprId::NONE));
            }
            None => {
                let value = value_of(self);
                let binding = self.bind(name, BindingKind::Local);
                self.typed(binding, ty, value);
            }
        }
    }

    /// Says what a variable is: of a type, else what its value is.
    pub(in crate::grammars) fn typed(
        &mut self,
        binding: BindingId,
        ty: Option<ExprId>,
        value: Option<ExprId>,
    ) {
        match (ty, value) {
            (Some(ty), _) => self.b.source(binding, Source::Declared(ty)),
            (None, Some(value)) => self.b.source(binding, Source::Assigned(value)),
            (None, None) => {}
        }
    }

    /// A parameter, or a variable that is declared alone; it may be a field as well.
    pub(in crate::grammars) fn param(&mut self, node: usize, kind: BindingKind) -> Option<BindingId> {
        let mut ty = self.declared(node, 0);
        let (parts, name) = ([0, 1, 2, 3].map(|n| self.part(node, n)), self.part(node, 1));
        for child in self.children(node).filter(|c| !parts.contains(&Some(*c))) {
            self.expr(child, Role::Read);
        }
        let value = self.part(node, 2).map(|v| self.expr(v, Role::Read));
        let name =
            name.map(|n| if let Form::Declarator = self.form(n) { self.part(n, 0).unwrap_or(n) } else { n })?;
        let is_rest = kind == BindingKind::VarArgs || matches!(self.form(node), Form::VarArgs);
        let marks = self.part(node, 3).or(Some(node).filter(|_| is_rest));
        ty = self.as_array(ty, marks);
        let def = self.def_at(name);
        let binding = self.bind(name, if is_rest { BindingKind::VarArgs } else { kind });
        self.typed(binding, ty, value);
        if let Some(def) = def {
            self.b.defs[def.index()].ty = ty.unwrap_or(ExprId::NONE);
        }
        Some(binding)
    }

    /// The parameters in a list of them, or the one that is a name alone.
    pub(in crate::grammars) fn params(&mut self, list: usize) -> Vec<BindingId> {
        if let Form::Name = self.form(list) {
            return vec![self.bind(list, BindingKind::Param)];
        }
        let mut out = Vec::new();
        for child in self.children(list) {
            match self.form(child) {
                Form::Param | Form::VarArgs => out.extend(self.param(child, BindingKind::Param)),
                Form::Name => out.push(self.bind(child, BindingKind::Param)),
                _ => _ = self.expr(child, Role::Read),
            }
        }
        out
    }

    pub(super) fn for_each(&mut self, node: usize) -> ExprId {
        self.scoped(|it| {
            let ty = it.declared(node, 0);
            let of = it.expr_part(node, 2, Role::Read);
            if let Some(name) = it.part(node, 1) {
                let binding = it.bind(name, BindingKind::Local);
                let source = ty.map_or(Source::Element { of, index: 0 }, Source::Declared);
                it.b.source(binding, source);
            }
            it.expr_part(node, 3, Role::Read)
        });
        self.opaque
    }

    // ---- functions

    pub(in crate::grammars) fn function(&mut self, node: usize) -> ExprId {
        self.scoped(|it| {
            let name = it.part(node, 0);
            let def = name.and_then(|n| it.def_at(n));
            let type_params = it.part(node, 1).map_or(Vec::new(), |p| it.type_params(p));
            let parts = [0, 1, 2, 3, 4].map(|n| it.part(node, n));
            name.into_iter().for_each(|n| it.tell(n));
            for child in it.children(node).filter(|c| !parts.contains(&Some(*c))) {
                it.expr(child, Role::Read);
            }
            let result = it.part(node, 3).map(|r| it.ty(r));
            let params = parts[2].map_or(Vec::new(), |p| it.params(p));
            if let Some(def) = def {
                let is_abstract = parts[4].is_none() && it.forms.table.is_abstract_without_body;
                let is_rest = params.last().is_some_and(|p| it.b.binding_head(*p).3 == BindingKind::VarArgs);
                let d = &mut it.b.defs[def.index()];
                (d.params, d.type_params) = (params, type_params);
                d.results = result.into_iter().collect();
                for (is, flag) in [(is_abstract, DefFlags::ABSTRACT), (is_rest, DefFlags::VARIADIC)] {
                    if is {
                        d.flags.set(flag);
                    }
                }
            }
            let Some(body) = parts[4] else { return };
            let outer = (it.function, it.result, it.receivers, std::mem::take(&mut it.returns));
            (it.function, it.result) = (def.unwrap_or(it.function), result);
            it.receivers = [BindingId::NONE; 2];
            it.expr(body, Role::Read);
            (it.function, it.result, it.receivers, it.returns) = outer;
        });
        self.opaque
    }

    /// Type parameters; the bounds of one may name another.
    fn type_params(&mut self, list: usize) -> Vec<BindingId> {
        let nodes: Vec<usize> = self.children(list).filter(|p| self.part(*p, 0).is_some()).collect();
        let names: Vec<usize> = nodes.iter().filter_map(|p| self.part(*p, 0)).collect();
        let bound: Vec<BindingId> = names.iter().map(|n| self.bind(*n, BindingKind::TypeParam)).collect();
        nodes.iter().zip(&bound).for_each(|(node, binding)| self.bounds(*node, *binding));
        bound
    }

    pub(super) fn type_param(&mut self, node: usize) {
        if let Some(name) = self.part(node, 0) {
            let binding = self.bind(name, BindingKind::TypeParam);
            self.bounds(node, binding);
        }
    }

    fn bounds(&mut self, node: usize, binding: BindingId) {
        for bounds in self.parts(node, 1) {
            for bound in self.children(bounds) {
                let ty = self.ty(bound);
                self.b.source(binding, Source::Declared(ty));
            }
        }
    }

    // ---- types

    pub(super) fn type_def(&mut self, node: usize) -> ExprId {
        let parts = [0, 1, 2, 3].map(|n| self.part(node, n));
        let def = parts[0].and_then(|n| self.def_at(n));
        if let (Some(name), Some(def)) = (parts[0], def)
            && self.b.defs[def.index()].flags.has(DefFlags::LOCAL)
        {
            let (text, at) = (self.slice(name), self.start(name));
            self.bind_def(text, at, def);
        }
        self.scoped(|it| {
            let type_params = parts[1].map_or(Vec::new(), |p| it.type_params(p));
            parts[0].into_iter().for_each(|n| it.tell(n));
            let (bases, decorators) = it.decorated(|it| {
                let mut bases = Vec::new();
                for child in it.children(node).filter(|c| !parts.contains(&Some(*c))) {
                    match it.form(child) {
                        Form::Bases => it.bases(child, &mut bases, 0),
                        _ => _ = it.expr(child, Role::Read),
                    }
                }
                bases
            });
            let params = parts[2].map_or(Vec::new(), |p| it.scoped(|it| it.params(p)));
            if let Some(def) = def {
                let d = &mut it.b.defs[def.index()];
                (d.bases, d.type_params, d.params, d.decorators) = (bases, type_params, params, decorators);
            }
            if let Some(body) = parts[3] {
                it.body_of(body, def);
            }
        });
        self.opaque
    }

    fn bases(&mut self, node: usize, out: &mut Vec<ExprId>, depth: u32) {
        for child in self.children(node) {
            match self.form(child) {
                Form::Other if depth < LISTS_MAX => self.bases(child, out, depth + 1),
                _ => out.push(self.expr(child, Role::Base)),
            }
        }
    }

    /// The body of a type. A local name from outside stays local inside, unless it is a field of the type.
    pub(in crate::grammars) fn body_of(&mut self, body: usize, class: Option<DefIdx>) {
        let outer = (self.class, self.function, self.result, self.receivers);
        let returns = std::mem::take(&mut self.returns);
        (self.class, self.result) = (class.unwrap_or(DefIdx::NONE), None);
        self.receivers = [BindingId::NONE; 2];
        self.scoped(|it| {
            let is_local = class.is_some_and(|c| it.b.defs[c.index()].flags.has(DefFlags::LOCAL));
            if is_local {
                it.hide_fields(body, class.unwrap_or(DefIdx::NONE));
            }
            it.inside(body);
        });
        self.returns = returns;
        (self.class, self.function, self.result, self.receivers) = outer;
    }

    fn hide_fields(&mut self, body: usize, class: DefIdx) {
        let within = self.tree.node(body).byte_range();
        let is_field =
            |d: &indexd_model::Def| d.parent == class && !d.kind.is_callable() && !d.kind.is_type();
        let after = self.b.defs.iter().skip(class.index());
        let inside = after.take_while(|d| (d.span.start as usize) < within.end);
        let spans: Vec<_> = inside.filter(|d| is_field(d)).map(|d| d.name_span).collect();
        for span in spans {
            if let Some(name) = self.text.get(span.range()) {
                self.bind_as(name, BindingId::NONE);
            }
        }
    }

    pub(super) fn enum_member(&mut self, node: usize) -> ExprId {
        let parts = [0, 1, 2].map(|n| self.part(node, n));
        parts[0].into_iter().for_each(|n| self.tell(n));
        for child in self.children(node).filter(|c| !parts.contains(&Some(*c))) {
            self.expr(child, Role::Read);
        }
        let def = parts[0].and_then(|n| self.def_at(n));
        self.exprs(parts[1]);
        if let Some(body) = parts[2] {
            if let (Some(def), Some(class)) = (def, self.class.some()) {
                let at = self.start(body);
                let base = self.node(Shape::Def { def: class }, at);
                self.b.defs[def.index()].bases = vec![base];
            }
            self.body_of(body, def);
        }
        self.opaque
    }
}
