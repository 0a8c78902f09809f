//! Names of the model's enumerations in artifacts: the names of their variants.

use indexd_model::links::{Rule, UnresolvedReason};
use indexd_model::{ChunkKind, DefKind, Language, Outcome, Role};

/// An enumeration whose values have names.
pub trait Named: Copy + 'static {
    /// Every value with its name.
    const ALL: &'static [(Self, &'static str)];

    /// The name of a value.
    fn name(self) -> &'static str;

    /// The value of a name.
    fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
    }
}

macro_rules! names {
    ($($ty:ident [$($variant:ident)*];)*) => {
        $(impl Named for $ty {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, stringify!($variant))),*];

            fn name(self) -> &'static str {
                // Does not compile when a variant is not listed.
                match self {
                    $(Self::$variant => stringify!($variant),)*
                }
            }
        })*
    };
}

names! {
    Language [Go Python GoMod GoWork Markdown Toml Yaml Json Ini Make Text Rust TypeScript Tsx JavaScript Java C Cpp CSharp Ruby Php Kotlin Swift Scala Bash Lua Proto Sql Hcl Vue Svelte Html];
    Outcome [Parsed Recovered TextOnly Binary Sensitive TooLarge];
    DefKind [Function Method Class Struct Interface Type Alias Field Property Variable Constant Section Module Enum Macro];
    ChunkKind [Definition Type Between Section Entry Lines Imports Comment Stub];
    Role [None Read Write Call Type Decorator Base Field Key Import];
    Rule [Scope Import Reexport Receiver Inherited Inferred Implements Dispatch UniqueName Ambiguous Tooling];
    UnresolvedReason [External Builtin UnknownReceiver NotFound Dynamic NotUnderstood];
}

/// Writes a value as its name.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: Named, S: serde::Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(value.name())
}

/// Reads a value by its name.
///
/// # Errors
/// When there is no such name.
pub fn deserialize<'de, T: Named, D: serde::Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let name = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(from)?;
    T::of(&name).ok_or_else(|| serde::de::Error::custom(format!("{name:?} is unknown")))
}
