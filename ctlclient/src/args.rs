//! The command line: every option once, with its help.

mod grep;
mod lookup;
mod pack;

pub use grep::GrepArgs;
pub use lookup::{CallersArgs, CardArgs, GraphArgs, PictureArgs, SearchArgs, ShowArgs, SymbolArgs, WhyArgs};
pub use pack::{Format, PackArgs, SearchWith};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Context packs from a local code index.
#[derive(Debug, Parser)]
#[command(
    name = "ctl",
    max_term_width = 80,
    disable_version_flag = true,
    after_help = "Examples:
  ctl pack where is the retry delay decided --expect 'backoff retryDelay jitter'
  ctl show Client.get
  ctl callers Client.get --depth 2
  ctl status

The daemon starts by itself. Exit codes: 0 ok, 1 nothing found (search, why),
2 usage, 65 bad data, 66 no such repository, symbol or pack, 69 daemon not
available, 70 internal, 73 cannot create, 74 storage, 75 try again,
77 permission, 78 configuration, 130 interrupted, 141 broken pipe."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Print the versions of ctl and of the running daemon
    #[arg(short = 'V', long)]
    pub version: bool,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
pub struct Common {
    /// The repository's root itself [default: found from the current folder]
    #[arg(long, value_name = "DIR", global = true, help_heading = "Common options")]
    pub repo: Option<PathBuf>,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = "Common options")]
    pub directory: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true, help_heading = "Common options")]
    pub json: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = "Common options")]
    pub color: ColorWhen,
    /// No progress and no warnings
    #[arg(short, long, global = true, help_heading = "Common options")]
    pub quiet: bool,
    /// Say on stderr what the answer took
    #[arg(short, long, global = true, help_heading = "Common options")]
    pub verbose: bool,
    /// Give up after SEC seconds
    #[arg(long, value_name = "SEC", global = true, help_heading = "Common options")]
    pub timeout: Option<f64>,
    /// Name the request in the daemon's log: 1 to 64 of A-Z a-z 0-9 - _ . :
    #[arg(long, value_name = "ID", global = true, help_heading = "Common options")]
    pub correlation_id: Option<String>,
    /// Do not start a daemon: serve this one request from a child process
    #[arg(long, global = true, help_heading = "Common options")]
    pub no_daemon: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Assemble a context pack: the code a task needs, within a token budget
    #[command(alias = "context-pack", after_help = PACK_EXAMPLES)]
    Pack(Box<PackArgs>),
    /// Describe a repository: entry points, modules, settings, side effects
    #[command(after_help = MAP_EXAMPLES)]
    Map(MapArgs),
    /// Say what a pack would hold, without its text
    #[command(
        mut_args(of_preview),
        after_help = "Example:\n  ctl preview \"where is the retry delay decided\" --explain"
    )]
    Preview(Box<PackArgs>),
    /// List the best places for a question, a line each
    #[command(after_help = "Examples:
  ctl search where is the retry header parsed --expect 'parseRetryAfter Header seconds'
  ctl search -e 'followRedirect Location 302'")]
    Search(SearchArgs),
    /// Show definitions whole, by name or place
    #[command(after_help = "Examples:
  ctl show Client.get Retry.delay
  ctl show net/retry.go:42 net/client.go:10-60 --budget 2000")]
    Show(ShowArgs),
    /// Search text by a regular expression: each line with what it is, by
    /// definition
    #[command(after_help = grep::EXAMPLES)]
    Grep(GrepArgs),
    /// Find definitions by name
    #[command(after_help = "Example:\n  ctl symbol Client.get")]
    Symbol(SymbolArgs),
    /// A definition at a glance: signature, doc, callers, callees, tests, in 400 tokens
    #[command(after_help = "Examples:
  ctl card Client.get
  ctl card net/retry.go:42 --max-tokens 200 --json")]
    Card(CardArgs),
    /// Say whether a file is in the index, and which rule or limit decides it
    #[command(after_help = "Example:\n  ctl why build/generated.go")]
    Why(WhyArgs),
    /// Who calls a function, method or class
    #[command(after_help = "Examples:
  ctl callers Client.get
  ctl callers net/retry.go:42 --depth 2 --json
  ctl callers Client.get --all        # and each place of the name without an edge")]
    Callers(CallersArgs),
    /// What a function or method calls
    #[command(after_help = "Example:\n  ctl callees Client.get --depth 2")]
    Callees(GraphArgs),
    /// Where a definition is used in any way
    #[command(after_help = "Example:\n  ctl refs RetryOptions --json")]
    Refs(GraphArgs),
    /// What implements or overrides it, and what it implements or overrides
    #[command(after_help = "Examples:\n  ctl implementations Store\n  ctl implementations Store.get --json")]
    Implementations(GraphArgs),
    /// What depends on a definition, step by step
    #[command(after_help = "Examples:
  ctl impact Client.get
  ctl impact net/retry.go:42 --depth 2 --json")]
    Impact(GraphArgs),
    /// Draw what stands around a definition: callers, callees, types, tests
    #[command(after_help = PICTURE_EXAMPLES)]
    Graph(PictureArgs),
    /// Build the index of a repository
    #[command(after_help = "Example:\n  ctl index --repo . --wait")]
    Index(IndexArgs),
    /// Copy the index of a repository so that it takes no more room than it needs
    #[command(after_help = "Example:\n  ctl compact ~/src/retry")]
    Compact {
        /// Its root [default: found from the current folder]
        dir: Option<PathBuf>,
    },
    /// Show the daemon and its workspaces
    #[command(after_help = "Examples:\n  ctl status\n  ctl status --json | jq .workspaces")]
    Status,
    /// Print the figures of the daemon for Prometheus
    #[command(after_help = "Example:\n  ctl metrics > /var/lib/node_exporter/indexd.prom")]
    Metrics,
    /// Show what a pack held and what it cost
    #[command(subcommand, after_help = "Example:\n  ctl context show")]
    Context(ContextCommand),
    /// Print the index, its edges, or both for other tools
    #[command(subcommand, after_help = "Example:\n  ctl export edges > edges.jsonl")]
    Export(ExportCommand),
    /// Lay an index made by another tool over the links
    #[command(subcommand, after_help = "Example:\n  ctl import scip index.scip")]
    Import(ImportCommand),
    /// Register, list or forget repositories
    #[command(subcommand, after_help = "Example:\n  ctl workspace list")]
    Workspace(WorkspaceCommand),
    /// Start, stop or run the daemon
    #[command(subcommand, after_help = "Example:\n  ctl daemon stop")]
    Daemon(DaemonCommand),
    /// Keep the daemon under the user's service manager
    #[command(subcommand, after_help = "Example:\n  ctl service install")]
    Service(ServiceCommand),
    /// Show the settings in force
    #[command(subcommand, after_help = "Example:\n  ctl config show --origin")]
    Config(ConfigCommand),
    /// Serve coding agents over MCP on standard input and output, or set a client up for it
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpArgs),
    /// Tell a coding agent of ctl, in its instructions and its hooks
    #[command(subcommand, after_help = "Example:\n  ctl agent install claude")]
    Agent(AgentCommand),
    /// Check what could keep this from working
    #[command(after_help = "Example:\n  ctl doctor --json")]
    Doctor,
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  ctl completions bash > ~/.local/share/bash-completion/completions/ctl"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:
  ctl man | man -l -
  ctl man --out ~/.local/share/man/man1")]
    Man {
        /// Write the pages of ctl and of each command to a folder instead
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Print the versions of ctl and of the running daemon
    #[command(after_help = "Example:\n  ctl version --json")]
    Version,
}

