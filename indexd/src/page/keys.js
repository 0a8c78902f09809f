"use strict";
(() => {
  const items = [...document.querySelectorAll("article")];
  const filter = document.getElementById("filter");
  const links = new Map([...document.querySelectorAll("nav.items a")].map((a) => [a.getAttribute("href").slice(1), a]));
  let at = -1;
  const mark = (item) => links.forEach((a, id) => {
    if (id === item.id) a.setAttribute("aria-current", "true");
    else a.removeAttribute("aria-current");
  });
  const go = (step) => {
    let to = at + step;
    while (items[to] && items[to].hidden) to += step;
    if (!items[to]) return;
    at = to;
    mark(items[at]);
    items[at].focus({ preventScroll: true });
    items[at].scrollIntoView({ block: "start" });
  };
  // Shows what holds all words: items with their links, rows of tables, folders with what is below them.
  const sift = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    const holds = (text) => words.every((w) => text.toLowerCase().includes(w));
    items.forEach((item) => {
      item.hidden = !holds(item.querySelector("h3").textContent + item.querySelector(".place").textContent);
      const link = links.get(item.id);
      if (link) link.parentElement.hidden = item.hidden;
    });
    if (!items.length) document.querySelectorAll("tbody tr, .tree li").forEach((e) => { e.hidden = !holds(e.textContent); });
    if (filter.value) document.querySelectorAll(".tree details").forEach((d) => { d.open = true; });
    at = -1;
  };
  if (filter) filter.addEventListener("input", sift);
  if (links.size && matchMedia("(max-width:56rem)").matches) document.querySelector("nav.items details").open = false;
  if (links.size) {
    const seen = new Set();
    const watch = new IntersectionObserver((changes) => {
      changes.forEach((c) => (c.isIntersecting ? seen.add(c.target) : seen.delete(c.target)));
      const first = items.find((i) => seen.has(i));
      if (first && document.activeElement.tagName !== "ARTICLE") mark(first);
    });
    items.forEach((i) => watch.observe(i));
  }
  const in_filter = (e) => {
    if (e.key === "Escape") { filter.value = ""; sift(); filter.blur(); }
    else if (e.key === "Enter") { filter.blur(); go(1); }
  };
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target === filter) return in_filter(e);
    if (e.key === "j") go(1);
    else if (e.key === "k") go(-1);
    else if (e.key === "/" && filter) { filter.focus(); e.preventDefault(); }
    else if (e.key === "Enter" && e.target.tagName === "ARTICLE") e.target.querySelector("a.open")?.click();
    else if (e.key === "o" && at >= 0) items[at].querySelectorAll("details").forEach((d) => { d.open = !d.open; });
    else if (e.key === "O") {
      const all = [...document.querySelectorAll("article details")];
      const open = all.some((d) => !d.open);
      all.forEach((d) => { d.open = open; });
    }
  });
})();
