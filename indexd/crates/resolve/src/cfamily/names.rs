//! What names mean: in the classes around, then in the namespaces around, outwards.

use super::includes::is_include;
use super::values::class_found;
use super::{CFamily, TABLE, has_body, is_exported};
use crate::declared::{Found, Hit, Linker, Place, Space};
use crate::remembered::{remembered, remembered_from};
use crate::typed::{DefAt, File, Ty, Type};
use indexd_model::facts::ImportKind;
use indexd_model::path::file_name_of;
use indexd_model::{DefFlags, DefIdx, DefKind, FactsView, FileDoc, Key, Language, Rule, UnresolvedReason};
use smallvec::SmallVec;
use std::rc::Rc;

/// Files with bodies of one name, and files that include a header, that are looked at.
const FILES_MAX: usize = 16;
/// Scopes that one path leads through.
const DEPTH_MAX: usize = 8;

/// A definition that stands in namespaces alone.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    at: DefAt,
    namespace: Rc<str>,
    rule: Rule,
}

/// What a name means at a place.
pub(super) fn find<'a>(l: &mut Linker<'a, CFamily>, place: Place, name: &'a str, space: Space) -> Found {
    if name.is_empty() {
        return package(l, "", "");
    }
    // The preprocessor knows no scopes.
    if !name.bytes().any(|b| b.is_ascii_lowercase())
        && let Some(found) = macro_named(l, place, name)
    {
        return found;
    }
    let facts = l.facts(place.file);
    let innermost = l.scope(place);
    let mut scope = innermost.some();
    let mut is_open = false;
    let mut namespaces: SmallVec<[Rc<str>; 2]> = SmallVec::new();
    while let Some(def) = scope {
        let it = facts.def(def);
        let at = DefAt { file: place.file, def };
        scope = it.parent.some();
        if it.kind.is_callable()
            && let Some(local) = local(l, at, name, space)
        {
            return local;
        }
        let Some(class) = class_around(l, at) else { continue };
        match in_class(l, class, name, space) {
            Ok(found) => return found,
            Err(open) => is_open |= open,
        }
        if it.receiver.is_some() {
            namespaces.push(namespace_of(l, class));
        }
    }
    let own = innermost.some().map(|def| namespace_of(l, DefAt { file: place.file, def }));
    namespaces.push(own.unwrap_or_else(|| "".into()));
    for namespace in namespaces {
        if let Some(found) = in_scopes(l, place, &namespace, name, space) {
            return found;
        }
    }
    match is_open {
        true => Found::outside(),
        false => Found::none(UnresolvedReason::NotFound),
    }
}

/// What a function itself defines under a name.
fn local(l: &mut Linker<CFamily>, function: DefAt, name: &str, space: Space) -> Option<Found> {
    let facts = l.facts(function.file);
    let fits = |d: &&DefIdx| space != Space::Types || facts.def(**d).kind.is_type();
    let def = *l.files.members(function, name).iter().find(fits)?;
    Some(class_found(l, DefAt { def, ..function }, space, Rule::Scope))
}

/// The class whose members are seen in a definition: a class itself, that of a member outside of it, a test.
fn class_around(l: &mut Linker<CFamily>, at: DefAt) -> Option<DefAt> {
    let def = l.files.def(at);
    match def.kind {
        kind if kind.is_type() => Some(at),
        kind if !kind.is_callable() => None,
        _ if def.receiver.is_some() => class_of(l, at),
        _ => (!def.bases.is_empty()).then_some(at),
    }
}

/// A member of a class, of its bases, or of the classes around it; `Err` tells whether there may be one outside.
fn in_class(l: &mut Linker<CFamily>, class: DefAt, name: &str, space: Space) -> Result<Found, bool> {
    let mut is_open = false;
    let mut class = Some(class);
    while let Some(at) = class {
        let this = l.types.make(Type::This(at));
        let found = l.attr(this, name, space);
        if !found.hits.is_empty() || !matches!(found.ty, Ty::UNKNOWN | Ty::EXTERNAL) {
            return Ok((*found).clone());
        }
        is_open |= found.is_open;
        if space != Space::Values && l.files.name(at) == name && !is_specialisation(l, at) {
            return Ok(class_found(l, at, space, Rule::Scope));
        }
        let parent = l.files.def(at).parent.some().map(|def| DefAt { def, ..at });
        let parent = parent.filter(|p| l.files.def(*p).kind.is_type());
        class = if l.files.def(at).receiver.is_some() { class_of(l, at) } else { parent };
    }
    Err(is_open)
}

