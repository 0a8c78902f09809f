//! Configuration: one typed struct, TOML files, and where each value came from.
//!
//! Precedence, strongest first: `INDEXD_*` variables, for `context.*` the repository's
//! `.agent/config.yml` and `rauf.yaml`, its `.indexd.toml`, the user's `config.toml`, defaults. A repository may narrow and never widen: it can lower a budget or
//! add an exclude, not raise or remove one, and settings of the machine are none of its business.
//! In our own files an unknown key is an error that names the nearest key.
//!
//! Each option is declared once in `options!`, with its help, default and what a repository may do
//! to it. Options below `pack.` and `context.` are kept where they are used, in [`indexd_pack::Config`] and
//! [`Settings`].

mod foreign;
mod path_map;

pub use path_map::{Mount, PathMap};

use crate::page::editor::EditorAddress;
use indexd_model::limits;
use indexd_pack::pack::LimitSource;
use indexd_proto::workspace::ConfigEntry;
use indexd_rim::sources::Settings;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The settings file of a repository, at its root; it may narrow what the user set.
pub const REPO_CONFIG: &str = ".indexd.toml";

/// The setting that holds patterns of paths to leave out.
pub const EXCLUDES: &str = "index.exclude";

/// Why a configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file exists and cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("{path} is not valid TOML: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Place and reason.
        message: String,
    },
    /// No such key.
    #[error("unknown key `{key}` in {origin}; did you mean `{nearest}`?")]
    UnknownKey {
        /// As written, with its tables.
        key: String,
        /// The known key that is spelled most alike.
        nearest: String,
        /// Where it stands.
        origin: Origin,
    },
    /// The value has the wrong type or is out of range.
    #[error("wrong value for `{key}` in {origin}: {message}")]
    WrongValue {
        /// The key.
        key: String,
        /// What was expected.
        message: String,
        /// Where it stands.
        origin: Origin,
    },
    /// A repository tried to set more than it may.
    #[error("{origin} may not set `{key}`: {message}")]
    Widens {
        /// The key.
        key: String,
        /// What it may do.
        message: &'static str,
        /// Where it stands.
        origin: Origin,
    },
}

/// Where a value came from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's file.
    User(PathBuf),
    /// The repository's file.
    Repository(PathBuf),
    /// An environment variable of this name.
    Environment(String),
}

impl Origin {
    fn limit_source(&self) -> LimitSource {
        match self {
            Self::Default => LimitSource::Default,
            Self::User(_) => LimitSource::UserFile,
            Self::Repository(_) => LimitSource::RepositoryFile,
            Self::Environment(_) => LimitSource::Environment,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(path) | Self::Repository(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => f.write_str(name),
        }
    }
}

/// What a repository may do to an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Narrow {
    /// Nothing: it concerns the machine.
    Never,
    /// Set it: every value is equally narrow.
    Any,
    /// Lower the number.
    Lower,
    /// Add to the list.
    Add,
    /// Switch it off.
    Off,
}

struct OptionInfo {
    key: &'static str,
    help: &'static str,
    narrow: Narrow,
    /// The smallest number, unless the type says it, and the largest; empty for what has no range.
    range: &'static [(Option<u64>, u64)],
    get: fn(&Config) -> Value,
    set: fn(&mut Config, Value) -> Result<(), serde_json::Error>,
}

/// Variables that concern where files are and how the programs run, not what [`Config`] holds.
const OTHER_VARIABLES: [&str; 7] = [
    "INDEXD_CACHE_DIR",
    "INDEXD_CONFIG_DIR",
    "INDEXD_LOG",
    "INDEXD_NO_AUTOSTART",
    "INDEXD_RUNTIME_DIR",
    "INDEXD_STATE_DIR",
    "INDEXD_STORE_CRASH_DIR",
];

