//! Times reading the history of a repository: `past DIR [COMMITS]`.

use indexd_history::{Limits, Repository};
use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().expect("usage: past DIR [COMMITS]"));
    let commits_max = args.next().and_then(|n| n.parse().ok()).unwrap_or(Limits::default().commits_max);
    let limits = Limits { commits_max, ..Limits::default() };
    let repo = Repository::open(&dir).expect("a git repository");
    let t = Instant::now();
    let past = repo.past(&limits, None).expect("commits");
    let cold = t.elapsed();
    let t = Instant::now();
    let again = repo.past(&limits, Some(&past)).expect("commits");
    let warm = t.elapsed();
    assert_eq!(past, again);
    let t = Instant::now();
    let files = past.files();
    println!(
        "{} commits, {} files: read {cold:?}, known again {warm:?}, summed {:?}",
        past.commits.len(),
        files.len(),
        t.elapsed()
    );
}
