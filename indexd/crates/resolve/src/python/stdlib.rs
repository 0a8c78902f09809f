//! What the language's own containers and functions do with the types put into them.
//!
//! Only what carries a type of the tree from one place to another is here: element types, results
//! of `dict.get`, `zip`, `functools.partial` and their like. Everything else of the standard library
//! gives [`Ty::EXTERNAL`].

use super::Linker;
use super::eval::Site;
use super::types::{File, Std, Ty, Type};
use indexd_model::{ExprId, Node};

impl<'a> Linker<'a> {
    /// An instance of a class outside the tree; containers keep their arguments.
    pub(super) fn named_instance(&mut self, name: &str, args: &[Ty]) -> Ty {
        let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
        if module != "builtins" && !super::names::is_stdlib(module) {
            return Ty::EXTERNAL;
        }
        let arg = |i: usize| args.get(i).copied().unwrap_or(Ty::UNKNOWN);
        let (kind, n) = match last {
            "str" | "unicode" | "basestring" | "Text" | "AnyStr" | "LiteralString" => (Std::Str, 0),
            "bytes" | "bytearray" => (Std::Bytes, 0),
            "int" | "long" => (Std::Int, 0),
            "float" => (Std::Float, 0),
            "bool" | "TypeGuard" | "TypeIs" => (Std::Bool, 0),
            "list" | "List" | "deque" | "Deque" | "MutableSequence" => (Std::List, 1),
            "set" | "Set" | "frozenset" | "FrozenSet" | "MutableSet" | "AbstractSet" | "KeysView"
            | "WeakSet" => (Std::Set, 1),
            "Iterable" | "Iterator" | "Generator" | "Sequence" | "Collection" | "Container"
            | "Reversible" | "AsyncIterable" | "AsyncIterator" | "AsyncGenerator" | "ValuesView" => {
                (Std::Iter, 1)
            }
            "dict"
            | "Dict"
            | "Mapping"
            | "MutableMapping"
            | "OrderedDict"
            | "defaultdict"
            | "DefaultDict"
            | "WeakValueDictionary"
            | "WeakKeyDictionary"
            | "ChainMap" => (Std::Dict, 2),
            "tuple" | "Tuple" if args.is_empty() => (Std::Tuples, 1),
            "tuple" | "Tuple" => (Std::Tuple, args.len()),
            "Awaitable" | "Task" | "Future" => (Std::Awaitable, 1),
            "Coroutine" => {
                let result = if args.len() == 3 { arg(2) } else { Ty::UNKNOWN };
                return self.types.std(Std::Awaitable, &[result]);
            }
            "ItemsView" => {
                let pair = self.types.std(Std::Tuple, &[arg(0), arg(1)]);
                return self.types.std(Std::Iter, &[pair]);
            }
            "ContextManager"
            | "AbstractContextManager"
            | "AsyncContextManager"
            | "AbstractAsyncContextManager" => (Std::Context, 1),
            "Callable" => (Std::Callable, 1),
            "ContextVar" | "Queue" | "LifoQueue" | "PriorityQueue" | "SimpleQueue" => (Std::Cell, 1),
            "Optional" => return self.types.union(&[arg(0), Ty::NONE]),
            "Union" => return self.types.union(args),
            "Annotated" | "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "InitVar"
            | "Unpack" => return arg(0),
            "Type" | "type" => {
                let of = arg(0);
                return if of == Ty::UNKNOWN { Ty::EXTERNAL } else { self.class_of_instance(of) };
            }
            "None" | "NoneType" => return Ty::NONE,
            "Any" | "object" => return Ty::UNKNOWN,
            _ => return Ty::EXTERNAL,
        };
        let args: Vec<Ty> = (0..n).map(arg).collect();
        self.types.std(kind, &args)
    }

