//! Imports and exports of TypeScript and JavaScript, CommonJS included.
//!
//! A name that a file only passes on is an import of level 1: `export { a as b } from './x'`, and, with an
//! empty module, names of its own that it exports under other names (`export { a as b }`, `export default a`,
//! `module.exports = a`).

mod declare;
mod expr;
mod jsdoc;
mod kinds;
mod narrow;
mod types;
mod visit;

pub(super) use kinds::Kinds;
pub(super) use visit::uses;

use super::base_keys;
use super::table::{Define, Keys, Name};
use super::walk::Walk;
use indexd_model::facts::ImportKind;
use indexd_model::key::ECMA_GLOBAL;
use indexd_model::lists::holds;
use indexd_model::names::qualified_name;
use indexd_model::{Def, DefFlags, DefIdx, DefKind, Facts, Key, Language};
use tree_sitter::Node;

/// Values that make a variable a function.
pub(super) const FUNCTIONS: &[&str] = &["arrow_function", "function_expression", "generator_function"];

/// Kinds of functions without a body: type literals in them are seen from elsewhere.
pub(super) const SIGNATURES: &[&str] = &["method_signature", "abstract_method_signature"];

/// Kinds of parameters that may be fields as well.
pub(super) const PARAMETERS: &[&str] = &["required_parameter", "optional_parameter"];

/// Kinds of names in patterns.
pub(super) const PATTERNS: &[&str] = &["shorthand_property_identifier_pattern", "pair_pattern", "identifier"];

/// Returns true if a node with a rule for a name defines that name: a computed key names nothing, and a
/// pattern may take a parameter apart.
pub(super) fn is_definition(node: Node, kind: &str, is_function: bool) -> bool {
    let is_computed =
        |field: &str| node.child_by_field_name(field).is_some_and(|n| n.kind() == "computed_property_name");
    if !is_function && kind != "method_definition" && (is_computed("name") || is_computed("key")) {
        return false;
    }
    if kind == "class" {
        // A class has the name of the variable or member that it is assigned to.
        const NAMING: &str =
            "variable_declarator public_field_definition pair assignment_expression export_statement";
        return !node.parent().is_some_and(|p| holds(NAMING, p.kind()));
    }
    let is_pattern = |n: Node| matches!(n.kind(), "object_pattern" | "array_pattern");
    if kind == "variable_declarator" && node.child_by_field_name("name").is_some_and(is_pattern) {
        return false;
    }
    if kind == "pair_pattern" && node.child_by_field_name("value").is_none_or(|v| v.kind() != "identifier") {
        return false;
    }
    if !PATTERNS.contains(&kind) {
        return true;
    }
    let mut around = node.parent();
    while let Some(n) = around {
        match n.kind() {
            "variable_declarator" => return true,
            kind if kind.ends_with("_pattern") => around = n.parent(),
            _ => return false,
        }
    }
    false
}

/// The unnamed value of `export default`.
static UNNAMED: Define =
    Define::new("export_statement", DefKind::Variable).named(Name::Word(DEFAULT)).or_function(FUNCTIONS);

/// Tells if a parameter or an assignment declares a field of a class.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OfClass {
    /// It is neither.
    No,
    /// It declares no field.
    None,
    Of(DefIdx),
}

impl OfClass {
    pub(super) fn class(self) -> Option<DefIdx> {
        match self {
            Self::Of(class) => Some(class),
            Self::No | Self::None => None,
        }
    }
}

/// Marks a definition as a field by a parameter or an assignment, a member of a value, or a name in an
/// exported pattern.
pub(super) fn mark_member(def: &mut Def, of_class: OfClass, is_of_value: bool, is_passed_on: bool) {
    if is_passed_on {
        def.flags.set(DefFlags::EXPORTED);
    }
    if of_class.class().is_some() {
        def.kind = DefKind::Field;
        def.flags = DefFlags::INSTANCE.with(DefFlags(def.flags.0 & DefFlags::EXPORTED.0));
    } else if is_of_value {
        def.flags.set(DefFlags::OF_VALUE);
    }
}

/// Returns true if the entries of a node of this kind are members of a value, or of a type without a name.
pub(super) fn holds_members(kind: &str) -> bool {
    matches!(kind, "object" | "object_type")
}