macro_rules! options {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $ty:ty = $default:expr, $key:literal, $narrow:ident $(, $low:literal to $high:literal)?;
    )+
    ---
    $(
        $(#[doc = $inner_doc:literal])+
        in $($place:ident).+, $inner_key:literal, $inner_narrow:ident
            $(, $inner_low:literal to $inner_high:literal)? $(, at most $most:expr)?;
    )+) => {
        /// All settings of the daemon.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $field: $ty,)+
            /// Weights and limits of packs, and the window.
            pub pack: indexd_pack::Config,
            /// Weights and limits of packs of offered sources.
            pub packer: Settings,
            origins: BTreeMap<String, Origin>,
            /// Variables that set nothing, one sentence each.
            ignored: Vec<String>,
            /// What files of other tools say that is not used, one sentence each.
            unused: Vec<String>,
        }

        impl Default for Config {
            fn default() -> Self {
                Self {
                    $($field: $default,)+
                    pack: indexd_pack::Config::default(),
                    packer: Settings::default(),
                    origins: BTreeMap::new(),
                    ignored: Vec::new(),
                    unused: Vec::new(),
                }
            }
        }

        const OPTIONS: &[OptionInfo] = &[$(OptionInfo {
            key: $key,
            help: concat!($($doc),+),
            narrow: Narrow::$narrow,
            range: &[$((Some($low), $high))?],
            get: |c| serde_json::to_value(&c.$field).unwrap_or(Value::Null),
            set: |c, v| { c.$field = serde_json::from_value(v)?; Ok(()) },
        },)+
        $(OptionInfo {
            key: $inner_key,
            help: concat!($($inner_doc),+),
            narrow: Narrow::$inner_narrow,
            range: &[$((Some($inner_low), $inner_high))? $((None, $most as u64))?],
            get: |c| serde_json::to_value(&c.$($place).+).unwrap_or(Value::Null),
            set: |c, v| { c.$($place).+ = serde_json::from_value(v)?; Ok(()) },
        },)+];
    };
}

