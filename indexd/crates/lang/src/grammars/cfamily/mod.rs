//! The second pass over a file of C or C++: uses of names, with the types and values that tell what they are.
//!
//! Definitions come from the table of the language; this pass fills in their types, values, parameters, results
//! and bases. References are what they lead to; pointers and arrays are a [`Shape::ArrayType`]. Shapes that are the
//! same for every language are documented at [`Shape`]; the others: a name behind `::` is an attribute of a [`Shape::Word`] `::` of its
//! scope, `a->b` one of a [`Shape::Star`], `new T(x)` calls a [`Shape::Word`] `new`, a type of the language is a
//! [`Shape::Literal`], a type without a name is a [`Shape::StructType`], and an operator of a value is a call of an
//! attribute `operator+` at the place of the sign.

mod declare;
mod kinds;
mod rewrite;
mod using;
mod visit;

pub(super) use kinds::Kinds;
pub(super) use rewrite::for_parser;
pub(super) use using::{file_keys, keys, scoped_import};

use super::flat::Flat;
use super::pass::Pass;
use super::table::{Define, has_word};
use crate::builder::Builder;
use indexd_model::facts::LiteralKind;
use indexd_model::lists::holds;
use indexd_model::{
    BindingId, BindingKind, DefFlags, DefIdx, DefKind, ExprId, Language, Node as Shape, Role, Source, StrId,
};
use kinds::Fields;
use rustc_hash::FxHashMap;

/// Whether a language is C or C++.
pub(super) fn is_cfamily(language: Language) -> bool {
    matches!(language, Language::C | Language::Cpp)
}

/// Returns true for a word of the language: a definition with such a name was not understood.
pub(super) fn is_reserved(name: &str) -> bool {
    const WORDS: &str = "void char short int long float double signed unsigned if else for while do switch case \
        default return sizeof goto break continue static extern inline const volatile typedef struct union enum";
    holds(WORDS, name)
}

/// Returns true if a word between these others is the name in a declaration: `T x =`, `T *x;`.
fn is_declared(before: [&str; 2], next: &str) -> bool {
    let is_word = |w: &str| {
        w.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !matches!(w, "return" | "case" | "goto" | "else")
    };
    let is_behind_type = is_word(before[0]) || before[0] == "*" && is_word(before[1]);
    is_behind_type && matches!(next, "=" | ";" | "," | "[" | ")")
}

/// What the words before the name of a definition say: enumerators that are named behind their enumeration, a
/// namespace whose names are seen around it as well, a method that a class which derives may override.
pub(super) fn marks(is: DefKind, before: &str, _: &Define) -> DefFlags {
    match is {
        DefKind::Enum if has_word(before, &["class", "struct"]) => DefFlags::STATIC,
        DefKind::Module if has_word(before, &["inline"]) => DefFlags::EMBEDDED,
        kind if kind.is_callable() && has_word(before, &["virtual"]) => DefFlags::ABSTRACT,
        _ => DefFlags::default(),
    }
}

/// Adds the uses of names in the tree of `text`, whose definitions are in `b`, and all that tells types. Gives the
/// names of types that are only announced.
pub(super) fn uses<'s>(
    b: &mut Builder<'s>,
    text: &'s str,
    language: Language,
    kinds: &Kinds,
    tree: &Flat,
) -> Option<Vec<StrId>> {
    // Titles name tests here.
    let by_name = b.defs.iter().enumerate().map(|(i, d)| (d.name_span.start, DefIdx(i as u32))).collect();
    let own = State {
        plain: ExprId::NONE,
        text_type: ExprId::NONE,
        kinds,
        f: kinds.fields,
        is_cpp: language == Language::Cpp,
        scopes: vec![FxHashMap::default()],
        type_params: Vec::new(),
        forwards: Vec::new(),
        class: DefIdx::NONE,
        function: Function::none(),
        holder: DefIdx::NONE,
        depth: 0,
    };
    let mut it = Pass { by_name, ..Pass::new(b, text, tree, own) };
    it.plain = it.literal(LiteralKind::Int, 0);
    it.text_type = it.literal(LiteralKind::String, 0);
    it.inside(0);
    it.macros_before_declarations();
    it.end(&|kind| kind.ends_with("identifier") && kind != "statement_identifier");
    Some(it.own.forwards).filter(|f| !f.is_empty())
}

/// The function that is being read.
#[derive(Clone)]
struct Function {
    def: DefIdx,
    /// What `this` is: the class around, or as the head says.
    this: Option<Source>,
    receiver: BindingId,
    /// What is returned, where the head does not say the type.
    returns: Option<Vec<ExprId>>,
}

impl Function {
    fn none() -> Self {
        Self { def: DefIdx::NONE, this: None, receiver: BindingId::NONE, returns: None }
    }
}

