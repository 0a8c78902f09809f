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
use crate::remembered::{nested, remembered};
use crate::typed::slots::Memos;
use build::{Build, Constraint};
use indexd_model::path::dir_of;
use indexd_model::{DefIdx, Facts, FileDoc, FileRoles, Key, Links};
use members::Selection;
use names::Entity;
use packages::{Package, Packages};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use types::{DefAt, Ty, Types};

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
    build: Build,
    /// Files that the build has, and those that it lacks.
    built: FxHashMap<u32, bool>,
    types: Types,
    packages: Packages<'a>,
    /// The packages whose names files see.
    own_packages: FxHashMap<u32, u32>,
    /// Definitions by file and parent.
    children: FxHashMap<u32, Rc<Children>>,
    /// Entities of names and selectors, by expression.
    entities: Memos<Entity>,
    expr_types: Memos<Ty>,
    binding_types: Memos<Ty>,
    /// Types in the making are unknown.
    def_types: FxHashMap<DefAt, Ty>,
    underlying: FxHashMap<Ty, Ty>,
    selections: FxHashMap<(Ty, &'a str), Selection>,
    own_members: FxHashMap<(DefAt, &'a str), Option<DefAt>>,
    /// See [`Linker::interface_methods`].
    interfaces: FxHashMap<Ty, Option<Specifications>>,
    /// See [`Linker::own_methods`].
    methods: FxHashMap<Ty, Rc<implement::Methods<'a>>>,
    /// See [`Linker::provided`].
    provided: FxHashMap<Key, Option<Rc<[DefAt]>>>,
    free_names: FxHashMap<(u32, &'a str), Entity>,
    /// Other definitions that fit as well as the first one that was found.
    others: FxHashMap<DefAt, Vec<DefAt>>,
    /// Definitions of other builds in place of the one that was found.
    variants: FxHashMap<DefAt, Vec<DefAt>>,
    /// Depth of evaluation, see [`DEPTH_MAX`].
    depth: u32,
}

/// Methods that an interface asks for, with their types.
type Specifications = Rc<[(DefAt, Ty)]>;

/// An open file.
#[derive(Clone, Copy)]
struct File<'a> {
    facts: Facts<'a>,
    path: &'a str,
    dir: &'a str,
    /// The name of its package clause.
    clause: &'a str,
    is_test: bool,
}

/// Definitions by parent.
type Children = FxHashMap<DefIdx, Vec<DefIdx>>;

impl<'a> Linker<'a> {
    fn new(view: &'a Recorder<'a>, loaded: &'a Loaded<'a>) -> Self {
        let facts = loaded.facts(0);
        let constraint = facts.interface.constraint.map(|c| facts.str(c));
        Self {
            view,
            loaded,
            build: Build::of(&Constraint::new(loaded.path(0), constraint)),
            built: FxHashMap::default(),
            types: Types::new(),
            packages: Packages::default(),
            own_packages: FxHashMap::default(),
            children: FxHashMap::default(),
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
            depth: 0,
        }
    }

    /// Opens a file, or finds it among those already open.
    fn open(&self, doc: FileDoc) -> u32 {
        self.loaded.open(doc)
    }

    fn file(&self, n: u32) -> File<'a> {
        let (facts, path) = (self.facts(n), self.loaded.path(n));
        let clause = facts.interface.package.map_or("", |p| facts.str(p));
        File { facts, path, dir: dir_of(path), clause, is_test: path.ends_with("_test.go") }
    }

    fn facts(&self, n: u32) -> Facts<'a> {
        self.loaded.facts(n)
    }

    fn def(&self, at: DefAt) -> &'a indexd_model::Def {
        self.facts(at.file).def(at.def)
    }

    fn def_name(&self, at: DefAt) -> &'a str {
        self.facts(at.file).def_name(at.def)
    }

    /// Returns true if the build has the file.
    fn is_built(&mut self, n: u32) -> bool {
        remembered(self, |l| &mut l.built, n, |l| l.constraint_of(n).allows(&l.build))
    }

    fn constraint_of(&self, n: u32) -> Constraint<'a> {
        let file = self.file(n);
        let expr = file.facts.interface.constraint.map(|c| file.facts.str(c));
        Constraint::new(file.path, expr)
    }

    /// Returns true if the file being linked may be built together with another one that its own build lacks.
    fn may_be_built_with(&self, n: u32) -> bool {
        let own = self.constraint_of(0);
        own.allows(&Build::of(&self.constraint_of(n)))
    }

    /// Definitions by parent, of an open file.
    fn children(&mut self, n: u32) -> Rc<Children> {
        let find = |l: &mut Self| {
            let mut all = Children::default();
            for (i, d) in l.facts(n).interface.defs.iter().enumerate() {
                all.entry(d.parent).or_default().push(DefIdx(i as u32));
            }
            Rc::new(all)
        };
        remembered(self, |l| &mut l.children, n, find)
    }

    /// The package whose names a file sees.
    fn package_of(&mut self, n: u32) -> u32 {
        let find = |l: &mut Self| {
            let file = l.file(n);
            let is_external_test = file.is_test && file.clause.ends_with("_test");
            l.packages.intern(Package::new(file.dir, file.clause, is_external_test, file.is_test))
        };
        remembered(self, |l| &mut l.own_packages, n, find)
    }

    /// Runs `f` unless evaluation is too deep already.
    fn guarded<T>(&mut self, too_deep: T, f: impl FnOnce(&mut Self) -> T) -> T {
        nested(self, |l| &mut l.depth, DEPTH_MAX, f).unwrap_or(too_deep)
    }
}

#[cfg(test)]
mod tests;