/// `declare global`, whose names all files see.
static GLOBAL: Define = Define::new("ambient_declaration", DefKind::Module)
    .named(Name::Word(GLOBAL_NAME))
    .body(&["statement_block"]);

/// The name of the block that declares what all files see.
const GLOBAL_NAME: &str = "global";

/// The definition of a node around declarations.
pub(super) fn wrapped(node: Node) -> Option<&'static Define> {
    let mut cursor = node.walk();
    if is_unnamed_default(node) {
        return Some(&UNNAMED);
    }
    let is_global =
        node.kind() == "ambient_declaration" && node.children(&mut cursor).any(|c| c.kind() == GLOBAL_NAME);
    is_global.then_some(&GLOBAL)
}

/// Returns true if an export has an unnamed value.
fn is_unnamed_default(node: Node) -> bool {
    let mut cursor = node.walk();
    let is_default = node.kind() == "export_statement"
        && node.child_by_field_name("declaration").is_none()
        && node.children(&mut cursor).any(|c| c.kind() == DEFAULT);
    is_default
        && node.child_by_field_name("value").is_some_and(|v| {
            v.kind() != "identifier" && (v.kind() == "object" || v.child_by_field_name("name").is_none())
        })
}

/// The name of the export of a module as a whole.
const DEFAULT: &str = "default";

/// Returns true if a language is TypeScript or JavaScript.
pub(super) fn is_ecma(language: Language) -> bool {
    matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript)
}

/// Adds what a node imports or passes on; false when the node is to be read on as a definition or
/// an expression.
pub(super) fn import(walk: &mut Walk, node: Node) -> bool {
    match node.kind() {
        "import_statement" => import_statement(walk, node),
        "export_statement" => {
            export_statement(walk, node);
            false
        }
        "variable_declarator" => declared(walk, node),
        "assignment_expression" => {
            assigned(walk, node);
            false
        }
        _ => match required(walk, node) {
            Some(source) => {
                bare(walk, node, source);
                true
            }
            None => false,
        },
    }
}

/// The text of a string and where it starts, without its quotes.
fn unquoted<'s>(walk: &Walk<'s, '_>, string: Node) -> (&'s str, u32) {
    let text = walk.slice(string);
    let inner = text.trim_matches(['"', '\'', '`']);
    (inner, string.start_byte() as u32 + u32::from(inner.len() < text.len()))
}

fn bare(walk: &mut Walk, node: Node, source: Node) {
    let (module, at) = unquoted(walk, source);
    let module = walk.b.str(module);
    walk.add_import(node, module, None, None, ImportKind::Blank, at, 0);
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn import_statement(walk: &mut Walk, node: Node) -> bool {
    let parts = children(node);
    if let Some(clause) = parts.iter().find(|c| c.kind() == "import_require_clause") {
        let (Some(source), Some(name)) = (clause.child_by_field_name("source"), clause.named_child(0)) else {
            return true;
        };
        whole(walk, node, source, name, 0);
        return true;
    }
    let Some(source) = node.child_by_field_name("source") else { return true };
    let Some(clause) = parts.iter().find(|c| c.kind() == "import_clause") else {
        bare(walk, node, source);
        return true;
    };
    for part in children(*clause) {
        match part.kind() {
            "identifier" => named(walk, node, Some(source), part, Some(DEFAULT), Some(walk.slice(part)), 0),
            "namespace_import" => {
                if let Some(name) = part.named_child(0) {
                    whole(walk, node, source, name, 0);
                }
            }
            "named_imports" => specifiers(walk, node, Some(source), part, 0),
            _ => {}
        }
    }
    true
}

/// `* as name`, or the module as a value.
fn whole(walk: &mut Walk, node: Node, source: Node, name: Node, level: u16) {
    let (module, at) = unquoted(walk, source);
    let (module, alias) = (walk.b.str(module), walk.slice(name));
    let alias = walk.b.str(alias);
    walk.add_import(node, module, None, Some(alias), ImportKind::Module, at, level);
}

/// Adds one name of a module; `name` is at `at`.
fn named<'s>(
    walk: &mut Walk<'s, '_>,
    node: Node,
    source: Option<Node>,
    at: Node,
    name: Option<&'s str>,
    alias: Option<&'s str>,
    level: u16,
) {
    let module = source.map_or("", |s| unquoted(walk, s).0);
    let name = name.unwrap_or_else(|| unquoted(walk, at).0);
    let alias = alias.unwrap_or(name);
    let (module, name, alias) = (walk.b.str(module), walk.b.str(name), walk.b.str(alias));
    let start = at.start_byte() as u32;
    walk.add_import(node, module, Some(name), Some(alias), ImportKind::Name, start, level);
}