// ---- namespaces

/// The namespaces around a definition, joined by dots; those without a name and inline ones are not seen.
pub(super) fn namespace_of(l: &mut Linker<CFamily>, at: DefAt) -> Rc<str> {
    let facts = l.facts(at.file);
    let all = std::iter::successors(Some(at.def), |d| facts.def(*d).parent.some());
    let is_seen = |d: &DefIdx| {
        let it = facts.def(*d);
        it.kind == DefKind::Module && !it.flags.has(DefFlags::EMBEDDED)
    };
    let modules: SmallVec<[DefIdx; 4]> = all.filter(is_seen).collect();
    modules.iter().for_each(|def| l.files.record(DefAt { def: *def, ..at }));
    let names: Vec<&str> = modules.iter().rev().map(|d| facts.def_name(*d)).collect();
    names.join(".").into()
}

/// A namespace and those around it, outwards; the last is empty.
fn levels<'n>(namespace: &'n str) -> impl Iterator<Item = &'n str> {
    let next = |n: &&'n str| -> Option<&'n str> {
        let n: &'n str = n;
        (!n.is_empty()).then(|| n.rfind('.').map_or("", |dot| &n[..dot]))
    };
    std::iter::successors(Some(namespace), next)
}

fn join(outer: &str, inner: &str) -> String {
    match (outer.is_empty(), inner.is_empty()) {
        (true, _) => inner.to_owned(),
        (_, true) => outer.to_owned(),
        _ => format!("{outer}.{inner}"),
    }
}

/// A namespace named `path` somewhere in or around `namespace`, as a value.
fn package(l: &mut Linker<CFamily>, namespace: &str, path: &str) -> Found {
    let name = l.types.name(&format!("{namespace}|{path}"));
    Found::typed(l.types.make(Type::Package(name)))
}

/// What the files in sight define under a name.
fn candidates(l: &mut Linker<CFamily>, file: File, name: &str) -> Rc<[Candidate]> {
    let included = l.included();
    let own = l.files.loaded.doc(0);
    let asking = l.files.loaded.doc(file);
    let is_apart = file != 0 && !included.contains_key(&asking);
    if !is_apart && let Some(known) = l.own.candidates.get(name) {
        return Rc::clone(known);
    }
    let key = Key::any("c", name);
    let mut out = Vec::new();
    for doc in l.files.view.find(key).iter() {
        let rule = match included.get(doc) {
            _ if *doc == own || *doc == asking => Rule::Scope,
            Some(rule) => *rule,
            None => continue,
        };
        out.extend(provided(l, *doc, key, rule));
    }
    if out.is_empty() && l.facts(0).interface.language == Language::C {
        // What a struct of C holds is not hidden by it.
        let inner = Key::any("c-inner", name);
        for doc in in_sight(l, 0, inner) {
            out.extend(provided(l, doc, inner, Rule::Scope));
        }
    }
    if out.is_empty() {
        out = of_includers(l, key);
    }
    let out: Rc<[Candidate]> = out.into();
    if !is_apart {
        l.own.candidates.insert(name.into(), Rc::clone(&out));
    }
    out
}

/// The files with a key that are in sight of one: itself, the linked file, and those that this one includes.
fn in_sight(l: &mut Linker<CFamily>, from: File, key: Key) -> Vec<FileDoc> {
    let (included, own, asking) = (l.included(), l.files.loaded.doc(0), l.files.loaded.doc(from));
    let docs = l.files.view.find(key);
    docs.iter().copied().filter(|d| *d == own || *d == asking || included.contains_key(d)).collect()
}

/// The definitions of a file under a key.
fn provided(l: &mut Linker<CFamily>, doc: FileDoc, key: Key, rule: Rule) -> Vec<Candidate> {
    let defs = l.files.provided(doc, key);
    let of = |at| {
        l.files.record(at);
        Candidate { at, namespace: namespace_of(l, at), rule }
    };
    defs.into_iter().map(of).collect()
}