    /// An attribute of a container: a method waiting for its call.
    pub(super) fn std_attr(&mut self, base: Ty, name: &str) -> Ty {
        if self.is_plain(base) {
            let n = self.types.name(name);
            return self.types.make(Type::StdMethod(n, base));
        }
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
        let arg = |i: usize| args.get(i).copied().unwrap_or(Ty::UNKNOWN);
        match (kind, method) {
            (Std::Dict, "get" | "pop" | "setdefault" | "__getitem__") => {
                let default = self.argument(site, 1);
                self.types.union(&[arg(1), default])
            }
            (Std::Dict, "values" | "itervalues") => self.types.std(Std::Iter, &[arg(1)]),
            (Std::Dict, "keys" | "iterkeys" | "__iter__") => self.types.std(Std::Iter, &[arg(0)]),
            (Std::Dict, "items" | "iteritems") => {
                let pair = self.types.std(Std::Tuple, &[arg(0), arg(1)]);
                self.types.std(Std::Iter, &[pair])
            }
            (Std::Dict, "popitem") => self.types.std(Std::Tuple, &[arg(0), arg(1)]),
            (
                Std::List | Std::Set | Std::Dict,
                "copy" | "union" | "intersection" | "difference" | "__or__" | "__and__" | "__sub__",
            ) => receiver,
            (Std::List, "pop" | "popleft" | "__getitem__") | (Std::Set, "pop") => arg(0),
            (Std::Tuple | Std::Tuples | Std::List, "__add__") => {
                let (mine, other) = (self.element(receiver), self.argument(site, 0));
                let other = self.element(other);
                let elem = self.types.union(&[mine, other]);
                let kind = if kind == Std::List { Std::List } else { Std::Tuples };
                self.types.std(kind, &[elem])
            }
            (Std::List | Std::Tuple | Std::Tuples, "__mul__") => receiver,
            (_, "__iter__" | "__aiter__" | "__reversed__") => {
                let elem = self.element(receiver);
                self.types.std(Std::Iter, &[elem])
            }
            (Std::Iter, "__next__" | "__anext__" | "send") => arg(0),
            (Std::Iter, "__getitem__") => arg(0),
            (Std::Awaitable, "result" | "__await__") => arg(0),
            (Std::Context, "__enter__" | "__aenter__") | (Std::Cell, "get" | "get_nowait") => arg(0),
            (Std::Str, "encode") => self.types.std(Std::Bytes, &[]),
            (Std::Bytes, "decode") => self.types.std(Std::Str, &[]),
            (Std::Str | Std::Bytes, "split" | "rsplit" | "splitlines") => {
                self.types.std(Std::List, &[receiver])
            }
            (Std::Str | Std::Bytes, "partition" | "rpartition") => {
                self.types.std(Std::Tuple, &[receiver, receiver, receiver])
            }
            (Std::Str, "startswith" | "endswith" | "isdigit") => self.types.std(Std::Bool, &[]),
            (Std::Str | Std::Bytes, "find" | "index" | "count" | "rfind") => self.types.std(Std::Int, &[]),
            (Std::Str | Std::Bytes | Std::Int | Std::Float, _) => {
                if method.starts_with("__") || matches!(kind, Std::Str | Std::Bytes) {
                    // `3 * vector`: the other side may know better than the number.
                    let other = self.argument(site, 0);
                    if method.starts_with("__")
                        && matches!(kind, Std::Int | Std::Float)
                        && matches!(self.types.get(other), Type::Instance(..) | Type::SelfOf(_))
                    {
                        return other;
                    }
                    return receiver;
                }
                Ty::EXTERNAL
            }
            _ => Ty::EXTERNAL,
        }
    }

    fn argument_expr(&self, site: Option<Site>, index: usize) -> Option<(File, ExprId)> {
        let site = site?;
        let facts = self.facts(site.file);
        let args = facts.list(site.args);
        let plain = args
            .iter()
            .filter(|a| !matches!(facts.expr(**a).node, Node::Keyword { .. } | Node::Spread { .. }));
        plain.copied().nth(index).map(|e| (site.file, e))
    }

    /// The type of the `index`-th positional argument.
    fn argument(&mut self, site: Option<Site>, index: usize) -> Ty {
        match self.argument_expr(site, index) {
            Some((f, e)) => self.eval(f, e).ty,
            None => Ty::UNKNOWN,
        }
    }

    fn element_of_argument(&mut self, site: Option<Site>, index: usize) -> Ty {
        let of = self.argument(site, index);
        self.element(of)
    }

