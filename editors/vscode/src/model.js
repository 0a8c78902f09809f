'use strict';
// What is asked and what answers mean. Knows nothing of VS Code.

const path = require('node:path');

const OVERLAYS_MAX = 32;
const OVERLAY_BYTES_MAX = 4 * 1024 * 1024;
const BAR_WIDTH = 10;

/** The request that `ctl pack QUERY` makes. */
function packParams(query, budget) {
  return {
    query,
    includeExplain: false,
    rendered: true,
    defaultBudgets: { maxTotalTokens: budget, maxBytesPerItem: 16000, maxItems: 250, maxItemsPerSection: 80 },
  };
}

/** As many unsaved texts as a request may carry, and how many are left out. */
function overlays(texts) {
  const taken = [];
  let bytes = 0;
  for (const one of texts) {
    const size = Buffer.byteLength(one.text);
    if (taken.length < OVERLAYS_MAX && bytes + size <= OVERLAY_BYTES_MAX) {
      taken.push(one);
      bytes += size;
    }
  }
  return { overlays: taken, nLeftOut: texts.length - taken.length };
}

/** What an answer says of its freshness. */
function freshness(envelope) {
  if (envelope.fresh) {
    const n = envelope.overlays?.applied.length ?? 0;
    return n > 0 ? `fresh, with ${n} unsaved` : 'fresh';
  }
  if (envelope.pending > 0) return `not fresh: ${envelope.pending} changed paths are missing`;
  return 'not fresh: the last saves may be missing';
}

/** What the reader of an answer must be told. */
function warnings(envelope) {
  return [
    ...(envelope.fresh ? [] : [freshness(envelope)]),
    ...(envelope.warnings ?? []),
    ...(envelope.overlays?.leftOut ?? []).map((left) => `an unsaved text does not count: ${left.reason}`),
  ];
}

function bar(used, budget) {
  const full = budget > 0 ? Math.round((BAR_WIDTH * Math.min(used, budget)) / budget) : 0;
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}

function place(item) {
  return `${item.fileRelPath}:${item.lines.start}`;
}

/** The pack as a tree: a summary, sections, items, and the reasons of each item. */
function tree(result) {
  const { pack, envelope } = result;
  const { tokenCount, tokenBudget, included, found } = pack.stats;
  const summary = {
    kind: 'summary',
    label: `${bar(tokenCount, tokenBudget)} ${tokenCount} of ${tokenBudget} tokens`,
    description: `${included} of ${found}, ${freshness(envelope)}`,
    tooltip: [pack.request.query, pack.packId, ...(pack.missing_context_hints ?? [])].join('\n'),
    children: [],
  };
  const sections = pack.sections.filter((s) => s.items.length > 0).map((section) => {
    const tokens = section.items.reduce((sum, item) => sum + (item.tokens ?? 0), 0);
    return {
      kind: 'section',
      label: section.name === 'seeds' ? 'best matches' : section.name.replaceAll('_', ' '),
      description: `${section.items.length} ${section.items.length === 1 ? 'item' : 'items'}, ${tokens} tokens` + (section.dropped ? `, ${section.dropped} without room` : ''),
      children: section.items.map((item) => itemNode(item)),
    };
  });
  const next = (pack.suggested_next_queries ?? []).map((query) => ({ kind: 'next', label: query, query, children: [] }));
  const rest = next.length > 0 ? [{ kind: 'section', label: 'try next', description: '', children: next }] : [];
  return [summary, ...sections, ...rest];
}

/** The names of an item from file level down, by its SCIP symbol; its title where it has none. */
function nameOf(item) {
  const descriptors = (item.symbolId ?? '').split(' ').slice(4).join(' ');
  const names = [];
  for (const [, quoted, plain, end] of descriptors.matchAll(/(?:`((?:[^`]|``)*)`|([\w+$-]+))(\/|#|\.|:|!|\([^)]*\)\.?)/g)) {
    if (end === '/') names.length = 0;
    else names.push(quoted?.replaceAll('``', '`') ?? plain);
  }
  return names.join('.') || item.title || place(item);
}

/** Hits of `search`, or lines of `grep`, by file: a node for each. */
function results(entries) {
  const files = new Map();
  for (const entry of entries) {
    const folder = path.dirname(entry.path);
    const file = { kind: 'file', label: path.basename(entry.path), description: folder === '.' ? '' : folder, at: undefined, children: [] };
    if (!files.has(entry.path)) files.set(entry.path, file);
    files.get(entry.path).children.push({
      kind: 'line', label: entry.text, description: `${entry.line}${entry.name ? `  ${entry.name}` : ''}`,
      at: { path: entry.path, line: entry.line, column: entry.column }, children: [],
    });
  }
  return [...files.values()];
}

