//! Opening and closing the environment.

use crate::bulk::Bulk;
use crate::directory::Directory;
use crate::error::{Result, StoreError};
use crate::meta::Meta;
use crate::opened::Idle;
use crate::recovery::{self, Found, Mark};
use crate::snapshot::Snapshot;
use crate::tables::{N_TABLES, Tables};
use crate::untouched::{Untouched, Writing};
use crate::write::WriteTxn;
use heed::{Env, EnvFlags, EnvOpenOptions, WithoutTls};
use indexd_os::faults;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Bytes of address space to reserve. Only space that is used takes disk; the map is never resized,
/// since LMDB does not notice readers whose pointers dangle. Windows allocates what is mapped.
const MAP_BYTES: u64 = if cfg!(windows) { 1 << 30 } else { 256 << 30 };
/// The smallest map that is tried.
const MAP_BYTES_MIN: u64 = 64 << 20;
/// Limit on snapshots open at one time.
const READERS_MAX: u32 = 512;

/// The index of one workspace. Cheap to clone; the environment closes with the last clone.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

/// A handle of an index that may have been closed.
#[derive(Clone)]
pub struct WeakStore(Weak<Inner>);

impl WeakStore {
    /// The index, unless it was closed.
    pub fn upgrade(&self) -> Option<Store> {
        self.0.upgrade().map(|inner| Store { inner })
    }
}

/// The result of opening.
pub enum Opened {
    /// A complete index.
    Ready(Store),
    /// An empty environment: the index must be built with [`Store::bulk`].
    Fresh(Store),
    /// The last writer of this boot did not close the index. Run [`crate::verify()`] in a child
    /// process; then either [`Store::open_verified`], or [`Store::quarantine`] and open again.
    Unverified,
}

pub(crate) struct Inner {
    /// Dropped before the environment.
    pub idle: Idle,
    pub env: Env<WithoutTls>,
    pub tables: Tables,
    pub config: [u8; 32],
    pub directory: Mutex<Option<(u64, Arc<Directory>)>>,
    dir: PathBuf,
    map_bytes: u64,
    generation: AtomicU64,
    damaged: AtomicBool,
    /// State of the data file as this process left it.
    untouched: Arc<Untouched>,
    /// State of the mark on disk, and whether the index is closed.
    marked: Mutex<Marked>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marked {
    Clean,
    Building,
    Dirty,
    Closed,
}

impl Store {
    /// Opens the index in `dir`, which is created if necessary. `config` is everything apart from the files
    /// that shapes an index: its settings and the versions of the extractors. An index of another format or
    /// config, and one that a power loss may have damaged, is deleted.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when this process has it open already, [`StoreError::Corrupt`] when it was
    /// changed after it was closed, [`StoreError::Io`] when the folder cannot be used.
    pub fn open(dir: &Path, config: &[u8]) -> Result<Opened> {
        Self::open_mapped(dir, config, MAP_BYTES, false)
    }

    /// Opens an index that [`Store::open`] called unverified and that [`crate::verify()`] accepted.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_verified(dir: &Path, config: &[u8]) -> Result<Opened> {
        Self::open_mapped(dir, config, MAP_BYTES, true)
    }

    /// Moves a damaged index aside, replacing one moved before, so that opening starts with an empty index.
    /// The index must not be open.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the files cannot be moved.
    pub fn quarantine(dir: &Path) -> Result<()> {
        recovery::quarantine(dir)
    }

    /// Returns true if an index was moved aside from the folder `dir`.
    pub fn was_quarantined(dir: &Path) -> bool {
        recovery::was_quarantined(dir)
    }

    pub(crate) fn open_mapped(dir: &Path, config: &[u8], map_bytes: u64, verified: bool) -> Result<Opened> {
        recovery::make_dir(dir)?;
        let config = *blake3::hash(config).as_bytes();
        let marked = match recovery::inspect(dir, &config)? {
            Found::Unverified if !verified => return Ok(Opened::Unverified),
            Found::Unverified => Marked::Dirty,
            Found::Damaged => return Err(StoreError::Corrupt("data file: not as it was closed".into())),
            Found::Clean => Marked::Clean,
            Found::Nothing => return Self::create(dir, config, map_bytes).map(Opened::Fresh),
        };
        // The mark of an index that was closed holds for the file as it was.
        if recovery::lengthen(dir)? && marked == Marked::Clean {
            recovery::mark_clean(dir, &config)?;
        }
        let (env, map_bytes) = open_env(dir, map_bytes)?;
        let tables = Tables::open(&env)?;
        let txn = env.read_txn()?;
        let meta = match &tables {
            Some(tables) => Meta::read(tables, &txn)?,
            None => None,
        };
        drop(txn);
        match (tables, meta) {
            (Some(tables), Some(meta)) if meta.config == config => {
                Ok(Opened::Ready(Self::new(dir, env, tables, config, map_bytes, meta.generation, marked)))
            }
            _ => {
                env.prepare_for_closing().wait();
                Self::create(dir, config, map_bytes).map(Opened::Fresh)
            }
        }
    }

