//! What a language says about itself: node kinds and fields of its grammar, as data.

pub use super::scopes::Words;
use super::typed::forms::Typed;
use indexd_model::{DefFlags, DefIdx, DefKind, Facts, Key, Language};

/// A language whose files are cut into definitions by one extractor. Names of kinds and fields that
/// the grammar does not have are refused by a test.
pub struct Grammar {
    /// The language of the facts.
    pub language: Language,
    /// The parser.
    pub parser: fn() -> tree_sitter::Language,
    /// Rules by which something is a definition here and in related languages; they come first.
    pub shared: &'static [Define],
    /// Further rules by which something is a definition.
    pub defines: &'static [Define],
    /// Blocks that give members to a type named elsewhere: the kind and the field of the type.
    pub owners: &'static [(&'static str, &'static str)],
    /// Nodes around a definition that belong to it: an export, a template head.
    pub wrappers: &'static [&'static str],
    /// Siblings before a definition that belong to it: attributes, decorators.
    pub attributes: &'static [&'static str],
    /// Comments.
    pub comments: &'static [&'static str],
    /// Kinds that bring in something of another file, and how the module is read.
    pub imports: &'static [(&'static str, Written)],
    /// Kinds that run as a function does, though none is named: variables inside are local.
    pub runs: &'static [&'static str],
    /// What is visible from other files.
    pub exported: Exported,
    /// Marks of a definition by its kind, the words before it and its rule.
    pub(super) marks: fn(DefKind, &str, &Define) -> DefFlags,
    /// Further keys under which a file is found, by its path.
    pub(super) file_keys: fn(&Facts, &str, &mut Keys),
    /// Further keys under which a definition is found; the text begins those of names of the file.
    pub(super) keys: fn(&Facts, DefIdx, &str, &mut Keys),
    /// Marks of a test in what stands before its name: attributes, annotations.
    pub test_marks: &'static [&'static str],
    /// What names the package or namespace of the file.
    pub packages: &'static [&'static str],
    /// Where names are bound, for languages whose uses are followed.
    pub scopes: Option<&'static Scopes>,
    /// What its nodes are, where it has declared types.
    pub(super) typed: Option<&'static Typed>,
    /// Writes a text in another way for the parser, see [`rewrites`](super::rewrites).
    pub(super) rewrites: Option<fn(&str) -> Option<String>>,
    /// What parses the parts of a file that the grammar does not read, at their places.
    pub(super) arguments: Option<Arguments>,
}

/// Keys under which other files find a definition, or the file.
pub(super) type Keys = Vec<(Key, DefIdx)>;

/// Parses parts of a text that a tree leaves as they are, within so many calls of the parser.
pub(super) type Arguments =
    fn(&str, &super::flat::Flat, &crate::parse::Parses, u64) -> Option<tree_sitter::Tree>;

impl Grammar {
    /// All rules by which something is a definition, in order of preference.
    pub fn rules(&self) -> impl Iterator<Item = &'static Define> {
        self.shared.iter().chain(self.defines)
    }

    /// A language whose grammar defines nothing yet, and where everything would be visible from other files.
    pub const fn new(language: Language, parser: fn() -> tree_sitter::Language) -> Self {
        Self {
            language,
            parser,
            shared: &[],
            defines: &[],
            owners: &[],
            wrappers: &[],
            attributes: &[],
            comments: &[],
            imports: &[],
            runs: &[],
            exported: Exported::Without(&[]),
            marks: |_, _, _| DefFlags::default(),
            file_keys: |_, _, _| {},
            keys: |_, _, _, _| {},
            test_marks: &[],
            packages: &[],
            scopes: None,
            typed: None,
            rewrites: None,
            arguments: None,
        }
    }
}

/// A node kind that defines something.
pub struct Define {
    /// The kind.
    pub kind: &'static str,
    /// What it defines. A function inside a type is a method, a variable there a field.
    pub is: DefKind,
    /// Where its name is.
    pub name: Name,
    /// Fields or kinds of children that end the signature, in order of preference.
    pub body: &'static [&'static str],
    /// Kinds that make it a function: of the child in the field `value`, or on the way to the name.
    pub functions: &'static [&'static str],
    /// A word that must stand in front of the name.
    pub word: &'static str,
    /// Only as a function.
    pub only_function: bool,
    /// Only inside a type: a method of an object is a value of it.
    pub in_type: bool,
    /// Only outside of types and functions: what looks like a macro there may be a constructor or a call.
    pub outside: bool,
    /// Only with a body: a C struct may as well be a type that is used.
    pub needs_body: bool,
    /// Only in a node of this kind.
    pub within: &'static str,
    /// The step of the path that may occur several times, each naming a definition: `int a, b;`. For
    /// [`Name::Symbols`] the kind of a symbol.
    pub each: &'static str,
    /// Only a parameter in the head of a type that this holds for: it is a member of the type.
    pub in_head: Option<fn(&Head) -> bool>,
    /// Only with a value that begins with one of these.
    pub values: &'static [&'static str],
}

