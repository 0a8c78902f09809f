//! Languages and the roles a path gives to a file.

use crate::coded::coded;

coded! {
    /// What a file is written in. The discriminants are part of stored facts.
    pub enum Language {
        /// Go source.
        Go = "go",
        /// Python source or stub.
        Python = "python",
        /// `go.mod`.
        GoMod = "go.mod",
        /// `go.work`.
        GoWork = "go.work",
        /// Markdown.
        Markdown = "markdown",
        /// TOML.
        Toml = "toml",
        /// YAML.
        Yaml = "yaml",
        /// JSON.
        Json = "json",
        /// INI and setup.cfg.
        Ini = "ini",
        /// Makefile.
        Make = "makefile",
        /// Anything else that is text: chunked by lines.
        Text = "plaintext",
        /// Rust.
        Rust = "rust",
        /// TypeScript.
        TypeScript = "typescript",
        /// TypeScript with JSX.
        Tsx = "typescriptreact",
        /// JavaScript, JSX included.
        JavaScript = "javascript",
        /// Java.
        Java = "java",
        /// C.
        C = "c",
        /// C++, and headers of unknown kind.
        Cpp = "cpp",
        /// C#.
        CSharp = "csharp",
        /// Ruby.
        Ruby = "ruby",
        /// PHP.
        Php = "php",
        /// Kotlin.
        Kotlin = "kotlin",
        /// Swift.
        Swift = "swift",
        /// Scala.
        Scala = "scala",
        /// Shell scripts.
        Bash = "shellscript",
        /// Lua.
        Lua = "lua",
        /// Protocol Buffers.
        Proto = "proto",
        /// SQL.
        Sql = "sql",
        /// HCL and Terraform.
        Hcl = "terraform",
        /// Vue components; their scripts are read.
        Vue = "vue",
        /// Svelte components; their scripts are read.
        Svelte = "svelte",
        /// HTML; its scripts are read.
        Html = "html",
    }

    /// The LSP language identifier, also the fence hint.
    pub fn id;
}

impl Language {
    /// The name in `scip.proto`, `enum Language`; empty for what it does not list.
    pub fn scip_name(self) -> &'static str {
        match self {
            Self::Go => "Go",
            Self::Python => "Python",
            Self::Markdown => "Markdown",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
            Self::Json => "JSON",
            Self::Ini => "Ini",
            Self::Make => "Makefile",
            Self::GoMod | Self::GoWork | Self::Text => "",
            Self::Rust => "Rust",
            Self::TypeScript => "TypeScript",
            Self::Tsx => "TypeScriptReact",
            Self::JavaScript => "JavaScript",
            Self::Java => "Java",
            Self::C => "C",
            Self::Cpp => "CPP",
            Self::CSharp => "CSharp",
            Self::Ruby => "Ruby",
            Self::Php => "PHP",
            Self::Kotlin => "Kotlin",
            Self::Swift => "Swift",
            Self::Scala => "Scala",
            Self::Bash => "ShellScript",
            Self::Lua => "Lua",
            Self::Proto => "Protobuf",
            Self::Sql => "SQL",
            Self::Hcl => "HCL",
            Self::Vue => "Vue",
            Self::Svelte => "Svelte",
            Self::Html => "HTML",
        }
    }

    /// What starts a comment up to the end of the line, with a blank; empty where there is none.
    pub fn line_comment(self) -> &'static str {
        match self {
            Self::Markdown | Self::Json | Self::Text | Self::Vue | Self::Svelte | Self::Html => "",
            Self::Python | Self::Toml | Self::Yaml | Self::Ini | Self::Make => "# ",
            Self::Ruby | Self::Bash | Self::Hcl => "# ",
            Self::Lua | Self::Sql => "-- ",
            _ => "// ",
        }
    }

    /// Whether its definitions are those of a program.
    pub fn is_code(self) -> bool {
        use Language::{GoMod, GoWork, Ini, Json, Make, Markdown, Text, Toml, Yaml};
        !matches!(self, GoMod | GoWork | Ini | Json | Make | Markdown | Text | Toml | Yaml)
    }

    /// How the uses of names in it are resolved.
    pub fn linking(self) -> Linking {
        match self {
            Self::Go | Self::Python => Linking::Types,
            Self::TypeScript | Self::Tsx | Self::JavaScript => Linking::Scopes,
            Self::Rust | Self::C | Self::Cpp | Self::Java | Self::Kotlin | Self::Scala => Linking::Scopes,
            Self::Php | Self::Ruby | Self::Lua | Self::Bash => Linking::Scopes,
            _ => Linking::None,
        }
    }
}

/// How far the uses of names are followed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Linking {
    /// Not at all: definitions alone.
    None,
    /// Within files and through imports; calls on values are not resolved.
    Scopes,
    /// Through scopes, imports and the types of values.
    Types,
}

/// What a path (and the first lines) say about a file's part in the repository. A set of bits.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, bitcode::Encode, bitcode::Decode,
)]
pub struct FileRoles(pub u16);

/// Begins what stands in place of a secret in the text of a file with [`FileRoles::REDACTED`]:
/// `[REDACTED:rule]`, or `[REDACTED]` where that is too long, filled up with `*` to the length of the
/// secret. A secret, or a line of one, that is shorter than both is `*` alone.
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
    /// Its text is stored without the secrets that stood in it; see [`REDACTION_MARK`].
    pub const REDACTED: Self = Self(256);
    /// Its bytes are not those of its text: another encoding than UTF-8, or damaged.
    pub const RECODED: Self = Self(512);

    /// Whether every role of `other` is set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
