//! Every sequence of changes to a state leads to the dump of a fresh build of that state.

use super::world::{CONFIG, State, World, update};
use crate::{Blocks, Opened, Store};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Edit {
    Put(u8, Vec<(u8, Vec<u8>)>),
    Remove(u8),
    Rename(u8, u8),
    Head(u8),
    History(u8),
    Overlays(u8),
    Undo,
}

const NAMES: [&str; 8] = ["a", "b", "in_c", "in_d", "two_e", "two_f", "g", "get_h"];
const WORDS: [&str; 12] =
    ["a", "b", "in_c", "in_d", "two_e", "two_f", "g", "get_h", "none", "_x", "_y", "_z"];

fn path(i: u8) -> String {
    format!("{}/f{}", ["d", "e/d"][usize::from(i) % 2], i)
}

fn text(lines: &[(u8, Vec<u8>)]) -> String {
    let line = |(name, uses): &(u8, Vec<u8>)| {
        let uses: Vec<&str> = uses.iter().map(|u| WORDS[usize::from(*u) % WORDS.len()]).collect();
        format!("{}: {}\n", NAMES[usize::from(*name) % NAMES.len()], uses.join(" "))
    };
    lines.iter().map(line).collect()
}

fn edit() -> impl Strategy<Value = Edit> {
    let lines = prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..4)), 0..6);
    prop_oneof![
        8 => (0..7u8, lines).prop_map(|(f, l)| Edit::Put(f, l)),
        2 => (0..7u8).prop_map(Edit::Remove),
        1 => (0..7u8, 0..7u8).prop_map(|(a, b)| Edit::Rename(a, b)),
        1 => any::<u8>().prop_map(Edit::Head),
        1 => any::<u8>().prop_map(Edit::History),
        1 => any::<u8>().prop_map(Edit::Overlays),
        1 => Just(Edit::Undo),
    ]
}

fn apply(edit: &Edit, state: &mut State, before: &State) {
    match edit {
        Edit::Put(f, lines) => {
            state.tree.insert(path(*f), text(lines));
        }
        Edit::Remove(f) => {
            state.tree.remove(&path(*f));
        }
        Edit::Rename(a, b) => {
            if let Some(text) = state.tree.remove(&path(*a)) {
                state.tree.insert(path(*b), text);
            }
        }
        Edit::Head(h) => state.head = (*h > 50).then(|| format!("{h:040}")),
        Edit::History(h) => state.history = Some(*h),
        Edit::Overlays(o) => state.overlays = *o,
        Edit::Undo => {
            let history = state.history;
            *state = before.clone();
            state.history = before.history.or(history);
        }
    }
}

fn check(start: &[Edit], steps: &[Vec<Edit>]) {
    let mut state = State::default();
    for e in start {
        apply(e, &mut state, &State::default());
    }
    let world = World::build(&state);
    let first = state.clone();
    let (mut before, mut older) = (state.clone(), State::default());
    for step in steps {
        let mut after = before.clone();
        for e in step {
            apply(e, &mut after, &older);
        }
        let mut txn = world.store.begin().expect("begin");
        update(&mut txn, &before, &after);
        txn.commit().expect("commit");
        older = std::mem::replace(&mut before, after);
    }
    let (is, expect) = (world.dump(), World::build(&before).dump());
    if is != expect {
        let first = is.lines().zip(expect.lines()).find(|(a, b)| a != b);
        panic!("dumps differ first at\n{first:#?}");
    }
    super::reads::compare(&world.snapshot(), &before);
    check_difference(&World::build(&first), &world);
    check_layers(&World::build(&first), &world, &before);
    let World { store, dir } = world;
    drop(store);
    crate::verify(dir.path()).expect("verifies");
}

/// Checks that the difference turns the first index into the second one.
fn check_difference(base: &World, world: &World) {
    let difference = world.store.difference(&base.store, usize::MAX).expect("compares").expect("no limit");
    let half = world.store.difference(&base.store, difference.len() / 2).expect("compares");
    assert!(half.is_none() || difference == Store::no_difference());
    base.store.add_difference(&difference).expect("is added");
    assert_eq!(base.store.generation(), world.store.generation());
    let again = world.store.difference(&base.store, usize::MAX).expect("compares");
    assert_eq!(again, Some(Store::no_difference()));
    assert!(base.dump() == world.dump());
}

