//! Published indexes: facts about a tree, rows that go to files, rows that come from them.
//! Another program talks to the store.

use super::{LONG_WAIT, Service, reporter, target, unnamed};
use crate::server::backend::{Answer, Context};
use crate::server::convert;
use crate::server::dispatch::json;
use crate::workspace::indexing::engine::EngineError;
use crate::workspace::indexing::pieces::Layers;
use crate::workspace::indexing::recipe;
use crate::workspace::indexing::recovery;
use crate::workspace::indexing::siblings::sketch_of;
use crate::workspace::tree::Tree as Files;
use crate::workspace::tree::known::KnownFiles;
use crate::workspace::{Progress, Wait, Workspace, WorkspaceError};
use indexd_history::Repository;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::paths::private_dir;
use indexd_proto::rpc;
use indexd_proto::share::{
    BeginParams, BeginResult, DescribeParams, PULL, Piece, PullParams, ShareExportParams, ShareExportResult,
    Tree,
};
use indexd_proto::workspace::{Phase, State};
use indexd_store::StoreError;
use std::io;
use std::path::Path;

/// Commits that a published index is looked for by.
const COMMITS_MAX: usize = 64;
/// Names of a repository: it has one for each place that it is fetched from.
const NAMES_MAX: usize = 4;
/// Characters of a name.
const NAME_LEN: usize = 32;

impl Service {
    /// Asks the client to fetch a published index if the first build waits for one and no client was asked.
    pub(super) fn tell_to_pull(&self, workspace: &Workspace, ctx: &Context) -> Result<(), ErrorObject> {
        let pulls = self.registry.pulls().filter(|_| ctx.client_pulls);
        if pulls.is_some_and(|pulls| pulls.is_to_be_told(&self.registry.home(workspace.root()))) {
            let params = PullParams { root: ctx.root(workspace.root()) };
            ctx.send(rpc::request(None, PULL, params))?;
        }
        Ok(())
    }

    pub(super) fn share_describe(&self, p: &DescribeParams, ctx: &Context) -> Answer {
        let root = self.root(target(&p.repo, &p.cwd))?.ok_or_else(unnamed)?;
        let config = self.config.for_repository(&root).unwrap_or_else(|_| self.config.as_ref().clone());
        let mut files = Files::new(&root, &config.index_exclude, KnownFiles::default());
        let changes = files.sweep(None).map_err(|e| WorkspaceError::from(EngineError::from(e)))?;
        let folder = self.registry.pulled_folder();
        private_dir(&folder, indexd_os::own_uid()).map_err(|e| cannot_use(&folder, &e))?;
        let repository = Repository::open(&root).ok();
        let commits = repository.as_ref().map(|r| r.reachable(COMMITS_MAX)).unwrap_or_default();
        json(&Tree {
            root: ctx.root(&root),
            recipe: recipe::hash_of(&config),
            repositories: names(repository.as_ref(), &root),
            commits,
            is_default: !repository.as_ref().is_some_and(Repository::is_on_side_branch),
            sketch: sketch_of(changes.changed.iter().map(|(path, size)| (&**path, *size))),
            is_indexed: recovery::current(&self.registry.home(&root)).is_some(),
            redacts: config.index_redact_secrets,
            url: config.share_url,
            push: config.share_push,
            folder: folder.display().to_string(),
        })
    }

    pub(super) fn share_export(&self, p: ShareExportParams, ctx: &Context) -> Answer {
        let wait = p.wait.unwrap_or(LONG_WAIT);
        let reading = self.read(target(&p.repo, &p.cwd), Some(wait), p.progress, ctx)?;
        if !reading.config.index_redact_secrets {
            let message = "an index that holds secrets as they are is not published";
            return Err(ErrorObject::invalid(message).with_hint("set index.redact_secrets to true"));
        }
        if reading.snapshot.overlays_digest().is_some() {
            let message = "an index with an import of another tool is not published";
            return Err(ErrorObject::invalid(message)
                .with_hint("take the import back with `ctl import scip --clear`"));
        }
        let layers = self.layers(&p.folder, p.layers)?;
        let packed = layers.pack_above(&reading.snapshot, &|| ctx.cancel.is_cancelled());
        ctx.check()?;
        let (pieces, is_above) = packed.map_err(|e| match e {
            StoreError::Io(e) => cannot_use(&layers.folder, &e),
            e => convert::unreadable(&e),
        })?;
        self.registry.pulls().into_iter().for_each(|pulls| pulls.exported());
        json(&ShareExportResult { pieces, is_above, envelope: reading.envelope(ctx) })
    }

    /// Layers whose files a client says are in a folder.
    fn layers(&self, folder: &str, pieces: Vec<Vec<Piece>>) -> Result<Layers, ErrorObject> {
        let layers = Layers { folder: folder.into(), pieces };
        let is_inside = layers.folder.starts_with(self.registry.pulled_folder())
            && layers.folder.components().all(|c| c.as_os_str() != "..");
        match (is_inside, layers.are_sound()) {
            (true, true) => Ok(layers),
            (false, _) => Err(ErrorObject::invalid("the folder is not in the one for such files")),
            (_, false) => Err(ErrorObject::invalid("a piece has an impossible name or size")),
        }
    }

