//! Finds the definitions that the text names exactly: by `Type.method`, `pkg.Func`, `module.Class.method`,
//! `path:line`, a type followed by its method, an identifier, or a plain word whose uses mostly refer to one
//! definition.

use crate::graph::names::used;
use crate::query::{Expected, Kind, NameForm, Query};
use crate::role::{Role, role_of};
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::path::{dir_of, stem_of};
use indexd_model::view::DefRecord;
use indexd_model::{DefDoc, DefFlags, DefKind, FileDoc, Lines};
use indexd_text::terms;
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum definitions of one name that count as named; a name with more is ambiguous.
const MEANT_MAX: usize = 3;
/// Maximum definitions of one name that are read and listed.
const LISTED_MAX: usize = 24;
/// A plain word is a name if at least one in this number of chunks with the word refers to the definition.
const CHUNKS_PER_USE: u32 = 3;

/// The definitions that the text names.
#[derive(Default)]
pub struct Named {
    /// The units of named definitions, by order of mention, then by path and place.
    pub meant: Vec<Rc<Unit>>,
    /// The named definitions, each with the unit that shows it. The unit of a member, such as a method of an
    /// interface, may be that of its type.
    pub defs: Vec<(UnitKey, DefDoc)>,
    /// The units of definitions with an ambiguous name, by path and place.
    pub listed: Vec<Rc<Unit>>,
    /// The units that the change of the request touches.
    pub changed: Vec<Rc<Unit>>,
    /// True if one of the named definitions is written as a name: marked as code, dotted, shaped like an
    /// identifier, or a type with its method.
    pub is_written: bool,
    /// True if the text consists of such names only, so that its words need no search.
    pub is_all: bool,
}

impl Named {
    /// The named definitions in a unit that is not named itself, such as the named fields of a type, if the
    /// text consists of names only.
    pub fn members(&self, unit: &Unit) -> Vec<DefDoc> {
        if !self.is_all {
            return Vec::new();
        }
        let of_unit = self.defs.iter().filter(|(key, _)| *key == unit.key).map(|(_, def)| *def);
        let members: Vec<DefDoc> = of_unit.collect();
        if members.contains(&unit.def) { Vec::new() } else { members }
    }

    /// True if the definition of a unit is named.
    pub fn means(&self, key: UnitKey) -> bool {
        self.meant.iter().any(|u| u.key == key)
    }
}

/// Finds the definitions that `query` names.
pub fn named(units: &mut Units, query: &Query) -> Named {
    let mut out = Named::default();
    let mut seen: FxHashSet<UnitKey> = FxHashSet::default();
    for name in &query.names {
        let parts = parts(&name.text);
        let Some((last, before)) = parts.split_last() else { continue };
        let found = definitions_of(units, last, before, name.form);
        let n_meant = if n_different(units, &found) <= MEANT_MAX { found.len() } else { 0 };
        let is_part = |word: &String| parts.iter().any(|p| p.eq_ignore_ascii_case(word));
        out.is_written |= name.form != NameForm::Word && n_meant > 0;
        out.is_all |= query.kind == Kind::Name
            && name.form != NameForm::Word
            && n_meant > 0
            && query.words.iter().all(is_part);
        // If many methods share a name, none of them counts as named.
        for (i, (def, _)) in found.into_iter().take(LISTED_MAX).enumerate() {
            let Some(unit) = unit_of(units, def) else { continue };
            if i < n_meant {
                out.defs.push((unit.key, def));
            }
            if seen.insert(unit.key) {
                if i < n_meant { out.meant.push(unit) } else { out.listed.push(unit) }
            }
        }
    }
    out
}

/// The unit with the name of a definition. A field may be assigned in a method, beyond the unit of its type.
fn unit_of(units: &mut Units, def: DefDoc) -> Option<Rc<Unit>> {
    let unit = units.of_def(def)?;
    let record = units.def(def);
    let is_within = unit
        .spans
        .iter()
        .any(|(_, lines)| lines.contains(Lines { start: record.name_line, end: record.name_line }));
    if is_within { Some(unit) } else { units.at(record.file, record.name_span.start).or(Some(unit)) }
}

/// The units of the definitions that an expectation names.
pub fn expected(units: &mut Units, expected: &Expected) -> Vec<Rc<Unit>> {
    let parts = parts(&expected.text);
    let Some((last, before)) = parts.split_last() else { return Vec::new() };
    let form = if expected.is_name { NameForm::Identifier } else { NameForm::Word };
    let found = definitions_of(units, last, before, form);
    found.into_iter().filter_map(|(def, _)| units.of_def(def)).collect()
}

