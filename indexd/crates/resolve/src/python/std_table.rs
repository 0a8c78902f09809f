//! The table of the standard library, `stdlib.txt`: its reader, and the type of a row at a place.

use super::Linker;
use super::eval::Site;
use super::types::{Std, Ty, Type};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// The sections of `stdlib.txt`.
pub(super) struct StdTable {
    /// Instances of classes.
    pub instances: Rows,
    /// Results of methods, by kind of receiver and name.
    pub methods: Rows,
    /// Results of calls.
    pub functions: Rows,
}

/// Rows by name, each for a number of arguments at most, smallest first.
#[derive(Default)]
pub(super) struct Rows(FxHashMap<&'static str, Vec<(usize, Term)>>);

/// A type as a row writes it.
pub(super) enum Term {
    Param(usize),
    Params,
    Argument(usize),
    Element(usize),
    Elements,
    Make(Std, Vec<Term>),
    Apply(Op, Vec<Term>),
}

indexd_model::words! {
    /// The operation on the types in brackets.
    pub enum Op {
        /// Any of them.
        Union = "union",
        /// Nothing is known.
        Unknown = "unknown",
        /// Something from outside the tree.
        External = "external",
        /// `None`.
        None = "none",
        /// The receiver.
        Receiver = "self",
        /// Its elements.
        Element = "element",
        /// Itself where it is a dict, else the dict of the pairs in it.
        Mapping = "mapping",
        /// The value that `with` enters.
        Entered = "entered",
        /// The result of `await`.
        Awaited = "awaited",
        /// Its class.
        Class = "class",
        /// An instance of the class.
        Instance = "instance",
        /// The result of a call.
        Result = "result",
        /// Itself, or external where it is unknown.
        Known = "known",
        /// A getter as a property.
        Property = "property",
        /// A function with some of its arguments.
        Partial = "partial",
        /// Argument 0, read as an annotation.
        Annotation = "annotation",
        /// `super()` at the place of the call.
        Super = "super",
    }

    /// The word of `stdlib.txt`.
    pub fn name;
}

/// The types that the terms of a row refer to.
#[derive(Clone, Copy)]
pub(super) struct Given<'g> {
    /// Type arguments of the class or the receiver.
    pub params: &'g [Ty],
    pub receiver: Ty,
    pub site: Option<Site>,
}

/// The table, read once.
pub(super) static STD: LazyLock<StdTable> = LazyLock::new(|| {
    let text = include_str!("stdlib.txt");
    let (_, text) = text.split_once("[instances]\n").expect("a section");
    let (instances, text) = text.split_once("[methods]\n").expect("a section");
    let (methods, functions) = text.split_once("[functions]\n").expect("a section");
    StdTable {
        instances: Rows::read(instances),
        methods: Rows::read(methods),
        functions: Rows::read(functions),
    }
});

impl Rows {
    fn read(text: &'static str) -> Self {
        let mut rows = Self::default();
        for line in text.lines().filter(|l| !l.is_empty()) {
            let (names, term) = line.split_once(" = ").expect("a row");
            for name in names.split(' ') {
                let (name, n_max) = match name.split_once('/') {
                    Some((name, n)) => (name, n.parse().expect("a number")),
                    None => (name, usize::MAX),
                };
                rows.0.entry(name).or_default().push((n_max, Term::read(&mut { term })));
            }
        }
        rows
    }

    /// The row of a name for `n` arguments.
    pub(super) fn get(&self, name: &str, n: usize) -> Option<&Term> {
        let rows = self.0.get(name)?;
        rows.iter().find(|(n_max, _)| n <= *n_max).map(|(_, term)| term)
    }
}

