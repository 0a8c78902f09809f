//! Java.

use super::table::*;
use super::typed::Visitor;
use super::typed::forms::{BEFORE_LAST, FIRST, Form, LAST, Typed};
use indexd_model::DefKind::*;
use indexd_model::facts::LiteralKind;
use indexd_model::{BindingKind, ExprId, Language, Node as Shape, Role};

/// What the nodes are to the visitor.
#[rustfmt::skip]
const TYPED: Typed = Typed {
    forms: &[
        ("identifier", Form::Name, &[]),
        ("type_identifier", Form::TypeName, &[]),
        ("integral_type", Form::Builtin, &[]),
        ("floating_point_type", Form::Builtin, &[]),
        ("boolean_type", Form::Builtin, &[]),
        ("void_type", Form::Builtin, &[]),
        ("this", Form::This, &[]),
        ("super", Form::Super, &[]),
        ("parenthesized_expression", Form::Inner, &[]),
        ("string_literal", Form::Literal(LiteralKind::String), &[]),
        ("character_literal", Form::Literal(LiteralKind::Rune), &[]),
        ("decimal_integer_literal", Form::Own(number), &[]),
        ("hex_integer_literal", Form::Own(number), &[]),
        ("octal_integer_literal", Form::Own(number), &[]),
        ("binary_integer_literal", Form::Own(number), &[]),
        ("decimal_floating_point_literal", Form::Own(number), &[]),
        ("hex_floating_point_literal", Form::Own(number), &[]),
        ("true", Form::Literal(LiteralKind::Bool), &[]),
        ("false", Form::Literal(LiteralKind::Bool), &[]),
        ("null_literal", Form::Literal(LiteralKind::None), &[]),
        ("class_literal", Form::Own(class_literal), &[]),
        ("field_access", Form::Member, &["object", "field"]),
        ("method_invocation", Form::Method, &["object", "name", "arguments", "type_arguments"]),
        ("object_creation_expression", Form::New, &["type", "arguments", "class_body"]),
        ("array_creation_expression", Form::Own(new_array), &["type", "value"]),
        ("array_initializer", Form::Sequence, &[]),
        ("element_value_array_initializer", Form::Sequence, &[]),
        ("array_access", Form::Index, &["array", "index"]),
        ("cast_expression", Form::Cast, &["value", "type"]),
        ("instanceof_expression", Form::InstanceOf, &["left", "right", "name", "pattern"]),
        ("unary_expression", Form::Unary, &["operator", "operand"]),
        ("update_expression", Form::Update, &[]),
        ("binary_expression", Form::Binary, &["left", "right", "operator"]),
        ("ternary_expression", Form::Ternary, &["condition", "consequence", "alternative"]),
        ("assignment_expression", Form::Assign, &["left", "right"]),
        ("lambda_expression", Form::Lambda, &["parameters", "body"]),
        ("method_reference", Form::Own(method_reference), &[]),
        ("explicit_constructor_invocation", Form::Own(constructor_call), &["constructor", "arguments"]),
        ("switch_expression", Form::Own(switch), &["condition", "body"]),
        ("switch_label", Form::Own(switch_label), &[]),
        ("generic_type", Form::Generic, &[FIRST, LAST]),
        ("array_type", Form::Array, &["element"]),
        ("annotated_type", Form::Own(last_of), &[]),
        ("wildcard", Form::Own(last_of), &[]),
        ("catch_type", Form::Inner, &[]),
        ("scoped_type_identifier", Form::Path, &[]),
        ("scoped_identifier", Form::Path, &[]),
        ("local_variable_declaration", Form::Variables, &["type", "declarator"]),
        ("field_declaration", Form::Variables, &["type", "declarator"]),
        ("constant_declaration", Form::Variables, &["type", "declarator"]),
        ("variable_declarator", Form::Declarator, &["name", "value", "dimensions"]),
        ("formal_parameter", Form::Param, &["type", "name", "", "dimensions"]),
        ("spread_parameter", Form::VarArgs, &[BEFORE_LAST, LAST]),
        ("catch_formal_parameter", Form::Param, &["catch_type", "name"]),
        ("resource", Form::Own(resource), &["type", "name", "value"]),
        ("type_pattern", Form::Param, &[FIRST, LAST]),
        ("record_pattern_component", Form::Param, &[FIRST, LAST]),
        ("record_pattern", Form::Own(record_pattern), &[]),
        ("enhanced_for_statement", Form::ForEach, &["type", "name", "value", "body"]),
        ("method_declaration", Form::Function, &["name", "type_parameters", "parameters", "type", "body"]),
        ("annotation_type_element_declaration", Form::Function, &["name", "", "", "type", ""]),
        ("constructor_declaration", Form::Function, &["name", "type_parameters", "parameters", "", "body"]),
        ("compact_constructor_declaration", Form::Own(compact), &["name", "", "", "", "body"]),
        ("class_declaration", Form::TypeDef, &["name", "type_parameters", "", "body"]),
        ("interface_declaration", Form::TypeDef, &["name", "type_parameters", "", "body"]),
        ("enum_declaration", Form::TypeDef, &["name", "", "", "body"]),
        ("record_declaration", Form::TypeDef, &["name", "type_parameters", "parameters", "body"]),
        ("annotation_type_declaration", Form::TypeDef, &["name", "", "", "body"]),
        ("type_parameter", Form::TypeParam, &["type_identifier", "type_bound"]),
        ("superclass", Form::Bases, &[]),
        ("super_interfaces", Form::Bases, &[]),
        ("extends_interfaces", Form::Bases, &[]),
        ("enum_constant", Form::EnumMember, &["name", "arguments", "body"]),
        ("marker_annotation", Form::Decorator, &["name"]),
        ("annotation", Form::Decorator, &["name", "arguments"]),
        ("element_value_pair", Form::Pair, &["key", "value"]),
        ("return_statement", Form::Return, &[]),
        ("import_declaration", Form::Own(import), &[]),
        ("package_declaration", Form::Own(package), &[]),
        ("break_statement", Form::Passed, &[]),
        ("continue_statement", Form::Passed, &[]),
        ("labeled_statement", Form::Own(last_of), &[]),
    ],
    scopes: &[
        "block", "constructor_body", "for_statement", "catch_clause", "try_with_resources_statement",
        "switch_block", "switch_rule",
    ],
    inferred: &["var"],
    is_abstract_without_body: true,
    // Those of Lombok that make members.
    decorators: &["Accessors", "Builder", "Data", "Getter", "Setter", "Singular", "SuperBuilder", "Value", "With"],
};

