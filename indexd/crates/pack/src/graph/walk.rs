//! A walk over edges: breadth first, within bounds.

/// The extent of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum edges from a start.
    pub hops: u32,
    /// Maximum nodes whose edges are read.
    pub nodes: u32,
}

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every node within the hops was visited.
    Done,
    /// Another bound left out nodes.
    Cut,
    /// It was cancelled.
    Cancelled,
}

/// Follows the edges of nodes in the order of a walk.
pub trait Visitor {
    /// A node, with what the visitor remembers of the way to it.
    type Node;

    /// Follows the edges of `node`, which end `hop` edges from a start, and adds the nodes at their ends to
    /// `next`.
    fn visit(&mut self, hop: u32, node: &Self::Node, next: &mut Vec<Self::Node>);

    /// Orders the nodes of the next level, or removes some, after all nodes of a level.
    fn arrange(&mut self, next: &mut Vec<Self::Node>);

    /// True if the walk must end.
    fn is_full(&self) -> bool {
        false
    }
}

/// Walks from `level`, in its order. Cancellation is checked before each node.
pub fn walk<V: Visitor>(
    visitor: &mut V,
    mut level: Vec<V::Node>,
    bounds: Bounds,
    cancel: &dyn Fn() -> bool,
) -> End {
    let mut n_nodes = 0;
    for hop in 1..=bounds.hops {
        let (mut next, mut end) = (Vec::new(), End::Done);
        for node in &level {
            if cancel() {
                return End::Cancelled;
            }
            if n_nodes >= bounds.nodes || visitor.is_full() {
                end = End::Cut;
                break;
            }
            n_nodes += 1;
            visitor.visit(hop, node, &mut next);
        }
        visitor.arrange(&mut next);
        if end == End::Cut {
            return end;
        }
        level = next;
    }
    End::Done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits the numbers whose half a node is, and notes each visit.
    struct Halves(Vec<(u32, u32)>, usize);

    impl Visitor for Halves {
        type Node = u32;

        fn visit(&mut self, hop: u32, node: &u32, next: &mut Vec<u32>) {
            self.0.push((hop, *node));
            next.extend([2 * node + 1, 2 * node]);
        }

        fn arrange(&mut self, next: &mut Vec<u32>) {
            next.sort_unstable();
        }

        fn is_full(&self) -> bool {
            self.0.len() == self.1
        }
    }

    #[test]
    fn nodes_are_visited_by_level_until_a_bound() {
        let all = [(1, 1), (2, 2), (2, 3), (3, 4), (3, 5), (3, 6), (3, 7)];
        for (hops, nodes, full, n_visited, end) in [
            (3, 99, 99, 7, End::Done),
            (2, 99, 99, 3, End::Done),
            (3, 4, 99, 4, End::Cut),
            (3, 99, 5, 5, End::Cut),
            (0, 99, 99, 0, End::Done),
        ] {
            let mut visitor = Halves(Vec::new(), full);
            assert_eq!(walk(&mut visitor, vec![1], Bounds { hops, nodes }, &|| false), end);
            assert_eq!(visitor.0, all[..n_visited]);
        }
        let mut visitor = Halves(Vec::new(), 99);
        assert_eq!(walk(&mut visitor, vec![1], Bounds { hops: 3, nodes: 9 }, &|| true), End::Cancelled);
        assert_eq!(visitor.0, []);
    }
}
