//! Names of definitions: qualified names and SCIP descriptors.

use crate::facts::{DefFlags, DefIdx, DefKind, Facts};

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
