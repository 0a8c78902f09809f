//! The linker for TypeScript and JavaScript: within files and through imports.
//!
//! A name that no scope of its file binds is a definition of the file or an import; an import is
//! followed by its path (`modules`) and through re-exports to a definition. A member is resolved
//! where what stands before the dot is a module, a type, or `this` inside a type that has it. Members
//! of other values would need their types: those uses are unresolved, with an unknown receiver.

mod modules;

use crate::Use;
use crate::recorder::Recorder;
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{
    BindingKind, DefFlags, DefIdx, DefKind, DefRef, EdgeKind, ExprId, Facts, FactsView, FileDoc, FileRoles,
    Interface, Key, Language, Link, Links, Node, Role, Rule, StrId, UnresolvedReason,
};
use modules::Module;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

/// Re-exports followed one after the other.
const REEXPORTS_MAX: u32 = 16;

/// Links one TypeScript or JavaScript file. A vendored copy is not linked.
pub(crate) fn link(file: FileDoc, facts: Facts, recorder: &Recorder) -> Links {
    if facts.interface.roles.has(FileRoles::VENDORED) {
        return Links::default();
    }
    let (interfaces, modules, known) = (RefCell::default(), RefCell::default(), RefCell::default());
    let linker = Linker { file, facts, recorder, interfaces, modules, known };
    let mut out = Links::default();
    linker.imports(&mut out);
    linker.uses(&mut out);
    crate::assign_sources(facts, &mut out, crate::is_code_or_type);
    out
}

struct Linker<'a> {
    file: FileDoc,
    facts: Facts<'a>,
    recorder: &'a Recorder<'a>,
    /// The interfaces that were opened.
    interfaces: RefCell<FxHashMap<FileDoc, Arc<Interface>>>,
    modules: RefCell<FxHashMap<(FileDoc, String), Module>>,
    /// Names at file level that were looked up.
    known: RefCell<FxHashMap<(StrId, Role), Found>>,
}

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Def(FileDoc, DefIdx),
    /// A file as a module.
    Module(FileDoc),
    External,
    NotFound,
    /// A value whose type is not known.
    Value,
}

/// A target, and how it was reached.
#[derive(Clone, Copy, Debug)]
struct Found {
    target: Target,
    rule: Rule,
}

