//! Conversions that git applies to a file of the work tree before storing it: line ends, `$Id$`, other
//! encodings.
//!
//! Programs that a repository or its user names as filters are never run. A file that one of them would
//! change cannot be compared, and is reported as such.

use crate::repository::Repository;
use gix::bstr::BStr;
use gix::glob::pattern::Case;
use gix_attributes::search::{MetadataCollection, Outcome};
use gix_attributes::{Search, StateRef};
use gix_filter::eol::{AutoCrlf, Configuration, Mode};
use gix_filter::pipeline::{CrlfRoundTripCheck, Options};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes read of a file of attributes.
const ATTRIBUTES_BYTES_MAX: u64 = 1 << 20;

/// Settings of git for conversions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversions {
    /// The value of `core.autocrlf`.
    pub autocrlf: Option<String>,
    /// The value of `core.eol`.
    pub eol: Option<String>,
    /// The file that holds attributes for all repositories.
    pub attributes_file: Option<PathBuf>,
    /// The names of filters with a program for files that are added to git.
    pub filters: BTreeSet<String>,
}

/// Converts files of the work tree as git does.
pub struct Cleaner {
    pipeline: gix_filter::Pipeline,
    search: Search,
    collection: MetadataCollection,
    filters: BTreeSet<String>,
    prefix: String,
}

impl Cleaner {
    /// Reads the attributes that apply to `paths`, relative to the workspace's root.
    pub fn new<'p>(
        repository: &Repository,
        settings: Conversions,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> Self {
        let prefix = repository.prefix.clone();
        let mut out = Self {
            pipeline: gix_filter::Pipeline::new(
                Default::default(),
                gix::hash::Kind::Sha1,
                Options {
                    eol_config: configuration(&settings),
                    crlf_roundtrip_check: CrlfRoundTripCheck::Skip,
                    ..Options::default()
                },
            ),
            search: Search::default(),
            collection: MetadataCollection::default(),
            filters: settings.filters,
            prefix,
        };
        out.add(b"[attr]binary -diff -merge -text".to_vec(), None);
        out.add_file(settings.attributes_file.as_deref());
        let Some(top) = repository.repo.workdir() else { return out };
        // A folder sorts before its content.
        let mut folders = BTreeSet::from([String::new()]);
        for path in paths {
            let full = format!("{}{path}", out.prefix);
            folders.extend(full.match_indices('/').map(|(at, _)| full[..at].to_owned()));
        }
        for folder in folders {
            let file = top.join(&folder).join(".gitattributes");
            if let Some(bytes) = read_in_tree(&file) {
                out.add(bytes, Some((top, &file)));
            }
        }
        out.add_file(Some(&repository.repo.common_dir().join("info/attributes")));
        out
    }

    fn add_file(&mut self, file: Option<&Path>) {
        if let Some(bytes) = file.and_then(read) {
            self.add(bytes, None);
        }
    }

    /// Adds the attributes of a file, which apply to the content of its folder; those of a file outside the
    /// tree apply everywhere.
    fn add(&mut self, bytes: Vec<u8>, file: Option<(&Path, &Path)>) {
        let source = file.map_or_else(|| PathBuf::from("attributes"), |(_, file)| file.to_owned());
        let allows_macros = file.is_none_or(|(top, file)| file.parent() == Some(top));
        let root = file.map(|(top, _)| top);
        let _ = self.search.add_patterns_buffer(&bytes, source, root, &mut self.collection, allows_macros);
    }

    /// Returns true if git passes a file through a program, so that it cannot be compared with the stored
    /// content.
    pub fn needs_a_program(&self, path: &str) -> bool {
        let mut asked = Outcome::default();
        asked.initialize_with_selection(&Default::default(), ["filter"]);
        asked.initialize(&self.collection);
        let full = format!("{}{path}", self.prefix);
        self.search.pattern_matching_relative_path(
            BStr::new(&full),
            Case::Sensitive,
            Some(false),
            &mut asked,
        );
        asked.iter_selected().any(|found| match found.assignment.state {
            StateRef::Value(name) => self.filters.contains(&name.as_bstr().to_string()),
            _ => false,
        })
    }

    /// The content that git would store for a file with these bytes, without programs; `staged` is the
    /// content stored now. `None` for an encoding that is not known here, and bytes that are invalid in it.
    pub fn clean(&mut self, path: &str, bytes: &[u8], staged: Option<&[u8]>) -> Option<Vec<u8>> {
        let Self { pipeline, search, collection, prefix, .. } = self;
        let full = format!("{prefix}{path}");
        let mut find = |path: &BStr, out: &mut Outcome| {
            out.initialize(collection);
            search.pattern_matching_relative_path(path, Case::Sensitive, Some(false), out);
        };
        let mut index_object = |buf: &mut Vec<u8>| {
            buf.clear();
            Ok(staged.map(|staged| buf.extend_from_slice(staged)))
        };
        let converted = pipeline.convert_to_git(bytes, Path::new(&full), &mut find, &mut index_object);
        let mut out = Vec::new();
        converted.ok()?.read_to_end(&mut out).ok()?;
        Some(out)
    }
}

fn configuration(settings: &Conversions) -> Configuration {
    let word = |value: &Option<String>| value.as_deref().unwrap_or("").to_ascii_lowercase();
    let auto_crlf = match &*word(&settings.autocrlf) {
        "input" => AutoCrlf::Input,
        "true" | "yes" | "on" | "1" => AutoCrlf::Enabled,
        _ => AutoCrlf::Disabled,
    };
    let eol = match &*word(&settings.eol) {
        "lf" => Some(Mode::Lf),
        "crlf" => Some(Mode::CrLf),
        _ => None,
    };
    Configuration { auto_crlf, eol }
}

/// Reads a file of attributes in the tree; a link is not followed.
fn read_in_tree(file: &Path) -> Option<Vec<u8>> {
    fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?;
    read(file)
}

fn read(file: &Path) -> Option<Vec<u8>> {
    fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(ATTRIBUTES_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