/// Where a parameter stands that may be a member of a type.
pub struct Head<'a> {
    /// Kind of the node around the list of parameters.
    pub around: &'a str,
    /// What stands before the name of that node.
    pub words: &'a str,
    /// What stands before the name of the parameter.
    pub before: &'a str,
}

impl Head<'_> {
    /// Whether `val` or `var` stands before the parameter.
    pub fn has_val(&self) -> bool {
        has_word(self.before, &["val", "var"])
    }
}

/// Whether one of `words` stands in `text` as a word.
pub fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| words.contains(&w))
}

/// A mark where something holds, else none.
pub fn flag_if(is: bool, flag: DefFlags) -> DefFlags {
    if is { flag } else { DefFlags::default() }
}

/// Where the name of a definition stands.
pub enum Name {
    /// At the end of a path of fields; a step that does not name a field is the kind of a child. The last step
    /// may be repeated: a declarator lies in declarators. The node itself, where the path is empty.
    Path(&'static [&'static str]),
    /// In the first string among the arguments of a call of one of these functions.
    Call(&'static [&'static str]),
    /// In each symbol among the arguments of a call of one of these functions.
    Symbols(&'static [&'static str]),
    /// In the first argument, a symbol or a string, of a call of one of these functions.
    First(&'static [&'static str]),
    /// In the first argument of a macro whose call stands before a body.
    Macro,
    /// In the argument of which a macro of the file makes an item.
    Made,
    /// A word that stands for itself.
    Word(&'static str),
    /// In the names and strings before the body, joined by dots.
    Labels,
    /// Nowhere: it has none, where it has a child of this kind.
    Unnamed(&'static str),
}

/// How the module of an import is written.
pub enum Written {
    /// A quoted or bracketed path.
    Quoted,
    /// A name behind these words, up to an alias, a list of names or the end.
    Dotted(&'static [&'static str]),
    /// The argument of a call of one of these functions.
    Call(&'static [&'static str]),
    /// An import of TypeScript or JavaScript.
    Ecma,
    /// What C++ brings into a scope by `using`, or an alias of a namespace.
    Using,
    /// Paths behind these words: lists in braces, aliases, `*` for everything.
    Paths(&'static [&'static str]),
    /// A module of its name in a file of its own, where it has no body.
    Module,
}

/// What makes a definition visible from other files.
pub enum Exported {
    /// One of these words before the name.
    With(&'static [&'static str]),
    /// One of these words before the name, for what stands outside types; none of the words
    /// `private` and `protected` inside.
    Outside(&'static [&'static str]),
    /// None of these words before the name.
    Without(&'static [&'static str]),
}

/// Where names are bound and used.
pub struct Scopes {
    /// Kinds that open a scope and hold what is declared in them by `var`.
    pub functions: &'static [&'static str],
    /// Kinds that open a scope.
    pub blocks: &'static [&'static str],
    /// Kind and field of what binds the identifiers in it.
    pub binds: &'static [(&'static str, &'static str)],
    /// Kinds of binding that reach to the end of the function.
    pub hoisted: &'static [&'static str],
    /// Kinds of identifiers that bind or use a name.
    pub names: &'static [&'static str],
    /// Kinds of identifiers that name a type.
    pub types: &'static [&'static str],
    /// Kinds that read a member, with the fields of the value and of the name.
    pub members: &'static [(&'static str, &'static str, &'static str)],
    /// Kinds that call, with the field of what is called.
    pub calls: &'static [(&'static str, &'static str)],
    /// Kinds of what names base types.
    pub bases: &'static [&'static str],
    /// Kind of the word for the value whose method runs.
    pub this: &'static str,
    /// Kind of the body of a type, where that word stands for a value of the type.
    pub this_from: &'static str,
    /// Kinds inside which it stands for something else.
    pub no_this: &'static [&'static str],
    /// Kinds whose names are told of otherwise: imports, closing tags.
    pub passed: &'static [&'static str],
    /// Kinds that call a method, with the fields of the value, which may be absent, and of the name.
    /// Such a name is never that of a local variable.
    pub methods: &'static [(&'static str, &'static str, &'static str)],
    /// Kinds whose children are a value and the names of members after each other.
    pub chains: &'static [&'static str],
    /// Kinds whose first child is what the place does something with.
    pub through: &'static [&'static str],
    /// Kinds, the kind around each (or nothing) and the field of a name that is a key there: of a table, or of an
    /// argument that is named. It is one where a value follows.
    pub labels: &'static [(&'static str, &'static str, &'static str)],
    /// What a block may be called with: where that may be another value than around it, a name without a
    /// value may be a member of that one.
    pub rebinds: Rebinds,
    /// Whether a name in a pattern that begins with a capital is a constant.
    pub has_constant_patterns: bool,
    /// Whether variables of functions are not worth edges, though they are definitions.
    pub has_plain_locals: bool,
    /// Kinds in which words, symbols or strings name something.
    pub words: &'static [(&'static str, Words)],
}

