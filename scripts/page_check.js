// Opens a page in headless Chromium: screenshots at two widths in light and dark, and what axe-core finds.
// Fails for findings that are serious or worse, for requests that leave the page, and where lines run over
// the edge of a narrow screen.
//
//   node scripts/page_check.js PAGE.html [FOLDER]    (NODE_PATH has puppeteer-core and axe-core)
"use strict";
const fs = require("fs");
const path = require("path");
const puppeteer = require("puppeteer-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [page_path, folder] = process.argv.slice(2);
const name = path.basename(page_path, ".html");

(async () => {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  let failed = false;
  const fail = (text) => { failed = true; console.error(text); };
  for (const scheme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      const page = await browser.newPage();
      await page.setBypassCSP(true);
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      page.on("request", (r) => { if (!r.url().startsWith("file:")) fail(`request: ${r.url()}`); });
      page.on("pageerror", (e) => fail(`script: ${e.message}`));
      await page.goto("file://" + path.resolve(page_path));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      // A picture is as wide as its columns are many.
      if (over > 0 && !page_path.endsWith("graph.html")) fail(`${scheme} ${width}: ${over} pixels too wide`);
      if (folder) {
        await page.screenshot({ path: path.join(folder, `${name}-${scheme}-${width}.png`) });
      }
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
      await page.evaluate(axe);
      const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      for (const v of found.violations) {
        const text = `${scheme} ${width}: ${v.impact} ${v.id}: ${v.help} (${v.nodes.length}) ${v.nodes[0].html.slice(0, 120)}`;
        if (["serious", "critical"].includes(v.impact)) fail(text);
        else console.log(text);
      }
      await page.keyboard.press("j");
      const focused = await page.evaluate(() => document.activeElement.tagName);
      if (focused !== "ARTICLE" && (await page.$("article"))) fail(`j leads to ${focused}`);
      if (await page.$("#filter")) {
        const left = () => page.evaluate(() => {
          const items = document.querySelectorAll("article");
          return [...(items.length ? items : document.querySelectorAll("tbody tr, .tree li"))].filter((e) => !e.hidden).length;
        });
        const all = await left();
        await page.keyboard.press("/");
        await page.keyboard.type("no item has this");
        if (await left()) fail(`${scheme} ${width}: the filter leaves ${await left()} of ${all}`);
        await page.keyboard.press("Escape");
        if ((await left()) !== all) fail(`${scheme} ${width}: Escape shows ${await left()} of ${all}`);
      }
      await page.emulateMediaType("print");
      const paper = await page.evaluate(() => ({
        back: getComputedStyle(document.body).backgroundColor,
        cut: [...document.querySelectorAll(".scroll,pre")].filter((e) => getComputedStyle(e).overflowX !== "visible").length,
      }));
      if (paper.cut) fail(`${scheme} ${width}: ${paper.cut} parts are cut on paper`);
      if (!["rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"].includes(paper.back)) fail(`${scheme} ${width}: printed on ${paper.back}`);
      await page.close();
    }
  }
  await browser.close();
  console.log(failed ? "failed" : "no serious findings");
  process.exit(failed ? 1 : 0);
})();
