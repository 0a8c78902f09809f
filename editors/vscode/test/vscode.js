'use strict';
// The part of the API of VS Code that the extension uses, over files: what a test does with it is recorded.

const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { pathToFileURL, fileURLToPath } = require('node:url');

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = typeof a === 'number' ? [new Position(a, b), new Position(c, d)] : [a, b];
  }
}
class Uri {
  constructor(parts) {
    Object.assign(this, { scheme: 'file', path: '', fragment: '' }, parts);
  }
  static file = (file) => new Uri({ path: file });
  static from = (parts) => new Uri(parts);
  get fsPath() {
    return this.path;
  }
  with(parts) {
    return new Uri({ ...this, ...parts });
  }
  toString() {
    const base = this.scheme === 'file' ? pathToFileURL(this.path).href : `${this.scheme}:${this.path}`;
    return this.fragment ? `${base}#${this.fragment}` : base;
  }
}
class EventEmitter {
  #listeners = new Set();
  event = (listener) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(value) {
    for (const listener of this.#listeners) listener(value);
  }
}
class CancellationTokenSource {
  #emitter = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.#emitter.event };
  cancel() {
    if (this.token.isCancellationRequested) return;
    this.token.isCancellationRequested = true;
    this.#emitter.fire();
  }
}
class Document {
  isDirty = false;
  encoding = 'utf8';
  constructor(uri, text) {
    this.uri = uri;
    this.text = text;
  }
  getText(range) {
    if (!range) return this.text;
    const { start, end } = range;
    const lines = this.text.split('\n').slice(start.line, end.line + 1);
    lines[lines.length - 1] = lines.at(-1).slice(0, end.character);
    lines[0] = lines[0].slice(start.character);
    return lines.join('\n');
  }
  get lineCount() {
    return this.text.split('\n').length;
  }
  lineAt(line) {
    return { text: this.text.split('\n')[line] };
  }
  getWordRangeAtPosition({ line, character }) {
    for (const match of this.lineAt(line).text.matchAll(/[\p{L}\p{N}_]+/gu)) {
      const end = match.index + match[0].length;
      if (match.index <= character && character <= end) return new Range(line, match.index, line, end);
    }
    return undefined;
  }
}

/** A fresh API over the folder `root`. `seen` holds what the extension did. */
function api(root, settings) {
  const seen = { messages: [], commands: {}, providers: {}, trees: {}, tools: {}, mcp: {}, opened: [], clipboard: '', contexts: {}, picks: [], inputs: [], bars: [] };
  const folder = { uri: Uri.file(root), name: path.basename(root), index: 0 };
  const tell = (level) => async (text) => void seen.messages.push({ level, text });
  const widget = (list, more) => {
    const events = { accept: new EventEmitter(), hide: new EventEmitter() };
    const one = {
      ...more, isShown: false, isDisposed: false,
      onDidAccept: events.accept.event, onDidHide: events.hide.event,
      show() { this.isShown = true; },
      hide() { if (this.isShown) { this.isShown = false; events.hide.fire(); } },
      dispose() { this.hide(); this.isDisposed = true; },
      accept: () => events.accept.fire(),
    };
    list.push(one);
    return one;
  };
  const vscode = {
    Position, Range, Uri, EventEmitter, CancellationTokenSource,
    Location: class { constructor(uri, range) { Object.assign(this, { uri, range }); } },
    CallHierarchyItem: class { constructor(kind, name, detail, uri, range, selectionRange) { Object.assign(this, { kind, name, detail, uri, range, selectionRange }); } },
    CallHierarchyIncomingCall: class { constructor(from, fromRanges) { Object.assign(this, { from, fromRanges }); } },
    CallHierarchyOutgoingCall: class { constructor(to, fromRanges) { Object.assign(this, { to, fromRanges }); } },
    TreeItem: class { constructor(label, collapsibleState) { Object.assign(this, { label, collapsibleState }); } },
    TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
    ThemeIcon: Object.assign(class { constructor(id) { this.id = id; } }, { File: { id: 'file' } }),
    DataTransferItem: class { constructor(value) { this.value = value; } },
    SymbolKind: { Method: 5, Function: 11, Class: 4, Struct: 22, Interface: 10 },
    StatusBarAlignment: { Left: 1, Right: 2 },
    ProgressLocation: { Notification: 15 },
    LanguageModelToolResult: class { constructor(content) { this.content = content; } },
    LanguageModelTextPart: class { constructor(value) { this.value = value; } },
    McpStdioServerDefinition: class { constructor(label, command, args, env, version) { Object.assign(this, { label, command, args, env, version }); } },
    workspace: {
      workspaceFolders: [folder],
      textDocuments: [],
      getWorkspaceFolder: (uri) => ((uri.fsPath + '/').startsWith(root + '/') ? folder : undefined),
      getConfiguration: () => ({ get: (name) => settings[name] }),
      async openTextDocument(uri) {
        const known = this.textDocuments.find((d) => d.uri.toString() === uri.toString());
        if (known) return known;
        const text = uri.scheme === 'file' ? fs.readFileSync(uri.fsPath, 'utf8') : seen.providers[uri.scheme].provideTextDocumentContent(uri);
        const document = new Document(uri, text);
        if (uri.scheme === 'file') this.textDocuments.push(document);
        return document;
      },
      registerTextDocumentContentProvider: (scheme, provider) => ((seen.providers[scheme] = provider), { dispose() {} }),
    },
    window: {
      activeTextEditor: undefined,
      createStatusBarItem: () => { const bar = { show() {}, dispose() {} }; seen.bars.push(bar); return bar; },
      createTreeView: (id, options) => (seen.trees[id] = { ...options, dispose() {} }),
      showInputBox: async () => seen.answers?.shift(),
      createQuickPick: () => widget(seen.picks, { items: [], activeItems: [] }),
      createInputBox: () => widget(seen.inputs, { value: '' }),
      showInformationMessage: tell('info'), showWarningMessage: tell('warning'), showErrorMessage: tell('error'),
      setStatusBarMessage() {},
      withProgress: (options, action) => action({ report() {} }, new CancellationTokenSource().token),
      async showTextDocument(document, options) {
        seen.opened.push({ document, options });
        vscode.window.activeTextEditor = { document, selection: { active: options?.selection?.start ?? new Position(0, 0), ...(options?.selection ?? {}) } };
        return vscode.window.activeTextEditor;
      },
    },
    env: { clipboard: { writeText: async (text) => void (seen.clipboard = text) } },
    commands: {
      registerCommand: (name, action) => ((seen.commands[name] = action), { dispose() {} }),
      async executeCommand(name, ...args) {
        if (name === 'setContext') seen.contexts[args[0]] = args[1];
        else if (seen.commands[name]) return seen.commands[name](...args);
        return undefined;
      },
    },
    languages: {
      registerReferenceProvider: (selector, provider) => ((seen.providers.references = { selector, provider }), { dispose() {} }),
      registerCallHierarchyProvider: (selector, provider) => ((seen.providers.calls = { selector, provider }), { dispose() {} }),
    },
    lm: {
      registerTool: (name, tool) => ((seen.tools[name] = tool), { dispose() {} }),
      registerMcpServerDefinitionProvider: (id, provider) => ((seen.mcp[id] = provider), { dispose() {} }),
    },
  };
  return { vscode, seen };
}

/** Activates the extension over a fresh API. */
function activate(root, settings) {
  const { vscode, seen } = api(root, settings);
  const load = Module._load;
  Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
  const file = require.resolve('../src/extension.js');
  delete require.cache[file];
  const extension = require(file);
  Module._load = load;
  const context = { subscriptions: [], extension: { packageJSON: require('../package.json') } };
  const { indexd, tree } = extension.activate(context);
  return { vscode, seen, indexd, tree, dispose: () => context.subscriptions.forEach((s) => s.dispose()) };
}

module.exports = { activate, fileURLToPath };
