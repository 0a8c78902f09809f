//! Classes: bases, C3 resolution order, members.

use super::Linker;
use super::members::Target;
use super::types::{Args, ClassId, File, Std, Ty, Type};
use crate::remembered::remembered;
use indexd_model::names::qualified_name;
use indexd_model::{DefFlags, DefIdx, DefKind, ExprId, Key, Node};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// A class, as far as its members depend on it.
pub(super) struct Class {
    pub(super) file: File,
    pub(super) def: DefIdx,
    /// Scope of its members' keys.
    scope: Box<str>,
    /// Itself and its bases in the tree, in resolution order.
    pub(super) order: Rc<[ClassId]>,
    /// Direct bases of the tree with their type arguments.
    pub(super) bases: Rc<[(ClassId, Args)]>,
    /// A container of the language among the bases.
    pub(super) std: Option<Ty>,
    /// A base outside the tree or not known.
    pub(super) is_open: bool,
    pub(super) is_enum: bool,
    /// Its type variables.
    pub(super) params: Rc<[Ty]>,
}

/// The classes of a run, and their members that were asked for.
#[derive(Default)]
pub(super) struct Classes<'a> {
    all: Vec<Class>,
    ids: FxHashMap<(File, DefIdx), ClassId>,
    members: FxHashMap<(ClassId, &'a str), Option<Rc<Member>>>,
    own_members: FxHashMap<(ClassId, &'a str), Option<Rc<Member>>>,
}

impl std::ops::Index<ClassId> for Classes<'_> {
    type Output = Class;

    fn index(&self, class: ClassId) -> &Class {
        &self.all[class.0 as usize]
    }
}

/// A member found in a class or one of its bases.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) owner: ClassId,
    pub(super) defs: SmallVec<[DefIdx; 2]>,
}

/// Classes in a resolution order; a deeper hierarchy is generated code.
const ORDER_MAX: usize = 64;

impl<'a> Linker<'a> {
    /// The class defined at `def`.
    pub(super) fn class(&mut self, file: File, def: DefIdx) -> ClassId {
        if let Some(&id) = self.classes.ids.get(&(file, def)) {
            return id;
        }
        if let Some(source) = self.source_of_stub(file, def) {
            self.classes.ids.insert((file, def), source);
            return source;
        }
        let facts = self.facts(file);
        let scope = format!("{}#{}", self.module_scope(file), qualified_name(&facts, def)).into();
        self.record(file, def);
        let id = ClassId(self.classes.all.len() as u32);
        // A class among its own bases, by mistake, sees itself without any.
        self.classes.all.push(Class {
            file,
            def,
            scope,
            order: Rc::new([id]),
            bases: Rc::new([]),
            std: None,
            is_open: false,
            is_enum: false,
            params: Rc::new([]),
        });
        self.classes.ids.insert((file, def), id);
        self.read_bases(id, file, def);
        id
    }

    /// Returns the class in the source file that a class of a stub describes: names refer to the source.
    fn source_of_stub(&mut self, file: File, def: DefIdx) -> Option<ClassId> {
        let source = self.loaded.path(file).strip_suffix('i').filter(|p| p.ends_with(".py"))?;
        let doc = self.view.file(source)?;
        let source = self.loaded.open(doc);
        let facts = self.facts(file);
        if facts.def(def).parent != DefIdx::NONE {
            return None;
        }
        let found = self.module_member(source, facts.def_name(def));
        found.targets.iter().find_map(|t| match *t {
            Target::Def(f, d) if f == source && self.facts(f).def(d).kind == DefKind::Class => {
                Some(self.class(f, d))
            }
            _ => None,
        })
    }

    /// Records that a definition of another file was looked at, under the key that its file gives it. The
    /// path to it need not have been a key: a name in the body of a class, or the result of a function, of
    /// which the digest has the name alone.
    pub(super) fn record(&mut self, file: File, def: DefIdx) {
        if file == 0 {
            return;
        }
        let (module, facts) = (self.module_scope(file), self.facts(file));
        let d = facts.def(def);
        let class = d.parent.some().filter(|p| facts.def(*p).kind == DefKind::Class);
        let key = match class {
            Some(class) => {
                let scope = format!("{module}#{}", qualified_name(&facts, class));
                Key::member(&scope, facts.def_name(def))
            }
            None => Key::member(&module, &qualified_name(&facts, def)),
        };
        self.view.find(key);
    }

