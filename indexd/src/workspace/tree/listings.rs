//! What folders held when they were listed, for as long as their stamps stay the same.
//!
//! A name that comes to a folder or leaves it changes the folder's stamp, so a folder with the stamp
//! of before need not be listed again; its files are still looked at one by one, since writing into
//! one changes its own stamp only. What is remembered is true by itself, whatever became of the index
//! or the tree since: it says "with this stamp, and under these rules, the folder holds these
//! entries". So it is kept in a file beside the environments and may be older than they are, lost or
//! damaged: then folders are listed.
//!
//! Not remembered: a folder whose stamp was younger than a tick of the file system's clock when it
//! was listed (another name may come under the same stamp), and one with names that are to be reported.
//! Rule files are read each time, since writing into one is no news to its folder.

use indexd_os::FileMeta;
use rustc_hash::FxHashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the file begins with; the version of the program follows, since another one may admit other
/// names by the same rules, then the hash of the rest.
const MAGIC: &[u8] = concat!("indexd listings 2 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
const HASH_BYTES: usize = 32;

/// The entries of one folder that are in the set, under a stamp and rules.
#[derive(Debug, PartialEq, Eq, bitcode::Encode, bitcode::Decode)]
pub struct Listing {
    stamp: Stamp,
    rules: [u8; 32],
    /// Names of the files that hold rules, in the set or not, each ended with NUL.
    rule_files: String,
    /// Ordered by name, each of which ends as no name can: a file with NUL, a folder with a slash.
    entries: String,
}

/// What tells one state of a folder from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bitcode::Encode, bitcode::Decode)]
struct Stamp {
    mtime_ns: i64,
    ctime_ns: i64,
    size: u64,
    inode: u64,
    dev: u64,
}

impl From<FileMeta> for Stamp {
    fn from(meta: FileMeta) -> Self {
        let FileMeta { mtime_ns, ctime_ns, size, inode, dev } = meta;
        Self { mtime_ns, ctime_ns, size, inode, dev }
    }
}

impl Listing {
    /// Of a folder with this stamp, taken before it was listed. The digest is that of the rules inside
    /// it, with those of its own `rule_files`.
    pub fn new<'n>(stamp: FileMeta, rules: &[u8; 32], rule_files: impl Iterator<Item = &'n str>) -> Self {
        let rule_files = rule_files.flat_map(|name| [name, "\0"]).collect();
        Self { stamp: stamp.into(), rules: *rules, rule_files, entries: String::new() }
    }

    /// Takes an entry in. Names come in order.
    pub fn push(&mut self, name: &str, is_folder: bool) {
        self.entries.push_str(name);
        self.entries.push(if is_folder { '/' } else { '\0' });
    }

    /// Whether a folder with this stamp has the same names in it.
    pub fn is_of(&self, stamp: FileMeta) -> bool {
        self.stamp == stamp.into()
    }

    /// Whether these rules leave the same names of it in the set.
    pub fn is_under(&self, rules: &[u8; 32]) -> bool {
        self.rules == *rules
    }

    /// Names of the files in it that hold rules.
    pub fn rule_files(&self) -> impl Iterator<Item = &str> {
        self.rule_files.split_terminator('\0')
    }

    /// Whether it has this many entries or more.
    pub fn has_at_least(&self, n_entries: usize) -> bool {
        self.entries().take(n_entries).count() == n_entries
    }

    /// Names, ordered, and whether each is of a folder.
    pub fn entries(&self) -> impl Iterator<Item = (&str, bool)> {
        let ended = self.entries.split_inclusive(['\0', '/']);
        ended.map(|entry| (&entry[..entry.len() - 1], entry.ends_with('/')))
    }
}

/// Listings by the folder's relative path.
#[derive(Default)]
pub struct Listings {
    of: FxHashMap<Box<str>, Listing>,
    is_changed: bool,
}

