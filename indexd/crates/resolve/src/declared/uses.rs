//! From types to links: every identifier that is a use becomes a link or an unresolved use.

use super::{Found, Hit, Language, Linker, Place, Space};
use crate::Use;
use crate::around::Around;
use crate::remembered::remembered;
use crate::typed::{DefAt, Ty, Type};
use indexd_model::{
    BindingKind, Def, DefFlags, DefIdx, DefKind, DefRef, ExprId, Key, Link, Links, Node, Role, Rule,
    UnresolvedReason,
};
use smallvec::SmallVec;
use std::rc::Rc;

/// Overloads that are named for one call.
const CANDIDATES_MAX: usize = 8;
/// Literals in one another whose types are followed.
const LITERALS_MAX: usize = 8;
/// Files that may hold types of one base.
const DERIVED_FILES_MAX: usize = 24;
/// Implementations named for one method.
const IMPLEMENTATIONS_MAX: usize = 16;

impl<'a, L: Language> Linker<'a, L> {
    /// Links everything in the file.
    pub(crate) fn run(mut self) -> Links {
        let mut out = Links::default();
        let facts = self.facts(0);
        L::imports(&mut self, &mut out);
        for (e, expr) in crate::exprs(facts).filter(|(_, e)| e.role != Role::None) {
            self.link_expr(e, expr.role, expr.at, &mut out);
        }
        let is_source = |d: &Def| crate::is_code_or_type(d) && !d.flags.has(DefFlags::ANONYMOUS);
        crate::assign_sources(&Around::last_of_equals(facts, is_source), &mut out);
        self.overrides(&mut out);
        let loaded = self.files.loaded;
        crate::flow::add(facts, loaded.doc(0), |doc| loaded.facts(loaded.open(doc)), &mut out);
        out
    }

    fn link_expr(&mut self, e: ExprId, role: Role, at: u32, out: &mut Links) {
        let facts = self.facts(0);
        if let Node::Name { name, .. } | Node::Attr { name, .. } = facts.expr(e).node
            && let Some(found) = L::found(self, 0, e, Space::of(role))
        {
            return self.emit(&found, false, Use { name, at, role }, out);
        }
        match facts.expr(e).node {
            Node::Name { name, .. } | Node::Attr { name, .. } if role == Role::Call => {
                self.link_call(e, Use { name, at, role }, out);
            }
            Node::Name { name, binding } => {
                let it = Use { name, at, role };
                match facts.binding(binding) {
                    Some(b) if b.kind == BindingKind::Def => {
                        let def = crate::bound_def(facts, b).map(|def| DefAt { file: 0, def });
                        self.emit(&Found::defs(def, Rule::Scope), false, it, out);
                    }
                    Some(_) => {}
                    None => {
                        let found = self.free(Place { file: 0, at }, facts.str(name), Space::of(role));
                        let found = self.alone(e, &found);
                        let found = self.or_value(e, role, found);
                        self.emit(&found, false, it, out);
                    }
                }
            }
            Node::Attr { base, name } => {
                let it = Use { name, at, role };
                let space = Space::of(role);
                if space == Space::Types {
                    let found = self.in_types(0, e);
                    let found = self.or_value(e, role, found);
                    return self.emit(&found, false, it, out);
                }
                let of = self.eval(0, base);
                let found = self.attr(of.ty, facts.str(name), space);
                self.emit(&found, of.is_inferred, it, out);
            }
            Node::Keyword { name, .. } => self.link_key(e, Use { name, at, role }, out),
            Node::Word { word, value } if facts.str(word) == "#" => self.link_loose(value, at, role, out),
            Node::Word { value, .. } => self.link_function(e, value, at, out),
            _ => {}
        }
    }