const PACK_EXAMPLES: &str = "Examples:
  ctl pack \"where is the retry delay decided\"
  ctl pack --budget 4000 --layout agent --json \"fix flaky login test\"
  ctl pack --query-file issue.txt --intent debug
  git log -1 --format=%B | ctl pack -
  ctl pack --focus-file net/retry.go --hops 1
  ctl pack --diff main...HEAD --intent review      # what a branch does
  gh pr diff 123 | ctl pack --diff -
  ctl pack \"where is the retry decided\" --html pack.html
  ctl pack -i \"where is the retry decided\" > context.md     # choose first
  ctl pack who decides the delay -e 'backoff Retry-After jitter'   # with your guesses
  ctl pack Client.get --fill --budget 8000                    # all that fits
  ctl pack \"and who retries\" --seen pack:sha256:1f0c...     # nothing twice
  ctl pack \"who retries\" --overlay net/retry.go=- < draft.go  # as if saved
  ctl pack --format md --out context_pack.md \"fix flaky login test\"
  ctl pack \"x\" --param expansion.direction='\"in\"'";

const MCP_EXAMPLES: &str = "Examples:
  ctl mcp install claude              # shows the change to its configuration
  ctl mcp install claude --write      # makes it
  ctl mcp                             # what the client starts
  ctl mcp --workspace ~/a --workspace ~/b

