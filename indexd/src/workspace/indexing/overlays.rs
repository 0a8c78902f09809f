//! The overlays of imported indexes, on their way through the workspace.
//!
//! Overlays are an input like the files of the tree, and the only one outside the tree. They are kept in a
//! file of the index folder, next to the environments, so that a rebuild finds them again. The environment
//! holds a copy, since linking needs those of one file at a time. Where the two differ, as after a crash
//! between the two writes, the file counts.

use super::recovery::write_whole;
use indexd_model::{ContentHash, Facts, FactsView, FileDoc, Links, RepoPath};
use indexd_scip::Overlay;
use indexd_store::{Overlays, Snapshot};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Start of the file. The digest of the overlays, the tool that made the index and the overlays themselves
/// follow, then the hash of all that.
const MAGIC: &[u8; 18] = b"indexd overlays 2\n";
const HASH_BYTES: usize = 32;
/// Bytes of the name and version of a tool; the rest is cut.
const TOOL_BYTES_MAX: usize = 200;

/// The name of the file.
pub const OVERLAYS: &str = "overlays";

fn file(home: &Path) -> PathBuf {
    home.join(OVERLAYS)
}

/// Overlays as the store takes them; `tool` made the index.
pub fn stored(overlays: &[Overlay], tool: &str) -> Overlays {
    let encoded = |o: &Overlay| Some((RepoPath::new(&o.path).ok()?, o.encode()));
    let fits = |(at, c): &(usize, char)| at + c.len_utf8() <= TOOL_BYTES_MAX;
    Overlays {
        files: overlays.iter().filter_map(encoded).collect(),
        digest: indexd_scip::digest(overlays),
        tool: tool.char_indices().take_while(fits).map(|c| c.1).collect(),
    }
}

/// Digest and tool of the stored overlays, readable without reading the overlays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Their digest; `None` when there are none.
    pub digest: Option<[u8; 32]>,
    /// Name and version of the tool that made the index.
    pub tool: String,
}

/// Returns digest and tool of the stored overlays; empty when the file is not in this format.
pub fn kept(home: &Path) -> Kept {
    let read = || {
        let mut head = [0; MAGIC.len() + HASH_BYTES + 4];
        let mut file = File::open(file(home)).ok()?;
        file.read_exact(&mut head).ok()?;
        let (digest, len) = head.strip_prefix(MAGIC)?.split_first_chunk::<HASH_BYTES>()?;
        let len = u32::from_le_bytes(len.try_into().ok()?) as usize;
        let mut tool = vec![0; len.min(TOOL_BYTES_MAX)];
        file.read_exact(&mut tool).ok()?;
        Some(Kept { digest: Some(*digest), tool: String::from_utf8(tool).ok()? })
    };
    read().unwrap_or_default()
}

/// Returns the number of files that an import has overlays for, and the number of those that are not in the
/// index or have changed since, for which our own links count.
pub fn standing(snapshot: &Snapshot) -> (u64, u64) {
    let (mut n_files, mut n_stale) = (0, 0);
    snapshot.overlays(|now, overlay| {
        n_files += 1;
        n_stale += u64::from(now.is_none() || now != Overlay::hash_in(overlay));
    });
    (n_files, n_stale)
}

/// Keeps overlays, or forgets them when there are none, durably and in one step.
///
/// # Errors
/// The folder cannot be written.
pub fn keep(home: &Path, overlays: &Overlays) -> io::Result<()> {
    if overlays.files.is_empty() {
        return match fs::remove_file(file(home)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        };
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(overlays.digest);
    let parts = overlays.files.iter().flat_map(|(path, overlay)| [path.as_bytes(), overlay]);
    for part in std::iter::once(overlays.tool.as_bytes()).chain(parts) {
        bytes.extend((part.len() as u32).to_le_bytes());
        bytes.extend(part);
    }
    let hash = blake3::hash(&bytes);
    bytes.extend(hash.as_bytes());
    write_whole(&file(home), &bytes)
}

/// Reads the stored overlays; empty when there are none. Damaged ones are removed: the import has to be
/// repeated.
///
/// # Errors
/// The file cannot be read, or not removed.
pub fn read(home: &Path) -> io::Result<Overlays> {
    let bytes = match fs::read(file(home)) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Overlays::default()),
        Err(e) => return Err(e),
    };
    decode(&bytes).map_or_else(
        || {
            tracing::warn!("the imported index is damaged and counts no more; import it again");
            keep(home, &Overlays::default()).map(|()| Overlays::default())
        },
        Ok,
    )
}

fn decode(bytes: &[u8]) -> Option<Overlays> {
    let (body, hash) = bytes.split_last_chunk::<HASH_BYTES>()?;
    if blake3::hash(body).as_bytes() != hash {
        return None;
    }
    let (digest, mut rest) = body.strip_prefix(MAGIC)?.split_first_chunk::<HASH_BYTES>()?;
    let part = |rest: &mut &[u8]| {
        let (len, after) = rest.split_first_chunk::<4>()?;
        let (part, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        *rest = after;
        Some(part.to_vec())
    };
    let tool = String::from_utf8(part(&mut rest)?).ok()?;
    let mut overlays = Overlays { digest: *digest, tool, ..Overlays::default() };
    while !rest.is_empty() {
        let path = String::from_utf8(part(&mut rest)?).ok()?;
        let overlay = part(&mut rest)?;
        // An overlay of another version cannot be read.
        Overlay::decode(&overlay).ok()?;
        overlays.files.insert(RepoPath::new(&path).ok()?, overlay);
    }
    Some(overlays)
}

/// Applies a stored overlay to the links of its file, unless the content of the file has changed since.
pub fn lay(
    overlay: Option<&[u8]>,
    hash: Option<ContentHash>,
    file: FileDoc,
    facts: Facts,
    links: &mut Links,
    view: &dyn FactsView,
) {
    let (Some(overlay), Some(hash)) = (overlay, hash) else { return };
    // Stored overlays were decoded once before they were stored.
    let Ok(overlay) = Overlay::decode(overlay) else { return };
    if overlay.matches(&hash) {
        indexd_scip::apply(&overlay, file, facts, links, view);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlay(path: &str) -> Overlay {
        Overlay {
            path: path.to_owned(),
            hash: ContentHash::of(path.as_bytes()),
            targets: Vec::new(),
            places: vec![indexd_scip::overlay::Place { at: 3, len: 2, targets: Vec::new() }],
        }
    }

    #[test]
    fn what_is_kept_comes_back_until_it_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(read(home.path()).unwrap(), Overlays::default());
        keep(home.path(), &Overlays::default()).unwrap();
        let overlays = stored(&[overlay("a.py"), overlay("d/b.go")], "tool 1.2");
        keep(home.path(), &overlays).unwrap();
        assert_eq!(read(home.path()).unwrap(), overlays);
        let head = Kept { digest: overlays.known_digest(), tool: "tool 1.2".to_owned() };
        assert_eq!(kept(home.path()), head);
        keep(home.path(), &Overlays::default()).unwrap();
        assert_eq!((read(home.path()).unwrap(), kept(home.path())), (Overlays::default(), Kept::default()));
    }

    #[test]
    fn damage_is_an_error_and_no_overlay() {
        let home = tempfile::tempdir().unwrap();
        keep(home.path(), &stored(&[overlay("a.py")], "")).unwrap();
        let whole = fs::read(file(home.path())).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert!(decode(&damaged).is_none() && decode(&whole[..at]).is_none(), "byte {at}");
        }
    }
}
