//! The linker for languages that are followed within files and through imports: Kotlin, Scala, PHP,
//! Ruby, Lua and shell scripts.
//!
//! A name that no scope binds is looked for in the definitions around it, in its file, and in what
//! the file imports; [`packages`] and [`files`] say what an import names. A member is resolved
//! where what stands before it is a module, a type, or the word for the value whose method runs, and
//! the type has it in the same file. Behind a type with bases a name may be inherited: it is left
//! open, as are members of other values.

mod files;
mod packages;

use crate::Use;
use crate::around::Around;
use crate::loaded::{Blocks, Loaded};
use crate::recorder::Recorder;
use indexd_model::facts::{Import, ImportKind};
use indexd_model::names::qualified_name;
use indexd_model::{
    Def, DefFlags, DefIdx, DefKind, DefRef, ExprId, Facts, FactsView, FileDoc, Key, Language, Links, Node,
    Role, Rule, StrId, UnresolvedReason,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};

/// Definitions that one name may stand for; of more, none is meant.
const EQUALS_MAX: usize = 4;

/// Links one file.
pub(crate) fn link(file: FileDoc, facts: Facts, recorder: &Recorder) -> Links {
    let blocks = Blocks::default();
    let loaded = Loaded::new(recorder, &blocks, file, facts);
    let path = loaded.path(0);
    let (by_name, included, known) = (RefCell::default(), OnceCell::new(), RefCell::default());
    let around = Around::new(facts, crate::is_code_or_type);
    let linker = Linker { file, path, facts, loaded: &loaded, recorder, around, by_name, included, known };
    let mut out = Links::default();
    linker.imports(&mut out);
    linker.uses(&mut out);
    crate::assign_sources(&Around::last_of_equals(facts, crate::is_code_or_type), &mut out);
    out
}

struct Linker<'a> {
    file: FileDoc,
    path: &'a str,
    facts: Facts<'a>,
    loaded: &'a Loaded<'a>,
    recorder: &'a Recorder<'a>,
    /// Functions and types by place.
    around: Around,
    /// Definitions of files by name.
    by_name: RefCell<FxHashMap<FileDoc, FxHashMap<&'a str, Vec<DefIdx>>>>,
    /// The files whose names this one includes.
    included: OnceCell<FxHashSet<FileDoc>>,
    /// Names that were looked up, by the definition around.
    known: RefCell<FxHashMap<(StrId, Role, DefIdx), Found>>,
}

/// What a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// Definitions of one name: overloads, or the two halves of a type.
    Defs(Vec<DefRef>),
    /// A file, or a module inside one.
    Module(DefRef),
    /// A package that several files make up.
    Package(String),
    /// The value whose method runs: its type.
    This(DefRef),
    External,
    NotFound,
    /// A value whose type is not known.
    Value,
}

/// A target, and how it was reached.
#[derive(Clone, Debug)]
struct Found {
    target: Target,
    rule: Rule,
}

impl Found {
    fn new(target: Target, rule: Rule) -> Self {
        Self { target, rule }
    }

    fn nothing() -> Self {
        Self::new(Target::NotFound, Rule::Scope)
    }

    fn is_nothing(&self) -> bool {
        self.target == Target::NotFound
    }

    /// Reached through `rule` as well.
    fn through(self, rule: Rule) -> Self {
        let rule =
            if rule.confidence() <= self.rule.confidence() && rule != Rule::Scope { rule } else { self.rule };
        Self { rule, ..self }
    }
}

impl<'a> Linker<'a> {
    fn language(&self) -> Language {
        self.facts.interface.language
    }