Without --workspace the client's roots are served, else the current folder's
repository; nothing outside them.";

const MAP_EXAMPLES: &str = "At most 500 lines of Markdown; with --json the same as data, complete.

Examples:
  ctl map
  ctl map --out repo_map.md
  ctl map --max-tokens 2000           # for a model
  ctl map --html map.html             # to look at
  ctl map --json | jq '.map.entrypoints'";

const PICTURE_EXAMPLES: &str = "Without a format it prints one line for each edge.

Examples:
  ctl graph Client.get --svg --out get.svg
  ctl graph Client.get --dot --depth 2 | dot -Tpng > get.png
  ctl graph net/retry.go:42 --mermaid";

/// Options of `map`.
#[derive(Debug, Args)]
pub struct MapArgs {
    /// Write to FILE instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a page to look at: one HTML file that needs nothing else; without
    /// FILE to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with_all = ["json", "out"])]
    pub html: Option<PathBuf>,
    /// Tokens of the document, exactly counted, 500 to 90000 [default: 500 lines]
    #[arg(long, value_name = "TOKENS")]
    pub max_tokens: Option<u32>,
    /// Make it afresh even when an equal one is at hand
    #[arg(long)]
    pub no_cache: bool,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// What the answer requires of the index.
#[derive(Clone, Debug, Args)]
pub struct WaitArgs {
    /// Seconds to wait for a first build; 0 does not wait [default: as long as it takes]
    #[arg(long, value_name = "SEC", num_args = 0..=1, require_equals = true, default_missing_value = "3600", help_heading = "Freshness")]
    pub wait: Option<f64>,
    /// strict (an error when saves are not in), best, or stale (no waiting)
    #[arg(long, value_name = "MODE", default_value = "best", help_heading = "Freshness")]
    pub fresh: Fresh,
    /// Answer as if PATH held what FILE (`-`: standard input) does; nothing is
    /// stored
    #[arg(long = "overlay", value_name = "PATH=FILE", help_heading = "Freshness")]
    pub overlays: Vec<String>,
}

/// What the answer requires of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fresh {
    /// Every save is in, or an error
    Strict,
    /// Every save is in, or a warning
    Best,
    /// Whatever is there
    Stale,
}

/// Hides what `preview` has no use for: it prints places and reasons.
fn of_preview(arg: clap::Arg) -> clap::Arg {
    let is_hidden = PackArgs::NOT_OF_PREVIEW.contains(&arg.get_id().as_str());
    arg.hide(is_hidden)
}

/// Options of `mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct McpArgs {
    /// Set up a client instead.
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// A repository to serve; may be given several times
    #[arg(long, value_name = "DIR")]
    pub workspace: Vec<PathBuf>,
    /// How names of tools are written in the list; each spelling is understood
    #[arg(long, value_name = "HOW", default_value = "underscore")]
    pub names: ToolNames,
    /// Places, reasons and counts beside the text of every answer. Some clients
    /// then show the model these alone
    #[arg(long)]
    pub structured: bool,
}

