use super::*;
use proptest::prelude::*;

/// Facts of a file with one function, packed.
fn packed(name: &str) -> (FileFacts, Vec<u8>) {
    let path = RepoPath::new("a.py").unwrap();
    let facts = indexd_lang::extract(&path, format!("def {name}():\n    return 1\n").as_bytes()).facts;
    let packed = indexd_store::pack_facts(&facts).unwrap();
    (facts, packed)
}

fn hash(i: u32) -> ContentHash {
    ContentHash::of(&i.to_le_bytes())
}

fn path(i: u32) -> RepoPath {
    RepoPath::new(&format!("p{}.py", i % 3)).unwrap()
}

fn cache(dir: &Path, bytes_max: u64) -> ContentCache {
    ContentCache::new(dir.to_owned(), bytes_max, None)
}

fn bytes_in(dir: &Path) -> u64 {
    segments_in(dir).iter().map(|(_, path)| fs::metadata(path).unwrap().len()).sum()
}

#[test]
fn facts_are_found_under_their_path_content_and_settings_alone_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (facts, packed) = packed("f");
    cache(dir.path(), 1 << 20).put(&path(1), &hash(1), true, &packed);
    let cache = cache(dir.path(), 1 << 20);
    assert_eq!(cache.get(&path(1), &hash(1), true), Some(facts));
    assert_eq!(cache.get(&path(2), &hash(1), true), None, "another path");
    assert_eq!(cache.get(&path(1), &hash(2), true), None, "another content");
    assert_eq!(cache.get(&path(1), &hash(1), false), None, "secrets are left in");
}

#[test]
fn it_stays_below_its_bound_and_keeps_what_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let (facts, packed) = packed("f");
    let bytes_max = 64 * (packed.len() + HEAD_BYTES) as u64;
    let cache = cache(dir.path(), bytes_max);
    for i in 0..1_000 {
        cache.put(&path(i), &hash(i), true, &packed);
        assert_eq!(cache.get(&path(0), &hash(0), true).as_ref(), Some(&facts), "used all the time, {i}");
        assert!(bytes_in(dir.path()) <= bytes_max, "{i}");
    }
    assert_eq!(cache.get(&path(5), &hash(5), true), None, "not used since long ago");
    assert_eq!(cache.get(&path(999), &hash(999), true), Some(facts));
    let none = ContentCache::new(dir.path().join("none"), 0, None);
    none.put(&path(1), &hash(1), true, &packed);
    assert!(!dir.path().join("none").exists(), "switched off");
}

#[test]
fn what_nobody_used_for_long_is_collected() {
    let dir = tempfile::tempdir().unwrap();
    let (facts, packed) = packed("f");
    let with = |keep| ContentCache::new(dir.path().to_owned(), 1 << 20, Some(keep));
    with(Duration::from_secs(60)).put(&path(1), &hash(1), true, &packed);
    let cache = with(Duration::from_secs(60));
    cache.collect();
    assert_eq!(cache.get(&path(1), &hash(1), true), Some(facts));
    let cache = with(Duration::ZERO);
    cache.collect();
    assert_eq!((cache.get(&path(1), &hash(1), true), bytes_in(dir.path())), (None, 0));
}

proptest! {
    /// After any damage to the files a row is either as written or missing, and rows can be added.
    #[test]
    fn damage_costs_rows_and_gives_no_wrong_ones(
        at: prop::sample::Index, kind in 0..4u8, noise: [u8; 8], n in 1..20u32,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let all: Vec<_> = (0..n).map(|i| packed(&format!("f{i}"))).collect();
        for (i, (_, packed)) in (0..).zip(&all) {
            cache(dir.path(), 1 << 20).put(&path(i), &hash(i), true, packed);
        }
        let file = dir.path().join(segment_name(1));
        let mut bytes = fs::read(&file).unwrap();
        let i = at.index(bytes.len());
        match kind {
            0 => bytes[i] ^= 1 << (noise[0] % 8),
            1 => bytes.truncate(i),
            2 => bytes[i..].fill(0),
            _ => bytes.splice(i..i, noise).for_each(drop),
        }
        fs::write(&file, &bytes).unwrap();
        let cache = cache(dir.path(), 1 << 20);
        for (i, (facts, packed)) in (0..).zip(&all) {
            let found = cache.get(&path(i), &hash(i), true);
            prop_assert!(found.is_none() || found.as_ref() == Some(facts));
            cache.put(&path(i), &hash(i), true, packed);
            let found = cache.get(&path(i), &hash(i), true);
            prop_assert_eq!(found.as_ref(), Some(facts));
        }
    }
}
