//! The linker for Go: what every identifier of one file names.
//!
//! Go is statically typed and its facts hold every declared type, so a use is resolved by following
//! the language's own rules: `packages` (modules and import paths to folders), `names` (scopes and
//! package-level names), `eval` (types of expressions), `members` (fields and methods, promoted ones
//! too), `generics` (instantiation and inference) and `implement` (method sets against interfaces).
//! `uses` walks the expressions of the file and writes the links down. Whatever comes from outside
//! the tree has an external type, and so has everything made from it: it is never tied to a
//! definition that merely has the same name.

mod build;
mod eval;
mod generics;
mod implement;
mod members;
mod names;
mod packages;
mod types;
mod universe;
mod uses;

use crate::loaded::{Blocks, Loaded};
use crate::recorder::Recorder;
use build::{Build, Constraint};
use indexd_model::path::dir_of;
use indexd_model::{DefIdx, Facts, FileDoc, FileRoles, Key, Links};
use members::Selection;
use names::Entity;
use packages::{Package, Packages};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use types::{DefAt, TyId, Types};

/// Links one Go file. Copies of other repositories in a `vendor` folder are searchable, not linked.
pub(crate) fn link(file: FileDoc, facts: Facts, view: &Recorder) -> Links {
    let blocks = Blocks::default();
    let loaded = Loaded::new(view, &blocks, file, facts);
    if facts.interface.roles.has(FileRoles::VENDORED) && loaded.path(0).split('/').any(|c| c == "vendor") {
        return Links::default();
    }
    let mut linker = Linker::new(view, &loaded);
    uses::run(&mut linker)
}

/// Types nested deeper than this, or evaluated through more definitions, are unknown.
const DEPTH_MAX: u32 = 100;

