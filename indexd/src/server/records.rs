//! Records of packs on disk, for clients that asked for them. A record is frozen when it is first written:
//! reading it gives the same bytes, its `createdAt` included.

use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::paths;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Records of one workspace; the ones written longest ago make room. About 60 MB.
const RECORDS_MAX: usize = 1_000;

/// The records of one user: a folder for each workspace, in it a file for each pack.
pub struct Records {
    dir: PathBuf,
}

impl Records {
    /// Records below this folder; it is made with the first one.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Writes a record of a workspace, named by its folder, unless it is there already. Gives how many
    /// old records made room for it.
    ///
    /// # Errors
    /// `POC_E_CANNOT_CREATE` or `POC_E_STORAGE`.
    pub fn write(&self, workspace: &str, pack_id: &str, json: &str) -> Result<usize, ErrorObject> {
        let failed = |e: std::io::Error| {
            let code =
                if e.kind() == ErrorKind::StorageFull { ErrorCode::Storage } else { ErrorCode::CannotCreate };
            ErrorObject::new(code, format!("cannot write the record of the pack: {e}"))
        };
        let name = file_name(pack_id).ok_or_else(|| not_found(pack_id))?;
        let dir = self.dir.join(workspace);
        let path = dir.join(&name);
        if path.exists() {
            return Ok(0);
        }
        paths::private_dir(&self.dir, indexd_os::own_uid()).map_err(failed)?;
        paths::private_dir(&dir, indexd_os::own_uid()).map_err(failed)?;
        let removed = make_room(&dir, RECORDS_MAX - 1).map_err(failed)?;
        write_whole(&path, json.as_bytes()).map_err(failed)?;
        Ok(removed)
    }

    /// Gives each record of a workspace to `f`, in the order of their ids.
    ///
    /// # Errors
    /// `POC_E_STORAGE`, and those of `f`.
    pub fn each(
        &self,
        workspace: &str,
        f: &mut dyn FnMut(&str) -> Result<(), ErrorObject>,
    ) -> Result<(), ErrorObject> {
        let failed =
            |e| ErrorObject::new(ErrorCode::Storage, format!("cannot read the records of packs: {e}"));
        let mut files = entries(&self.dir.join(workspace)).map_err(failed)?;
        files.retain(|path| path.extension().is_some_and(|e| e == "json"));
        files.sort();
        for path in files {
            match std::fs::read_to_string(&path) {
                Ok(record) => f(&record)?,
                // It made room for another one meanwhile.
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(failed(e)),
            }
        }
        Ok(())
    }

    /// Reads a record of one workspace, or of any when none is named: an id is one of its kind.
    ///
    /// # Errors
    /// `POC_E_PACK_NOT_FOUND` or `POC_E_STORAGE`.
    pub fn read(&self, workspace: Option<&str>, pack_id: &str) -> Result<String, ErrorObject> {
        let failed =
            |e| ErrorObject::new(ErrorCode::Storage, format!("cannot read the record of the pack: {e}"));
        let name = file_name(pack_id).ok_or_else(|| not_found(pack_id))?;
        let folders = match workspace {
            Some(workspace) => vec![self.dir.join(workspace)],
            None => entries(&self.dir).map_err(failed)?,
        };
        for folder in folders {
            match std::fs::read_to_string(folder.join(&name)) {
                Ok(record) => return checked(record),
                Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(e) => return Err(failed(e)),
            }
        }
        Err(not_found(pack_id))
    }
}

/// Refuses a record whose shape this version does not know: one of another format or major schema version.
fn checked(record: String) -> Result<String, ErrorObject> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        format_version: u32,
        schema_version: String,
    }
    let version: Version = serde_json::from_str(&record).map_err(|e| {
        ErrorObject::new(ErrorCode::Storage, format!("the record of the pack is damaged: {e}"))
    })?;
    let (own, major) = (indexd_pack::pack::SCHEMA_VERSION, |v: &str| v.split('.').next().map(str::to_owned));
    if version.format_version == 1 && major(&version.schema_version) == major(own) {
        return Ok(record);
    }
    let message = format!(
        "the record has format {} and schema {}; this version reads format 1 and schema {own}",
        version.format_version, version.schema_version
    );
    Err(ErrorObject::new(ErrorCode::ContractVersion, message).with_hint("make the pack again"))
}

/// The file of a record. Ids come from clients, so only digests become names.
fn file_name(pack_id: &str) -> Option<String> {
    let digest = pack_id.rsplit(':').next()?;
    let plain = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then(|| format!("{}.json", digest.to_ascii_lowercase()))
}

