//! The linker for Python.
//!
//! It answers one question, *which definition does this identifier name*, by asking for the type of the
//! expression before the dot. Types come from annotations, constructors, returned expressions and
//! assignments, read from the facts of the defining file; nothing is guessed from a bare name. Values from
//! outside the tree are [`Type::External`](types::Type::External) and stay so through every attribute and
//! call, so that a dependency's method is never mistaken for one of ours.
//!
//! Reading order: `modules` and `members` (names to definitions), `classes`, `eval` (expressions), `attrs`,
//! `calls`, `annotations`, `stdlib` (the language's own containers), `uses` (links and unresolved uses).

mod annotations;
mod attrs;
mod calls;
mod classes;
mod eval;
mod generics;
mod members;
mod modules;
mod names;
mod std_table;
mod stdlib;
mod types;
mod uses;

use crate::loaded::{Blocks, Loaded};
use crate::recorder::Recorder;
use classes::{Class, Member};
use eval::Slot;
use indexd_model::{DefIdx, ExprId, Facts, FileDoc, Links};
use members::Found;
use modules::Module;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use types::{ClassId, File, Ty, Types};

/// Links one Python file.
pub(crate) fn link(file: FileDoc, facts: Facts, view: &Recorder) -> Links {
    let blocks = Blocks::default();
    let loaded = Loaded::new(view, &blocks, file, facts);
    let mut linker = Linker::new(&loaded, view);
    linker.run()
}

/// One linking run. File 0 is the one being linked.
struct Linker<'a> {
    loaded: &'a Loaded<'a>,
    view: &'a Recorder<'a>,
    types: Types,
    modules: FxHashMap<(File, u16, &'a str), Module>,
    roots: FxHashMap<(File, Box<str>), Option<String>>,
    /// By how many imports had been followed, too.
    module_members: FxHashMap<(File, &'a str, u8), Rc<Found>>,
    /// Members being looked for.
    open_members: FxHashSet<(File, &'a str)>,
    /// Imports being followed, one inside the other.
    n_followed: u8,
    module_scopes: FxHashMap<File, Rc<str>>,
    classes: Vec<Class>,
    class_ids: FxHashMap<(File, DefIdx), ClassId>,
    class_members: FxHashMap<(ClassId, &'a str), Option<Rc<Member>>>,
    own_members: FxHashMap<(ClassId, &'a str), Option<Rc<Member>>>,
    attrs: FxHashMap<(Ty, &'a str), Rc<attrs::Attr>>,
    /// Types of this file's expressions, by number.
    own_exprs: Vec<Slot>,
    exprs: FxHashMap<(File, ExprId), Slot>,
    annotations: FxHashMap<(File, ExprId), Slot>,
    bindings: FxHashMap<(File, indexd_model::BindingId), Slot>,
    defs: FxHashMap<(File, DefIdx), Slot>,
    returns: FxHashMap<(File, DefIdx), Slot>,
    /// Starts of definitions by file, for finding the one around a place.
    spans: FxHashMap<File, Rc<[uses::DefSpan]>>,
    /// Questions being answered, one inside the other.
    depth: u32,
    /// The outermost question that an answer under way found open; see [`eval::Slot`].
    lowest: u32,
    /// Answers not kept so far because they were partial.
    n_partial: u32,
}

impl<'a> Linker<'a> {
    fn new(loaded: &'a Loaded<'a>, view: &'a Recorder<'a>) -> Self {
        let n_exprs = loaded.facts(0).n_exprs();
        Self {
            loaded,
            view,
            types: Types::new(),
            modules: FxHashMap::default(),
            roots: FxHashMap::default(),
            module_members: FxHashMap::default(),
            open_members: FxHashSet::default(),
            n_followed: 0,
            module_scopes: FxHashMap::default(),
            classes: Vec::new(),
            class_ids: FxHashMap::default(),
            class_members: FxHashMap::default(),
            own_members: FxHashMap::default(),
            attrs: FxHashMap::default(),
            own_exprs: vec![Slot::Empty; n_exprs],
            exprs: FxHashMap::default(),
            annotations: FxHashMap::default(),
            bindings: FxHashMap::default(),
            defs: FxHashMap::default(),
            returns: FxHashMap::default(),
            spans: FxHashMap::default(),
            depth: 0,
            lowest: u32::MAX,
            n_partial: 0,
        }
    }

    fn facts(&self, file: File) -> Facts<'a> {
        self.loaded.facts(file)
    }
}

#[cfg(test)]
mod tests;
