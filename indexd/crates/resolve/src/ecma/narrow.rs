//! Narrowing of a type by conditions, and the test if one type is another.

use super::Linker;
use crate::typed::slots::Asks;
use crate::typed::{Args, File, Ty, Type, Val};
use indexd_model::{DefKind, ExprId, Node};
use std::rc::Rc;

/// Nesting of types that are compared.
const DEPTH_MAX: u32 = 6;
/// Parts of a union that are looked at.
const PARTS_MAX: usize = 48;

/// A known fact about a value.
enum Fact {
    /// It is of a type.
    Is(Ty),
    /// It has members of these types: a literal of a file.
    Has(File, ExprId),
    /// It has a member.
    In(Rc<str>),
    /// The result of `typeof`.
    Kind(Rc<str>),
    /// One of two holds; whether each does as it is written.
    Any(Box<[(Fact, bool); 2]>),
    Nothing,
}

impl<'a> Linker<'a> {
    /// Returns a value narrowed by a condition; `None` if `fact` is a type.
    pub(super) fn narrowed(&mut self, file: File, value: ExprId, fact: ExprId) -> Option<Val> {
        let (fact, is_so) = self.signed_fact(file, fact)?;
        let before = self.eval(file, value);
        Some(Val { ty: self.left_by(before.ty, &fact, is_so), ..before })
    }

    fn signed_fact(&mut self, file: File, fact: ExprId) -> Option<(Fact, bool)> {
        match self.facts(file).expr(fact).node {
            Node::Unary { value } => Some((self.fact(file, value)?, false)),
            _ => Some((self.fact(file, fact)?, true)),
        }
    }

    fn fact(&mut self, file: File, fact: ExprId) -> Option<Fact> {
        let facts = self.facts(file);
        match facts.expr(fact).node {
            Node::Union { left, right } => {
                let (left, right) = (self.signed_fact(file, left)?, self.signed_fact(file, right)?);
                Some(Fact::Any(Box::new([left, right])))
            }
            Node::Word { word, value } => match facts.str(word) {
                "instanceof" => {
                    let class = self.eval(file, value).ty;
                    Some(Fact::Is(self.instance_of(class)))
                }
                "has" => Some(Fact::Has(file, value)),
                "in" | "type" => {
                    let text = self.eval(file, value).ty;
                    let Type::Text(name) = *self.types.get(text) else { return Some(Fact::Nothing) };
                    let name = self.types.text(name);
                    Some(if facts.str(word) == "in" { Fact::In(name) } else { Fact::Kind(name) })
                }
                _ => None,
            },
            Node::Item { base, index } => {
                let Node::Word { word, value } = facts.expr(base).node else { return None };
                if facts.str(word) != "guard" {
                    return None;
                }
                let callee = self.eval(file, value).ty;
                let guard = self.guard(callee);
                Some(guard.filter(|g| g.0 == index).map_or(Fact::Nothing, |g| Fact::Is(g.1)))
            }
            _ => None,
        }
    }

    fn left_by(&mut self, before: Ty, fact: &Fact, is_so: bool) -> Ty {
        if matches!(fact, Fact::Nothing) {
            return before;
        }
        let parts = self.flat_parts(before).0;
        if let Fact::Any(two) = fact {
            let (left, right) =
                (self.left_by(before, &two[0].0, two[0].1), self.left_by(before, &two[1].0, two[1].1));
            return self.types.union(&[left, right]);
        }
        if let Fact::Is(want) = fact {
            return self.left_by_type(before, &parts, *want, is_so);
        }
        let mut kept = Vec::new();
        for part in parts.iter() {
            let fits = match fact {
                Fact::Has(file, literal) => self.has(*part, *file, *literal, 0),
                Fact::In(name) => {
                    let found = self.attr(*part, name, false);
                    Some(!found.hits.is_empty() || found.ty != Ty::UNKNOWN)
                }
                Fact::Kind(kind) => self.is_kind(*part, kind),
                Fact::Is(_) | Fact::Any(_) | Fact::Nothing => None,
            };
            if fits != Some(!is_so) {
                kept.push(*part);
            }
        }
        if kept.is_empty() || kept.len() == parts.len() { before } else { self.types.union(&kept) }
    }

