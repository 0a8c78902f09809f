//! The predeclared names of the language, and the import paths of its standard library.

use super::types::{Basic, DefAt, Ty, Type, Types};

/// A predeclared function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// Its result has the type of its first argument: `append`, `min`, `max`.
    First,
    /// Its result is a value of the type named by its first argument: `make`.
    Make,
    /// Its result is a pointer to the type named by its first argument, or to the type of that: `new`.
    New,
    /// Its result is an integer: `len`, `cap`, `copy`.
    Int,
    /// Its result is an empty interface: `recover`.
    Any,
    /// Its result, if any, is a number that has no members.
    Number,
}

/// A predeclared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predeclared {
    Type(Ty),
    Value(Ty),
    Func(Builtin),
}

/// Looks a name up in the universe block (Go specification, "Predeclared identifiers").
pub(super) fn lookup(types: &mut Types, name: &str) -> Option<Predeclared> {
    use Basic::{
        Bool, Complex64, Complex128, Float32, Float64, Int, Int8, Int16, Int32, Int64, String, Uint, Uint8,
        Uint16, Uint32, Uint64, Uintptr, UntypedBool, UntypedInt, UntypedNil,
    };
    let basic = match name {
        "bool" => Bool,
        "string" => String,
        "int" => Int,
        "int8" => Int8,
        "int16" => Int16,
        "int32" | "rune" => Int32,
        "int64" => Int64,
        "uint" => Uint,
        "uint8" | "byte" => Uint8,
        "uint16" => Uint16,
        "uint32" => Uint32,
        "uint64" => Uint64,
        "uintptr" => Uintptr,
        "float32" => Float32,
        "float64" => Float64,
        "complex64" => Complex64,
        "complex128" => Complex128,
        "error" => return Some(Predeclared::Type(types.make(Type::Error))),
        "any" | "comparable" => return Some(Predeclared::Type(types.make(Type::Interface(DefAt::EMPTY)))),
        "true" | "false" => return Some(Predeclared::Value(types.basic(UntypedBool))),
        "iota" => return Some(Predeclared::Value(types.basic(UntypedInt))),
        "nil" => return Some(Predeclared::Value(types.basic(UntypedNil))),
        "append" | "min" | "max" => return Some(Predeclared::Func(Builtin::First)),
        "make" => return Some(Predeclared::Func(Builtin::Make)),
        "new" => return Some(Predeclared::Func(Builtin::New)),
        "len" | "cap" | "copy" => return Some(Predeclared::Func(Builtin::Int)),
        "recover" => return Some(Predeclared::Func(Builtin::Any)),
        "clear" | "close" | "complex" | "delete" | "imag" | "panic" | "print" | "println" | "real" => {
            return Some(Predeclared::Func(Builtin::Number));
        }
        _ => return None,
    };
    Some(Predeclared::Type(types.basic(basic)))
}

/// First components of the import paths of the standard library (`go list std`).
const STANDARD_ROOTS: &str = "C archive arena bufio builtin bytes cmp compress container context crypto \
    database debug embed encoding errors expvar flag fmt go hash html image index internal io iter log maps \
    math mime net os path plugin reflect regexp runtime slices sort strconv strings structs sync syscall \
    testing text time unicode unique unsafe weak";

/// Returns true if an import path belongs to the standard library.
pub(super) fn is_standard(path: &str) -> bool {
    indexd_model::lists::holds(STANDARD_ROOTS, path.split('/').next().unwrap_or(""))
}

/// Returns true if a package outside the tree may be called `name` when it is imported without an alias. Its
/// package clause is not available: the last component of the path decides, without a major version, without
/// `go-`, `-go`, `.go`, `go.` around it and without characters that are not valid in an identifier.
pub(super) fn may_be_named(path: &str, name: &str) -> bool {
    let mut parts = path.rsplit('/');
    let mut last = parts.next().unwrap_or("");
    if is_major_version(last) {
        last = parts.next().unwrap_or(last);
    }
    if last == name {
        return true;
    }
    let stem = match last.rsplit_once(".v") {
        Some((stem, version)) if version.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => last,
    };
    let bare = stem
        .trim_start_matches("go-")
        .trim_start_matches("go.")
        .trim_end_matches("-go")
        .trim_end_matches(".go")
        .trim_end_matches("-golang");
    let joined = |s: &str| s.bytes().filter(|b| *b != b'-' && *b != b'.').eq(name.bytes());
    let tail = bare.rsplit(['-', '.']).next().unwrap_or(bare);
    stem == name || bare == name || joined(stem) || joined(bare) || tail == name
}

fn is_major_version(part: &str) -> bool {
    part.strip_prefix('v')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_library_is_known_by_its_roots() {
        assert!(is_standard("net/http") && is_standard("C") && is_standard("unique"));
        assert!(!is_standard("example.com/net") && !is_standard("mycorp/lib"));
    }

    #[test]
    fn guesses_the_name_of_a_package_from_its_path() {
        for (path, name) in [
            ("net/http", "http"),
            ("math/rand/v2", "rand"),
            ("gopkg.in/yaml.v3", "yaml"),
            ("github.com/mattn/go-isatty", "isatty"),
            ("github.com/a/b-go", "b"),
            ("github.com/nats-io/nats.go", "nats"),
            ("github.com/a/go-multi-word", "multiword"),
            ("github.com/hashicorp/go-hclog", "hclog"),
            ("github.com/russross/blackfriday/v2", "blackfriday"),
        ] {
            assert!(may_be_named(path, name), "{path} {name}");
        }
        assert!(!may_be_named("net/http", "net"));
        assert!(!may_be_named("example.com/a/b", "a"));
    }
}
