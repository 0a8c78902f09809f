//! Dataflow between definitions, read off the links: arguments into the called function, returned
//! values out of it, values written into fields and globals, and values read from them.

use indexd_model::{
    DefFlags, DefIdx, DefKind, DefRef, EdgeKind, ExprId, Facts, FileDoc, Link, Links, Node, Role, Rule,
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
    let mut with_args: FxHashSet<u32> = FxHashSet::default();
    for i in 0..facts.n_exprs() as u32 {
        if let Node::Call { callee, args } = facts.expr(ExprId(i)).node
            && args.len > 0
        {
            with_args.insert(name_of_called(facts, callee));
        }
    }
    let mut seen: FxHashSet<(DefIdx, DefRef, EdgeKind)> = FxHashSet::default();
    let mut flows: Vec<Link> = Vec::new();
    for link in &out.links {
        let Some(target) = link.target.def.some() else { continue };
        let is_itself = link.target == DefRef { file: here, def: link.source };
        if link.confidence < Rule::Inferred.confidence() || is_itself {
            continue;
        }
        let in_function = link.source.some().is_some_and(|s| facts.def(s).kind.is_callable());
        let (gives, takes) = match (link.kind, link.role) {
            (EdgeKind::Call, _) => {
                (with_args.contains(&link.at), in_function && returns(facts_of(link.target.file), target))
            }
            (EdgeKind::Usage, Role::Write) => (in_function, false),
            (EdgeKind::Usage, Role::Read) => {
                (false, in_function && is_stored(facts_of(link.target.file), target))
            }
            _ => continue,
        };
        for (is_there, kind) in [(gives, EdgeKind::Dataflow), (takes, EdgeKind::DataflowIn)] {
            if is_there && seen.insert((link.source, link.target, kind)) {
                flows.push(Link { kind, ..*link });
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
