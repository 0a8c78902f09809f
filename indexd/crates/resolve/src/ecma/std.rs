//! What the standard library gives back of what a tree put in: [`std.txt`](std.txt), read on demand.

use super::Linker;
use crate::typed::{Ty, Type};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::LazyLock;

/// Names of types by other names.
const ALIASES: [(&str, &str); 32] = [
    ("ReadonlyArray", "Array"),
    ("ArrayLike", "Array"),
    ("Iterable", "Iterator"),
    ("IterableIterator", "Iterator"),
    ("ArrayIterator", "Iterator"),
    ("MapIterator", "Iterator"),
    ("SetIterator", "Iterator"),
    ("IteratorObject", "Iterator"),
    ("Generator", "Iterator"),
    ("AsyncIterable", "Iterator"),
    ("AsyncIterator", "Iterator"),
    ("AsyncGenerator", "Iterator"),
    ("AsyncIterableIterator", "Iterator"),
    ("ReadonlySet", "Set"),
    ("ReadonlyMap", "Map"),
    ("PromiseLike", "Promise"),
    ("FunctionComponent", "FC"),
    ("RefObject", "Ref"),
    ("MutableRefObject", "Ref"),
    ("PureComponent", "Component"),
    ("TypeError", "Error"),
    ("RangeError", "Error"),
    ("SyntaxError", "Error"),
    ("Uint8Array", "Bytes"),
    ("Buffer", "Bytes"),
    ("bigint", "number"),
    ("String", "string"),
    ("Number", "number"),
    ("Boolean", "boolean"),
    ("VFC", "FC"),
    ("SFC", "FC"),
    ("ComponentType", "FC"),
];

/// Names of the standard library that are types of React where the module is imported.
const OF_REACT: [&str; 10] = [
    "FC",
    "FunctionComponent",
    "Context",
    "RefObject",
    "MutableRefObject",
    "Component",
    "PureComponent",
    "ComponentType",
    "VFC",
    "SFC",
];

struct Table {
    members: FxHashMap<(&'static str, &'static str), &'static str>,
    params: FxHashMap<&'static str, usize>,
    statics: FxHashMap<&'static str, ()>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table =
        Table { members: FxHashMap::default(), params: FxHashMap::default(), statics: FxHashMap::default() };
    let mut owner = "";
    for line in include_str!("std.txt").lines().filter(|l| !l.starts_with('#')) {
        if let Some(member) = line.strip_prefix(' ') {
            let (name, ty) = member.split_once(' ').unwrap_or((member, "any"));
            table.members.insert((owner, name), ty);
        } else if line.starts_with("static ") || line.starts_with("module ") {
            owner = line;
            table.statics.insert(line, ());
        } else {
            let mut words = line.split(' ');
            owner = words.next().unwrap_or("");
            table.params.insert(owner, words.count());
        }
    }
    table
});

/// The name under which a type of the standard library is in the table.
pub(super) fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|a| a.0 == name).map_or(name, |a| a.1)
}

/// How many parameters a type of the table has; `None` for others.
pub(super) fn n_params(name: &str) -> Option<usize> {
    TABLE.params.get(name).copied()
}

impl Linker<'_> {
    /// A type of the standard library by its name, where it is not one of the tree.
    pub(super) fn std_named(&mut self, name: &str, args: &[Ty]) -> Option<Ty> {
        let name = canonical(name);
        n_params(name)?;
        Some(self.types.std(name, args))
    }

    /// A type that a module outside the tree exports.
    pub(super) fn type_of_module(&mut self, module: &str, name: &str, args: &[Ty]) -> Option<Ty> {
        let is_known = module == "react" && OF_REACT.contains(&name);
        is_known.then(|| self.std_named(name, args)).flatten()
    }

    /// A value that a module outside the tree exports.
    pub(super) fn value_of_module(&mut self, module: &str, name: &str) -> Option<Ty> {
        let owner = format!("module {module}");
        let text = *TABLE.members.get(&(owner.as_str(), name))?;
        Some(self.read_std(text, &[]))
    }

    /// A global value of the standard library.
    pub(super) fn std_value(&mut self, name: &str) -> Option<Ty> {
        let owner = format!("static {name}");
        TABLE.statics.contains_key(owner.as_str()).then(|| {
            let name = self.types.name(name);
            self.types.make(Type::StdStatic(name))
        })
    }

    /// A member of a type of the standard library.
    pub(super) fn std_member(&mut self, of: &str, args: &[Ty], name: &str) -> Option<Ty> {
        let text = *TABLE.members.get(&(of, name))?;
        Some(self.read_std_of(of, text, args))
    }

    /// A member of a class of the standard library.
    pub(super) fn std_static(&mut self, of: &str, name: &str) -> Option<Ty> {
        let owner = format!("static {of}");
        let text = *TABLE.members.get(&(owner.as_str(), name))?;
        Some(self.read_std(text, &[]))
    }

    fn read_std_of(&mut self, of: &str, text: &str, args: &[Ty]) -> Ty {
        // Parameters are single letters, in the order of the table.
        let letters: &[u8] = match of {
            "Map" | "WeakMap" | "Record" => b"KV",
            "Component" => b"PS",
            "FC" => b"P",
            _ => b"T",
        };
        let map: Vec<(u8, Ty)> = letters
            .iter()
            .enumerate()
            .map(|(i, l)| (*l, args.get(i).copied().unwrap_or(Ty::UNKNOWN)))
            .collect();
        self.read_std(text, &map)
    }

    /// A type of the table, with what stands for its letters.
    fn read_std(&mut self, text: &str, map: &[(u8, Ty)]) -> Ty {
        let mut parser = Parser { rest: text, map };
        parser.union(self)
    }
}

struct Parser<'t> {
    rest: &'t str,
    map: &'t [(u8, Ty)],
}

impl Parser<'_> {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn union(&mut self, l: &mut Linker) -> Ty {
        let mut parts = vec![self.one(l)];
        let is_both = self.rest.starts_with('&');
        while self.eat("|") || self.eat("&") {
            parts.push(self.one(l));
        }
        if is_both { l.types.both(&parts) } else { l.types.union(&parts) }
    }

    /// Types up to a closing text.
    fn list(&mut self, close: &str, l: &mut Linker) -> Rc<[Ty]> {
        let mut out = Vec::new();
        while !self.eat(close) && !self.rest.is_empty() {
            out.push(self.union(l));
            self.eat(",");
        }
        out.into()
    }

    fn one(&mut self, l: &mut Linker) -> Ty {
        if self.eat("(") {
            let params = self.list(")", l);
            self.eat("=>");
            let result = self.one(l);
            return l.types.make(Type::Fn { params, result, is_variadic: false });
        }
        if self.eat("[") {
            let parts = self.list("]", l);
            return l.types.make(Type::Tuple(parts));
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let args = if self.eat("<") { self.list(">", l) } else { Rc::from([]) };
        match name {
            "any" => Ty::EXTERNAL,
            "void" => Ty::NOTHING,
            _ if name.len() == 1 => {
                let letter = name.as_bytes()[0];
                let known = self.map.iter().find(|m| m.0 == letter);
                known.map_or_else(|| l.types.make(Type::StdVar(letter)), |m| m.1)
            }
            _ => l.types.std(canonical(name), &args),
        }
    }
}
