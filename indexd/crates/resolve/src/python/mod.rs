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

use crate::around::Around;
use crate::loaded::{Blocks, Loaded};
use crate::recorder::Recorder;
use crate::typed::Questions;
use crate::typed::slots::{Answers, Asks};
use classes::Classes;
use indexd_model::{Facts, FileDoc, Links};
use members::Members;
use modules::Modules;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use types::{File, Ty, Types};

/// Links one Python file.
pub(crate) fn link(file: FileDoc, facts: Facts, view: &Recorder) -> Links {
    let blocks = Blocks::default();
    let loaded = Loaded::new(view, &blocks, file, facts);
    let mut linker = Linker::new(&loaded, view);
    linker.run()
}

/// Expressions under evaluation at once; deeper chains are not followed.
const DEPTH_MAX: u32 = 80;
/// Partial answers after which everything is kept, but one.
const PARTIAL_MAX: u32 = 49_999;

/// One linking run. File 0 is the one being linked.
struct Linker<'a> {
    loaded: &'a Loaded<'a>,
    view: &'a Recorder<'a>,
    types: Types,
    modules: Modules<'a>,
    members: Members<'a>,
    classes: Classes<'a>,
    attrs: FxHashMap<(Ty, &'a str), Rc<attrs::Attr>>,
    answers: Answers,
    /// The definitions around places, by file.
    around: FxHashMap<File, Around>,
    questions: Questions,
}

impl Asks for Linker<'_> {
    fn questions(&mut self) -> &mut Questions {
        &mut self.questions
    }
}

impl<'a> Linker<'a> {
    fn new(loaded: &'a Loaded<'a>, view: &'a Recorder<'a>) -> Self {
        let n_exprs = loaded.facts(0).n_exprs();
        Self {
            loaded,
            view,
            types: Types::new(),
            modules: Modules::default(),
            members: Members::default(),
            classes: Classes::default(),
            attrs: FxHashMap::default(),
            answers: Answers::new(n_exprs),
            around: FxHashMap::default(),
            questions: Questions::new(DEPTH_MAX, PARTIAL_MAX, n_exprs),
        }
    }

    fn facts(&self, file: File) -> Facts<'a> {
        self.loaded.facts(file)
    }
}

#[cfg(test)]
mod tests;
