//! Fill of the pages of LMDB. A page is left as it is once a row does not fit into it, so a writer that can
//! choose the size of its rows chooses it by the room left in the page.

/// Bytes of a page for nodes: 4,096 without the header of 16.
const PAGE_BYTES: usize = 4096 - 16;
/// Bytes of a node apart from key and value: 8 of its header, 2 of the pointer to it.
const NODE_BYTES: usize = 8 + 2;
/// Bytes of a page that are too few for a node of their own.
const REST_BYTES_MAX: usize = 127;
/// Bytes of the largest node inside a page, pointer included; a larger value goes to pages of its own.
pub(crate) const NODE_BYTES_MAX: usize = PAGE_BYTES / 2;

/// Bytes of a value that fill a node of `node` bytes, pointer included.
pub(crate) const fn value_bytes(node: usize, key: usize) -> usize {
    node - NODE_BYTES - key
}

/// Bytes free in the last page of a table to which rows are appended.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fill {
    left: usize,
}

impl Fill {
    /// The bytes of key and value of the next row such that rows of about that size, each with at most
    /// `node` bytes in total, end exactly at the end of the page.
    pub fn room(self, node: usize) -> usize {
        let left = if self.left > REST_BYTES_MAX { self.left } else { PAGE_BYTES };
        // Nodes are padded to two bytes.
        (left / left.div_ceil(node)) / 2 * 2 - NODE_BYTES
    }

    /// Takes a row, with the bytes of its key and of its value.
    pub fn take(&mut self, key: usize, value: usize) {
        let node = (key + value + NODE_BYTES).next_multiple_of(2);
        // For a large value the node holds only its page number, of 8 bytes.
        let node = if node > NODE_BYTES_MAX { (key + 8 + NODE_BYTES).next_multiple_of(2) } else { node };
        self.left = if node > self.left { PAGE_BYTES } else { self.left } - node;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nodes_of_the_largest_size_fill_a_page() {
        let mut fill = Fill::default();
        for left in [PAGE_BYTES / 2, 0, PAGE_BYTES / 2] {
            fill.take(6, value_bytes(NODE_BYTES_MAX, 6));
            assert_eq!(fill.left, left);
        }
        // A value with one byte more goes to pages of its own.
        fill.take(6, value_bytes(NODE_BYTES_MAX, 6) + 1);
        assert_eq!(fill.left, PAGE_BYTES / 2 - 24);
    }

    proptest! {
        #[test]
        fn rows_that_take_the_room_leave_none(first in 1..3000usize, node in prop::sample::select(vec![NODE_BYTES_MAX, 1020])) {
            let mut fill = Fill::default();
            fill.take(4, first);
            for _ in 0..PAGE_BYTES / node {
                let room = fill.room(node);
                prop_assert!(room + NODE_BYTES <= node);
                fill.take(4, room - 4);
                if fill.left <= REST_BYTES_MAX {
                    break;
                }
            }
            prop_assert!(fill.left < 16 || fill.left > PAGE_BYTES - first - 24, "{}", fill.left);
        }
    }
}
