'use strict';
// The house of VS Code around client.js and model.js.

const vscode = require('vscode');
const fs = require('node:fs/promises');
const path = require('node:path');
const { Client } = require('./client');
const { toCharacter, toColumn } = require('./columns');
const model = require('./model');

const LANGUAGES = [{ scheme: 'file', language: 'go' }, { scheme: 'file', language: 'python' }];
const RELATIONS = ['callers', 'callees', 'refs', 'impact'];
const PACK_SCHEME = 'indexd-pack';
/** Lines of a search for text. */
const LINES_MAX = 2000;

const setting = (name) => vscode.workspace.getConfiguration('indexd').get(name);

/** Everything of one window. */
class Indexd {
  constructor() {
    this.client = new Client(() => ({ ctl: setting('ctl') || 'ctl', socket: setting('socket') || undefined }));
    this.bar = vscode.window.createStatusBarItem('indexd', vscode.StatusBarAlignment.Right, 50);
    this.bar.name = 'indexd';
    this.bar.command = 'indexd.status';
    this.shown = undefined;
    this.changed = new vscode.EventEmitter();
    this.contentChanged = new vscode.EventEmitter();
    this.found = { root: '', nodes: [] };
    this.foundChanged = new vscode.EventEmitter();
  }

  /** The folder that a request is about. */
  cwd(document = vscode.window.activeTextEditor?.document) {
    if (document?.uri.scheme === 'file') return path.dirname(document.uri.fsPath);
    const folder = vscode.workspace.workspaceFolders?.find((f) => f.uri.scheme === 'file');
    if (!folder) throw new Error('open a folder or a file first');
    return folder.uri.fsPath;
  }

