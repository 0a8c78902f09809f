//! Kinds of nodes and fields of a grammar as enums and numbers, looked up once per process.
//!
//! Grammars name kinds by strings and renumber them in every release; a visitor matches on an enum instead.

use tree_sitter::Language;

/// An enum of kinds or of fields, with their names in the grammars.
pub(crate) trait Names: Copy + Default + 'static {
    /// Every name with its variant.
    const NAMES: &'static [(&'static str, Self)];
}

/// The numbers of fields.
pub(crate) trait Numbers {
    /// The names of the fields.
    #[cfg(test)]
    const NAMES: &'static [&'static str];

    /// Looks up every field. One that the grammar does not have is 0, which no node has.
    fn new(number: impl Fn(&str) -> u16) -> Self;
}

/// The kinds and fields of one grammar.
pub(crate) struct Kinds<K, F> {
    all: Vec<K>,
    pub(crate) fields: F,
}

impl<K: Names, F: Numbers> Kinds<K, F> {
    pub(crate) fn new(parser: &Language) -> Self {
        let number = |name: &str| parser.field_id_for_name(name).map_or(0, |f| f.get());
        Self { all: kinds(parser), fields: F::new(number) }
    }

    /// The kind of a node by the number of its kind.
    pub(crate) fn of(&self, kind_id: usize) -> K {
        self.all.get(kind_id).copied().unwrap_or_default()
    }
}

impl<K, F> std::ops::Deref for Kinds<K, F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.fields
    }
}

/// The variant of each kind of named nodes, by its number.
pub(crate) fn kinds<K: Names>(parser: &Language) -> Vec<K> {
    let of = |id: usize| {
        let name = parser.node_kind_for_id(id as u16).filter(|_| parser.node_kind_is_named(id as u16));
        K::NAMES.iter().find(|k| Some(k.0) == name).map_or(K::default(), |k| k.1)
    };
    (0..parser.node_kind_count()).map(of).collect()
}

/// The names that a grammar does not have.
#[cfg(test)]
pub(crate) fn missing<K: Names, F: Numbers>(parser: &Language) -> Vec<&'static str> {
    let kinds = K::NAMES.iter().map(|k| k.0).filter(|k| parser.id_for_node_kind(k, true) == 0);
    kinds.chain(F::NAMES.iter().copied().filter(|f| parser.field_id_for_name(f).is_none())).collect()
}

/// Declares an enum that is [`Names`], each variant with its names in the grammars, and a struct of the
/// [`Numbers`] of fields. All other names are the variant `Other`. Variants are ordered, so that a range of them
/// can be a class of kinds.
macro_rules! numbers {
    ($(#[$doc:meta])* enum $name:ident {
        $($(#[$of:meta])* $variant:ident = $($text:literal)|+,)*
    } $($fields:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug, Default)]
        pub(crate) enum $name {
            /// Has no name here.
            #[default]
            Other,
            $($(#[$of])* $variant,)*
        }

        impl $crate::numbers::Names for $name {
            const NAMES: &'static [(&'static str, Self)] = &[$($(($text, Self::$variant)),+),*];
        }

        numbers! { $($fields)* }
    };
    ($(#[$doc:meta])* struct $name:ident { $($field:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name { $(pub(crate) $field: u16,)* }

        impl $crate::numbers::Numbers for $name {
            #[cfg(test)]
            const NAMES: &'static [&'static str] = &[$($text),*];

            fn new(number: impl Fn(&str) -> u16) -> Self {
                Self { $($field: number($text)),* }
            }
        }
    };
    () => {};
}