/// The state of one linking run: the open files and everything known so far.
struct Linker<'a> {
    view: &'a Recorder<'a>,
    loaded: &'a Loaded<'a>,
    files: Vec<File<'a>>,
    build: Build,
    types: Types,
    packages: Packages<'a>,
    /// Entities of names and selectors, by expression.
    entities: Memos<Entity>,
    expr_types: Memos<TyId>,
    binding_types: Memos<TyId>,
    /// Types in the making are unknown.
    def_types: FxHashMap<DefAt, TyId>,
    underlying: FxHashMap<TyId, TyId>,
    selections: FxHashMap<(TyId, &'a str), Selection>,
    own_members: FxHashMap<(DefAt, &'a str), Option<DefAt>>,
    /// See [`Linker::interface_methods`].
    interfaces: FxHashMap<TyId, Option<Specifications>>,
    /// See [`Linker::own_methods`].
    methods: FxHashMap<TyId, Rc<implement::Methods<'a>>>,
    /// See [`Linker::provided`].
    provided: FxHashMap<Key, Option<Rc<[DefAt]>>>,
    free_names: FxHashMap<(u32, &'a str), Entity>,
    /// Other definitions that fit as well as the first one that was found.
    others: FxHashMap<DefAt, Vec<DefAt>>,
    /// Definitions of other builds in place of the one that was found.
    variants: FxHashMap<DefAt, Vec<DefAt>>,
    /// Numbers of paths and qualified names outside the tree, see [`types::Ty::External`].
    external_names: FxHashMap<String, u32>,
    /// Depth of evaluation, see [`DEPTH_MAX`].
    depth: u32,
}

/// Methods that an interface asks for, with their types.
type Specifications = Rc<[(DefAt, TyId)]>;

/// Answers by number of an expression or a binding.
struct Memos<T> {
    /// Entries of the file being linked.
    own: Vec<Option<T>>,
    /// Entries of other files.
    far: FxHashMap<(u32, u32), T>,
}

impl<T: Copy> Memos<T> {
    fn new(n_own: usize) -> Self {
        Self { own: vec![None; n_own], far: FxHashMap::default() }
    }

    fn get(&self, file: u32, id: u32) -> Option<T> {
        if file > 0 {
            self.far.get(&(file, id)).copied()
        } else {
            self.own.get(id as usize).copied().flatten()
        }
    }

    fn set(&mut self, file: u32, id: u32, answer: T) {
        if file > 0 {
            self.far.insert((file, id), answer);
        } else if let Some(slot) = self.own.get_mut(id as usize) {
            *slot = Some(answer);
        }
    }
}

impl Memos<TyId> {
    /// The type, if it is known or in the making. If not, it is in the making from now on. Until it is
    /// set, it is unknown.
    fn begin(&mut self, file: u32, id: u32) -> Option<TyId> {
        let known = self.get(file, id);
        if known.is_none() {
            self.set(file, id, Types::UNKNOWN);
        }
        known
    }
}

/// An open file.
struct File<'a> {
    facts: Facts<'a>,
    doc: FileDoc,
    path: &'a str,
    dir: &'a str,
    /// The name of its package clause.
    clause: &'a str,
    is_test: bool,
    /// True if the build has the file; `None` until asked.
    is_built: Option<bool>,
    /// The package it sees names of; known when asked.
    package: Option<u32>,
    children: Option<Children>,
}

/// Definitions by parent.
struct Children {
    /// For each definition, where its children start in `list`; one more at the end.
    starts: Vec<u32>,
    list: Vec<DefIdx>,
}

impl Children {
    fn new(facts: &Facts) -> Self {
        let defs = &facts.interface.defs;
        let mut starts = vec![0u32; defs.len() + 1];
        for d in defs {
            if let Some(p) = d.parent.some() {
                starts[p.index()] += 1;
            }
        }
        let mut sum = 0;
        for s in &mut starts {
            sum += std::mem::replace(s, sum);
        }
        let mut next = starts.clone();
        let mut list = vec![DefIdx::NONE; sum as usize];
        for (i, d) in defs.iter().enumerate() {
            if let Some(p) = d.parent.some() {
                list[next[p.index()] as usize] = DefIdx(i as u32);
                next[p.index()] += 1;
            }
        }
        Self { starts, list }
    }

    fn of(&self, parent: DefIdx) -> &[DefIdx] {
        match self.starts.get(parent.index()..parent.index() + 2) {
            Some(&[start, end]) => &self.list[start as usize..end as usize],
            _ => &[],
        }
    }
}

impl<'a> Linker<'a> {
    fn new(view: &'a Recorder<'a>, loaded: &'a Loaded<'a>) -> Self {
        let facts = loaded.facts(0);
        let constraint = facts.interface.constraint.map(|c| facts.str(c));
        let mut it = Self {
            view,
            loaded,
            files: Vec::new(),
            build: Build::of(&Constraint::new(loaded.path(0), constraint)),
            types: Types::new(),
            packages: Packages::default(),
            entities: Memos::new(facts.n_exprs()),
            expr_types: Memos::new(facts.n_exprs()),
            binding_types: Memos::new(facts.n_bindings()),
            def_types: FxHashMap::default(),
            underlying: FxHashMap::default(),
            selections: FxHashMap::default(),
            own_members: FxHashMap::default(),
            interfaces: FxHashMap::default(),
            methods: FxHashMap::default(),
            provided: FxHashMap::default(),
            free_names: FxHashMap::default(),
            others: FxHashMap::default(),
            variants: FxHashMap::default(),
            external_names: FxHashMap::default(),
            depth: 0,
        };
        it.register(0);
        it
    }

    /// Opens a file, or finds it among those already open.
    fn open(&mut self, doc: FileDoc) -> u32 {
        let n = self.loaded.open(doc);
        if n as usize == self.files.len() {
            self.register(n);
        }
        n
    }

    fn register(&mut self, n: u32) {
        let facts = self.loaded.facts(n);
        let path = self.loaded.path(n);
        self.files.push(File {
            facts,
            doc: self.loaded.doc(n),
            path,
            dir: dir_of(path),
            clause: facts.interface.package.map_or("", |p| facts.str(p)),
            is_test: path.ends_with("_test.go"),
            is_built: None,
            package: None,
            children: None,
        });
    }

    fn file(&self, n: u32) -> &File<'a> {
        &self.files[n as usize]
    }

    fn facts(&self, n: u32) -> Facts<'a> {
        self.files[n as usize].facts
    }

    fn def(&self, at: DefAt) -> &'a indexd_model::Def {
        self.facts(at.file).def(at.def)
    }

    fn def_name(&self, at: DefAt) -> &'a str {
        self.facts(at.file).def_name(at.def)
    }

    /// Returns true if the build has the file.
    fn is_built(&mut self, n: u32) -> bool {
        if let Some(known) = self.files[n as usize].is_built {
            return known;
        }
        let constraint = self.constraint_of(n);
        let is_built = constraint.is_none() || constraint.allows(&self.build);
        self.files[n as usize].is_built = Some(is_built);
        is_built
    }

    fn constraint_of(&self, n: u32) -> Constraint<'a> {
        let file = self.file(n);
        let expr = file.facts.interface.constraint.map(|c| file.facts.str(c));
        Constraint::new(file.path, expr)
    }

    /// Returns true if the file being linked may be built together with another one that its own build lacks.
    fn may_be_built_with(&self, n: u32) -> bool {
        let own = self.constraint_of(0);
        own.is_none() || own.allows(&Build::of(&self.constraint_of(n)))
    }

    /// Definitions inside a definition of an open file.
    fn children(&mut self, at: DefAt) -> &[DefIdx] {
        if at.def == DefIdx::NONE {
            return &[];
        }
        let file = &mut self.files[at.file as usize];
        let facts = file.facts;
        file.children.get_or_insert_with(|| Children::new(&facts)).of(at.def)
    }

    /// The package whose names a file sees.
    fn package_of(&mut self, n: u32) -> u32 {
        if let Some(p) = self.files[n as usize].package {
            return p;
        }
        let file = self.file(n);
        let is_external_test = file.is_test && file.clause.ends_with("_test");
        let package = Package::new(file.dir, file.clause, is_external_test, file.is_test);
        let p = self.packages.intern(package);
        self.files[n as usize].package = Some(p);
        p
    }

    /// Runs `f` unless evaluation is too deep already.
    fn guarded<T>(&mut self, too_deep: T, f: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEPTH_MAX {
            return too_deep;
        }
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        out
    }
}

#[cfg(test)]
mod tests;
