//! Opening, closing, protocol errors, isolation, limits.

use super::world::{CONFIG, State, World, dump, input, link, terms, tree, update};
use crate::{Opened, Overlays, Store, StoreError};
use indexd_model::terms::Vocabulary;
use indexd_model::view::{FactsView, IndexView};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

fn state(files: &[(&str, &str)]) -> State {
    State { tree: tree(files), ..State::default() }
}

fn opened(dir: &Path, config: &[u8]) -> &'static str {
    match Store::open(dir, config).expect("opens") {
        Opened::Ready(_) => "ready",
        Opened::Fresh(_) => "fresh",
        Opened::Unverified => "unverified",
    }
}

#[test]
fn a_transaction_serves_the_next_snapshot_of_the_same_state_only() {
    let (from, to) = (state(&[("f", "a: a;")]), state(&[("f", "a: a;"), ("g", "b: a;")]));
    let World { store, dir: _dir } = World::build(&from);
    let is_idle = || store.inner.idle.take(&store.inner.env).is_some();
    let look = || drop(store.snapshot().expect("snapshot"));
    assert!(!is_idle(), "none was opened yet");
    look();
    assert!(is_idle(), "kept when its snapshot was dropped");
    assert!(!is_idle(), "lent to one at a time");
    look();
    let mut txn = store.begin().expect("begins");
    assert!(!is_idle(), "a write transaction ends the idle one");
    look();
    update(&mut txn, &from, &to);
    txn.commit().expect("commits");
    assert!(!is_idle(), "older than the commit");
    assert_eq!(store.snapshot().expect("snapshot").files().len(), 2);
    assert!(is_idle());
}

#[test]
fn closing_and_opening_keeps_the_index() {
    let World { store, dir } = World::build(&state(&[("f", "a: a;")]));
    let before = dump(&store.snapshot().expect("snapshot"));
    assert_eq!(store.generation(), 1);
    store.close_clean().expect("close");
    let Opened::Ready(store) = Store::open(dir.path(), CONFIG).expect("opens") else { panic!("clean") };
    assert_eq!((store.generation(), dump(&store.snapshot().expect("snapshot"))), (1, before));
    assert!(store.size_bytes() > 0 && store.size_bytes() < store.map_bytes());
    drop(store);
    assert_eq!(opened(dir.path(), CONFIG), "ready", "reading does not dirty it");
    assert_eq!(opened(dir.path(), b"other"), "fresh", "another config is another index");
    assert_eq!(opened(dir.path(), CONFIG), "fresh", "the first one is gone");
}

#[test]
fn what_a_disk_changed_after_closing_is_noticed_before_it_is_mapped() {
    let World { store, dir } = World::build(&state(&[("f", "a: a;")]));
    store.close_clean().expect("close");
    let data = dir.path().join("data.mdb");
    let whole = fs::read(&data).expect("data");
    // The last byte belongs to no row.
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        fs::write(&data, &flipped).expect("flip");
        assert!(matches!(Store::open(dir.path(), CONFIG), Err(StoreError::Corrupt(_))), "byte {at}");
    }
    fs::write(&data, &whole).expect("restore");
    assert_eq!(opened(dir.path(), CONFIG), "ready", "written anew with the same bytes");
}

#[test]
fn a_compact_copy_is_the_same_index() {
    let (a, b) = (state(&[("f", "a: b _x;")]), state(&[("f", "a: b _x;"), ("g", "b: a a;in: b _y;")]));
    let World { store, dir } = World::build(&a);
    let mut size_max = 0;
    for round in 0..40 {
        let long = "long: a b; _w".repeat(200 + round);
        let mut grown = b.clone();
        grown.tree.insert("long".into(), format!("{long}\n"));
        for (from, to) in [(&a, &grown), (&grown, &a)] {
            let mut txn = store.begin().expect("begins");
            update(&mut txn, from, to);
            txn.commit().expect("commits");
        }
        size_max = size_max.max(store.size_bytes());
    }
    let copy = dir.path().join("copy");
    let of = store.copy_compact(&copy, &|| false).expect("copies");
    assert_eq!(of, store.last_transaction());
    let before = dump(&store.snapshot().expect("snapshot"));
    crate::verify(&copy).expect("whole");
    let Opened::Ready(copied) = Store::open_verified(&copy, CONFIG).expect("opens") else { panic!("a copy") };
    assert_eq!(dump(&copied.snapshot().expect("snapshot")), before);
    assert_eq!(copied.generation(), store.generation());
    assert!(copied.size_bytes() <= size_max, "{} of {size_max}", copied.size_bytes());
    let difference = copied.difference(&store, 1 << 20).expect("compares");
    assert_eq!(difference, Some(Store::no_difference()), "wherever runs and blobs are cut");
    // The copy can be written like any other index.
    let mut txn = copied.begin().expect("begins");
    update(&mut txn, &a, &b);
    txn.commit().expect("commits");
    let fresh = World::build(&b);
    assert_eq!(dump(&copied.snapshot().expect("snapshot")), fresh.dump());
    let stopped = store.copy_compact(&dir.path().join("other"), &|| true);
    assert!(matches!(stopped, Err(StoreError::Busy(_))));
}

