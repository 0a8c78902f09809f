// Reads a SCIP index with two readers that are not ours and checks it against the tree it describes.
//
//   npm install --prefix DIR @sourcegraph/scip-typescript @c4312/scip
//   NODE_PATH=DIR/node_modules node scripts/scip_check.js index.scip TREE [PATH]
//
// Both readers must decode every byte and agree on what they found; ranges must lie in the text, be
// sorted and hold the name of what they define; no symbol may be described twice in a document or be
// used without being defined; the snapshot printer of scip-typescript must print every document.
// PATH prints that document. Exits with 1 and a list of what is wrong.
const fs = require("fs");
const path = require("path");
const reader = path.dirname(require.resolve("@sourcegraph/scip-typescript/package.json")) + "/dist/src/";
const { scip } = require(reader + "scip.js");
const { Input } = require(reader + "Input.js");
const { formatSnapshot } = require(reader + "SnapshotTesting.js");

const [file, root, wanted] = process.argv.slice(2);
const bytes = fs.readFileSync(file);
const index = scip.Index.deserializeBinary(bytes);
const wrong = [];
const say = (document, what) => wrong.push(`${document.relative_path}: ${what}`);

const isDefinition = (o) => (o.symbol_roles & scip.SymbolRole.Definition) !== 0;
const end = (r) => (r.length === 3 ? [r[0], r[2]] : [r[2], r[3]]);
const compare = (a, b) => {
  for (let i = 0; i < Math.max(a.length, b.length); i++) if (a[i] !== b[i]) return (a[i] ?? -1) < (b[i] ?? -1) ? -1 : 1;
  return 0;
};
const order = (o) => [o.range[0], o.range[1], ...end(o.range)];

const defined = new Set(index.documents.flatMap((d) => d.occurrences.filter(isDefinition).map((o) => o.symbol)));
let n = 0;
for (const d of index.documents) {
  const buffer = fs.readFileSync(path.join(root, d.relative_path));
  const lines = buffer.toString("latin1").split(/\r\n|\n|\r/);
  const names = new Map(d.symbols.map((s) => [s.symbol, s.display_name]));
  if (names.size !== d.symbols.length) say(d, "a symbol is described twice");
  let last;
  for (const o of d.occurrences) {
    n++;
    const at = `${o.range} ${o.symbol}`;
    if (last && compare(order(last), order(o)) > 0) say(d, `not sorted: ${at}`);
    if (last && compare(order(last), order(o)) === 0 && last.symbol === o.symbol) say(d, `twice: ${at}`);
    last = o;
    if (!defined.has(o.symbol)) say(d, `defined nowhere: ${at}`);
    const [line, column] = o.range;
    const [endLine, endColumn] = end(o.range);
    if (endLine >= lines.length || endColumn > lines[endLine].length) say(d, `outside of the text: ${at}`);
    if (endLine !== line || d.text) continue;
    const held = Buffer.from(lines[line].slice(column, endColumn), "latin1").toString("utf8");
    if (held.includes("\ufffd")) say(d, `splits a character: ${at}`);
    const name = names.get(o.symbol);
    const isCode = d.language === "Go" || d.language === "Python";
    if (isDefinition(o) && name && isCode && held !== name) say(d, `holds ${JSON.stringify(held)}, not the name: ${at}`);
  }
  for (const s of d.symbols)
    if (!d.occurrences.some((o) => o.symbol === s.symbol && isDefinition(o))) say(d, `described, not defined: ${s.symbol}`);
  // The printer puts "//" before its carets, so it needs two columns of room; it knows no long ranges.
  const room = buffer.toString("utf8").replace(/^/gm, "  ");
  const single = d.occurrences.filter((o) => o.range.length === 3);
  for (const o of single) if (o.range[2] !== 0) o.range = [o.range[0], o.range[1] + 2, o.range[2] + 2];
  if (!single.length) continue;
  const printed = formatSnapshot(new Input(d.relative_path, room), Object.assign(d, { occurrences: single }));
  if (d.relative_path === wanted) console.log(printed);
}

// Packages come as CommonJS or as modules.
const load = async (file) => {
  try {
    return require(file);
  } catch {
    return import(file);
  }
};

(async () => {
  const { IndexSchema } = await load(require.resolve("@c4312/scip/scip_pb.js"));
  const { fromBinary } = await load(require.resolve("@bufbuild/protobuf"));
  const other = fromBinary(IndexSchema, bytes);
  const counts = (documents) => documents.map((d) => [d.relativePath ?? d.relative_path, d.occurrences.length].join(" "));
  const again = scip.Index.deserializeBinary(bytes);
  if (counts(other.documents).join("\n") !== counts(again.documents).join("\n")) wrong.push("the two readers disagree");
  for (const d of other.documents) {
    if (d.$unknown?.length) wrong.push(`${d.relativePath}: unknown fields`);
    if (d.positionEncoding !== 1) wrong.push(`${d.relativePath}: columns are not bytes`);
  }
  console.error(`${index.metadata.tool_info.name}: ${index.documents.length} documents, ${n} occurrences, ${wrong.length} wrong`);
  wrong.slice(0, 50).forEach((w) => console.error(w));
  process.exit(wrong.length ? 1 : 0);
})();
