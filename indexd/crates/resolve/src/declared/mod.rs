//! The linker of languages with declared types.
//!
//! A name that no scope of its file binds is asked of the language ([`Language::name`]). A member is looked up in
//! the type of what stands before it: in the type itself, then in its bases in order ([`attrs`]). Types are
//! read where they are written ([`written`]), and follow from values, calls and results ([`eval`], [`calls`]);
//! function literals get them from the place where they stand ([`context`]). Of several functions of a name the
//! number of arguments decides, then what is known of their types ([`overloads`]). What the language brings along
//! is a table. Nothing is guessed from a bare name: a use whose receiver is not known is unresolved.

mod attrs;
mod calls;
mod context;
mod eval;
mod overloads;
mod unify;
mod uses;
mod written;

use crate::around::Around;
use crate::loaded::{Blocks, Loaded};
use crate::recorder::Recorder;
use crate::typed::slots::{Answers, Asks};
use crate::typed::std::Table;
use crate::typed::{DefAt, Env, File, Files, NameId, Questions, Ty, Types, Val};
use indexd_model::{
    BindingId, Def, DefIdx, DefKind, ExprId, Facts, FileDoc, Links, Role, Rule, UnresolvedReason,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// Where a name is looked for: one name may be a type, a value and a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Types,
    Values,
    Calls,
}

impl Space {
    pub(crate) fn of(role: Role) -> Self {
        match role {
            Role::Type | Role::Base | Role::Decorator | Role::Import => Self::Types,
            Role::Call => Self::Calls,
            _ => Self::Values,
        }
    }

    /// Whether a definition may be meant by a name here.
    pub(crate) fn fits(self, kind: DefKind) -> bool {
        match self {
            Self::Types => kind.is_type() || kind == DefKind::Module,
            Self::Values => !kind.is_callable(),
            Self::Calls => kind.is_callable(),
        }
    }
}

/// A definition that a name leads to, and what stands for the type parameters around it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) at: DefAt,
    pub(crate) rule: Rule,
    pub(crate) env: Env,
}

/// What a name leads to.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Definitions; several are overloads, the most derived first.
    pub(crate) hits: SmallVec<[Hit; 2]>,
    /// Without definitions: the value, or for a type what it is as a value.
    pub(crate) ty: Ty,
    /// Why there are no definitions.
    pub(crate) reason: UnresolvedReason,
    /// Whether there may be more of the name outside the tree.
    pub(crate) is_open: bool,
    /// True if the name has another meaning in other builds.
    pub(crate) is_variant: bool,
}

impl Found {
    pub(crate) fn none(reason: UnresolvedReason) -> Self {
        let ty = if reason == UnresolvedReason::External { Ty::EXTERNAL } else { Ty::UNKNOWN };
        Self { hits: SmallVec::new(), ty, reason, is_open: false, is_variant: false }
    }

    pub(crate) fn unknown() -> Self {
        Self::none(UnresolvedReason::UnknownReceiver)
    }

    pub(crate) fn outside() -> Self {
        Self::none(UnresolvedReason::External)
    }

    /// A value from outside the tree.
    pub(crate) fn typed(ty: Ty) -> Self {
        Self { ty, ..Self::outside() }
    }

    pub(crate) fn defs(defs: impl IntoIterator<Item = DefAt>, rule: Rule) -> Self {
        let env: Env = Rc::from([]);
        let hits = defs.into_iter().map(|at| Hit { at, rule, env: Rc::clone(&env) }).collect();
        Self { hits, ..Self::none(UnresolvedReason::NotFound) }
    }

    /// Whether anything is known.
    pub(crate) fn is_found(&self) -> bool {
        !self.hits.is_empty() || self.ty != Ty::UNKNOWN
    }
}

/// Where a name stands: a file and an offset in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) file: File,
    pub(crate) at: u32,
}

/// What a language adds. Each function has a default where one makes sense; the defaults are those of a language
/// without overloads whose types are reached directly.
pub(crate) trait Language: Sized {
    /// What the language keeps during a run.
    type Own<'a>: Default;
    /// Its name among the keys of bases, as in [`indexd_model::Language::id`].
    const ID: &'static str;
    /// Whether functions of one name are told apart by their parameters.
    const HAS_OVERLOADS: bool;
    /// The type of the table that every type derives from; empty for none.
    const ROOT: &'static str;