    fn left_by_type(&mut self, before: Ty, parts: &[Ty], want: Ty, is_so: bool) -> Ty {
        if want == Ty::UNKNOWN {
            return before;
        }
        if !is_so {
            let kept: Vec<Ty> =
                parts.iter().copied().filter(|p| self.is_a(*p, want, 0) != Some(true)).collect();
            return if kept.is_empty() { before } else { self.types.union(&kept) };
        }
        let mut out = Vec::new();
        for want in self.flat_parts(want).0.iter() {
            let n = out.len();
            for part in parts {
                if self.is_a(*part, *want, 0) == Some(true) {
                    out.push(*part);
                }
            }
            if out.len() == n {
                out.push(*want);
            }
        }
        self.types.union(&out)
    }

    /// The parts of a union, with those of aliases in it; true if there are more.
    pub(super) fn flat_parts(&mut self, ty: Ty) -> (Args, bool) {
        let mut out: Vec<Ty> = Vec::new();
        let mut is_cut = false;
        let mut todo: Vec<(Ty, u32)> = vec![(ty, 0)];
        while let Some((ty, depth)) = todo.pop() {
            if out.len() >= PARTS_MAX {
                is_cut = true;
                break;
            }
            is_cut |= self.types.is_cut(ty);
            match self.types.get(ty).clone() {
                Type::Union(parts) => todo.extend(parts.iter().rev().map(|p| (*p, depth))),
                Type::Named(..) | Type::Delayed(..) if depth < DEPTH_MAX => match self.expanded(ty) {
                    Some(other) => match self.types.get(other) {
                        Type::Union(_) | Type::Named(..) | Type::Delayed(..) => todo.push((other, depth + 1)),
                        Type::Unknown | Type::Nothing => {}
                        // An alias of one type keeps its name.
                        _ => out.push(ty),
                    },
                    None => out.push(ty),
                },
                Type::Var(..) if depth < DEPTH_MAX => match self.expanded(ty) {
                    Some(other) => todo.push((other, depth + 1)),
                    None => out.push(ty),
                },
                Type::Nothing => {}
                _ => out.push(ty),
            }
        }
        (out.into(), is_cut)
    }

    fn is_kind(&mut self, ty: Ty, kind: &str) -> Option<bool> {
        let is = match self.types.get(ty).clone() {
            Type::Text(_) => "string",
            Type::Std(name, _) => match &*self.types.text(name) {
                "string" => "string",
                "number" => "number",
                "boolean" => "boolean",
                _ => "object",
            },
            Type::Fn { .. } | Type::Func(..) | Type::Lambda(..) => "function",
            Type::Static(at) if self.files.def(at).kind == DefKind::Class => "function",
            Type::Shape(..) | Type::Tuple(_) | Type::Module(_) => {
                if self.signatures(ty).is_empty() {
                    "object"
                } else {
                    "function"
                }
            }
            Type::Named(at, _) => match self.files.def(at).kind {
                DefKind::Class => "object",
                DefKind::Interface if self.signatures(ty).is_empty() => "object",
                DefKind::Interface => "function",
                _ => return self.through(ty, |it, other| it.is_kind(other, kind)).flatten(),
            },
            _ => return None,
        };
        Some(is == kind)
    }

    /// Returns true if a type has the members of a literal.
    fn has(&mut self, ty: Ty, file: File, literal: ExprId, depth: u32) -> Option<bool> {
        let facts = self.facts(file);
        let Node::Composite { elems, .. } = facts.expr(literal).node else { return None };
        let mut all = Some(true);
        for elem in facts.list(elems) {
            let expr = facts.expr(*elem);
            let Node::Keyword { name, value } = expr.node else { continue };
            let want = self.eval(file, value).ty;
            let own = self.attr(ty, facts.str(name), false);
            if own.hits.is_empty() && own.ty == Ty::UNKNOWN {
                return Some(false);
            }
            // Any value that the member may have is wanted.
            let parts = self.flat_parts(own.ty).0;
            match self.is_any(want, &parts, depth) {
                Some(false) => return Some(false),
                None => all = None,
                Some(true) => {}
            }
        }
        all
    }

