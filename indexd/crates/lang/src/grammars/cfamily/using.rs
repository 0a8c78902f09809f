//! What C and C++ bring into a scope by `using` and aliases of namespaces, and under which keys other files find
//! definitions.

use crate::grammars::base_keys;
use crate::grammars::table::Keys;
use crate::grammars::walk::Walk;
use indexd_model::facts::ImportKind;
use indexd_model::path::file_name_of;
use indexd_model::{DefFlags, DefIdx, DefKind, Facts, Key};
use tree_sitter::Node;

/// Adds what a declaration brings into its scope: `using a::b`, `using namespace a` or `namespace x = a`. Its
/// module is a name with dots; a namespace of which all is brought has the name `*`.
pub(in crate::grammars) fn scoped_import(walk: &mut Walk, node: Node) {
    let mut cursor = node.walk();
    let parts: Vec<Node> = node.named_children(&mut cursor).collect();
    let Some(target) = parts.last().copied() else { return };
    let text = walk.slice(target);
    let path = text.trim_start_matches("::").replace("::", ".").replace(char::is_whitespace, "");
    let last = path.rsplit('.').next().unwrap_or("").to_owned();
    let at = target.end_byte() as u32 - last.len() as u32;
    let module = walk.b.string(&path);
    let has = |word: &str| walk.slice(node).split_whitespace().take(2).any(|w| w == word);
    if node.kind() == "namespace_alias_definition" {
        let alias = node.child_by_field_name("name").map(|n| walk.slice(n));
        let alias = alias.map(|a| walk.b.str(a));
        walk.add_import(node, module, None, alias, ImportKind::Module, at, 0);
    } else if has("namespace") {
        let star = walk.b.str("*");
        walk.add_import(node, module, Some(star), None, ImportKind::All, at, 0);
    } else {
        let name = walk.b.string(&last);
        walk.add_import(node, module, Some(name), Some(name), ImportKind::Name, at, 0);
    }
}

/// Under which keys other files find a definition: by its name where it stands in namespaces alone, by the
/// name of its type and its own where it is the body of a member, and a class by its bases.
pub(in crate::grammars) fn keys(facts: &Facts, idx: DefIdx, module: &str, out: &mut Keys) {
    let def = facts.def(idx);
    let name = facts.str(def.name);
    if def.flags.has(DefFlags::LOCAL) {
        return;
    }
    if is_body(facts, def) {
        out.push((Key::any("c-body", name), idx));
    }
    let around = enumeration(facts, def.parent).map(|e| facts.def(e).parent);
    let is_seen = is_in_namespace(facts, def.parent) || around.is_some_and(|p| is_in_namespace(facts, p));
    if def.receiver.is_none() && is_seen {
        out.push((Key::any("c", name), idx));
    }
    if def.receiver.is_some() && def.kind.is_type() {
        out.push((Key::any("c-nested", name), idx));
    }
    // In C, what a struct holds is not hidden by it: types, and enumerators of those with and without a name.
    let is_inner = around.is_some_and(|p| !is_in_namespace(facts, p))
        || def.kind.is_type()
        || def.kind == DefKind::Constant;
    if is_inner && !is_seen {
        out.push((Key::any("c-inner", name), idx));
    }
    // An enumerator is a member of the class around as well.
    if let Some(class) = around.and_then(|c| c.some()) {
        let name = format!("{}.{name}", indexd_model::names::qualified_name(facts, class));
        out.push((Key::member(module, &name), idx));
    }
    let parts = Some(name).filter(|_| def.kind == DefKind::Module);
    parts.into_iter().flat_map(|n| n.split('.')).for_each(|p| out.push((Key::any("c-namespace", p), idx)));
    base_keys(facts, idx, "base:cpp", out);
}

/// Under which keys others find a file: by its name, by what it includes, and by the names that it brings into a scope.
pub(in crate::grammars) fn file_keys(facts: &Facts, path: &str, out: &mut Keys) {
    // Includes are looked up by the last part of their path.
    out.push((Key::any("c-file", file_name_of(path)), DefIdx::NONE));
    for import in &facts.interface.imports {
        match (import.kind, import.name, import.alias) {
            (ImportKind::All, None, _) => {
                let name = file_name_of(facts.str(import.module));
                out.push((Key::any("c-includes", name), DefIdx::NONE));
            }
            (_, _, Some(alias)) => out.push((Key::any("c-using", facts.str(alias)), DefIdx::NONE)),
            _ => {}
        }
    }
}

/// Whether a definition is the body of a function that may be announced elsewhere.
fn is_body(facts: &Facts, def: &indexd_model::Def) -> bool {
    let has_body = def.kind.is_callable() && def.span.end > def.head.end + 1;
    has_body && (def.receiver.is_some() || is_in_namespace(facts, def.parent))
}

/// The enumeration whose enumerators are seen around it, where `parent` is one.
fn enumeration(facts: &Facts, parent: DefIdx) -> Option<DefIdx> {
    let it = facts.def(parent.some()?);
    let is_one = match it.kind {
        DefKind::Enum => !it.flags.has(DefFlags::STATIC),
        DefKind::Alias => true,
        _ => false,
    };
    is_one.then_some(parent)
}

fn is_in_namespace(facts: &Facts, parent: DefIdx) -> bool {
    parent.some().is_none_or(|p| {
        let it = facts.def(p);
        it.kind == DefKind::Module && is_in_namespace(facts, it.parent)
    })
}