    /// Makes an empty index with the config of this one.
    pub(crate) fn create_beside(&self, dir: &Path) -> Result<Self> {
        Self::create(dir, self.inner.config, self.inner.map_bytes)
    }

    fn create(dir: &Path, config: [u8; 32], map_bytes: u64) -> Result<Self> {
        recovery::discard(dir)?;
        recovery::mark(dir, &config, Mark::Building)?;
        let (env, map_bytes) = open_env(dir, map_bytes)?;
        let tables = Tables::create(&env)?;
        Ok(Self::new(dir, env, tables, config, map_bytes, 0, Marked::Building))
    }

    fn new(
        dir: &Path,
        env: Env<WithoutTls>,
        tables: Tables,
        config: [u8; 32],
        map_bytes: u64,
        generation: u64,
        marked: Marked,
    ) -> Self {
        let inner = Inner {
            idle: Idle::default(),
            env,
            tables,
            config,
            directory: Mutex::new(None),
            dir: dir.to_owned(),
            map_bytes,
            generation: AtomicU64::new(generation),
            damaged: AtomicBool::new(false),
            untouched: Arc::new(Untouched::new(dir)),
            marked: Mutex::new(marked),
        };
        Self { inner: Arc::new(inner) }
    }

    /// A view of the last committed state. Readers and the writer never wait for each other, but a
    /// snapshot kept open makes the file grow: open one for each request.
    ///
    /// # Errors
    /// [`StoreError::Busy`] before the first build, and above 512 snapshots at one time.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::open(self)
    }

    /// Starts the write transaction, after the previous one has ended.
    ///
    /// # Errors
    /// [`StoreError::Busy`] before the first build and after closing.
    pub fn begin(&self) -> Result<WriteTxn<'_>> {
        let txn = WriteTxn::begin(self)?;
        self.inner.idle.clear();
        self.mark_dirty()?;
        Ok(txn)
    }

    /// Starts a write transaction that is never committed, after the previous one has ended. It becomes a
    /// view with [`WriteTxn::into_unsaved`]. Other writers wait as long as either exists. The mark of the
    /// index does not change.
    ///
    /// # Errors
    /// [`StoreError::Busy`] before the first build and after closing.
    pub fn begin_unsaved(&self) -> Result<WriteTxn<'_>> {
        // Nothing is committed, so the mark does not change and pages in use by readers are not reused.
        drop(self.writable()?);
        WriteTxn::begin(self)
    }

    /// Starts the first build of an index that opened as fresh.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when there is an index already.
    pub fn bulk(&self) -> Result<Bulk> {
        match *self.marked() {
            Marked::Building => Bulk::new(self),
            _ => Err(StoreError::Busy("built already")),
        }
    }

    /// Writes commits through to the disk.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`] from the system.
    pub fn sync(&self) -> Result<()> {
        faults::before("sync", &self.inner.dir.to_string_lossy())?;
        Ok(self.inner.env.force_sync()?)
    }

    /// Writes commits through to the disk and marks the index clean: the next opening trusts it. An index in
    /// which damage was met, or that another program wrote to, is marked damaged. No clone can write
    /// afterwards. An unfinished first build stays unfinished.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it is marked damaged; as [`Store::sync`], and the index then stays
    /// marked dirty.
    pub fn close_clean(self) -> Result<()> {
        let (before, dir, config) = (self.end_writing()?, &self.inner.dir, &self.inner.config);
        if matches!(before, Marked::Building | Marked::Closed) {
            return Ok(());
        }
        if let Err(e) = self.check_sound() {
            recovery::mark(dir, config, Mark::Damaged)?;
            return Err(e);
        }
        // If nothing was written, the checksum from opening is still valid.
        if before == Marked::Dirty {
            self.sync()?;
            recovery::mark_clean(dir, config)?;
        }
        Ok(())
    }

    /// Marks the index damaged: the next opening reports that, and the caller rebuilds it.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`] from the system.
    pub fn close_damaged(self) -> Result<()> {
        self.end_writing()?;
        Ok(recovery::mark(&self.inner.dir, &self.inner.config, Mark::Damaged)?)
    }

    /// Prevents further writes by any clone and returns the state of the mark.
    fn end_writing(&self) -> Result<Marked> {
        // Wait for a write transaction of another clone.
        let txn = self.inner.env.write_txn()?;
        let before = std::mem::replace(&mut *self.marked(), Marked::Closed);
        drop(txn);
        Ok(before)
    }

    /// Returns true if there were commits since the index was last closed.
    pub fn is_dirty(&self) -> bool {
        *self.marked() == Marked::Dirty
    }

    /// Checks that no damage was met so far.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`].
    pub(crate) fn check_sound(&self) -> Result<()> {
        if self.is_damaged() {
            return Err(StoreError::Corrupt("found while reading".into()));
        }
        self.check_untouched()
    }

    /// Checks that nothing but this process has written to the data file. Rows have checksums, but one page
    /// overwritten with another one hides the rows of the former.
    pub(crate) fn check_untouched(&self) -> Result<()> {
        self.noting(self.inner.untouched.check())
    }

    /// Notes that a write transaction is about to begin. Drop the result after its end.
    pub(crate) fn writing(&self) -> Writing {
        Writing::begin(&self.inner.untouched)
    }

    /// Returns true if it is an index of this `config`.
    pub fn is_of(&self, config: &[u8]) -> bool {
        self.inner.config == *blake3::hash(config).as_bytes()
    }

    /// A handle that does not keep the index open.
    pub fn downgrade(&self) -> WeakStore {
        WeakStore(Arc::downgrade(&self.inner))
    }

    /// Bytes of the data file.
    pub fn size_bytes(&self) -> u64 {
        self.inner.env.real_disk_size().unwrap_or(0)
    }

    /// Bytes at which the index is full: the reserved address space.
    pub fn map_bytes(&self) -> u64 {
        self.inner.map_bytes
    }

    /// Number of the last committed state; 0 before the first build.
    pub fn generation(&self) -> u64 {
        self.inner.generation.load(Ordering::Acquire)
    }

    /// Returns true if only the caller and `n_others` more have clones, so that dropping these closes it.
    pub fn is_held_by(&self, n_others: usize) -> bool {
        Arc::strong_count(&self.inner) <= 1 + n_others
    }

    /// Forgets the decoded rows that are kept for the next request.
    pub fn forget_opened(&self) {
        self.inner.idle.clear();
    }

    /// Returns true if a read met damage: no answer is possible, the index must be rebuilt.
    pub fn is_damaged(&self) -> bool {
        self.inner.damaged.load(Ordering::Acquire)
    }

    /// The result of a read; damage is noted.
    pub(crate) fn noting<T>(&self, result: Result<T>) -> Result<T> {
        result.inspect_err(|e| _ = self.inner.damaged.fetch_or(e.is_damage(), Ordering::AcqRel))
    }

    /// Notes a commit.
    pub(crate) fn set_generation(&self, generation: u64) {
        self.inner.generation.store(generation, Ordering::Release);
    }

    /// Puts the dirty mark on disk before the first commit since the index was clean. Must be called inside
    /// the write transaction, so that closing cannot come between.
    pub(crate) fn mark_dirty(&self) -> Result<()> {
        let marked = self.writable()?;
        if *marked == Marked::Clean { self.mark(marked) } else { Ok(()) }
    }

    /// Ends the first build: the committed rows are an index from now on.
    pub(crate) fn mark_built(&self) -> Result<()> {
        self.mark(self.marked())
    }

    fn mark(&self, mut marked: MutexGuard<Marked>) -> Result<()> {
        recovery::mark(&self.inner.dir, &self.inner.config, Mark::Dirty)?;
        *marked = Marked::Dirty;
        Ok(())
    }

    /// The state of the mark of an index that can be written to.
    fn writable(&self) -> Result<MutexGuard<'_, Marked>> {
        let marked = self.marked();
        match *marked {
            Marked::Clean | Marked::Dirty => Ok(marked),
            Marked::Building => Err(StoreError::Busy("not built yet")),
            Marked::Closed => Err(StoreError::Busy("closed")),
        }
    }

    /// The folder of the index.
    pub(crate) fn dir(&self) -> &Path {
        &self.inner.dir
    }

    fn marked(&self) -> MutexGuard<'_, Marked> {
        self.inner.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens LMDB with the largest map that the system grants.