fn specifiers(walk: &mut Walk, node: Node, source: Option<Node>, list: Node, level: u16) {
    for part in children(list) {
        let Some(name) = part.child_by_field_name("name") else { continue };
        let alias = part.child_by_field_name("alias").map(|a| unquoted(walk, a).0);
        named(walk, node, source, name, None, alias, level);
    }
}

fn export_statement(walk: &mut Walk, node: Node) {
    let source = node.child_by_field_name("source");
    let parts = children(node);
    if let Some(list) = parts.iter().find(|c| c.kind() == "export_clause") {
        return specifiers(walk, node, source, *list, 1);
    }
    if let Some(source) = source {
        match parts.iter().find(|c| c.kind() == "namespace_export").and_then(|n| n.named_child(0)) {
            Some(name) => whole(walk, node, source, name, 1),
            None => {
                let (module, at) = unquoted(walk, source);
                let (module, star) = (walk.b.str(module), walk.b.str("*"));
                walk.add_import(node, module, Some(star), None, ImportKind::All, at, 1);
            }
        }
        return;
    }
    let mut cursor = node.walk();
    let is_whole = node.children(&mut cursor).any(|c| matches!(c.kind(), "default" | "="));
    let value = ["value", "declaration"].iter().find_map(|f| node.child_by_field_name(f));
    let value = value.or_else(|| parts.iter().copied().find(|c| c.kind() == "identifier"));
    if let (true, Some(value)) = (is_whole, value) {
        let name = if value.kind() == "identifier" { Some(value) } else { value.child_by_field_name("name") };
        if let Some(name) = name {
            named(walk, node, None, name, None, Some(DEFAULT), 1);
        }
    }
}

/// The string of `require('x')` or `import('x')`.
fn required<'t>(walk: &Walk, node: Node<'t>) -> Option<Node<'t>> {
    // Most calls are of something else, and fields are looked up by name.
    if !["require", "import", "await"].iter().any(|w| walk.slice(node).starts_with(w)) {
        return None;
    }
    let call = match node.kind() {
        "await_expression" => node.named_child(0)?,
        _ => node,
    };
    let function = call.child_by_field_name("function").filter(|_| call.kind() == "call_expression")?;
    if !matches!(walk.slice(function), "require" | "import") {
        return None;
    }
    call.child_by_field_name("arguments")?.named_child(0).filter(|a| a.kind() == "string")
}

/// `const x = require('y')`, `const { a, b: c } = require('y')`, `const d = require('y').d`.
fn declared(walk: &mut Walk, node: Node) -> bool {
    let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
    else {
        return false;
    };
    let member = (value.kind() == "member_expression")
        .then(|| Some((value.child_by_field_name("object")?, value.child_by_field_name("property")?)))
        .flatten();
    let source = required(walk, member.map_or(value, |m| m.0));
    let (Some(source), name_kind) = (source, name.kind()) else { return false };
    match (member, name_kind) {
        (Some((_, property)), "identifier") => {
            named(walk, node, Some(source), property, None, Some(walk.slice(name)), 0)
        }
        (None, "identifier") => whole(walk, node, source, name, 0),
        (None, "object_pattern") => {
            for part in children(name) {
                match part.kind() {
                    "shorthand_property_identifier_pattern" => {
                        named(walk, node, Some(source), part, None, None, 0)
                    }
                    "pair_pattern" => {
                        let (key, alias) =
                            (part.child_by_field_name("key"), part.child_by_field_name("value"));
                        if let (Some(key), Some(alias)) = (key, alias.filter(|a| a.kind() == "identifier")) {
                            named(walk, node, Some(source), key, None, Some(walk.slice(alias)), 0);
                        }
                    }
                    _ => {}
                }
            }
        }
        _ => return false,
    }
    true
}

