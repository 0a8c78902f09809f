//! The map of a repository: its entry points, its parts, the settings it reads and its files that touch the
//! outside world, as data and as one Markdown page.
//!
//! [`map`] is a pure function of one index state: facts, resolved edges and the uses that leave the
//! repository, with the stored text where a literal has to be read. The page follows from the data
//! alone and has at most [`LINES_MAX`] lines.
//!
//! Start reading at [`RepoMap`] (the data), then [`page`](mod@page) (its presentation).

mod effects;
mod entrypoints;
mod imports;
mod known_packages;
mod manifests;
mod modules;
pub mod page;
mod reach;
mod routes;
mod scan;
mod settings;
mod sources;
mod tree;

pub use indexd_api::map::{Place, RepoMap};
use indexd_model::{IndexView, Language};

/// Lines of the longest page.
pub const LINES_MAX: usize = 500;
/// Levels of folders shown below the root.
pub const DEPTH_MAX: usize = 3;
/// Version of the shape of [`RepoMap`].
pub const SCHEMA_VERSION: &str = "1.0.0";

/// The request was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// Reads the map of a state of the index. Calls `is_cancelled` once a file.
///
/// # Errors
/// [`Cancelled`].
pub fn map(
    view: &dyn IndexView,
    repo_id: &str,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<RepoMap, Cancelled> {
    let files = sources::list(view);
    let mut reading = settings::Reading::of(view);
    let mut effects = effects::Found::default();
    for source in files.iter().filter(|s| s.is_product_code()) {
        if is_cancelled() {
            return Err(Cancelled);
        }
        let text = source.text(view);
        let uses = imports::outside_uses(view, source, &text);
        effects.read(source, &text, &uses);
        reading.read(source, &text, &uses);
    }
    let nothing = imports::Outside::default();
    imports::inside_uses(view, &mut |path, text, found| {
        effects.add(Language::Go, path, text, found, &nothing);
        reading.call(path, text, found, &nothing);
    });
    let reach = reach::Reach::of(view, &files);
    Ok(RepoMap {
        schema: "RepoMap".to_owned(),
        schema_version: SCHEMA_VERSION.to_owned(),
        repo_id: repo_id.to_owned(),
        files: files.len() as u32,
        tree: tree::folders(files.iter().map(|s| &*s.path)),
        entrypoints: entrypoints::find(view, &files, &reach),
        modules: modules::find(view, &files, &reach),
        config: reading.finish(),
        side_effects: effects.finish(),
    })
}