    /// The result of calling something outside the tree.
    pub(super) fn named_call(&mut self, name: &str, site: Option<Site>) -> Ty {
        let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
        if module == "pytest" && matches!(last, "raises" | "warns") {
            let class = self.argument(site, 0);
            let exception = self.instance_of_class(class);
            let raises = self.types.std(Std::Raises, &[exception]);
            return self.types.std(Std::Context, &[raises]);
        }
        if last == "__new__" {
            let class = self.argument(site, 0);
            return self.instance_of_class(class);
        }
        if module != "builtins" && !super::names::is_stdlib(module) {
            return Ty::EXTERNAL;
        }
        let of = |linker: &mut Self, kind: Std, index: usize| {
            let elem = linker.element_of_argument(site, index);
            linker.types.std(kind, &[elem])
        };
        match last {
            "list" | "sorted" | "deque" => of(self, Std::List, 0),
            "set" | "frozenset" => of(self, Std::Set, 0),
            "tuple" => of(self, Std::Tuples, 0),
            "iter" | "reversed" | "islice" | "cycle" | "aiter" => of(self, Std::Iter, 0),
            "filter" | "takewhile" | "dropwhile" | "filterfalse" => of(self, Std::Iter, 1),
            "next" | "anext" => {
                let elem = self.element_of_argument(site, 0);
                let default = self.argument(site, 1);
                self.types.union(&[elem, default])
            }
            "enumerate" => {
                let elem = self.element_of_argument(site, 0);
                let n = self.types.std(Std::Int, &[]);
                let pair = self.types.std(Std::Tuple, &[n, elem]);
                self.types.std(Std::Iter, &[pair])
            }
            "zip" | "zip_longest" | "product" => {
                let mut parts = Vec::new();
                while self.argument_expr(site, parts.len()).is_some() {
                    parts.push(self.element_of_argument(site, parts.len()));
                }
                let tuple = self.types.std(Std::Tuple, &parts);
                self.types.std(Std::Iter, &[tuple])
            }
            "chain" => {
                let mut parts = Vec::new();
                while self.argument_expr(site, parts.len()).is_some() {
                    parts.push(self.element_of_argument(site, parts.len()));
                }
                let elem = self.types.union(&parts);
                self.types.std(Std::Iter, &[elem])
            }
            "from_iterable" => {
                let outer = self.element_of_argument(site, 0);
                let elem = self.element(outer);
                self.types.std(Std::Iter, &[elem])
            }
            "map" | "imap" => {
                let f = self.argument(site, 0);
                let result = self.call(f, None).ty;
                self.types.std(Std::Iter, &[result])
            }
            "min" | "max" if self.argument_expr(site, 1).is_none() => self.element_of_argument(site, 0),
            "min" | "max" => {
                let (a, b) = (self.argument(site, 0), self.argument(site, 1));
                self.types.union(&[a, b])
            }
            "dict" | "OrderedDict" => {
                let from = self.argument(site, 0);
                if self.std_kind(from) == Some(Std::Dict) {
                    return from;
                }
                let pair = self.element(from);
                let (k, v) = (self.item(pair, 0), self.item(pair, 1));
                self.types.std(Std::Dict, &[k, v])
            }
            "defaultdict" => {
                let made = self.argument(site, 0);
                let value = self.call(made, None).ty;
                self.types.std(Std::Dict, &[Ty::UNKNOWN, value])
            }
            "super" => self.super_of(site),
            "type" if self.argument_expr(site, 1).is_none() => {
                let of = self.argument(site, 0);
                self.class_of_instance(of)
            }
            "len" | "hash" | "id" | "ord" => self.types.std(Std::Int, &[]),
            "isinstance" | "issubclass" | "callable" | "hasattr" | "any" | "all" => {
                self.types.std(Std::Bool, &[])
            }
            "repr" | "chr" | "hex" | "ascii" => self.types.std(Std::Str, &[]),
            "property" | "cached_property" | "abstractproperty" => {
                let getter = self.argument(site, 0);
                let n = self.types.name("property");
                self.types.make(Type::StdMethod(n, getter))
            }
            "staticmethod"
            | "classmethod"
            | "copy"
            | "deepcopy"
            | "replace"
            | "closing"
            | "nullcontext"
            | "proxy"
            | "lru_cache"
            | "cache"
            | "wait_for"
            | "shield"
            | "enter_context"
            | "enter_async_context"
            | "final"
            | "run_coroutine_threadsafe"
                if module != "os" && module != "builtins.str" =>
            {
                let value = self.argument(site, 0);
                match last {
                    "closing" | "nullcontext" => self.types.std(Std::Context, &[value]),
                    "enter_context" | "enter_async_context" => self.entered(value),
                    _ if value == Ty::UNKNOWN => Ty::EXTERNAL,
                    _ => value,
                }
            }
            "partial" | "partialmethod" => {
                let f = self.argument(site, 0);
                if f == Ty::UNKNOWN { Ty::EXTERNAL } else { self.types.make(Type::Partial(f)) }
            }
            "ref" | "WeakMethod" => {
                let value = self.argument(site, 0);
                self.types.std(Std::Callable, &[value])
            }
            "cast" => match self.argument_expr(site, 0) {
                Some((f, e)) => self.annotation(f, e),
                None => Ty::UNKNOWN,
            },
            "create_task" | "ensure_future" | "gather" => self.argument(site, 0),
            "run" if module == "asyncio" => {
                let value = self.argument(site, 0);
                self.awaited(value)
            }
            "reduce" | "getattr" | "vars" | "eval" | "__import__" | "import_module" => Ty::UNKNOWN,
            _ => {
                let instance = self.named_instance(name, &[]);
                if instance == Ty::UNKNOWN { Ty::EXTERNAL } else { instance }
            }
        }
    }