#[test]
fn a_row_belongs_to_its_table_and_key() {
    let World { store, dir: _dir } = World::build(&state(&[("f", "a: a;"), ("g", "b: a;")]));
    let tables = &store.inner.tables;
    let mut txn = store.inner.env.write_txn().expect("begins");
    let (key, bytes) = {
        let (key, bytes) = tables.interfaces.db.first(&txn).expect("reads").expect("a row");
        (key.to_vec(), bytes.to_vec())
    };
    tables.bodies.db.put(&mut txn, &key, &bytes).expect("another table");
    assert!(tables.bodies.get(&txn, &key).is_err());
    let (last, _) = tables.interfaces.db.last(&txn).expect("reads").expect("a row");
    let last = last.to_vec();
    tables.interfaces.db.put(&mut txn, &last, &bytes).expect("another key");
    assert!(tables.interfaces.get(&txn, &last).is_err());
    assert!(tables.interfaces.get(&txn, &key).is_ok());
}

#[test]
fn an_unclean_stop_is_verified_first() {
    let World { store, dir } = World::build(&state(&[("f", "a: a;")]));
    store.sync().expect("sync");
    drop(store);
    assert_eq!(opened(dir.path(), CONFIG), "unverified");
    crate::verify(dir.path()).expect("whole");
    let Opened::Ready(store) = Store::open_verified(dir.path(), CONFIG).expect("opens") else {
        panic!("verified")
    };
    store.close_clean().expect("close");
    assert_eq!(opened(dir.path(), CONFIG), "ready");
}

#[test]
fn a_damaged_index_is_found_out_and_moved_aside() {
    let text: String = (0..400).map(|i| format!("f{i}: f{} _w{i}\n", i / 2)).collect();
    let World { store, dir } =
        World::build(&State { tree: [("some/folder/damaged.x".into(), text)].into(), ..State::default() });
    drop(store);
    let data = dir.path().join("data.mdb");
    let whole = fs::read(&data).expect("data");
    fs::write(&data, &whole[..whole.len() / 2]).expect("cut");
    assert!(matches!(crate::verify(dir.path()), Err(StoreError::Corrupt(_))), "truncated");
    // A flipped bit in a path: found by the checksum of its row.
    let mut flipped = whole;
    let places: Vec<usize> =
        flipped.windows(7).enumerate().filter(|(_, w)| w == b"damaged").map(|(i, _)| i).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| flipped[at] ^= 4);
    fs::write(&data, &flipped).expect("flip");
    assert!(matches!(crate::verify(dir.path()), Err(StoreError::Corrupt(_))), "flipped");
    Store::quarantine(dir.path()).expect("quarantine");
    assert_eq!(fs::read(dir.path().join("damaged.mdb")).expect("kept"), flipped);
    assert_eq!(opened(dir.path(), CONFIG), "fresh");
}

#[test]
fn an_unfinished_first_build_is_nothing() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let Opened::Fresh(store) = Store::open(dir.path(), CONFIG).expect("opens") else { panic!("fresh") };
    assert!(matches!(store.snapshot(), Err(StoreError::Busy(_))));
    assert!(matches!(store.begin(), Err(StoreError::Busy(_))));
    let mut vocabulary = Vocabulary::default();
    let bulk = store.bulk().expect("bulk");
    let file = input("f", "a: a\n", &mut vocabulary);
    bulk.add(file.clone(), &vocabulary).expect("add");
    bulk.add(file, &vocabulary).expect("add");
    assert!(matches!(bulk.seal(), Err(StoreError::Inconsistent(_))), "twice the same path");
    assert!(
        matches!(bulk.finish(None, None, &Overlays::default()), Err(StoreError::Inconsistent(_))),
        "not sealed"
    );
    store.close_clean().expect("close");
    assert_eq!(opened(dir.path(), CONFIG), "fresh");
}