  /** Unsaved documents beneath the workspace folder of `cwd`. */
  unsaved(cwd) {
    if (!setting('unsaved')) return {};
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(cwd))?.uri.fsPath ?? cwd;
    const isBelow = (d) => d.uri.scheme === 'file' && (d.uri.fsPath + path.sep).startsWith(folder + path.sep);
    const texts = vscode.workspace.textDocuments
      .filter((d) => d.isDirty && isBelow(d))
      .map((d) => ({ path: d.uri.fsPath, text: (d.encoding === 'utf8bom' ? '\ufeff' : '') + d.getText() }));
    const { overlays, nLeftOut } = model.overlays(texts);
    if (nLeftOut > 0) vscode.window.showWarningMessage(`indexd: ${nLeftOut} unsaved documents are above the limits and do not count`);
    return overlays.length > 0 ? { overlays } : {};
  }

  /** Asks about the repository of a folder; the status bar follows. */
  async ask(method, params, { cwd = this.cwd(), token, progress } = {}) {
    const abort = new AbortController();
    const listener = token?.onCancellationRequested(() => abort.abort());
    if (token?.isCancellationRequested) abort.abort();
    const follow = (p) => {
      const share = p.total > 0 ? ` ${Math.floor((100 * p.done) / p.total)} %` : '';
      this.say('$(sync~spin)', `${p.phase}${share}`, 'the first index is being built');
      progress?.(p, `${p.phase}${share}`);
    };
    try {
      const all = { ...params, cwd, progress: true, ...this.unsaved(cwd) };
      const result = await this.client.request(method, all, { signal: abort.signal, progress: follow });
      const { envelope } = result;
      const sentence = model.freshness(envelope);
      this.say(envelope.fresh ? '$(check)' : '$(warning)', envelope.fresh ? '' : 'behind', `${envelope.repoId}: ${sentence}`);
      return result;
    } catch (error) {
      if (error.code !== 'POC_E_CANCELLED') this.say('$(error)', '', error.message);
      else this.say('$(package)', '', 'cancelled');
      throw error;
    } finally {
      listener?.dispose();
    }
  }

  say(icon, text, tooltip) {
    this.bar.text = `${icon} indexd${text ? ` ${text}` : ''}`;
    this.bar.tooltip = tooltip;
    this.bar.show();
  }

  /** Runs a command; failures are told, being cancelled is not one. */
  async told(action) {
    try {
      return await action();
    } catch (error) {
      if (error.code === 'POC_E_CANCELLED') return undefined;
      const hint = error.hint ? ` (${error.hint})` : '';
      vscode.window.showErrorMessage(`indexd: ${error.message}${hint}`);
      return undefined;
    }
  }

  warn(envelope) {
    for (const warning of model.warnings(envelope)) vscode.window.showWarningMessage(`indexd: ${warning}`);
  }

  /** Asks for a query where none is given, and shows its pack. Escape gives up. */
  async pack(query) {
    const cwd = this.cwd();
    const assemble = (text, options) =>
      this.ask('pack', model.packParams(text, setting('budget')), { cwd, ...options });
    const result = query ? await this.withProgress((options) => assemble(query, options)) : await this.inInput(assemble);
    if (!result) return undefined;
    this.shown = { result, query: result.pack.request.query, cwd, nodes: model.tree(result) };
    this.changed.fire(undefined);
    this.contentChanged.fire(packUri(this.shown.query));
    vscode.commands.executeCommand('setContext', 'indexd.hasPack', true);
    await vscode.commands.executeCommand('indexd.pack.focus');
    this.warn(result.envelope);
    return result;
  }

  withProgress(action) {
    const options = { location: vscode.ProgressLocation.Notification, title: 'indexd', cancellable: true };
    return vscode.window.withProgress(options, (progress, token) =>
      action({ token, progress: (_, message) => progress.report({ message }) }),
    );
  }

  /** An input box that stays, busy, until the answer is there. */
  inInput(assemble) {
    return new Promise((resolve, reject) => {
      const input = vscode.window.createInputBox();
      const cancel = new vscode.CancellationTokenSource();
      input.title = 'Pack';
      input.placeholder = 'where is the retry delay decided';
      input.prompt = 'The task in words, or names of definitions';
      input.onDidAccept(() => {
        if (!input.value.trim() || input.busy) return;
        input.busy = true;
        const progress = (_, message) => (input.prompt = `${message} (Escape gives up)`);
        assemble(input.value.trim(), { token: cancel.token, progress })
          .then(resolve, reject)
          .finally(() => input.dispose());
      });
      input.onDidHide(() => {
        cancel.cancel();
        if (!input.busy) resolve(undefined);
        input.dispose();
      });
      input.show();
    });
  }

  /** The name at a position, as the daemon counts. */
  at(document, position) {
    const range = document.getWordRangeAtPosition(position);
    if (!range) return undefined;
    const line = document.lineAt(position.line).text;
    return {
      path: document.uri.fsPath,
      line: position.line + 1,
      column: toColumn(line, position.character),
      word: document.getText(range),
    };
  }

  /** A graph answer about what is at a position; undefined where there is no definition. */
  async graphAt(relation, document, position, token, more = {}) {
    const at = this.at(document, position);
    if (!at) return undefined;
    const cwd = this.cwd(document);
    const ask = (method, params) => this.ask(method, params, { cwd, token });
    const symbol = await model.symbolAt(ask, at);
    return symbol && ask(`graph.${relation}`, { symbol, ...more });
  }

  /** Shows the places of a relation in a list. Escape gives up. */
  async graph(relation, name) {
    const editor = vscode.window.activeTextEditor;
    const cancel = new vscode.CancellationTokenSource();
    const list = vscode.window.createQuickPick();
    list.title = `indexd: ${relation}`;
    list.busy = true;
    list.matchOnDescription = true;
    list.onDidHide(() => {
      cancel.cancel();
      list.dispose();
    });
    list.show();
    try {
      const result = name
        ? await this.ask(`graph.${relation}`, { symbol: name }, { token: cancel.token })
        : editor && (await this.graphAt(relation, editor.document, editor.selection.active, cancel.token));
      if (!result) throw new Error('there is no definition of that name');
      const roots = result.roots.map((r) => r.qualifiedName || r.name).join(', ');
      list.title = `${relation} of ${roots}`;
      list.placeholder = result.coverage.statement;
      list.items = model.places(result).map((p) => ({ label: p.label, description: `${p.path}:${p.line}`, detail: p.detail, place: p }));
      list.busy = false;
      list.onDidAccept(() => {
        const chosen = list.activeItems[0];
        list.hide();
        if (chosen) this.told(() => this.open(result.envelope.root, chosen.place));
      });
      this.warn(result.envelope);
      return result;
    } catch (error) {
      list.dispose();
      throw error;
    }
  }

  /** Asks for places by words or by a regular expression, and lists them by file in the view of results. */
  async find(method, text) {
    const boxes = {
      search: { title: 'Search by Words', prompt: 'Words, or names that the code may say' },
      grep: { title: 'Search Text', prompt: 'A regular expression' },
    };
    const asked = text ?? (await vscode.window.showInputBox(boxes[method]));
    if (!asked) return undefined;
    const params = method === 'grep' ? { patterns: [asked], limit: LINES_MAX } : { query: asked, limit: 50 };
    const result = await this.withProgress((options) => this.ask(method, params, options));
    const entries = method === 'grep' ? model.lines(result) : model.hits(result);
    this.found = { root: result.envelope.root, nodes: model.results(entries) };
    this.foundChanged.fire(undefined);
    vscode.commands.executeCommand('setContext', 'indexd.hasResults', true);
    const cut = method === 'grep' && result.nLines > entries.length ? ` of ${result.nLines}` : '';
    this.results.message = entries.length > 0 ? undefined : `Nothing found for ${asked}.`;
    this.results.description = `${asked}: ${entries.length}${cut}`;
    await vscode.commands.executeCommand('indexd.results.focus');
    this.warn(result.envelope);
    return result;
  }

  async open(root, place) {
    const uri = vscode.Uri.file(path.join(root, place.path));
    const document = await vscode.workspace.openTextDocument(uri);
    const line = Math.min(place.line, document.lineCount) - 1;
    const character = place.column ? toCharacter(document.lineAt(line).text, place.column) : 0;
    const at = new vscode.Range(line, character, line, character);
    return vscode.window.showTextDocument(document, { selection: at, preview: true });
  }

  /** Lines of files, as they are in the editor where they are open. */
  lines(root) {
    const known = new Map();
    return async (rel, line) => {
      const file = path.join(root, rel);
      if (!known.has(file)) {
        const open = vscode.workspace.textDocuments.find((d) => d.uri.scheme === 'file' && d.uri.fsPath === file);
        const text = open ? open.getText() : await fs.readFile(file, 'utf8').catch(() => '');
        known.set(file, text.split(/\r\n|\n|\r/));
      }
      return known.get(file)[line - 1] ?? '';
    };
  }

  /** The range of a name that stands at a byte column; without a column, where the line has it first. */
  async nameRange(lineOf, rel, line, column, name) {
    const text = await lineOf(rel, line);
    const start = column ? toCharacter(text, column) : Math.max(text.indexOf(name), 0);
    const length = text.startsWith(name, start) ? name.length : 0;
    return new vscode.Range(line - 1, start, line - 1, start + length);
  }

  dispose() {
    this.client.dispose();
    this.bar.dispose();
  }
}

