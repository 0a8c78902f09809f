//! The effect of the language's own containers and functions on the types put into them.
//!
//! Only operations that carry a type of the tree from one place to another count: element types, results of
//! `dict.get`, `zip`, `functools.partial` and their like, in `stdlib.txt`. Everything else of the standard
//! library gives [`Ty::EXTERNAL`].

use super::Linker;
use super::eval::Site;
use super::std_table::{Given, STD};
use super::types::{File, Std, Ty, Type};
use indexd_model::{ExprId, Node};

impl<'a> Linker<'a> {
    /// An instance of a class outside the tree; containers keep their arguments.
    pub(super) fn named_instance(&mut self, name: &str, args: &[Ty]) -> Ty {
        let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
        if module != "builtins" && !super::names::is_stdlib(module) {
            return Ty::EXTERNAL;
        }
        let given = Given { params: args, receiver: Ty::UNKNOWN, site: None };
        match STD.instances.get(last, args.len()) {
            Some(term) => self.std_term(term, given),
            None => Ty::EXTERNAL,
        }
    }

    /// An attribute of a container: a method waiting for its call.
    pub(super) fn std_attr(&mut self, base: Ty, name: &str) -> Ty {
        match (self.types.get(base), name) {
            (Type::Std(Std::Raises, args), "value") => args.first().copied().unwrap_or(Ty::EXTERNAL),
            (Type::Std(..), _) => {
                let n = self.types.name(name);
                self.types.make(Type::StdMethod(n, base))
            }
            _ => Ty::EXTERNAL,
        }
    }

    /// The result of a container's method.
    pub(super) fn std_call(&mut self, method: &str, receiver: Ty, site: Option<Site>) -> Ty {
        let Type::Std(kind, args) = self.types.get(receiver).clone() else { return Ty::EXTERNAL };
        let given = Given { params: &args, receiver, site };
        let own = STD.methods.get(&format!("{}.{method}", kind.name()), 0);
        if let Some(term) = own.or_else(|| STD.methods.get(method, 0)) {
            return self.std_term(term, given);
        }
        match kind {
            Std::Int | Std::Float if method.starts_with("__") => {
                // `3 * vector`: the other side may know better than the number.
                let other = self.argument(site, 0);
                let is_object = matches!(self.types.get(other), Type::Instance(..) | Type::SelfOf(_));
                if is_object { other } else { receiver }
            }
            Std::Str | Std::Bytes => receiver,
            _ => Ty::EXTERNAL,
        }
    }

    fn arguments(&self, site: Option<Site>) -> impl Iterator<Item = (File, ExprId)> {
        let (file, args) = site.map_or((None, Default::default()), |s| (Some(s.file), s.args));
        file.into_iter().flat_map(move |file| {
            let facts = self.facts(file);
            let plain = facts
                .list(args)
                .iter()
                .filter(move |a| !matches!(facts.expr(**a).node, Node::Keyword { .. } | Node::Spread { .. }));
            plain.map(move |e| (file, *e))
        })
    }

    /// The number of positional arguments.
    pub(super) fn n_arguments(&self, site: Option<Site>) -> usize {
        self.arguments(site).count()
    }

    pub(super) fn argument_expr(&self, site: Option<Site>, index: usize) -> Option<(File, ExprId)> {
        self.arguments(site).nth(index)
    }

    /// The type of the `index`-th positional argument.
    pub(super) fn argument(&mut self, site: Option<Site>, index: usize) -> Ty {
        match self.argument_expr(site, index) {
            Some((f, e)) => self.eval(f, e).ty,
            None => Ty::UNKNOWN,
        }
    }

    pub(super) fn element_of_argument(&mut self, site: Option<Site>, index: usize) -> Ty {
        let of = self.argument(site, index);
        self.element(of)
    }

    /// The result of calling something outside the tree.
    pub(super) fn named_call(&mut self, name: &str, site: Option<Site>) -> Ty {
        let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
        if last == "__new__" {
            let class = self.argument(site, 0);
            return self.instance_of_class(class);
        }
        let (n, given) = (self.n_arguments(site), Given { params: &[], receiver: Ty::UNKNOWN, site });
        if let Some(term) = STD.functions.get(name, n).filter(|_| !module.is_empty()) {
            return self.std_term(term, given);
        }
        if module != "builtins" && !super::names::is_stdlib(module) {
            return Ty::EXTERNAL;
        }
        if let Some(term) = STD.functions.get(last, n) {
            return self.std_term(term, given);
        }
        let instance = self.named_instance(name, &[]);
        if instance == Ty::UNKNOWN { Ty::EXTERNAL } else { instance }
    }

    /// `super()` or `super(C, self)`.
    pub(super) fn super_of(&mut self, site: Option<Site>) -> Ty {
        let Some(site) = site else { return Ty::UNKNOWN };
        let Some((around, function)) = self.class_around(site.file, site.at) else { return Ty::EXTERNAL };
        let class = match self.argument(Some(site), 0) {
            ty if ty != Ty::UNKNOWN => match *self.types.get(ty) {
                Type::Class(c, _) | Type::SelfClass(c) => c,
                _ => around,
            },
            _ => around,
        };
        let facts = self.facts(site.file);
        let is_class = function.is_some_and(|f| facts.def(f).flags.has(indexd_model::DefFlags::CLASS));
        let receiver = self.types.make(if is_class { Type::SelfClass(around) } else { Type::SelfOf(around) });
        self.types.make(Type::Super(class, receiver))
    }