    fn read_bases(&mut self, id: ClassId, file: File, def: DefIdx) {
        let facts = self.facts(file);
        let d = facts.def(def);
        let mut bases: Vec<(ClassId, Args)> = Vec::new();
        let mut params: Vec<Ty> = d.type_params.iter().map(|b| self.binding_var(file, *b)).collect();
        let (mut is_open, mut is_enum, mut std) = (false, false, None);
        for &base in &d.bases {
            if matches!(facts.expr(base).node, Node::Keyword { .. } | Node::Spread { .. }) {
                continue;
            }
            let ty = self.eval(file, base).ty;
            self.collect_params(file, base, &mut params);
            for part in self.types.parts(ty).iter() {
                match self.types.get(*part).clone() {
                    Type::Class(c, args) => {
                        if !bases.iter().any(|b| b.0 == c) && c != id {
                            bases.push((c, args));
                        }
                    }
                    Type::Named(n) => {
                        let name = self.types.text(n).to_owned();
                        let last = name.rsplit('.').next().unwrap_or("");
                        if !matches!(
                            &*name,
                            "builtins.object"
                                | "abc.ABC"
                                | "typing.Generic"
                                | "typing.Protocol"
                                | "typing_extensions.Protocol"
                        ) {
                            is_open = true;
                        }
                        is_enum |=
                            name.starts_with("enum.") && (last.ends_with("Enum") || last.ends_with("Flag"));
                        let instance = self.annotation(file, base);
                        if matches!(self.types.get(instance), Type::Std(..)) && std.is_none() {
                            std = Some(instance);
                        }
                    }
                    _ => is_open = true,
                }
            }
        }
        for (c, _) in &bases {
            let base = &self.classes[*c];
            is_open |= base.is_open;
            is_enum |= base.is_enum;
            std = std.or(base.std);
        }
        let order = self.linearize(id, &bases);
        let class = &mut self.classes.all[id.0 as usize];
        class.order = order;
        class.bases = bases.into();
        class.is_open = is_open;
        class.is_enum = is_enum;
        class.std = std;
        class.params = params.into();
    }

    /// Adds the type variables that a base mentions, in order. `Generic[...]` alone decides when it
    /// is there, but it mentions all of them, so the order of first mention is a good one.
    fn collect_params(&mut self, file: File, base: ExprId, params: &mut Vec<Ty>) {
        let facts = self.facts(file);
        if let Node::Index { args, .. } = facts.expr(base).node {
            for &a in facts.list(args) {
                let ty = self.annotation(file, a);
                self.types.mentioned(ty, |t| matches!(t, Type::Var(..)), params);
            }
        }
    }

    /// C3 (<https://www.python.org/download/releases/2.3/mro/>); where it has no answer, the order of
    /// a walk depth first.
    fn linearize(&self, id: ClassId, bases: &[(ClassId, Args)]) -> Rc<[ClassId]> {
        let mut lists: Vec<Vec<ClassId>> = bases.iter().map(|b| self.classes[b.0].order.to_vec()).collect();
        lists.push(bases.iter().map(|b| b.0).collect());
        let mut out = vec![id];
        while out.len() < ORDER_MAX {
            lists.retain(|l| !l.is_empty());
            if lists.is_empty() {
                break;
            }
            let good = lists.iter().map(|l| l[0]).find(|c| !lists.iter().any(|l| l[1..].contains(c)));
            let next = good.unwrap_or(lists[0][0]);
            if !out.contains(&next) {
                out.push(next);
            }
            for l in &mut lists {
                l.retain(|c| *c != next);
            }
        }
        out.into()
    }

    /// Returns the member `name` of a class, its own or inherited. A base that declares an attribute, by an
    /// annotation or as a method, wins over a subclass that merely assigns it.
    pub(super) fn member(&mut self, class: ClassId, name: &'a str) -> Option<Rc<Member>> {
        let find = |l: &mut Self| {
            let order = Rc::clone(&l.classes[class].order);
            let nearest = order.iter().find_map(|c| l.own_member(*c, name))?;
            let declared = |l: &mut Self, c| l.own_member(c, name).filter(|m| l.is_declared(m));
            let from = order.iter().position(|c| *c == nearest.owner).unwrap_or(0);
            order[from..].iter().find_map(|c| declared(l, *c)).or(Some(nearest))
        };
        remembered(self, |l| &mut l.classes.members, (class, name), find)
    }

    fn is_declared(&self, member: &Member) -> bool {
        let facts = self.facts(self.classes[member.owner].file);
        member.defs.iter().map(|d| facts.def(*d)).any(|d| d.kind != DefKind::Field || d.ty.some().is_some())
    }

