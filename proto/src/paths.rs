//! Where things are: folders by platform and environment, the socket, the lock, the log.
//!
//! `ctl` and the daemon compute the same answer from the same environment, so that another HOME or
//! another XDG variable is another, isolated user. Where only the runtime folder differs, the lock of the
//! cache folder leads to the daemon ([`Dirs::of_the_daemon`]). The rules follow the XDG Base Directory
//! Specification: relative values are ignored.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a socket path that every supported system takes: `sun_path` holds 104 with its end on
/// macOS, 108 on Linux.
const SOCKET_BYTES_MAX: usize = 103;

/// The folders of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirs {
    /// `config.toml`.
    pub config: PathBuf,
    /// Indexes; may be deleted at any time.
    pub cache: PathBuf,
    /// The log, crash marks, the list of workspaces.
    pub state: PathBuf,
    /// The socket and the lock; private to the user.
    pub runtime: PathBuf,
    /// The user's home, never a workspace by itself.
    pub home: PathBuf,
    /// Set when the system's own runtime folder could not be used, and why.
    pub runtime_note: Option<String>,
}

/// What a version control keeps at the top of a repository, by name: nothing in it is of the repository.
pub const METADATA: [&str; 8] = [".git", ".hg", ".jj", ".svn", ".bzr", ".pijul", ".sl", "_darcs"];

/// Whether a folder is the top of a repository. Git alone may have a file in place of its folder.
pub fn is_repository(dir: &Path) -> bool {
    METADATA.iter().any(|name| {
        let meta = std::fs::symlink_metadata(dir.join(name));
        meta.is_ok_and(|meta| *name == ".git" || meta.is_dir())
    })
}

/// The nearest repository that a folder is in. Old releases of Subversion keep a folder in each folder; the
/// topmost one counts.
pub fn repository_around(dir: &Path) -> Option<&Path> {
    let mut found = dir.ancestors().find(|dir| is_repository(dir))?;
    let has_svn = |dir: &Path| dir.join(".svn").is_dir();
    while let Some(parent) = found.parent().filter(|parent| has_svn(found) && has_svn(parent)) {
        found = parent;
    }
    Some(found)
}

/// Magic numbers of `statfs(2)` of network and userspace file systems, where memory maps and locks are not
/// dependable and changes raise no events.
pub const NETWORK: [u64; 23] = [
    0x6969,      // NFS
    0x517b,      // SMB
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x0102_1997, // 9p
    0x6573_5546, // FUSE
    0x0000_564c, // NCP
    0x00c3_6400, // Ceph
    0x786f_4256, // vboxsf
    0xbacb_acbc, // vmhgfs
    0x7c7c_6673, // Parallels
    0x0bd0_0bd0, // Lustre
    0x4750_4653, // GPFS
    0x1983_0326, // BeeGFS
    0x5346_414f, // AFS (OpenAFS)
    0x6b41_4653, // AFS (kernel)
    0x7375_7245, // Coda
    0x7461_636f, // OCFS2
    0x0116_1970, // GFS2
    0x2003_0528, // OrangeFS
    0xaad7_aaea, // PanFS
    0x6163_6673, // ACFS
    0x00c0_ffee, // hostfs
];

/// Why the folders cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HOME is not set to an absolute path")]
pub struct NoHome;

/// The kinds of systems whose customs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems.
    Unix,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one this was built for.
    pub const OURS: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Unix
    };
}

impl Dirs {
    /// Reads the environment of this process. `uid` is the effective user id; a runtime folder of
    /// another user is not used.
    ///
    /// # Errors
    /// [`NoHome`] when neither HOME nor the user database has one.
    pub fn detect(uid: u32) -> Result<Self, NoHome> {
        let env = |name: &str| match name {
            "HOME" => std::env::var_os(name).or_else(|| std::env::home_dir().map(Into::into)),
            _ => std::env::var_os(name),
        };
        Self::from_env(Platform::OURS, &env, &|dir| is_owned_dir(dir, uid))
    }