/// How names of tools are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolNames {
    /// context_pack_create
    Underscore,
    /// context_pack.create, which some clients refuse
    Dotted,
}

/// What to do for clients.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Show, or with --write make, the change to a client's configuration
    #[command(after_help = "Examples:
  ctl mcp install cursor
  ctl mcp install cursor --write
  ctl mcp install cursor --remove --write")]
    Install {
        /// The client
        client: McpClient,
        /// Make the change
        #[arg(long)]
        write: bool,
        /// Take the entry out again
        #[arg(long)]
        remove: bool,
    },
}

/// A program that speaks MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpClient {
    /// Claude Code: .mcp.json of this repository
    Claude,
    /// Cursor: .cursor/mcp.json of this repository
    Cursor,
    /// Visual Studio Code: .vscode/mcp.json of this repository
    Vscode,
    /// Codex: config.toml of this user
    Codex,
    /// Zed: settings.json of this user
    Zed,
}

/// What to do for coding agents.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Show, or with --write make, the changes to an agent's files in this
    /// repository: five lines of instructions, and a hook where it has hooks
    #[command(after_help = "Examples:
  ctl agent install claude            # CLAUDE.md and .claude/settings.json
  ctl agent install codex --write     # AGENTS.md
  ctl agent install claude --remove --write")]
    Install {
        /// The agent
        client: AgentClient,
        /// Make the changes
        #[arg(long)]
        write: bool,
        /// Take out what was put in
        #[arg(long)]
        remove: bool,
    },
    /// What the hook runs: reads a search from standard input, prints the card
    /// of the name that was searched for
    #[command(after_help = "Example:
  echo '{\"tool_name\": \"Grep\", \"tool_input\": {\"pattern\": \"Delay\"}}' | ctl agent hook")]
    Hook,
}

/// A coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentClient {
    /// Claude Code: CLAUDE.md, and a hook
    Claude,
    /// Codex: AGENTS.md
    Codex,
    /// Cursor: AGENTS.md
    Cursor,
    /// GitHub Copilot: .github/copilot-instructions.md
    Copilot,
}

/// Options of `index`.
#[derive(Debug, Args)]
pub struct IndexArgs {
    /// Return when the index is current; with =SEC, not later than that
    #[arg(long, value_name = "SEC", num_args = 0..=1, require_equals = true, default_missing_value = "3600")]
    pub wait: Option<f64>,
}

/// What to export.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// The canonical dump of the index
    #[command(after_help = "Example:\n  ctl export dump > index.txt")]
    Dump,
    /// Every resolved edge, one JSON object a line
    #[command(after_help = "Example:\n  ctl export edges | jq -r 'select(.kind == \"call\") | .dst_symbol'")]
    Edges {
        /// The only format there is
        #[arg(long)]
        jsonl: bool,
    },
    /// The index and the packs that were written, as JSON lines in files of a folder
    #[command(
        after_help = "Example:\n  ctl export artifacts /tmp/index && jq .name /tmp/index/symbols.jsonl"
    )]
    Artifacts {
        /// The folder: a new or an empty one, or that of an earlier export
        dir: PathBuf,
        /// Bytes of a file at most; longer ones are cut between lines
        #[arg(long, value_name = "N", default_value_t = 16 << 20)]
        max_shard_bytes: u64,
    },
    /// Definitions and uses as a SCIP index, for other tools
    #[command(after_help = "Examples:
  ctl export scip --out index.scip
  ctl export scip > index.scip")]
    Scip {
        /// Write to FILE instead of standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// What to import.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// A SCIP index made by a compiler or a type checker
    #[command(after_help = "Examples:
  scip-python index --project-name demo && ctl import scip index.scip
  ctl import scip /tmp/index.scip --repo ~/demo --json
  ctl import scip --clear

It takes the place of the one imported before. Each file follows it as long as
its content is the one of now; an edited file has our own links again, and the
imported ones when the edit is undone.")]
    Scip {
        /// The index
        #[arg(value_name = "FILE", required_unless_present = "clear")]
        file: Option<PathBuf>,
        /// Take back what was imported
        #[arg(long, conflicts_with = "file")]
        clear: bool,
    },
}

