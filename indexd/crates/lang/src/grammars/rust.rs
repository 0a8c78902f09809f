//! Rust.
//!
//! Shapes of its own: `a::b` is the member `b` of `a`; `&x` is `Node::Address`, `*x` `Node::Star`, `x?` the word
//! `?`, `async {}` the word `async`, `impl A + B` and `dyn A` words of `Node::Binary`s; a macro is called by the word
//! `!`; what a pattern takes apart is `Node::Assert`ed to be what the pattern names; `Self` is a type parameter whose
//! source is the type, or the definition of the trait. A name among the arguments of a macro of the same file may be
//! the name of an item, or the end of a path (`grammars/made.rs`). Members of an `impl` block have its type and then its
//! trait as bases, and its type parameters before their own; the block itself is a definition without a name where
//! it has a trait. An import whose name is not that of its path has that path by `#[path]`, and is a [`ImportKind::Name`](indexd_model::facts::ImportKind::Name) where `#[macro_use]`
//! stands before it. What is there where a condition does not hold (`cfg(not(..))`) is conditional.

mod items;
mod macros;
mod patterns;
mod rewrite;
mod values;

use super::table::*;
use super::typed::forms::{FIRST, Form, LAST, Typed};
use indexd_model::DefKind::*;
use indexd_model::Language;
use indexd_model::facts::LiteralKind;

/// What the nodes are to the visitor.
#[rustfmt::skip]
const TYPED: Typed = Typed {
    forms: &[
        ("identifier", Form::Name, &[]),
        ("type_identifier", Form::TypeName, &[]),
        ("shorthand_field_identifier", Form::Name, &[]),
        ("primitive_type", Form::Builtin, &[]),
        ("self", Form::Own(values::word), &[]),
        ("crate", Form::Own(values::word), &[]),
        ("super", Form::Own(values::word), &[]),
        ("scoped_identifier", Form::Own(values::path), &["path", "name"]),
        ("scoped_type_identifier", Form::Own(values::path), &["path", "name"]),
        ("generic_function", Form::Own(values::generic), &["function", "type_arguments"]),
        ("generic_type", Form::Own(values::generic), &["type", "type_arguments"]),
        ("generic_type_with_turbofish", Form::Own(values::generic), &["type", "type_arguments"]),
        ("generic_pattern", Form::Own(values::generic), &[FIRST, "type_arguments"]),
        ("type_binding", Form::Own(values::type_binding), &["name", "type", "type_arguments"]),
        ("trait_bounds", Form::Own(values::bounds), &[]),
        ("bounded_type", Form::Own(values::bounds), &[]),
        ("dynamic_type", Form::Own(values::of_traits), &["trait"]),
        ("abstract_type", Form::Own(values::of_traits), &["trait"]),
        ("function_type", Form::Own(values::function_type), &["parameters", "return_type"]),
        ("higher_ranked_trait_bound", Form::Own(values::last), &["type"]),
        ("removed_trait_bound", Form::Inner, &[]),
        ("bracketed_type", Form::Inner, &[]),
        ("qualified_type", Form::Cast, &["type", "alias"]),
        ("reference_type", Form::Own(values::reference), &["type"]),
        ("pointer_type", Form::Own(values::reference), &["type"]),
        ("array_type", Form::Own(values::array_type), &["element"]),
        ("tuple_type", Form::Own(values::tuple), &[]),
        ("string_literal", Form::Literal(LiteralKind::String), &[]),
        ("raw_string_literal", Form::Literal(LiteralKind::String), &[]),
        ("char_literal", Form::Literal(LiteralKind::Rune), &[]),
        ("integer_literal", Form::Literal(LiteralKind::Int), &[]),
        ("float_literal", Form::Literal(LiteralKind::Float), &[]),
        ("boolean_literal", Form::Literal(LiteralKind::Bool), &[]),
        ("call_expression", Form::Call, &["function", "arguments"]),
        ("field_expression", Form::Own(values::field), &["value", "field"]),
        ("index_expression", Form::Own(values::index), &[FIRST, LAST]),
        ("type_cast_expression", Form::Cast, &["value", "type"]),
        ("try_expression", Form::Own(values::tried), &[FIRST]),
        ("await_expression", Form::Own(values::awaited), &[FIRST]),
        ("reference_expression", Form::Own(values::reference), &["value"]),
        ("unary_expression", Form::Own(values::unary), &[FIRST]),
        ("binary_expression", Form::Binary, &["left", "right", "operator"]),
        ("assignment_expression", Form::Own(values::assign), &["left", "right"]),
        ("compound_assignment_expr", Form::Assign, &["left", "right"]),
        ("parenthesized_expression", Form::Own(values::brackets), &[]),
        ("tuple_expression", Form::Own(values::tuple), &[]),
        ("array_expression", Form::Sequence, &[]),
        ("closure_expression", Form::Own(values::closure), &["parameters", "body", "return_type"]),
        ("struct_expression", Form::Own(values::literal), &["name", "body"]),
        ("macro_invocation", Form::Own(macros::invocation), &["macro", "token_tree"]),
        ("token_tree", Form::Own(macros::tokens), &[]),
        ("block", Form::Own(values::block), &[]),
        ("unsafe_block", Form::Own(values::last), &["block"]),
        ("const_block", Form::Own(values::last), &["body"]),
        ("async_block", Form::Own(values::async_block), &["block"]),
        ("if_expression", Form::Own(values::condition), &["condition", "consequence", "alternative"]),
        ("else_clause", Form::Inner, &[]),
        ("match_expression", Form::Own(values::matched), &["value", "body"]),
        ("match_arm", Form::Own(values::arm), &["pattern", "value"]),
        ("for_expression", Form::Own(values::for_each), &["pattern", "value", "body"]),
        ("while_expression", Form::Own(values::statement), &[]),
        ("loop_expression", Form::Own(values::statement), &[]),
        ("return_expression", Form::Own(values::statement), &[]),
        ("break_expression", Form::Own(values::statement), &[]),
        ("let_declaration", Form::Own(values::declared), &["pattern", "value", "type", "alternative"]),
        ("let_condition", Form::Own(values::declared), &["pattern", "value"]),
        ("function_item", Form::Own(items::function), &["name", "type_parameters", "parameters", "return_type", "body"]),
        ("function_signature_item", Form::Own(items::function), &["name", "type_parameters", "parameters", "return_type"]),
        ("struct_item", Form::Own(items::type_item), &["name", "type_parameters", "body"]),
        ("union_item", Form::Own(items::type_item), &["name", "type_parameters", "body"]),
        ("enum_item", Form::Own(items::type_item), &["name", "type_parameters", "body"]),
        ("trait_item", Form::Own(items::type_item), &["name", "type_parameters", "body", "bounds"]),
        ("impl_item", Form::Own(items::impl_item), &["type_parameters", "trait", "type", "body"]),
        ("enum_variant", Form::Own(items::variant), &["name", "body", "value"]),
        ("field_declaration", Form::Own(items::value_item), &["name", "type"]),
        ("const_item", Form::Own(items::value_item), &["name", "type", "value"]),
        ("static_item", Form::Own(items::value_item), &["name", "type", "value"]),
        ("type_item", Form::Own(items::alias), &["name", "type_parameters", "type"]),
        ("associated_type", Form::Own(items::alias), &["name", "type_parameters", "bounds"]),
        ("where_predicate", Form::Own(items::predicate), &["left", "bounds"]),
        ("mod_item", Form::Own(items::module), &["name", "body"]),
        ("attribute_item", Form::Own(items::attribute), &[]),
        ("inner_attribute_item", Form::Passed, &[]),
        ("use_declaration", Form::Own(items::import), &[]),
        ("extern_crate_declaration", Form::Own(items::import), &[]),
        ("visibility_modifier", Form::Passed, &[]),
        ("macro_definition", Form::Own(items::macro_item), &["name"]),
        ("label", Form::Passed, &[]),
        ("lifetime", Form::Passed, &[]),
    ],
    scopes: &[
        "block", "match_arm", "for_expression", "if_expression", "while_expression", "closure_expression",
        "function_item", "function_signature_item", "struct_item", "union_item", "enum_item", "trait_item", "impl_item",
        "type_item", "associated_type", "mod_item",
    ],
    inferred: &["_"],
    is_abstract_without_body: false,
    decorators: &[],
};

