//! Open files by the names in them.

use crate::loaded::Loaded;
use crate::recorder::Recorder;
use indexd_model::names::qualified_name;
use indexd_model::{BindingId, Def, DefFlags, DefIdx, ExprId, Facts, FileDoc, Key, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;

/// Number of an open file, see [`Loaded`]; 0 is the one being linked.
pub(crate) type File = u32;

/// A definition of an open file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct DefAt {
    pub(crate) file: File,
    pub(crate) def: DefIdx,
}

/// Definitions of one name, in source order.
pub(crate) type Defs = SmallVec<[DefIdx; 2]>;

/// The definitions of a file, by name and by place.
struct Index<'a> {
    members: FxHashMap<(DefIdx, &'a str), Defs>,
    /// Definitions under the name of the object that they are assigned to: `C.prototype`, `exports`.
    given: FxHashMap<(&'a str, &'a str), Defs>,
    by_place: FxHashMap<u32, DefIdx>,
    /// The expression around each; made when it is asked for.
    parents: Option<Rc<[ExprId]>>,
    /// The function literal, or the definition of a function, and the place in its parameters, of each parameter
    /// of one; made when it is asked for.
    functions: Option<FxHashMap<BindingId, (ExprId, usize)>>,
}

/// The files of a run.
pub(crate) struct Files<'a> {
    pub(crate) loaded: &'a Loaded<'a>,
    pub(crate) view: &'a Recorder<'a>,
    indexes: Vec<Option<Index<'a>>>,
    recorded: FxHashSet<DefAt>,
    /// Prefix of the keys of names in each file.
    scopes: Vec<Option<Rc<str>>>,
    /// Members that were asked for.
    members: FxHashMap<DefAt, FxHashMap<Box<str>, Defs>>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(loaded: &'a Loaded<'a>, view: &'a Recorder<'a>) -> Self {
        Self {
            loaded,
            view,
            indexes: Vec::new(),
            recorded: FxHashSet::default(),
            scopes: Vec::new(),
            members: FxHashMap::default(),
        }
    }

    pub(crate) fn open(&self, doc: FileDoc) -> File {
        self.loaded.open(doc)
    }

    pub(crate) fn facts(&self, file: File) -> Facts<'a> {
        self.loaded.facts(file)
    }

    pub(crate) fn def(&self, at: DefAt) -> &'a Def {
        self.loaded.facts(at.file).def(at.def)
    }

    pub(crate) fn name(&self, at: DefAt) -> &'a str {
        self.loaded.facts(at.file).def_name(at.def)
    }

    /// Records that a name of a file was looked up; the file being linked needs no record.
    pub(crate) fn record_name(&mut self, file: File, name: &str) {
        if file == 0 {
            return;
        }
        let n = file as usize;
        if self.scopes.len() <= n {
            self.scopes.resize(n + 1, None);
        }
        let path = self.loaded.path(file);
        let scope = self.scopes[n].get_or_insert_with(|| format!("names:{path}").into());
        self.view.note(Key::member(scope, name));
    }

    /// Records that a definition was read.
    pub(crate) fn record(&mut self, at: DefAt) {
        if at.file != 0 && self.recorded.insert(at) {
            let name = qualified_name(&self.facts(at.file), at.def);
            self.record_name(at.file, &name);
        }
    }

    /// The members of a definition under a name, whether there are any or not; recorded.
    pub(crate) fn members(&mut self, of: DefAt, name: &str) -> Defs {
        if let Some(known) = self.members.get(&of).and_then(|all| all.get(name)) {
            return known.clone();
        }
        if of.file != 0 {
            let owner = qualified_name(&self.facts(of.file), of.def);
            self.record_name(of.file, &format!("{owner}.{name}"));
        }
        let found = self.index(of.file).members.get(&(of.def, name)).cloned().unwrap_or_default();
        self.members.entry(of).or_default().insert(name.into(), found.clone());
        found
    }

    /// The definitions that a file has under a key.
    pub(crate) fn provided(&self, doc: FileDoc, key: Key) -> SmallVec<[DefAt; 4]> {
        let file = self.open(doc);
        self.facts(file).interface.provided(key).map(|def| DefAt { file, def }).collect()
    }

    /// The definitions that files have under a key; none if more than `max` files have some.
    pub(crate) fn provided_by_few(&mut self, key: Key, max: usize) -> Vec<DefAt> {
        let docs = self.view.find(key);
        let docs = docs.iter().filter(|_| docs.len() <= max);
        docs.flat_map(|doc| self.provided(*doc, key)).collect()
    }

    /// The definitions at file level under a name; recorded.
    pub(crate) fn at_top(&mut self, file: File, name: &str) -> Defs {
        self.record_name(file, name);
        self.index(file).members.get(&(DefIdx::NONE, name)).cloned().unwrap_or_default()
    }

    /// Returns the definitions of a name that are assigned to members of `to`, as written.
    pub(crate) fn given(&mut self, file: File, to: &str, name: &str) -> Defs {
        self.record_name(file, &format!("{to}.{name}"));
        self.index(file).given.get(&(to, name)).cloned().unwrap_or_default()
    }

    /// Returns the definition whose name is at a place.
    pub(crate) fn at_place(&mut self, file: File, at: u32) -> Option<DefAt> {
        let def = *self.index(file).by_place.get(&at)?;
        Some(DefAt { file, def })
    }

    /// Definitions that are one together with `at`: equally named in the same scope.
    pub(crate) fn siblings(&mut self, at: DefAt) -> Defs {
        let def = self.def(at);
        let name = self.name(at);
        let all = self.index(at.file).members.get(&(def.parent, name)).cloned().unwrap_or_default();
        if all.contains(&at.def) { all } else { SmallVec::from_slice(&[at.def]) }
    }

    /// The expression directly around another one.
    pub(crate) fn parent(&mut self, file: File, e: ExprId) -> Option<ExprId> {
        let facts = self.facts(file);
        let index = self.index(file);
        let parents = index.parents.get_or_insert_with(|| read_parents(&facts));
        parents.get(e.index())?.some()
    }

    /// The function whose parameter a binding is, as an expression, and the place among its parameters.
    pub(crate) fn function_of(&mut self, file: File, param: BindingId) -> Option<(ExprId, usize)> {
        let facts = self.facts(file);
        let index = self.index(file);
        index.functions.get_or_insert_with(|| read_functions(&facts)).get(&param).copied()
    }

    fn index(&mut self, file: File) -> &mut Index<'a> {
        let n = file as usize;
        if self.indexes.len() <= n {
            self.indexes.resize_with(n + 1, || None);
        }
        let facts = self.facts(file);
        self.indexes[n].get_or_insert_with(|| read_index(&facts))
    }
}