/// What to do with repositories.
#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// Register a repository and start its index
    #[command(after_help = "Example:\n  ctl workspace add ~/src/retry")]
    Add {
        /// Its root [default: found from the current folder]
        dir: Option<PathBuf>,
    },
    /// List the repositories
    #[command(after_help = "Example:\n  ctl workspace list --json")]
    List,
    /// Forget a repository and delete its index; the repository is not touched
    #[command(after_help = "Example:\n  ctl workspace remove ~/src/retry")]
    Remove {
        /// Its root [default: found from the current folder]
        dir: Option<PathBuf>,
    },
    /// Delete indexes of repositories that are gone, or that nobody asked for in a long time
    #[command(after_help = "Example:\n  ctl workspace gc --dry-run")]
    Gc {
        /// Only say what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
}

/// What to do with the daemon.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum DaemonCommand {
    /// Start it in the background
    #[command(after_help = "Example:\n  ctl daemon start")]
    Start,
    /// Finish what is in flight and end it
    #[command(after_help = "Example:\n  ctl daemon stop && ctl daemon start")]
    Stop,
    /// Say whether it runs
    #[command(after_help = "Example:\n  ctl daemon status")]
    Status,
    /// Run it in the foreground
    #[command(after_help = "Example:\n  ctl daemon run")]
    Run,
}

/// What to do with the service.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ServiceCommand {
    /// Write and start it: the manager listens on the socket and starts the daemon on demand
    #[command(after_help = "Example:\n  ctl service install")]
    Install,
    /// Stop and remove it
    #[command(after_help = "Example:\n  ctl service uninstall")]
    Uninstall,
    /// Say whether it is installed and active
    #[command(after_help = "Example:\n  ctl service status")]
    Status,
}

/// What to do with packs that were made.
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// Print what a pack held and cost: budget, sources, chunks, settings
    #[command(after_help = "Examples:
  ctl context show
  ctl context show --pack-id pack:sha256:1f0c... --json")]
    Show {
        /// The pack, one of the latest or one that was written [default: the last
        /// one of this repository]
        #[arg(long, value_name = "ID")]
        pack_id: Option<String>,
    },
}

/// What to do with settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting
    #[command(after_help = "Examples:\n  ctl config show\n  ctl config show --origin | grep -v default")]
    Show {
        /// Print where each value came from
        #[arg(long)]
        origin: bool,
    },
}

/// `ctl pack ...` alone: building the parsers of all commands takes longer than everything else that
/// a warm `ctl pack` does. `None` for any other command, and for whatever is not plainly right, so
/// that help and errors come from the one full parser.
pub fn quick(line: impl IntoIterator<Item = std::ffi::OsString>) -> Option<Cli> {
    #[derive(Parser)]
    #[command(disable_help_flag = true, disable_version_flag = true)]
    struct Quick {
        #[command(flatten)]
        pack: PackArgs,
        #[command(flatten)]
        common: Common,
    }
    let mut line = line.into_iter();
    let program = line.next()?;
    if line.next()? != "pack" {
        return None;
    }
    let quick = Quick::try_parse_from(std::iter::once(program).chain(line)).ok()?;
    Some(Cli { command: Some(Command::Pack(Box::new(quick.pack))), version: false, common: quick.common })
}

