//! What the kinds of nodes of C and C++ are to the visitor, and the fields that it reads.

numbers! {
    /// Kinds that the visitor tells apart; several kinds of a grammar may be the same to it.
    enum K {
        // names
        Name = "identifier" | "namespace_identifier" | "field_identifier", TypeName = "type_identifier",
        This = "this", Qualified = "qualified_identifier",
        Template = "template_function" | "template_type" | "template_method",
        /// A name behind `typename` or `template`.
        Dependent = "dependent_type" | "dependent_name", Operator = "operator_name" | "destructor_name",
        // expressions
        Member = "field_expression", Call = "call_expression", New = "new_expression",
        Subscript = "subscript_expression", Cast = "cast_expression",
        Compound = "compound_literal_expression", List = "initializer_list", Pair = "initializer_pair",
        Pointer = "pointer_expression", Unary = "unary_expression" | "update_expression",
        Binary = "binary_expression", Assign = "assignment_expression",
        Conditional = "conditional_expression", Parens = "parenthesized_expression",
        Comma = "comma_expression", Lambda = "lambda_expression",
        Literal = "number_literal" | "string_literal" | "char_literal" | "raw_string_literal" | "true"
            | "false" | "null",
        Concatenated = "concatenated_string",
        // types
        Primitive = "primitive_type" | "sized_type_specifier",
        Auto = "placeholder_type_specifier" | "decltype",
        Record = "struct_specifier" | "union_specifier" | "class_specifier" | "enum_specifier",
        Descriptor = "type_descriptor",
        // declarators
        Init = "init_declarator",
        /// Of a pointer or an array.
        Pointing = "pointer_declarator" | "array_declarator" | "abstract_pointer_declarator"
            | "abstract_array_declarator" | "pointer_type_declarator",
        Wrapped = "reference_declarator" | "parenthesized_declarator" | "attributed_declarator"
            | "abstract_reference_declarator" | "abstract_parenthesized_declarator" | "variadic_declarator",
        FunctionDeclarator = "function_declarator" | "abstract_function_declarator",
        Structured = "structured_binding_declarator",
        // declarations
        Declaration = "declaration" | "field_declaration", Typedef = "type_definition",
        UsingType = "alias_declaration", Function = "function_definition",
        TemplateDeclaration = "template_declaration", Initializer = "field_initializer",
        ForRange = "for_range_loop", Catch = "catch_clause",
        Block = "compound_statement" | "for_statement" | "if_statement" | "while_statement"
            | "switch_statement",
        Statement = "expression_statement", Return = "return_statement",
        // directives
        Passed = "preproc_include" | "using_declaration" | "namespace_alias_definition" | "goto_statement",
        MacroDefinition = "preproc_def" | "preproc_function_def",
        Condition = "preproc_ifdef" | "preproc_defined", Directive = "preproc_call",
    }

    /// Fields by their numbers.
    struct Fields {
        name = "name", value = "value", kind = "type", body = "body", declarator = "declarator",
        parameters = "parameters", argument = "argument", field = "field", function = "function",
        arguments = "arguments", scope = "scope", left = "left", right = "right", operator = "operator",
        consequence = "consequence", alternative = "alternative", designator = "designator",
        default_value = "default_value", default_type = "default_type", captures = "captures",
        indices = "indices", index = "index", directive = "directive", condition = "condition",
    }
}

/// The kinds and fields of one grammar.
pub(crate) type Kinds = crate::numbers::Kinds<K, Fields>;
