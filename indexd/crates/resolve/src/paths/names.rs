//! Definitions of a file by name: a linker asks for many names of one file.

use super::Linker;
use indexd_model::{DefFlags, DefIdx, Facts, FactsView, FileDoc, Interface};
use rustc_hash::FxHasher;
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// The interface of a file, and its definitions by name once one was asked for.
pub(super) struct Opened {
    pub(super) interface: Arc<Interface>,
    /// Hashes of names with their definitions, sorted.
    by_name: OnceCell<Vec<(u64, DefIdx)>>,
}

impl Opened {
    /// The definitions of a name, in source order of the interface.
    fn named(&self, name: &str) -> Vec<DefIdx> {
        let facts = Facts::outside(&self.interface);
        let by_name = self.by_name.get_or_init(|| {
            let defs = self.interface.defs.iter().enumerate();
            let mut all: Vec<(u64, DefIdx)> =
                defs.map(|(i, d)| (hash_of(facts.str(d.name)), DefIdx(i as u32))).collect();
            all.sort_unstable();
            all
        });
        let hash = hash_of(name);
        let from = by_name.partition_point(|n| n.0 < hash);
        let equal = by_name[from..].iter().take_while(|n| n.0 == hash).map(|n| n.1);
        let is_meant = |d: &DefIdx| facts.def_name(*d) == name && !facts.def(*d).flags.has(DefFlags::TITLE);
        equal.filter(is_meant).collect()
    }
}

fn hash_of(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}

impl Linker<'_> {
    pub(super) fn opened(&self, file: FileDoc) -> Rc<Opened> {
        let of = || if file == self.file { Arc::clone(&self.own) } else { self.recorder.interface(file) };
        let mut opened = self.opened.borrow_mut();
        let opened = opened.entry(file);
        Rc::clone(opened.or_insert_with(|| Rc::new(Opened { interface: of(), by_name: OnceCell::new() })))
    }

    /// The definitions of a name in a file, wherever in it.
    pub(super) fn named(&self, file: FileDoc, name: &str) -> Vec<DefIdx> {
        self.opened(file).named(name)
    }

    /// The definitions of a name that lie in a definition of this file.
    pub(super) fn children_named(&self, def: DefIdx, name: &str) -> Vec<DefIdx> {
        self.named(self.file, name).into_iter().filter(|d| self.facts.def(*d).parent == def).collect()
    }
}