    /// A type argument of C++ that is not a type may be a value: `array<int, N>`.
    fn or_value(&mut self, e: ExprId, role: Role, found: Rc<Found>) -> Rc<Found> {
        let facts = self.facts(0);
        let around = self.files.parent(0, e).map(|p| facts.expr(p).node);
        let is_argument =
            |around| matches!(around, Some(Node::Apply { args, .. }) if facts.list(args).contains(&e));
        let is_open = found.hits.is_empty() && found.reason == UnresolvedReason::NotFound;
        if L::ID != "cpp" || role != Role::Type || !is_open || !is_argument(around) {
            return found;
        }
        let value = match facts.expr(e).node {
            Node::Name { name, .. } => {
                let place = Place { file: 0, at: facts.expr(e).at };
                self.free(place, facts.str(name), Space::Values)
            }
            Node::Attr { base, name } => {
                let of = self.eval(0, base);
                self.attr(of.ty, facts.str(name), Space::Values)
            }
            _ => return found,
        };
        if value.hits.is_empty() { found } else { value }
    }

    /// Links a name in the text of a macro. A name without a definition here may have one at the place that uses the macro.
    fn link_loose(&mut self, value: ExprId, at: u32, role: Role, out: &mut Links) {
        let facts = self.facts(0);
        let space = Space::of(role);
        let found = match (L::found(self, 0, value, space), facts.expr(value).node) {
            (Some(found), _) => found,
            (None, Node::Name { name, .. }) => {
                (*self.free(Place { file: 0, at }, facts.str(name), space)).clone()
            }
            _ => return,
        };
        if let (false, Node::Name { name, .. } | Node::Attr { name, .. }) =
            (found.hits.is_empty(), facts.expr(value).node)
        {
            self.emit(&found, false, Use { name, at, role }, out);
        }
    }

    /// A package is named in front of something alone: elsewhere it is a name that nobody declared.
    fn alone(&mut self, e: ExprId, found: &Rc<Found>) -> Rc<Found> {
        let is_package = matches!(self.types.get(found.ty), Type::Package(_));
        let around = self.files.parent(0, e).map(|p| self.facts(0).expr(p).node);
        match is_package && !matches!(around, Some(Node::Attr { .. } | Node::Word { .. })) {
            true => Rc::new(Found::none(UnresolvedReason::NotFound)),
            false => Rc::clone(found),
        }
    }

    /// What is called: the call around says which overload, and whether a value of a type is made.
    fn link_call(&mut self, e: ExprId, it: Use, out: &mut Links) {
        let facts = self.facts(0);
        let (mut call, mut is_made) = (e, false);
        while let Some(parent) = self.files.parent(0, call) {
            call = parent;
            match facts.expr(parent).node {
                Node::Apply { base, .. } if base == e || is_made => {}
                Node::Word { word, .. } if facts.str(word) == "new" => is_made = true,
                _ => break,
            }
        }
        if is_made {
            let found = self.in_types(0, e);
            self.emit(&found, false, it, out);
        }
        if !matches!(facts.expr(call).node, Node::Call { .. } | Node::Composite { .. }) {
            return;
        }
        let picked = self.picked(0, call);
        let mut found = picked.found.clone();
        if is_made {
            // A constructor that nobody wrote is the type itself.
            found.hits.retain(|h| !self.files.def(h.at).kind.is_type());
            if found.hits.is_empty() {
                return;
            }
        }
        self.emit(&found, picked.is_inferred, it, out);
    }

    /// A function that is named without a call: of several those whose parameters the place asks for.
    fn link_function(&mut self, e: ExprId, value: ExprId, at: u32, out: &mut Links) {
        let facts = self.facts(0);
        let Node::Attr { name, .. } = facts.expr(value).node else { return };
        let (found, is_inferred) = self.named_function(0, e, value);
        self.emit(&found, is_inferred, Use { name, at, role: Role::Read }, out);
    }

