//! Edges out of one definition, and the unresolved uses of one file.
//!
//! Places are differences from the start of the source definition, so an edit elsewhere in the file does not
//! change the row.

use super::bytes::{Reader, put, put_delta};
use super::enums::Coded;
use indexd_model::links::{EdgeKind, Rule, UnresolvedReason};
use indexd_model::view::Occurrence;
use indexd_model::{DefIdx, Role, StrId, Unresolved};

/// The origin of relative positions: the start of the source definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// Handle of the source.
    pub source: u32,
    /// Its first byte.
    pub at: u32,
    /// Its first line.
    pub line: u32,
}

/// One use, before edges are grouped. The order of fields is the order in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    /// Kind of edge.
    pub kind: EdgeKind,
    /// Target handle.
    pub target: u32,
    /// The rest.
    pub occurrence: Occurrence,
}

const KIND_BITS: u32 = 3;
const _: () = assert!(EdgeKind::ALL.len() <= 1 << KIND_BITS);

/// Encodes sorted uses of one source.
pub(crate) fn encode(base: Base, uses: &[Use]) -> Vec<u8> {
    let mut out = Vec::with_capacity(uses.len() * 6);
    let mut code = 0;
    for group in uses.chunk_by(|a, b| (a.kind, a.target) == (b.kind, b.target)) {
        put(&mut out, (group.len() as u64) << KIND_BITS | u64::from(group[0].kind.code()));
        put_delta(&mut out, group[0].target, base.source);
        let (mut at, mut line) = (base.at, base.line);
        for Use { occurrence: o, .. } in group {
            put_delta(&mut out, o.at, at);
            let confidence = if o.confidence == o.rule.confidence() { 0 } else { CONFIDENCE };
            let before = std::mem::replace(&mut code, o.role.code() << 4 | o.rule.code());
            let changed = if before == code { 0 } else { CODE };
            let lines = i64::from(o.line) - i64::from(line);
            put(&mut out, ((lines << 1 ^ lines >> 63) as u64) << 2 | changed | confidence);
            if changed != 0 {
                out.push(code);
            }
            if confidence != 0 {
                out.push(o.confidence);
            }
            (at, line) = (o.at, o.line);
        }
    }
    out
}

/// Bit: a confidence follows, because it is not the rule's own.
const CONFIDENCE: u64 = 1;
/// Bit: role and rule follow, because they differ from those of the use before.
const CODE: u64 = 2;

/// Passes the uses of a row whose edge, by kind and target, is to be kept to `each`, in stored order.
pub(crate) fn decode(
    base: Base,
    bytes: &[u8],
    mut keep: impl FnMut(EdgeKind, u32) -> bool,
    mut each: impl FnMut(Use),
) -> Option<()> {
    let mut r = Reader::new(bytes);
    let mut code = 0;
    while !r.is_empty() {
        let head = r.u64()?;
        let kind = EdgeKind::from_code((head & ((1 << KIND_BITS) - 1)) as u8)?;
        let target = r.delta(base.source)?;
        if !keep(kind, target) {
            for _ in 0..head >> KIND_BITS {
                r.u64()?;
                let head = r.u64()?;
                if head & CODE != 0 {
                    code = r.byte()?;
                }
                r.take((head & CONFIDENCE) as usize)?;
            }
            continue;
        }
        let (mut at, mut line) = (base.at, base.line);
        for _ in 0..head >> KIND_BITS {
            at = r.delta(at)?;
            let head = r.u64()?;
            let lines = (head >> 3) as i64 ^ -((head >> 2 & 1) as i64);
            line = i64::from(line).checked_add(lines)?.try_into().ok()?;
            if head & CODE != 0 {
                code = r.byte()?;
            }
            let (role, rule) = (Role::from_code(code >> 4)?, Rule::from_code(code & 15)?);
            let confidence = if head & CONFIDENCE == 0 { rule.confidence() } else { r.byte()? };
            each(Use { kind, target, occurrence: Occurrence { at, line, role, rule, confidence } });
        }
    }
    Some(())
}

/// Passes the kind and target of every edge of a row to `each`, sorted.
pub(crate) fn decode_targets(base: Base, bytes: &[u8], mut each: impl FnMut(EdgeKind, u32)) -> Option<()> {
    let pass = |kind, target| {
        each(kind, target);
        false
    };
    decode(base, bytes, pass, |_| ())
}