const packUri = (query) => vscode.Uri.from({ scheme: PACK_SCHEME, path: `/${query.slice(0, 60).replace(/[\\/?#\n]/g, ' ').trim() || 'pack'}.md` });

/** References and call hierarchies from the edges of the index. */
class Providers {
  constructor(indexd) {
    this.indexd = indexd;
  }

  async quiet(action) {
    if (!setting('providers')) return undefined;
    // Other extensions answer as well: what this one cannot say is not told to the user.
    return action().catch(() => undefined);
  }

  provideReferences(document, position, context, token) {
    return this.quiet(async () => {
      const result = await this.indexd.graphAt('refs', document, position, token, { limit: 2000 });
      if (!result) return undefined;
      const { root } = result.envelope;
      const lineOf = this.indexd.lines(root);
      const locations = [];
      if (context.includeDeclaration) {
        for (const r of result.roots) locations.push(await this.location(root, lineOf, r.fileRelPath, r.line, 0, r.name));
      }
      for (const p of model.places(result)) locations.push(await this.location(root, lineOf, p.path, p.line, p.column, p.name));
      return locations;
    });
  }

  async location(root, lineOf, rel, line, column, name) {
    return new vscode.Location(vscode.Uri.file(path.join(root, rel)), await this.indexd.nameRange(lineOf, rel, line, column, name));
  }

