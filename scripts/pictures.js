// Pictures for the README: a page, and what a command printed on a terminal.
//
//   node scripts/pictures.js PAGE.html TERMINAL.txt FOLDER    (NODE_PATH has puppeteer-core)
"use strict";
const fs = require("fs");
const path = require("path");
const puppeteer = require("puppeteer-core");

const [page_path, terminal, folder] = process.argv.slice(2);
const escape = (s) => s.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
const colours = { 1: "font-weight:700", 2: "opacity:.6", 31: "color:#ff8f87", 32: "color:#7ee787", 33: "color:#e3b341", 36: "color:#79c0ff" };
const html = fs.readFileSync(terminal, "utf8").split(/\x1b\[([0-9;]*)m/).map((part, i) => {
  if (i % 2 === 0) return escape(part);
  return part === "0" || part === "" ? "</span>" : `<span style="${colours[part] || ""}">`;
}).join("");
const body = `<!DOCTYPE html><meta charset="utf-8"><body style="margin:0;background:#0d1117;color:#e6edf3">
  <pre style="margin:0;padding:16px;font:13px/1.4 'DejaVu Sans Mono',monospace">${html}</pre>`;

(async () => {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.setViewport({ width: 1000, height: 760 });
  await page.goto("file://" + path.resolve(page_path));
  await page.screenshot({ path: path.join(folder, "page.png") });
  // A page of its own: the policy of the first one would hold for it.
  const other = await browser.newPage();
  await other.setViewport({ width: 900, height: 620 });
  await other.setContent(body);
  await other.screenshot({ path: path.join(folder, "terminal.png") });
  await browser.close();
})();