    /// The same from any environment; `usable` says whether a system's runtime folder may be used.
    ///
    /// # Errors
    /// [`NoHome`].
    pub fn from_env(
        platform: Platform,
        env: &dyn Fn(&str) -> Option<OsString>,
        usable: &dyn Fn(&Path) -> bool,
    ) -> Result<Self, NoHome> {
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let home = absolute("HOME").or_else(|| absolute("USERPROFILE")).ok_or(NoHome)?;
        let pick = |own: &str, xdg: &str, fallback: PathBuf| {
            absolute(own).unwrap_or_else(|| absolute(xdg).unwrap_or(fallback).join("indexd"))
        };
        let local = || absolute("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData/Local"));
        let config = match platform {
            Platform::Windows => absolute("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming")),
            _ => home.join(".config"),
        };
        let cache = match platform {
            Platform::Unix => home.join(".cache"),
            Platform::Mac => home.join("Library/Caches"),
            Platform::Windows => local().join("cache"),
        };
        let state = match platform {
            Platform::Unix => home.join(".local/state"),
            Platform::Mac => home.join("Library/Application Support"),
            Platform::Windows => local(),
        };
        let key = environment_key(env);
        let (runtime, runtime_note) = runtime_dir(platform, env, usable, key);
        Ok(Self {
            config: pick("INDEXD_CONFIG_DIR", "XDG_CONFIG_HOME", config),
            cache: pick("INDEXD_CACHE_DIR", "XDG_CACHE_HOME", cache),
            state: pick("INDEXD_STATE_DIR", "XDG_STATE_HOME", state),
            runtime,
            home,
            runtime_note,
        })
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        if cfg!(windows) {
            let key = fnv(&[self.runtime.as_os_str().as_encoded_bytes()]);
            return PathBuf::from(format!(r"\\.\pipe\indexd-{key:016x}"));
        }
        self.runtime.join("s")
    }

    /// Who holds this lock is the daemon.
    pub fn lock(&self) -> PathBuf {
        self.runtime.join("lock")
    }

    /// Who holds this lock writes the indexes, whatever the runtime folder is.
    pub fn cache_lock(&self) -> PathBuf {
        self.cache.join("lock")
    }

    /// The process that is the daemon, or is still ending as one: it holds the lock and has written
    /// its id there. `None` when nobody does.
    pub fn lock_holder(&self) -> Option<u32> {
        holder(&self.lock())
    }

    /// The same folders with the runtime folder of the daemon that holds the cache, where it is another one:
    /// a daemon that was started by a session at the desk serves cron, ssh and agents that pass on a few
    /// variables, too, and theirs may say another XDG_RUNTIME_DIR or TMPDIR, or none.
    #[must_use]
    pub fn of_the_daemon(self) -> Self {
        if holder(&self.lock()).is_some() {
            return self;
        }
        match socket_of_holder(&self.cache_lock()).as_deref().and_then(Path::parent) {
            Some(runtime) => Self { runtime: runtime.to_owned(), ..self },
            None => self,
        }
    }

    /// Who holds this lock starts the daemon, so that many clients start one.
    pub fn start_lock(&self) -> PathBuf {
        self.runtime.join("start.lock")
    }

    /// The daemon's log.
    pub fn log(&self) -> PathBuf {
        self.state.join("indexd.log")
    }
}

/// The process that holds a lock and has written its id there.
pub fn holder(lock: &Path) -> Option<u32> {
    written_by_holder(lock)?.lines().next()?.trim().parse().ok()
}

/// The socket of the daemon that holds a lock and has written it there, behind its id.
pub fn socket_of_holder(lock: &Path) -> Option<PathBuf> {
    let socket = PathBuf::from(written_by_holder(lock)?.lines().nth(1)?);
    socket.is_absolute().then_some(socket)
}

/// What a lock holds while it is held.
fn written_by_holder(lock: &Path) -> Option<String> {
    let file = std::fs::File::open(lock).ok()?;
    match file.try_lock_shared() {
        Err(std::fs::TryLockError::WouldBlock) => std::fs::read_to_string(lock).ok(),
        _ => None,
    }
}

fn runtime_dir(
    platform: Platform,
    env: &dyn Fn(&str) -> Option<OsString>,
    usable: &dyn Fn(&Path) -> bool,
    key: u64,
) -> (PathBuf, Option<String>) {
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let fits = |dir: &Path| dir.join("s").as_os_str().len() <= SOCKET_BYTES_MAX;
    let temp = absolute("TMPDIR").or_else(|| absolute("TEMP")).unwrap_or_else(|| PathBuf::from("/tmp"));
    let fallback = |key: u64| {
        let name = format!("indexd-{key:016x}");
        let dir = temp.join(&name);
        if fits(&dir) { dir } else { Path::new("/tmp").join(name) }
    };
    let wanted = match absolute("INDEXD_RUNTIME_DIR") {
        Some(own) => own,
        None => match absolute("XDG_RUNTIME_DIR") {
            Some(dir) if usable(&dir) => dir.join("indexd"),
            Some(_) => {
                return (fallback(key), Some("XDG_RUNTIME_DIR is no folder of this user".to_owned()));
            }
            None if platform == Platform::Unix => {
                return (fallback(key), Some("XDG_RUNTIME_DIR is not set to an absolute path".to_owned()));
            }
            None => return (fallback(key), None),
        },
    };
    if fits(&wanted) {
        return (wanted, None);
    }
    let key = fnv(&[wanted.as_os_str().as_encoded_bytes(), &key.to_le_bytes()]);
    (fallback(key), Some("the runtime folder's path is too long for a socket".to_owned()))
}