/// Returns the definitions that a name may mean: those outside functions, else the few inside them.
/// A plain word must be used as a name, and definitions in tests and vendored copies count only if no other
/// definition has the name.
fn definitions_of(units: &mut Units, last: &str, before: &[&str], form: NameForm) -> Vec<(DefDoc, bool)> {
    let mut found = definitions(units, last, before, false);
    if found.is_empty() {
        found = definitions(units, last, before, true);
        // One of many functions inside others, such as `wrapper`, is not what a name alone means.
        found.truncate(if found.len() > MEANT_MAX { 0 } else { MEANT_MAX });
    }
    if before.is_empty() && form == NameForm::Word {
        found.retain(|(def, _)| is_meant(units, last, *def));
    }
    if found.iter().any(|f| f.1) {
        found.retain(|f| f.1);
    }
    keep_bodies(units, &mut found);
    found
}

/// The number of definitions found, where those of one field are one: each method may assign it.
fn n_different(units: &Units, found: &[(DefDoc, bool)]) -> usize {
    let mut fields = FxHashSet::default();
    let is_new = |(def, _): &&(DefDoc, bool)| {
        let record = units.view.def(*def);
        record.kind != DefKind::Field || fields.insert((record.file, record.qualified))
    };
    found.iter().filter(is_new).count()
}

/// Removes overloads without a body where one of their file has a body: uses lead to that one.
fn keep_bodies(units: &mut Units, found: &mut Vec<(DefDoc, bool)>) {
    let of = |d: &DefRecord| (d.file, Arc::clone(&d.qualified));
    let is_signature = |d: &DefRecord| d.flags.has(DefFlags::OVERLOAD);
    let records: Vec<Rc<DefRecord>> = found.iter().map(|f| units.def(f.0)).collect();
    let bodies: FxHashSet<(FileDoc, Arc<str>)> =
        records.iter().filter(|d| !is_signature(d)).map(|d| of(d)).collect();
    found.retain(|(def, _)| {
        let record = units.def(*def);
        !is_signature(&record) || !bodies.contains(&of(&record))
    });
}

/// Splits a name into its parts: `pkg.Type#method` has three.
fn parts(name: &str) -> Vec<&str> {
    name.split(['.', '#']).flat_map(|p| p.split("::")).filter(|p| !p.is_empty()).collect()
}

/// Returns the definitions called `last` whose enclosing names end in `before`: the names around them, then
/// the module or the folder: those inside functions, functions and types only, or all others. The flag of each
/// is true in code that is neither test nor vendored.
fn definitions(units: &mut Units, last: &str, before: &[&str], is_local: bool) -> Vec<(DefDoc, bool)> {
    let mut out = Vec::new();
    let defs = units.view.defs_named(last);
    if before.is_empty() && defs.len() > LISTED_MAX {
        return out;
    }
    for def in defs {
        let record = units.def(def);
        let is_code = !is_local || record.kind.is_callable() || record.kind.is_type();
        if record.flags.has(DefFlags::LOCAL) != is_local || !is_code || record.idx.some().is_none() {
            continue;
        }
        let file = units.file(record.file);
        if is_within(&record, &file.path, before) {
            out.push((
                def,
                role_of(&file) == Role::Code && !file.roles.has(indexd_model::FileRoles::VENDORED),
            ));
        }
    }
    out
}

/// True if the names in `before` enclose the definition.
fn is_within(def: &DefRecord, path: &str, before: &[&str]) -> bool {
    let mut around: Vec<&str> = dir_of(path).split('/').filter(|c| !c.is_empty()).collect();
    let is_go = path.ends_with(".go");
    // A Go package is a folder. In other languages a file is a module.
    if !is_go && stem_of(path) != "__init__" {
        around.push(stem_of(path));
    }
    let mut scope: Vec<&str> = def.qualified.split('.').collect();
    scope.pop();
    around.extend(scope);
    let same = |a: &str, b: &str| a.trim_start_matches('*') == b;
    before.len() <= around.len()
        && before.iter().rev().zip(around.iter().rev()).all(|(b, a)| same(b.trim_matches(['(', ')']), a))
}

/// True if a plain word names a definition: a large part of the chunks with the word refer to it.
fn is_meant(units: &Units, word: &str, def: DefDoc) -> bool {
    let mut df = 0;
    terms(word, |t| df = df.max(units.view.doc_frequency(t)));
    df <= CHUNKS_PER_USE * (used(units.view, def) + 1)
}