options! {
    /// Answer requests for packs; off, each says that it is not supported, and previews, figures, records
    /// and searches are still there.
    context_pack_enabled: bool = true, "context_pack.enabled", Off;
    /// Build a pack beside each search for text and record how far both agree; the answer is the search's.
    context_pack_shadow: bool = false, "context_pack.shadow", Any;
    /// The repository's id; empty for the name of its module or project.
    index_name: String = String::new(), "index.name", Any;
    /// Paths to leave out, as in `.gitignore`, relative to the root.
    index_exclude: Vec<String> = Vec::new(), "index.exclude", Add;
    /// Threads of a build; 0 for one per core, at most 8.
    index_threads: u64 = 0, "index.threads", Never, 0 to 256;
    /// Count tokens of definitions while idle, so that the first packs are fast.
    index_background_tokens: bool = true, "index.background_tokens", Off;
    /// Replace keys, tokens and passwords in files by `[REDACTED:kind]` before anything is indexed.
    index_redact_secrets: bool = true, "index.redact_secrets", Never;
    /// Begin the index of a worktree or clone as a copy of one that is like it, keep of closed indexes that
    /// are alike what they have apart, and keep the facts of contents that leave an index, for when they come
    /// back.
    index_share: bool = true, "index.share", Never;
    /// The store of published indexes: `s3://`, `gs://`, `az://`, `file://` or `https://`. The first index of a
    /// repository begins with the nearest one; empty for none.
    share_url: String = String::new(), "share.url", Never;
    /// Publish the index after `ctl index --wait`, as in CI.
    share_push: bool = false, "share.push", Never;
    /// Commits read for ranking; 0 switches history off.
    history_commits_max: u64 = 2_000, "history.commits_max", Lower, 0 to 1_000_000;
    /// The address of an editor that places on pages and pictures lead to, with `{path}` and `{line}`; empty
    /// for no links.
    page_editor: EditorAddress = EditorAddress::default(), "page.editor", Never;
    /// Answer the tools of `ctl mcp`; off, each says that it is not supported.
    mcp_enabled: bool = true, "mcp.enabled", Off;
    /// Notice changes by events of the file system; without, every request compares the tree.
    watch_enabled: bool = true, "watch.enabled", Never;
    /// Seconds between comparisons of the tree where events cannot be relied on.
    watch_sweep_s: u64 = 60, "watch.sweep_s", Never, 1 to 86_400;
    /// Milliseconds that a request waits for a fresh index. Where the watcher's queue cannot be read, which is
    /// possible on Linux, a quarter of them is for the watcher, before the tree is compared.
    freshness_wait_ms: u64 = 2_000, "freshness.wait_ms", Never, 0 to 600_000;
    /// Seconds without a request after which a workspace is closed; it opens again on demand.
    workspace_idle_close_s: u64 = 1_800, "workspace.idle_close_s", Never, 1 to 31_536_000;
    /// MiB of private memory above which the daemon lets go of what it keeps for later requests, then
    /// closes the workspaces that were asked least lately.
    daemon_memory_mb: u64 = 512, "daemon.memory_mb", Never, 64 to 1_048_576;
    /// Folders that containers know by another path, as `HOST=CONTAINER`.
    daemon_path_map: PathMap = PathMap::default(), "daemon.path_map", Never;
    /// Days after which the index of a repository that nobody asked for is removed; 0 for never.
    workspace_keep_days: u64 = 60, "workspace.keep_days", Never, 0 to 36_500;
    /// Seconds without a connection after which the daemon exits; 0 for never.
    daemon_idle_exit_s: u64 = 10_800, "daemon.idle_exit_s", Never, 0 to 31_536_000;
    ---
    /// Token counter used when a request names none.
    in pack.tokenizer, "pack.tokenizer", Any;
    /// Characters of the rendering.
    in pack.budgets.max_total_chars, "pack.budgets.max_total_chars", Lower, at most limits::TOTAL_CHARS_MAX;
    /// Tokens of the rendering, where the window leaves as many.
    in pack.budgets.max_total_tokens, "pack.budgets.max_total_tokens", Lower;
    /// Items.
    in pack.budgets.max_items, "pack.budgets.max_items", Lower, at most limits::ITEMS_MAX;
    /// Items of one section.
    in pack.budgets.max_items_per_section, "pack.budgets.max_items_per_section", Lower, at most limits::ITEMS_PER_SECTION_MAX;
    /// Bytes of one excerpt; a line longer than that is cut inside.
    in pack.budgets.max_bytes_per_item, "pack.budgets.max_bytes_per_item", Lower, at most limits::BYTES_PER_ITEM_MAX;
    /// Hops.
    in pack.budgets.max_hops, "pack.budgets.max_hops", Lower, at most limits::HOPS_MAX;
    /// Percent that `generic` adds.
    in pack.headroom.generic, "pack.headroom.generic", Never;
    /// Percent that `claude` adds.
    in pack.headroom.claude, "pack.headroom.claude", Never;
    /// Items guaranteed whenever there is content and a positive budget.
    in pack.min_items, "pack.min_items", Lower, at most limits::ITEMS_MAX;
    /// The same for tests; of the three lists this one goes first, then `config`.
    in pack.roles.tests, "pack.roles.tests", Any;
    /// Patterns of paths that are configuration and build files whatever their names say.
    in pack.roles.config, "pack.roles.config", Any;
    /// The same for documents.
    in pack.roles.docs, "pack.roles.docs", Any;
    /// Tokens of the whole window; the reserves are taken off it, and packs of the index and of offered
    /// sources have at most the rest.
    in pack.window.total_tokens, "context.budget.total", Lower, 0 to 100_000_000;
    /// Tokens of it that are kept free for the response.
    in pack.window.response_reserve, "context.budget.response_reserve", Any, 0 to 100_000_000;
    /// Tokens of it that are kept free for the system prompt.
    in pack.window.system_reserve, "context.budget.system_reserve", Any, 0 to 100_000_000;
    /// Tokens of a chunk of an offered source at most.
    in packer.max_chunk_tokens, "context.chunking.max_chunk_tokens", Any, 1 to 1_000_000;
    /// Tokens of such a chunk at least, where more text is at hand.
    in packer.min_chunk_tokens, "context.chunking.min_chunk_tokens", Any, 0 to 1_000_000;
    /// Whether such chunks end where definitions and sections end.
    in packer.prefer_structural, "context.chunking.prefer_structural", Any;
    /// Weight of relevance among offered sources; what counts is its share of the three weights.
    in packer.relevance_weight, "context.ranking.relevance_weight", Any, 0 to 1_000;
    /// Weight of recency.
    in packer.recency_weight, "context.ranking.recency_weight", Any, 0 to 1_000;
    /// Weight of the kind of source.
    in packer.source_weight, "context.ranking.source_weight", Any, 0 to 1_000;
    /// What output of tools counts; what matters is the ratio to the highest of the four.
    in packer.priorities.tool_result, "context.source_priority.tool_results", Any, 0 to 1_000_000;
    /// What files open in an editor count.
    in packer.priorities.open_file, "context.source_priority.open_files", Any, 0 to 1_000_000;
    /// What hits of searches count.
    in packer.priorities.search_result, "context.source_priority.search_results", Any, 0 to 1_000_000;
    /// What references count.
    in packer.priorities.reference, "context.source_priority.references", Any, 0 to 1_000_000;
}

