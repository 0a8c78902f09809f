//! Definitions that the text names exactly: `Type.method`, `pkg.Func`, `module.Class.method`,
//! `path:line`, a type and its method side by side, an identifier, or a plain word that means little
//! but one definition in this tree.

use crate::query::{Kind, NameForm, Query};
use crate::role::{Role, role_of};
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::path::{dir_of, stem_of};
use indexd_model::view::DefRecord;
use indexd_model::{DefDoc, DefFlags, EdgeKind};
use indexd_text::terms;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Definitions of one name that count as named; of more, the name says too little.
const MEANT_MAX: usize = 3;
/// Definitions of one name that are looked at, and listed at most.
const LISTED_MAX: usize = 24;
/// A plain word is a name when at least one in this many chunks that hold it refers to the definition.
const CHUNKS_PER_USE: u32 = 3;

/// What the text names.
#[derive(Default)]
pub struct Named {
    /// The units of definitions that are meant, in order of mention, then by path and place.
    pub meant: Vec<Rc<Unit>>,
    /// Definitions that are meant and that the unit of another shows, as a type does the methods of an
    /// interface.
    pub members: Vec<(UnitKey, DefDoc)>,
    /// Further definitions of names with several, by path and place.
    pub listed: Vec<Rc<Unit>>,
    /// The units of what the change of the request is about.
    pub changed: Vec<Rc<Unit>>,
    /// Whether the text is nothing but names of what is meant, so that its words ask for nothing else.
    pub is_all: bool,
}

impl Named {
    /// Whether a unit is meant.
    pub fn means(&self, key: UnitKey) -> bool {
        self.meant.iter().any(|u| u.key == key)
    }
}

/// Finds what `query` names.
pub fn named(units: &mut Units, query: &Query) -> Named {
    let mut out = Named::default();
    let mut seen: FxHashSet<UnitKey> = FxHashSet::default();
    for name in &query.names {
        let parts = parts(&name.text);
        let Some((last, before)) = parts.split_last() else { continue };
        let mut found = definitions(units, last, before);
        if before.is_empty() && name.form == NameForm::Word {
            found.retain(|(def, _)| is_meant(units, last, *def));
        }
        // Tests and vendored copies are meant only where nothing else bears the name.
        if found.iter().any(|f| f.1) {
            found.retain(|f| f.1);
        }
        let n_meant = if found.len() <= MEANT_MAX { found.len() } else { 0 };
        let is_part = |word: &String| parts.iter().any(|p| p.eq_ignore_ascii_case(word));
        out.is_all |= query.kind == Kind::Name
            && name.form != NameForm::Word
            && n_meant > 0
            && query.words.iter().all(is_part);
        // Of many methods with one name none is meant more than another.
        for (i, (def, _)) in found.into_iter().take(LISTED_MAX).enumerate() {
            let Some(unit) = units.of_def(def) else { continue };
            if i < n_meant && unit.def != def {
                out.members.push((unit.key, def));
            }
            if seen.insert(unit.key) {
                if i < n_meant { out.meant.push(unit) } else { out.listed.push(unit) }
            }
        }
    }
    out
}

/// The names that a name is made of: `pkg.Type#method` has three.
fn parts(name: &str) -> Vec<&str> {
    name.split(['.', '#']).flat_map(|p| p.split("::")).filter(|p| !p.is_empty()).collect()
}

/// Definitions called `last` whose surroundings end in `before`: the names around them, then the
/// module or the folder. Says of each whether it is code that does the work.
fn definitions(units: &mut Units, last: &str, before: &[&str]) -> Vec<(DefDoc, bool)> {
    let mut out = Vec::new();
    let defs = units.view.defs_named(last);
    if before.is_empty() && defs.len() > LISTED_MAX {
        return out;
    }
    for def in defs {
        let record = units.def(def);
        if record.flags.has(DefFlags::LOCAL) || record.idx.some().is_none() {
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

/// Whether the names before the last one are those around a definition.
fn is_within(def: &DefRecord, path: &str, before: &[&str]) -> bool {
    let mut around: Vec<&str> = dir_of(path).split('/').filter(|c| !c.is_empty()).collect();
    let is_go = path.ends_with(".go");
    // A Go package is its folder; elsewhere a file is a module.
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

/// Whether a plain word stands for a definition: much of the code that holds the word refers to it.
fn is_meant(units: &Units, word: &str, def: DefDoc) -> bool {
    let mut df = 0;
    terms(word, |t| df = df.max(units.view.doc_frequency(t)));
    let uses = units.view.in_degree(def, EdgeKind::Call) + units.view.in_degree(def, EdgeKind::Usage);
    df <= CHUNKS_PER_USE * (uses + 1)
}
