//! Node kinds and fields of the Go grammar.

use crate::numbers::{Names, kinds};
use std::sync::LazyLock;

numbers! {
    /// Kinds of named nodes.
    enum Kind {
        PackageClause = "package_clause", PackageIdentifier = "package_identifier",
        ImportDeclaration = "import_declaration", ImportSpecList = "import_spec_list",
        ImportSpec = "import_spec", Dot = "dot", BlankIdentifier = "blank_identifier",
        ConstDeclaration = "const_declaration", ConstSpec = "const_spec", VarDeclaration = "var_declaration",
        VarSpecList = "var_spec_list", VarSpec = "var_spec", FunctionDeclaration = "function_declaration",
        MethodDeclaration = "method_declaration", TypeDeclaration = "type_declaration",
        TypeSpec = "type_spec", TypeAlias = "type_alias",
        TypeParameterDeclaration = "type_parameter_declaration", TypeConstraint = "type_constraint",
        ParameterList = "parameter_list", ParameterDeclaration = "parameter_declaration",
        VariadicParameterDeclaration = "variadic_parameter_declaration", ExpressionList = "expression_list",
        FieldIdentifier = "field_identifier", TypeArguments = "type_arguments",
        FieldDeclarationList = "field_declaration_list", FieldDeclaration = "field_declaration",
        MethodElem = "method_elem", TypeElem = "type_elem", Block = "block", StatementList = "statement_list",
        ExpressionStatement = "expression_statement", SendStatement = "send_statement",
        ReceiveStatement = "receive_statement", IncStatement = "inc_statement",
        DecStatement = "dec_statement", AssignmentStatement = "assignment_statement",
        ShortVarDeclaration = "short_var_declaration", FallthroughStatement = "fallthrough_statement",
        BreakStatement = "break_statement", ContinueStatement = "continue_statement",
        GotoStatement = "goto_statement", GoStatement = "go_statement", DeferStatement = "defer_statement",
        IfStatement = "if_statement", ForStatement = "for_statement", RangeClause = "range_clause",
        ExpressionSwitchStatement = "expression_switch_statement", ExpressionCase = "expression_case",
        DefaultCase = "default_case", TypeSwitchStatement = "type_switch_statement", TypeCase = "type_case",
        CommunicationCase = "communication_case", LiteralValue = "literal_value",
        LiteralElement = "literal_element", KeyedElement = "keyed_element", LabelName = "label_name",
        Comment = "comment",
        // ---- expressions, up to `FuncLiteral`
        Identifier = "identifier", SelectorExpression = "selector_expression",
        CallExpression = "call_expression", InterpretedString = "interpreted_string_literal",
        RawString = "raw_string_literal", Int = "int_literal", Iota = "iota", Float = "float_literal",
        Imaginary = "imaginary_literal", Rune = "rune_literal", True = "true", False = "false", Nil = "nil",
        ParenthesizedExpression = "parenthesized_expression", VariadicArgument = "variadic_argument",
        UnaryExpression = "unary_expression", BinaryExpression = "binary_expression",
        IndexExpression = "index_expression", SliceExpression = "slice_expression",
        TypeAssertionExpression = "type_assertion_expression",
        TypeConversionExpression = "type_conversion_expression",
        TypeInstantiationExpression = "type_instantiation_expression", CompositeLiteral = "composite_literal",
        FuncLiteral = "func_literal",
        // ---- types, up to `InterfaceType`
        TypeIdentifier = "type_identifier", QualifiedType = "qualified_type", GenericType = "generic_type",
        PointerType = "pointer_type", ParenthesizedType = "parenthesized_type", NegatedType = "negated_type",
        ArrayType = "array_type", ImplicitLengthArrayType = "implicit_length_array_type",
        SliceType = "slice_type", MapType = "map_type", ChannelType = "channel_type",
        FunctionType = "function_type", StructType = "struct_type", InterfaceType = "interface_type",
    }
}

numbers! {
    /// Fields of nodes.
    enum Field {
        Alias = "alias", Arguments = "arguments", Body = "body", Element = "element", Selected = "field",
        Function = "function", Index = "index", Key = "key", Left = "left", Length = "length", Name = "name",
        Operand = "operand", Operator = "operator", Package = "package", Parameters = "parameters",
        Path = "path", Receiver = "receiver", Result = "result", Right = "right", Type = "type",
        TypeArguments = "type_arguments", TypeParameters = "type_parameters", Value = "value",
    }
}

/// The grammar with its tables.
pub(super) struct Syntax {
    /// For the parser.
    pub(super) language: tree_sitter::Language,
    kinds: Vec<Kind>,
    fields: Vec<Field>,
    /// The anonymous tokens that tell variants of a node apart.
    pub(super) define: u16,
    pub(super) star: u16,
}

impl Syntax {
    fn new() -> Self {
        let language = tree_sitter::Language::from(tree_sitter_go::LANGUAGE);
        let kinds = kinds(&language);
        let mut fields = vec![Field::Other; language.field_count() + 1];
        for &(name, field) in Field::NAMES {
            if let Some(id) = language.field_id_for_name(name) {
                fields[usize::from(id.get())] = field;
            }
        }
        let define = language.id_for_node_kind(":=", false);
        let star = language.id_for_node_kind("*", false);
        Self { language, kinds, fields, define, star }
    }

    /// The kind of a node.
    pub(super) fn kind(&self, id: u16) -> Kind {
        self.kinds.get(usize::from(id)).copied().unwrap_or(Kind::Other)
    }

    /// The field of a child.
    pub(super) fn field(&self, id: Option<std::num::NonZeroU16>) -> Field {
        id.map_or(Field::Other, |id| self.fields[usize::from(id.get())])
    }
}

/// The one instance.
pub(super) static SYNTAX: LazyLock<Syntax> = LazyLock::new(Syntax::new);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_field_exists_in_the_grammar() {
        for (name, _) in Kind::NAMES {
            assert_ne!(SYNTAX.language.id_for_node_kind(name, true), 0, "{name}");
        }
        for (name, _) in Field::NAMES {
            assert!(SYNTAX.language.field_id_for_name(name).is_some(), "{name}");
        }
        assert!(SYNTAX.define != 0 && SYNTAX.star != 0);
    }
}