#[test]
fn a_folder_is_open_once_in_a_process() {
    let world = World::build(&State::default());
    world.store.sync().expect("sync");
    let again = Store::open_verified(world.dir.path(), CONFIG);
    assert!(matches!(again, Err(StoreError::Busy(_))));
    assert!(matches!(world.store.bulk(), Err(StoreError::Busy(_))), "built already");
    let other = world.store.clone();
    world.store.close_clean().expect("close");
    assert!(matches!(other.begin(), Err(StoreError::Busy(_))), "closed for every clone");
}

#[test]
fn readers_see_one_state_and_an_aborted_change_is_none() {
    let (one, two) = (state(&[("f", "a: a;")]), state(&[("f", "a: b;"), ("g", "b: ;")]));
    let world = World::build(&one);
    let old = world.snapshot();
    let before = dump(&old);
    let mut txn = world.store.begin().expect("begin");
    update(&mut txn, &one, &two);
    assert!(txn.file_by_path("g").is_some(), "the transaction sees itself");
    assert!(world.snapshot().file_by_path("g").is_none(), "nobody else does");
    drop(txn);
    assert_eq!(world.dump(), before, "aborted");
    let mut txn = world.store.begin().expect("begin");
    update(&mut txn, &one, &two);
    txn.commit().expect("commit");
    assert_eq!(dump(&old), before, "a snapshot stays");
    assert!(world.snapshot().file_by_path("g").is_some());
}

#[test]
fn an_edit_and_its_undo_give_the_old_signature() {
    let (one, two) = (state(&[("f", "a: a;"), ("g", "b: a;")]), state(&[("f", "a: b;"), ("h", "c: ;")]));
    let world = World::build(&one);
    let signature = || world.snapshot().signature();
    let first = signature();
    let go = |from: &State, to: &State| {
        let mut txn = world.store.begin().expect("begin");
        update(&mut txn, from, to);
        txn.commit().expect("commit");
    };
    go(&one, &two);
    let second = signature();
    assert_ne!(first, second);
    go(&two, &one);
    assert_eq!(signature(), first);
    let headed = State { head: Some("abc".into()), ..one.clone() };
    go(&one, &headed);
    assert_ne!(signature(), first, "HEAD counts");
    go(&headed, &State { history: Some(4), ..one.clone() });
    assert_ne!(signature(), first, "history counts");
    let mut txn = world.store.begin().expect("begin");
    txn.put_history(&crate::History::default()).expect("no history");
    txn.commit().expect("commit");
    assert_eq!((signature(), world.dump()), (first, World::build(&one).dump()), "no history any more");
}

#[test]
fn a_body_edit_changes_no_key_and_an_interface_edit_its_own() {
    let text = "a: b;b: a a;c: ;".replace(';', "\n");
    let world = World::build(&State {
        tree: [("f".into(), text.clone()), ("g".into(), "d: b\n".into())].into(),
        ..State::default()
    });
    let changed = |new: &str| {
        let mut vocabulary = Vocabulary::default();
        let old = terms("f", &text, &mut vocabulary);
        let mut txn = world.store.begin().expect("begin");
        let stored = txn.stored("f").expect("stored").expect("known");
        let input = input("f", new, &mut vocabulary);
        let outcome = txn.put_file(&input, &vocabulary, Some((&stored, &old))).expect("put");
        let dependants = txn.dependants(&outcome.changed).expect("dependants");
        let paths: Vec<String> = dependants.into_iter().map(|f| txn.path(f).to_string()).collect();
        (outcome.changed, paths)
    };
    assert_eq!(changed("a: c\nb: a b\nc: \n"), (vec![], vec![]), "other uses");
    assert_eq!(
        changed("a: b\nb: a\nc: \n"),
        (vec![super::world::key("b")], vec!["g".to_owned()]),
        "another signature"
    );
    let (keys, dependants) = changed("a: b\nc: \n");
    assert_eq!((keys.len(), dependants), (1, vec!["g".to_owned()]), "a definition less");
}