    /// The member `name` behind `after` in the resolution order of `class`.
    pub(super) fn member_after(
        &mut self,
        class: ClassId,
        after: ClassId,
        name: &'a str,
    ) -> Option<Rc<Member>> {
        let order = Rc::clone(&self.classes[class].order);
        let from = order.iter().position(|c| *c == after).map_or(0, |i| i + 1);
        order[from..].iter().find_map(|c| self.own_member(*c, name))
    }

    pub(super) fn own_member(&mut self, class: ClassId, name: &'a str) -> Option<Rc<Member>> {
        remembered(self, |l| &mut l.classes.own_members, (class, name), |l| l.find_own_member(class, name))
    }

    fn find_own_member(&self, class: ClassId, name: &str) -> Option<Rc<Member>> {
        let it = &self.classes[class];
        let (file, def) = (it.file, it.def);
        let key = Key::member(&it.scope, name);
        let facts = self.facts(file);
        let mut defs: SmallVec<[DefIdx; 2]> = SmallVec::new();
        if file == 0 || self.view.find(key).contains(&self.loaded.doc(file)) {
            for d in facts.interface.provided(key).filter_map(DefIdx::some) {
                // Two classes of one name share a scope; the parent tells them apart.
                if facts.def(d).parent == def && facts.def_name(d) == name {
                    defs.push(d);
                }
            }
        }
        (!defs.is_empty()).then(|| Rc::new(Member { owner: class, defs }))
    }

    /// The class that a value is of, or that it is, with its type arguments.
    pub(super) fn class_in(&self, ty: Ty) -> Option<(ClassId, Args)> {
        match self.types.get(ty) {
            Type::Instance(c, args) | Type::Class(c, args) => Some((*c, Rc::clone(args))),
            Type::SelfOf(c) | Type::SelfClass(c) => Some((*c, Rc::clone(&self.classes[*c].params))),
            _ => None,
        }
    }

    /// The class around a definition, for methods.
    pub(super) fn class_of(&mut self, file: File, def: DefIdx) -> Option<ClassId> {
        let facts = self.facts(file);
        let parent = facts.def(def).parent.some()?;
        (facts.def(parent).kind == DefKind::Class).then(|| self.class(file, parent))
    }

    /// The class whose body or method holds `at`, through nested functions.
    pub(super) fn class_around(&mut self, file: File, at: u32) -> Option<(ClassId, Option<DefIdx>)> {
        let mut def = self.around(file).at(at).some();
        let facts = self.facts(file);
        let mut function = None;
        while let Some(d) = def {
            let it = facts.def(d);
            if it.kind == DefKind::Class {
                return Some((self.class(file, d), function));
            }
            if it.kind.is_callable() {
                function = Some(d);
            }
            def = it.parent.some();
        }
        None
    }

    /// Returns the container of the language that a class acts as for `with`, iteration and calls.
    pub(super) fn std_of(&mut self, class: ClassId, args: &[Ty]) -> Option<Ty> {
        let std = self.classes[class].std?;
        let own = self.classes[class].params.clone();
        let map: Vec<(Ty, Ty)> = own.iter().copied().zip(args.iter().copied()).collect();
        Some(self.substitute(std, &map, None))
    }

    /// The type arguments of `owner` as `class[args]` inherits from it.
    pub(super) fn args_of(&mut self, class: ClassId, args: &[Ty], owner: ClassId) -> Vec<(Ty, Ty)> {
        self.args_within(class, args, owner, 0)
    }

    fn args_within(&mut self, class: ClassId, args: &[Ty], owner: ClassId, depth: u32) -> Vec<(Ty, Ty)> {
        let params = Rc::clone(&self.classes[class].params);
        let map: Vec<(Ty, Ty)> = params.iter().copied().zip(args.iter().copied()).collect();
        if class == owner || depth > 8 {
            return map;
        }
        let bases = Rc::clone(&self.classes[class].bases);
        for (base, base_args) in bases.iter() {
            if self.classes[*base].order.contains(&owner) {
                let given: Vec<Ty> = base_args.iter().map(|a| self.substitute(*a, &map, None)).collect();
                return self.args_within(*base, &given, owner, depth + 1);
            }
        }
        Vec::new()
    }

    /// Returns true if a definition is a field that only instances have.
    pub(super) fn is_instance_field(&self, file: File, def: DefIdx) -> bool {
        let d = self.facts(file).def(def);
        d.kind == DefKind::Field && d.flags.has(DefFlags::INSTANCE)
    }

    /// Shorthand for the container kind of a type.
    pub(super) fn std_kind(&self, ty: Ty) -> Option<Std> {
        match self.types.get(ty) {
            Type::Std(kind, _) => Some(*kind),
            _ => None,
        }
    }
}
