//! The index folder and the mark next to the data file that tells, after a stop of any kind, whether the
//! data can be trusted.
//!
//! Commits do not sync. After the death of the process the page cache still has them all, so the data is
//! whole. It is verified nevertheless, in a child process, since LMDB kills its process when it meets
//! damage. After a power loss the file may be anything: it is rebuilt. The mark of an index that was closed
//! holds a checksum of the whole file, which is read once before it is mapped. This notices any change on
//! the disk since then, at the cost of reading the file (a tenth of a millisecond a megabyte).

use crate::error::Result;
use crate::meta::FORMAT;
use indexd_os::{boot_id, faults};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// LMDB's data file.
pub(crate) const DATA: &str = "data.mdb";
const LOCK: &str = "lock.mdb";
const MARK: &str = "state";
/// Name under which a damaged data file is kept.
const DAMAGED: &str = "damaged.mdb";
const CACHE_TAG: &str = "CACHEDIR.TAG";
/// The signature of cache folders, so that backups skip them (bford.info/cachedir).
const CACHE_TAG_TEXT: &str =
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is an index that can be rebuilt.\n";

/// The state of the data file according to the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A first build is in progress: the data is worthless.
    Building,
    /// There are commits that may not be synced.
    Dirty,
    /// Synced, and the data file has this shape.
    Clean(Shape),
    /// Stored bytes are damaged.
    Damaged,
}

/// Size and checksum of the data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    size: u64,
    sum: u64,
}

/// The state of an index folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No usable index.
    Nothing,
    /// A trustworthy index.
    Clean,
    /// An index to verify first.
    Unverified,
    /// An index that was changed after it was closed.
    Damaged,
}

/// Creates the folder: private, and marked as a cache.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        builder.mode(0o700);
        builder.create(dir)?;
        if fs::metadata(dir)?.permissions().mode() & 0o777 != 0o700 {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
        }
    }
    #[cfg(not(unix))]
    builder.create(dir)?;
    let tag = dir.join(CACHE_TAG);
    if !tag.exists() {
        create_private(&tag)?.write_all(CACHE_TAG_TEXT.as_bytes())?;
    }
    Ok(())
}

fn create_private(path: &Path) -> io::Result<File> {
    faults::before("create", &path.to_string_lossy())?;
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Bytes of the data file read at a time: few enough to stay in a core's own cache while they are summed.
const READ_BYTES: usize = 128 << 10;

/// The shape of the data file.
fn shape(dir: &Path) -> io::Result<Shape> {
    use std::io::Read;
    faults::before("read", &dir.to_string_lossy())?;
    let mut file = File::open(dir.join(DATA))?;
    let (mut sum, mut size) = (Xxh3::new(), 0);
    let mut bytes = vec![0; READ_BYTES];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(Shape { size, sum: sum.digest() }),
            Ok(n) => {
                sum.update(&bytes[..n]);
                size += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

fn header(config: &[u8; 32]) -> String {
    format!("indexd index {FORMAT} {}\n", blake3::Hash::from(*config).to_hex())
}

/// Writes the mark and syncs it, so that it is on disk before the commits it describes.
pub(crate) fn mark(dir: &Path, config: &[u8; 32], mark: Mark) -> io::Result<()> {
    let boot = boot_id().unwrap_or_else(|| "-".into());
    let line = match mark {
        Mark::Building => "building".to_owned(),
        Mark::Dirty => format!("dirty {boot}"),
        Mark::Clean(s) => format!("clean {} {:016x}", s.size, s.sum),
        Mark::Damaged => "damaged".to_owned(),
    };
    let temporary = dir.join("state.new");
    let mut file = create_private(&temporary)?;
    let shown = temporary.to_string_lossy();
    faults::before("write", &shown)?;
    file.write_all(format!("{}{line}\n", header(config)).as_bytes())?;
    faults::before("sync", &shown)?;
    file.sync_all()?;
    faults::before("rename", &shown)?;
    fs::rename(&temporary, dir.join(MARK))?;
    #[cfg(unix)]
    File::open(dir)?.sync_all()?;
    Ok(())
}

/// The text of the mark of an index of this config that was closed cleanly.
pub(crate) fn clean_mark(dir: &Path, config: &[u8; 32]) -> Option<String> {
    let text = fs::read_to_string(dir.join(MARK)).ok()?;
    text.strip_prefix(&header(config))?.starts_with("clean ").then_some(text)
}

/// Writes such a mark next to a copy of the data file.
pub(crate) fn put_mark(dir: &Path, mark: &str) -> io::Result<()> {
    create_private(&dir.join(MARK))?.write_all(mark.as_bytes())
}

/// Marks the data file clean as it is now.
pub(crate) fn mark_clean(dir: &Path, config: &[u8; 32]) -> io::Result<()> {
    mark(dir, config, Mark::Clean(shape(dir)?))
}

/// The error number for data that a disk cannot read, equal on every Unix.
const EIO: i32 = 5;

/// Inspects the folder without mapping the data.
pub(crate) fn inspect(dir: &Path, config: &[u8; 32]) -> io::Result<Found> {
    if !dir.join(DATA).exists() {
        return Ok(Found::Nothing);
    }
    let text = match fs::read_to_string(dir.join(MARK)) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
            return Ok(Found::Nothing);
        }
        Err(e) => return Err(e),
    };
    let Some(line) = text.strip_prefix(&header(config)) else {
        return Ok(Found::Nothing);
    };
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        Some("dirty") => {
            // If the system does not identify the boot, no unclean index is trusted.
            let same = boot_id().is_some_and(|boot| words.next() == Some(&boot));
            Ok(if same { Found::Unverified } else { Found::Nothing })
        }
        Some("clean") => {
            let is_same = match shape(dir) {
                Ok(Shape { size, sum }) => words.eq([size.to_string(), format!("{sum:016x}")]),
                // A read error of the disk means that the data is lost.
                Err(e) if e.raw_os_error() == Some(EIO) => false,
                Err(e) => return Err(e),
            };
            Ok(if is_same { Found::Clean } else { Found::Damaged })
        }
        Some("damaged") => Ok(Found::Damaged),
        _ => Ok(Found::Nothing),
    }
}

