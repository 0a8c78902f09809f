//! Dataflow between definitions, read off the links: arguments into the called function, returned
//! values out of it, values written into fields and globals, and values read from them.

use indexd_model::{
    DefFlags, DefIdx, DefKind, DefRef, EdgeKind, Expr, ExprId, Facts, FileDoc, Link, Links, Node, Role, Rule,
};
use rustc_hash::FxHashSet;

/// Adds dataflow links to those of the file `here`, one for each pair of definitions and direction.
/// `facts_of` reads the file of a target.
pub(crate) fn add<'a>(
    facts: Facts<'a>,
    here: FileDoc,
    facts_of: impl Fn(FileDoc) -> Facts<'a>,
    out: &mut Links,
) {
    let named = |(_, e): (ExprId, Expr)| match e.node {
        Node::Call { callee, args } if args.len > 0 => Some(name_of_called(facts, callee)),
        _ => None,
    };
    let with_args: FxHashSet<u32> = crate::exprs(facts).filter_map(named).collect();
    add_where(here, out, |link, target| {
        let in_function = link.source.some().is_some_and(|s| facts.def(s).kind.is_callable());
        let file = link.target.file;
        let (gives, takes) = match (link.kind, link.role) {
            _ if link.confidence < Rule::Inferred.confidence() => (false, false),
            (EdgeKind::Call, _) => {
                (with_args.contains(&link.at), in_function && returns(facts_of(file), target))
            }
            (EdgeKind::Usage, Role::Write) => (in_function, false),
            (EdgeKind::Usage, Role::Read) => (false, in_function && is_stored(facts_of(file), target)),
            _ => (false, false),
        };
        [gives.then_some(link.role), takes.then_some(link.role)]
    });
}

/// Adds dataflow links to those of the file `here`, one for each pair of definitions and direction. `ways` returns
/// the role of a link whose target a value goes into, and of one whose target a value comes out of.
pub(crate) fn add_where(
    here: FileDoc,
    out: &mut Links,
    mut ways: impl FnMut(&Link, DefIdx) -> [Option<Role>; 2],
) {
    let mut seen: FxHashSet<(DefIdx, DefRef, EdgeKind)> = FxHashSet::default();
    let mut flows: Vec<Link> = Vec::new();
    for link in &out.links {
        let Some(target) = link.target.def.some() else { continue };
        if link.target == (DefRef { file: here, def: link.source }) {
            continue;
        }
        let roles = ways(link, target);
        for (role, kind) in roles.into_iter().zip([EdgeKind::Dataflow, EdgeKind::DataflowIn]) {
            if let Some(role) = role
                && seen.insert((link.source, link.target, kind))
            {
                flows.push(Link { kind, role, ..*link });
            }
        }
    }
    out.links.extend(flows);
}

/// Returns the place of the name of the callee, behind words and before type arguments.
fn name_of_called(facts: Facts, mut callee: ExprId) -> u32 {
    while let Node::Word { value: inner, .. } | Node::Apply { base: inner, .. } = facts.expr(callee).node {
        callee = inner;
    }
    facts.expr(callee).at
}

/// Returns true if a value comes out of a call. A class returns the object that it makes, which is not a
/// flow.
fn returns(facts: Facts, def: DefIdx) -> bool {
    let d = facts.def(def);
    d.kind.is_callable() && !(d.returns.is_empty() && d.results.is_empty())
}

/// Returns true if the definition holds a value: a field, a global, or a property, which computes one.
fn is_stored(facts: Facts, def: DefIdx) -> bool {
    let d = facts.def(def);
    matches!(d.kind, DefKind::Field | DefKind::Variable | DefKind::Property) && !d.flags.has(DefFlags::LOCAL)
}
