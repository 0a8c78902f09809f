//! Digests of everything that other files can observe: equal digests mean that other files link as before.
//!
//! A digest is free of positions and of file-local numbers. A free name contributes its text and, when it
//! names an import of the file, the import behind it, since that decides its meaning.

use crate::builder::{children_of, lists_of};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::path::mentions;
use indexd_model::{BindingId, DefIdx, ExprId, Facts, Key, Language, Node, Source, StrId};
use rustc_hash::FxHashMap;
use std::hash::Hasher;

/// Nesting of an expression that counts: more than linkers follow.
const DEPTH_MAX: u32 = 120;

/// Computes digests of one file's entries.
pub struct Digester<'a> {
    facts: Facts<'a>,
    /// Imports by the name they bind.
    imports: FxHashMap<StrId, Vec<usize>>,
    /// Go imports without an alias: the package clause of the target decides the name that they bind.
    unnamed: Vec<usize>,
    /// Free names, with their imports.
    free_names: FxHashMap<StrId, FreeName>,
    bindings: FxHashMap<BindingId, u64>,
    defs: FxHashMap<DefIdx, u64>,
    children: FxHashMap<DefIdx, Vec<DefIdx>>,
    file: Option<u64>,
}

/// A free name, as the imports of a file bind it.
#[derive(Clone, Copy)]
struct FreeName {
    /// Hash of the imports that may bind it.
    digest: u64,
    /// True if an import is known, by its alias or its path, to bind it.
    is_named: bool,
}

/// A stable 64-bit hash under construction (FxHash is not stable across versions; this is FNV-1a).
struct Fnv(u64);

