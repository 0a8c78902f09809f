//! How many ways lead through a function.
//!
//! The metric is McCabe's cyclomatic number in its modified form: 1, and 1 for each `if`, `while`, `for`,
//! `match`, guard of an arm, `&&` and `||`. A `match` counts once however many arms it has, as a table
//! does; what its arms decide is counted in them. Closures count where they stand; a function inside
//! another is one of its own. Tests and generated code are not measured.

use anyhow::{Context, Result, bail};
use std::path::Path;
use tree_sitter::{Node, Parser};

/// The most of a function that is not listed.
pub const MOST: u32 = 15;
/// Functions that may have more, with the reason of each.
const LISTED: &str = include_str!("../complexity.txt");

/// A function and its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measured {
    /// The number.
    pub number: u32,
    /// `path:name`.
    pub name: String,
}

/// Measures every function of the product, the largest number first.
///
/// # Errors
/// When a file cannot be read or parsed.
pub fn measure(top: &Path) -> Result<Vec<Measured>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_rust::LANGUAGE.into()).context("the grammar of Rust")?;
    let mut out = Vec::new();
    for (path, text) in crate::sources(top)?.into_iter().filter(|(path, _)| is_measured(path)) {
        let tree = parser.parse(&text, None).with_context(|| format!("{path} cannot be parsed"))?;
        functions(tree.root_node(), &text, &path, &mut out);
    }
    out.sort_by(|a: &Measured, b: &Measured| b.number.cmp(&a.number).then_with(|| a.name.cmp(&b.name)));
    Ok(out)
}

/// Fails when a function that is not listed has more than [`MOST`], or a listed one no longer has.
///
/// # Errors
/// The functions at fault.
pub fn check(top: &Path) -> Result<()> {
    let listed: Vec<&str> = LISTED
        .lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty())
        .map(|l| l.split(' ').next().unwrap_or(l))
        .collect();
    let measured = measure(top)?;
    let above: Vec<&Measured> = measured.iter().filter(|m| m.number > MOST).collect();
    let mut wrong: Vec<String> = above
        .iter()
        .filter(|m| !listed.contains(&m.name.as_str()))
        .map(|m| format!("{} has {}, {MOST} are allowed: split it", m.name, m.number))
        .collect();
    let is_above = |name: &str| above.iter().any(|m| m.name == name);
    let idle = listed.iter().filter(|name| !is_above(name));
    wrong
        .extend(idle.map(|name| format!("{name} is listed in scripts/xtask/complexity.txt and need not be")));
    if !wrong.is_empty() {
        bail!("cyclomatic complexity:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// Returns true for a file of the product.
fn is_measured(path: &str) -> bool {
    const OTHERS: [&str; 5] = ["tests", "benches", "examples", "fixtures", "tests.rs"];
    let is_of = |top: &&str| path.split('/').next() == Some(top);
    ["indexd", "proto", "ctlclient", "scripts"].iter().any(is_of)
        && !path.split('/').any(|part| OTHERS.contains(&part))
}

/// Measures the functions below a node.
fn functions(node: Node, text: &str, path: &str, out: &mut Vec<Measured>) {
    let mut cursor = node.walk();
    let mut is_test = false;
    for child in node.children(&mut cursor) {
        match child.kind() {
            "attribute_item" => is_test |= text[child.byte_range()].contains("test"),
            "line_comment" | "block_comment" => {}
            _ if std::mem::take(&mut is_test) => {}
            "function_item" => {
                let name = child.child_by_field_name("name").map_or("", |n| &text[n.byte_range()]);
                out.push(Measured { number: 1 + decisions(child), name: format!("{path}:{name}") });
                functions(child, text, path, out);
            }
            _ => functions(child, text, path, out),
        }
    }
}

/// The decisions in a function, without those of functions inside it.
fn decisions(node: Node) -> u32 {
    let mut cursor = node.walk();
    let mut n = 0;
    for child in node.children(&mut cursor) {
        n += match child.kind() {
            "function_item" => continue,
            "if_expression" | "while_expression" | "for_expression" | "match_expression" | "&&" | "||" => 1,
            // `||` may also begin a closure without parameters, which is not a decision.
            _ => 0,
        };
        // The guard of an arm.
        if child.kind() == "match_pattern" && child.child_by_field_name("condition").is_some() {
            n += 1;
        }
        if child.kind() != "closure_parameters" {
            n += decisions(child);
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_has_too_many_ways() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
    }

    #[test]
    fn decisions_are_counted() {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_rust::LANGUAGE.into()).unwrap();
        let check = |text: &str, expected: &[(&str, u32)]| {
            let tree = parser.parse(text, None).unwrap();
            let mut out = Vec::new();
            functions(tree.root_node(), text, "x", &mut out);
            let got: Vec<(String, u32)> = out.into_iter().map(|m| (m.name, m.number)).collect();
            let expected: Vec<(String, u32)> = expected.iter().map(|(n, c)| (format!("x:{n}"), *c)).collect();
            assert_eq!(got, expected, "{text}");
        };
        let mut check = check;
        check("fn a() {}", &[("a", 1)]);
        check("fn a() { if x && y || z {} else if w {} }", &[("a", 5)]);
        check("fn a() { match x { 1 => 1, 2 if y => 2, _ => 3 } }", &[("a", 3)]);
        check("fn a() { for x in y { while z {} } }", &[("a", 3)]);
        check("fn a() { f(|| 1); fn b() { if x {} } }", &[("a", 1), ("b", 2)]);
        check("#[cfg(test)]\nmod tests { fn t() { if x {} } }\nfn a() {}", &[("a", 1)]);
        check("impl X { #[test]\n fn t() {}\n fn m(&self) { if let Some(x) = y {} } }", &[("m", 2)]);
    }
}
