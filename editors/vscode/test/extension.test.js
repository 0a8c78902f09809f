'use strict';
// node --test: the extension over a stub of VS Code and a real daemon. `ctl` and `indexd` are in PATH, and
// INDEXD_TEST_REPO is the repository that the tests of the editors share.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { activate } = require('./vscode');
const { Client, knownSocket } = require('../src/client');
const { toCharacter, toColumn } = require('../src/columns');
const model = require('../src/model');
const manifest = require('../package.json');

const repo = process.env.INDEXD_TEST_REPO;
const QUERY = 'how long is the delay before the next attempt';
const settings = { ctl: 'ctl', socket: '', budget: 4000, unsaved: true, providers: true };
const ctl = (...args) => execFileSync('ctl', args, { cwd: repo, encoding: 'utf8' });
const soon = async (what, condition) => {
  for (let i = 0; i < 2000; i += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(what);
};
let at;
const open = async (name) => {
  const document = await at.vscode.workspace.openTextDocument(at.vscode.Uri.file(path.join(repo, name)));
  await at.vscode.window.showTextDocument(document);
  return document;
};
const run = (name, ...args) => at.vscode.commands.executeCommand(`indexd.${name}`, ...args);

before(() => { at = activate(repo, settings); });
after(() => at.dispose());

test('the commands of the manifest are those of the extension', () => {
  const named = manifest.contributes.commands.map((c) => c.command).sort();
  assert.deepEqual(named, Object.keys(at.seen.commands).sort());
  assert.deepEqual(manifest.contributes.languageModelTools.map((t) => t.name), Object.keys(at.seen.tools));
  const keys = Object.keys(manifest.contributes.configuration.properties).map((k) => k.replace('indexd.', ''));
  assert.deepEqual(keys, Object.keys(settings));
});

test('a pack is the one of ctl, and a tree of sections, items and reasons', async () => {
  await open('client.go');
  const result = await run('pack', QUERY);
  assert.equal(result.pack.packId, JSON.parse(ctl('pack', QUERY, '--json')).packId);
  const { treeDataProvider: tree } = at.seen.trees['indexd.pack'];
  const [summary, seeds] = tree.getChildren();
  assert.match(summary.label, /^[█░]{10} \d+ of 4000 tokens$/);
  assert.match(summary.description, /fresh$/);
  assert.equal(seeds.label, 'best matches');
  const delay = tree.getChildren(seeds).find((n) => n.label === 'Delay');
  assert.match(delay.description, /^retry\.go:\d+$/);
  const item = tree.getTreeItem(delay);
  assert.equal(item.command.arguments[0].fsPath, path.join(repo, 'retry.go'));
  assert.equal(item.command.arguments[1].selection.start.line + 1, result.pack.sections[0].items.find((i) => i.fileRelPath === 'retry.go').lines.start);
  assert.ok(tree.getChildren(delay).some((n) => n.label.includes('retry.go:')));
  assert.equal(at.seen.contexts['indexd.hasPack'], true);
  assert.equal(at.seen.bars[0].text, '$(check) indexd');
});

test('the pack is copied, previewed and dragged', async () => {
  const rendered = ctl('pack', QUERY, '--as', 'text');
  await run('copyPack');
  assert.equal(at.seen.clipboard.trim(), rendered.trim());
  await run('previewPack');
  assert.equal(at.seen.opened.at(-1).document.getText().trim(), rendered.trim());
  const nodes = at.tree.getChildren().slice(1, 2);
  const data = new Map();
  at.tree.handleDrag(nodes, data);
  assert.match(data.get('text/uri-list').value, /^file:.*\/retry\.go#L\d+-\d+/);
  assert.match(data.get('text/plain').value, /^retry\.go:\d+-\d+\n[^]*func Delay/m);
});

test('the input box stays until the answer is there, and escape gives up', async () => {
  await open('client.go');
  const asked = run('pack');
  const input = at.seen.inputs.at(-1);
  input.value = 'base';
  input.accept();
  assert.equal(input.busy, true);
  assert.equal((await asked).pack.request.query, 'base');
  assert.equal(input.isDisposed, true);
  const given = run('pack');
  const second = at.seen.inputs.at(-1);
  second.value = 'attempt';
  second.accept();
  second.hide();
  assert.equal(await given, undefined);
  assert.equal(at.indexd.client.isBusy, false);
  assert.deepEqual(at.seen.messages.filter((m) => m.level === 'error'), []);
});

test('callers are listed, and lead to their places', async () => {
  await open('retry.go');
  await run('callers', 'Delay');
  const list = at.seen.picks.at(-1);
  assert.deepEqual(list.items.map((i) => [i.label, i.description, i.detail]), [['Get', 'client.go:5', 'call']]);
  list.activeItems = [list.items[0]];
  list.accept();
  await soon('opened', () => at.seen.opened.at(-1).document.uri.fsPath.endsWith('client.go'));
  const { start } = at.seen.opened.at(-1).options.selection;
  assert.deepEqual([start.line, start.character], [4, 8]);
  // The cursor is on the call now.
  await run('callees');
  assert.deepEqual(at.seen.picks.at(-1).items.map((i) => i.label), ['base']);
});

test('search and grep list what they find by file', async () => {
  await open('retry.go');
  const { treeDataProvider: tree } = at.seen.trees['indexd.results'];
  await run('grep', '^func Del');
  const [file] = tree.getChildren();
  assert.deepEqual([file.label, file.description], ['retry.go', '']);
  assert.deepEqual(file.children.map((n) => [n.label, n.description]), [['func Delay(attempt int) int {', '4  Delay']]);
  assert.equal(at.seen.trees['indexd.results'].description, '^func Del: 1');
  const { command, arguments: args } = tree.getTreeItem(file.children[0]).command;
  await at.vscode.commands.executeCommand(command, ...args);
  assert.equal(at.seen.opened.at(-1).options.selection.start.line, 3);
  at.seen.answers = ['delay of the next attempt'];
  const found = await run('search');
  assert.equal(tree.getChildren().flatMap((f) => f.children).length, found.hits.length);
  assert.ok(tree.getChildren().some((f) => f.label === 'retry.go'));
  await run('grep', 'nothingHasThis');
  assert.deepEqual([tree.getChildren(), at.seen.trees['indexd.results'].message], [[], 'Nothing found for nothingHasThis.']);
});

test('items go by their names', () => {
  const name = (symbolId) => model.nameOf({ symbolId, title: 't', fileRelPath: 'f', lines: { start: 1 } });
  assert.equal(name('scip:indexd gomod m . a/b/Client#get().'), 'Client.get');
  assert.equal(name('scip:indexd . . . docs/`scip.md`/`How it works`/'), 't');
  assert.equal(name('scip:indexd . . . docs/`scip.md`/`How it works`#'), 'How it works');
  assert.equal(name('scip:indexd npm p . `a.ts`/`Ωmega`().'), 'Ωmega');
  assert.equal(name(undefined), 't');
});

test('a command of the palette works where it is shown', () => {
  const hidden = new Map(manifest.contributes.menus.commandPalette.map((m) => [m.command, m.when]));
  const always = Object.keys(at.seen.commands).filter((c) => !hidden.has(c)).map((c) => c.replace('indexd.', ''));
  assert.deepEqual(always.sort(), ['grep', 'pack', 'search', 'status']);
});

test('references and call hierarchies count as VS Code does, unsaved texts with them', async () => {
  const document = await open('client.go');
  const saved = document.text;
  const before = ctl('export', 'dump');
  document.text += '\n// Ωmega waits.\nfunc Ωmega() int { /* Ω */ return Delay(4) }\n';
  document.isDirty = true;
  const position = new at.vscode.Position(4, 9);
  const { provider } = at.seen.providers.references;
  const places = (await provider.provideReferences(document, position, { includeDeclaration: true }))
    .map((l) => [path.basename(l.uri.fsPath), l.range.start.line, l.range.start.character, l.range.end.character]);
  assert.deepEqual(places, [['retry.go', 3, 5, 10], ['client.go', 4, 8, 13], ['client.go', 8, 34, 39]]);
  assert.equal(saved.length > 0 && document.lineAt(8).text.slice(34, 39), 'Delay');

  const calls = at.seen.providers.calls.provider;
  const [item] = await calls.prepareCallHierarchy(document, position);
  assert.deepEqual([item.name, item.detail, item.kind], ['Delay', 'retry.go', at.vscode.SymbolKind.Function]);
  const incoming = await calls.provideCallHierarchyIncomingCalls(item);
  assert.deepEqual(incoming.map((c) => [c.from.name, c.fromRanges[0].start.character]), [['Get', 8], ['Ωmega', 34]]);
  const outgoing = await calls.provideCallHierarchyOutgoingCalls(item);
  assert.deepEqual(outgoing.map((c) => [c.to.name, c.fromRanges[0].start.line]), [['base', 4]]);
  assert.equal(ctl('export', 'dump'), before);
  document.text = saved;
  document.isDirty = false;
  assert.deepEqual(at.seen.providers.calls.selector.map((s) => s.language), ['go', 'python']);
});

test('python has them, too', async () => {
  const document = await open('run.py');
  const { provider } = at.seen.providers.references;
  const places = await provider.provideReferences(document, new at.vscode.Position(4, 12), { includeDeclaration: false });
  assert.ok(places.some((l) => l.uri.fsPath.endsWith('run.py') && l.range.start.line === 4));
});

test('models get the pack and the graph', async () => {
  await open('client.go');
  const { token } = new at.vscode.CancellationTokenSource();
  const pack = await at.seen.tools.indexd_pack.invoke({ input: { query: QUERY } }, token);
  assert.equal(pack.content[0].value.trim(), ctl('pack', QUERY, '--as', 'text').trim());
  const graph = await at.seen.tools.indexd_graph.invoke({ input: { symbol: 'Delay', relation: 'callers' } }, token);
  assert.match(graph.content[0].value, /^callers of\nretry\.go:4 func Delay[^]*\nclient\.go:5 Get \(call\)\n\n1 caller; every use of the name Delay in code of the project is resolved/);
  await assert.rejects(at.seen.tools.indexd_graph.invoke({ input: { symbol: 'Delay', relation: 'x' } }, token), /relation is one of/);
  const [server] = at.seen.mcp.indexd.provideMcpServerDefinitions();
  assert.deepEqual([server.command, server.args, server.cwd.fsPath], ['ctl', ['mcp'], repo]);
});

test('why, status, and what cannot be answered is told', async () => {
  await open('retry.go');
  assert.equal((await run('why')).standing, 'indexed');
  await run('status');
  assert.match(at.seen.messages.at(-1).text, /^indexd .*, process \d+/);
  await run('callers', 'noSuchName');
  assert.match(at.seen.messages.at(-1).text, /no definition of "noSuchName"/);
  assert.equal(at.seen.bars[0].text, '$(error) indexd');
});

test('the daemon may end in between', async () => {
  const first = (await at.indexd.client.request('status', {})).daemon.pid;
  ctl('daemon', 'stop');
  const { daemon } = await at.indexd.client.request('status', {});
  assert.notEqual(daemon.pid, first);
});

/** A daemon that says what the test wants: `answer` gets each request and a function that sends. */
async function withDaemon(answer, action) {
  const socket = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'indexd-')), 's');
  const server = net.createServer((connection) => {
    connection.on('error', () => {});
    let rest = '';
    connection.on('data', (bytes) => {
      const lines = (rest + bytes).split('\n');
      rest = lines.pop();
      for (const line of lines) answer(JSON.parse(line), (m) => connection.write(JSON.stringify(m) + '\n'), connection);
    });
  });
  await new Promise((resolve) => server.listen(socket, resolve));
  try {
    return await action(socket);
  } finally {
    server.close();
    fs.rmSync(path.dirname(socket), { recursive: true });
  }
}