/// What files define that include the linked one, or that they include themselves: a header may be made for the
/// place where it is included.
fn of_includers(l: &mut Linker<CFamily>, key: Key) -> Vec<Candidate> {
    let (own, path) = (l.files.loaded.doc(0), l.files.loaded.path(0));
    let docs = l.files.view.find(key);
    if docs.is_empty() || docs.len() > FILES_MAX {
        return Vec::new();
    }
    let includers = l.files.view.find(Key::any("c-includes", file_name_of(path)));
    let mut seen: Vec<(FileDoc, Rule)> = Vec::new();
    for doc in includers.iter().take(FILES_MAX) {
        let file = l.files.open(*doc);
        let beside = l.includes_of(file);
        if beside.iter().any(|i| i.0 == own) {
            seen.push((*doc, Rule::Import));
            seen.extend(beside.into_iter().map(|i| (i.0, Rule::Inferred)));
        }
    }
    let mut out = Vec::new();
    for doc in docs.iter().filter(|d| **d != own) {
        if let Some((_, rule)) = seen.iter().find(|s| s.0 == *doc) {
            out.extend(provided(l, *doc, key, *rule));
        }
    }
    out
}

/// What a name means in a namespace and those around it.
fn in_scopes(
    l: &mut Linker<CFamily>,
    place: Place,
    namespace: &str,
    name: &str,
    space: Space,
) -> Option<Found> {
    let all = candidates(l, place.file, name);
    for level in levels(namespace) {
        if let Some(found) = chosen(l, place, &all, level, space) {
            return Some(found);
        }
        if let Some(found) = brought(l, place, level, name, space) {
            return Some(found);
        }
    }
    for level in levels(namespace) {
        let directives = directives(l);
        for (_, path) in directives.iter().filter(|d| &*d.0 == level) {
            let found = in_namespace(l, &format!("{level}|{path}"), name, space);
            if !found.hits.is_empty() || !matches!(found.ty, Ty::UNKNOWN | Ty::EXTERNAL) {
                return Some(found);
            }
        }
    }
    if space != Space::Types {
        return None;
    }
    if let Some(found) = announced(l, place.file, namespace, name) {
        return Some(found);
    }
    let is_namespace = name == "std" || has_namespace(l, place.file, name);
    is_namespace.then(|| package(l, namespace, name))
}

/// A type that the file of the place announces, and that the tree defines once, wherever. In C a pointer to a
/// struct announces it.
fn announced(l: &mut Linker<CFamily>, file: File, namespace: &str, name: &str) -> Option<Found> {
    let facts = l.facts(file);
    let is_said = facts.interface.exports.iter().flatten().any(|f| facts.str(*f) == name);
    if !is_said && facts.interface.language != Language::C {
        return None;
    }
    only_type(l, name, |of| levels(namespace).any(|level| level == of))
}

/// The only type of a name in the tree, in one of some namespaces.
fn only_type(l: &mut Linker<CFamily>, name: &str, is_in: impl Fn(&str) -> bool) -> Option<Found> {
    let key = Key::any("c", name);
    let docs = l.files.view.find(key);
    let mut all: Vec<Candidate> = Vec::new();
    for doc in docs.iter().filter(|_| docs.len() <= FILES_MAX) {
        all.extend(provided(l, *doc, key, Rule::Inferred));
    }
    all.retain(|c| {
        let kind = l.files.def(c.at).kind;
        kind.is_type() && kind != DefKind::Alias && is_in(&c.namespace)
    });
    match &all[..] {
        [one] => Some(Found::defs([one.at], one.rule)),
        _ => None,
    }
}

/// Whether a file in sight has a namespace of a name.
fn has_namespace(l: &mut Linker<CFamily>, file: File, name: &str) -> bool {
    !in_sight(l, file, Key::any("c-namespace", name)).is_empty()
}

/// Whether a file in sight has the namespace with this whole name, which ends with `name`.
fn has_inner(l: &mut Linker<CFamily>, name: &str, whole: &str) -> bool {
    let key = Key::any("c-namespace", name);
    for doc in in_sight(l, 0, key) {
        for at in l.files.provided(doc, key) {
            let at = namespace_of(l, at);
            if at.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                return true;
            }
        }
    }
    false
}

/// What a name means behind a namespace: `package` is the namespace of the place, a bar and the path as written.
pub(super) fn in_namespace(l: &mut Linker<CFamily>, package_name: &str, name: &str, space: Space) -> Found {
    let (namespace, path) = package_name.split_once('|').unwrap_or(("", package_name));
    if path == "std" || path.starts_with("std.") {
        return in_std(l, name, space);
    }
    let place = Place { file: 0, at: u32::MAX };
    let all = candidates(l, 0, name);
    for level in levels(namespace) {
        let target = join(level, path);
        if let Some(found) =
            chosen(l, place, &all, &target, space).or_else(|| brought(l, place, &target, name, space))
        {
            return found;
        }
    }
    let inner = join(path, name);
    if space == Space::Types && levels(namespace).any(|level| has_inner(l, name, &join(level, &inner))) {
        return package(l, namespace, &inner);
    }
    // A file in sight may only announce it.
    let is_in = |of: &str| levels(namespace).any(|level| join(level, path) == of);
    let only = if space == Space::Types { only_type(l, name, is_in) } else { None };
    only.unwrap_or_else(|| Found::none(UnresolvedReason::NotFound))
}

