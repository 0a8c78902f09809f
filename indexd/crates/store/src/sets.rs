//! Sets of handles in tables: one row for each run of 65,536 handles, under a prefix and the high
//! half of the handle, which is left out where it is 0.

use crate::codec::set;
use crate::error::Result;
use crate::table::Table;
use heed::{RoTxn, RwTxn};

/// The members of a set in ascending order.
pub(crate) fn members(table: &Table, txn: &RoTxn, prefix: &[u8]) -> Result<Vec<u32>> {
    // A longer key belongs to another prefix that starts with this one.
    members_of(table, txn, prefix, |key| high_of(key, prefix.len()))
}

/// The members of the sets under a prefix, set after set. `high` returns the high half of the handles under
/// a key, or `None` for a set that is not wanted.
pub(crate) fn members_of(
    table: &Table,
    txn: &RoTxn,
    prefix: &[u8],
    high: impl Fn(&[u8]) -> Option<u16>,
) -> Result<Vec<u32>> {
    let mut out = Vec::new();
    let mut rows = table.prefix(txn, prefix)?;
    while let Some(value) = rows.advance()? {
        if let Some(high) = high(rows.key()) {
            set::decode(high, value, &mut out).ok_or_else(|| table.corrupt(rows.key()))?;
        }
    }
    Ok(out)
}

/// The number of members of a set.
pub(crate) fn count(table: &Table, txn: &RoTxn, prefix: &[u8]) -> Result<u32> {
    let mut n = 0;
    let mut rows = table.prefix(txn, prefix)?;
    while let Some(value) = rows.advance()? {
        if high_of(rows.key(), prefix.len()).is_some() {
            n += set::count(value).ok_or_else(|| table.corrupt(rows.key()))?;
        }
    }
    Ok(n)
}

/// The high half of the handles in the row under `key`, which follows a prefix of `prefix` bytes.
pub(crate) fn high_of(key: &[u8], prefix: usize) -> Option<u16> {
    match key.get(prefix..)? {
        [] => Some(0),
        high => high.try_into().ok().map(u16::from_be_bytes),
    }
}

fn push_high(key: &mut Vec<u8>, high: u16) {
    if high > 0 {
        key.extend_from_slice(&high.to_be_bytes());
    }
}

/// Adds (`true`) and removes handles. `changes` is sorted by handle, each handle once.
pub(crate) fn update(table: &Table, txn: &mut RwTxn, prefix: &[u8], changes: &[(u32, bool)]) -> Result<()> {
    let mut key = prefix.to_vec();
    for row in changes.chunk_by(|a, b| set::high(a.0) == set::high(b.0)) {
        let high = set::high(row[0].0);
        key.truncate(prefix.len());
        push_high(&mut key, high);
        let mut old = Vec::new();
        if let Some(bytes) = table.get(txn, &key)? {
            set::decode(high, bytes, &mut old).ok_or_else(|| table.corrupt(&key))?;
        }
        let mut new: Vec<u32> = Vec::with_capacity(old.len() + row.len());
        let mut old = old.into_iter().peekable();
        for &(id, add) in row {
            while let Some(o) = old.next_if(|o| *o < id) {
                new.push(o);
            }
            old.next_if_eq(&id);
            if add {
                new.push(id);
            }
        }
        new.extend(old);
        if new.is_empty() {
            table.delete(txn, &key)?;
        } else {
            table.put_new(txn, &key, &set::encode(&new))?;
        }
    }
    Ok(())
}

/// Updates many sets: `(prefix, handle, add)` in any order; of equal pairs the last counts.
pub(crate) fn update_all<const N: usize>(
    table: &Table,
    txn: &mut RwTxn,
    mut changes: Vec<([u8; N], u32, bool)>,
) -> Result<()> {
    changes.sort_by_key(|c| (c.0, c.1));
    for group in changes.chunk_by(|a, b| a.0 == b.0) {
        let mut one: Vec<(u32, bool)> = Vec::with_capacity(group.len());
        for &(_, id, add) in group {
            match one.last_mut() {
                Some(last) if last.0 == id => last.1 = add,
                _ => one.push((id, add)),
            }
        }
        update(table, txn, &group[0].0, &one)?;
    }
    Ok(())
}

/// Cuts sorted members, without repeats, into the rows of one set.
pub(crate) fn rows<'a>(prefix: &'a [u8], ids: &'a [u32]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + 'a {
    ids.chunk_by(|a, b| set::high(*a) == set::high(*b)).map(move |run| {
        let mut key = Vec::with_capacity(prefix.len() + 2);
        key.extend_from_slice(prefix);
        push_high(&mut key, set::high(run[0]));
        (key, set::encode(run))
    })
}