/// When the settings files of a repository were changed last, and their sizes; `None` for an absent one.
pub type Stamp = Vec<Option<(std::time::SystemTime, u64)>>;

/// The stamp of the settings files of the repository at `root`. Nothing is read.
pub fn stamp(root: &Path) -> Stamp {
    let names = foreign::FILES.iter().map(|(name, _)| *name).chain([REPO_CONFIG]);
    let of = |meta: std::fs::Metadata| Some((meta.modified().ok()?, meta.len()));
    names.map(|name| root.join(name).symlink_metadata().ok().and_then(of)).collect()
}

/// The user's file in the config folder.
pub const USER_FILE: &str = "config.toml";

impl Config {
    /// Reads the user's file in `dir`, then `INDEXD_*` of `env`.
    /// An absent file is an empty one.
    ///
    /// # Errors
    /// Every [`ConfigError`] but `Widens`; the first one found, in file order.
    pub fn load(dir: &Path, env: impl IntoIterator<Item = (String, String)>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        let path = dir.join(USER_FILE);
        for (key, value) in read_file(&path)? {
            config.set(&key, value, Origin::User(path.clone()))?;
        }
        let env: BTreeMap<String, String> = env.into_iter().collect();
        for key in keys() {
            let name = variable(&key);
            if let Some(text) = env.get(&name) {
                config.set_text(&key, text, Origin::Environment(name))?;
            }
        }
        config.ignored = ignored(env.keys());
        config.check_context()?;
        Ok(config)
    }

    /// The `INDEXD_*` variables that set nothing, in order of their names, one sentence each. They are not errors,
    /// as a key in a file is: the same environment may serve several versions of the programs.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// What files of other tools say that is not used, one sentence each.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// These settings narrowed by the `.indexd.toml` of the repository at `root`, and by what files of
    /// other tools there say of `context.*`. The value of a variable stays.
    ///
    /// # Errors
    /// As [`Config::load`], and `Widens` for what a repository may not do.
    pub fn for_repository(&self, root: &Path) -> Result<Self, ConfigError> {
        let mut config = self.clone();
        let path = root.join(REPO_CONFIG);
        if path.symlink_metadata().is_ok_and(|m| m.is_file() && m.len() <= 1 << 20) {
            for (key, value) in read_file(&path)? {
                config.narrow(&key, value, Origin::Repository(path.clone()))?;
            }
            config.check_context()?;
        }
        for (name, blocks) in foreign::FILES {
            config.narrow_by_foreign(root, name, blocks);
        }
        Ok(config)
    }

    /// Sets what a repository may set.
    fn narrow(&mut self, key: &str, value: Value, origin: Origin) -> Result<(), ConfigError> {
        let narrow = option(key).ok_or_else(|| unknown(key, origin.clone()))?.narrow;
        let old = self.get(key).unwrap_or(Value::Null);
        let value = narrowed(narrow, &old, value).map_err(|message| ConfigError::Widens {
            key: key.to_owned(),
            message,
            origin: origin.clone(),
        })?;
        match self.origin(key) {
            Origin::Environment(_) => Ok(()),
            _ => self.set(key, value, origin),
        }
    }

