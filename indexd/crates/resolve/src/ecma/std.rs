//! The results of the standard library that depend on types of the tree: [`std.txt`](std.txt), read on
//! demand.

use super::Linker;
use crate::typed::std::Table;
use crate::typed::{Ty, Type};
use std::sync::LazyLock;

/// Names of types by other names.
const ALIASES: [(&str, &str); 32] = [
    ("ReadonlyArray", "Array"),
    ("ArrayLike", "Array"),
    ("Iterable", "Iterator"),
    ("IterableIterator", "Iterator"),
    ("ArrayIterator", "Iterator"),
    ("MapIterator", "Iterator"),
    ("SetIterator", "Iterator"),
    ("IteratorObject", "Iterator"),
    ("Generator", "Iterator"),
    ("AsyncIterable", "Iterator"),
    ("AsyncIterator", "Iterator"),
    ("AsyncGenerator", "Iterator"),
    ("AsyncIterableIterator", "Iterator"),
    ("ReadonlySet", "Set"),
    ("ReadonlyMap", "Map"),
    ("PromiseLike", "Promise"),
    ("FunctionComponent", "FC"),
    ("RefObject", "Ref"),
    ("MutableRefObject", "Ref"),
    ("PureComponent", "Component"),
    ("TypeError", "Error"),
    ("RangeError", "Error"),
    ("SyntaxError", "Error"),
    ("Uint8Array", "Bytes"),
    ("Buffer", "Bytes"),
    ("bigint", "number"),
    ("String", "string"),
    ("Number", "number"),
    ("Boolean", "boolean"),
    ("VFC", "FC"),
    ("SFC", "FC"),
    ("ComponentType", "FC"),
];

/// Names of the standard library that are types of React where the module is imported.
const OF_REACT: [&str; 10] = [
    "FC",
    "FunctionComponent",
    "Context",
    "RefObject",
    "MutableRefObject",
    "Component",
    "PureComponent",
    "ComponentType",
    "VFC",
    "SFC",
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("std.txt"), &ALIASES));

/// The name under which a type of the standard library is in the table.
pub(super) fn canonical(name: &str) -> &str {
    TABLE.canonical(name)
}

/// Returns true if the table has a type.
pub(super) fn is_known(name: &str) -> bool {
    TABLE.ty(name).is_some()
}

impl Linker<'_> {
    /// A type of the standard library by its name, where it is not one of the tree.
    pub(super) fn std_named(&mut self, name: &str, args: &[Ty]) -> Option<Ty> {
        let name = canonical(name);
        is_known(name).then(|| self.types.std(name, args))
    }

    /// A type that a module outside the tree exports.
    pub(super) fn type_of_module(&mut self, module: &str, name: &str, args: &[Ty]) -> Option<Ty> {
        let is_known = module == "react" && OF_REACT.contains(&name);
        is_known.then(|| self.std_named(name, args)).flatten()
    }

    /// A value that a module outside the tree exports.
    pub(super) fn value_of_module(&mut self, module: &str, name: &str) -> Option<Ty> {
        let owner = format!("module {module}");
        TABLE.member(&mut self.types, &owner, &[], name)
    }

    /// A global value of the standard library.
    pub(super) fn std_value(&mut self, name: &str) -> Option<Ty> {
        let owner = format!("static {name}");
        is_known(&owner).then(|| {
            let name = self.types.name(name);
            self.types.make(Type::StdStatic(name))
        })
    }

    /// A member of a type of the standard library.
    pub(super) fn std_member(&mut self, of: &str, args: &[Ty], name: &str) -> Option<Ty> {
        TABLE.member(&mut self.types, of, args, name)
    }

    /// A member of a class of the standard library.
    pub(super) fn std_static(&mut self, of: &str, name: &str) -> Option<Ty> {
        let owner = format!("static {of}");
        TABLE.member(&mut self.types, &owner, &[], name)
    }
}
