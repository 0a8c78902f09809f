//! Roles of the node kinds in the grammars of TypeScript and JavaScript, looked up once.

use tree_sitter::Language;

/// Kinds that the visitor tells apart; several kinds of a grammar may be the same to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in super::super) enum K {
    #[default]
    Other,
    Name,
    TypeName,
    This,
    Super,
    Member,
    TypeMember,
    Subscript,
    Call,
    New,
    Function,
    Object,
    Array,
    Pair,
    Spread,
    Parens,
    Await,
    Yield,
    As,
    Satisfies,
    TypeAssertion,
    NonNull,
    Instantiation,
    Unary,
    Update,
    Binary,
    Ternary,
    Assign,
    AugmentedAssign,
    Comma,
    String,
    Template,
    Number,
    Bool,
    Null,
    Regex,
    Jsx,
    JsxOpening,
    JsxExpression,
    Passed,
    If,
    Return,
    Switch,
    Block,
    Loop,
    ForIn,
    Catch,
    Declarator,
    Class,
    Field,
    Method,
    Enum,
    EnumMember,
    Interface,
    Alias,
    Export,
    Decorator,
    PropertySignature,
    MethodSignature,
    CallSignature,
    ConstructSignature,
    IndexSignature,
    // ---- types
    GenericType,
    UnionType,
    IntersectionType,
    ArrayType,
    TupleType,
    ObjectType,
    FunctionType,
    ConstructorType,
    TypeQuery,
    KeyOf,
    LookupType,
    ConditionalType,
    LiteralType,
    Predefined,
    Predicate,
    Asserts,
    Infer,
    Wrapped,
    TemplateType,
    ThisType,
    TupleMember,
    Rest,
    AssignPattern,
    ObjectPattern,
    ArrayPattern,
    PairPattern,
    ShorthandPattern,
}