    /// Sets what a file of another tool says of `context.*`. What cannot be used is named.
    fn narrow_by_foreign(&mut self, root: &Path, name: &str, blocks: &[&str]) {
        let found = match foreign::read(root, name, blocks) {
            Ok(found) => found,
            Err(why) => return self.unused.push(why),
        };
        let origin = Origin::Repository(root.join(name));
        let before = self.clone();
        for (key, value) in found {
            let here = Origin::Repository(root.to_owned());
            let old = matches!(self.origin(&key), Origin::Repository(_)).then(|| self.get(&key)).flatten();
            if let Some(old) = old.filter(|old| *old != value) {
                let from = self.origin(&key).to_string().replace(&format!("{here}/"), "");
                self.unused.push(format!("`{key}` is {value} by {name}, and {old} by {from} does not count"));
            }
            if let Err(e) = self.narrow(&key, value, origin.clone()) {
                self.unused.push(e.to_string().replace(&format!("{here}/"), ""));
            }
        }
        if let Err(e) = self.check_context() {
            let unused = std::mem::take(&mut self.unused);
            *self = before;
            self.unused.extend(unused);
            self.unused.push(format!("{name} is ignored: {e}"));
        }
    }

    /// What can be wrong with several settings together.
    fn check_context(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, message: &str| ConfigError::WrongValue {
            key: key.to_owned(),
            message: message.to_owned(),
            origin: self.origin(key),
        };
        if self.packer.relevance_weight + self.packer.recency_weight + self.packer.source_weight <= 0.0 {
            let message = "one weight of context.ranking must be above 0";
            return Err(wrong("context.ranking.relevance_weight", message));
        }
        if self.packer.min_chunk_tokens > self.packer.max_chunk_tokens {
            let message = "it is above context.chunking.max_chunk_tokens";
            return Err(wrong("context.chunking.min_chunk_tokens", message));
        }
        Ok(())
    }

    /// Every option in order of its key.
    pub fn entries(&self) -> Vec<ConfigEntry> {
        let defaults = Self::default();
        let entry = |key: String| ConfigEntry {
            value: self.get(&key).unwrap_or(Value::Null),
            default: defaults.get(&key).unwrap_or(Value::Null),
            origin: self.origin(&key).to_string(),
            key,
        };
        keys().into_iter().map(entry).collect()
    }

    /// Where the value of `key` came from.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    fn get(&self, key: &str) -> Option<Value> {
        option(key).map(|o| (o.get)(self))
    }

    fn set_text(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let old = self.get(key).ok_or_else(|| unknown(key, origin.clone()))?;
        let value = match old {
            Value::String(_) => Value::String(text.to_owned()),
            Value::Array(_) => Value::Array(
                text.split(',')
                    .filter(|t| !t.is_empty())
                    .map(|t| Value::String(t.trim().to_owned()))
                    .collect(),
            ),
            _ => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
        };
        self.set(key, value, origin)
    }

    fn set(&mut self, key: &str, value: Value, origin: Origin) -> Result<(), ConfigError> {
        let wrong = |message: String| ConfigError::WrongValue {
            key: key.to_owned(),
            message,
            origin: origin.clone(),
        };
        checked(key, &value).map_err(wrong)?;
        let option = option(key).ok_or_else(|| unknown(key, origin.clone()))?;
        let before = self.pack.roles.clone();
        (option.set)(self, value).map_err(|e| wrong(e.to_string()))?;
        if let Err(e) = self.pack.roles.compile() {
            self.pack.roles = before;
            return Err(wrong(e));
        }
        self.pack.sources = self.packer.scoring();
        if let Some(name) = key.strip_prefix("pack.budgets.") {
            self.pack.origins.insert(camel(name), origin.limit_source());
        } else if key.starts_with("context.budget.") {
            self.pack.origins.insert("window".to_owned(), origin.limit_source());
        }
        self.origins.insert(key.to_owned(), origin);
        Ok(())
    }
}

fn option(key: &str) -> Option<&'static OptionInfo> {
    OPTIONS.iter().find(|o| o.key == key)
}

/// Refuses what the type of an option allows and nothing good can come of; the type itself is
/// checked when the value is set.
fn checked(key: &str, value: &Value) -> Result<(), String> {
    if key == EXCLUDES {
        return value.as_array().into_iter().flatten().filter_map(Value::as_str).try_for_each(|pattern| {
            fault_of(pattern).map_or(Ok(()), |fault| Err(format!("{pattern:?} is not a pattern: {fault}")))
        });
    }
    let names = indexd_text::tokens::NAMES;
    match value.as_str() {
        Some(name) if key == "pack.tokenizer" && !names.contains(&name) => {
            return Err(format!("{name:?} is none of {}", names.join(", ")));
        }
        _ => {}
    }
    match (option(key).and_then(|o| o.range.first()), value.as_f64()) {
        (Some((Some(low), high)), Some(n)) if n < *low as f64 || n > *high as f64 => {
            Err(format!("{value} is not from {low} to {high}"))
        }
        (Some((None, high)), Some(n)) if n > *high as f64 => Err(format!("it may be at most {high}")),
        _ => Ok(()),
    }
}

