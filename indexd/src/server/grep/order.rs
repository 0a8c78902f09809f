//! The lines of an answer that are looked at, where there are more than a reader can take.

use super::roles::DefsOf;
use super::scan::{Found, Line};
use indexd_model::{FileDoc, FileRoles, IndexView as _};
use indexd_store::Snapshot;

/// Which lines come first: definitions, then those of the product, then docs, examples and what is
/// generated or from others, then tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Def,
    Product,
    Behind,
    Test,
}

/// Returns true for files whose lines come behind those of the product.
pub fn is_behind(snapshot: &Snapshot, file: FileDoc) -> bool {
    let roles = snapshot.file(file).roles;
    let later = [FileRoles::DOC, FileRoles::GENERATED, FileRoles::VENDORED, FileRoles::EXAMPLE];
    later.iter().any(|r| roles.has(*r))
}

/// The first `most` lines by rank, path and number, as they were by path and number.
pub fn first(snapshot: &Snapshot, mut found: Vec<Found>, most: usize) -> Vec<Found> {
    let n_lines: usize = found.iter().map(|f| f.lines.len()).sum();
    if n_lines <= most {
        return found;
    }
    let mut ranks = Vec::with_capacity(n_lines);
    for (i, f) in found.iter().enumerate() {
        if snapshot.file(f.file).roles.has(FileRoles::TEST) {
            ranks.extend((0..f.lines.len()).map(|at| (Rank::Test, i, at)));
            continue;
        }
        let defs = DefsOf::file(snapshot, f.file);
        let other = if is_behind(snapshot, f.file) { Rank::Behind } else { Rank::Product };
        let has_tests = defs.has_tests();
        let rank = |line: &Line| match () {
            () if has_tests && defs.is_test(&defs.around(line.hit.start)) => Rank::Test,
            () if defs.defines(line.hit) => Rank::Def,
            () => other,
        };
        ranks.extend(f.lines.iter().enumerate().map(|(at, line)| (rank(line), i, at)));
    }
    ranks.select_nth_unstable(most);
    ranks.truncate(most);
    let mut kept: Vec<(usize, usize)> = ranks.into_iter().map(|(_, i, at)| (i, at)).collect();
    kept.sort_unstable();
    for (i, f) in found.iter_mut().enumerate() {
        let from = kept.partition_point(|k| k.0 < i);
        let to = kept.partition_point(|k| k.0 <= i);
        f.lines = kept[from..to].iter().map(|k| f.lines[k.1]).collect();
    }
    found
}