    /// Returns the element type of iterating over a value.
    pub(super) fn element(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Str | Std::Bytes, _) => ty,
            Type::Std(Std::Tuple, args) => self.types.union(&args),
            Type::Std(Std::List | Std::Set | Std::Iter | Std::Tuples | Std::Dict, args) => {
                args.first().copied().unwrap_or(Ty::UNKNOWN)
            }
            Type::Std(..) => Ty::EXTERNAL,
            Type::External | Type::Named(_) => Ty::EXTERNAL,
            Type::Union(parts) => self.each_of(&parts, Self::element),
            Type::Class(c, _) if self.classes[c].is_enum => self.types.instance(c, &[]),
            Type::Instance(..) | Type::SelfOf(_) => self.element_of_object(ty),
            _ => Ty::UNKNOWN,
        }
    }

    fn element_of_object(&mut self, ty: Ty) -> Ty {
        let Some((class, args)) = self.class_in(ty) else { return Ty::UNKNOWN };
        for name in ["__iter__", "__aiter__"] {
            if let Some(m) = self.member(class, name) {
                let method = self.member_value(class, ty, &args, &m).ty;
                let iterator = self.call(method, None).ty;
                if let Type::Instance(c, args) = self.types.get(iterator).clone() {
                    for next in ["__next__", "__anext__", "next"] {
                        if let Some(m) = self.member(c, next) {
                            let method = self.member_value(c, iterator, &args, &m).ty;
                            return self.call(method, None).ty;
                        }
                    }
                    return Ty::UNKNOWN;
                }
                if matches!(self.types.get(iterator), Type::SelfOf(_)) {
                    return self.result_of(class, ty, &args, "__next__");
                }
                return self.element(iterator);
            }
        }
        if let Some(std) = self.std_of(class, &args) {
            return self.element(std);
        }
        self.result_of(class, ty, &args, "__getitem__")
    }

    /// The result of a special method of an object.
    fn result_of(&mut self, class: super::types::ClassId, ty: Ty, args: &[Ty], method: &'static str) -> Ty {
        match self.member(class, method) {
            Some(m) => {
                let method = self.member_value(class, ty, args, &m).ty;
                self.call(method, None).ty
            }
            None if self.classes[class].is_open => Ty::EXTERNAL,
            None => Ty::UNKNOWN,
        }
    }

    /// The element at a constant position.
    pub(super) fn item(&mut self, ty: Ty, index: u16) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Tuple, args) => args.get(usize::from(index)).copied().unwrap_or(Ty::UNKNOWN),
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().map(|p| self.item(*p, index)).collect();
                self.types.union(&parts)
            }
            Type::Instance(..) | Type::SelfOf(_) => {
                let got = self.subscript(ty);
                if matches!(got, Ty::UNKNOWN | Ty::EXTERNAL) { self.element(ty) } else { got }
            }
            _ => self.subscript(ty),
        }
    }

    /// `base[a:b]`.
    pub(super) fn slice(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Tuple, args) => {
                let elem = self.types.union(&args);
                self.types.std(Std::Tuples, &[elem])
            }
            Type::Std(..) => ty,
            Type::Instance(..) | Type::SelfOf(_) => self.subscript(ty),
            Type::External | Type::Named(_) => Ty::EXTERNAL,
            _ => Ty::UNKNOWN,
        }
    }

    /// `base[key]`.
    pub(super) fn subscript(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Dict, args) => args.get(1).copied().unwrap_or(Ty::UNKNOWN),
            Type::Std(Std::List | Std::Iter | Std::Tuples, args) => {
                args.first().copied().unwrap_or(Ty::UNKNOWN)
            }
            Type::Std(Std::Tuple, args) => self.types.union(&args),
            Type::Std(Std::Str | Std::Bytes, _) => ty,
            Type::Std(..) | Type::External | Type::Named(_) => Ty::EXTERNAL,
            Type::Union(parts) => self.each_of(&parts, Self::subscript),
            Type::Class(c, _) if self.classes[c].is_enum => self.types.instance(c, &[]),
            Type::Instance(..) | Type::SelfOf(_) => self.item_of_object(ty),
            _ => Ty::UNKNOWN,
        }
    }

    fn item_of_object(&mut self, ty: Ty) -> Ty {
        let Some((class, args)) = self.class_in(ty) else { return Ty::UNKNOWN };
        let has_items = self.member(class, "__getitem__").is_some();
        match self.std_of(class, &args).filter(|_| !has_items) {
            Some(std) => self.subscript(std),
            None => self.result_of(class, ty, &args, "__getitem__"),
        }
    }

    /// Returns the type of `x` in `with value as x`.
    pub(super) fn entered(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Context, args) => args.first().copied().unwrap_or(Ty::UNKNOWN),
            Type::Instance(c, args) => {
                for name in ["__enter__", "__aenter__"] {
                    if self.member(c, name).is_some() {
                        let got = self.result_of(c, ty, &args, name);
                        return self.awaited(got);
                    }
                }
                if self.classes[c].is_open { Ty::EXTERNAL } else { Ty::UNKNOWN }
            }
            Type::SelfOf(_) => ty,
            Type::External | Type::Named(_) | Type::Std(..) => Ty::EXTERNAL,
            Type::Union(parts) => self.each_of(&parts, Self::entered),
            _ => Ty::UNKNOWN,
        }
    }

    /// Returns the type of `await value`; a value that cannot be awaited is left as it is.
    pub(super) fn awaited(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Awaitable, args) => args.first().copied().unwrap_or(Ty::UNKNOWN),
            Type::Union(parts) => self.each_of(&parts, Self::awaited),
            _ => ty,
        }
    }
}