    /// What the language brings along.
    fn table() -> &'static Table;

    /// What a name that no scope of its file binds means at a place. Answers are kept by the definition around.
    fn name<'a>(l: &mut Linker<'a, Self>, place: Place, name: &'a str, space: Space) -> Found;

    /// Links the imports of the file.
    fn imports(l: &mut Linker<Self>, out: &mut Links);

    /// The type of a literal, by its name in the table; empty where it has none.
    fn literal(kind: indexd_model::facts::LiteralKind) -> &'static str;

    /// The value of an expression that means something of the language's own; asked first.
    fn value(_: &mut Linker<Self>, _: File, _: ExprId) -> Option<Val> {
        None
    }

    /// The same of an expression in the place of a type.
    fn ty(_: &mut Linker<Self>, _: File, _: ExprId) -> Option<Ty> {
        None
    }

    /// What a use, or a path in the place of a type, leads to; asked first.
    fn found(_: &mut Linker<Self>, _: File, _: ExprId, _: Space) -> Option<Found> {
        None
    }

    /// The member of a type under a name; asked first.
    fn attr(_: &mut Linker<Self>, _: Ty, _: &str, _: Space) -> Option<Found> {
        None
    }

    /// The type of a definition's name as a value; asked first.
    fn def_value(_: &mut Linker<Self>, _: DefAt) -> Option<Val> {
        None
    }

    /// The type that a definition declares; asked first.
    fn type_of_def(_: &mut Linker<Self>, _: DefAt) -> Option<Ty> {
        None
    }

    /// What a name means behind that of a package.
    fn in_package(_: &mut Linker<Self>, _: &str, _: &str, _: Space) -> Found {
        Found::outside()
    }

    /// Members that a definition itself has under a name.
    fn own<'a>(l: &mut Linker<'a, Self>, of: DefAt, name: &str, space: Space) -> SmallVec<[DefAt; 2]> {
        l.members_in(of, name, space)
    }

    /// Whether types that derive from the owner of a member have it as well.
    fn is_inherited(_: &Linker<Self>, _: DefAt) -> bool {
        true
    }

    /// The types that a definition derives from, in terms of its own parameters.
    fn bases(l: &mut Linker<Self>, at: DefAt) -> Vec<Ty> {
        l.written_bases(at)
    }

    /// What makes a value of a type: constructors.
    fn constructors(_: &mut Linker<Self>, _: DefAt) -> SmallVec<[DefAt; 2]> {
        SmallVec::new()
    }

    /// The type whose members a value has as well: what a pointer points to.
    fn behind(_: &mut Linker<Self>, _: Ty) -> Option<Ty> {
        None
    }

    /// Whether a type of the table is another one, beyond what the table says.
    fn is_std_a(_: &str, _: &str) -> Option<bool> {
        None
    }

    /// Whether a value of one type of the table is turned into one of another where an overload takes it, which
    /// counts less than without.
    fn is_turned(_: &str, _: &str) -> bool {
        false
    }

    /// What a call means where no function of the name takes its arguments.
    fn miscounted(_: &mut Linker<Self>, _: &[Hit]) -> SmallVec<[Hit; 2]> {
        SmallVec::new()
    }

    /// Returns the value of a variable that begins empty, by the values put into it later; asked before the value itself.
    fn filled(_: &mut Linker<Self>, _: File, _: BindingId, _: ExprId) -> Option<Val> {
        None
    }

    /// The part of a value that a declaration takes apart; `UNKNOWN` where that is not known.
    fn part(_: &mut Linker<Self>, _: Ty, _: u16) -> Ty {
        Ty::UNKNOWN
    }

    /// What going through a value gives; asked before its member `[]`.
    fn element(_: &mut Linker<Self>, _: Ty) -> Option<Ty> {
        None
    }

    /// The definition that a link leads to: that of what is only announced.
    fn definition(_: &mut Linker<Self>, at: DefAt) -> DefAt {
        at
    }

    /// What stands in the source for the name of a member: the sign of an operator. A use under another name than
    /// its own is not worth a word where nothing is known of it.
    fn shown(name: &str) -> &str {
        name
    }

    /// What a type is where it stands for a type parameter.
    fn boxed(name: &str) -> &str {
        name
    }

    /// The type of an operation on two values.
    fn operation(l: &mut Linker<Self>, left: Ty, right: Ty) -> Ty {
        l.types.union(&[left, right])
    }
}

