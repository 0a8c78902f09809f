//! Enums of the model as bytes: positions in tables that list every variant in order.

use indexd_model::links::{EdgeKind, Rule, UnresolvedReason};
use indexd_model::{ChunkKind, DefKind, Language, Outcome, Role};

macro_rules! bytes {
    ($($ty:ident [$($variant:ident)*];)*) => {
        /// An enum with a stored byte for each variant.
        pub(crate) trait Coded: Copy + Sized + 'static {
            /// Every variant, in order of its byte.
            const ALL: &'static [Self];

            /// The byte.
            fn code(self) -> u8;

            /// The variant behind a byte.
            fn from_code(code: u8) -> Option<Self> {
                Self::ALL.get(usize::from(code)).copied()
            }
        }

        $(impl Coded for $ty {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn code(self) -> u8 {
                // The exhaustive match fails to compile when a variant is not listed.
                match self {
                    $(Self::$variant)|* => self as u8,
                }
            }
        })*

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn positions_are_codes() {
                $(for (i, x) in <$ty as Coded>::ALL.iter().enumerate() {
                    assert_eq!(usize::from(x.code()), i, "{x:?}");
                    assert_eq!($ty::from_code(i as u8), Some(*x));
                })*
            }
        }
    };
}

bytes! {
    Language [Go Python GoMod GoWork Markdown Toml Yaml Json Ini Make Text Rust TypeScript Tsx JavaScript Java C Cpp CSharp Ruby Php Kotlin Swift Scala Bash Lua Proto Sql Hcl Vue Svelte Html];
    Outcome [Parsed Recovered TextOnly Binary Sensitive TooLarge];
    DefKind [Function Method Class Struct Interface Type Alias Field Property Variable Constant Section Module Enum Macro];
    ChunkKind [Definition Type Between Section Entry Lines Imports Comment Stub];
    Role [None Read Write Call Type Decorator Base Field Key Import];
    EdgeKind [Call Usage Import Export Dataflow Inherit Implement DataflowIn];
    Rule [Scope Import Reexport Receiver Inherited Inferred Implements Dispatch UniqueName Ambiguous Tooling];
    UnresolvedReason [External Builtin UnknownReceiver NotFound Dynamic NotUnderstood];
}
