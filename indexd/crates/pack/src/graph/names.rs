//! Definitions by name or place, and what belongs to a definition.

use indexd_model::path::dir_of;
use indexd_model::view::DefRecord;
use indexd_model::{
    DefDoc, DefFlags, DefIdx, DefKind, EdgeKind, FileDoc, FileRoles, IndexView, Key, Language,
};

/// Puts those first that are used most, product code before tests, docs and generated files, and code before
/// sections of data and of documents.
pub fn order(view: &dyn IndexView, defs: &mut [DefDoc]) {
    let is_section = |d| view.def(d).kind == DefKind::Section;
    // Stable: equals stay in the order of their places.
    defs.sort_by_cached_key(|&d| (is_section(d), is_behind(view, d), std::cmp::Reverse(used(view, d))));
}

/// The number of calls and uses of a definition.
pub fn used(view: &dyn IndexView, def: DefDoc) -> u32 {
    [EdgeKind::Call, EdgeKind::Usage].iter().map(|k| view.in_degree(def, *k)).sum()
}

/// The definitions that a question about `name` is about, see [`find_all`]: those first that are used most,
/// product code before tests, docs and generated files. A single definition comes with its like.
pub fn meant(view: &dyn IndexView, name: &str) -> Vec<DefDoc> {
    let mut found = find_all(view, name);
    if let [one] = found[..]
        && !name.trim().starts_with("scip:")
    {
        found = with_its_like(view, one);
    }
    order(view, &mut found);
    found
}

/// Definitions of a name among which the announcements of one body are looked for.
const LIKE_MAX: usize = 200;

/// A definition with those of the same qualified name in its file: overloads, getter and setter, definitions in
/// branches, and those that its statement names as well. Uses lead to one of them. A declaration of C or C++ comes
/// with the functions that it announces, and each of them with it.
fn with_its_like(view: &dyn IndexView, def: DefDoc) -> Vec<DefDoc> {
    let record = view.def(def);
    if record.idx == DefIdx::NONE {
        return vec![def];
    }
    let named = view.defs_named(&record.name);
    if !named.contains(&def) {
        // A type without a name is asked for by the definition around it.
        return record.parent.some().map_or_else(|| vec![def], |parent| with_its_like(view, parent));
    }
    let (mut defs, others): (Vec<_>, Vec<_>) =
        named.into_iter().partition(|d| view.def(*d).qualified == record.qualified);
    let announced = announced(view, &record, &defs);
    // Each announcement is compared with each body.
    let all = if defs.len() > LIKE_MAX { Vec::new() } else { defs.clone() };
    defs.retain(|d| {
        let other = view.def(*d);
        let is_overload = (other.file, other.parent) == (record.file, record.parent);
        is_overload || announced.contains(d) || self::announced(view, &other, &all).contains(&def)
    });
    defs.extend(others.into_iter().filter(|d| is_one_statement(&record, &view.def(*d))));
    defs
}

/// Returns true if one statement gives the name twice: `const f = exports.f = function f() {}`.
fn is_one_statement(a: &DefRecord, b: &DefRecord) -> bool {
    let is_type = a.kind.is_type() || b.kind.is_type();
    let holds = |a: &DefRecord, b: &DefRecord| a.span.start <= b.span.start && b.span.end <= a.span.end;
    (a.file, a.name_line) == (b.file, b.name_line) && !is_type && (holds(a, b) || holds(b, a))
}

/// Functions and methods with a body, of `same` name, that a declaration without one may announce: those in the
/// nearest folder.
fn announced(view: &dyn IndexView, record: &DefRecord, same: &[DefDoc]) -> Vec<DefDoc> {
    let has_body = |r: &DefRecord| r.span.end > r.head.end + 1;
    let is_c = |file| matches!(view.file(file).language, Language::C | Language::Cpp);
    if !record.kind.is_callable() || !is_c(record.file) || has_body(record) {
        return Vec::new();
    }
    let is_exported = |r: &DefRecord| r.flags.has(DefFlags::EXPORTED) || r.file == record.file;
    let is_body = |r: &DefRecord| r.kind.is_callable() && is_c(r.file) && has_body(r) && is_exported(r);
    let bodies: Vec<DefDoc> = same.iter().copied().filter(|d| is_body(&view.def(*d))).collect();
    let path = view.path(record.file);
    let depth = |path: &str| path.matches('/').count();
    let away = |d: &DefDoc| {
        let other = view.path(view.def(*d).file);
        depth(&path) + depth(&other) - 2 * indexd_model::path::n_common(&path, &other)
    };
    let nearest = bodies.iter().map(away).min();
    bodies.into_iter().filter(|d| Some(away(d)) == nearest).collect()
}

/// What a name stands for: a symbol id, `path`, `path:line`, a qualified name or a name. Ordered by
/// path and position.
pub fn find_all(view: &dyn IndexView, name: &str) -> Vec<DefDoc> {
    let name = name.trim();
    if name.starts_with("scip:") {
        let mut defs = view.defs_named(last_name(name));
        defs.retain(|&d| indexd_model::symbol_id(view, d).is_some_and(|s| s.0 == name));
        return defs;
    }
    if let Some(def) = at_place(view, name) {
        return vec![def];
    }
    let exact = view.defs_named(name);
    if !exact.is_empty() {
        return exact;
    }
    // `A::b`, `A#b`, `A->b`, `A\\b` and `A.b` are one.
    let wanted = name.replace("::", ".").replace("->", ".").replace(['#', '/', '\\'], ".");
    let last = wanted.rsplit('.').next().unwrap_or(&wanted);
    let mut defs = view.defs_named(last);
    if last.len() < wanted.len() {
        // The namespace of a file is not a part of the qualified name: `App\Model\User::save`.
        let inner = name.rsplit_once('\\').map_or("", |(_, inner)| inner);
        let inner = inner.replace("::", ".").replace("->", ".");
        let fits = |d: DefDoc, wanted: &str| is_qualified_as(view, &view.def(d), wanted);
        let is_exact = !inner.contains('.') || defs.iter().any(|d| fits(*d, &wanted));
        defs.retain(|d| fits(*d, if is_exact { &wanted } else { &inner }));
    }
    defs
}