impl Listings {
    /// What is kept in an index folder; nothing when that is not there, damaged or another program's.
    pub fn load(home: &Path) -> Self {
        let read = || {
            let bytes = fs::read(file(home)).ok()?;
            let (hash, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<HASH_BYTES>()?;
            if blake3::hash(rest) != *hash {
                return None;
            }
            bitcode::decode::<Vec<(Box<str>, Listing)>>(rest).ok()
        };
        Self { of: read().unwrap_or_default().into_iter().collect(), is_changed: false }
    }

    /// Keeps in an index folder what is known of the folders that `are_wanted`, if that is news. It is
    /// not flushed: what a loss of power damages is not believed.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn save(&mut self, home: &Path, are_wanted: impl Fn(&str) -> bool) -> io::Result<()> {
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        let mut all: Vec<(Box<str>, Listing)> = self.of.drain().collect();
        all.retain(|(dir, _)| are_wanted(dir));
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let rest = bitcode::encode(&all);
        let bytes = [MAGIC, blake3::hash(&rest).as_bytes(), &rest].concat();
        self.of = all.into_iter().collect();
        let new = file(home).with_extension("new");
        indexd_os::faults::before("write", &new.to_string_lossy())?;
        fs::write(&new, bytes)?;
        fs::rename(&new, file(home))
    }

    /// What is remembered of a folder.
    pub fn get(&self, dir: &str) -> Option<&Listing> {
        self.of.get(dir)
    }

    /// Remembers a folder as it was listed last, or that it has to be listed the next time too.
    pub fn set(&mut self, dir: Box<str>, listing: Option<Listing>) {
        self.is_changed |= listing.is_some() || self.of.contains_key(&dir);
        match listing {
            Some(listing) => drop(self.of.insert(dir, listing)),
            None => drop(self.of.remove(&dir)),
        }
    }
}

fn file(home: &Path) -> PathBuf {
    home.join("listings")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(mtime_ns: i64) -> FileMeta {
        FileMeta { mtime_ns, ctime_ns: 2, size: 3, inode: 4, dev: 5 }
    }

    fn listing(mtime_ns: i64, entries: &[(&str, bool)]) -> Listing {
        let mut listing = Listing::new(stamp(mtime_ns), &[7; 32], [".ignore", "b"].into_iter());
        entries.iter().for_each(|(name, is_folder)| listing.push(name, *is_folder));
        listing
    }

    #[test]
    fn a_listing_stands_for_one_stamp_and_one_set_of_rules() {
        let entries = [("", false), ("a b.go", false), ("line\nbreak", false), ("sub", true)];
        let one = listing(1, &entries);
        assert_eq!(one.entries().collect::<Vec<_>>(), entries);
        assert!(one.has_at_least(0) && one.has_at_least(4) && !one.has_at_least(5));
        assert_eq!(one.rule_files().collect::<Vec<_>>(), [".ignore", "b"]);
        assert!(one.is_of(stamp(1)) && one.is_under(&[7; 32]));
        assert!(!one.is_of(stamp(2)) && !one.is_under(&[8; 32]));
        for changed in [
            FileMeta { ctime_ns: 0, ..stamp(1) },
            FileMeta { size: 0, ..stamp(1) },
            FileMeta { inode: 0, ..stamp(1) },
            FileMeta { dev: 0, ..stamp(1) },
        ] {
            assert!(!one.is_of(changed), "{changed:?}");
        }
    }

    #[test]
    fn what_is_kept_is_found_again_or_not_believed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let mut all = Listings::default();
        assert!(all.save(home, |_| true).is_ok() && !file(home).exists(), "nothing to keep");
        all.set("a".into(), Some(listing(1, &[("x", false)])));
        all.set("b/c".into(), Some(listing(2, &[])));
        all.set("gone".into(), Some(listing(3, &[])));
        all.save(home, |dir| dir != "gone").unwrap();
        let bytes = fs::read(file(home)).unwrap();
        let loaded = Listings::load(home);
        for dir in ["a", "b/c"] {
            assert_eq!(loaded.get(dir), all.get(dir), "{dir}");
            assert!(loaded.get(dir).is_some());
        }
        assert!(loaded.get("gone").is_none() && !loaded.is_changed);
        for at in [0, MAGIC.len() - 2, MAGIC.len() + 1, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(file(home), &damaged).unwrap();
            assert!(Listings::load(home).get("a").is_none(), "byte {at}");
            fs::write(file(home), &bytes[..at]).unwrap();
            assert!(Listings::load(home).get("a").is_none(), "cut at {at}");
        }
    }

    #[test]
    fn forgetting_is_news_once() {
        let mut all = Listings::default();
        all.set("a".into(), None);
        assert!(!all.is_changed);
        all.set("a".into(), Some(listing(1, &[])));
        all.is_changed = false;
        all.set("a".into(), None);
        assert!(all.is_changed && all.get("a").is_none());
    }
}
