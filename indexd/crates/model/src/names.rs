//! Names of definitions: qualified names and SCIP descriptors.

use crate::facts::{DefFlags, DefIdx, DefKind, Facts};
use crate::language::Language;

/// The names from file level down to `def`, joined by dots: `Type.method`, `outer.inner`.
/// Empty for `NONE`. A Go method counts as a member of its receiver's type.
pub fn qualified_name(facts: &Facts, def: DefIdx) -> String {
    let mut out = String::new();
    for d in chain(facts, def) {
        let receiver = facts.def(d).receiver.map_or("", |r| facts.str(r));
        for part in [receiver, facts.def_name(d)] {
            if !part.is_empty() {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(part);
            }
        }
    }
    out
}

/// The SCIP descriptors of `def` below its file's namespace, for example `Type#method().`.
/// Empty for `NONE`.
pub fn descriptor(facts: &Facts, def: DefIdx) -> String {
    let mut out = String::new();
    for d in chain(facts, def) {
        let it = facts.def(d);
        if let Some(r) = it.receiver {
            push_name(&mut out, facts.str(r));
            out.push('#');
        }
        if it.flags.has(DefFlags::ANONYMOUS) && facts.def_name(d).is_empty() {
            out.push_str("``");
        } else {
            push_name(&mut out, facts.def_name(d));
        }
        out.push_str(suffix(it.kind));
    }
    out
}

/// The SCIP suffix of a kind of definition.
pub fn suffix(kind: DefKind) -> &'static str {
    match kind {
        DefKind::Function | DefKind::Method => "().",
        k if k.is_type() => "#",
        DefKind::Section | DefKind::Module => "/",
        DefKind::Macro => "!",
        _ => ".",
    }
}

/// Appends `name` as a SCIP identifier, in backticks when it is not simple.
pub fn push_name(out: &mut String, name: &str) {
    let simple = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'+' | b'-' | b'$'));
    if simple {
        out.push_str(name);
    } else {
        out.push('`');
        out.push_str(&name.replace('`', "``"));
        out.push('`');
    }
}

/// `def` and the definitions around it, outermost first; empty for `NONE`.
pub fn chain(facts: &Facts, def: DefIdx) -> Vec<DefIdx> {
    let mut out = Vec::new();
    let mut at = def.some();
    while let Some(d) = at {
        out.push(d);
        at = facts.def(d).parent.some();
    }
    out.reverse();
    out
}

/// The callers of a definition that do not name it, in words for use after "called by": a constructor is
/// called where a value of its type is made; for calls by the language itself see [`called_by_language`].
pub fn called_by(facts: &Facts, def: DefIdx) -> Option<&'static str> {
    use Language::{CSharp, Cpp, Java, JavaScript, Kotlin, Php, Python, Ruby, Swift, Tsx, TypeScript};
    let (it, name, language) = (facts.def(def), facts.def_name(def), facts.interface.language);
    let around = it.parent.some().map(|p| facts.def_name(p));
    let receiver = it.receiver.and_then(|r| facts.str(r).rsplit('.').next());
    let is_constructor = match language {
        Java | Cpp | CSharp => receiver.or(around) == Some(name),
        Python => matches!(name, "__init__" | "__new__"),
        Php => name == "__construct",
        Ruby => name == "initialize",
        Swift => name == "init",
        Kotlin | TypeScript | Tsx | JavaScript => name == "constructor",
        _ => false,
    };
    match it.kind.is_callable() && is_constructor {
        true => Some("calls of its type"),
        false => called_by_language(language, it.kind, name),
    }
}

/// The callers of a function of this name that do not name it, in words for use after "called by"; `None`
/// where every caller names it. Such calls have no edge, so "no callers" would be wrong. The decision is by
/// name, as a reader would make it.
pub fn called_by_language(language: Language, kind: DefKind, name: &str) -> Option<&'static str> {
    let is_member = matches!(kind, DefKind::Method | DefKind::Property);
    let is_sign = |c: char| !c.is_alphanumeric() && !"_$@\"'~".contains(c);
    let is_meant = |pattern: &str| match pattern.strip_suffix('*') {
        Some("") => name.starts_with(is_sign),
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    let fits = |row: &&(Language, bool, &str, &str)| {
        row.0 == language && (is_member || !row.1) && row.2.split_ascii_whitespace().any(is_meant)
    };
    CALLED.iter().find(fits).map(|row| row.3).filter(|by| !by.is_empty())
}