/// What the standard library has under a name.
fn in_std(l: &mut Linker<CFamily>, name: &str, space: Space) -> Found {
    if TABLE.ty(name).is_some() && space != Space::Values {
        let name = l.types.name(name);
        return Found::typed(l.types.make(Type::StdStatic(name)));
    }
    match TABLE.member(&mut l.types, "module std", &[], name) {
        Some(ty) => Found::typed(ty),
        None => Found::outside(),
    }
}

/// What `using a::b` and aliases of namespaces bring into a namespace under a name.
fn brought(l: &mut Linker<CFamily>, place: Place, level: &str, name: &str, space: Space) -> Option<Found> {
    let asked: (Rc<str>, Rc<str>) = (level.into(), name.into());
    if l.own.bringing.contains(&asked) {
        return None;
    }
    l.own.bringing.push(asked);
    let found = brought_by(l, place, level, name, space);
    l.own.bringing.pop();
    found
}

fn brought_by(l: &mut Linker<CFamily>, place: Place, level: &str, name: &str, space: Space) -> Option<Found> {
    for doc in in_sight(l, place.file, Key::any("c-using", name)) {
        let file = l.files.open(doc);
        l.files.record_name(file, name);
        let facts = l.facts(file);
        for import in &facts.interface.imports {
            if import.alias.is_none_or(|a| facts.str(a) != name) {
                continue;
            }
            let def = import.scope.some();
            let scope = def.map_or_else(|| "".into(), |def| namespace_of(l, DefAt { file, def }));
            let path = facts.str(import.module);
            if &*scope != level || path == name {
                continue;
            }
            if import.kind == ImportKind::Module {
                return (space == Space::Types).then(|| package(l, level, path));
            }
            let found = by_path_in(l, file, level, path, space, 0);
            if found.is_found() {
                return Some(found);
            }
        }
    }
    None
}

/// The namespaces that are brought in as a whole, with the namespace in which that is said.
fn directives(l: &mut Linker<CFamily>) -> Rc<[(Rc<str>, Rc<str>)]> {
    if let Some(known) = &l.own.directives {
        return Rc::clone(known);
    }
    let included = l.included();
    let mut docs: Vec<FileDoc> = included.keys().copied().collect();
    docs.push(l.files.loaded.doc(0));
    docs.sort_by_cached_key(|d| l.files.view.path(*d));
    let mut out: Vec<(Rc<str>, Rc<str>)> = Vec::new();
    for doc in docs {
        let file = l.files.open(doc);
        let facts = l.facts(file);
        for import in crate::stars(&facts.interface.imports, |i| !is_include(i)) {
            let def = import.scope.some();
            let scope = def.map_or_else(|| "".into(), |def| namespace_of(l, DefAt { file, def }));
            let it = (scope, Rc::from(facts.str(import.module)));
            if !out.contains(&it) {
                out.push(it);
            }
        }
    }
    let out: Rc<[(Rc<str>, Rc<str>)]> = out.into();
    l.own.directives = Some(Rc::clone(&out));
    out
}

/// What a path of names means at a place.
pub(super) fn by_path(l: &mut Linker<CFamily>, place: Place, path: &str, space: Space) -> Found {
    let scope = l.scope(place).some();
    let namespace = scope.map(|def| namespace_of(l, DefAt { file: place.file, def }));
    by_path_in(l, place.file, &namespace.unwrap_or_else(|| "".into()), path, space, 0)
}

fn by_path_in(
    l: &mut Linker<CFamily>,
    file: File,
    namespace: &str,
    path: &str,
    space: Space,
    depth: usize,
) -> Found {
    let place = Place { file, at: u32::MAX };
    let Some(dot) = path.rfind('.').filter(|_| depth < DEPTH_MAX) else {
        let all = candidates(l, file, path);
        let found = levels(namespace).find_map(|level| chosen(l, place, &all, level, space));
        return found.unwrap_or(Found::none(UnresolvedReason::NotFound));
    };
    let (outer, name) = (&path[..dot], &path[dot + 1..]);
    let found = in_namespace(l, &format!("{namespace}|{outer}"), name, space);
    if found.is_found() {
        return found;
    }
    let class = by_path_in(l, file, namespace, outer, Space::Types, depth + 1);
    match class.hits.is_empty() {
        true => found,
        false => {
            let of = l.value_of_found(&class);
            (*l.attr(of, name, space)).clone()
        }
    }
}