/** Hits of `search` as entries of a list of results. */
function hits(result) {
  const code = (h) => h.text.split(`  ${h.matchLine}: `)[1] ?? h.title;
  return result.hits.map((h) => ({ path: h.fileRelPath, line: h.matchLine, column: 1, name: h.name, text: code(h).trim() }));
}

/** Lines of `grep` as such entries. */
function lines(result) {
  return result.lines.map((l) => ({ path: l.fileRelPath, line: l.line, column: l.column, name: l.within?.name ?? '', text: l.text.trim() }));
}

function itemNode(item) {
  const evidence = (item.why.evidence ?? []).filter((e) => e.line > 0);
  const reasons = evidence.map((e) => ({
    kind: 'why',
    label: `${e.via || e.kind} at ${e.fileRelPath}:${e.line}`,
    at: { path: e.fileRelPath, start: e.line, end: e.line },
    children: [],
  }));
  const also = (item.why.also ?? []).map((label) => ({ kind: 'why', label, children: [] }));
  return {
    kind: 'item',
    label: nameOf(item),
    description: place(item),
    tooltip: `${item.why.rule}\n${item.tokens ?? 0} tokens\n\n${item.title ?? ''}`,
    at: { path: item.fileRelPath, start: item.lines.start, end: item.lines.end },
    text: item.excerpt?.text ?? '',
    children: [{ kind: 'why', label: item.why.rule, children: [] }, ...reasons, ...also],
  };
}

/** The text of nodes that are dragged: code under its place. */
function textOf(nodes) {
  const items = nodes.flatMap((node) => (node.kind === 'section' ? node.children : [node])).filter((n) => n.kind === 'item');
  return items.map((n) => `${n.at.path}:${n.at.start}-${n.at.end}\n${n.text.replace(/\n?$/, '\n')}`).join('\n');
}

/**
 * The definition at a place, or that a name there means: the definition whose name stands there, else what a call
 * there leads to, else all of that name.
 * @param ask asks the daemon: (method, params) => result
 * @param at {{path: string, line: number, column: number, word: string}} column in bytes from 1
 */
async function symbolAt(ask, at) {
  const found = await ask('symbol', { name: at.word, limit: 500 });
  const own = found.symbols.find((s) => s.line === at.line && `${found.envelope.root}/${s.fileRelPath}` === at.path);
  if (own) return own.symbolId ?? at.word;
  const calls = await ask('graph.callees', { symbol: `${at.path}:${at.line}`, limit: 2000, minConfidence: 0 }).catch((error) => {
    if (error.code === 'POC_E_CANCELLED') throw error;
    return { edges: [] };
  });
  const length = Buffer.byteLength(at.word);
  const holds = (e) => e.line === at.line && e.column <= at.column && at.column <= e.column + length;
  const edge = calls.edges.find((e) => e.target.name === at.word && e.evidence.some(holds));
  if (edge) return edge.target.symbolId ?? at.word;
  return found.symbols.some((s) => s.name === at.word) ? at.word : undefined;
}

/** The places of a graph answer: where each use stands, or for callees where each definition does. */
function places(result) {
  const isAhead = result.relation === 'callees';
  const name = (s) => s.qualifiedName || s.name;
  return result.edges.flatMap((edge) => {
    const steps = edge.depth > 1 ? `, ${edge.depth} steps` : '';
    if (isAhead) {
      return [{ path: edge.target.fileRelPath, line: edge.target.line, name: edge.target.name, label: name(edge.target), detail: edge.kind + steps }];
    }
    return edge.evidence.map((e) => ({
      path: edge.source.fileRelPath, line: e.line, column: e.column, name: edge.target.name, label: name(edge.source), detail: edge.kind + steps,
    }));
  });
}

/** A graph answer as text for a model. */
function graphText(result) {
  const roots = result.roots.map((r) => `${r.fileRelPath}:${r.line} ${r.signature}`);
  const lines = places(result).map((p) => `${p.path}:${p.line} ${p.label} (${p.detail})`);
  return [`${result.relation} of`, ...roots, '', ...(lines.length > 0 ? lines : [`no ${result.relation}`]), '', result.coverage.statement].join('\n');
}

module.exports = { packParams, overlays, freshness, warnings, tree, nameOf, results, hits, lines, textOf, symbolAt, places, graphText, bar };