/// The blocks that lead from layers to an index.
fn blocks_of(world: &World, below: &[Vec<Vec<u8>>]) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let mut put = |block| {
        blocks.push(block);
        Ok(true)
    };
    assert!(world.snapshot().write_rows(layers(below), &mut put).expect("writes"));
    blocks
}

fn layers(of: &[Vec<Vec<u8>>]) -> Vec<Blocks<'_>> {
    let layer = |blocks: &'_ Vec<Vec<u8>>| {
        let mut blocks = blocks.clone().into_iter();
        Box::new(move || Ok(blocks.next())) as Blocks<'_>
    };
    of.iter().map(layer).collect()
}

/// The rows of the first index and those that lead to the second one make the second one elsewhere, but for
/// the history.
fn check_layers(first: &World, world: &World, state: &State) {
    let all = blocks_of(world, &[]);
    let base = vec![blocks_of(first, &[])];
    let both = [&base[..], &[blocks_of(world, &base)]].concat();
    assert!(blocks_of(world, &both).is_empty(), "nothing is missing");
    let without = World::build(&State { history: None, ..state.clone() });
    for of in [std::slice::from_ref(&all), &both] {
        let dir = tempfile::tempdir().expect("temporary folder");
        assert!(Store::read_rows(layers(of), dir.path(), b"another recipe").is_err());
        let dir = tempfile::tempdir().expect("temporary folder");
        Store::read_rows(layers(of), dir.path(), CONFIG).expect("reads");
        let Opened::Ready(store) = Store::open_verified(dir.path(), CONFIG).expect("opens") else {
            panic!("what was read is an index")
        };
        assert!(super::world::dump(&store.snapshot().expect("snapshot")) == without.dump());
        assert_eq!(blocks_of(&World { store, dir }, &[]), all, "and its rows are the same");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn incremental_equals_fresh(
        start in prop::collection::vec(edit(), 0..8),
        steps in prop::collection::vec(prop::collection::vec(edit(), 1..4), 1..8),
    ) {
        check(&start, &steps);
    }

    #[test]
    fn any_bytes_are_no_difference(start in prop::collection::vec(edit(), 0..4), bytes: Vec<u8>, at: prop::sample::Index) {
        let mut state = State::default();
        start.iter().for_each(|e| apply(e, &mut state, &State::default()));
        let (world, other) = (World::build(&State::default()), World::build(&state));
        let before = world.dump();
        prop_assert!(bytes == Store::no_difference() || world.store.add_difference(&bytes).is_err());
        let mut cut = other.store.difference(&world.store, usize::MAX).expect("compares").expect("no limit");
        cut.truncate(at.index(cut.len()));
        prop_assert!(world.store.add_difference(&cut).is_err());
        prop_assert_eq!(world.dump(), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn rows_that_are_cut_or_nobody_wrote_make_no_index(start in prop::collection::vec(edit(), 1..4), bytes: Vec<u8>, at: prop::sample::Index) {
        let mut state = State::default();
        start.iter().for_each(|e| apply(e, &mut state, &State::default()));
        let rows = blocks_of(&World::build(&state), &[]).concat();
        for bad in [rows[..at.index(rows.len())].to_vec(), bytes.clone(), [&rows[..], &[1]].concat(), [&rows[..], &bytes].concat()] {
            if bad == rows {
                continue;
            }
            let dir = tempfile::tempdir().expect("temporary folder");
            let whole = Store::read_rows(layers(&[vec![bad]]), dir.path(), CONFIG);
            prop_assert!(whole.is_err());
            prop_assert!(matches!(Store::open(dir.path(), CONFIG), Ok(Opened::Fresh(_))), "nothing to open");
        }
    }
}

#[test]
fn a_growing_file_moves_and_a_shrinking_one_gives_room_back() {
    let grow = |n: u8| vec![Edit::Put(0, (0..n).map(|i| (i, vec![i])).collect())];
    let start = [Edit::Put(0, vec![(0, vec![])]), Edit::Put(1, vec![(1, vec![0, 2])])];
    check(
        &start,
        &[
            grow(30),
            grow(3),
            vec![Edit::Put(2, vec![(3, vec![1]); 9])],
            grow(60),
            grow(0),
            vec![Edit::Remove(0)],
        ],
    );
}
