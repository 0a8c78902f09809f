//! The standard library of a language as data: types with the results of their members, read on demand.
//!
//! A line without a blank in front begins a type with its parameters, each a letter, and behind a colon the
//! types it derives from: `List E : Collection<E>`; `static List` begins the members of its class. A line
//! with a blank in front is a member with its type: `get E`, `map ((E)=>R)=>Stream<R>`, where other letters
//! than those of the type are parameters of the member. The member that a function literal implements has an
//! equals sign in front. `package a.b` names the package of the types behind it. `A B = C` gives `C` other names.

use super::types::{Ty, Type, Types};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A table of a language.
pub(crate) struct Table {
    /// Types by other names.
    aliases: FxHashMap<&'static str, &'static str>,
    members: FxHashMap<(&'static str, &'static str), &'static str>,
    types: FxHashMap<&'static str, StdType>,
}

/// A type of a table, or the value of a class or a module.
#[derive(Default)]
pub(crate) struct StdType {
    letters: Vec<u8>,
    bases: &'static str,
    pub(crate) package: &'static str,
    /// The member that a function literal implements.
    pub(crate) function: Option<&'static str>,
}

impl StdType {
    /// How many parameters the type has.
    pub(crate) fn n_params(&self) -> usize {
        self.letters.len()
    }
}

impl Table {
    pub(crate) fn read(text: &'static str) -> Self {
        let (aliases, members, types) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        let mut table = Self { aliases, members, types };
        let (mut owner, mut package) = ("", "");
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            if let Some(member) = line.strip_prefix(' ') {
                let is_function = member.starts_with('=');
                let (name, ty) = member.trim_start_matches('=').split_once(' ').unwrap_or((member, "any"));
                table.members.insert((owner, name), ty);
                if let Some(of) = table.types.get_mut(owner).filter(|_| is_function) {
                    of.function = Some(name);
                }
            } else if let Some((names, of)) = line.split_once(" = ") {
                table.aliases.extend(names.split(' ').map(|name| (name, of)));
            } else if let Some(name) = line.strip_prefix("package ") {
                package = name;
            } else if line.starts_with("static ") || line.starts_with("module ") {
                owner = line;
                table.types.insert(owner, StdType { package, ..StdType::default() });
            } else {
                let (head, bases) = line.split_once(" : ").unwrap_or((line, ""));
                let mut words = head.split(' ');
                owner = words.next().unwrap_or("");
                let letters = words.filter_map(|w| w.bytes().next()).collect();
                table.types.insert(owner, StdType { letters, bases, package, function: None });
            }
        }
        table
    }

    /// The name under which a type is in the table.
    pub(crate) fn canonical<'n>(&self, name: &'n str) -> &'n str {
        self.aliases.get(name).copied().unwrap_or(name)
    }

    pub(crate) fn ty(&self, name: &str) -> Option<&StdType> {
        self.types.get(name)
    }

    /// Returns true if a type itself has a member.
    pub(crate) fn has(&self, of: &str, name: &str) -> bool {
        self.members.contains_key(&(of, name))
    }

    /// The type of a member; `of` may begin with `static` or `module`.
    pub(crate) fn member(&self, types: &mut Types, of: &str, args: &[Ty], name: &str) -> Option<Ty> {
        let text = *self.members.get(&(of, name))?;
        let map = self.map(of, args);
        Some(Parser { rest: text, map: &map, table: self }.union(types))
    }

    /// The types that a type derives from.
    pub(crate) fn bases(&self, types: &mut Types, of: &str, args: &[Ty]) -> Rc<[Ty]> {
        let Some(bases) = self.types.get(of).map(|t| t.bases) else { return Rc::from([]) };
        let map = self.map(of, args);
        Parser { rest: bases, map: &map, table: self }.list("", types)
    }

    fn map(&self, of: &str, args: &[Ty]) -> Vec<(u8, Ty)> {
        let letters = self.types.get(of).map_or(&[][..], |t| &t.letters);
        let given = |i: usize| args.get(i).copied().unwrap_or(Ty::UNKNOWN);
        letters.iter().enumerate().map(|(i, l)| (*l, given(i))).collect()
    }
}

/// Reads a type of a table, with the types for its letters.
struct Parser<'t> {
    rest: &'t str,
    map: &'t [(u8, Ty)],
    table: &'t Table,
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

    fn union(&mut self, types: &mut Types) -> Ty {
        let mut parts = vec![self.one(types)];
        let is_both = self.rest.starts_with('&');
        while self.eat("|") || self.eat("&") {
            parts.push(self.one(types));
        }
        if is_both { types.both(&parts) } else { types.union(&parts) }
    }

    /// Types up to a closing text.
    fn list(&mut self, close: &str, types: &mut Types) -> Rc<[Ty]> {
        let mut out = Vec::new();
        while !self.rest.is_empty() && (close.is_empty() || !self.eat(close)) {
            out.push(self.union(types));
            self.eat(",");
        }
        out.into()
    }

    fn one(&mut self, types: &mut Types) -> Ty {
        if self.eat("(") {
            let params = self.list(")", types);
            self.eat("=>");
            let result = self.one(types);
            return types.make(Type::Fn { params, result, is_variadic: false });
        }
        if self.eat("[") {
            let parts = self.list("]", types);
            return types.make(Type::Tuple(parts));
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.rest.find(|c: char| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        // Anything but a type ends the reading.
        self.rest = if name.is_empty() { "" } else { rest };
        let args = if self.eat("<") { self.list(">", types) } else { Rc::from([]) };
        match name {
            "any" | "" => Ty::EXTERNAL,
            "void" => Ty::NOTHING,
            _ if name.len() == 1 => {
                let letter = name.as_bytes()[0];
                let known = self.map.iter().find(|m| m.0 == letter);
                known.map_or_else(|| types.make(Type::StdVar(letter)), |m| m.1)
            }
            _ => types.std(self.table.canonical(name), &args),
        }
    }
}
