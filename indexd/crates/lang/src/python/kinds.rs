//! Node kinds and fields of the Python grammar. The children of a kind that is not listed are still read.

use std::sync::LazyLock;
use tree_sitter::Node;

numbers! {
    /// A named node kind of the grammar.
    enum Kind {
        Module = "module", RelativeImport = "relative_import", ImportPrefix = "import_prefix",
        DottedName = "dotted_name", AliasedImport = "aliased_import", WildcardImport = "wildcard_import",
        Elif = "elif_clause", Else = "else_clause", Case = "case_clause", Except = "except_clause",
        Finally = "finally_clause", WithClause = "with_clause", Decorator = "decorator",
        TypedParameter = "typed_parameter", DefaultParameter = "default_parameter",
        TypedDefaultParameter = "typed_default_parameter", ListSplatPattern = "list_splat_pattern",
        DictSplatPattern = "dictionary_splat_pattern", TuplePattern = "tuple_pattern",
        ListPattern = "list_pattern", PatternList = "pattern_list", ArgumentList = "argument_list",
        KeywordArgument = "keyword_argument", ListSplat = "list_splat", DictSplat = "dictionary_splat",
        ExpressionList = "expression_list", Assignment = "assignment",
        AugmentedAssignment = "augmented_assignment", NamedExpression = "named_expression",
        AsPattern = "as_pattern", AsPatternTarget = "as_pattern_target", Comparison = "comparison_operator",
        Not = "not_operator", Boolean = "boolean_operator", Binary = "binary_operator",
        Unary = "unary_operator", Lambda = "lambda", Conditional = "conditional_expression", Await = "await",
        Yield = "yield", Identifier = "identifier", Attribute = "attribute", Subscript = "subscript",
        Slice = "slice", Call = "call", List = "list", Set = "set", Tuple = "tuple",
        Dictionary = "dictionary", Pair = "pair", ListComprehension = "list_comprehension",
        SetComprehension = "set_comprehension", DictComprehension = "dictionary_comprehension",
        Generator = "generator_expression", ForIn = "for_in_clause", IfClause = "if_clause",
        Parenthesized = "parenthesized_expression", String = "string",
        ConcatenatedString = "concatenated_string", Interpolation = "interpolation",
        FormatSpecifier = "format_specifier", FormatExpression = "format_expression", Integer = "integer",
        Float = "float", True = "true", False = "false", None = "none", Ellipsis = "ellipsis", Type = "type",
        GenericType = "generic_type", UnionType = "union_type", MemberType = "member_type",
        ConstrainedType = "constrained_type", TypeParameter = "type_parameter", CasePattern = "case_pattern",
        ClassPattern = "class_pattern", UnionPattern = "union_pattern", DictPattern = "dict_pattern",
        KeywordPattern = "keyword_pattern", SplatPattern = "splat_pattern", Comment = "comment",
        LineContinuation = "line_continuation",
        // ---- statements, up to `Exec`
        ExpressionStatement = "expression_statement", Import = "import_statement",
        ImportFrom = "import_from_statement", Function = "function_definition", Class = "class_definition",
        Decorated = "decorated_definition", Return = "return_statement", Raise = "raise_statement",
        If = "if_statement", While = "while_statement", For = "for_statement", Try = "try_statement",
        With = "with_statement", Match = "match_statement", Block = "block", Assert = "assert_statement",
        Delete = "delete_statement", Global = "global_statement", Nonlocal = "nonlocal_statement",
        TypeAlias = "type_alias_statement", Pass = "pass_statement", Break = "break_statement",
        Continue = "continue_statement", FutureImport = "future_import_statement", Print = "print_statement",
        Exec = "exec_statement",
    }

    /// Field numbers.
    struct Fields {
        alias = "alias", argument = "argument", arguments = "arguments", attribute = "attribute",
        body = "body", condition = "condition", consequence = "consequence", definition = "definition",
        function = "function", guard = "guard", left = "left", module_name = "module_name", name = "name",
        object = "object", operator = "operator", parameters = "parameters", return_type = "return_type",
        right = "right", subject = "subject", superclasses = "superclasses", type_ = "type",
        type_parameters = "type_parameters", value = "value",
    }
}

/// The grammar's numbers.
pub(super) static F: LazyLock<crate::numbers::Kinds<Kind, Fields>> =
    LazyLock::new(|| crate::numbers::Kinds::new(&tree_sitter_python::LANGUAGE.into()));

/// The kind of a node.
pub(super) fn kind(node: Node) -> Kind {
    F.of(usize::from(node.kind_id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_field_is_in_the_grammar() {
        let missing = crate::numbers::missing::<Kind, Fields>(&tree_sitter_python::LANGUAGE.into());
        assert!(missing.is_empty(), "{missing:?}");
    }
}