    /// What `C::m` may mean: `value` is the member, `e` the expression that names it.
    pub(crate) fn named_function(&mut self, file: u32, e: ExprId, value: ExprId) -> (Found, bool) {
        let facts = self.facts(file);
        let Node::Attr { base, name } = facts.expr(value).node else { return (Found::unknown(), false) };
        let of = self.eval(file, base);
        let found = self.attr(of.ty, facts.str(name), Space::Calls);
        let mut found = (*found).clone();
        if found.hits.len() > 1 {
            let expected = self.expected(file, e);
            if let Some((params, _)) = self.functional(expected) {
                let is_type = matches!(self.types.get(of.ty), Type::Static(_));
                let all = std::mem::take(&mut found.hits);
                found.hits = all.iter().filter(|h| self.takes_all(h, &params, is_type)).cloned().collect();
                if found.hits.is_empty() {
                    found.hits = all;
                }
            }
        }
        (found, of.is_inferred)
    }

    /// Whether a function takes values of these types; without a receiver the first may be the receiver.
    fn takes_all(&mut self, hit: &Hit, given: &[Ty], may_be_first: bool) -> bool {
        let params = self.params(hit);
        let is_static = self.files.def(hit.at).flags.has(DefFlags::STATIC);
        let given = if may_be_first && !is_static { given.get(1..).unwrap_or(&[]) } else { given };
        params.len() == given.len()
            && params.iter().zip(given).all(|(p, g)| self.is_a(*g, p.ty, 0) != Some(false))
    }

    /// A key of a literal, or of what decorates, is a member of its type.
    fn link_key(&mut self, e: ExprId, it: Use, out: &mut Links) {
        let facts = self.facts(0);
        let of = match self.files.parent(0, e).map(|p| facts.expr(p).node) {
            Some(Node::Call { callee, .. }) => self.written(0, callee),
            Some(Node::Composite { .. }) => {
                self.files.parent(0, e).map_or(Ty::UNKNOWN, |p| self.literal_type(p, 0))
            }
            _ => Ty::UNKNOWN,
        };
        let name = facts.str(it.name);
        let mut found = self.attr(of, name, Space::Values);
        if found.hits.is_empty() {
            found = self.attr(of, name, Space::Calls);
        }
        self.emit(&found, false, it, out);
    }

    /// The type of a literal; of one without a type, that of the field or the array around it.
    fn literal_type(&mut self, literal: ExprId, depth: usize) -> Ty {
        let facts = self.facts(0);
        match facts.expr(literal).node {
            Node::Composite { ty, .. } if ty != ExprId::NONE => return self.written(0, ty),
            _ if depth >= LITERALS_MAX => return Ty::UNKNOWN,
            _ => {}
        }
        let Some(around) = self.files.parent(0, literal) else { return Ty::UNKNOWN };
        match (facts.expr(around).node, self.files.parent(0, around)) {
            (Node::Keyword { name, .. }, Some(outer)) => {
                let of = self.literal_type(outer, depth + 1);
                let found = self.attr(of, facts.str(name), Space::Values);
                self.value_of_found(&found)
            }
            (Node::Composite { .. }, _) => {
                let of = self.literal_type(around, depth + 1);
                self.element(of)
            }
            _ => Ty::UNKNOWN,
        }
    }

    // ---- links

    /// Writes down what a use leads to.
    pub(crate) fn emit(&mut self, found: &Found, is_inferred: bool, it: Use, out: &mut Links) {
        let (facts, name) = (self.facts(0), self.facts(0).str(it.name));
        if found.hits.is_empty() {
            // A package, or a value of the language.
            let is_package = matches!(self.types.get(found.ty), Type::Package(_)) && it.role != Role::Call;
            if !is_package && L::shown(name) == name {
                out.unresolved.push(it.unresolved(found.reason));
            }
            return;
        }
        if found.is_variant {
            out.unresolved.push(it.unresolved(UnresolvedReason::UnknownReceiver));
        }
        let len = crate::len_of(L::shown(name));
        let n = found.hits.len();
        for hit in found.hits.iter().take(CANDIDATES_MAX) {
            let rule = match () {
                () if n > 1 => Rule::Ambiguous,
                () if is_inferred => Rule::Inferred,
                () => hit.rule,
            };
            // One of several overloads of a receiver that is known is meant.
            let confidence = if n > 1 { (100 / n) as u8 } else { rule.confidence() };
            let target = L::definition(self, hit.at);
            let link = Link { len, ..it.link(facts, self.reference(target), rule, confidence) };
            out.links.push(link);
            if it.role == Role::Call && n == 1 {
                self.dispatch(hit.at, link, out);
            }
        }
    }

