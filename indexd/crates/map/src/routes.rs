//! Addresses that web frameworks serve: files by their place (Next, Remix, React Router), and handlers of Express.

use crate::entrypoints::{Entrypoint, Kind, entrypoint};
use crate::scan;
use crate::sources::Source;
use indexd_model::IndexView;
use indexd_model::path::{ancestors, dir_of, join, stem_of};

/// Methods of an application or a router of Express that take a path and a handler.
const METHODS: [&str; 6] = ["get", "post", "put", "patch", "delete", "all"];

/// Adds the routes of a file of TypeScript or JavaScript.
pub fn find(view: &dyn IndexView, source: &Source, out: &mut Vec<Entrypoint>) {
    let Some((dir, manifest)) = manifest_of(view, source) else { return };
    let needs = |name: &str| manifest.contains(&format!("\"{name}"));
    let mut add = |name: String, line: u32, how: &str| {
        out.push(entrypoint(Kind::Program, &name, &source.path, line, how.to_owned()));
    };
    let inner = source.path[dir.len()..].trim_start_matches('/');
    let inner = inner.strip_prefix("src/").unwrap_or(inner);
    let place = join(dir_of(inner), stem_of(inner));
    if needs("next\"")
        && let Some((route, what)) = of_next(&place)
    {
        add(route, 1, what);
    } else if (needs("@remix-run/") || needs("@react-router/"))
        && let Some(rest) = place.strip_prefix("app/routes/")
    {
        add(route(rest.trim_end_matches("/route").split(['.', '/'])), 1, "route of Remix");
    }
    if needs("express\"") {
        let text = source.text(view);
        for (method, path, at) in handlers(&text) {
            add(format!("{} {path}", method.to_uppercase()), scan::line_of(&text, at), "route of Express");
        }
    }
}

/// The folder and the text of the nearest `package.json`.
fn manifest_of(view: &dyn IndexView, source: &Source) -> Option<(String, std::sync::Arc<str>)> {
    ancestors(dir_of(&source.path)).find_map(|dir| {
        let file = view.file_by_path(&join(dir, "package.json"))?;
        Some((dir.to_owned(), view.text(file)))
    })
}

fn of_next(place: &str) -> Option<(String, &'static str)> {
    if let Some(rest) = place.strip_prefix("app/") {
        let (dirs, stem) = rest.rsplit_once('/').unwrap_or(("", rest));
        let what = match stem {
            "page" => "page of Next",
            "route" => "route of Next",
            _ => return None,
        };
        // Folders in brackets and those with `@` are not in the address.
        return Some((route(dirs.split('/').filter(|d| !d.starts_with(['(', '@']))), what));
    }
    let rest = place.strip_prefix("pages/").filter(|r| !r.starts_with('_'))?;
    Some((route(rest.split('/')), if rest.starts_with("api/") { "route of Next" } else { "page of Next" }))
}

/// The address of these parts; those that begin with `_` only group others.
fn route<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = parts.filter(|p| !p.is_empty() && !p.starts_with('_') && *p != "index").collect();
    format!("/{}", parts.join("/"))
}

/// The handlers that a file gives an application or a router: method, path, place.
fn handlers(text: &str) -> Vec<(&'static str, &str, usize)> {
    let mut out = Vec::new();
    for method in METHODS {
        for at in scan::words(text, method) {
            let of = scan::qualifier(text, at).unwrap_or("").to_ascii_lowercase();
            let args = scan::arguments(text, at).filter(|args| args.len() > 1).unwrap_or_default();
            let path = args.first().and_then(|a| scan::literal(a)).filter(|p| p.starts_with('/'));
            if let Some(path) = path.filter(|_| of.ends_with("app") || of.ends_with("router")) {
                out.push((method, path, at));
            }
        }
    }
    out
}
