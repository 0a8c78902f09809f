//! Enums as bytes and as names: positions in tables that list every variant in order.

/// An enum with a byte and a name for each variant.
pub trait Coded: Copy + Sized + 'static {
    /// Every variant, in order of its byte.
    const ALL: &'static [Self];

    /// The name of every variant in this source, in the same order.
    const NAMES: &'static [&'static str];

    /// The byte.
    fn code(self) -> u8;

    /// The variant of a byte.
    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Declares an enum without data, and functions that return one or two texts for each variant.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$of:meta])* $variant:ident = $text:literal / $other:literal,)*
     }
     $(#[$doc:meta])* pub fn $text_of:ident;
     $(#[$other_doc:meta])* pub fn $other_of:ident;) => {
        $crate::words! {
            $(#[$meta])*
            pub enum $name { $($(#[$of])* $variant = $text,)* }
            $(#[$doc])*
            pub fn $text_of;
        }

        impl $name {
            $(#[$other_doc])*
            pub fn $other_of(self) -> &'static str {
                match self {
                    $(Self::$variant => $other,)*
                }
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $text:literal,)* }
     $(#[$doc:meta])* pub fn $text_of:ident;) => {
        $crate::words! {
            $(#[$meta])*
            pub enum $name { $($(#[$of])* $variant,)* }
        }

        impl $name {
            $(#[$doc])*
            pub fn $text_of(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $variant:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// Every variant, in order.
            pub const ALL: [Self; Self::NAMES.len()] = [$(Self::$variant),*];

            /// The name of every variant in this source, in the same order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant)),*];
        }
    };
}

/// Declares an enum that is [`Coded`], as [`words!`](crate::words) declares others.
macro_rules! coded {
    ($(#[$meta:meta])* pub enum $name:ident { $($body:tt)* } $($functions:tt)*) => {
        $crate::words! {
            $(#[$meta])*
            #[derive(bitcode::Encode, bitcode::Decode)]
            #[repr(u8)]
            pub enum $name { $($body)* }
            $($functions)*
        }

        impl $crate::coded::Coded for $name {
            const ALL: &'static [Self] = &$name::ALL;
            const NAMES: &'static [&'static str] = $name::NAMES;

            fn code(self) -> u8 {
                self as u8
            }
        }
    };
}
pub(crate) use coded;

#[cfg(test)]
mod tests {
    use super::Coded;
    use crate::{ChunkKind, DefKind, EdgeKind, Language, Outcome, Role, Rule, UnresolvedReason};

    fn check<T: Coded + PartialEq + std::fmt::Debug>() {
        for (i, x) in T::ALL.iter().enumerate() {
            assert_eq!(usize::from(x.code()), i, "{x:?}");
            assert_eq!(T::from_code(i as u8), Some(*x));
            assert_eq!(T::NAMES[i], format!("{x:?}"));
        }
    }

    #[test]
    fn positions_are_codes() {
        check::<Language>();
        check::<Outcome>();
        check::<DefKind>();
        check::<ChunkKind>();
        check::<Role>();
        check::<EdgeKind>();
        check::<Rule>();
        check::<UnresolvedReason>();
    }
}