/// Names behind each other in an import that are looked at.
const PATH_MAX: u32 = 64;

/// Whole numbers and others, by their endings.
fn number(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let text = it.slice(node);
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let kind = match text.as_bytes().last() {
        Some(b'l' | b'L') => LiteralKind::Bytes,
        Some(b'f' | b'F') if !is_hex => LiteralKind::Complex,
        _ if text.contains('.') || !is_hex && text.contains(['e', 'E', 'd', 'D']) => LiteralKind::Float,
        _ => LiteralKind::Int,
    };
    it.literal(kind, it.start(node))
}

/// The last child is what counts: behind annotations, labels, `extends`.
fn last_of(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let all: Vec<usize> = it.children(node).collect();
    let Some((last, others)) = all.split_last() else { return it.opaque };
    for other in others {
        match it.form(*other) {
            Form::Name => it.tell(*other),
            _ => _ = it.expr(*other, Role::Read),
        }
    }
    it.expr(*last, role)
}

/// `C.class`.
fn class_literal(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let ty = it.first_of(node, Role::Type);
    it.word("class", ty, it.start(node))
}

/// `new C[n]`, `new C[] { ... }`.
fn new_array(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let class = it.part(node, 0);
    let elem = class.map_or(it.opaque, |c| it.ty(c));
    let ty = it.node(Shape::ArrayType { elem }, at);
    let mut value = it.opaque;
    for child in it.children(node).filter(|c| Some(*c) != class) {
        value = it.expr(child, Role::Read);
    }
    it.node(Shape::Assert { value, ty }, at)
}

/// `C::m`, `x::m`, `C::new`: the word `::` of a member, or of a new value.
fn method_reference(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let parts: Vec<usize> = it.children(node).collect();
    let (Some(first), Some(last)) = (parts.first().copied(), parts.last().copied()) else {
        return it.opaque;
    };
    let base = it.expr(first, Role::Read);
    for part in parts.iter().skip(1).filter(|p| **p != last) {
        it.expr(*part, Role::Read);
    }
    if first == last || !matches!(it.form(last), Form::Name) {
        let made = it.word("new", base, at);
        return it.word("::", made, at);
    }
    let value = it.attr(base, last, Role::None);
    let (word, at) = (it.b.str("::"), it.start(last));
    it.b.expr(Shape::Word { word, value }, at, Role::Read)
}

/// `this(...)`, `super(...)`.
fn constructor_call(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let (word, list) = (it.part(node, 0), it.part(node, 1));
    for child in it.children(node).filter(|c| ![word, list].contains(&Some(*c))) {
        it.expr(child, Role::Read);
    }
    let Some(word) = word else { return it.opaque };
    let callee = it.receiver(it.slice(word), it.start(word), Role::Call);
    let args = it.exprs(list);
    it.node(Shape::Call { callee, args }, at)
}