/// Calls whose blocks may see members of another value.
#[derive(Clone, Copy)]
pub enum Rebinds {
    /// Of no call.
    None,
    /// Blocks of this kind, behind calls of these functions and of those that begin with `build`.
    Of(&'static str, &'static [&'static str]),
    /// Blocks of these kinds, behind calls without a value but of these functions.
    Bare(&'static [&'static str], &'static [&'static str]),
}

impl Scopes {
    /// Whether nodes of a kind are names.
    pub fn is_name(&self, kind: &str) -> bool {
        self.names.contains(&kind) || self.types.contains(&kind)
    }

    /// Nothing binds and nothing is used.
    pub const NONE: Self = Self {
        functions: &[],
        blocks: &[],
        binds: &[],
        hoisted: &[],
        names: &[],
        types: &[],
        members: &[],
        calls: &[],
        bases: &[],
        this: "",
        this_from: "",
        no_this: &[],
        passed: &[],
        methods: &[],
        chains: &[],
        through: &[],
        labels: &[],
        rebinds: Rebinds::None,
        has_constant_patterns: false,
        has_plain_locals: false,
        words: &[],
    };
}

impl Define {
    /// A definition with a name in the field `name` and a body in the field `body`.
    pub const fn new(kind: &'static str, is: DefKind) -> Self {
        Self {
            kind,
            is,
            name: Name::Path(&["name"]),
            body: &["body"],
            functions: &[],
            word: "",
            only_function: false,
            in_type: false,
            outside: false,
            needs_body: false,
            within: "",
            each: "",
            in_head: None,
            values: &[],
        }
    }

    /// With its name elsewhere.
    pub const fn named(mut self, name: Name) -> Self {
        self.name = name;
        self
    }

    /// With its name at the end of a path of fields and kinds.
    pub const fn at(self, path: &'static [&'static str]) -> Self {
        self.named(Name::Path(path))
    }

    /// With a body in another field or of another kind.
    pub const fn body(mut self, body: &'static [&'static str]) -> Self {
        self.body = body;
        self
    }

    /// A function when its value is of one of these kinds.
    pub const fn or_function(mut self, kinds: &'static [&'static str]) -> Self {
        self.functions = kinds;
        self
    }

    /// Only with this word in front of the name.
    pub const fn with(mut self, word: &'static str) -> Self {
        self.word = word;
        self
    }

    /// Only when its value is of one of these kinds.
    pub const fn only_function(mut self, kinds: &'static [&'static str]) -> Self {
        self.only_function = true;
        self.or_function(kinds)
    }

    /// Only inside a type.
    pub const fn in_type(mut self) -> Self {
        self.in_type = true;
        self
    }

    /// By a macro of the file.
    pub const fn made(mut self) -> Self {
        self.name = Name::Made;
        self.body = &[];
        self
    }

    /// Only outside of types and functions.
    pub const fn outside(mut self) -> Self {
        self.outside = true;
        self
    }

    /// Only with a body.
    pub const fn with_body(mut self) -> Self {
        self.needs_body = true;
        self
    }

    /// Only in a node of this kind.
    pub const fn within(mut self, kind: &'static str) -> Self {
        self.within = kind;
        self
    }

    /// One for each occurrence of a step of the path.
    pub const fn each(mut self, step: &'static str) -> Self {
        self.each = step;
        self
    }

    /// A member that a parameter in the head of its type declares, where `is` holds.
    pub const fn in_head(mut self, is: fn(&Head) -> bool) -> Self {
        self.in_head = Some(is);
        self.body = &[];
        self
    }

    /// Only with a value that begins with one of these.
    pub const fn with_value(mut self, values: &'static [&'static str]) -> Self {
        self.values = values;
        self
    }
}