test('progress is shown, and what is not fresh says so', async () => {
  const envelope = { fresh: false, pending: 2, repoId: 'r', root: repo };
  const seen = [];
  const answer = ({ id }, send) => {
    send({ method: '$/progress', params: { id, phase: 'parse', done: 1, total: 4 } });
    // Not before the client has seen it.
    setTimeout(() => send({ id, result: { path: 'retry.go', reason: 'x', standing: 'indexed', envelope } }), 50);
  };
  await withDaemon(answer, async (socket) => {
    const other = activate(repo, { ...settings, socket });
    const bar = other.seen.bars[0];
    await other.indexd.ask('why', { path: 'retry.go' }, { cwd: repo, progress: (_, text) => seen.push(text, bar.text) });
    assert.deepEqual(seen, ['parse 25 %', '$(sync~spin) indexd parse 25 %']);
    assert.deepEqual([bar.text, bar.tooltip], ['$(warning) indexd behind', 'r: not fresh: 2 changed paths are missing']);
    other.dispose();
  });
});

test('what is busy, ending or lost is asked again, and a cancel is told', async () => {
  const heard = [];
  const answer = ({ id, method, params }, send, connection) => {
    heard.push(method);
    const refuse = (code) => send({ id, error: { message: 'no', data: { code, retryAfterMs: 5 } } });
    if (method === '$/cancelRequest') heard.push(params.id);
    else if (heard.length === 1) refuse('POC_E_BUSY');
    else if (heard.length === 2) refuse('POC_E_SHUTTING_DOWN');
    else if (heard.length === 3) connection.destroy();
    else if (method === 'status') send({ id, result: {} });
  };
  await withDaemon(answer, async (socket) => {
    const client = new Client(() => ({ ctl: 'no-such-ctl', socket }));
    await client.request('status', {});
    assert.deepEqual(heard, ['status', 'status', 'status', 'status']);
    const abort = new AbortController();
    const asked = client.request('index.wait', {}, { signal: abort.signal });
    await soon('heard', () => heard.length === 5);
    abort.abort();
    await assert.rejects(asked, { code: 'POC_E_CANCELLED' });
    await soon('told', () => heard.at(-1) === 2);
    client.dispose();
  });
});

