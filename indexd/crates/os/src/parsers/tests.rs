use super::*;
use crate::while_building;
use tree_sitter::TreeCursor;

const TEXT: &str = "def f(a, b=[1, 2]):\n    return {a: b, 'c': (a, b)}\n";

fn python() -> Language {
    tree_sitter_python::LANGUAGE.into()
}

/// The tree of the text so many times over, as it is printed.
fn tree(n: usize) -> String {
    parsing(&python(), |p| p.parse(&TEXT.repeat(n), 1_000).unwrap().root_node().to_sexp())
}

#[test]
fn trees_are_the_same_whatever_was_in_their_memory() {
    let expect: Vec<String> = [1, 300, 40].map(tree).into();
    assert!(expect[1].len() > 250 * expect[0].len());
    while_building(|| {
        for round in 0..20 {
            assert_eq!([1, 300, 40].map(tree)[..], expect[..], "{round}");
            parsing(&python(), |p| std::mem::forget(p.parse(&TEXT.repeat(70 * round), 1_000)));
        }
    });
    let kept = KEPT.take().expect("kept during a build");
    assert!(kept.pieces.iter().map(|piece| piece.bytes).sum::<usize>() <= KEPT_BYTES);
    drop(kept);
    assert_eq!(tree(1), expect[0]);
    assert!(KEPT.take().is_none(), "nothing is kept when nothing is built");
}

#[test]
fn calls_lie_inside_each_other_and_end_with_a_panic() {
    parsing(&python(), |outer| {
        let first = outer.parse(TEXT, 1_000).unwrap();
        let inner = tree(300);
        let panicked = std::panic::catch_unwind(|| {
            parsing(&python(), |_| std::panic::resume_unwind(Box::new("a fault")))
        });
        assert!(panicked.is_err());
        let second = outer.parse(&TEXT.repeat(300), 1_000).unwrap();
        assert_eq!(second.root_node().to_sexp(), inner);
        drop(second);
        assert_eq!(first.root_node().to_sexp(), tree(1));
    });
    assert!(CURRENT.get().is_null());
    let panicked =
        std::panic::catch_unwind(|| parsing(&python(), |_| std::panic::resume_unwind(Box::new("a fault"))));
    assert!(panicked.is_err() && CURRENT.get().is_null());
}

#[test]
fn cursors_go_to_other_threads_and_back() {
    parsing(&python(), |p| {
        let tree = p.parse(&TEXT.repeat(10), 1_000).unwrap();
        let down = |mut cursor: TreeCursor| {
            while cursor.goto_first_child() {}
            cursor.node().start_byte()
        };
        let (here, root) = (tree.root_node().walk(), tree.root_node());
        let there = std::thread::scope(|s| {
            assert_eq!(s.spawn(move || down(here)).join().unwrap(), 0);
            s.spawn(move || root.walk()).join().unwrap()
        });
        assert_eq!(down(there), 0);
    });
}

#[test]
fn a_parse_can_be_given_up() {
    parsing(&python(), |p| {
        assert!(p.parse(&TEXT.repeat(1_000), 1).is_none());
        assert!(p.parse(TEXT, 1_000).is_some());
    });
}

#[test]
fn sizes_hold_what_they_are_for() {
    let (mut last, mut sizes) = (0, Vec::new());
    for bytes in (0..100_000).chain((17..35).map(|shift| 1usize << shift)) {
        let (steps, size) = size_for(bytes);
        let n = steps as usize * STEP;
        assert!(n >= bytes + HEAD && n <= (bytes + HEAD) * 5 / 4 + STEP, "{bytes}");
        assert!(size >= last && size < N_SIZES, "{bytes}");
        assert_eq!(size_for(n - HEAD), (steps, size), "{bytes}");
        if size > last {
            sizes.push(steps);
        }
        last = size;
    }
    assert!(sizes.is_sorted_by(|a, b| a < b));
}

#[test]
fn blocks_keep_what_is_written_in_them() {
    // Outside of a call and inside one.
    let check = || {
        // SAFETY: blocks are used within their sizes and released once.
        #[expect(unsafe_code, reason = "what C does")]
        unsafe {
            let mut blocks: Vec<(*mut u8, usize)> = Vec::new();
            for i in 0..2_000usize {
                let bytes = i * i % 3_001;
                let block = allocate_zeroed(1, bytes).cast::<u8>();
                assert!(block.addr().is_multiple_of(STEP));
                assert!((0..bytes).all(|at| *block.add(at) == 0));
                block.write_bytes(i as u8, bytes);
                blocks.push((block, bytes));
                if i % 3 == 0 {
                    release(blocks.swap_remove(i * 7 % blocks.len()).0.cast());
                } else if i % 3 == 1 {
                    let at = i * 5 % blocks.len();
                    let (block, bytes) = blocks[at];
                    let first = (bytes > 0).then(|| *block);
                    let larger = reallocate(block.cast(), 2 * bytes).cast::<u8>();
                    assert!(first.is_none_or(|b| (0..bytes).all(|at| *larger.add(at) == b)));
                    larger.write_bytes(first.unwrap_or(0), 2 * bytes);
                    blocks[at] = (larger, 2 * bytes);
                }
            }
            for (block, bytes) in blocks {
                assert!((1..bytes).all(|at| *block.add(at) == *block));
                release(block.cast());
            }
            release(ptr::null_mut());
            release(reallocate(ptr::null_mut(), 5));
        }
    };
    check();
    parsing(&python(), |_| check());
}