/// Encodes the unresolved uses of a file, sorted by place.
pub(crate) fn encode_unresolved(all: &[Unresolved]) -> Vec<u8> {
    let mut out = Vec::with_capacity(all.len() * 6);
    let (mut at, mut source) = (0, 0);
    for u in all {
        put_delta(&mut out, u.at, at);
        put_delta(&mut out, u.source.0.wrapping_add(1), source);
        put(&mut out, u64::from(u.name.0));
        out.push(u.role.code() << 4 | u.reason.code());
        (at, source) = (u.at, u.source.0.wrapping_add(1));
    }
    out
}

/// Reverses [`encode_unresolved`].
pub(crate) fn decode_unresolved(bytes: &[u8]) -> Option<Vec<Unresolved>> {
    let mut r = Reader::new(bytes);
    let mut out = Vec::new();
    let (mut at, mut source) = (0, 0);
    while !r.is_empty() {
        at = r.delta(at)?;
        source = r.delta(source)?;
        let name = StrId(r.u32()?);
        let code = r.byte()?;
        let (role, reason) = (Role::from_code(code >> 4)?, UnresolvedReason::from_code(code & 15)?);
        out.push(Unresolved { source: DefIdx(source.wrapping_sub(1)), name, at, role, reason });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn one_use() -> impl Strategy<Value = Use> {
        (
            (select(EdgeKind::ALL.to_vec()), 0..9u32, any::<bool>()),
            (0..1u32 << 21, 0..1u32 << 16),
            (select(Role::ALL.to_vec()), select(Rule::ALL.to_vec()), 0..=100u8),
        )
            .prop_map(|((kind, target, own), (at, line), (role, rule, confidence))| {
                let confidence = if own { rule.confidence() } else { confidence };
                Use { kind, target, occurrence: Occurrence { at, line, role, rule, confidence } }
            })
    }

    proptest! {
        #[test]
        fn rows_round_trip(mut uses in prop::collection::vec(one_use(), 0..40), source: u32, at in 0..1u32 << 21, line: u16) {
            uses.sort_unstable();
            let base = Base { source, at, line: u32::from(line) };
            let mut back = Vec::new();
            let bytes = encode(base, &uses);
            prop_assert_eq!(decode(base, &bytes, |_, _| true, |u| back.push(u)), Some(()));
            for edge in uses.iter().map(|u| (u.kind, u.target)) {
                let mut of_edge = Vec::new();
                prop_assert_eq!(decode(base, &bytes, |k, t| (k, t) == edge, |u| of_edge.push(u)), Some(()));
                let expect: Vec<_> = uses.iter().filter(|u| (u.kind, u.target) == edge).copied().collect();
                prop_assert_eq!(of_edge, expect);
            }
            let mut targets = Vec::new();
            prop_assert_eq!(decode_targets(base, &bytes, |k, t| targets.push((k, t))), Some(()));
            let mut expect: Vec<_> = uses.iter().map(|u| (u.kind, u.target)).collect();
            expect.dedup();
            prop_assert_eq!(targets, expect);
            prop_assert_eq!(back, uses);
        }

        #[test]
        fn rows_do_not_move_with_their_definition(mut uses in prop::collection::vec(one_use(), 1..20), by in 0..1000u32) {
            uses.sort_unstable();
            let base = Base { source: 7, at: 100, line: 10 };
            let mut moved = uses.clone();
            moved.iter_mut().for_each(|u| {
                u.occurrence.at += by;
                u.occurrence.line += by;
            });
            let moved_base = Base { source: 7, at: 100 + by, line: 10 + by };
            prop_assert_eq!(encode(base, &uses), encode(moved_base, &moved));
        }

        #[test]
        fn unresolved_round_trip(all in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 0..30)) {
            let all: Vec<Unresolved> = all.into_iter().map(|(source, name, at)| Unresolved {
                source: DefIdx(source),
                name: StrId(name),
                at,
                role: Role::ALL[at as usize % Role::ALL.len()],
                reason: UnresolvedReason::ALL[name as usize % UnresolvedReason::ALL.len()],
            }).collect();
            prop_assert_eq!(decode_unresolved(&encode_unresolved(&all)), Some(all));
        }

        #[test]
        fn garbage_is_refused_without_panic(bytes: Vec<u8>) {
            for kept in [true, false] {
                let _ = decode(Base { source: 0, at: 0, line: 0 }, &bytes, |_, _| kept, |_| ());
            }
            let _ = decode_unresolved(&bytes);
        }
    }
}