/// What a folder holds; nothing when it is not there.
fn entries(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(dir) {
        Ok(found) => found.map(|e| e.map(|e| e.path())).collect(),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// Writes a file so that readers see all of it or none.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let temporary = path.with_file_name(format!("{}.{name}", std::process::id()));
    std::fs::write(&temporary, bytes)?;
    std::fs::rename(&temporary, path)
}

/// Deletes the oldest files until at most `keep` are left, and gives how many it deleted. Other requests
/// may do the same meanwhile: what is gone is gone.
pub fn make_room(dir: &Path, keep: usize) -> std::io::Result<usize> {
    let files = entries(dir)?;
    if files.len() <= keep {
        return Ok(0);
    }
    let written = |path: PathBuf| Some((path.symlink_metadata().and_then(|m| m.modified()).ok()?, path));
    let mut files: Vec<_> = files.into_iter().filter_map(written).collect();
    files.sort();
    let over = files.len().saturating_sub(keep);
    let mut removed = 0;
    for (_, path) in &files[..over] {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            done => removed += usize::from(done.is_ok()),
        }
    }
    Ok(removed)
}

fn not_found(pack_id: &str) -> ErrorObject {
    let shown: String = pack_id.chars().take(100).collect();
    ErrorObject::new(ErrorCode::PackNotFound, format!("no record of the pack {shown:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_frozen_and_stays_inside_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::new(dir.path().join("packs"));
        let id = format!("pack:sha256:{}", "a1".repeat(32));
        let lost = |workspace, id: &str| records.read(workspace, id).unwrap_err().data.code;
        assert_eq!(lost(None, &id), ErrorCode::PackNotFound);
        let record = |format: u32, version: &str, n: u32| {
            format!("{{\"formatVersion\":{format},\"schemaVersion\":\"{version}\",\"n\":{n}}}")
        };
        records.write("one", &id, &record(1, "1.0.0", 1)).unwrap();
        records.write("one", &id, &record(1, "1.0.0", 2)).unwrap();
        assert_eq!(records.read(Some("one"), &id).unwrap(), record(1, "1.0.0", 1));
        assert_eq!(records.read(None, &id).unwrap(), record(1, "1.0.0", 1));
        assert_eq!(lost(Some("two"), &id), ErrorCode::PackNotFound);
        for id in ["../../etc/passwd", "", "pack:sha256:..", &"/".repeat(64)] {
            assert_eq!(lost(None, id), ErrorCode::PackNotFound, "{id}");
        }
    }

    #[test]
    fn a_record_of_another_version_is_refused_with_its_code() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::new(dir.path().join("packs"));
        for (i, (record, code)) in [
            ("{\"formatVersion\":1,\"schemaVersion\":\"1.7.0\"}", None),
            ("{\"formatVersion\":2,\"schemaVersion\":\"1.0.0\"}", Some(ErrorCode::ContractVersion)),
            ("{\"formatVersion\":1,\"schemaVersion\":\"2.0.0\"}", Some(ErrorCode::ContractVersion)),
            ("{\"formatVersion\":1", Some(ErrorCode::Storage)),
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("pack:sha256:{i:064}");
            records.write("one", &id, record).unwrap();
            assert_eq!(records.read(None, &id).err().map(|e| e.data.code), code, "{record}");
        }
    }

    #[test]
    fn the_oldest_records_make_room() {
        let dir = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH;
        for (name, age) in [("b", 3), ("a", 1), ("c", 2)] {
            let file = std::fs::File::create(dir.path().join(name)).unwrap();
            file.set_modified(old + std::time::Duration::from_secs(age)).unwrap();
        }
        make_room(dir.path(), 3).unwrap();
        assert_eq!(entries(dir.path()).unwrap().len(), 3);
        assert_eq!(make_room(dir.path(), 1).unwrap(), 2);
        assert_eq!(entries(dir.path()).unwrap(), [dir.path().join("b")]);
    }

    #[test]
    fn requests_that_make_room_at_once_hinder_no_other() {
        let dir = tempfile::tempdir().unwrap();
        (0..400).for_each(|n| std::fs::write(dir.path().join(n.to_string()), "").unwrap());
        std::thread::scope(|s| {
            let all: Vec<_> = (0..4).map(|_| s.spawn(|| make_room(dir.path(), 1))).collect();
            let removed: usize = all.into_iter().map(|t| t.join().unwrap().unwrap()).sum();
            assert_eq!(removed, 399);
        });
        assert_eq!(entries(dir.path()).unwrap().len(), 1, "the newest is kept by all");
    }
}