impl Term {
    /// Reads one term and moves `text` behind it.
    fn read(text: &mut &'static str) -> Self {
        let end = text.find([' ', '[', ']']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        *text = rest;
        let mut within = Vec::new();
        if text.starts_with('[') {
            while !text.starts_with(']') {
                *text = &text[1..];
                within.push(Self::read(text));
            }
            *text = &text[1..];
        }
        let number = || word[1..].parse().expect("a number");
        match word.as_bytes() {
            b"@*" => Self::Params,
            b"**" => Self::Elements,
            [b'@', ..] => Self::Param(number()),
            [b'$', ..] => Self::Argument(number()),
            [b'*', ..] => Self::Element(number()),
            _ => match Op::ALL.into_iter().find(|op| op.name() == word) {
                Some(op) => Self::Apply(op, within),
                None => {
                    let kind = Std::ALL.into_iter().find(|kind| kind.name() == word);
                    Self::Make(kind.expect("a word of the table"), within)
                }
            },
        }
    }
}

impl Linker<'_> {
    /// Returns the type of a row.
    pub(super) fn std_term(&mut self, term: &Term, given: Given) -> Ty {
        match term {
            Term::Param(i) => given.params.get(*i).copied().unwrap_or(Ty::UNKNOWN),
            Term::Argument(i) => self.argument(given.site, *i),
            Term::Element(i) => self.element_of_argument(given.site, *i),
            Term::Make(kind, within) => {
                let of = self.std_terms(within, given);
                self.types.std(*kind, &of)
            }
            Term::Apply(op, within) => {
                let of = self.std_terms(within, given);
                self.std_apply(*op, &of, given)
            }
            // Only in brackets.
            Term::Params | Term::Elements => Ty::UNKNOWN,
        }
    }

    fn std_terms(&mut self, terms: &[Term], given: Given) -> Vec<Ty> {
        let mut of = Vec::with_capacity(terms.len());
        for term in terms {
            match term {
                Term::Params => of.extend(given.params),
                Term::Elements => {
                    let n = self.n_arguments(given.site);
                    of.extend((0..n).map(|i| self.element_of_argument(given.site, i)));
                }
                term => of.push(self.std_term(term, given)),
            }
        }
        of
    }

    fn std_apply(&mut self, op: Op, of: &[Ty], given: Given) -> Ty {
        let ty = of.first().copied().unwrap_or(Ty::UNKNOWN);
        match op {
            Op::Union => self.types.union(of),
            Op::Unknown => Ty::UNKNOWN,
            Op::External => Ty::EXTERNAL,
            Op::None => Ty::NOTHING,
            Op::Receiver => given.receiver,
            Op::Element => self.element(ty),
            Op::Mapping if self.std_kind(ty) == Some(Std::Dict) => ty,
            Op::Mapping => {
                let pair = self.element(ty);
                let (key, value) = (self.item(pair, 0), self.item(pair, 1));
                self.types.std(Std::Dict, &[key, value])
            }
            Op::Entered => self.entered(ty),
            Op::Awaited => self.awaited(ty),
            Op::Class => self.class_of_instance(ty),
            Op::Instance => self.instance_of_class(ty),
            Op::Result => self.call(ty, None).ty,
            Op::Known | Op::Partial if ty == Ty::UNKNOWN => Ty::EXTERNAL,
            Op::Known => ty,
            Op::Partial => self.types.make(Type::Partial(ty)),
            Op::Property => {
                let n = self.types.name("property");
                self.types.make(Type::StdMethod(n, ty))
            }
            Op::Annotation => match self.argument_expr(given.site, 0) {
                Some((f, e)) => self.annotation(f, e),
                None => Ty::UNKNOWN,
            },
            Op::Super => self.super_of(given.site),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_some_are_found() {
        assert!(STD.instances.get("tuple", 0).is_some() && STD.methods.get("dict.items", 0).is_some());
        let one = STD.functions.get("max", 1).unwrap();
        assert!(matches!(one, Term::Element(0)));
        assert!(matches!(STD.functions.get("max", 2), Some(Term::Apply(Op::Union, two)) if two.len() == 2));
        assert!(STD.functions.get("type", 3).is_none());
    }
}