/// A `switch`: its value is any of those behind the arrows.
fn switch(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let subject = it.expr_part(node, 0, Role::Read);
    let outer = std::mem::replace(&mut it.subject, subject);
    let mut values = Vec::new();
    if let Some(body) = it.part(node, 1) {
        it.scoped(|it| {
            for group in it.children(body) {
                match it
                    .child(group, "expression_statement")
                    .filter(|_| it.tree.node(group).kind() == "switch_rule")
                {
                    Some(value) => it.scoped(|it| {
                        for child in it.children(group).filter(|c| *c != value) {
                            it.expr(child, Role::Read);
                        }
                        values.push(it.first_of(value, Role::Read));
                    }),
                    None => _ = it.expr(group, Role::Read),
                }
            }
        });
    }
    it.subject = outer;
    it.any(values, at).unwrap_or(it.opaque)
}

/// `case A`: a constant of what is looked at, or another one.
fn switch_label(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    for child in it.children(node) {
        if matches!(it.form(child), Form::Name) && it.local(it.slice(child)).is_none() {
            let base = it.word("case", it.subject, it.start(node));
            it.attr(base, child, Role::Read);
        } else {
            it.expr(child, Role::Read);
        }
    }
    it.opaque
}

/// `T x = value`, or a variable that there is already.
fn resource(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    if it.part(node, 1).is_none() {
        return it.first_of(node, Role::Read);
    }
    it.param(node, BindingKind::Local);
    it.opaque
}

/// `Point(int x, var y)`: the first child names a type.
fn record_pattern(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    for (i, child) in it.children(node).enumerate() {
        it.expr(child, if i == 0 { Role::Type } else { Role::Read });
    }
    it.opaque
}

/// A constructor without parameters of its own has those of the head.
fn compact(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    it.scoped(|it| {
        let params = it.b.defs.get(it.class.index()).map_or(Vec::new(), |c| c.params.clone());
        for param in &params {
            let at = it.b.binding_head(*param).1 as usize;
            let end = it.text[at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
            let name = &it.text[at..at + end.unwrap_or(0)];
            it.bind_as(name, *param);
        }
        let expr = it.function(node);
        if let Some(def) = it.part(node, 0).and_then(|n| it.def_at(n)) {
            it.b.defs[def.index()].params = params;
        }
        expr
    })
}

/// What stands in front of the clause decorates the package.
fn package(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    for child in it.children(node) {
        match it.form(child) {
            Form::Decorator => _ = it.expr(child, Role::Read),
            _ => it.tell_all(child),
        }
    }
    it.opaque
}

/// The classes in front of what is imported are used.
fn import(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    it.tell_all(node);
    let Some(path) = it.child(node, "scoped_identifier") else { return it.opaque };
    let scope = it.children(path).next();
    scope.map_or(it.opaque, |scope| qualifier(it, scope, 0))
}

fn qualifier(it: &mut Visitor, node: usize, depth: u32) -> ExprId {
    let parts: Vec<usize> = it.children(node).collect();
    let role = |it: &Visitor, name: usize| {
        if it.slice(name).starts_with(char::is_uppercase) { Role::Type } else { Role::None }
    };
    match parts[..] {
        [scope, name] if depth < PATH_MAX => {
            let base = qualifier(it, scope, depth + 1);
            let role = role(it, name);
            it.attr(base, name, role)
        }
        [] => it.free(it.slice(node), it.start(node), role(it, node)),
        _ => it.opaque,
    }
}

/// Java.
pub(super) const JAVA: Grammar = Grammar {
    defines: &[
        Define::new("class_declaration", Class),
        Define::new("interface_declaration", Interface),
        Define::new("enum_declaration", Enum),
        Define::new("record_declaration", Class),
        Define::new("annotation_type_declaration", Interface),
        Define::new("method_declaration", Function),
        Define::new("constructor_declaration", Function),
        Define::new("compact_constructor_declaration", Function),
        Define::new("annotation_type_element_declaration", Function),
        Define::new("field_declaration", Variable).at(&["declarator", "name"]).each("declarator").body(&[]),
        Define::new("constant_declaration", Constant)
            .at(&["declarator", "name"])
            .each("declarator")
            .body(&[]),
        Define::new("enum_constant", Constant),
        Define::new("object_creation_expression", Class)
            .named(Name::Unnamed("class_body"))
            .body(&["class_body"]),
        Define::new("formal_parameter", Variable).in_head(|h| h.around == "record_declaration"),
        Define::new("spread_parameter", Variable)
            .at(&["variable_declarator", "name"])
            .in_head(|h| h.around == "record_declaration"),
    ],
    comments: &["line_comment", "block_comment"],
    imports: &[("import_declaration", Written::Paths(&["import", "static"]))],
    runs: &["lambda_expression"],
    exported: Exported::Without(&["private"]),
    test_marks: &["@Test", "@ParameterizedTest", "@RepeatedTest", "@TestFactory"],
    keys: super::typed::keys,
    packages: &["package_declaration"],
    typed: Some(&TYPED),
    ..Grammar::new(Language::Java, || tree_sitter_java::LANGUAGE.into())
};