/// Why an exclude does not do what it seems to do; in a file of git's nobody would say.
fn fault_of(pattern: &str) -> Option<&'static str> {
    let braces = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    match gix_ignore::parse(pattern.as_bytes(), false).count() {
        0 => Some("it is empty or a comment"),
        1 if braces.into_iter().any(|(inner, _)| inner.contains(',')) => {
            Some("braces are not special in git's patterns; write one pattern for each")
        }
        1 => None,
        _ => Some("it has more than one line"),
    }
}

/// Every key, ordered.
fn keys() -> Vec<String> {
    let mut keys: Vec<String> = OPTIONS.iter().map(|o| o.key.to_owned()).collect();
    keys.sort();
    keys
}

/// The variable of a key: `watch.sweep_s` is `INDEXD_WATCH_SWEEP_S`.
fn variable(key: &str) -> String {
    format!("INDEXD_{}", key.replace('.', "_").to_uppercase())
}

/// The help of an option; empty for an unknown one.
pub fn help(key: &str) -> &'static str {
    option(key).map_or("", |o| o.help.trim())
}

/// Dotted keys and values of a TOML file, in file order.
fn read_file(path: &Path) -> Result<Vec<(String, Value)>, ConfigError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    let syntax = |message: String| ConfigError::Syntax { path: path.to_owned(), message };
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| syntax(e.to_string()))?;
    let tree = serde_json::to_value(table).map_err(|e| syntax(e.to_string()))?;
    let mut out = Vec::new();
    leaves("", &tree, &mut |key, value| out.push((key.to_owned(), value.clone())));
    Ok(out)
}

fn leaves(prefix: &str, value: &Value, f: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                leaves(&key, value, f);
            }
        }
        value => f(prefix, value),
    }
}

fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut up = false;
    for c in name.chars() {
        match c {
            '_' => up = true,
            c => {
                out.push(if up { c.to_ascii_uppercase() } else { c });
                up = false;
            }
        }
    }
    out
}

/// The value a repository's setting leads to.
fn narrowed(narrow: Narrow, old: &Value, new: Value) -> Result<Value, &'static str> {
    match narrow {
        Narrow::Never => Err("it is a setting of the user"),
        Narrow::Any => Ok(new),
        Narrow::Lower if new.as_f64() <= old.as_f64() || !new.is_number() => Ok(new),
        Narrow::Lower => Err("it may only be lowered"),
        Narrow::Off if new == Value::Bool(true) && old == &Value::Bool(false) => {
            Err("it may only be switched off")
        }
        Narrow::Off => Ok(new),
        Narrow::Add => match (old, new) {
            (Value::Array(old), Value::Array(new)) => {
                Ok(Value::Array(old.iter().cloned().chain(new).collect()))
            }
            (_, new) => Ok(new),
        },
    }
}

fn unknown(key: &str, origin: Origin) -> ConfigError {
    ConfigError::UnknownKey { key: key.to_owned(), nearest: nearest(key, keys()), origin }
}

fn ignored<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let known: Vec<String> =
        keys().iter().map(|k| variable(k)).chain(OTHER_VARIABLES.map(str::to_owned)).collect();
    let said = |name: &String| {
        let nearest = nearest(name, known.clone());
        format!("{name} is no setting and is ignored; did you mean {nearest}?")
    };
    names.filter(|name| name.starts_with("INDEXD_") && !known.contains(name)).map(said).collect()
}

/// The name of `known` that is spelled most like `name`, the first of several.
fn nearest(name: &str, known: Vec<String>) -> String {
    known.into_iter().min_by_key(|known| (indexd_text::edits(name, known), known.clone())).unwrap_or_default()
}

#[cfg(test)]
mod tests;
