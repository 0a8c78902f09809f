//! What each kind of node of a language with declared types is to the visitor: data, and the data looked up
//! once per process.

use super::Visitor;
use indexd_model::facts::LiteralKind;
use indexd_model::{ExprId, Role};
use tree_sitter::Language;

/// What the visitor knows of a language.
pub(in crate::grammars) struct Typed {
    /// Kinds of nodes, what they are, and where their parts stand: in a field, in children of a kind, or in
    /// [`FIRST`], [`LAST`] or [`BEFORE_LAST`] of the named children. Which parts a form has is said at [`Form`].
    pub(in crate::grammars) forms: &'static [(&'static str, Form, &'static [&'static str])],
    /// Kinds that open a scope.
    pub(in crate::grammars) scopes: &'static [&'static str],
    /// Words in the place of a type that say "as its value is".
    pub(in crate::grammars) inferred: &'static [&'static str],
    /// Whether a function of a type is abstract where it has no body.
    pub(in crate::grammars) is_abstract_without_body: bool,
    /// Names of decorators that definitions keep, since the linker reads them.
    pub(in crate::grammars) decorators: &'static [&'static str],
}

/// The first named child, as a part.
pub(in crate::grammars) const FIRST: &str = "0";
/// The last named child, as a part.
pub(in crate::grammars) const LAST: &str = "-1";

/// The named child before the last one, as a part.
pub(in crate::grammars) const BEFORE_LAST: &str = "-2";

/// A function of a language's own that reads a node.
pub(in crate::grammars) type Own = for<'b, 's> fn(&mut Visitor<'b, 's>, usize, Role) -> ExprId;

/// What a node is. Behind each form stand its parts in order; any may be missing. An expression is made of them
/// as [`indexd_model::Node`] says, in the cases that are named here.
#[derive(Clone, Copy, Default)]
pub(in crate::grammars) enum Form {
    /// Its children are visited.
    #[default]
    Other,
    /// Nothing in it is a use.
    Passed,
    /// A language's own.
    Own(Own),
    /// An identifier: a local name, else a free one.
    Name,
    /// An identifier that names a type.
    TypeName,
    /// A type of the language itself, by its text; no use.
    Builtin,
    /// The value whose method runs.
    This,
    /// The same as its base.
    Super,
    /// Brackets: what the first child is.
    Inner,
    Literal(LiteralKind),
    /// Value, name: `Attr`.
    Member,
    /// Function, arguments, type arguments: `Call`.
    Call,
    /// Value, name, arguments, type arguments: a `Call` of an `Attr`, or of a free name without a value.
    Method,
    /// Type, arguments, body of a class without a name: a `Call` of the word `new`.
    New,
    /// Value, index: `Index`.
    Index,
    /// Value, type: `Assert`.
    Cast,
    /// Value, type, the name that the value then has: a truth value.
    InstanceOf,
    /// Operator, operand: `Unary`, or a truth value.
    Unary,
    /// Operands are written to.
    Update,
    /// Left, right, operator: `Binary`, or a truth value.
    Binary,
    /// Condition, then, otherwise: `Conditional`.
    Ternary,
    /// Left, right, operator: `KeyValue`.
    Assign,
    /// Parameters, body: `Lambda`.
    Lambda,
    /// Elements: `Sequence`.
    Sequence,
    /// Type, arguments: `Apply`.
    Generic,
    /// Type: `ArrayType`.
    Array,
    /// Names behind each other: `Attr` of `Attr`.
    Path,
    /// Type, declarators: variables of one type, local ones or fields.
    Variables,
    /// Name, value, what makes it an array: one of them.
    Declarator,
    /// Type, name, value, what makes it an array: a parameter, or a local variable alone.
    Param,
    /// The same, of a parameter that takes all arguments that are left.
    VarArgs,
    /// Type, name, what is gone through, body.
    ForEach,
    /// Name, type parameters, parameters, result, body.
    Function,
    /// Name, type parameters, parameters of its head, body.
    TypeDef,
    /// Name, bounds.
    TypeParam,
    /// Types that are bases of the type around.
    Bases,
    /// Name, arguments, body: a constant of the enumeration around.
    EnumMember,
    /// Name, arguments.
    Decorator,
    /// Name, value, among the arguments of a decorator: `Keyword`.
    Pair,
    Return,
}

/// Where a part of a node stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Nowhere,
    First,
    Last,
    BeforeLast,
    Field(u16),
    Kind(u16),
}

/// Parts of one form.
const PARTS_MAX: usize = 5;

/// A kind of node.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    pub(super) form: Form,
    pub(super) parts: [Place; PARTS_MAX],
    pub(super) opens: bool,
}

/// A table with its kinds and fields looked up.
pub(in crate::grammars) struct Forms {
    pub(super) table: &'static Typed,
    rows: Vec<Row>,
}

impl Forms {
    pub(in crate::grammars) fn new(parser: &Language, table: &'static Typed) -> Self {
        let place = |part: &str| match part {
            "" => Place::Nowhere,
            FIRST => Place::First,
            LAST => Place::Last,
            BEFORE_LAST => Place::BeforeLast,
            _ => match parser.field_id_for_name(part) {
                Some(field) => Place::Field(field.get()),
                None => Place::Kind(parser.id_for_node_kind(part, true)),
            },
        };
        let row = |id: usize| {
            let name = parser.node_kind_for_id(id as u16).filter(|_| parser.node_kind_is_named(id as u16));
            let mut row = Row::default();
            let Some(name) = name else { return row };
            row.opens = table.scopes.contains(&name);
            if let Some((_, form, parts)) = table.forms.iter().find(|f| f.0 == name) {
                row.form = *form;
                row.parts.iter_mut().zip(*parts).for_each(|(to, part)| *to = place(part));
            }
            row
        };
        Self { table, rows: (0..parser.node_kind_count()).map(row).collect() }
    }

    pub(super) fn row(&self, kind_id: usize) -> Row {
        self.rows.get(kind_id).copied().unwrap_or_default()
    }

    /// Whether a kind of node is a name.
    pub(in crate::grammars) fn is_name(&self, kind: &str) -> bool {
        let form = self.table.forms.iter().find(|f| f.0 == kind).map(|f| f.1);
        matches!(form, Some(Form::Name | Form::TypeName))
    }
}