#[test]
fn breaking_the_write_protocol_is_an_error() {
    let world = World::build(&state(&[("f", "a: b;"), ("g", "b: ;")]));
    let mut vocabulary = Vocabulary::default();
    let new = input("f", "a: a\n", &mut vocabulary);
    let (right, wrong) = (terms("f", "a: b\n", &mut vocabulary), terms("g", "zz: zz\n", &mut vocabulary));
    for (path, old) in [("f", None), ("f", Some(&wrong)), ("g", Some(&right))] {
        let mut txn = world.store.begin().expect("begin");
        let stored = txn.stored(path).expect("stored");
        let put = txn.put_file(&new, &vocabulary, stored.as_ref().zip(old));
        assert!(matches!(put, Err(StoreError::Inconsistent(_))), "{path}");
        assert!(matches!(txn.commit(), Err(StoreError::Inconsistent(_))), "no commit after an error");
    }
    let mut txn = world.store.begin().expect("begin");
    let stored = txn.stored("f").expect("stored").expect("known");
    // The same terms in other bytes: only the content hash tells the versions apart.
    let spaced = input("f", "a:  b\n", &mut vocabulary);
    txn.put_file(&spaced, &vocabulary, Some((&stored, &right))).expect("put");
    let again = txn.put_file(&spaced, &vocabulary, Some((&stored, &right)));
    assert!(matches!(again, Err(StoreError::Inconsistent(_))), "the version before the last");
    drop(txn);
    for term in ["t".repeat(65), "a\0b".into()] {
        let mut with = new.clone();
        with.path = indexd_model::RepoPath::new("h").expect("a path");
        with.terms.chunks[0].terms.push((vocabulary.intern(&term), [1; 5]));
        let mut txn = world.store.begin().expect("begin");
        assert!(
            matches!(txn.put_file(&with, &vocabulary, None), Err(StoreError::Inconsistent(_))),
            "{term:?}"
        );
    }
    let mut txn = world.store.begin().expect("begin");
    let old = terms("g", "b: \n", &mut vocabulary);
    let stored = txn.stored("g").expect("stored").expect("known");
    txn.remove_file(&stored, &vocabulary, &old).expect("remove");
    assert!(matches!(txn.commit(), Err(StoreError::Inconsistent(_))), "f still calls b");
    let mut txn = world.store.begin().expect("begin");
    let file = txn.file_by_path("f").expect("f");
    let facts = txn.facts(file).expect("facts");
    let mut links = link(&facts.interface, &facts.body, &txn);
    links.links[0].target.def.0 = 9;
    assert!(matches!(txn.put_links(file, &links), Err(StoreError::Inconsistent(_))), "no such definition");
    drop(txn);
    assert!(world.snapshot().file_by_path("g").is_some(), "nothing happened");
}

#[test]
fn terms_of_another_vocabulary_are_an_error() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let Opened::Fresh(store) = Store::open(dir.path(), CONFIG).expect("opens") else { panic!("fresh") };
    let bulk = store.bulk().expect("bulk");
    let mut vocabulary = Vocabulary::default();
    let file = input("f", "a: a\n", &mut vocabulary);
    assert!(matches!(bulk.add(file.clone(), &Vocabulary::default()), Err(StoreError::Inconsistent(_))));
    bulk.add(file, &vocabulary).expect("its own");
}

#[test]
fn a_full_store_says_so_and_keeps_what_it_has() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let small = 1 << 20;
    let Opened::Fresh(store) = Store::open_mapped(dir.path(), CONFIG, small, false).expect("opens") else {
        panic!("fresh")
    };
    let bulk = store.bulk().expect("bulk");
    bulk.seal().expect("seal");
    bulk.finish(None, None, &Overlays::default()).expect("finish");
    let mut known = State::default();
    let full = (0..200).find_map(|i| {
        let text: String = (0..200).map(|j| format!("f{i}_{j}: _w{i}_{j} f{i}_{}\n", j / 2)).collect();
        let mut next = known.clone();
        next.tree.insert(format!("f{i}"), text);
        let mut txn = store.begin().expect("begin");
        let mut vocabulary = Vocabulary::default();
        let path = format!("f{i}");
        let put = txn.put_file(&input(&path, &next.tree[&path], &mut vocabulary), &vocabulary, None);
        match put.and_then(|_| txn.commit()) {
            Ok(_) => {
                known = next;
                None
            }
            Err(e) => Some(e),
        }
    });
    assert!(matches!(full, Some(StoreError::Full(_))), "{full:?}");
    let s = store.snapshot().expect("snapshot");
    assert_eq!(s.files().len(), known.tree.len());
    assert!(!known.tree.is_empty());
    drop(s);
    drop(store);
    crate::verify(dir.path()).expect("whole");
}