    /// Returns true if every value of one type is of another, as far as names, literals and kinds tell.
    pub(super) fn is_a(&mut self, ty: Ty, of: Ty, depth: u32) -> Option<bool> {
        if ty == of {
            return Some(true);
        }
        if depth > DEPTH_MAX
            || !self.step()
            || [ty, of].iter().any(|t| matches!(*t, Ty::UNKNOWN | Ty::EXTERNAL))
        {
            return None;
        }
        match (self.types.get(ty).clone(), self.types.get(of).clone()) {
            (Type::Union(parts), _) => {
                let all: Vec<Option<bool>> = parts.iter().map(|p| self.is_a(*p, of, depth + 1)).collect();
                let same = all.first().copied().flatten()?;
                all.iter().all(|a| *a == Some(same)).then_some(same)
            }
            (_, Type::Union(parts)) => self.is_any(ty, &parts, depth),
            (Type::Named(at, _), _) if self.files.def(at).kind == DefKind::Alias => {
                let other = self.expanded(ty)?;
                self.is_a(other, of, depth + 1)
            }
            (_, Type::Named(at, _)) if self.files.def(at).kind == DefKind::Alias => {
                let other = self.expanded(of)?;
                self.is_a(ty, other, depth + 1)
            }
            (Type::Named(..) | Type::This(_), Type::Named(base, _)) => self.is_derived(ty, base),
            (Type::Static(member), Type::Named(at, _)) => {
                let parent = self.files.def(member).parent;
                let is_enum = self.files.def(at).kind == DefKind::Enum;
                is_enum.then_some(member.file == at.file && parent == at.def)
            }
            (Type::Static(a), Type::Static(b)) => Some(a == b),
            (Type::Text(_), Type::Text(_)) => Some(false),
            (Type::Text(_), Type::Std(name, _)) => Some(&*self.types.text(name) == "string"),
            (Type::Std(name, _), Type::Text(_)) => match &*self.types.text(name) {
                "string" => None,
                _ => Some(false),
            },
            (Type::Std(a, _), Type::Std(b, _)) => Some(a == b),
            (Type::Tuple(_), Type::Std(b, _)) => Some(&*self.types.text(b) == "Array"),
            (Type::Var(..) | Type::Delayed(..), _) => {
                let other = self.expanded(ty)?;
                self.is_a(other, of, depth + 1)
            }
            (_, Type::Var(..) | Type::Delayed(..) | Type::StdVar(_) | Type::Both(_)) => None,
            (_, Type::Shape(..)) => self.is_shape(ty, of, depth),
            _ => self.differs(ty, of),
        }
    }

    fn is_any(&mut self, ty: Ty, parts: &[Ty], depth: u32) -> Option<bool> {
        let mut any = Some(false);
        for part in parts {
            match self.is_a(ty, *part, depth + 1) {
                Some(true) => return Some(true),
                None => any = None,
                Some(false) => {}
            }
        }
        any
    }

    fn is_derived(&mut self, ty: Ty, base: crate::typed::DefAt) -> Option<bool> {
        if self.base_as(ty, base).is_some() {
            return Some(true);
        }
        let is_class = |l: &Self, at| l.files.def(at).kind == DefKind::Class;
        match *self.types.get(ty) {
            Type::Named(at, _) | Type::This(at) if is_class(self, at) && is_class(self, base) => Some(false),
            _ => None,
        }
    }

    /// Returns true if a type has the literal members that a type literal asks for.
    fn is_shape(&mut self, ty: Ty, of: Ty, depth: u32) -> Option<bool> {
        let Type::Shape(file, e, env) = self.types.get(of).clone() else { return None };
        let facts = self.facts(file);
        let Node::Composite { elems, .. } = facts.expr(e).node else { return None };
        if matches!(self.types.get(ty), Type::Text(_) | Type::Std(..) | Type::Fn { .. }) {
            let is_function = matches!(self.types.get(ty), Type::Fn { .. });
            return (!is_function && !facts.list(elems).is_empty()).then_some(false);
        }
        let mut all = Some(true);
        for elem in facts.list(elems).iter().take(16) {
            let Node::Keyword { name, value } = facts.expr(*elem).node else {
                all = None;
                continue;
            };
            let own = self.attr(ty, facts.str(name), false);
            if own.hits.is_empty() && own.ty == Ty::UNKNOWN {
                return None;
            }
            if facts.expr(*elem).role == indexd_model::Role::Key {
                continue;
            }
            let want = self.written(file, value);
            let want = self.types.replaced(want, &env);
            match self.is_a(own.ty, want, depth + 1) {
                Some(false) => return Some(false),
                None => all = None,
                Some(true) => {}
            }
        }
        all
    }

    /// Types of different kinds are not each other.
    fn differs(&mut self, ty: Ty, of: Ty) -> Option<bool> {
        let kinds = ["string", "number", "function", "object"];
        let kind = |l: &mut Self, ty| kinds.into_iter().find(|k| l.is_kind(ty, k) == Some(true));
        let (a, b) = (kind(self, ty)?, kind(self, of)?);
        (a != b).then_some(false)
    }
}