impl Fnv {
    fn new(tag: u8) -> Self {
        let mut h = Self(0xcbf2_9ce4_8422_2325);
        h.write(&[tag]);
        h
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0 ^ x).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
            ^ x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl<'a> Digester<'a> {
    /// Prepares for one file.
    pub fn new(facts: Facts<'a>) -> Self {
        let mut imports: FxHashMap<StrId, Vec<usize>> = FxHashMap::default();
        let mut unnamed = Vec::new();
        for (i, import) in facts.interface.imports.iter().enumerate() {
            if facts.interface.language == Language::Go
                && import.kind == ImportKind::Module
                && import.alias.is_none()
            {
                unnamed.push(i);
                continue;
            }
            let bound = import.alias.unwrap_or_else(|| import.name.unwrap_or(import.module));
            imports.entry(bound).or_default().push(i);
        }
        let mut children: FxHashMap<DefIdx, Vec<DefIdx>> = FxHashMap::default();
        for (i, def) in facts.interface.defs.iter().enumerate() {
            if def.parent.some().is_some() {
                children.entry(def.parent).or_default().push(DefIdx(i as u32));
            }
        }
        Self {
            facts,
            imports,
            unnamed,
            free_names: FxHashMap::default(),
            bindings: FxHashMap::default(),
            defs: FxHashMap::default(),
            children,
            file: None,
        }
    }

    /// The digest of an entry: of a definition, or of the file for `DefIdx::NONE`.
    pub fn entry(&mut self, def: DefIdx) -> u64 {
        match def.some() {
            Some(d) => self.def(d),
            None => self.file(),
        }
    }

    fn file(&mut self) -> u64 {
        if let Some(d) = self.file {
            return d;
        }
        let mut h = Fnv::new(1);
        let f = self.facts.interface;
        h.write_u64(f.language as u64);
        for s in [f.package, f.constraint] {
            h.write(s.map_or("-", |s| self.facts.str(s)).as_bytes());
            h.write(&[0]);
        }
        for s in f.exports.iter().flatten() {
            h.write(self.facts.str(*s).as_bytes());
            h.write(&[0]);
        }
        h.write(&[u8::from(f.exports.is_some())]);
        for i in &f.imports {
            h.write_u64(import_digest(&self.facts, i));
        }
        self.file = Some(h.finish());
        h.finish()
    }

    fn def(&mut self, def: DefIdx) -> u64 {
        if let Some(&d) = self.defs.get(&def) {
            return d;
        }
        // Until this is done, a type that mentions itself (through its own fields) counts by its name.
        self.defs.insert(def, 0);
        let d = self.facts.def(def);
        let mut h = Fnv::new(2);
        h.write(self.facts.str(d.name).as_bytes());
        h.write(&[0, d.kind as u8]);
        h.write(&d.flags.0.to_le_bytes());
        h.write(d.receiver.map_or("", |r| self.facts.str(r)).as_bytes());
        for s in [self.facts.interface.package, self.facts.interface.constraint] {
            h.write(s.map_or("", |s| self.facts.str(s)).as_bytes());
            h.write(&[0]);
        }
        if matches!(self.facts.interface.language, Language::C | Language::Cpp) {
            // A declaration differs from a definition; equal ones differ by their order.
            h.write(&[u8::from(d.span.end > d.head.end + 1)]);
            h.write_u64(u64::from(d.ordinal));
        }
        h.write_u64(self.expr(d.ty, 0));
        h.write_u64(u64::from(d.value_index));
        if d.ty.some().is_none() {
            h.write_u64(self.expr(d.value, 0));
        }
        for b in d.params.iter().chain(&d.type_params) {
            h.write_u64(self.binding(*b, 0));
        }
        for part in [&d.results, &d.returns, &d.bases, &d.decorators] {
            h.write_u64(part.len() as u64);
            for e in part {
                h.write_u64(self.expr(*e, 0));
            }
        }
        self.defs.insert(def, h.finish());
        h.finish()
    }

    fn expr(&mut self, id: ExprId, depth: u32) -> u64 {
        if id.some().is_none() || depth > DEPTH_MAX {
            return u64::from(depth > DEPTH_MAX);
        }
        let e = self.facts.expr(id);
        let mut h = Fnv::new(3);
        h.write(&[e.role as u8]);
        match e.node {
            Node::Name { name, binding } => {
                h.write(self.facts.str(name).as_bytes());
                match binding.some() {
                    Some(b) => h.write_u64(self.binding(b, depth + 1)),
                    None => h.write_u64(self.free_name(name).digest),
                }
            }
            Node::Attr { base, name } => {
                h.write(self.facts.str(name).as_bytes());
                // A qualifier that no path suggests: any of the imports may have that package name.
                if let Node::Name { name: qualifier, binding: BindingId::NONE } = self.facts.expr(base).node
                    && !self.free_name(qualifier).is_named
                {
                    for i in &self.unnamed {
                        h.write_u64(import_digest(&self.facts, &self.facts.interface.imports[*i]));
                    }
                }
            }
            Node::Keyword { name, .. } | Node::Word { word: name, .. } => {
                h.write(self.facts.str(name).as_bytes())
            }
            Node::Sequence { kind, .. } | Node::Comprehension { kind, .. } => h.write(&[kind as u8]),
            Node::Literal { kind } => h.write(&[kind as u8]),
            Node::FuncType { variadic, .. } => h.write(&[u8::from(variadic)]),
            Node::Item { index, .. } => h.write(&index.to_le_bytes()),
            Node::StructType { holder } | Node::InterfaceType { holder } => {
                for child in self.children.get(&holder).cloned().unwrap_or_default() {
                    let d = self.def(child);
                    h.write_u64(d);
                }
            }
            Node::Def { def } => h.write(indexd_model::names::qualified_name(&self.facts, def).as_bytes()),
            _ => {}
        }
        h.write_u64(shape(&e.node));
        let mut children = Vec::new();
        children_of(&e.node, &mut |c| children.push(c));
        for list in lists_of(&e.node) {
            children.extend_from_slice(self.facts.list(list));
        }
        for c in children {
            h.write_u64(self.expr(c, depth + 1));
        }
        h.finish()
    }

    fn free_name(&mut self, name: StrId) -> FreeName {
        if let Some(&known) = self.free_names.get(&name) {
            return known;
        }
        let imports = &self.facts.interface.imports;
        let text = self.facts.str(name);
        let mut h = Fnv::new(6);
        let mut is_named = false;
        for i in self.imports.get(&name).into_iter().flatten() {
            is_named = true;
            h.write_u64(import_digest(&self.facts, &imports[*i]));
        }
        if !is_named {
            // It may come from an import of all names.
            for i in imports.iter().filter(|i| i.kind == ImportKind::All) {
                h.write_u64(import_digest(&self.facts, i));
            }
        }
        for i in &self.unnamed {
            if mentions(self.facts.str(imports[*i].module), text) {
                is_named = true;
                h.write_u64(import_digest(&self.facts, &imports[*i]));
            }
        }
        let found = FreeName { digest: h.finish(), is_named };
        self.free_names.insert(name, found);
        found
    }

    fn binding(&mut self, id: BindingId, depth: u32) -> u64 {
        if let Some(&d) = self.bindings.get(&id) {
            return d;
        }
        let Some(b) = self.facts.binding(id) else { return 0 };
        let mut h = Fnv::new(4);
        h.write(self.facts.str(b.name).as_bytes());
        h.write(&[b.kind as u8]);
        // While its sources are read, a binding that refers to itself counts by its name.
        self.bindings.insert(id, h.finish());
        for s in self.facts.sources(b) {
            let (tag, e, index) = match *s {
                Source::Declared(e) => (1, e, 0),
                Source::Assigned(e) => (2, e, 0),
                Source::Unpacked { value, index } => (3, value, index),
                Source::Element { of, index } => (4, of, index),
                Source::ElementUnpacked { of, index } => (5, of, index),
                Source::Entered(e) => (6, e, 0),
                Source::Caught(e) => (7, e, 0),
                Source::Narrowed(e) => (8, e, 0),
                Source::Def(d) => {
                    h.write(indexd_model::names::qualified_name(&self.facts, d).as_bytes());
                    (9, ExprId::NONE, 0)
                }
                Source::Import(i) => {
                    let import = self.facts.interface.imports.get(i as usize);
                    h.write_u64(import.map_or(0, |i| import_digest(&self.facts, i)));
                    (10, ExprId::NONE, 0)
                }
            };
            h.write(&[tag]);
            h.write(&index.to_le_bytes());
            h.write_u64(self.expr(e, depth + 1));
        }
        self.bindings.insert(id, h.finish());
        h.finish()
    }
}

fn import_digest(facts: &Facts, i: &Import) -> u64 {
    let mut h = Fnv::new(5);
    h.write(facts.str(i.module).as_bytes());
    h.write(&i.level.to_le_bytes());
    for s in [i.name, i.alias] {
        h.write(s.map_or("-", |s| facts.str(s)).as_bytes());
        h.write(&[0]);
    }
    h.write(&[i.kind as u8, u8::from(i.conditional), u8::from(i.scope.some().is_some())]);
    h.finish()
}

/// Digests of the imports that bind one name, by the key of that name in `module`; `more` adds to the parts of an import
/// that count.
pub fn of_imports<'i>(
    facts: &Facts,
    module: &str,
    imports: impl Iterator<Item = &'i Import>,
    more: impl Fn(&Import) -> String,
) -> FxHashMap<Key, u64> {
    let name = |s: Option<StrId>| s.map_or("-", |s| facts.str(s));
    let mut out = FxHashMap::default();
    for i in imports {
        let bound = match (i.kind, i.alias) {
            (ImportKind::All, _) => "*",
            (_, Some(alias)) => facts.str(alias),
            _ => continue,
        };
        let (module_of, kind, more) = (facts.str(i.module), i.kind as u8, more(i));
        let text = format!("{module_of}|{}|{}|{}|{kind}|{more}", i.level, name(i.name), name(i.alias));
        let digest = out.entry(Key::member(module, bound)).or_insert(7u64);
        *digest = digest.rotate_left(5) ^ Key::member("import", &text).0;
    }
    out
}

