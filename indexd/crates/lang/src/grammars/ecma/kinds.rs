//! Roles of the node kinds in the grammars of TypeScript and JavaScript, looked up once.

numbers! {
    /// Kinds that the visitor tells apart; several kinds of a grammar may be the same to it.
    enum K {
        Name = "identifier" | "shorthand_property_identifier", TypeName = "type_identifier", This = "this",
        Super = "super", Member = "member_expression" | "nested_identifier",
        Subscript = "subscript_expression", Call = "call_expression",
        New = "new_expression",
        Function = "arrow_function" | "function_expression" | "generator_function" | "function_declaration"
            | "generator_function_declaration" | "function_signature",
        Object = "object", Array = "array", Pair = "pair", Spread = "spread_element",
        Parens = "parenthesized_expression", Await = "await_expression", Yield = "yield_expression",
        As = "as_expression", Satisfies = "satisfies_expression", TypeAssertion = "type_assertion",
        NonNull = "non_null_expression", Instantiation = "instantiation_expression",
        Unary = "unary_expression", Update = "update_expression", Binary = "binary_expression",
        Ternary = "ternary_expression", Assign = "assignment_expression",
        AugmentedAssign = "augmented_assignment_expression", Comma = "sequence_expression", String = "string",
        Template = "template_string", Number = "number", Bool = "true" | "false", Null = "null" | "undefined",
        Regex = "regex", Jsx = "jsx_element", JsxOpening = "jsx_self_closing_element" | "jsx_opening_element",
        JsxExpression = "jsx_expression",
        Passed = "jsx_closing_element" | "import_statement" | "export_clause" | "namespace_export",
        If = "if_statement", Return = "return_statement", Switch = "switch_statement",
        Block = "statement_block", Loop = "while_statement", ForIn = "for_in_statement",
        Catch = "catch_clause", Declarator = "variable_declarator",
        Class = "class_declaration" | "abstract_class_declaration" | "class",
        Field = "public_field_definition" | "field_definition", Method = "method_definition",
        Enum = "enum_declaration", EnumMember = "enum_assignment", Interface = "interface_declaration",
        Alias = "type_alias_declaration", Export = "export_statement", Decorator = "decorator",
        PropertySignature = "property_signature",
        MethodSignature = "abstract_method_signature" | "method_signature", CallSignature = "call_signature",
        ConstructSignature = "construct_signature", IndexSignature = "index_signature",
        // ---- types, up to `ThisType`
        TypeMember = "nested_type_identifier", GenericType = "generic_type", UnionType = "union_type",
        IntersectionType = "intersection_type", ArrayType = "array_type", TupleType = "tuple_type",
        ObjectType = "object_type",
        FunctionType = "function_type", ConstructorType = "constructor_type", TypeQuery = "type_query",
        KeyOf = "index_type_query", LookupType = "lookup_type", ConditionalType = "conditional_type",
        LiteralType = "literal_type", Predefined = "predefined_type", Predicate = "type_predicate",
        Asserts = "asserts", Infer = "infer_type",
        Wrapped = "type_annotation" | "parenthesized_type" | "readonly_type" | "optional_type"
            | "asserts_annotation" | "type_predicate_annotation" | "constraint" | "default_type"
            | "flow_maybe_type" | "opting_type_annotation" | "omitting_type_annotation"
            | "adding_type_annotation",
        TemplateType = "template_literal_type", ThisType = "this_type",
        TupleMember = "required_parameter" | "optional_parameter", Rest = "rest_type" | "rest_pattern",
        AssignPattern = "assignment_pattern" | "object_assignment_pattern", ObjectPattern = "object_pattern",
        ArrayPattern = "array_pattern", PairPattern = "pair_pattern",
        ShorthandPattern = "shorthand_property_identifier_pattern",
    }

    /// Fields by their numbers.
    struct Fields {
        name = "name", value = "value", kind = "type", body = "body", object = "object",
        property = "property", index = "index", function = "function", constructor = "constructor",
        arguments = "arguments", type_arguments = "type_arguments", parameters = "parameters",
        parameter = "parameter", pattern = "pattern", return_type = "return_type",
        type_parameters = "type_parameters", left = "left", right = "right", operator = "operator",
        condition = "condition", consequence = "consequence", alternative = "alternative", key = "key",
        constraint = "constraint", index_type = "index_type", module = "module", alias = "alias",
        open_tag = "open_tag",
    }
}

/// The kinds and fields of one grammar.
pub(crate) type Kinds = crate::numbers::Kinds<K, Fields>;
