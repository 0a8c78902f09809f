//! Dataflow between definitions, read off the links: arguments into the called function, values
//! written into fields and globals, and, where both ends are in this file, values read from fields
//! and results returned to the caller. A link starts in the file it belongs to, so a flow that comes
//! out of another file's definition is not recorded.

use super::Linker;
use indexd_model::{DefFlags, DefIdx, DefKind, DefRef, EdgeKind, Link, Links, Node, Role, Rule};
use rustc_hash::FxHashSet;

impl Linker<'_> {
    /// Adds dataflow links.
    pub(super) fn flow(&mut self, out: &mut Links) {
        let facts = self.facts(0);
        let here = self.loaded.doc(0);
        let mut with_args: FxHashSet<u32> = FxHashSet::default();
        for i in 0..facts.n_exprs() as u32 {
            if let Node::Call { callee, args } = facts.expr(indexd_model::ExprId(i)).node
                && args.len > 0
            {
                with_args.insert(facts.expr(callee).at);
            }
        }
        let mut flows: Vec<Link> = Vec::new();
        for link in &out.links {
            let target_def = link.target.def.some();
            if link.confidence < Rule::Inferred.confidence() || target_def.is_none() {
                continue;
            }
            let in_function = link.source.some().is_some_and(|s| facts.def(s).kind.is_callable());
            let local = |d: DefIdx| (link.target.file == here).then(|| facts.def(d));
            match (link.kind, link.role) {
                (EdgeKind::Call, _) => {
                    if with_args.contains(&link.at) {
                        flows.push(Link { kind: EdgeKind::Dataflow, ..*link });
                    }
                    let returns = target_def.and_then(local).is_some_and(|d| {
                        d.kind.is_callable() && !(d.returns.is_empty() && d.results.is_empty())
                    });
                    if returns && in_function && link.source != link.target.def {
                        flows.push(reversed(link, here));
                    }
                }
                (EdgeKind::Usage, Role::Write) if in_function => {
                    flows.push(Link { kind: EdgeKind::Dataflow, ..*link })
                }
                (EdgeKind::Usage, Role::Read) if in_function => {
                    let stored = target_def.and_then(local).is_some_and(|d| {
                        matches!(d.kind, DefKind::Field | DefKind::Variable) && !d.flags.has(DefFlags::LOCAL)
                    });
                    if stored {
                        flows.push(reversed(link, here));
                    }
                }
                _ => {}
            }
        }
        out.links.extend(flows);
    }
}

/// The flow from what a use names to the definition around the use.
fn reversed(link: &Link, here: indexd_model::FileDoc) -> Link {
    Link {
        kind: EdgeKind::Dataflow,
        source: link.target.def,
        target: DefRef { file: here, def: link.source },
        ..*link
    }
}