/// Rust.
pub(super) const RUST: Grammar = Grammar {
    defines: &[
        Define::new("function_item", Function),
        Define::new("function_signature_item", Function),
        Define::new("struct_item", Struct),
        Define::new("enum_item", Enum),
        Define::new("union_item", Struct),
        Define::new("trait_item", Interface),
        Define::new("mod_item", Module).with_body(),
        Define::new("type_item", Alias).body(&[]),
        Define::new("associated_type", Alias).body(&[]),
        Define::new("const_item", Constant).body(&["value"]),
        Define::new("static_item", Variable).body(&["value"]),
        Define::new("macro_definition", Macro).body(&["macro_rule"]),
        Define::new("macro_invocation", Function).made(),
        Define::new("macro_invocation", Struct).made(),
        Define::new("macro_invocation", Enum).made(),
        Define::new("macro_invocation", Constant).made(),
        Define::new("field_declaration", Field).body(&[]),
        Define::new("enum_variant", Constant).body(&[]),
    ],
    owners: &[("impl_item", "type")],
    attributes: &["attribute_item"],
    comments: &["line_comment", "block_comment"],
    imports: &[
        ("use_declaration", Written::Paths(&["pub", "use"])),
        ("extern_crate_declaration", Written::Paths(&["pub", "extern", "crate"])),
        ("mod_item", Written::Module),
    ],
    exported: Exported::With(&["pub"]),
    file_keys: items::file_keys,
    keys: items::keys,
    test_marks: &["#[test", "::test]", "::test(", "#[cfg(test)]", "#[rstest"],
    typed: Some(&TYPED),
    arguments: Some(macros::arguments),
    rewrites: Some(rewrite::for_parser),
    ..Grammar::new(Language::Rust, || tree_sitter_rust::LANGUAGE.into())
};
