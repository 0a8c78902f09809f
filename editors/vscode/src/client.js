'use strict';
// JSON lines over the daemon's socket: one connection, any number of requests. Knows nothing of VS Code.

const { execFile } = require('node:child_process');
const net = require('node:net');
const path = require('node:path');

const RETRIES_MAX = 10;
const STARTS_MAX = 3;

/** What the daemon, or the way to it, refused. */
class Failure extends Error {
  constructor(message, code = 'POC_E_DAEMON_UNAVAILABLE', hint = '') {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The path that PROTOCOL.md names; undefined where only ctl can tell. */
function knownSocket(env = process.env) {
  const { INDEXD_RUNTIME_DIR: own, XDG_RUNTIME_DIR: xdg } = env;
  let found;
  if (own && path.isAbsolute(own)) found = path.join(own, 's');
  else if (xdg && path.isAbsolute(xdg)) found = path.join(xdg, 'indexd', 's');
  // A longer path is none of a socket.
  return found && Buffer.byteLength(found) < 100 ? found : undefined;
}

class Client {
  #settings;
  #socket;
  #connecting;
  #pending = new Map();
  #lastId = 0;

  /** @param {() => {ctl: string, socket?: string}} settings asked for each connection. */
  constructor(settings) {
    this.#settings = settings;
  }

  /**
   * Asks, starting the daemon when there is none; after the loss of a connection asks again, since no request
   * changes anything.
   * @param {{signal?: AbortSignal, progress?: (p: {phase: string, done: number, total: number}) => void}} [options]
   */
  request(method, params, { signal, progress } = {}) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#write({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id } });
        this.#finish(id, new Failure('cancelled', 'POC_E_CANCELLED'));
      };
      const one = { line: JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n', resolve, reject, progress, sent: 0 };
      one.release = () => signal?.removeEventListener('abort', cancel);
      this.#pending.set(id, one);
      if (signal?.aborted) return cancel();
      signal?.addEventListener('abort', cancel, { once: true });
      this.#sendAll();
    });
  }

  get isBusy() {
    return this.#pending.size > 0;
  }

  dispose() {
    for (const id of [...this.#pending.keys()]) this.#finish(id, new Failure('closed', 'POC_E_CANCELLED'));
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #write(message) {
    this.#socket?.write(JSON.stringify(message) + '\n');
  }

  #finish(id, error, result) {
    const one = this.#pending.get(id);
    if (!one) return;
    this.#pending.delete(id);
    one.release();
    if (error) one.reject(error);
    else one.resolve(result);
  }

  #fail(error) {
    for (const id of [...this.#pending.keys()]) this.#finish(id, error);
  }

  #sendAll() {
    if (!this.#socket) {
      this.#connecting ??= this.#connect()
        .catch((error) => this.#fail(error))
        .finally(() => (this.#connecting = undefined));
      return;
    }
    for (const [id, one] of this.#pending) {
      if (one.on === this.#socket) continue;
      if (one.sent >= RETRIES_MAX) {
        this.#finish(id, new Failure('the daemon ends each time it is asked', undefined, 'see ctl doctor'));
        continue;
      }
      one.sent += 1;
      one.on = this.#socket;
      this.#socket.write(one.line);
    }
  }

  async #connect() {
    const { socket } = this.#settings();
    let where = socket || knownSocket();
    for (let starts = 0; ; starts += 1) {
      const connection = where && (await open(where));
      if (connection) return this.#use(connection);
      if (starts === STARTS_MAX) throw new Failure('the daemon cannot be reached', undefined, 'see ctl doctor');
      await this.#ctl(['--quiet', 'daemon', 'start']);
      const status = JSON.parse(await this.#ctl(['status', '--json']));
      where = socket || status.daemon.socket;
    }
  }

  #ctl(args) {
    const { ctl } = this.#settings();
    return new Promise((resolve, reject) => {
      execFile(ctl, args, { timeout: 30_000 }, (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else if (error.code === 'ENOENT') reject(new Failure(`${ctl} is not there`, undefined, 'install indexd, or set indexd.ctl'));
        else reject(new Failure(stderr.trim() || error.message, undefined, 'see ctl doctor'));
      });
    });
  }

  #use(connection) {
    this.#socket = connection;
    let rest = [];
    connection.setEncoding('utf8');
    connection.on('data', (bytes) => {
      const lines = bytes.split('\n');
      rest.push(lines[0]);
      for (const next of lines.slice(1)) {
        const line = rest.join('');
        rest = [next];
        if (line) this.#received(line);
      }
    });
    connection.on('error', () => {});
    connection.on('close', () => {
      if (this.#socket !== connection) return;
      this.#socket = undefined;
      if (this.isBusy) setImmediate(() => this.#sendAll());
    });
    this.#sendAll();
  }

  #received(line) {
    const message = JSON.parse(line);
    if (message.method === '$/progress') {
      this.#pending.get(message.params.id)?.progress?.(message.params);
      return;
    }
    const one = this.#pending.get(message.id);
    if (!one) return;
    if (!message.error) return this.#finish(message.id, undefined, message.result);
    const { code, hint, retryAfterMs = 100 } = message.error.data ?? {};
    if ((code === 'POC_E_SHUTTING_DOWN' || code === 'POC_E_BUSY') && one.sent < RETRIES_MAX) {
      if (code === 'POC_E_SHUTTING_DOWN') {
        this.#socket?.destroy();
        this.#socket = undefined;
      }
      one.on = undefined;
      setTimeout(() => this.#sendAll(), retryAfterMs);
      return;
    }
    this.#finish(message.id, new Failure(message.error.message, code, hint));
  }
}

/** A connection, or undefined. */
function open(where) {
  return new Promise((resolve) => {
    const connection = net.connect(where);
    connection.once('connect', () => resolve(connection));
    connection.once('error', () => resolve(undefined));
  });
}

module.exports = { Client, Failure, knownSocket };