    pub(super) fn share_begin(&self, p: BeginParams, ctx: &Context) -> Answer {
        let root = self.root(target(&p.repo, &p.cwd))?.ok_or_else(unnamed)?;
        let home = self.registry.home(&root);
        let Some(pulls) = self.registry.pulls() else {
            return Err(
                ErrorObject::invalid("indexes share nothing here").with_hint("set index.share to true")
            );
        };
        let answer = |reason: Option<String>, n_files, n_extracted| {
            json(&BeginResult {
                root: ctx.root(&root),
                begun: reason.is_none(),
                reason: reason.unwrap_or_default(),
                n_files,
                n_extracted,
                ..BeginResult::default()
            })
        };
        let Some(folder) = &p.folder else {
            let reason = p.reason.clone().unwrap_or_else(|| "none was found".to_owned());
            pulls.missed(&home, &reason);
            return answer(Some(reason), 0, 0);
        };
        let layers = self.layers(folder, p.layers)?;
        if recovery::current(&home).is_some() {
            return answer(Some("there is an index already".to_owned()), 0, 0);
        }
        if self.registry.list().iter().any(|w| Path::new(&w.root) == root && is_far(w)) {
            return answer(Some("the build has come too far to begin anew".to_owned()), 0, 0);
        }
        pulls.arrived(&home, layers);
        let workspace = self.registry.add(&root, false)?;
        let mut report = reporter(p.progress, ctx);
        self.wait_until_built(&workspace, ctx, &mut report)?;
        let status = workspace.status();
        answer(pulls.reason(&home), status.n_files, status.n_extracted)
    }

    fn wait_until_built(
        &self,
        workspace: &Workspace,
        ctx: &Context,
        report: &mut dyn FnMut(Progress),
    ) -> Result<(), ErrorObject> {
        let is_cancelled = || ctx.cancel.is_cancelled();
        ctx.aside(|| workspace.freshness(Wait::default(), &is_cancelled, report))?;
        workspace.failure().map_or(Ok(()), |failure| Err(convert::failed(&failure)))
    }
}

/// True if the rest of a first build takes less time than another start.
fn is_far(w: &indexd_proto::workspace::WorkspaceStatus) -> bool {
    w.state == State::Building
        && w.progress.as_ref().is_some_and(|p| match p.phase {
            Phase::Pull | Phase::Scan => false,
            Phase::Parse => 2 * p.done > p.total,
            _ => true,
        })
}

fn cannot_use(path: &Path, e: &io::Error) -> ErrorObject {
    ErrorObject::new(ErrorCode::Storage, format!("cannot use {}: {e}", path.display()))
}

/// Names of a repository on every machine: hashes of the places that it is fetched from; of one that
/// is fetched from nowhere, of the name of its folder.
fn names(repository: Option<&Repository>, root: &Path) -> Vec<String> {
    let remotes = repository.map(Repository::remotes).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for place in remotes.iter().map(|url| place_of(url)).take(NAMES_MAX) {
        if !names.contains(&place) {
            names.push(place);
        }
    }
    if names.is_empty() {
        names.push(format!("folder {}", root.file_name().unwrap_or_default().to_string_lossy()));
    }
    names.iter().map(|name| blake3::hash(name.as_bytes()).to_hex()[..NAME_LEN].to_owned()).collect()
}

/// A URL without what differs between those who fetch from the same place: protocol, user, password, port
/// and the ending.
fn place_of(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (scheme, rest.to_owned()),
        // As scp writes it: the colon ends the host.
        None => match url.split_once(':') {
            Some((host, path)) if !host.contains('/') => ("ssh", format!("{host}/{path}")),
            _ => ("file", url.to_owned()),
        },
    };
    let path = match rest.split_once('/') {
        Some((host, path)) if scheme != "file" => {
            let host = host.rsplit('@').next().unwrap_or(host).split(':').next().unwrap_or(host);
            format!("{host}/{path}")
        }
        _ => rest,
    };
    let path = path.trim_end_matches('/');
    path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_one_name_however_it_is_fetched_from() {
        for url in [
            "https://github.com/Owner/Repo.git",
            "https://github.com/owner/repo/",
            "https://me:token@github.com/owner/repo",
            "git@github.com:owner/repo.git",
            "ssh://git@github.com:22/owner/repo.git",
            "git://github.com/owner/repo.git/",
        ] {
            assert_eq!(place_of(url), "github.com/owner/repo", "{url}");
        }
        for (url, place) in
            [("/srv/git/repo.git", "/srv/git/repo"), ("file:///srv/git/repo", "/srv/git/repo")]
        {
            assert_eq!(place_of(url), place);
        }
    }

    #[test]
    fn a_folder_that_is_fetched_from_nowhere_goes_by_its_name() {
        assert_eq!(names(None, Path::new("/a/repo")), names(None, Path::new("/b/repo")));
        assert_ne!(names(None, Path::new("/a/repo")), names(None, Path::new("/a/other")));
        assert_eq!(names(None, Path::new("/a/repo"))[0].len(), NAME_LEN);
    }
}