/// A number for the variant of a node.
fn shape(node: &Node) -> u64 {
    match node {
        Node::Name { .. } => 1,
        Node::Attr { .. } => 2,
        Node::Call { .. } => 3,
        Node::Keyword { .. } => 4,
        Node::KeyValue { .. } => 5,
        Node::Spread { .. } => 6,
        Node::Index { .. } => 7,
        Node::Slice { .. } => 8,
        Node::Star { .. } => 9,
        Node::Address { .. } => 10,
        Node::Receive { .. } => 11,
        Node::Unary { .. } => 12,
        Node::Binary { .. } => 13,
        Node::Compare { .. } => 14,
        Node::Conditional { .. } => 15,
        Node::Assert { .. } => 16,
        Node::Composite { .. } => 17,
        Node::Sequence { .. } => 18,
        Node::Comprehension { .. } => 19,
        Node::Literal { .. } => 20,
        Node::Lambda { .. } => 21,
        Node::Await { .. } => 22,
        Node::Yield { .. } => 23,
        Node::FuncType { .. } => 24,
        Node::FuncLiteral { .. } => 25,
        Node::SliceType { .. } => 26,
        Node::ArrayType { .. } => 27,
        Node::MapType { .. } => 28,
        Node::ChanType { .. } => 29,
        Node::StructType { .. } => 30,
        Node::InterfaceType { .. } => 31,
        Node::Union { .. } => 32,
        Node::Quoted { .. } => 33,
        Node::Def { .. } => 34,
        Node::Opaque => 35,
        Node::Item { .. } => 36,
        Node::Unread { .. } => 37,
        Node::Apply { .. } => 38,
        Node::Word { .. } => 39,
    }
}