  prepareCallHierarchy(document, position, token) {
    return this.quiet(async () => {
      const at = this.indexd.at(document, position);
      const cwd = this.indexd.cwd(document);
      const ask = (method, params) => this.indexd.ask(method, params, { cwd, token });
      const symbol = at && (await model.symbolAt(ask, at));
      if (!symbol) return undefined;
      const found = await ask('symbol', { name: symbol, limit: 20 });
      const lineOf = this.indexd.lines(found.envelope.root);
      return Promise.all(found.symbols.map((s) => this.item(found.envelope.root, lineOf, s)));
    });
  }

  async item(root, lineOf, symbol) {
    const uri = vscode.Uri.file(path.join(root, symbol.fileRelPath));
    const name = await this.indexd.nameRange(lineOf, symbol.fileRelPath, symbol.line, 0, symbol.name);
    const last = await lineOf(symbol.fileRelPath, symbol.lines.end);
    const start = Math.min(symbol.lines.start - 1, name.start.line);
    const whole = new vscode.Range(start, 0, Math.max(symbol.lines.end - 1, name.end.line), Math.max(last.length, name.end.character));
    const kind = vscode.SymbolKind[symbol.kind[0].toUpperCase() + symbol.kind.slice(1)] ?? vscode.SymbolKind.Function;
    const item = new vscode.CallHierarchyItem(kind, symbol.qualifiedName || symbol.name, symbol.fileRelPath, uri, whole, name);
    item.symbol = symbol.symbolId ?? `${uri.fsPath}:${symbol.line}`;
    return item;
  }

  provideCallHierarchyIncomingCalls(item, token) {
    return this.calls('callers', item, token);
  }

  provideCallHierarchyOutgoingCalls(item, token) {
    return this.calls('callees', item, token);
  }

  calls(relation, item, token) {
    return this.quiet(async () => {
      const symbol = item.symbol ?? `${item.uri.fsPath}:${item.selectionRange.start.line + 1}`;
      const cwd = path.dirname(item.uri.fsPath);
      const result = await this.indexd.ask(`graph.${relation}`, { symbol, limit: 2000 }, { cwd, token });
      const lineOf = this.indexd.lines(result.envelope.root);
      return Promise.all(
        result.edges.filter((e) => e.depth === 1).map(async (edge) => {
          const other = await this.item(result.envelope.root, lineOf, relation === 'callers' ? edge.source : edge.target);
          const ranges = await Promise.all(
            edge.evidence.map((e) => this.indexd.nameRange(lineOf, edge.source.fileRelPath, e.line, e.column, edge.target.name)),
          );
          const Call = relation === 'callers' ? vscode.CallHierarchyIncomingCall : vscode.CallHierarchyOutgoingCall;
          return new Call(other, ranges);
        }),
      );
    });
  }
}

/** The pack as a tree whose items can be dragged. */
class PackTree {
  dropMimeTypes = [];
  dragMimeTypes = ['text/uri-list', 'text/plain'];

  constructor(indexd) {
    this.indexd = indexd;
    this.onDidChangeTreeData = indexd.changed.event;
  }

  getChildren(node) {
    return node ? node.children : (this.indexd.shown?.nodes ?? []);
  }

