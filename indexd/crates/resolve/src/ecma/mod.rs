//! The linker for TypeScript and JavaScript.
//!
//! A name that no scope of its file binds is a definition of the file or an import; an import is followed by
//! its path ([`modules`]) and through re-exports to a definition ([`names`]). A member is looked up in the
//! type of the expression before the dot ([`attrs`]). Types come from annotations ([`written`]), values,
//! results and the type expected at a place ([`eval`], [`calls`], [`context`]); conditions narrow them
//! ([`narrow`]). The standard library is a table ([`std`]). Nothing is guessed from a bare name: a use whose
//! receiver is not known is unresolved.

mod attrs;
mod calls;
mod context;
mod eval;
mod modules;
mod names;
mod narrow;
mod std;
mod unify;
mod uses;
mod written;

use crate::loaded::{Blocks, Loaded};
use crate::recorder::Recorder;
use crate::typed::slots::{Answers, Asks};
use crate::typed::{DefAt, File, Files, NameId, Questions, Ty, Types};
use ::std::rc::Rc;
use indexd_model::{ExprId, Facts, FileDoc, Links};
use names::{Found, Space, Target};
use rustc_hash::FxHashMap;

/// Links one TypeScript or JavaScript file.
pub(crate) fn link(file: FileDoc, facts: Facts, recorder: &Recorder) -> Links {
    let blocks = Blocks::default();
    let loaded = Loaded::new(recorder, &blocks, file, facts);
    Linker::new(&loaded, recorder).run()
}

/// One linking run. File 0 is the one being linked.
struct Linker<'a> {
    files: Files<'a>,
    types: Types,
    questions: Questions,
    answers: Answers,
    modules: FxHashMap<(File, &'a str), Target>,
    tops: FxHashMap<(File, &'a str, Space), Found>,
    exports: FxHashMap<(File, NameId, Space), Found>,
    passed_on: FxHashMap<File, Rc<FxHashMap<FileDoc, usize>>>,
    /// The declarations for all files, by name.
    globals: FxHashMap<NameId, Rc<[DefAt]>>,
    bases: FxHashMap<DefAt, Rc<[Ty]>>,
    attrs: FxHashMap<(Ty, NameId, bool), Rc<attrs::Attr>>,
    roots: FxHashMap<File, Rc<FxHashMap<ExprId, context::Root>>>,
    implementations: FxHashMap<(DefAt, &'a str), Rc<[DefAt]>>,
    /// Types that are expanded, one inside the other.
    n_expanded: u32,
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
            files: Files::new(loaded, view),
            types: Types::new(),
            questions: Questions::new(60, 20_000, n_exprs),
            answers: Answers::new(n_exprs),
            modules: FxHashMap::default(),
            tops: FxHashMap::default(),
            exports: FxHashMap::default(),
            passed_on: FxHashMap::default(),
            globals: FxHashMap::default(),
            bases: FxHashMap::default(),
            attrs: FxHashMap::default(),
            roots: FxHashMap::default(),
            implementations: FxHashMap::default(),
            n_expanded: 0,
        }
    }

    fn facts(&self, file: File) -> Facts<'a> {
        self.files.facts(file)
    }
}

#[cfg(test)]
mod tests;