test('an unknown program is told', async () => {
  const client = new Client(() => ({ ctl: 'no-such-ctl', socket: path.join(repo, 'none') }));
  await assert.rejects(client.request('status', {}), { code: 'POC_E_DAEMON_UNAVAILABLE', message: 'no-such-ctl is not there' });
});

test('columns, sockets, limits and sentences', () => {
  assert.deepEqual(['Ωa', '😀a', 'a'].map((line) => toColumn(line, line.length - 1)), [3, 5, 1]);
  assert.deepEqual([['Ωa', 3], ['😀a', 5], ['a', 1], ['ab', 9]].map(([l, c]) => toCharacter(l, c)), [1, 2, 0, 2]);
  assert.equal(knownSocket({ INDEXD_RUNTIME_DIR: '/a', XDG_RUNTIME_DIR: '/b' }), '/a/s');
  assert.equal(knownSocket({ XDG_RUNTIME_DIR: '/b' }), '/b/indexd/s');
  assert.equal(knownSocket({ XDG_RUNTIME_DIR: 'b' }), undefined);
  assert.equal(knownSocket({ XDG_RUNTIME_DIR: '/b'.repeat(60) }), undefined);
  const texts = Array.from({ length: 40 }, (_, i) => ({ path: `${i}`, text: 'x' }));
  assert.deepEqual([model.overlays(texts).overlays.length, model.overlays(texts).nLeftOut], [32, 8]);
  assert.equal(model.overlays([{ path: 'a', text: 'Ω'.repeat(3 << 20) }]).nLeftOut, 1);
  assert.deepEqual(model.warnings({ fresh: false, pending: 3, warnings: ['w'], overlays: { applied: [], leftOut: [{ reason: 'r' }] } }), [
    'not fresh: 3 changed paths are missing', 'w', 'an unsaved text does not count: r',
  ]);
});