  uri(node) {
    return node.at && vscode.Uri.file(path.join(this.indexd.shown.result.envelope.root, node.at.path));
  }

  getTreeItem(node) {
    const state = node.children.length === 0 ? 'None' : node.kind === 'section' ? 'Expanded' : 'Collapsed';
    const item = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState[state]);
    item.description = node.description;
    item.tooltip = node.tooltip ?? node.label;
    item.contextValue = node.kind;
    item.iconPath = { item: vscode.ThemeIcon.File, why: new vscode.ThemeIcon('question'), next: new vscode.ThemeIcon('search') }[node.kind];
    if (node.at) {
      if (node.kind === 'item') item.resourceUri = this.uri(node);
      const selection = new vscode.Range(node.at.start - 1, 0, node.at.end - 1, 0);
      item.command = { command: 'vscode.open', title: 'Open', arguments: [this.uri(node), { selection, preview: true }] };
    } else if (node.kind === 'next') {
      item.command = { command: 'indexd.pack', title: 'Assemble', arguments: [node.query] };
    }
    return item;
  }

  handleDrag(nodes, transfer) {
    const items = nodes.flatMap((n) => (n.kind === 'section' ? n.children : [n])).filter((n) => n.at);
    const uris = items.map((n) => this.uri(n).with({ fragment: `L${n.at.start}-${n.at.end}` }).toString());
    transfer.set('text/uri-list', new vscode.DataTransferItem(uris.join('\r\n')));
    transfer.set('text/plain', new vscode.DataTransferItem(model.textOf(nodes)));
  }

  provideTextDocumentContent() {
    return this.indexd.shown?.result.rendered ?? '';
  }
}

/** What was found, by file. */
class ResultsTree {
  constructor(indexd) {
    this.indexd = indexd;
    this.onDidChangeTreeData = indexd.foundChanged.event;
  }

  getChildren(node) {
    return node ? node.children : this.indexd.found.nodes;
  }

  getTreeItem(node) {
    const item = new vscode.TreeItem(node.label, vscode.TreeItemCollapsibleState[node.kind === 'file' ? 'Expanded' : 'None']);
    item.description = node.description;
    item.tooltip = node.label;
    if (node.kind === 'file') item.iconPath = vscode.ThemeIcon.File;
    else item.command = { command: 'indexd.openResult', title: 'Open', arguments: [node.at] };
    return item;
  }
}

/** What agents inside of VS Code may call. */
function registerTools(indexd) {
  const text = (value) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(value)]);
  const folder = () => indexd.cwd();
  const pack = {
    prepareInvocation: ({ input }) => ({ invocationMessage: `Assembling a pack for “${input.query}”` }),
    invoke: async ({ input, tokenizationOptions }, token) => {
      const budget = Math.min(input.maxTokens ?? setting('budget'), tokenizationOptions?.tokenBudget ?? Infinity);
      const result = await indexd.ask('pack', model.packParams(input.query, budget), { cwd: folder(), token });
      return text(result.rendered);
    },
  };
  const graph = {
    prepareInvocation: ({ input }) => ({ invocationMessage: `Looking for ${input.relation} of ${input.symbol}` }),
    invoke: async ({ input, tokenizationOptions }, token) => {
      if (!RELATIONS.includes(input.relation)) throw new Error(`relation is one of ${RELATIONS.join(', ')}`);
      const result = await indexd.ask(`graph.${input.relation}`, { symbol: input.symbol }, { cwd: folder(), token });
      // Code has three bytes and more to a token.
      return text(model.graphText(result).slice(0, 3 * (tokenizationOptions?.tokenBudget ?? 8000)));
    },
  };
  return [vscode.lm.registerTool('indexd_pack', pack), vscode.lm.registerTool('indexd_graph', graph)];
}