/// The class of a member whose definition stands outside of it.
pub(super) fn class_of(l: &mut Linker<CFamily>, at: DefAt) -> Option<DefAt> {
    remembered_from(l, |l| &mut l.own.classes, at, None, |l| find_class_of(l, at))
}

fn find_class_of(l: &mut Linker<CFamily>, at: DefAt) -> Option<DefAt> {
    let facts = l.facts(at.file);
    let receiver = facts.str(facts.def(at.def).receiver?);
    let namespace = namespace_of(l, at);
    let found = by_path_in(l, at.file, &namespace, receiver, Space::Types, 0);
    found.hits.first().map(|h| h.at).filter(|c| l.files.def(*c).kind.is_type())
}

// ---- one of several

/// The macro that a name stands for at a place.
fn macro_named(l: &mut Linker<CFamily>, place: Place, name: &str) -> Option<Found> {
    let all = candidates(l, place.file, name);
    one_macro(l, place, &all)
}

/// Of several macros the last before the place, else the last that is included.
fn one_macro(l: &Linker<CFamily>, place: Place, all: &[Candidate]) -> Option<Found> {
    let is_macro = |c: &&Candidate| l.files.def(c.at).kind == DefKind::Macro;
    let own = || all.iter().filter(is_macro).filter(|c| c.at.file == place.file);
    let start = |c: &Candidate| l.files.def(c.at).name_span.start;
    let before = own().rfind(|c| start(c) <= place.at);
    let best = before.or_else(|| all.iter().filter(is_macro).rfind(|c| c.at.file != place.file));
    let best = best.or_else(|| own().next())?;
    Some(Found::defs([best.at], best.rule))
}

/// What candidates in one namespace mean in a place.
fn chosen(
    l: &mut Linker<CFamily>,
    place: Place,
    all: &[Candidate],
    namespace: &str,
    space: Space,
) -> Option<Found> {
    if namespace.is_empty()
        && let Some(found) = one_macro(l, place, all)
    {
        return Some(found);
    }
    let mut here: Vec<&Candidate> = all.iter().filter(|c| &*c.namespace == namespace).collect();
    // What the file itself says comes first, and bodies before what announces them.
    here.sort_by_key(|c| (c.at.file != place.file, !has_body(l.files.def(c.at))));
    let kind = |l: &Linker<CFamily>, c: &Candidate| l.files.def(c.at).kind;
    let types = here.iter().filter(|c| kind(l, c).is_type());
    let types: Vec<&&Candidate> = types.filter(|c| !is_specialisation(l, c.at)).collect();
    let ty = types.iter().find(|c| kind(l, c) != DefKind::Alias);
    let ty = ty.or_else(|| types.first()).map(|c| (c.at, c.rule));
    let functions: Vec<&Candidate> = here.iter().copied().filter(|c| kind(l, c).is_callable()).collect();
    let value = here.iter().find(|c| matches!(kind(l, c), DefKind::Variable | DefKind::Constant));
    let value = value.map(|c| Found::defs([c.at], c.rule));
    let class = |l: &mut Linker<CFamily>| ty.map(|(at, rule)| class_found(l, at, space, rule));
    match space {
        Space::Types => class(l),
        Space::Calls if !functions.is_empty() => Some(overloads(l, &functions)),
        Space::Calls => class(l).or(value),
        Space::Values if value.is_some() => value,
        Space::Values if !functions.is_empty() => Some(overloads(l, &functions)),
        Space::Values => class(l),
    }
}

fn is_specialisation(l: &Linker<CFamily>, at: DefAt) -> bool {
    let def = l.files.def(at);
    def.kind != DefKind::Alias && def.ty.some().is_some()
}

