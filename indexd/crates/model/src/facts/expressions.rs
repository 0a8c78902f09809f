//! Expressions: a small language-neutral tree, and the role of each place in it.

use super::{BindingId, DefIdx, ExprId, List, StrId};
use crate::coded::coded;
use bitcode::{Decode, Encode};

coded! {
    /// The use of an identifier at its place.
    pub enum Role {
        /// Not a use: structure, or a local name that is never linked.
        None,
        /// Read or passed on.
        Read,
        /// Assigned or deleted.
        Write,
        /// Called; a class instantiated; a generic function instantiated and called.
        Call,
        /// Named as a type: declaration, annotation, conversion, assertion, composite literal.
        Type,
        /// Used as a decorator.
        Decorator,
        /// A base class, an embedded struct or interface.
        Base,
        /// A field by selector.
        Field,
        /// A field as key of a composite literal, a keyword argument of a constructor.
        Key,
        /// Bound by an import.
        Import,
    }
}

/// An expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Expr {
    /// Its shape.
    pub node: Node,
    /// Byte offset of the identifier token of a name or attribute; else of the first byte.
    pub at: u32,
    /// The use of the identifier at this place; [`Role::None`] when it is not a linkable use.
    pub role: Role,
}

/// Shape of an expression. Types are expressions too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
#[expect(missing_docs, reason = "the variants document their fields")]
pub enum Node {
    /// An identifier; `binding` is the local it names, or `NONE` when it is free.
    Name { name: StrId, binding: BindingId },
    /// `base.name`.
    Attr { base: ExprId, name: StrId },
    /// `callee(args)`; also a Go conversion.
    Call { callee: ExprId, args: List },
    /// `name=value` in a call, `key: value` in a literal when the key may be a field name.
    Keyword { name: StrId, value: ExprId },
    /// `key: value` in a literal, or a slice bound pair.
    KeyValue { key: ExprId, value: ExprId },
    /// `*args`, `**kwargs`, `args...`.
    Spread { value: ExprId },
    /// `base[args]`: subscript, generic instantiation, parametrised annotation.
    Index { base: ExprId, args: List },
    /// `base[a:b]`.
    Slice { base: ExprId },
    /// `base[0]`: the element at a constant position, counted from 0; also nested unpacking.
    Item { base: ExprId, index: u16 },
    /// Go `*x`: pointer type or dereference.
    Star { value: ExprId },
    /// Go `&x`.
    Address { value: ExprId },
    /// Go `<-ch`.
    Receive { value: ExprId },
    /// An operator whose result has the operand's type (`-x`, `^x`).
    Unary { value: ExprId },
    /// An operator whose result has an operand's type (`a + b`, `a or b`).
    Binary { left: ExprId, right: ExprId },
    /// Something of boolean type whose operands are recorded elsewhere or below.
    Compare { left: ExprId, right: ExprId },
    /// `then if c else otherwise`.
    Conditional { then: ExprId, otherwise: ExprId },
    /// Go `x.(T)`.
    Assert { value: ExprId, ty: ExprId },
    /// Go composite literal; `ty` is `NONE` when elided inside another.
    Composite { ty: ExprId, elems: List },
    /// A list, tuple, set, dict display; elements of a dict are [`Node::KeyValue`].
    Sequence { kind: SequenceKind, elems: List },
    /// A comprehension or generator expression with the given element.
    Comprehension { kind: SequenceKind, elem: ExprId },
    /// A literal.
    Literal { kind: LiteralKind },
    /// Python `lambda`; the result expression.
    Lambda { params: List, result: ExprId },
    /// `await x`.
    Await { value: ExprId },
    /// `yield x`.
    Yield { value: ExprId },
    /// Go function type, also the type of a function literal. Parameters are type expressions.
    FuncType { params: List, results: List, variadic: bool },
    /// A function literal; its body's uses are separate expressions.
    FuncLiteral { ty: ExprId },
    /// Go `[]T`.
    SliceType { elem: ExprId },
    /// Go `[n]T`.
    ArrayType { elem: ExprId },
    /// Go `map[K]V`.
    MapType { key: ExprId, value: ExprId },
    /// Go `chan T` in any direction.
    ChanType { elem: ExprId },
    /// Go struct type; its fields are definitions whose parent is `holder`: the named type, or an
    /// anonymous holder definition.
    StructType { holder: DefIdx },
    /// Go interface type; methods are definitions whose parent is `holder`.
    InterfaceType { holder: DefIdx },
    /// A union or approximation element of a constraint (`~int | string`), `X | Y`.
    Union { left: ExprId, right: ExprId },
    /// A string annotation or other text that was parsed as an expression.
    Quoted { value: ExprId },
    /// `base<args>`: type arguments, in languages where a subscript is something else.
    Apply { base: ExprId, args: List },
    /// A word of the language that makes another value or type of its operand: `new C`, `keyof T`.
    Word { word: StrId, value: ExprId },
    /// The definition at this index, as a value or a type.
    Def { def: DefIdx },
    /// An identifier in source without any other fact: inside a syntax error or deeper than extraction
    /// follows. It may name anything; its role is [`Role::Call`] where an opening parenthesis follows,
    /// otherwise [`Role::Read`].
    Unread { name: StrId },
    /// Anything else; children, if any, are separate expressions.
    Opaque,
}