    pub(crate) fn reference(&self, at: DefAt) -> DefRef {
        DefRef { file: self.files.loaded.doc(at.file), def: at.def }
    }

    // ---- types and their bases

    /// The type around a member.
    fn owner(&self, at: DefAt) -> Option<DefAt> {
        let def = self.files.def(at).parent.some()?;
        let owner = DefAt { def, ..at };
        let kind = self.files.def(owner).kind;
        (kind.is_type() || kind == DefKind::Constant).then_some(owner)
    }

    /// Methods that override or implement one of a base.
    fn overrides(&mut self, out: &mut Links) {
        let facts = self.facts(0);
        for (i, d) in facts.interface.defs.iter().enumerate() {
            let at = DefAt { file: 0, def: DefIdx(i as u32) };
            let is_method = d.kind.is_callable() && !d.flags.has(DefFlags::STATIC);
            let Some(owner) = self.owner(at).filter(|_| is_method) else { continue };
            let hit = Hit { at, rule: Rule::Implements, env: Rc::from([]) };
            let mut seen: SmallVec<[DefAt; 2]> = SmallVec::new();
            for base in self.bases(owner).iter() {
                let found = self.attr(*base, facts.str(d.name), Space::Calls);
                let same = found.hits.iter().find(|h| self.is_hidden(std::slice::from_ref(&hit), h));
                let Some(target) = same.map(|h| h.at).filter(|t| *t != at && !seen.contains(t)) else {
                    continue;
                };
                seen.push(target);
                out.links.push(crate::implement(facts, at.def, self.reference(target)));
            }
        }
    }

    /// A call of a method without a body may run those that implement it.
    fn dispatch(&mut self, method: DefAt, link: Link, out: &mut Links) {
        let Some(owner) = self.owner(method) else { return };
        if !self.files.def(method).flags.has(DefFlags::ABSTRACT) {
            return;
        }
        let rule = Rule::Dispatch;
        for target in self.implementations(owner, method).iter() {
            let target = self.reference(*target);
            out.links.push(Link { target, rule, confidence: rule.confidence(), ..link });
        }
    }

    /// The methods that implement one in the types that derive from its own directly.
    fn implementations(&mut self, owner: DefAt, method: DefAt) -> Rc<[DefAt]> {
        let find = |l: &mut Self| l.find_implementations(owner, method).into();
        remembered(self, |l| &mut l.implementations, method, find)
    }

    fn find_implementations(&mut self, owner: DefAt, method: DefAt) -> Vec<DefAt> {
        let name = self.files.name(method);
        let key = Key::any(&format!("base:{}", L::ID), self.files.name(owner));
        let hit = |at| Hit { at, rule: Rule::Dispatch, env: Rc::from([]) };
        let mut out = Vec::new();
        for at in self.files.provided_by_few(key, DERIVED_FILES_MAX) {
            let is_it = |l: &Self, t: &Ty| matches!(l.types.get(*t), Type::Named(at, _) if *at == owner);
            if out.len() >= IMPLEMENTATIONS_MAX || !self.bases(at).iter().any(|t| is_it(self, t)) {
                continue;
            }
            let own = L::own(self, at, name, Space::Calls);
            out.extend(own.iter().copied().find(|o| self.is_hidden(&[hit(*o)], &hit(method))));
        }
        out
    }
}