fn read_index<'a>(facts: &Facts<'a>) -> Index<'a> {
    let mut index = Index {
        members: FxHashMap::default(),
        given: FxHashMap::default(),
        by_place: FxHashMap::default(),
        parents: None,
        functions: None,
    };
    for (i, def) in facts.interface.defs.iter().enumerate() {
        let (idx, name) = (DefIdx(i as u32), facts.str(def.name));
        index.by_place.entry(def.name_span.start).or_insert(idx);
        let is_loose = def.parent == DefIdx::NONE && def.flags.has(DefFlags::OF_VALUE);
        if def.flags.has(DefFlags::TITLE) || is_loose {
            continue;
        }
        match def.receiver {
            Some(to) => index.given.entry((facts.str(to), name)).or_default().push(idx),
            None => index.members.entry((def.parent, name)).or_default().push(idx),
        }
    }
    index
}

fn read_parents(facts: &Facts) -> Rc<[ExprId]> {
    let mut parents = vec![ExprId::NONE; facts.n_exprs()];
    for (parent, mut expr) in crate::exprs(*facts) {
        let mut set = |e: ExprId| {
            if let Some(slot) = parents.get_mut(e.index()) {
                *slot = parent;
            }
        };
        let mut lists: SmallVec<[indexd_model::List; 2]> = SmallVec::new();
        expr.node.parts_mut(&mut |part| match part {
            indexd_model::facts::Part::Expr(e) => set(*e),
            indexd_model::facts::Part::List(list) => lists.push(*list),
            _ => {}
        });
        lists.iter().for_each(|l| facts.list(*l).iter().for_each(|e| set(*e)));
    }
    parents.into()
}

fn read_functions(facts: &Facts) -> FxHashMap<BindingId, (ExprId, usize)> {
    let mut out: FxHashMap<BindingId, (ExprId, usize)> = FxHashMap::default();
    for (e, expr) in crate::exprs(*facts) {
        match expr.node {
            Node::Lambda { params, .. } => {
                for (n, p) in facts.list(params).iter().enumerate() {
                    if let Node::Name { binding, .. } = facts.expr(*p).node {
                        out.insert(binding, (e, n));
                    }
                }
            }
            Node::Def { def } => {
                for (n, p) in facts.def(def).params.iter().enumerate() {
                    out.insert(*p, (e, n));
                }
            }
            _ => {}
        }
    }
    out
}