    /// `super()` or `super(C, self)`.
    fn super_of(&mut self, site: Option<Site>) -> Ty {
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

    /// What iterating over a value gives.
    pub(super) fn element(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Str | Std::Bytes, _) => ty,
            Type::Std(Std::Tuple, args) => self.types.union(&args),
            Type::Std(Std::List | Std::Set | Std::Iter | Std::Tuples | Std::Dict, args) => {
                args.first().copied().unwrap_or(Ty::UNKNOWN)
            }
            Type::Std(..) => Ty::EXTERNAL,
            Type::External | Type::Named(_) => Ty::EXTERNAL,
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().filter(|p| **p != Ty::NONE).copied().collect();
                let parts: Vec<Ty> = parts.into_iter().map(|p| self.element(p)).collect();
                self.types.union(&parts)
            }
            Type::Class(c, _) if self.classes[c.0 as usize].is_enum => self.types.instance(c, &[]),
            Type::Instance(..) | Type::SelfOf(_) => self.element_of_object(ty),
            _ => Ty::UNKNOWN,
        }
    }

    fn element_of_object(&mut self, ty: Ty) -> Ty {
        let (class, args) = match self.types.get(ty).clone() {
            Type::Instance(c, args) => (c, args),
            Type::SelfOf(c) => (c, self.classes[c.0 as usize].params.iter().copied().collect()),
            _ => return Ty::UNKNOWN,
        };
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
            None if self.classes[class.0 as usize].is_open => Ty::EXTERNAL,
            None => Ty::UNKNOWN,
        }
    }

    /// The element at a constant position.
    pub(super) fn item(&mut self, ty: Ty, index: u16) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Tuple, args) => args.get(usize::from(index)).copied().unwrap_or(Ty::UNKNOWN),
            Type::Union(parts) => {
                let parts: Vec<Ty> =
                    parts.iter().filter(|p| **p != Ty::NONE).map(|p| self.item(*p, index)).collect();
                self.types.union(&parts)
            }
            Type::Instance(..) | Type::SelfOf(_) => {
                let got = self.subscript(ty, None);
                if matches!(got, Ty::UNKNOWN | Ty::EXTERNAL) { self.element(ty) } else { got }
            }
            _ => self.subscript(ty, None),
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
            Type::Instance(..) | Type::SelfOf(_) => self.subscript(ty, None),
            Type::External | Type::Named(_) => Ty::EXTERNAL,
            _ => Ty::UNKNOWN,
        }
    }

    /// `base[key]`.
    pub(super) fn subscript(&mut self, ty: Ty, _key: Option<(File, ExprId)>) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Dict, args) => args.get(1).copied().unwrap_or(Ty::UNKNOWN),
            Type::Std(Std::List | Std::Iter | Std::Tuples, args) => {
                args.first().copied().unwrap_or(Ty::UNKNOWN)
            }
            Type::Std(Std::Tuple, args) => self.types.union(&args),
            Type::Std(Std::Str | Std::Bytes, _) => ty,
            Type::Std(..) | Type::External | Type::Named(_) => Ty::EXTERNAL,
            Type::Union(parts) => {
                let parts: Vec<Ty> =
                    parts.iter().filter(|p| **p != Ty::NONE).map(|p| self.subscript(*p, None)).collect();
                self.types.union(&parts)
            }
            Type::Class(c, _) if self.classes[c.0 as usize].is_enum => self.types.instance(c, &[]),
            Type::Instance(c, args) => self.item_of_object(c, ty, &args),
            Type::SelfOf(c) => {
                let params: Vec<Ty> = self.classes[c.0 as usize].params.to_vec();
                self.item_of_object(c, ty, &params)
            }
            _ => Ty::UNKNOWN,
        }
    }

    fn item_of_object(&mut self, class: super::types::ClassId, ty: Ty, args: &[Ty]) -> Ty {
        if self.member(class, "__getitem__").is_some() {
            return self.result_of(class, ty, args, "__getitem__");
        }
        match self.std_of(class, args) {
            Some(std) => self.subscript(std, None),
            None => self.result_of(class, ty, args, "__getitem__"),
        }
    }

    /// What `with value as x` gives `x`.
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
                if self.classes[c.0 as usize].is_open { Ty::EXTERNAL } else { Ty::UNKNOWN }
            }
            Type::SelfOf(_) => ty,
            Type::External | Type::Named(_) | Type::Std(..) => Ty::EXTERNAL,
            Type::Union(parts) => {
                let parts: Vec<Ty> =
                    parts.iter().filter(|p| **p != Ty::NONE).map(|p| self.entered(*p)).collect();
                self.types.union(&parts)
            }
            _ => Ty::UNKNOWN,
        }
    }

    /// What `await value` gives; a value that cannot be awaited is left as it is.
    pub(super) fn awaited(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(Std::Awaitable, args) => args.first().copied().unwrap_or(Ty::UNKNOWN),
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().map(|p| self.awaited(*p)).collect();
                self.types.union(&parts)
            }
            _ => ty,
        }
    }
}