/// `module.exports = ...` and `exports.a = ...`.
fn assigned(walk: &mut Walk, node: Node) {
    if !["module", "exports"].iter().any(|w| walk.slice(node).starts_with(w)) {
        return;
    }
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    let mut right = right;
    while right.kind() == "assignment_expression"
        && let Some(last) = right.child_by_field_name("right")
    {
        right = last;
    }
    let target = walk.slice(left);
    let exported = target.strip_prefix("module.").unwrap_or(target);
    if exported == "exports" {
        match right.kind() {
            "identifier" => named(walk, node, None, right, None, Some(DEFAULT), 1),
            "object" => object_exports(walk, node, right),
            _ => {
                let name = right.child_by_field_name("name").map(|n| walk.slice(n)).unwrap_or("exports");
                named(walk, node, None, left, Some(name), Some(DEFAULT), 1);
            }
        }
    } else if let (Some(name), Some(property)) =
        (exported.strip_prefix("exports."), left.child_by_field_name("property"))
    {
        if let Some(source) = required(walk, right) {
            return whole(walk, node, source, property, 1);
        }
        let (at, own) =
            if right.kind() == "identifier" { (right, walk.slice(right)) } else { (property, name) };
        named(walk, node, None, at, Some(own), Some(name), 1);
    }
}

fn object_exports(walk: &mut Walk, node: Node, object: Node) {
    for part in children(object) {
        match part.kind() {
            "shorthand_property_identifier" => named(walk, node, None, part, None, None, 1),
            "pair" => {
                let (key, value) = (part.child_by_field_name("key"), part.child_by_field_name("value"));
                if let (Some(key), Some(value)) = (key, value.filter(|v| v.kind() == "identifier")) {
                    let (key, value_text) = (unquoted(walk, key).0, walk.slice(value));
                    named(walk, node, None, value, Some(value_text), Some(key), 1);
                }
            }
            _ => {}
        }
    }
}

/// Returns true if a definition is a function assigned to `exports.a` or `module.exports`.
fn is_export(facts: &Facts, def: &Def) -> bool {
    let receiver = def.receiver.map_or("", |r| facts.str(r));
    def.parent == DefIdx::NONE && matches!(receiver, "exports" | "module.exports" | "module")
}

/// Under which keys others find what a module exports and what its functions hold, a class by its bases, what a file
/// adds to types of other modules, and what it declares for all of them: in `declare global`, and at the top of
/// declarations that are not a module.
pub(super) fn keys(facts: &Facts, idx: DefIdx, module: &str, out: &mut Keys) {
    let def = facts.def(idx);
    if is_export(facts, def) {
        out.push((Key::member(module, facts.str(def.name)), idx));
    }
    out.push((Key::member(module, &qualified_name(facts, idx)), idx));
    let is_global = match def.parent.some().map(|p| facts.def(p)) {
        Some(p) => p.kind == DefKind::Module && p.parent == DefIdx::NONE && facts.str(p.name) == GLOBAL_NAME,
        None => module.ends_with(".d.ts") && def.receiver.is_none() && is_script(facts),
    };
    if is_global {
        out.push((Key::any(ECMA_GLOBAL, facts.str(def.name)), idx));
    }
    base_keys(facts, idx, "ecma-base", out);
    let owner = def.parent.some().filter(|o| facts.def(*o).kind == DefKind::Interface);
    let around = owner.and_then(|o| facts.def(o).parent.some());
    if let (Some(owner), Some(around)) = (owner, around)
        && facts.def(around).kind == DefKind::Module
    {
        let name = format!("{}.{}", facts.def_name(owner), facts.str(def.name));
        out.push((Key::any("ecma", &name), idx));
    }
}

/// Returns true if a file neither imports nor exports.
fn is_script(facts: &Facts) -> bool {
    let is_exported = |d: &Def| d.parent == DefIdx::NONE && d.flags.has(DefFlags::EXPORTED);
    facts.interface.imports.is_empty() && !facts.interface.defs.iter().any(is_exported)
}

/// Marks the definitions that a list of exports names.
pub(super) fn mark_exported(walk: &mut Walk) {
    let own: Vec<_> =
        walk.b.imports.iter().filter(|i| i.level == 1 && walk.b.text(i.module).is_empty()).collect();
    let names: Vec<_> = own.iter().filter_map(|i| i.name).collect();
    for def in walk.b.defs.iter_mut().filter(|d| d.parent == DefIdx::NONE && names.contains(&d.name)) {
        def.flags.set(DefFlags::EXPORTED);
    }
}
