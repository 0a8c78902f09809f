//! Languages and the roles a path gives to a file.

use crate::coded::coded;

/// Declares the languages: the LSP identifier, the name in `scip.proto`, the method of linking, the start of a
/// comment up to the end of the line, and the endings of the names of files.
macro_rules! languages {
    ($($(#[$doc:meta])* $language:ident = $id:literal / $scip:literal, $linking:ident, $comment:literal
        $(, $($ending:literal)|+)?;)*) => {
        coded! {
            /// The language or format of a file. The discriminants are part of stored facts.
            pub enum Language { $($(#[$doc])* $language = $id / $scip,)* }

            /// The LSP language identifier, also the fence hint.
            pub fn id;
            /// The name in `scip.proto`, `enum Language`; empty for a language that is not listed there.
            pub fn scip_name;
        }

        impl Language {
            /// The start of a comment up to the end of the line, with a blank; empty where there is none.
            pub fn line_comment(self) -> &'static str {
                match self {
                    $(Self::$language => $comment,)*
                }
            }

            /// The method by which the uses of names in it are resolved.
            pub fn linking(self) -> Linking {
                match self {
                    $(Self::$language => Linking::$linking,)*
                }
            }

            /// The language of files whose names have this ending; text for all that are not known.
            pub(crate) fn of_ending(ending: &str) -> Self {
                match ending {
                    $($($($ending)|+ => Self::$language,)?)*
                    _ => Self::Text,
                }
            }
        }
    };
}

languages! {
    /// Go source.
    Go = "go" / "Go", Types, "// ", "go";
    /// Python source or stub.
    Python = "python" / "Python", Types, "# ", "py" | "pyi" | "pyw";
    /// `go.mod`.
    GoMod = "go.mod" / "", None, "// ";
    /// `go.work`.
    GoWork = "go.work" / "", None, "// ";
    /// Markdown.
    Markdown = "markdown" / "Markdown", None, "", "md" | "markdown" | "mdx";
    /// TOML.
    Toml = "toml" / "TOML", None, "# ", "toml";
    /// YAML.
    Yaml = "yaml" / "YAML", None, "# ", "yaml" | "yml";
    /// JSON.
    Json = "json" / "JSON", None, "", "json" | "jsonc" | "json5" | "webmanifest";
    /// INI and setup.cfg.
    Ini = "ini" / "Ini", None, "# ", "ini" | "cfg" | "conf" | "properties";
    /// Makefile.
    Make = "makefile" / "Makefile", None, "# ", "mk" | "mak";
    /// Anything else that is text: chunked by lines.
    Text = "plaintext" / "", None, "";
    /// Rust.
    Rust = "rust" / "Rust", Types, "// ", "rs";
    /// TypeScript.
    TypeScript = "typescript" / "TypeScript", Types, "// ", "ts" | "mts" | "cts";
    /// TypeScript with JSX.
    Tsx = "typescriptreact" / "TypeScriptReact", Types, "// ", "tsx";
    /// JavaScript, JSX included.
    JavaScript = "javascript" / "JavaScript", Types, "// ", "js" | "mjs" | "cjs" | "jsx";
    /// Java.
    Java = "java" / "Java", Types, "// ", "java";
    /// C.
    C = "c" / "C", Types, "// ", "c";
    /// C++, and headers of unknown kind: the grammar reads C as well.
    Cpp = "cpp" / "CPP", Types, "// ", "h" | "hh" | "hpp" | "hxx" | "cc" | "cpp" | "cxx" | "ipp" | "inl"
        | "cu" | "cuh";
    /// C#.
    CSharp = "csharp" / "CSharp", None, "// ", "cs";
    /// Ruby.
    Ruby = "ruby" / "Ruby", Scopes, "# ", "rb" | "rake" | "gemspec" | "ru";
    /// PHP.
    Php = "php" / "PHP", Scopes, "// ", "php" | "phtml";
    /// Kotlin.
    Kotlin = "kotlin" / "Kotlin", Scopes, "// ", "kt" | "kts";
    /// Swift.
    Swift = "swift" / "Swift", None, "// ", "swift";
    /// Scala.
    Scala = "scala" / "Scala", Scopes, "// ", "scala" | "sc" | "sbt";
    /// Shell scripts.
    Bash = "shellscript" / "ShellScript", Scopes, "# ", "sh" | "bash" | "zsh" | "ksh" | "bats";
    /// Lua.
    Lua = "lua" / "Lua", Scopes, "-- ", "lua";
    /// Protocol Buffers.
    Proto = "proto" / "Protobuf", None, "// ", "proto";
    /// SQL.
    Sql = "sql" / "SQL", None, "-- ", "sql";
    /// HCL and Terraform.
    Hcl = "terraform" / "HCL", None, "# ", "tf" | "hcl";
    /// Vue components; their scripts are read.
    Vue = "vue" / "Vue", None, "", "vue";
    /// Svelte components; their scripts are read.
    Svelte = "svelte" / "Svelte", None, "", "svelte";
    /// HTML; its scripts are read.
    Html = "html" / "HTML", None, "", "html" | "htm" | "xhtml";
}

impl Language {
    /// Returns true if its definitions are those of a program.
    pub fn is_code(self) -> bool {
        use Language::{GoMod, GoWork, Ini, Json, Make, Markdown, Text, Toml, Yaml};
        !matches!(self, GoMod | GoWork | Ini | Json | Make | Markdown | Text | Toml | Yaml)
    }
}

/// Methods of resolving the uses of names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Linking {
    /// Not at all: definitions alone.
    None,
    /// Within files and through imports; calls on values are not resolved.
    Scopes,
    /// Through scopes, imports and the types of values.
    Types,
}

/// The part of a file in the repository, according to its path and first lines. A set of bits.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, bitcode::Encode, bitcode::Decode,
)]
pub struct FileRoles(pub u16);

/// The start of the text that replaces a secret in a file with [`FileRoles::REDACTED`]: `[REDACTED:rule]`,
/// or `[REDACTED]` where that is too long, padded with `*` to the length of the secret. A secret, or a line
/// of one, that is shorter than both is `*` alone.
pub const REDACTION_MARK: &str = "[REDACTED";

impl FileRoles {
    /// A test, by the language's conventions.
    pub const TEST: Self = Self(1);
    /// Generated code (`Code generated ... DO NOT EDIT.` and the like).
    pub const GENERATED: Self = Self(2);
    /// A third-party copy (`vendor/`, `third_party/`, `node_modules/`): searchable, not linked.
    pub const VENDORED: Self = Self(4);
    /// Configuration or a build file.
    pub const CONFIG: Self = Self(8);
    /// Documentation.
    pub const DOC: Self = Self(16);
    /// A build manifest such as go.mod or pyproject.toml.
    pub const MANIFEST: Self = Self(32);
    /// A secret by name: listed, never chunked or excerpted.
    pub const SENSITIVE: Self = Self(64);
    /// An example or a demo.
    pub const EXAMPLE: Self = Self(128);
    /// Its text is stored with its secrets replaced; see [`REDACTION_MARK`].
    pub const REDACTED: Self = Self(256);
    /// Its bytes are not those of its text: another encoding than UTF-8, or damaged.
    pub const RECODED: Self = Self(512);

    /// Returns true if every role of `other` is set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