/// Reads a tree.
type Visitor<'b, 's> = Pass<'b, 's, State<'b, 's>>;

/// The state of the pass.
struct State<'b, 's> {
    kinds: &'b Kinds,
    f: Fields,
    /// A value or type of the language.
    plain: ExprId,
    /// `char *`.
    text_type: ExprId,
    is_cpp: bool,
    scopes: Vec<FxHashMap<&'s str, BindingId>>,
    /// Parameters of the template whose declaration comes next.
    type_params: Vec<BindingId>,
    /// Types that are only announced.
    forwards: Vec<StrId>,
    class: DefIdx,
    function: Function,
    /// The definition that a type without a name belongs to.
    holder: DefIdx,
    depth: usize,
}

impl<'s> Visitor<'_, 's> {
    fn field(&self, node: usize, field: u16) -> Option<usize> {
        self.tree.in_field(node, field)
    }

    fn children(&self, node: usize) -> Vec<usize> {
        self.tree.children(node).collect()
    }

    /// Notes that the names in a node need no facts, unless it is damaged.
    fn tell_names(&mut self, node: usize) {
        if !self.tree.node(node).has_error()
            && let Some(told) = &mut self.told
        {
            told.extend(self.tree.within(node).map(|n| self.tree.node(n).start_byte() as u32));
        }
    }

    /// Runs `f` in a scope of its own.
    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(FxHashMap::default());
        let out = f(self);
        self.scopes.pop();
        out
    }

    fn find(&self, name: &str) -> Option<BindingId> {
        self.scopes.iter().rev().find_map(|s| s.get(name).copied())
    }

    fn bind(&mut self, name: usize, kind: BindingKind, source: Option<Source>) -> BindingId {
        let (text, at) = (self.slice(name), self.start(name));
        let name = self.b.str(text);
        let binding = self.b.bind(name, at, self.function.def, kind);
        source.into_iter().for_each(|s| self.b.source(binding, s));
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(text, binding);
        }
        binding
    }

    /// A use of a name.
    fn name(&mut self, node: usize, role: Role) -> ExprId {
        let (text, at) = (self.slice(node), self.start(node));
        if self.by_name.contains_key(&at) || text.is_empty() {
            return self.opaque;
        }
        match self.find(text) {
            Some(binding) => {
                let name = self.b.str(text);
                self.b.expr(Shape::Name { name, binding }, at, Role::None)
            }
            None => self.free(text, at, role),
        }
    }

    /// The value that the method around runs on.
    fn this(&mut self, at: u32) -> ExprId {
        let Some(source) = self.function.this else { return self.opaque };
        let name = self.b.str("this");
        if self.function.receiver == BindingId::NONE {
            let binding = self.b.bind(name, at, self.function.def, BindingKind::Receiver);
            self.b.source(binding, source);
            self.function.receiver = binding;
        }
        let binding = self.function.receiver;
        self.node(Shape::Name { name, binding }, at)
    }

    /// Runs `f` inside the code of a function.
    fn in_function(&mut self, def: DefIdx, this: Option<Source>, f: impl FnOnce(&mut Self)) -> Function {
        let inner = Function { def, this, receiver: BindingId::NONE, returns: None };
        let outer = std::mem::replace(&mut self.function, inner);
        self.scoped(f);
        std::mem::replace(&mut self.function, outer)
    }

    /// What `this` is in a member of the class around.
    fn this_of_class(&self, def: DefIdx) -> Option<Source> {
        let class = self.class.some()?;
        let is_static = def.some().is_some_and(|d| self.b.defs[d.index()].flags.has(DefFlags::STATIC));
        (!is_static).then_some(Source::Def(class))
    }

    /// The macros that the parser did not see are uses like others.
    fn macros_before_declarations(&mut self) {
        for range in rewrite::blanked(self.text).0 {
            let text = &self.text[range.clone()];
            let start = text.as_ptr() as usize;
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            let names = words.filter(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_'));
            // The name of the macro may be left to the parser.
            let is_whole = !text.trim_start().starts_with('(');
            for (i, name) in names.enumerate() {
                let at = range.start + (name.as_ptr() as usize - start);
                let (at, is_called) = (at as u32, i == 0 && text.ends_with(')'));
                match i {
                    0 if is_whole => {
                        let callee = self.free(name, at, if is_called { Role::Call } else { Role::Read });
                        if is_called {
                            let args = self.b.list(&[]);
                            self.node(Shape::Call { callee, args }, at);
                        }
                    }
                    _ => {
                        let value = self.free(name, at, Role::None);
                        self.loose(value, at);
                    }
                }
            }
        }
    }

    fn is_callable(&self, def: DefIdx) -> bool {
        matches!(self.b.defs[def.index()].kind, DefKind::Function | DefKind::Method)
    }
}
