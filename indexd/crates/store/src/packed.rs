//! Facts of one file in their stored form, for code that stores them elsewhere.

use crate::codec::bytes::{Reader, put};
use crate::codec::facts::{Packer, unpack_body, unpack_interface};
use crate::error::Result;
use crate::rows::Rows;
use crate::snapshot::Snapshot;
use indexd_model::{FileDoc, FileFacts};

/// The compressed blobs of a file, one after the other.
pub(crate) fn pack(rows: Rows, file: u32) -> Result<Vec<u8>> {
    let interface = rows.blob(&rows.tables.interfaces, file)?;
    let body = rows.blob(&rows.tables.bodies, file)?;
    Ok(joined(&interface, &body))
}

/// Reverses [`Snapshot::packed_facts`] and [`crate::WriteTxn::packed_facts`]; `None` for invalid bytes.
pub fn unpack_facts(packed: &[u8]) -> Option<FileFacts> {
    let mut r = Reader::new(packed);
    let n = r.u32()? as usize;
    let (interface, _) = unpack_interface(r.take(n)?)?;
    let (body, chunks) = unpack_body(r.rest())?;
    Some(FileFacts { interface, body, chunks })
}

impl Snapshot {
    /// The facts of a file, compressed.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupt`] when they cannot be read.
    pub fn packed_facts(&self, file: FileDoc) -> Result<Vec<u8>> {
        self.noting(pack(self.rows(), file.0))
    }
}

/// Compresses the facts of a file that is not in an index, in the same form.
///
/// # Errors
/// [`crate::StoreError::Io`] when compressing fails.
pub fn pack_facts(facts: &FileFacts) -> Result<Vec<u8>> {
    let mut packer = Packer::default();
    let interface = packer.interface(&facts.interface)?;
    let body = packer.body(&facts.body, &facts.chunks)?;
    Ok(joined(&interface, &body))
}

fn joined(interface: &[u8], body: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(interface.len() + body.len() + 4);
    put(&mut packed, interface.len() as u64);
    packed.extend_from_slice(interface);
    packed.extend_from_slice(body);
    packed
}