/// Makes a change and restores the time of the last change, which is what detects writes of other programs.
fn with_its_time(data: &Path, change: impl FnOnce(&fs::File)) {
    let file = fs::OpenOptions::new().write(true).open(data).expect("opens");
    let modified = file.metadata().and_then(|meta| meta.modified()).expect("a time");
    change(&file);
    file.set_modified(modified).expect("sets the time");
}

/// A row that was read while it was whole is checked again after a bounded number of requests.
#[test]
fn what_rots_on_the_disk_while_an_index_is_open_is_found_out() {
    let path = "some/folder/rotting.x";
    let World { store, dir } = World::build(&state(&[(path, "a: a;")]));
    let read = || {
        let snapshot = store.snapshot().expect("snapshot");
        let name = snapshot.files().first().map(|file| snapshot.file(*file).path.to_string());
        name.expect("one file")
    };
    assert_eq!(read(), path);
    store.sync().expect("written");
    let data = dir.path().join("data.mdb");
    let bytes = fs::read(&data).expect("data");
    let places = bytes.windows(7).enumerate().filter(|(_, w)| *w == b"rotting").map(|(at, _)| at as u64);
    let mut n_flipped = 0;
    with_its_time(&data, |file| {
        n_flipped = places.inspect(|at| _ = file.write_at(b"R", *at).expect("flips")).count();
    });
    assert!(n_flipped > 0);
    for _ in 0..1_000 {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).is_err() {
            assert!(store.is_damaged(), "a request is lost to damage only");
            return;
        }
        assert!(!store.is_damaged());
    }
    panic!("a flipped bit was not noticed in a thousand requests");
}

/// Decoded rows are kept for the next request, until memory is wanted.
#[test]
fn what_is_kept_for_the_next_request_can_be_let_go() {
    let World { store, dir: _dir } = World::build(&state(&[("f", "a: a;")]));
    drop(store.snapshot().expect("snapshot"));
    store.forget_opened();
    assert!(store.inner.idle.take(&store.inner.env).is_none());
    assert_eq!(store.snapshot().expect("snapshot").files().len(), 1);
}

/// Replaces a page by several others: a page that was moved hides rows, although every row that is read is
/// sound.
#[test]
fn what_another_program_writes_to_an_open_index_is_noticed() {
    let text: String = (0..400).map(|i| format!("f{i}: f{} _w{i}\n", i / 2)).collect();
    let state = State { tree: [("f".into(), text)].into(), ..State::default() };
    type Change = dyn Fn(&Path, &[u8]);
    let changes: [&Change; 4] = [
        &|data, whole| fs::write(data, whole).expect("the same bytes"),
        &|data, whole| fs::write(data, &whole[..whole.len() / 2]).expect("cut"),
        &|data, _| fs::remove_file(data).expect("removed"),
        &|data, whole| {
            fs::write(data.with_extension("new"), whole).expect("another file");
            fs::rename(data.with_extension("new"), data).expect("in its place");
        },
    ];
    for change in changes {
        let World { store, dir } = World::build(&state);
        let data = dir.path().join("data.mdb");
        drop(store.snapshot().expect("untouched"));
        let whole = fs::read(&data).expect("data");
        change(&data, &whole);
        assert!(matches!(store.snapshot().err(), Some(StoreError::Corrupt(_))));
        assert!(matches!(store.begin().err(), Some(StoreError::Corrupt(_))), "nothing is added to it");
        assert!(store.is_damaged());
    }
}

