//! What the kinds of nodes of C and C++ are to the visitor, and the fields that it reads.

use tree_sitter::Language;

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum K {
    #[default]
    Other,
    // names
    Name,
    TypeName,
    This,
    Qualified,
    Template,
    /// A name behind `typename` or `template`.
    Dependent,
    Operator,
    // expressions
    Member,
    Call,
    New,
    Subscript,
    Cast,
    Compound,
    List,
    Pair,
    Pointer,
    Unary,
    Binary,
    Assign,
    Conditional,
    Parens,
    Comma,
    Lambda,
    Literal,
    Concatenated,
    // types
    Primitive,
    Auto,
    Record,
    Descriptor,
    // declarators
    Init,
    /// Of a pointer or an array.
    Pointing,
    Wrapped,
    FunctionDeclarator,
    Structured,
    // declarations
    Declaration,
    Typedef,
    UsingType,
    Function,
    TemplateDeclaration,
    Initializer,
    ForRange,
    Catch,
    Block,
    Statement,
    Return,
    // directives
    Passed,
    MacroDefinition,
    Condition,
    Directive,
}

#[rustfmt::skip]
const KINDS: &[(&str, K)] = &[
    ("identifier", K::Name), ("namespace_identifier", K::Name), ("field_identifier", K::Name),
    ("type_identifier", K::TypeName), ("this", K::This), ("qualified_identifier", K::Qualified),
    ("template_function", K::Template), ("template_type", K::Template), ("template_method", K::Template),
    ("dependent_type", K::Dependent), ("dependent_name", K::Dependent), ("operator_name", K::Operator),
    ("destructor_name", K::Operator), ("field_expression", K::Member), ("call_expression", K::Call),
    ("new_expression", K::New), ("subscript_expression", K::Subscript), ("cast_expression", K::Cast),
    ("compound_literal_expression", K::Compound), ("initializer_list", K::List), ("initializer_pair", K::Pair),
    ("pointer_expression", K::Pointer), ("unary_expression", K::Unary), ("update_expression", K::Unary),
    ("binary_expression", K::Binary), ("assignment_expression", K::Assign),
    ("conditional_expression", K::Conditional), ("parenthesized_expression", K::Parens),
    ("comma_expression", K::Comma), ("lambda_expression", K::Lambda), ("number_literal", K::Literal),
    ("string_literal", K::Literal), ("concatenated_string", K::Concatenated), ("char_literal", K::Literal),
    ("raw_string_literal", K::Literal), ("true", K::Literal), ("false", K::Literal), ("null", K::Literal),
    ("primitive_type", K::Primitive), ("sized_type_specifier", K::Primitive),
    ("placeholder_type_specifier", K::Auto), ("decltype", K::Auto), ("struct_specifier", K::Record),
    ("union_specifier", K::Record), ("class_specifier", K::Record), ("enum_specifier", K::Record),
    ("type_descriptor", K::Descriptor), ("init_declarator", K::Init), ("pointer_declarator", K::Pointing),
    ("reference_declarator", K::Wrapped), ("array_declarator", K::Pointing),
    ("parenthesized_declarator", K::Wrapped), ("attributed_declarator", K::Wrapped),
    ("abstract_pointer_declarator", K::Pointing), ("abstract_reference_declarator", K::Wrapped),
    ("abstract_array_declarator", K::Pointing), ("abstract_parenthesized_declarator", K::Wrapped),
    ("pointer_type_declarator", K::Pointing), ("variadic_declarator", K::Wrapped),
    ("function_declarator", K::FunctionDeclarator), ("abstract_function_declarator", K::FunctionDeclarator),
    ("structured_binding_declarator", K::Structured), ("declaration", K::Declaration),
    ("field_declaration", K::Declaration), ("type_definition", K::Typedef),
    ("alias_declaration", K::UsingType), ("function_definition", K::Function),
    ("template_declaration", K::TemplateDeclaration), ("field_initializer", K::Initializer),
    ("for_range_loop", K::ForRange), ("catch_clause", K::Catch), ("compound_statement", K::Block),
    ("for_statement", K::Block), ("if_statement", K::Block), ("while_statement", K::Block),
    ("switch_statement", K::Block), ("expression_statement", K::Statement), ("return_statement", K::Return),
    ("preproc_include", K::Passed), ("using_declaration", K::Passed), ("namespace_alias_definition", K::Passed),
    ("goto_statement", K::Passed), ("preproc_def", K::MacroDefinition),
    ("preproc_function_def", K::MacroDefinition),
    ("preproc_ifdef", K::Condition), ("preproc_defined", K::Condition), ("preproc_call", K::Directive),
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
    name = "name", value = "value", kind = "type", body = "body", declarator = "declarator",
    parameters = "parameters", argument = "argument", field = "field", function = "function",
    arguments = "arguments", scope = "scope", left = "left", right = "right", operator = "operator",
    consequence = "consequence", alternative = "alternative", designator = "designator",
    default_value = "default_value", default_type = "default_type", captures = "captures", indices = "indices",
    index = "index", directive = "directive", condition = "condition",
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
