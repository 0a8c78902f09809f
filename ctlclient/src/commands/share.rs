//! The options of `ctl share`, which the program `ctl-share` runs.

use clap::{Args, Subcommand};

/// Shown below the help of the command.
const EXAMPLES: &str = "Examples:
  ctl share push s3://team-cache/indexes       # as CI does after a merge
  ctl share pull s3://team-cache/indexes       # as a fresh sandbox does
  ctl share status
  ctl share gc --keep-days 14

URL is s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER,
file:///FOLDER or, to pull only, https://HOST/FOLDER. Without it share.url of
your configuration counts; then first indexes pull by themselves. Credentials
and endpoints are taken from the environment: AWS_*, GOOGLE_*, AZURE_*.";

/// A store.
#[derive(Debug, Args)]
pub struct Store {
    /// The store [default: share.url]
    pub url: Option<String>,
}

/// Options of `share`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShareArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: ShareCommand,
}

/// A command of `ctl share`.
#[derive(Debug, Subcommand)]
pub enum ShareCommand {
    /// Publish the index of a repository; only new data is sent
    #[command(after_help = "Examples:
  ctl share push s3://team-cache/indexes
  AWS_ENDPOINT_URL=http://localhost:9000 ctl share push s3://cache --json")]
    Push(Store),
    /// Begin the index of a repository with the nearest published one
    #[command(after_help = "Examples:
  ctl share pull s3://team-cache/indexes
  ctl share pull https://cache.example.org/indexes --json

Commits that HEAD leads to come first, then the newest of the default branch.
Every file is read and compared; the index is that of a first build. One that
is there already stays.")]
    Pull {
        /// The store.
        #[command(flatten)]
        store: Store,
        /// A first index waits for it: whatever fails, it is built.
        #[arg(long, hide = true)]
        first: bool,
    },
    /// Say what a store has of a repository
    #[command(after_help = "Example:\n  ctl share status --json")]
    Status(Store),
    /// Remove published indexes that are old, of all repositories in a store
    #[command(after_help = "Examples:
  ctl share gc --keep-days 14 --keep-count 50
  ctl share gc file:///mnt/cache --dry-run

What is removed is found no more at once; its objects go a day later, so that
pushes and pulls that are under way end well.")]
    Gc {
        /// The store.
        #[command(flatten)]
        store: Store,
        /// Days that a published index stays
        #[arg(long, value_name = "N", default_value_t = 30)]
        keep_days: u64,
        /// Published indexes of a repository that stay, newest first
        #[arg(long, value_name = "N", default_value_t = 100)]
        keep_count: u64,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}
