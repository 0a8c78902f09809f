//! Languages and the roles a path gives to a file.

/// What a file is written in. The discriminants are part of stored facts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, bitcode::Encode, bitcode::Decode)]
#[repr(u8)]
pub enum Language {
    /// Go source.
    Go,
    /// Python source or stub.
    Python,
    /// `go.mod`.
    GoMod,
    /// `go.work`.
    GoWork,
    /// Markdown.
    Markdown,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// INI and setup.cfg.
    Ini,
    /// Makefile.
    Make,
    /// Anything else that is text: chunked by lines.
    Text,
}

impl Language {
    /// The LSP language identifier, also the fence hint.
    pub fn id(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Python => "python",
            Self::GoMod => "go.mod",
            Self::GoWork => "go.work",
            Self::Markdown => "markdown",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Ini => "ini",
            Self::Make => "makefile",
            Self::Text => "plaintext",
        }
    }
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
