//! Facts of past commits about each file: integers, summed in the order of the commits.

use crate::Past;
use crate::lines::Trail;
use indexd_model::view::Touched;

/// The facts of past commits about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePast {
    /// Commits that changed it and not many other files.
    pub n_commits: u32,
    /// Position of the newest commit that changed it, 0 being the newest commit read.
    pub newest: u32,
    /// Terms of the subjects of those commits (see [`indexd_text::terms`()]), each with the number of
    /// commits that have it, sorted by term. Numbers are excluded, since they are issues and versions.
    pub terms: Vec<(String, u32)>,
    /// Lines that the newest commits changed, in the numbering of HEAD, by first line.
    pub touched: Vec<Touched>,
}

impl Past {
    /// Every path with its facts, sorted by path. A path need not exist any more.
    pub fn files(&self) -> Vec<(String, FilePast)> {
        let mut by_path: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.paths.len()];
        for (i, commit) in self.commits.iter().enumerate() {
            for (at, path) in commit.paths.iter().enumerate() {
                by_path[*path as usize].push((i, at));
            }
        }
        let subjects: Vec<Vec<String>> = self.commits.iter().map(|c| subject_terms(&c.subject)).collect();
        let is_telling =
            |commit: usize| self.commits[commit].n_files as usize <= self.limits.files_per_commit_max;
        let mut files: Vec<(String, FilePast)> = self
            .paths
            .iter()
            .zip(&by_path)
            .map(|(path, commits)| {
                let telling: Vec<usize> = commits.iter().map(|c| c.0).filter(|c| is_telling(*c)).collect();
                let mut terms: Vec<&str> =
                    telling.iter().flat_map(|c| &subjects[*c]).map(String::as_str).collect();
                terms.sort_unstable();
                let terms =
                    terms.chunk_by(|a, b| a == b).map(|run| (run[0].to_owned(), run.len() as u32)).collect();
                let newest = commits.first().map_or(u32::MAX, |c| c.0 as u32);
                let touched = self.touched(commits);
                (path.clone(), FilePast { n_commits: telling.len() as u32, newest, terms, touched })
            })
            .collect();
        files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        files
    }

    /// The lines of one file, from its commits as `(commit, place among its paths)`, newest first. A commit
    /// without known lines ends the trail: positions in older ones cannot be mapped to HEAD.
    fn touched(&self, commits: &[(usize, usize)]) -> Vec<Touched> {
        let mut trail = Trail::new();
        for &(commit, place) in commits {
            let Some(hunks) = self.commits[commit].hunks.get(place).and_then(Option::as_ref) else { break };
            trail.back(hunks, commit as u32);
        }
        trail.touched()
    }
}

/// The terms of a subject, each once, sorted.
fn subject_terms(subject: &str) -> Vec<String> {
    let mut out = Vec::new();
    indexd_text::terms(subject, |term| {
        if !term.bytes().all(|b| b.is_ascii_digit()) {
            out.push(term.to_owned());
        }
    });
    out.sort_unstable();
    out.dedup();
    out
}
