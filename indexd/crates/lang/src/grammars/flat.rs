//! A syntax tree as a list: each node before what is in it, so that several passes over a file cost one walk.

use tree_sitter::Node;

/// The nodes of a tree in source order; a node is meant by its place in the list.
pub(super) struct Flat<'t> {
    all: Vec<Entry<'t>>,
    depth: usize,
}

struct Entry<'t> {
    node: Node<'t>,
    kind: u16,
    /// The field of the node around that it stands in; 0 for none.
    field: u16,
    /// Behind the last node in it.
    end: u32,
    parent: u32,
    is_named: bool,
}

impl<'t> Flat<'t> {
    pub(super) fn new(root: Node<'t>) -> Self {
        let mut all: Vec<Entry> = Vec::with_capacity(root.descendant_count());
        let mut cursor = root.walk();
        let (mut parent, mut depth, mut depth_max) = (0, 0usize, 0);
        'all: loop {
            let (node, at) = (cursor.node(), all.len() as u32);
            all.push(Entry {
                node,
                kind: node.kind_id(),
                field: cursor.field_id().map_or(0, |f| f.get()),
                end: at + 1,
                parent,
                is_named: node.is_named(),
            });
            if cursor.goto_first_child() {
                parent = at;
                depth += 1;
                depth_max = depth_max.max(depth);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'all;
                }
                depth -= 1;
                all[parent as usize].end = all.len() as u32;
                parent = all[parent as usize].parent;
            }
        }
        Self { all, depth: depth_max }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many nodes are around the one that lies deepest.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn node(&self, at: usize) -> Node<'t> {
        self.all[at].node
    }

    pub(super) fn kind_id(&self, at: usize) -> usize {
        usize::from(self.all[at].kind)
    }

    pub(super) fn field(&self, at: usize) -> u16 {
        self.all[at].field
    }

    pub(super) fn is_leaf(&self, at: usize) -> bool {
        self.all[at].end as usize == at + 1
    }

    /// The node around; `None` for the whole file.
    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        (at > 0).then(|| self.all[at].parent as usize)
    }

    /// The node right before one in the same parent, tokens included.
    pub(super) fn sibling_before(&self, at: usize) -> Option<usize> {
        let parent = self.parent(at)?;
        // What stands before a node is the last node in the one before it.
        let mut up =
            std::iter::successors(at.checked_sub(1), |n| self.parent(*n)).take_while(|n| *n > parent);
        up.find(|n| self.parent(*n) == Some(parent))
    }

    /// A node and all that is in it.
    pub(super) fn within(&self, at: usize) -> std::ops::Range<usize> {
        at..self.all[at].end as usize
    }

    /// The nodes directly in one, tokens included.
    pub(super) fn tokens(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.all[at].end as usize;
        let first = Some(at + 1).filter(|c| *c < end);
        std::iter::successors(first, move |c| Some(self.all[*c].end as usize).filter(|c| *c < end))
    }

    /// The named nodes directly in one.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.tokens(at).filter(|c| self.all[*c].is_named)
    }

    /// The first node in a field of another.
    pub(super) fn in_field(&self, at: usize, field: u16) -> Option<usize> {
        self.tokens(at).find(|c| field != 0 && self.all[*c].field == field)
    }
}
