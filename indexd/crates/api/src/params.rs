//! Macros that declare the members of messages: parameters, and closed sets of words.

/// Declares objects whose unknown members are refused and whose members all have a default. Members that are
/// `Option` or `bool` are not written unless they are set.
///
/// The comma behind the last member may be left out. A member without a type is one that many methods share: `repo`, `cwd`, `wait`, `overlays` and
/// `progress`. The types of `wait` and `overlays` are those in scope.
#[macro_export]
macro_rules! params {
    ($($(#[$meta:meta])* $name:ident { $($members:tt)* })*) => {
        $($crate::params!(@ [$(#[$meta])* $name] {} $($members)*,);)*
    };
    (@ [$(#[$meta:meta])* $name:ident] { $($members:tt)* } $(,)?) => {
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        $(#[$meta])*
        pub struct $name { $($members)* }
    };
    (@ $head:tt $done:tt repo, $($rest:tt)*) => {
        $crate::params!(@ $head $done /** The root itself. */ repo: Option<String>, $($rest)*);
    };
    (@ $head:tt $done:tt cwd, $($rest:tt)*) => {
        $crate::params!(@ $head $done /** A folder inside the workspace. */ cwd: Option<String>, $($rest)*);
    };
    (@ $head:tt $done:tt wait, $($rest:tt)*) => {
        $crate::params!(@ $head $done /** What the answer requires of the index. */ wait: Option<Wait>, $($rest)*);
    };
    (@ $head:tt $done:tt overlays, $($rest:tt)*) => {
        $crate::params!(@ $head $done
            /** Unsaved texts to answer with, as if they were saved. At most 32, of 4 MiB together. */
            #[serde(skip_serializing_if = "Vec::is_empty")]
            overlays: Vec<Overlay>, $($rest)*);
    };
    (@ $head:tt $done:tt progress, $($rest:tt)*) => {
        $crate::params!(@ $head $done /** Whether to send `$/progress`. */ progress: bool, $($rest)*);
    };
    (@ $head:tt { $($done:tt)* } $(#[$meta:meta])* $field:ident: Option<$ty:ty>, $($rest:tt)*) => {
        $crate::params!(@ $head {
            $($done)*
            $(#[$meta])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$ty>,
        } $($rest)*);
    };
    (@ $head:tt { $($done:tt)* } $(#[$meta:meta])* $field:ident: bool, $($rest:tt)*) => {
        $crate::params!(@ $head {
            $($done)* $(#[$meta])* #[serde(skip_serializing_if = "std::ops::Not::not")] pub $field: bool,
        } $($rest)*);
    };
    (@ $head:tt { $($done:tt)* } $(#[$meta:meta])* $field:ident: $ty:ty, $($rest:tt)*) => {
        $crate::params!(@ $head { $($done)* $(#[$meta])* pub $field: $ty, } $($rest)*);
    };
}

/// Declares closed sets of words, each with its default.
#[macro_export]
macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $text:literal,)* })*) => {$(
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        $(#[$meta])*
        pub enum $name {
            $($(#[$of])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every word, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    )*};
}