/** `ctl mcp` for each folder of the workspace. */
function registerMcp(version) {
  return vscode.lm.registerMcpServerDefinitionProvider('indexd', {
    provideMcpServerDefinitions: () =>
      (vscode.workspace.workspaceFolders ?? [])
        .filter((folder) => folder.uri.scheme === 'file')
        .map((folder) => {
          const server = new vscode.McpStdioServerDefinition(`indexd: ${folder.name}`, setting('ctl') || 'ctl', ['mcp'], {}, version);
          server.cwd = folder.uri;
          return server;
        }),
  });
}

function registerCommands(indexd) {
  const shown = () => {
    if (!indexd.shown) throw new Error('there is no pack yet');
    return indexd.shown;
  };
  const selected = () => {
    const editor = vscode.window.activeTextEditor;
    const text = editor?.document.getText(editor.selection).trim();
    if (!text) throw new Error('nothing is selected');
    return text;
  };
  const commands = {
    pack: (query) => indexd.pack(typeof query === 'string' ? query : undefined),
    packAgain: () => indexd.pack(shown().query),
    packSelection: () => indexd.pack(selected()),
    copyPack: async () => {
      await vscode.env.clipboard.writeText(shown().result.rendered);
      vscode.window.setStatusBarMessage(`indexd: ${shown().result.pack.stats.tokenCount} tokens copied`, 3000);
    },
    previewPack: async () => {
      const document = await vscode.workspace.openTextDocument(packUri(shown().query));
      return vscode.window.showTextDocument(document, { preview: true });
    },
    search: (text) => indexd.find('search', typeof text === 'string' ? text : undefined),
    grep: (text) => indexd.find('grep', typeof text === 'string' ? text : undefined),
    openResult: (at) => indexd.open(indexd.found.root, at),
    why: async (uri) => {
      const file = uri?.fsPath ?? vscode.window.activeTextEditor?.document.uri.fsPath;
      if (!file) throw new Error('open a file first');
      const result = await indexd.ask('why', { path: file }, { cwd: path.dirname(file) });
      vscode.window.showInformationMessage(`${result.path}: ${result.reason}`);
      return result;
    },
    status: async () => {
      const { daemon, workspaces } = await indexd.client.request('status', {});
      const lines = workspaces.map((w) => `${w.root}: ${w.nFiles} files`);
      vscode.window.showInformationMessage([`indexd ${daemon.version}, process ${daemon.pid}`, ...lines].join('; '));
    },
  };
  for (const relation of RELATIONS) commands[relation] = (name) => indexd.graph(relation, typeof name === 'string' ? name : undefined);
  return Object.entries(commands).map(([name, action]) =>
    vscode.commands.registerCommand(`indexd.${name}`, (...args) => indexd.told(() => action(...args))),
  );
}

function activate(context) {
  const indexd = new Indexd();
  const tree = new PackTree(indexd);
  const providers = new Providers(indexd);
  const results = new ResultsTree(indexd);
  indexd.results = vscode.window.createTreeView('indexd.results', { treeDataProvider: results });
  indexd.say('$(package)', '', 'nothing was asked yet');
  context.subscriptions.push(
    indexd,
    indexd.results,
    ...registerCommands(indexd),
    vscode.window.createTreeView('indexd.pack', { treeDataProvider: tree, dragAndDropController: tree, canSelectMany: true }),
    vscode.workspace.registerTextDocumentContentProvider(PACK_SCHEME, {
      onDidChange: indexd.contentChanged.event,
      provideTextDocumentContent: () => tree.provideTextDocumentContent(),
    }),
    vscode.languages.registerReferenceProvider(LANGUAGES, providers),
    vscode.languages.registerCallHierarchyProvider(LANGUAGES, providers),
    // Editors that are built on an older VS Code have no models.
    ...(vscode.lm?.registerTool ? registerTools(indexd) : []),
    ...(vscode.lm?.registerMcpServerDefinitionProvider ? [registerMcp(context.extension.packageJSON.version)] : []),
  );
  return { indexd, tree };
}

module.exports = { activate, deactivate: () => {} };