#[rustfmt::skip]
const KINDS: &[(&str, K)] = &[
    ("identifier", K::Name), ("shorthand_property_identifier", K::Name), ("type_identifier", K::TypeName),
    ("this", K::This), ("super", K::Super), ("member_expression", K::Member), ("nested_identifier", K::Member),
    ("nested_type_identifier", K::TypeMember), ("subscript_expression", K::Subscript), ("call_expression", K::Call),
    ("new_expression", K::New), ("arrow_function", K::Function), ("function_expression", K::Function),
    ("generator_function", K::Function), ("function_declaration", K::Function),
    ("generator_function_declaration", K::Function), ("function_signature", K::Function),
    ("object", K::Object), ("array", K::Array), ("pair", K::Pair), ("spread_element", K::Spread),
    ("parenthesized_expression", K::Parens), ("await_expression", K::Await), ("yield_expression", K::Yield),
    ("as_expression", K::As), ("satisfies_expression", K::Satisfies), ("type_assertion", K::TypeAssertion),
    ("non_null_expression", K::NonNull), ("instantiation_expression", K::Instantiation),
    ("unary_expression", K::Unary), ("update_expression", K::Update), ("binary_expression", K::Binary),
    ("ternary_expression", K::Ternary), ("assignment_expression", K::Assign),
    ("augmented_assignment_expression", K::AugmentedAssign), ("sequence_expression", K::Comma),
    ("string", K::String), ("template_string", K::Template), ("number", K::Number), ("true", K::Bool),
    ("false", K::Bool), ("null", K::Null), ("undefined", K::Null), ("regex", K::Regex), ("jsx_element", K::Jsx),
    ("jsx_self_closing_element", K::JsxOpening), ("jsx_opening_element", K::JsxOpening),
    ("jsx_expression", K::JsxExpression), ("jsx_closing_element", K::Passed), ("import_statement", K::Passed),
    ("export_clause", K::Passed), ("namespace_export", K::Passed), ("if_statement", K::If),
    ("return_statement", K::Return), ("switch_statement", K::Switch), ("statement_block", K::Block),
    ("while_statement", K::Loop), ("for_in_statement", K::ForIn), ("catch_clause", K::Catch),
    ("variable_declarator", K::Declarator), ("class_declaration", K::Class),
    ("abstract_class_declaration", K::Class), ("class", K::Class), ("public_field_definition", K::Field),
    ("field_definition", K::Field), ("method_definition", K::Method), ("abstract_method_signature", K::MethodSignature),
    ("enum_declaration", K::Enum), ("enum_assignment", K::EnumMember), ("interface_declaration", K::Interface),
    ("type_alias_declaration", K::Alias), ("export_statement", K::Export), ("decorator", K::Decorator),
    ("property_signature", K::PropertySignature), ("method_signature", K::MethodSignature),
    ("call_signature", K::CallSignature), ("construct_signature", K::ConstructSignature),
    ("index_signature", K::IndexSignature), ("generic_type", K::GenericType), ("union_type", K::UnionType),
    ("intersection_type", K::IntersectionType), ("array_type", K::ArrayType), ("tuple_type", K::TupleType),
    ("object_type", K::ObjectType), ("function_type", K::FunctionType), ("constructor_type", K::ConstructorType),
    ("type_query", K::TypeQuery), ("index_type_query", K::KeyOf), ("lookup_type", K::LookupType),
    ("conditional_type", K::ConditionalType), ("literal_type", K::LiteralType), ("predefined_type", K::Predefined),
    ("type_predicate", K::Predicate), ("asserts", K::Asserts), ("infer_type", K::Infer),
    ("type_annotation", K::Wrapped), ("parenthesized_type", K::Wrapped), ("readonly_type", K::Wrapped),
    ("optional_type", K::Wrapped), ("asserts_annotation", K::Wrapped), ("type_predicate_annotation", K::Wrapped),
    ("constraint", K::Wrapped), ("default_type", K::Wrapped), ("flow_maybe_type", K::Wrapped),
    ("opting_type_annotation", K::Wrapped), ("omitting_type_annotation", K::Wrapped),
    ("adding_type_annotation", K::Wrapped), ("template_literal_type", K::TemplateType), ("this_type", K::ThisType),
    ("required_parameter", K::TupleMember), ("optional_parameter", K::TupleMember), ("rest_type", K::Rest),
    ("rest_pattern", K::Rest), ("assignment_pattern", K::AssignPattern),
    ("object_assignment_pattern", K::AssignPattern), ("object_pattern", K::ObjectPattern),
    ("array_pattern", K::ArrayPattern), ("pair_pattern", K::PairPattern),
    ("shorthand_property_identifier_pattern", K::ShorthandPattern),
];

/// Declares the fields of the grammars that the visitor reads.
macro_rules! fields {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// Fields by their numbers; 0 where a grammar has none of the name.
        #[derive(Clone, Copy)]
        pub(in super::super) struct Fields { $(pub(super) $name: u16),* }

        impl Fields {
            fn new(parser: &Language) -> Self {
                let of = |name: &str| parser.field_id_for_name(name).map_or(0, |f| f.get());
                Self { $($name: of($text)),* }
            }
        }
    };
}

fields! {
    name = "name", value = "value", kind = "type", body = "body", object = "object", property = "property",
    index = "index", function = "function", constructor = "constructor", arguments = "arguments",
    type_arguments = "type_arguments", parameters = "parameters", parameter = "parameter", pattern = "pattern",
    return_type = "return_type", type_parameters = "type_parameters", left = "left", right = "right",
    operator = "operator", condition = "condition", consequence = "consequence", alternative = "alternative",
    key = "key", constraint = "constraint", index_type = "index_type", module = "module", alias = "alias",
    open_tag = "open_tag",
}

/// The kinds and fields of one grammar.
pub(in super::super) struct Kinds {
    all: Vec<K>,
    pub(super) fields: Fields,
}

impl Kinds {
    pub(in super::super) fn new(parser: &Language) -> Self {
        let of = |id: usize| {
            let name = parser.node_kind_for_id(id as u16).filter(|_| parser.node_kind_is_named(id as u16));
            KINDS.iter().find(|k| Some(k.0) == name).map_or(K::Other, |k| k.1)
        };
        Self { all: (0..parser.node_kind_count()).map(of).collect(), fields: Fields::new(parser) }
    }

    pub(super) fn of(&self, kind_id: usize) -> K {
        self.all.get(kind_id).copied().unwrap_or_default()
    }
}