/// Returns the name in the last descriptor of a SCIP symbol: `m` for `a/T#m().` and for `a/T#m(+1).`.
pub fn last_name(symbol: &str) -> &str {
    let mut name = symbol.trim_end_matches(['.', '(', ')', '#', '/', ':']);
    if let Some((before, n)) = name.rsplit_once("(+")
        && n.bytes().all(|b| b.is_ascii_digit())
    {
        name = before;
    }
    if let Some(inner) = name.strip_suffix('`') {
        return inner.rsplit('`').next().unwrap_or(inner);
    }
    name.rsplit(['/', '#', '.', ' ', '`']).next().unwrap_or(name)
}

/// Whether `wanted` ends the definition's qualified name, perhaps with its module or package
/// before: `Class.method`, `module.Class.method`.
fn is_qualified_as(view: &dyn IndexView, def: &DefRecord, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches('.');
    let ends =
        |full: &str| full == wanted || full.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'));
    if ends(&def.qualified) {
        return true;
    }
    let path = view.path(def.file);
    let stem = path.rsplit_once('.').map_or(&*path, |(stem, _)| stem);
    let dir = dir_of(&path);
    [stem, dir].iter().any(|module| ends(&format!("{}.{}", module.replace('/', "."), def.qualified)))
}

/// The definition at `path:line`, or the file at `path`.
fn at_place(view: &dyn IndexView, name: &str) -> Option<DefDoc> {
    if let Some(file) = view.file_by_path(name) {
        return Some(view.def_doc(file, DefIdx::NONE));
    }
    let (path, line) = name.rsplit_once(':')?;
    let (file, line) = (view.file_by_path(path)?, line.parse::<u32>().ok()?);
    if line == 0 || line > view.file(file).n_lines {
        return None;
    }
    let around = defs_of(view, file)
        .map(|d| (d, view.def(d)))
        .filter(|(_, r)| r.lines.start <= line && line <= r.lines.end);
    // The innermost is the shortest; of equals the first.
    let inner = around.min_by_key(|(_, r)| (r.span.len(), r.span.start));
    Some(inner.map_or_else(|| view.def_doc(file, DefIdx::NONE), |(d, _)| d))
}

/// The definitions of a file, in its order.
pub fn defs_of(view: &dyn IndexView, file: FileDoc) -> impl Iterator<Item = DefDoc> + '_ {
    let n = view.interface(file).defs.len() as u32;
    (0..n).map(move |i| view.def_doc(file, DefIdx(i)))
}

/// The members of a type: definitions inside it, and Go methods with it as receiver.
pub fn members(view: &dyn IndexView, def: DefDoc) -> Vec<DefDoc> {
    let record = view.def(def);
    if record.idx == DefIdx::NONE || !record.kind.is_type() {
        return Vec::new();
    }
    let mut files = vec![record.file];
    let path = view.path(record.file);
    let is_go = view.file(record.file).language == Language::Go;
    if is_go {
        let dir = dir_of(&path);
        files.extend(view.providers(Key::scope(&format!("go:{dir}#{}", record.name))));
        files.sort_by_key(|&f| view.path(f));
        files.dedup();
    }
    let prefix = format!("{}.", record.qualified);
    let mut out = Vec::new();
    for file in files {
        out.extend(defs_of(view, file).filter(|&d| view.def(d).qualified.starts_with(&prefix)));
    }
    out
}

/// Whether it is a test or stands in a file of tests.
pub fn is_test(view: &dyn IndexView, def: &DefRecord) -> bool {
    def.flags.has(DefFlags::TEST) || view.file(def.file).roles.has(FileRoles::TEST)
}

/// Whether the symbol of a definition is one of a test, or of docs, generated or vendored code: such come
/// behind others.
pub fn is_behind(view: &dyn IndexView, def: DefDoc) -> bool {
    let record = view.def(def);
    let roles = view.file(record.file).roles;
    let later = [FileRoles::DOC, FileRoles::GENERATED, FileRoles::VENDORED, FileRoles::EXAMPLE];
    let path = view.path(record.file);
    let in_docs = path.split('/').rev().skip(1).any(|folder| matches!(folder, "doc" | "docs"));
    in_docs || is_test(view, &record) || later.iter().any(|r| roles.has(*r))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_names_its_last_descriptor() {
        for (symbol, name) in [
            ("scip:go gomod m . `a/b`/T#m().", "m"),
            ("scip:java maven m . a/T#m(+1).", "m"),
            ("scip:cpp . m . a/T#`operator+`(+12).", "operator+"),
            ("scip:npm npm m . src/`a.b.ts`/", "a.b.ts"),
            ("scip:npm npm m . f.", "f"),
            ("scip:go gomod m . a/T#", "T"),
        ] {
            assert_eq!(last_name(symbol), name, "{symbol}");
        }
    }
}