/// An index in which any read met damage is not marked clean when it is closed.
#[test]
fn what_was_found_damaged_is_not_signed_when_the_index_is_closed() {
    let path = "some/folder/rotting.x";
    let reads: [&dyn Fn(&crate::Snapshot) -> bool; 4] = [
        &|snapshot| snapshot.dump(&mut Vec::new()).is_err(),
        &|snapshot| snapshot.vocabulary().is_err(),
        &|snapshot| snapshot.facts(indexd_model::FileDoc(0)).is_err(),
        &|snapshot| snapshot.packed_facts(indexd_model::FileDoc(0)).is_err(),
    ];
    for read in reads {
        let World { store, dir } = World::build(&state(&[(path, "a: a;")]));
        store.sync().expect("written");
        let data = dir.path().join("data.mdb");
        let interface = {
            let txn = store.inner.env.read_txn().expect("reads");
            store.inner.tables.interfaces.db.first(&txn).expect("reads").expect("a row").1.to_vec()
        };
        let bytes = fs::read(&data).expect("data");
        let places = |what: &[u8]| {
            let found = bytes.windows(what.len()).enumerate().filter(|(_, w)| *w == what);
            found.map(|(at, _)| at as u64).collect::<Vec<_>>()
        };
        with_its_time(&data, |file| {
            for at in [places(b"rotting"), places(&interface)].concat() {
                file.write_at(b"R", at).expect("flips");
            }
        });
        assert!(read(&store.snapshot().expect("snapshot")), "damage is met");
        assert!(store.is_damaged());
        assert!(matches!(store.close_clean(), Err(StoreError::Corrupt(_))));
        assert!(matches!(Store::open(dir.path(), CONFIG), Err(StoreError::Corrupt(_))));
    }
}

/// LMDB does not write pages at the end of a file that one transaction took and released: its meta page then
/// names a last page after the end of the file.
#[test]
fn an_index_that_ends_before_its_last_page_is_sound() {
    const PAGE: u64 = 4_096;
    /// Offset in a meta page, after the header: see `recovery::lengthen`.
    const LAST_PAGE: u64 = 16 + 24 + 96;
    let World { store, dir } = World::build(&state(&[("f", "a: a;")]));
    let before = (dump(&store.snapshot().expect("snapshot")), store.size_bytes());
    store.sync().expect("written");
    drop(store);
    let file = fs::OpenOptions::new().read(true).write(true).open(dir.path().join("data.mdb")).expect("data");
    for meta in [0, PAGE] {
        let mut last = [0; 8];
        file.read_exact_at(&mut last, meta + LAST_PAGE).expect("reads");
        let later = (u64::from_le_bytes(last) + 5).to_le_bytes();
        file.write_all_at(&later, meta + LAST_PAGE).expect("writes");
    }
    let len = || fs::metadata(dir.path().join("data.mdb")).expect("data").len();
    let short = len();
    crate::verify_rows(dir.path()).expect("whole");
    assert_eq!(len(), short, "the file may be open elsewhere");
    // Closed as it is, opened and closed without a change.
    crate::recovery::mark_clean(dir.path(), blake3::hash(CONFIG).as_bytes()).expect("marks");
    assert_eq!(opened(dir.path(), CONFIG), "ready");
    assert!(len() > short);
    assert_eq!(opened(dir.path(), CONFIG), "ready", "it is as it was closed");
    crate::verify(dir.path()).expect("whole");
    let Opened::Ready(store) = Store::open(dir.path(), CONFIG).expect("opens") else { panic!("an index") };
    assert!(store.size_bytes() > before.1, "{} after {}", store.size_bytes(), before.1);
    assert_eq!(dump(&store.snapshot().expect("snapshot")), before.0);
    store.close_clean().expect("closes");
    assert_eq!(opened(dir.path(), CONFIG), "ready");
}

/// A name in a request is never a reason for an error.
#[test]
fn what_can_be_no_key_has_no_row() {
    let World { store, dir: _dir } = World::build(&state(&[("f", "a: a;")]));
    let snapshot = store.snapshot().expect("snapshot");
    for name in ["", "\0", "\0\0a", &"x".repeat(600), &"\0".repeat(600), &"é".repeat(300), &"/".repeat(5_000)]
    {
        assert_eq!(snapshot.file_by_path(name), None);
        assert!(snapshot.defs_named(name).is_empty());
        assert_eq!(snapshot.doc_frequency(name), 0);
    }
    assert!(!store.is_damaged());
}