const OPERATORS: &str = "operators and statements";
const LANGUAGE: &str = "the language";
const END: &str = "the end of a value";
const OF_VALUES: &str = "toString equals hashCode finalize compareTo close iterator clone";

/// The callers by language, and whether only members are meant. Each row has names (`a*` for a prefix and
/// `*` for signs) and their callers. The first row that fits counts.
#[rustfmt::skip]
const CALLED: [(Language, bool, &str, &str); 29] = [
    (Language::Python, true, "__init__ __new__", ""),
    (Language::Python, true, "__enter__ __exit__ __aenter__ __aexit__", "`with`"),
    (Language::Python, true, "__iter__ __next__ __aiter__ __anext__", "iteration"),
    (Language::Python, true, "__len__ __str__ __repr__ __bool__ __hash__ __int__ __float__ __bytes__ __format__", "built-in functions"),
    (Language::Python, true, "__call__", "calls of a value"),
    (Language::Python, true, "__getattr__ __setattr__ __delattr__ __getattribute__ __get__ __set__", "access to attributes"),
    (Language::Python, true, "__*", OPERATORS),
    (Language::Cpp, false, "~*", END),
    (Language::Cpp, false, "operator*", OPERATORS),
    (Language::Rust, true, "drop", END),
    (Language::Rust, true, "deref deref_mut index index_mut add sub mul div rem neg not add_assign sub_assign mul_assign \
        div_assign fmt eq ne partial_cmp cmp next into_iter poll", "operators, statements and macros"),
    (Language::Kotlin, false, "plus minus times div rem unaryPlus unaryMinus not inc dec rangeTo rangeUntil contains get set \
        invoke iterator next hasNext compareTo getValue setValue provideDelegate plusAssign minusAssign component*", OPERATORS),
    (Language::Kotlin, true, OF_VALUES, LANGUAGE),
    (Language::Java, true, OF_VALUES, LANGUAGE),
    (Language::Scala, true, "apply unapply update *", OPERATORS),
    (Language::Scala, true, OF_VALUES, LANGUAGE),
    (Language::Ruby, false, "*", OPERATORS),
    (Language::Ruby, false, "each to_s method_missing inherited included extended", LANGUAGE),
    (Language::Php, true, "__construct", ""),
    (Language::Php, true, "__*", LANGUAGE),
    (Language::Swift, true, "deinit", END),
    (Language::Swift, false, "subscript *", OPERATORS),
    (Language::CSharp, true, "this *", OPERATORS),
    (Language::Go, true, "String Error Format GoString", "printing"),
    (Language::Go, false, "init main", "the start of the program"),
    (Language::Lua, false, "__*", OPERATORS),
    (Language::TypeScript, true, "toString toJSON valueOf", LANGUAGE),
    (Language::Tsx, true, "toString toJSON valueOf", LANGUAGE),
    (Language::JavaScript, true, "toString toJSON valueOf", LANGUAGE),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_language_calls_is_known_by_its_name() {
        use DefKind::{Function, Method};
        for (language, kind, name, expect) in [
            (Language::Python, Method, "__enter__", Some("`with`")),
            (Language::Python, Method, "__len__", Some("built-in functions")),
            (Language::Python, Method, "__init__", None),
            (Language::Python, Method, "_len", None),
            (Language::Cpp, Function, "operator+", Some("operators and statements")),
            (Language::Cpp, Method, "~Pool", Some("the end of a value")),
            (Language::Rust, Method, "drop", Some("the end of a value")),
            (Language::Rust, Function, "drop", None),
            (Language::Kotlin, Function, "plus", Some("operators and statements")),
            (Language::Ruby, Method, "<=>", Some("operators and statements")),
            (Language::Php, Method, "__destruct", Some("the language")),
            (Language::Php, Method, "__construct", None),
            (Language::Go, Function, "init", Some("the start of the program")),
            (Language::Go, Function, "Init", None),
            (Language::Java, Method, "toString", Some("the language")),
            (Language::CSharp, Method, "+", Some("operators and statements")),
            (Language::Swift, Method, "deinit", Some("the end of a value")),
            (Language::Scala, Method, "apply", Some("operators and statements")),
            (Language::TypeScript, Method, "run", None),
        ] {
            assert_eq!(called_by_language(language, kind, name), expect, "{language:?} {name}");
        }
    }
}