/// Hash of what makes a user: HOME and the XDG variables.
fn environment_key(env: &dyn Fn(&str) -> Option<OsString>) -> u64 {
    let names = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "LOCALAPPDATA",
    ];
    let values: Vec<OsString> = names.iter().map(|n| env(n).unwrap_or_default()).collect();
    fnv(&values.iter().map(|v| v.as_encoded_bytes()).collect::<Vec<_>>())
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo), each part ended by a zero byte. Enough for names of folders,
/// and the same in every build.
fn fnv(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|p| p.iter().copied().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(unix)]
fn is_owned_dir(dir: &Path, uid: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(dir).is_ok_and(|m| m.is_dir() && m.uid() == uid)
}

#[cfg(not(unix))]
fn is_owned_dir(dir: &Path, _uid: u32) -> bool {
    dir.is_dir()
}

/// Makes sure that `dir` exists and is private: a folder owned by `uid`, mode 0700. Parents are
/// created as the system does by default; a folder that others can only read is closed. A link is
/// followed when it is the user's own, as that of a cache that was moved to another disk.
///
/// # Errors
/// `PermissionDenied` for a folder that is somebody else's, that others can write to and so may hold
/// anything, or that is no folder at all, else what the system says.
#[cfg(unix)]
pub fn private_dir(dir: &Path, uid: u32) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    let refuse =
        |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {why}", dir.display())));
    match std::fs::symlink_metadata(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = dir.parent() {
                std::fs::create_dir_all(parent)?;
            }
            match std::fs::DirBuilder::new().mode(0o700).create(dir) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
        }
        Err(e) => return Err(e),
        Ok(_) => {}
    }
    let mut meta = std::fs::symlink_metadata(dir)?;
    if meta.is_symlink() && meta.uid() == uid {
        meta = std::fs::metadata(dir)?;
    }
    if !meta.is_dir() {
        return refuse("is not a folder");
    }
    if meta.uid() != uid {
        return refuse("belongs to another user");
    }
    if meta.mode() & 0o022 != 0 {
        return refuse(
            "can be written by other users: remove it, or look through it and close it with chmod 700",
        );
    }
    if meta.mode() & 0o077 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Makes sure that `dir` exists; on this system the user's profile is private already.
///
/// # Errors
/// What the system says.
#[cfg(not(unix))]
pub fn private_dir(dir: &Path, _uid: u32) -> io::Result<()> {
    std::fs::create_dir_all(dir)
}

/// Names of files and folders that make a folder look like a project: those of version control, of
/// manifests and of build files.
const PROJECT_MARKS: &[&str] = &[
    ".git",
    ".hg",
    ".jj",
    ".svn",
    ".bzr",
    ".indexd.toml",
    ".editorconfig",
    ".gitignore",
    ".github",
    "go.mod",
    "go.work",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "tox.ini",
    "Pipfile",
    "Cargo.toml",
    "package.json",
    "tsconfig.json",
    "deno.json",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "build.sbt",
    "build.xml",
    "Gemfile",
    "Rakefile",
    "composer.json",
    "Package.swift",
    "mix.exs",
    "Makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "meson.build",
    "configure.ac",
    "WORKSPACE",
    "MODULE.bazel",
    "Dockerfile",
];