/// Deletes an index that is unusable.
pub(crate) fn discard(dir: &Path) -> Result<()> {
    for name in [MARK, DATA, LOCK] {
        faults::before("remove", &dir.to_string_lossy())?;
        match fs::remove_file(dir.join(name)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Moves a damaged index aside; the last one is kept for inspection.
pub(crate) fn quarantine(dir: &Path) -> Result<()> {
    match fs::rename(dir.join(DATA), dir.join(DAMAGED)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    discard(dir)
}

/// Returns true if [`quarantine`] moved an index of this folder aside.
pub(crate) fn was_quarantined(dir: &Path) -> bool {
    dir.join(DAMAGED).exists()
}

/// Makes the data file as long as its newer meta page says. LMDB does not write pages at its end that a
/// transaction took and released, so a sound file may end before them. A truncated file ends before pages
/// that are read, and LMDB would die of a bus error. Reading tells the two apart: the added part holds
/// zeros, which are not a page. Returns true if the file was changed.
pub(crate) fn lengthen(dir: &Path) -> Result<bool> {
    use std::io::Read;
    const PAGE_HEADER: usize = 16;
    let corrupt = |why: &str| crate::StoreError::Corrupt(format!("data file: {why}"));
    let mut file = File::options().read(true).write(true).open(dir.join(DATA))?;
    let len = file.metadata()?.len();
    let mut first = [0; PAGE_HEADER + 136];
    file.read_exact(&mut first).map_err(|_| corrupt("no meta page"))?;
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
    };
    // MDB_meta: magic u32, version u32, address, map size, two MDB_db of 48 bytes (the first one
    // starts with the page size, u32), last page, transaction id.
    let page = word(&first, PAGE_HEADER + 24) as u32;
    if !(512..=65_536).contains(&page) || !page.is_power_of_two() {
        return Err(corrupt("page size"));
    }
    let mut pages = vec![0; 2 * page as usize];
    pages[..first.len()].copy_from_slice(&first);
    file.read_exact(&mut pages[first.len()..]).map_err(|_| corrupt("no second meta page"))?;
    let metas = [0, page as usize].map(|at| {
        let last_page = word(&pages, at + PAGE_HEADER + 24 + 96);
        (word(&pages, at + PAGE_HEADER + 24 + 96 + 8), last_page)
    });
    let (_, last_page) = metas.into_iter().max().unwrap_or_default();
    let need = last_page.checked_add(1).and_then(|n| n.checked_mul(u64::from(page)));
    match need {
        Some(need) if need <= len => Ok(false),
        Some(need) if need - len <= UNWRITTEN_BYTES_MAX => {
            file.set_len(need)?;
            Ok(true)
        }
        _ => Err(corrupt("truncated")),
    }
}

/// The longest missing end of a data file: pages of one transaction, which writes at most some hundred
/// megabytes.
const UNWRITTEN_BYTES_MAX: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: [u8; 32] = [3; 32];

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::write(dir.path().join(DATA), b"data").expect("data");
        dir
    }

    #[test]
    fn trusts_only_what_was_closed_and_not_touched() {
        let dir = folder();
        let found = || inspect(dir.path(), &CONFIG).expect("inspect");
        assert_eq!(found(), Found::Nothing, "no mark");
        mark(dir.path(), &CONFIG, Mark::Building).expect("mark");
        assert_eq!(found(), Found::Nothing, "first build not complete");
        mark(dir.path(), &CONFIG, Mark::Dirty).expect("mark");
        assert_eq!(found(), Found::Unverified, "same boot");
        mark_clean(dir.path(), &CONFIG).expect("mark");
        assert_eq!(found(), Found::Clean);
        assert_eq!(inspect(dir.path(), &[4; 32]).expect("inspect"), Found::Nothing, "other config");
        fs::write(dir.path().join(DATA), b"data, and more").expect("data");
        assert_eq!(found(), Found::Damaged, "changed since");
        fs::write(dir.path().join(MARK), format!("{}dirty another-boot\n", header(&CONFIG))).expect("mark");
        assert_eq!(found(), Found::Nothing, "other boot");
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_private_and_a_cache() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("temporary folder");
        let dir = dir.path().join("a/b");
        make_dir(&dir).expect("make");
        mark(&dir, &CONFIG, Mark::Dirty).expect("mark");
        for (path, mode) in [(dir.clone(), 0o700), (dir.join(MARK), 0o600), (dir.join(CACHE_TAG), 0o600)] {
            let is = fs::metadata(&path).expect("metadata").permissions().mode() & 0o777;
            assert_eq!(is, mode, "{path:?}");
        }
        assert!(
            fs::read_to_string(dir.join(CACHE_TAG))
                .expect("tag")
                .starts_with("Signature: 8a477f597d28d172789f")
        );
    }

    /// LMDB counts pages from 0: a file whose last page is 5 has six.
    #[test]
    fn a_data_file_is_made_to_hold_its_last_page() {
        const PAGE: usize = 4_096;
        let mut bytes = vec![0; 8 * PAGE];
        for (page, last_page, txn) in [(0, 5u64, 2u64), (1, 3, 1)] {
            let meta = &mut bytes[page * PAGE + 16..];
            meta[24..28].copy_from_slice(&(PAGE as u32).to_le_bytes());
            meta[120..128].copy_from_slice(&last_page.to_le_bytes());
            meta[128..136].copy_from_slice(&txn.to_le_bytes());
        }
        let dir = folder();
        let lengthened = |bytes: &[u8]| {
            fs::write(dir.path().join(DATA), bytes).expect("data");
            lengthen(dir.path()).map(|_| fs::metadata(dir.path().join(DATA)).expect("data").len()).ok()
        };
        for (len, want) in [(8, Some(8)), (6, Some(6)), (5, Some(6)), (2, Some(6)), (1, None), (0, None)] {
            assert_eq!(lengthened(&bytes[..len * PAGE]), want.map(|n| n * PAGE as u64), "{len} pages");
        }
        bytes[16 + 120..16 + 128].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(lengthened(&bytes), None, "more than any transaction leaves unwritten");
    }

    #[test]
    fn keeps_one_damaged_file() {
        let dir = folder();
        quarantine(dir.path()).expect("quarantine");
        assert_eq!(fs::read(dir.path().join(DAMAGED)).expect("kept"), b"data");
        assert!(!dir.path().join(DATA).exists());
        quarantine(dir.path()).expect("nothing to move");
    }
}