/// A reference held by a [`Node`].
pub enum Part<'n> {
    /// An identifier.
    Text(&'n mut StrId),
    /// A local name.
    Binding(&'n mut BindingId),
    /// A child expression.
    Expr(&'n mut ExprId),
    /// A list of child expressions.
    List(&'n mut List),
}

impl Node {
    /// Calls `f` for each reference that the node holds, in order, lists last. Definitions are not included.
    pub fn parts_mut(&mut self, f: &mut dyn FnMut(Part)) {
        match self {
            Self::Name { name, binding } => {
                f(Part::Text(name));
                f(Part::Binding(binding));
            }
            Self::Unread { name } => f(Part::Text(name)),
            Self::Attr { base: e, name }
            | Self::Keyword { name, value: e }
            | Self::Word { word: name, value: e } => {
                f(Part::Text(name));
                f(Part::Expr(e));
            }
            Self::Slice { base: e }
            | Self::Item { base: e, .. }
            | Self::Spread { value: e }
            | Self::Star { value: e }
            | Self::Address { value: e }
            | Self::Receive { value: e }
            | Self::Unary { value: e }
            | Self::Await { value: e }
            | Self::Yield { value: e }
            | Self::Quoted { value: e }
            | Self::Comprehension { elem: e, .. }
            | Self::SliceType { elem: e }
            | Self::ArrayType { elem: e }
            | Self::ChanType { elem: e }
            | Self::FuncLiteral { ty: e } => f(Part::Expr(e)),
            Self::KeyValue { key: a, value: b }
            | Self::MapType { key: a, value: b }
            | Self::Binary { left: a, right: b }
            | Self::Compare { left: a, right: b }
            | Self::Union { left: a, right: b }
            | Self::Conditional { then: a, otherwise: b }
            | Self::Assert { value: a, ty: b } => {
                f(Part::Expr(a));
                f(Part::Expr(b));
            }
            Self::Call { callee: e, args: list }
            | Self::Index { base: e, args: list }
            | Self::Apply { base: e, args: list }
            | Self::Composite { ty: e, elems: list }
            | Self::Lambda { params: list, result: e } => {
                f(Part::Expr(e));
                f(Part::List(list));
            }
            Self::Sequence { elems, .. } => f(Part::List(elems)),
            Self::FuncType { params, results, .. } => {
                f(Part::List(params));
                f(Part::List(results));
            }
            Self::Literal { .. }
            | Self::StructType { .. }
            | Self::InterfaceType { .. }
            | Self::Def { .. }
            | Self::Opaque => {}
        }
    }
}

/// Kind of a display or comprehension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum SequenceKind {
    /// `[...]`
    List,
    /// `(...)`
    Tuple,
    /// `{...}`
    Set,
    /// `{k: v}`
    Dict,
    /// A generator expression.
    Generator,
}

/// Kind of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum LiteralKind {
    /// A string.
    String,
    /// Bytes.
    Bytes,
    /// An integer.
    Int,
    /// A floating-point number.
    Float,
    /// A complex or imaginary number.
    Complex,
    /// A rune.
    Rune,
    /// `True` or `False`.
    Bool,
    /// `None` or `nil`.
    None,
    /// `...`
    Ellipsis,
}