/// Whether a folder looks like a project. One that does not is indexed only when it is named.
pub fn is_project(dir: &Path) -> bool {
    PROJECT_MARKS.iter().any(|mark| dir.join(mark).symlink_metadata().is_ok())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn dirs(platform: Platform, vars: &[(&str, &str)]) -> Result<Dirs, NoHome> {
        let env = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        Dirs::from_env(platform, &env, &|d| !d.ends_with("foreign"))
    }

    fn check(platform: Platform, vars: &[(&str, &str)], expect: [&str; 4]) {
        let d = dirs(platform, vars).unwrap();
        let got = [&d.config, &d.cache, &d.state, &d.runtime].map(|p| p.display().to_string());
        for (got, expect) in got.iter().zip(expect) {
            match expect.strip_suffix('*') {
                Some(prefix) => assert!(got.starts_with(prefix), "{got} {expect} {vars:?}"),
                None => assert_eq!(got, expect, "{vars:?}"),
            }
        }
    }

    #[test]
    fn follows_each_platforms_customs() {
        let home = ("HOME", "/h");
        check(
            Platform::Unix,
            &[home, ("XDG_RUNTIME_DIR", "/run/user/1")],
            ["/h/.config/indexd", "/h/.cache/indexd", "/h/.local/state/indexd", "/run/user/1/indexd"],
        );
        check(
            Platform::Unix,
            &[
                home,
                ("XDG_CONFIG_HOME", "/c"),
                ("XDG_CACHE_HOME", "/k"),
                ("XDG_STATE_HOME", "/s"),
                ("XDG_RUNTIME_DIR", "/r"),
            ],
            ["/c/indexd", "/k/indexd", "/s/indexd", "/r/indexd"],
        );
        check(
            Platform::Mac,
            &[home, ("TMPDIR", "/var/folders/x")],
            [
                "/h/.config/indexd",
                "/h/Library/Caches/indexd",
                "/h/Library/Application Support/indexd",
                "/var/folders/x/indexd-*",
            ],
        );
        check(
            Platform::Unix,
            &[
                home,
                ("INDEXD_CONFIG_DIR", "/1"),
                ("INDEXD_CACHE_DIR", "/2"),
                ("INDEXD_STATE_DIR", "/3"),
                ("INDEXD_RUNTIME_DIR", "/4"),
            ],
            ["/1", "/2", "/3", "/4"],
        );
    }

    #[test]
    fn relative_foreign_and_long_values_are_not_used() {
        let home = ("HOME", "/h");
        check(
            Platform::Unix,
            &[home, ("XDG_CONFIG_HOME", "rel"), ("XDG_CACHE_HOME", ""), ("XDG_RUNTIME_DIR", "run")],
            ["/h/.config/indexd", "/h/.cache/indexd", "/h/.local/state/indexd", "/tmp/indexd-*"],
        );
        let foreign = dirs(Platform::Unix, &[home, ("XDG_RUNTIME_DIR", "/run/foreign")]).unwrap();
        assert!(foreign.runtime.starts_with("/tmp") && foreign.runtime_note.is_some());
        let long = format!("/{}", "x".repeat(200));
        for vars in [
            vec![home, ("XDG_RUNTIME_DIR", &long)],
            vec![home, ("INDEXD_RUNTIME_DIR", &long)],
            vec![home, ("TMPDIR", &long)],
        ] {
            let d = dirs(Platform::Unix, &vars).unwrap();
            assert!(d.socket().as_os_str().len() <= SOCKET_BYTES_MAX, "{}", d.socket().display());
        }
        assert_eq!(dirs(Platform::Unix, &[("HOME", "rel")]), Err(NoHome));
    }

    #[test]
    fn another_environment_is_another_user() {
        let runtime = |vars: &[(&str, &str)]| dirs(Platform::Unix, vars).unwrap().runtime;
        let base = runtime(&[("HOME", "/h")]);
        assert_eq!(base, runtime(&[("HOME", "/h")]));
        assert_ne!(base, runtime(&[("HOME", "/i")]));
        assert_ne!(base, runtime(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/k")]));
    }

    #[test]
    fn a_private_folder_is_ours_alone() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let base = std::env::temp_dir().join(format!("indexd-proto-test-{}", std::process::id()));
        let uid = {
            std::fs::create_dir_all(&base).unwrap();
            std::fs::metadata(&base).unwrap().uid()
        };
        let dir = base.join("a/b");
        private_dir(&dir, uid).unwrap();
        assert_eq!(std::fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
        private_dir(&dir, uid).unwrap();
        assert_eq!(std::fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(private_dir(&dir, uid).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(private_dir(&dir, uid + 1).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let link = base.join("link");
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        private_dir(&link, uid).unwrap();
        assert_eq!(private_dir(&link, uid + 1).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        std::fs::write(base.join("file"), "").unwrap();
        assert_eq!(private_dir(&base.join("file"), uid).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        std::fs::remove_dir_all(&base).unwrap();
    }
}