/// Functions of one name; those that announce each other are one. C has no overloads.
fn overloads(l: &mut Linker<CFamily>, all: &[&Candidate]) -> Found {
    let is_c = l.facts(0).interface.language == Language::C;
    let mut found = Found::none(UnresolvedReason::NotFound);
    for c in all {
        let hit = Hit { at: c.at, rule: c.rule, env: Rc::from([]) };
        let is_known = match found.hits.first() {
            Some(_) if is_c => true,
            _ => l.is_hidden(&found.hits, &hit),
        };
        if !is_known {
            found.hits.push(hit);
        }
    }
    found
}

/// The operators of a type under a name: its members, and functions that take it as their left side.
pub(super) fn operators(l: &mut Linker<CFamily>, of: DefAt, name: &str) -> SmallVec<[DefAt; 2]> {
    let own = l.files.members(of, name);
    let mut out: SmallVec<[DefAt; 2]> = own.into_iter().map(|def| DefAt { def, ..of }).collect();
    for c in candidates(l, 0, name).iter() {
        let Some(first) = l.files.def(c.at).params.first().copied() else { continue };
        let left = l.binding(c.at.file, first).ty;
        let is_it = matches!(l.types.get(left), Type::Named(at, _) if *at == of);
        let hit = |at| Hit { at, rule: Rule::Scope, env: Rc::from([]) };
        let known: Vec<Hit> = out.iter().map(|at| hit(*at)).collect();
        if is_it && !l.is_hidden(&known, &hit(c.at)) {
            out.push(c.at);
        }
    }
    out
}

/// A type inside another one whose definition stands outside of it: `struct A::B { };`.
pub(super) fn nested_outside(l: &mut Linker<CFamily>, of: DefAt, name: &str) -> Option<DefAt> {
    let key = Key::any("c-nested", name);
    for doc in in_sight(l, 0, key) {
        for at in l.files.provided(doc, key) {
            l.files.record(at);
            if class_of(l, at) == Some(of) {
                return Some(at);
            }
        }
    }
    None
}

// ---- bodies

/// The definition of a function that another one announces: the one that fits, in a file that includes the
/// announcement.
pub(super) fn body_of(l: &mut Linker<CFamily>, at: DefAt) -> DefAt {
    let def = l.files.def(at);
    if !matches!(def.kind, DefKind::Function | DefKind::Method) || has_body(def) {
        return at;
    }
    remembered(l, |l| &mut l.own.bodies, at, |l| find_body(l, at).unwrap_or(at))
}

/// Whether a function with a body is what another one announces, a member of `class` or of a namespace.
fn is_body(l: &mut Linker<CFamily>, body: DefAt, at: DefAt, class: Option<DefAt>, namespace: &str) -> bool {
    let it = l.files.def(body);
    let is_seen = is_exported(it) || body.file == at.file;
    let is_c = l.facts(body.file).interface.language == Language::C;
    let has_params = is_c || it.params.len() == l.files.def(at).params.len();
    has_params
        && match (class, it.receiver) {
            (Some(class), Some(_)) => class_of(l, body) == Some(class),
            (None, None) => is_seen && &*namespace_of(l, body) == namespace,
            (None, Some(path)) => is_seen && namespace.ends_with(l.facts(body.file).str(path)),
            (Some(_), None) => false,
        }
}

fn find_body(l: &mut Linker<CFamily>, at: DefAt) -> Option<DefAt> {
    let name = l.files.name(at);
    let key = Key::any("c-body", name);
    let docs = l.files.view.find(key);
    if docs.is_empty() || docs.len() > FILES_MAX {
        return None;
    }
    let owner = l.files.def(at).parent.some().map(|def| DefAt { def, ..at });
    let class = owner.filter(|o| l.files.def(*o).kind.is_type());
    let namespace = namespace_of(l, at);
    let mut all: Vec<DefAt> = Vec::new();
    for doc in docs.iter() {
        let file = l.files.open(*doc);
        if class.is_none() && file != at.file && !l.includes(file, l.files.loaded.doc(at.file)) {
            continue;
        }
        for body in l.files.provided(*doc, key) {
            l.files.record(body);
            if is_body(l, body, at, class, &namespace) {
                all.push(body);
            }
        }
    }
    if all.len() > 1 {
        let own = Hit { at, rule: Rule::Scope, env: Rc::from([]) };
        let of = |at: DefAt| Hit { at, rule: Rule::Scope, env: Rc::from([]) };
        let same: Vec<DefAt> = all.iter().copied().filter(|b| l.is_hidden(&[of(*b)], &own)).collect();
        all = if same.is_empty() { all } else { same };
    }
    let is_one = all.iter().all(|b| b.file == all[0].file);
    all.first().copied().filter(|_| is_one)
}