    fn facts_of(&self, file: FileDoc) -> Facts<'a> {
        self.loaded.facts(self.loaded.open(file))
    }

    /// The facts of a file, asked for one name: its own needs no look-up.
    fn observed(&self, file: FileDoc, name: &str) -> Facts<'a> {
        if file != self.file {
            self.recorder.note(Key::member(&format!("names:{}", self.recorder.path(file)), name));
        }
        self.facts_of(file)
    }

    /// The definitions of a name in a file, wherever in it, in source order.
    fn named(&self, file: FileDoc, name: &str) -> Vec<DefIdx> {
        let facts = self.facts_of(file);
        let mut by_name = self.by_name.borrow_mut();
        let by_name = by_name.entry(file).or_insert_with(|| {
            let mut all: FxHashMap<&str, Vec<DefIdx>> = FxHashMap::default();
            for (i, d) in facts.interface.defs.iter().enumerate().filter(|d| !d.1.flags.has(DefFlags::TITLE))
            {
                all.entry(facts.str(d.name)).or_default().push(DefIdx(i as u32));
            }
            all
        });
        by_name.get(name).cloned().unwrap_or_default()
    }

    // ---- names

    /// What `name` means at a place of this file; asked once for each definition around.
    fn name(&self, id: StrId, role: Role, at: u32) -> Found {
        let around = self.around.at(at);
        let key = (id, role, around);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.look_up(self.facts.str(id), role, around);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn look_up(&self, name: &str, role: Role, around: DefIdx) -> Found {
        if let Some(this) = self.word(name, around) {
            return this;
        }
        for def in std::iter::successors(around.some(), |d| self.facts.def(*d).parent.some()) {
            if let Some(found) = self.within(def, name, role) {
                return found;
            }
        }
        let place = DefRef { file: self.file, def: DefIdx::NONE };
        let found = self.in_module(place, name, role);
        if found.is_nothing() { self.elsewhere(name, role) } else { found }
    }

    /// `this`, `self`, `Self`: the type around.
    fn word(&self, name: &str, around: DefIdx) -> Option<Found> {
        let is_this = match self.language() {
            Language::Php => matches!(name, "$this" | "self" | "static"),
            Language::Ruby => name == "self",
            Language::Lua | Language::Bash => false,
            _ => name == "this" || name.starts_with("this@"),
        };
        if !is_this {
            return None;
        }
        let owner = std::iter::successors(around.some(), |d| self.facts.def(*d).parent.some()).find(|d| {
            self.facts.def(*d).flags.has(DefFlags::LOCAL)
                || self.owner_of(*d).is_some()
                || self.facts.def(*d).kind.is_type()
        });
        let ty = owner.and_then(|d| {
            let def = self.facts.def(d);
            if def.kind.is_type() { Some(d) } else { self.owner_of(d) }
        });
        let target = ty.map_or(Target::Value, |def| Target::This(DefRef { file: self.file, def }));
        Some(Found::new(target, Rule::Scope))
    }

    /// The type that a method belongs to, where it is in this file.
    fn owner_of(&self, def: DefIdx) -> Option<DefIdx> {
        let it = self.facts.def(def);
        let parent = it.parent.some().filter(|p| self.facts.def(*p).kind.is_type());
        parent.or_else(|| {
            let receiver = self.facts.str(it.receiver?);
            let last = receiver.rsplit('.').next().unwrap_or(receiver);
            let is_it = |d: &DefIdx| {
                let other = self.facts.def(*d);
                other.kind.is_type() && other.parent == it.parent
            };
            self.named(self.file, last).into_iter().find(is_it)
        })
    }

    /// What `name` means inside a definition: one of its own, or a member that needs no receiver.
    /// `None` sends the search further out.
    fn within(&self, def: DefIdx, name: &str, role: Role) -> Option<Found> {
        let it = self.facts.def(def);
        if it.kind.is_callable() || it.kind == DefKind::Module {
            let mut locals = self.named(self.file, name);
            locals.retain(|d| self.facts.def(*d).parent == def);
            if let Some(found) = self.best(self.file, locals, role, Rule::Scope) {
                return Some(found);
            }
            let (owner, has_members) = (self.owner_of(def), self.has_bare_members());
            return owner
                .filter(|_| has_members && it.receiver.is_some())
                .and_then(|o| self.bare_member(o, name, role));
        }
        if !it.kind.is_type() || !self.has_bare_members() {
            return None;
        }
        self.bare_member(def, name, role)
    }

    /// Whether members of the type around are named without a receiver.
    fn has_bare_members(&self) -> bool {
        matches!(self.language(), Language::Kotlin | Language::Scala | Language::Ruby)
    }

    fn bare_member(&self, ty: DefIdx, name: &str, role: Role) -> Option<Found> {
        let mut own = self.members(self.file, ty, name);
        if own.is_empty() {
            own = self.made_by(DefRef { file: self.file, def: ty }, name);
        }
        if let Some(found) = self.best(self.file, own, role, Rule::Receiver) {
            return Some(found);
        }
        let is_type = matches!(role, Role::Type | Role::Base) || name.starts_with(char::is_uppercase);
        let may_inherit = !self.facts.def(ty).bases.is_empty() && !is_type;
        may_inherit.then(|| Found::new(Target::Value, Rule::Scope))
    }

    /// Members of a type by name: those inside, and those given to it elsewhere in its file.
    fn members(&self, file: FileDoc, ty: DefIdx, name: &str) -> Vec<DefIdx> {
        let qualified = qualified_name(&self.facts_of(file), ty);
        let facts = self.observed(file, &format!("{qualified}.{name}"));
        let it = facts.def(ty);
        let is_member = |d: &DefIdx| {
            let def = facts.def(*d);
            let receiver = def.receiver.map(|r| facts.str(r));
            def.parent == ty || def.parent == it.parent && receiver == Some(facts.str(it.name))
        };
        self.named(file, name).into_iter().filter(is_member).collect()
    }

    /// What a module says of a name: its definitions and what it imports.
    fn in_module(&self, place: DefRef, name: &str, role: Role) -> Found {
        if place.def != DefIdx::NONE {
            let inner = qualified_name(&self.facts_of(place.file), place.def);
            self.observed(place.file, &format!("{inner}.{name}"));
        }
        let facts = self.observed(place.file, name);
        let is_it = |d: &DefIdx| {
            let def = facts.def(*d);
            def.parent == place.def && def.receiver.is_none() && is_named_alone(def, role)
        };
        let all: Vec<DefIdx> = self.named(place.file, name).into_iter().filter(is_it).collect();
        let rule = if place.file == self.file { Rule::Scope } else { Rule::Import };
        let named = |i: &&Import| i.scope == place.def && i.alias.is_some_and(|a| facts.str(a) == name);
        let import = facts.interface.imports.iter().find(named);
        // A variable of Lua that is given a module stands for it.
        let is_module = self.language() == Language::Lua && import.is_some();
        if let Some(found) = self.best(place.file, all, role, rule).filter(|_| !is_module) {
            return found;
        }
        let Some(import) = import else { return Found::nothing() };
        let found = self.follow(place, &facts, import, role);
        let rule = if place.file == self.file { Rule::Import } else { Rule::Reexport };
        imported(found, name, role, rule)
    }

    /// What an import brings.
    fn follow(&self, place: DefRef, facts: &Facts, import: &Import, role: Role) -> Found {
        let path = facts.str(import.module);
        match self.language() {
            Language::Kotlin | Language::Scala => self.by_full_name("jvm", ".", path, role),
            Language::Php if import.kind != ImportKind::All => self.by_full_name("php", "\\", path, role),
            Language::Lua => self.lua_module(path),
            _ => self.included_file(place.file, import, path),
        }
    }

    /// A name that the file neither defines nor imports by name.
    fn elsewhere(&self, name: &str, role: Role) -> Found {
        match self.language() {
            Language::Kotlin | Language::Scala => self.in_packages("jvm", ".", name, role),
            Language::Php => self.in_packages("php", "\\", name, role),
            Language::Ruby | Language::Bash => self.in_included(name, role),
            _ => Found::nothing(),
        }
    }

    /// The definitions that fit a role best; overloads share the confidence. `None` when there are none.
    fn best(&self, file: FileDoc, mut all: Vec<DefIdx>, role: Role, rule: Rule) -> Option<Found> {
        let facts = self.facts_of(file);
        let rank = |d: DefIdx| {
            let kind = facts.def(d).kind;
            match role {
                Role::Call if kind.is_callable() => 0,
                Role::Call => 2 - u8::from(kind.is_type()),
                Role::Type | Role::Base => u8::from(!kind.is_type()),
                _ if kind == DefKind::Module => 2,
                _ => u8::from(kind.is_callable()),
            }
        };
        let first = all.iter().map(|d| rank(*d)).min()?;
        all.retain(|d| rank(*d) == first);
        // The two halves of a type, and a declaration beside its definition, are one thing.
        if facts.def(all[0]).kind.is_type() {
            // Of an object and the class of its name, the object is meant as a value.
            let is_static = |d: &DefIdx| facts.def(*d).flags.has(DefFlags::STATIC);
            let is_type = matches!(role, Role::Type | Role::Base | Role::Call);
            let half =
                all.iter().copied().find(|d| self.language() != Language::Scala || is_static(d) != is_type);
            all = vec![half.unwrap_or(all[0])];
        }
        let all = all.into_iter().map(|def| DefRef { file, def }).collect();
        Some(Found::new(Target::Defs(all), rule))
    }

    // ---- uses

    fn uses(&self, out: &mut Links) {
        for (e, expr) in crate::exprs(self.facts).filter(|(_, e)| e.role != Role::None) {
            let (Node::Name { name, .. } | Node::Attr { name, .. }) = expr.node else { continue };
            let found = self.eval(e, expr.role, 0);
            let it = Use { name, at: expr.at, role: expr.role };
            let made = self.constructors(&found, expr.role);
            if !made.is_empty() {
                crate::emit(self.facts, it, Ok(made), found.rule, out);
            }
            self.emit(found, it, out);
        }
    }

    /// The constructor that a type is made with where it is called, if it has one alone.
    fn constructors(&self, found: &Found, role: Role) -> Vec<DefRef> {
        let Target::Defs(defs) = &found.target else { return Vec::new() };
        let [ty] = defs[..] else { return Vec::new() };
        let facts = self.facts_of(ty.file);
        if role != Role::Call || !facts.def(ty.def).kind.is_type() {
            return Vec::new();
        }
        let name = match self.language() {
            Language::Php => "__construct",
            Language::Kotlin => "constructor",
            _ => return Vec::new(),
        };
        let mut all = self.members(ty.file, ty.def, name);
        all.retain(|d| facts.def(*d).kind.is_callable());
        // Of several none is known to be meant: arguments are not compared. A declaration and what defines
        // it behind are one.
        let n_declared = all.iter().filter(|d| facts.def(**d).parent == ty.def).count();
        let one = all.first().filter(|_| n_declared == 1 || all.len() == 1);
        one.map(|def| DefRef { file: ty.file, def: *def }).into_iter().collect()
    }

    fn eval(&self, e: ExprId, role: Role, depth: u32) -> Found {
        let unknown = Found::new(Target::Value, Rule::Scope);
        if depth > 8 {
            return unknown;
        }
        let expr = self.facts.expr(e);
        match expr.node {
            Node::Name { name, binding } => match self.facts.binding(binding) {
                Some(binding) => crate::bound_def(self.facts, binding).map_or(unknown, |def| {
                    Found::new(Target::Defs(vec![DefRef { file: self.file, def }]), Rule::Scope)
                }),
                None => self.name(name, role, expr.at),
            },
            Node::Attr { base, name } => {
                let of = self.eval(base, Role::Read, depth + 1);
                self.attribute(of, self.facts.str(name), role)
            }
            _ => unknown,
        }
    }

    fn attribute(&self, of: Found, name: &str, role: Role) -> Found {
        match of.target {
            Target::Module(place) if self.language() == Language::Lua => self.lua_member(place, name, role),
            Target::Module(place) => self.in_module(place, name, role).through(of.rule),
            Target::Defs(defs) => self.member(&defs, name, role, of.rule),
            Target::This(ty) => {
                let own = self.members(ty.file, ty.def, name);
                self.best(ty.file, own, role, Rule::Receiver)
                    .unwrap_or(Found::new(Target::Value, Rule::Scope))
            }
            Target::Package(package) => self.in_package(&package, name, role),
            Target::External => of,
            Target::NotFound | Target::Value => Found::new(Target::Value, Rule::Scope),
        }
    }

    /// A member of a type by its name.
    fn member(&self, of: &[DefRef], name: &str, role: Role, rule: Rule) -> Found {
        let unknown = Found::new(Target::Value, Rule::Scope);
        let [ty] = of else { return unknown };
        let kind = self.facts_of(ty.file).def(ty.def).kind;
        if !kind.is_type() && kind != DefKind::Module && self.language() != Language::Lua {
            return unknown;
        }
        let mut own = self.members(ty.file, ty.def, name);
        if own.is_empty() {
            own = self.made_by(*ty, name);
        }
        self.best(ty.file, own, role, rule).unwrap_or(unknown)
    }

    /// What `new` of Ruby calls.
    fn made_by(&self, ty: DefRef, name: &str) -> Vec<DefIdx> {
        let is_new = name == "new" && self.language() == Language::Ruby;
        if is_new { self.members(ty.file, ty.def, "initialize") } else { Vec::new() }
    }

    fn emit(&self, found: Found, it: Use, out: &mut Links) {
        let targets = match found.target {
            Target::Defs(defs) if defs.len() <= EQUALS_MAX => Ok(defs),
            Target::Module(target) if it.role == Role::Import => Ok(vec![target]),
            // Modules and the value itself are qualifiers. What is called is something else of that name.
            Target::Module(_) if it.role != Role::Call => return,
            Target::This(_) => return,
            Target::External => Err(UnresolvedReason::External),
            Target::NotFound | Target::Package(_) | Target::Module(_) => Err(UnresolvedReason::NotFound),
            Target::Value | Target::Defs(_) => Err(UnresolvedReason::UnknownReceiver),
        };
        crate::emit(self.facts, it, targets, found.rule, out);
    }

    fn imports(&self, out: &mut Links) {
        for import in &self.facts.interface.imports {
            let place = DefRef { file: self.file, def: import.scope };
            let found = self.follow(place, &self.facts, import, Role::Import);
            let found = found.through(Rule::Import);
            // A package is several files.
            if matches!(found.target, Target::Package(_)) {
                continue;
            }
            let path = self.facts.str(import.module);
            let last = path.rsplit([':', '.', '\\']).next().unwrap_or(path);
            let first = out.links.len();
            self.emit(found, Use { name: import.module, at: import.at, role: Role::Import }, out);
            let is_dotted = matches!(self.language(), Language::Kotlin | Language::Scala | Language::Php);
            if is_dotted {
                crate::shorten(&mut out.links[first..], import, last);
            }
        }
    }
}

/// Whether a name without a value leads to a definition; an import names it whatever it is.
fn is_named_alone(def: &Def, role: Role) -> bool {
    !def.flags.has(DefFlags::OF_VALUE) || role == Role::Import
}

/// What an import leads to. It is not a package where its name is used as a type or called.
fn imported(found: Found, name: &str, role: Role, rule: Rule) -> Found {
    let is_name = name.starts_with(char::is_uppercase) || role != Role::Read;
    if matches!(found.target, Target::Package(_)) && is_name && role != Role::Import {
        return Found::new(Target::External, rule);
    }
    found.through(rule)
}

#[cfg(test)]
mod tests;