impl Linker<'_> {
    fn imported(&self, from: FileDoc, module: &str) -> Module {
        let key = (from, module.to_owned());
        if let Some(known) = self.modules.borrow().get(&key) {
            return *known;
        }
        let found = self.module(&self.recorder.path(from), module);
        self.modules.borrow_mut().insert(key, found);
        found
    }

    // ---- names

    /// What `name` means at file level of `file`.
    fn at_top(&self, file: FileDoc, name: &str, role: Role, depth: u32) -> Found {
        let interface = self.observed(file, name);
        let facts = Facts::outside(&interface);
        if let Some(def) = top_def(&facts, name, role) {
            return Found { target: Target::Def(file, def), rule: Rule::Scope };
        }
        let binds = |i: &&Import| i.level == 0 && i.alias.is_some_and(|a| facts.str(a) == name);
        match interface.imports.iter().find(binds) {
            Some(import) => {
                let found = self.follow(file, &facts, import, role, depth);
                let rule = if found.rule == Rule::Scope { Rule::Import } else { found.rule };
                Found { rule, ..found }
            }
            None => Found { target: Target::NotFound, rule: Rule::Scope },
        }
    }

    /// The interface of a file, asked for one name: its own needs no look-up.
    fn observed(&self, file: FileDoc, name: &str) -> Arc<Interface> {
        if file != self.file {
            self.recorder.find(Key::member(&format!("names:{}", self.recorder.path(file)), name));
        }
        self.interface_of(file)
    }

    fn interface_of(&self, file: FileDoc) -> Arc<Interface> {
        let mut known = self.interfaces.borrow_mut();
        Arc::clone(known.entry(file).or_insert_with(|| self.recorder.interface(file)))
    }

    /// What an import brings.
    fn follow(&self, file: FileDoc, facts: &Facts, import: &Import, role: Role, depth: u32) -> Found {
        let to = |target| Found { target, rule: Rule::Import };
        let module = match self.imported(file, facts.str(import.module)) {
            Module::File(module) => module,
            Module::External => return to(Target::External),
            Module::Missing => return to(Target::NotFound),
        };
        match (import.kind, import.name) {
            (ImportKind::Name, Some(name)) => {
                let found = self.exported(module, facts.str(name), role, depth);
                match found.target {
                    // The module as a whole is what it exports by default.
                    Target::NotFound if facts.str(name) == "default" => to(Target::Module(module)),
                    Target::NotFound => {
                        let whole = Found { target: Target::NotFound, rule: Rule::Import };
                        self.of_default(module, facts.str(name), whole)
                    }
                    _ => found,
                }
            }
            _ => to(Target::Module(module)),
        }
    }

    /// What a module exports under a name. The rule says whether another module was in between.
    fn exported(&self, file: FileDoc, name: &str, role: Role, depth: u32) -> Found {
        let missing = Found { target: Target::NotFound, rule: Rule::Import };
        let Some(depth) = depth.checked_sub(1) else { return missing };
        let interface = self.observed(file, name);
        let facts = Facts::outside(&interface);
        let passes = |i: &&Import| i.level == 1 && i.alias.is_some_and(|a| facts.str(a) == name);
        if let Some(import) = interface.imports.iter().find(passes) {
            if !facts.str(import.module).is_empty() {
                let found = self.follow(file, &facts, import, role, depth);
                return Found { rule: Rule::Reexport, ..found };
            }
            let own = import.name.map_or(name, |n| facts.str(n));
            let mut found = self.at_top(file, own, role, depth);
            if let (Target::NotFound, Some(def)) = (found.target, given_to_exports(&facts, own)) {
                self.observed(file, own);
                found = Found { target: Target::Def(file, def), rule: Rule::Scope };
            }
            let rule = if found.rule == Rule::Scope { Rule::Import } else { Rule::Reexport };
            return Found { rule, ..found };
        }
        if let Some(def) = top_def(&facts, name, role)
            && facts.def(def).flags.has(DefFlags::EXPORTED)
        {
            return Found { target: Target::Def(file, def), rule: Rule::Import };
        }
        if name == "default" {
            return missing;
        }
        let stars = self.observed(file, "*");
        let facts = Facts::outside(&stars);
        for star in stars.imports.iter().filter(|i| i.level == 1 && i.kind == ImportKind::All) {
            if let Module::File(module) = self.imported(file, facts.str(star.module)) {
                let found = self.exported(module, name, role, depth);
                if found.target != Target::NotFound {
                    return Found { rule: Rule::Reexport, ..found };
                }
            }
        }
        missing
    }

    /// A member of a type: its own, by name.
    fn member(&self, file: FileDoc, def: DefIdx, name: &str, is_this: bool) -> Option<DefIdx> {
        let interface = self.interface_of(file);
        let qualified = indexd_model::names::qualified_name(&Facts::outside(&interface), def);
        let interface = self.observed(file, &format!("{qualified}.{name}"));
        let facts = Facts::outside(&interface);
        let is_it = |m: &DefIdx| {
            let it = facts.def(*m);
            let is_static = it.flags.has(DefFlags::STATIC) || it.kind == DefKind::Constant;
            facts.str(it.name) == name && (is_this || is_static || facts.def(def).kind == DefKind::Module)
        };
        facts.children(def).find(is_it)
    }

    // ---- uses

    fn uses(&self, out: &mut Links) {
        for i in 0..self.facts.n_exprs() as u32 {
            let e = ExprId(i);
            let expr = self.facts.expr(e);
            if expr.role == Role::None {
                continue;
            }
            let name = match expr.node {
                Node::Name { name, .. } | Node::Attr { name, .. } => name,
                _ => continue,
            };
            let found = self.eval(e, expr.role, 0);
            self.emit(found, Use { name, at: expr.at, role: expr.role }, out);
        }
    }

    fn eval(&self, e: ExprId, role: Role, depth: u32) -> Found {
        let unknown = Found { target: Target::Value, rule: Rule::Scope };
        if depth > 8 {
            return unknown;
        }
        match self.facts.expr(e).node {
            Node::Name { name, binding } => match self.facts.binding(binding) {
                Some(binding) => crate::bound_def(self.facts, binding)
                    .map_or(unknown, |def| Found { target: Target::Def(self.file, def), rule: Rule::Scope }),
                None => self.name(name, role),
            },
            Node::Attr { base, name } => self.attribute(base, self.facts.str(name), role, depth),
            _ => unknown,
        }
    }

    /// What a name of this file that no scope binds stands for; asked once.
    fn name(&self, name: StrId, role: Role) -> Found {
        if let Some(known) = self.known.borrow().get(&(name, role)) {
            return *known;
        }
        let found = self.whole(self.at_top(self.file, self.facts.str(name), role, REEXPORTS_MAX), role);
        self.known.borrow_mut().insert((name, role), found);
        found
    }

    /// A module of CommonJS that is called or made an instance of is what it exports as a whole.
    fn whole(&self, found: Found, role: Role) -> Found {
        match found.target {
            Target::Module(file) if matches!(role, Role::Call | Role::Base | Role::Type) => {
                let of = self.exported(file, "default", role, REEXPORTS_MAX);
                if of.target == Target::NotFound { found } else { of }
            }
            _ => found,
        }
    }

    fn attribute(&self, base: ExprId, name: &str, role: Role, depth: u32) -> Found {
        let unknown = Found { target: Target::Value, rule: Rule::Scope };
        let is_this = match self.facts.expr(base).node {
            Node::Name { binding, .. } => {
                self.facts.binding(binding).is_some_and(|b| b.kind == BindingKind::Receiver)
            }
            _ => false,
        };
        let of = self.eval(base, Role::Read, depth + 1);
        match of.target {
            Target::Module(file) => {
                let found = self.exported(file, name, role, REEXPORTS_MAX);
                match found.target {
                    Target::NotFound => self.of_default(file, name, unknown),
                    _ => found,
                }
            }
            Target::Def(file, def) => match self.member(file, def, name, is_this) {
                Some(member) => {
                    let rule = if is_this { Rule::Receiver } else { of.rule };
                    Found { target: Target::Def(file, member), rule }
                }
                None => unknown,
            },
            Target::External => of,
            Target::NotFound | Target::Value => unknown,
        }
    }

    /// A static member of the class that a module of CommonJS is.
    fn of_default(&self, file: FileDoc, name: &str, unknown: Found) -> Found {
        match self.exported(file, "default", Role::Read, REEXPORTS_MAX) {
            Found { target: Target::Def(file, def), rule } => {
                let member = self.member(file, def, name, false);
                member.map_or(unknown, |m| Found { target: Target::Def(file, m), rule })
            }
            _ => unknown,
        }
    }

    fn emit(&self, found: Found, it: Use, out: &mut Links) {
        let target = match found.target {
            Target::Def(file, def) => Ok(vec![DefRef { file, def }]),
            Target::Module(file) if it.role == Role::Import => Ok(vec![DefRef { file, def: DefIdx::NONE }]),
            // A module by its name is a qualifier.
            Target::Module(_) => return,
            Target::External => Err(UnresolvedReason::External),
            Target::NotFound if is_of_node(self.facts.str(it.name)) => Err(UnresolvedReason::Builtin),
            Target::NotFound => Err(UnresolvedReason::NotFound),
            Target::Value => Err(UnresolvedReason::UnknownReceiver),
        };
        crate::emit(self.facts, it, target, found.rule, out);
    }

    /// Import statements, and exports of what comes from elsewhere.
    fn imports(&self, out: &mut Links) {
        let mut seen: FxHashSet<(u32, StrId)> = FxHashSet::default();
        let exprs = (0..self.facts.n_exprs() as u32).map(|i| self.facts.expr(ExprId(i)));
        let used: FxHashSet<u32> = exprs.filter(|e| e.role != Role::None).map(|e| e.at).collect();
        for import in &self.facts.interface.imports {
            if self.facts.str(import.module).is_empty() {
                self.own_export(import, &used, out);
                continue;
            }
            let shown = match (import.kind, import.name, import.alias) {
                (ImportKind::Name, Some(name), Some(alias)) if self.facts.str(name) == "default" => alias,
                (ImportKind::Name, Some(name), _) => name,
                _ => import.module,
            };
            if !seen.insert((import.at, shown)) {
                continue;
            }
            let found = self.follow(self.file, &self.facts, import, Role::Import, REEXPORTS_MAX);
            let found = self.whole_import(import, found);
            let first = out.links.len();
            self.emit(found, Use { name: shown, at: import.at, role: Role::Import }, out);
            if import.level == 1 {
                for i in first..out.links.len() {
                    let link = out.links[i];
                    out.links.push(Link { kind: EdgeKind::Export, ..link });
                }
            }
        }
    }

    /// `const x = require('y')` names what the module exports as a whole, where that is a definition.
    fn whole_import(&self, import: &Import, found: Found) -> Found {
        let is_required = import.kind != ImportKind::All && import.kind != ImportKind::Blank;
        match found.target {
            Target::Module(file) if is_required => {
                let of = self.exported(file, "default", Role::Read, REEXPORTS_MAX);
                let is_common = self.interface_of(file).language == Language::JavaScript;
                if is_common && matches!(of.target, Target::Def(..)) { of } else { found }
            }
            _ => found,
        }
    }

    /// What an export list names in its own file is a use of it, unless it stands there itself.
    fn own_export(&self, import: &Import, used: &FxHashSet<u32>, out: &mut Links) {
        let Some(name) = import.name else { return };
        let itself = given_to_exports(&self.facts, self.facts.str(name));
        if used.contains(&import.at) || itself.is_some_and(|d| self.facts.def(d).name_span.start == import.at)
        {
            return;
        }
        let found = self.at_top(self.file, self.facts.str(name), Role::Read, REEXPORTS_MAX);
        let is_itself = match found.target {
            Target::Def(file, def) => file == self.file && self.facts.def(def).name_span.start == import.at,
            _ => false,
        };
        if !is_itself {
            self.emit(found, Use { name, at: import.at, role: Role::Read }, out);
        }
    }
}