pub(crate) fn open_env(dir: &Path, map_bytes: u64) -> Result<(Env<WithoutTls>, u64)> {
    let mut bytes = map_bytes;
    faults::before("map", &dir.to_string_lossy())?;
    loop {
        let size = usize::try_from(bytes).unwrap_or(1 << 30);
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(size).max_dbs(N_TABLES).max_readers(READERS_MAX);
        #[expect(unsafe_code, reason = "heed's open maps a file, which Rust cannot know to be safe")]
        // SAFETY: NO_SYNC is the only flag and gives up durability, which the mark accounts for. The file is
        // in a private folder. Only this process, which holds the daemon's lock, and its verifying child,
        // which runs while it is closed, open it; neither truncates it.
        let opened = unsafe { options.flags(EnvFlags::NO_SYNC).open(dir) };
        match opened {
            Ok(env) => {
                env.clear_stale_readers()?;
                return Ok((env, size as u64));
            }
            Err(heed::Error::Io(e)) if is_too_large(&e) && bytes > MAP_BYTES_MIN => bytes /= 2,
            Err(e) => return Err(e.into()),
        }
    }
}

/// Returns true if a map is refused for its size. Valgrind reports that as an invalid argument.
fn is_too_large(e: &std::io::Error) -> bool {
    matches!(e.kind(), std::io::ErrorKind::OutOfMemory | std::io::ErrorKind::InvalidInput)
}
