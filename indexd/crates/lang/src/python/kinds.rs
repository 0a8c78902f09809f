//! Node kinds and fields of the Python grammar as small numbers, looked up once per process.
//!
//! The grammar names kinds by strings and renumbers them in every release; the visitor matches on [`Kind`]
//! instead. A kind unknown to the visitor is [`Kind::Other`]: its children are still read.

use std::sync::LazyLock;
use tree_sitter::{Language, Node};

macro_rules! kinds {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// A named node kind of the grammar.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Kind {
            $($variant,)*
            /// Tokens, and whatever has no name here.
            Other,
        }

        /// Every kind with its name in the grammar.
        const NAMES: &[(&str, Kind)] = &[$(($name, Kind::$variant)),*];
    };
}

kinds! {
    Module = "module", Block = "block", ExpressionStatement = "expression_statement",
    Import = "import_statement", ImportFrom = "import_from_statement", FutureImport = "future_import_statement",
    RelativeImport = "relative_import", ImportPrefix = "import_prefix", DottedName = "dotted_name",
    AliasedImport = "aliased_import", WildcardImport = "wildcard_import",
    Print = "print_statement", Exec = "exec_statement", Assert = "assert_statement",
    Return = "return_statement", Delete = "delete_statement", Raise = "raise_statement",
    Pass = "pass_statement", Break = "break_statement", Continue = "continue_statement",
    Global = "global_statement", Nonlocal = "nonlocal_statement", TypeAlias = "type_alias_statement",
    If = "if_statement", Elif = "elif_clause", Else = "else_clause", Match = "match_statement",
    Case = "case_clause", For = "for_statement", While = "while_statement", Try = "try_statement",
    Except = "except_clause", Finally = "finally_clause", With = "with_statement",
    WithClause = "with_clause", Function = "function_definition",
    Class = "class_definition", Decorated = "decorated_definition", Decorator = "decorator",
    TypedParameter = "typed_parameter",
    DefaultParameter = "default_parameter", TypedDefaultParameter = "typed_default_parameter",
    ListSplatPattern = "list_splat_pattern", DictSplatPattern = "dictionary_splat_pattern",
    TuplePattern = "tuple_pattern", ListPattern = "list_pattern", PatternList = "pattern_list",
    ArgumentList = "argument_list", KeywordArgument = "keyword_argument", ListSplat = "list_splat",
    DictSplat = "dictionary_splat", ExpressionList = "expression_list",
    Assignment = "assignment", AugmentedAssignment = "augmented_assignment", NamedExpression = "named_expression",
    AsPattern = "as_pattern", AsPatternTarget = "as_pattern_target",
    Comparison = "comparison_operator", Not = "not_operator", Boolean = "boolean_operator",
    Binary = "binary_operator", Unary = "unary_operator", Lambda = "lambda",
    Conditional = "conditional_expression", Await = "await", Yield = "yield", Identifier = "identifier",
    Attribute = "attribute", Subscript = "subscript", Slice = "slice", Call = "call",
    List = "list", Set = "set", Tuple = "tuple", Dictionary = "dictionary", Pair = "pair",
    ListComprehension = "list_comprehension", SetComprehension = "set_comprehension",
    DictComprehension = "dictionary_comprehension", Generator = "generator_expression",
    ForIn = "for_in_clause", IfClause = "if_clause", Parenthesized = "parenthesized_expression",
    String = "string", ConcatenatedString = "concatenated_string",
    Interpolation = "interpolation", FormatSpecifier = "format_specifier", FormatExpression = "format_expression",
    Integer = "integer", Float = "float", True = "true", False = "false", None = "none", Ellipsis = "ellipsis",
    Type = "type", GenericType = "generic_type", UnionType = "union_type", MemberType = "member_type",
    ConstrainedType = "constrained_type", TypeParameter = "type_parameter",
    CasePattern = "case_pattern", ClassPattern = "class_pattern", UnionPattern = "union_pattern",
    DictPattern = "dict_pattern", KeywordPattern = "keyword_pattern", SplatPattern = "splat_pattern",
    Comment = "comment", LineContinuation = "line_continuation",
}

macro_rules! fields {
    ($($field:ident = $name:literal),* $(,)?) => {
        /// Field numbers.
        pub(super) struct Fields {
            $(pub(super) $field: u16,)*
            kinds: Vec<Kind>,
        }

        impl Fields {
            /// Looks up every field; one that a grammar release drops reads as 0, which no node has.
            fn of(language: &Language, kinds: Vec<Kind>) -> Self {
                Self { $($field: language.field_id_for_name($name).map_or(0, |f| f.get()),)* kinds }
            }
        }

        #[cfg(test)]
        const FIELDS: &[&str] = &[$($name),*];
    };
}

fields! {
    alias = "alias", argument = "argument", arguments = "arguments", attribute = "attribute", body = "body",
    condition = "condition", consequence = "consequence", definition = "definition", function = "function",
    guard = "guard", left = "left", module_name = "module_name", name = "name", object = "object",
    operator = "operator", parameters = "parameters", return_type = "return_type", right = "right",
    subject = "subject", superclasses = "superclasses", type_ = "type", type_parameters = "type_parameters",
    value = "value",
}

/// The grammar's numbers.
pub(super) static F: LazyLock<Fields> = LazyLock::new(|| {
    let language: Language = tree_sitter_python::LANGUAGE.into();
    let n = language.node_kind_count();
    let mut kinds = vec![Kind::Other; n];
    for (id, slot) in kinds.iter_mut().enumerate() {
        let id = id as u16;
        if language.node_kind_is_named(id)
            && let Some(name) = language.node_kind_for_id(id)
            && let Some(found) = NAMES.iter().find(|k| k.0 == name)
        {
            *slot = found.1;
        }
    }
    Fields::of(&language, kinds)
});

/// The kind of a node.
pub(super) fn kind(node: Node) -> Kind {
    F.kinds.get(usize::from(node.kind_id())).copied().unwrap_or(Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_field_is_in_the_grammar() {
        let language: Language = tree_sitter_python::LANGUAGE.into();
        for (name, _) in NAMES {
            assert_ne!(language.id_for_node_kind(name, true), 0, "{name}");
        }
        for name in FIELDS {
            assert!(language.field_id_for_name(name).is_some(), "{name}");
        }
    }
}