/// A function given to `exports.name` or to `module.exports`.
fn given_to_exports(facts: &Facts, name: &str) -> Option<DefIdx> {
    let is_it = |d: &indexd_model::Def| {
        let receiver = d.receiver.map_or("", |r| facts.str(r));
        let is_export = matches!(receiver, "exports" | "module.exports" | "module");
        d.parent == DefIdx::NONE && is_export && facts.str(d.name) == name
    };
    facts.interface.defs.iter().position(is_it).map(|i| DefIdx(i as u32))
}

/// Names that every module of Node.js has.
fn is_of_node(name: &str) -> bool {
    matches!(name, "require" | "module" | "exports")
}

/// The definition of `name` at file level that fits the role best: a type where a type is named, a
/// value elsewhere; of equals the first.
fn top_def(facts: &Facts, name: &str, role: Role) -> Option<DefIdx> {
    let defs = facts.interface.defs.iter().enumerate();
    let is_top =
        |d: &indexd_model::Def| d.parent == DefIdx::NONE && d.receiver.is_none() && facts.str(d.name) == name;
    let all = defs.filter(|(_, d)| is_top(d) && !d.flags.has(DefFlags::TEST));
    let wants_type = matches!(role, Role::Type | Role::Base);
    let is_type_only = |kind: DefKind| matches!(kind, DefKind::Interface | DefKind::Alias);
    let fits = |kind: DefKind| if wants_type { kind.is_type() } else { !is_type_only(kind) };
    all.min_by_key(|(i, d)| (!fits(d.kind), *i)).map(|(i, _)| DefIdx(i as u32))
}

#[cfg(test)]
mod tests;