/// Links one file.
pub(crate) fn link<L: Language>(file: FileDoc, facts: Facts, recorder: &Recorder) -> Links {
    let blocks = Blocks::default();
    let loaded = Loaded::new(recorder, &blocks, file, facts);
    Linker::<L>::new(&loaded, recorder).run()
}

/// One linking run. File 0 is the one being linked.
pub(crate) struct Linker<'a, L: Language> {
    pub(crate) files: Files<'a>,
    pub(crate) types: Types,
    /// State of the language.
    pub(crate) own: L::Own<'a>,
    questions: Questions,
    answers: Answers,
    names: FxHashMap<(File, DefIdx, &'a str, Space), Rc<Found>>,
    attrs: FxHashMap<(Ty, NameId, Space), Rc<Found>>,
    picks: FxHashMap<(File, ExprId), Rc<calls::Picked>>,
    bases: FxHashMap<DefAt, Rc<[Ty]>>,
    implementations: FxHashMap<DefAt, Rc<[DefAt]>>,
    /// The definitions around places, by file.
    around: FxHashMap<File, Around>,
}

/// Imports that are looked through in the time of a step.
const IMPORTS_PER_STEP: u64 = 256;

impl<L: Language> Asks for Linker<'_, L> {
    fn questions(&mut self) -> &mut Questions {
        &mut self.questions
    }
}

impl<'a, L: Language> Linker<'a, L> {
    fn new(loaded: &'a Loaded<'a>, view: &'a Recorder<'a>) -> Self {
        let n_exprs = loaded.facts(0).n_exprs();
        Self {
            files: Files::new(loaded, view),
            types: Types::new(),
            own: L::Own::default(),
            questions: Questions::new(60, 20_000, n_exprs),
            answers: Answers::new(n_exprs),
            names: FxHashMap::default(),
            attrs: FxHashMap::default(),
            picks: FxHashMap::default(),
            bases: FxHashMap::default(),
            implementations: FxHashMap::default(),
            around: FxHashMap::default(),
        }
    }

    /// Takes a step that looks through the imports of a file: one with very many takes more of them.
    pub(crate) fn step_through(&mut self, file: File) -> bool {
        self.questions.steps(1 + self.facts(file).interface.imports.len() as u64 / IMPORTS_PER_STEP)
    }

    pub(crate) fn facts(&self, file: File) -> Facts<'a> {
        self.files.facts(file)
    }

    /// The innermost definition whose names are seen at a place: a type, behind its head, a module, a function or
    /// a constant.
    pub(crate) fn scope(&mut self, place: Place) -> DefIdx {
        let facts = self.facts(place.file);
        let holds = |d: &Def| {
            d.kind.is_type() || d.kind.is_callable() || matches!(d.kind, DefKind::Module | DefKind::Constant)
        };
        let around = self.around.entry(place.file).or_insert_with(|| Around::last_of_equals(facts, holds));
        let innermost = around.at(place.at);
        // What is in the brackets of a head may name what is in the body.
        let is_head = |d: &DefIdx| {
            let it = facts.def(*d);
            let is_before_name =
                it.receiver.is_some() && it.kind.is_callable() && place.at < it.name_span.start;
            is_before_name
                || it.kind.is_type()
                    && it.head.holds(place.at)
                    && (it.params.is_empty() || place.at < it.name_span.end)
        };
        match innermost.some().filter(is_head) {
            Some(def) => facts.def(def).parent,
            None => innermost,
        }
    }

    /// [`Language::name`], asked once for each definition around.
    pub(crate) fn free(&mut self, place: Place, name: &'a str, space: Space) -> Rc<Found> {
        let key = (place.file, self.scope(place), name, space);
        if let Some(known) = self.names.get(&key) {
            return Rc::clone(known);
        }
        if !self.step() {
            return Rc::new(Found::unknown());
        }
        let depth = self.questions.depth();
        let found = Rc::new(L::name(self, place, name, space));
        if self.questions.is_settled(depth) {
            self.names.insert(key, Rc::clone(&found));
        }
        found
    }
}