/// A number of tokens, perhaps in thousands: `8000`, `8k`.
fn tokens(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1000),
        None => (text, 1),
    };
    let n: u64 = digits
        .replace('_', "")
        .parse()
        .map_err(|_| "not a number of tokens, such as 8000 or 8k".to_owned())?;
    n.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    /// What the short way takes it must take as the long way does.
    #[test]
    fn the_short_way_reads_the_same() {
        let cases: [(&str, bool); 9] = [
            ("ctl pack x", true),
            ("ctl pack --budget 4k --json --repo /r x --wait=3 --color never -q", true),
            ("ctl pack --focus-file a -C d --param a=1 --param b=2 --explain", true),
            ("ctl pack - --no-daemon --timeout 1.5", true),
            ("ctl pack x --bogus", false),
            ("ctl pack --help", false),
            ("ctl pack x --budget 1 --context-window 2", false),
            ("ctl status", false),
            ("ctl --json pack x", false),
        ];
        for (line, is_quick) in cases {
            let words = || line.split(' ').map(std::ffi::OsString::from);
            let quick = quick(words());
            assert_eq!(quick.is_some(), is_quick, "{line}");
            if let Some(quick) = quick {
                let full = Cli::try_parse_from(words()).unwrap();
                assert_eq!(format!("{quick:?}"), format!("{full:?}"), "{line}");
            }
        }
    }

    #[test]
    fn tokens_may_come_in_thousands() {
        assert_eq!((tokens("8000"), tokens("8k"), tokens("8_000")), (Ok(8000), Ok(8000), Ok(8000)));
        assert!(tokens("many").is_err() && tokens("").is_err() && tokens("-1").is_err());
    }

    #[test]
    fn help_is_as_published() {
        let mut pages = String::new();
        let mut root = Cli::command().term_width(80);
        root.build();
        page(&mut root, "ctl", &mut pages);
        assert!(
            pages.lines().all(|l| l.chars().count() <= 80),
            "{:?}",
            pages.lines().find(|l| l.chars().count() > 80)
        );
        insta::assert_snapshot!("help", pages);
    }

    /// The command lines of `ctl` in a text of examples, as a shell splits them.
    fn lines_of(examples: &str) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        for line in examples.lines().filter_map(|l| l.strip_prefix("  ")) {
            let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
            for c in line.chars().chain([' ']) {
                match (quote, c) {
                    (Some(q), c) if c == q => quote = None,
                    (None, '"' | '\'') => {
                        quote = Some(c);
                        word.get_or_insert_default();
                    }
                    (None, ' ') => words.extend(word.take()),
                    _ => word.get_or_insert_default().push(c),
                }
            }
            let is_end = |w: &String| ["|", "&&", "#", ">", "<"].contains(&w.as_str());
            out.extend(words.split(is_end).map(<[String]>::to_vec));
        }
        out.retain(|words| words.first().is_some_and(|w| w == "ctl"));
        out
    }

    #[test]
    fn every_command_has_an_example_that_is_understood() {
        fn check(command: &clap::Command, path: &str) {
            let shown = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines = lines_of(&shown);
            assert!(!lines.is_empty(), "{path} has no example");
            for line in lines {
                let read = Cli::try_parse_from(&line);
                assert!(read.is_ok(), "{path}: {line:?}: {}", read.unwrap_err());
            }
            for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
                check(sub, &format!("{path} {}", sub.get_name()));
            }
        }
        check(&Cli::command(), "ctl");
        let split = lines_of("Examples:\n  x | ctl pack - '\"in\" it' --b=\"\"  # why\n  ctl a && ctl b > f");
        assert_eq!(split, [&["ctl", "pack", "-", "\"in\" it", "--b="][..], &["ctl", "a"], &["ctl", "b"]]);
    }

    /// Appends the long help of a command and of all below it.
    fn page(command: &mut clap::Command, path: &str, out: &mut String) {
        let help = command.render_help();
        *out += &format!("$ {path} --help\n{help}\n");
        for sub in command.get_subcommands_mut() {
            if sub.get_name() != "help" {
                let path = format!("{path} {}", sub.get_name());
                page(sub, &path, out);
            }
        }
    }
}
