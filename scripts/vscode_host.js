// Drives the extension in a real VS Code as a person does: vscode_host.js MODULES EXTENSION REPOSITORY SHOTS.
//
// MODULES is a folder of node_modules with code-server and puppeteer-core; this runs with the Node that code-server
// needs, and CHROMIUM names the browser. The repository is that of `cargo xtask editors`. Prints what it saw; SHOTS,
// if it is not empty, is a folder for pictures.

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');

const [modules, extension, repository, shots] = process.argv.slice(2);
const puppeteer = require(path.join(modules, 'puppeteer-core'));
const WAIT_MS = 60_000;
const ROWS = '.part.sidebar .monaco-list-row';
const CHOICES = '.quick-input-list .monaco-list-row';
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

let page;

async function shot(name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}

/** The labels of the elements of a selector. */
const labels = (selector) =>
  page.$$eval(selector, (all) => all.map((e) => `${e.getAttribute('aria-label') ?? ''} ${e.textContent}`));

/** A label on one line. */
const shown = (label) => label.trim().replace(/\s+/g, ' ');

/** Waits until a function gives something, and gives that. */
async function until(what, get) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const got = await get().catch(() => null);
    if (got) return got;
    if (Date.now() > end) {
      await shot('failed');
      throw new Error(`${what}: not seen; the side bar has ${JSON.stringify(await labels(ROWS))}`);
    }
    await sleep(200);
  }
}

const shows = (what, selector, text) =>
  until(what, async () => (await labels(selector)).find((label) => label.includes(text)));

/** Runs a command by its title; the palette knows it when the extension was read. */
async function command(title) {
  await until(title, async () => {
    await page.keyboard.press('F1');
    await page.waitForSelector('.quick-input-widget input', { visible: true, timeout: 5_000 });
    await page.keyboard.type(title);
    await sleep(700);
    if ((await labels(CHOICES)).some((label) => label.includes(title))) return true;
    await page.keyboard.press('Escape');
    return false;
  });
  await page.keyboard.press('Enter');
}

/** Writes into the input box of a title. */
async function answer(title, text) {
  await shows(title, '.quick-input-title', title);
  await page.keyboard.type(text);
  await sleep(300);
  await page.keyboard.press('Enter');
}

async function walk(url) {
  await page.goto(`${url}/?folder=${encodeURIComponent(repository)}`);
  await shows('the files of the folder', '.explorer-folders-view .monaco-list-row', 'retry.go');

  await command('indexd: Assemble a Pack...');
  await answer('Pack', 'how long is the delay before the next attempt');
  const item = await shows('the pack', ROWS, 'Delayretry.go:3');
  await shot('pack');
  console.log(`  the view Pack has ${shown(item)}`);

  for (const row of await page.$$(ROWS)) {
    if ((await row.evaluate((e) => e.textContent)).startsWith('Delay')) {
      await row.click();
      break;
    }
  }
  await shows('the file of the item', '.tabs-container .tab', 'retry.go');
  await shows('the code of the item', '.view-lines', 'base(attempt)');
  await shot('item');
  console.log('  a click on the item opens its file');

  await command('indexd: Search Text...');
  await answer('Search Text', 'base\\(');
  const line = await shows('the lines', ROWS, 'base(attempt)');
  await shot('grep');
  console.log(`  the view Results has ${shown(line)}`);

  for (const word of await page.$$('.view-line span span')) {
    if ((await word.evaluate((e) => e.textContent)).trim() === 'Delay') {
      await word.click();
      break;
    }
  }
  await command('indexd: Callers');
  const caller = await shows('the callers', CHOICES, 'Get');
  await shot('callers');
  console.log(`  the callers are ${shown(caller)}`);
  await page.keyboard.press('Escape');
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function main() {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'indexd-vscode-'));
  const { name, publisher, version } = require(path.join(extension, 'package.json'));
  fs.cpSync(extension, path.join(work, 'extensions', `${publisher}.${name}-${version}`), { recursive: true });
  // Passwords need a native module, which is not built; there is no password.
  const stub = path.join(work, 'stub.cjs');
  fs.writeFileSync(stub, "const m = require('module'), load = m._load;\nm._load = function (n, ...r) { return n === 'argon2' ? {} : load.call(this, n, ...r); };\n");
  const port = await freePort();
  const args = ['--require', stub, path.join(modules, 'code-server/out/node/entry.js'), '--auth', 'none'];
  args.push('--bind-addr', `127.0.0.1:${port}`, '--extensions-dir', path.join(work, 'extensions'));
  args.push('--user-data-dir', path.join(work, 'data'), '--config', path.join(work, 'config.yaml'));
  args.push('--disable-telemetry', '--disable-update-check', '--disable-workspace-trust', repository);
  const env = { ...process.env, HOME: work, NODE_OPTIONS: `--require ${stub}` };
  const server = spawn(process.execPath, args, { detached: true, env, stdio: 'ignore' });
  let browser;
  try {
    const url = `http://127.0.0.1:${port}`;
    await until('code-server', async () => (await fetch(url, { redirect: 'manual' })).status < 400);
    browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
    page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    await walk(url);
  } finally {
    await browser?.close();
    process.kill(-server.pid);
    fs.rmSync(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

main().catch((e) => {
  console.error(String(e));
  process.exit(1);
});
