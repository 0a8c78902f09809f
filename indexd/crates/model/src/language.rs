//! Languages and the roles a path gives to a file.

use crate::coded::coded;

coded! {
    /// The language or format of a file. The discriminants are part of stored facts.
    pub enum Language {
        /// Go source.
        Go = "go" / "Go",
        /// Python source or stub.
        Python = "python" / "Python",
        /// `go.mod`.
        GoMod = "go.mod" / "",
        /// `go.work`.
        GoWork = "go.work" / "",
        /// Markdown.
        Markdown = "markdown" / "Markdown",
        /// TOML.
        Toml = "toml" / "TOML",
        /// YAML.
        Yaml = "yaml" / "YAML",
        /// JSON.
        Json = "json" / "JSON",
        /// INI and setup.cfg.
        Ini = "ini" / "Ini",
        /// Makefile.
        Make = "makefile" / "Makefile",
        /// Anything else that is text: chunked by lines.
        Text = "plaintext" / "",
        /// Rust.
        Rust = "rust" / "Rust",
        /// TypeScript.
        TypeScript = "typescript" / "TypeScript",
        /// TypeScript with JSX.
        Tsx = "typescriptreact" / "TypeScriptReact",
        /// JavaScript, JSX included.
        JavaScript = "javascript" / "JavaScript",
        /// Java.
        Java = "java" / "Java",
        /// C.
        C = "c" / "C",
        /// C++, and headers of unknown kind.
        Cpp = "cpp" / "CPP",
        /// C#.
        CSharp = "csharp" / "CSharp",
        /// Ruby.
        Ruby = "ruby" / "Ruby",
        /// PHP.
        Php = "php" / "PHP",
        /// Kotlin.
        Kotlin = "kotlin" / "Kotlin",
        /// Swift.
        Swift = "swift" / "Swift",
        /// Scala.
        Scala = "scala" / "Scala",
        /// Shell scripts.
        Bash = "shellscript" / "ShellScript",
        /// Lua.
        Lua = "lua" / "Lua",
        /// Protocol Buffers.
        Proto = "proto" / "Protobuf",
        /// SQL.
        Sql = "sql" / "SQL",
        /// HCL and Terraform.
        Hcl = "terraform" / "HCL",
        /// Vue components; their scripts are read.
        Vue = "vue" / "Vue",
        /// Svelte components; their scripts are read.
        Svelte = "svelte" / "Svelte",
        /// HTML; its scripts are read.
        Html = "html" / "HTML",
    }

    /// The LSP language identifier, also the fence hint.
    pub fn id;
    /// The name in `scip.proto`, `enum Language`; empty for a language that is not listed there.
    pub fn scip_name;
}

impl Language {
    /// The start of a comment up to the end of the line, with a blank; empty where there is none.
    pub fn line_comment(self) -> &'static str {
        match self {
            Self::Markdown | Self::Json | Self::Text | Self::Vue | Self::Svelte | Self::Html => "",
            Self::Python | Self::Toml | Self::Yaml | Self::Ini | Self::Make => "# ",
            Self::Ruby | Self::Bash | Self::Hcl => "# ",
            Self::Lua | Self::Sql => "-- ",
            _ => "// ",
        }
    }

    /// Returns true if its definitions are those of a program.
    pub fn is_code(self) -> bool {
        use Language::{GoMod, GoWork, Ini, Json, Make, Markdown, Text, Toml, Yaml};
        !matches!(self, GoMod | GoWork | Ini | Json | Make | Markdown | Text | Toml | Yaml)
    }

    /// The method by which the uses of names in it are resolved.
    pub fn linking(self) -> Linking {
        match self {
            Self::Go | Self::Python | Self::TypeScript | Self::Tsx | Self::JavaScript => Linking::Types,
            Self::Java | Self::Rust | Self::C | Self::Cpp => Linking::Types,
            Self::Kotlin | Self::Scala => Linking::Scopes,
            Self::Php | Self::Ruby | Self::Lua | Self::Bash => Linking::Scopes,
            _ => Linking::None,
        }
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
