"use strict";
(() => {
  const items = [...document.querySelectorAll("article")];
  let at = -1;
  const go = (to) => {
    if (!items.length) return;
    at = Math.max(0, Math.min(items.length - 1, to));
    items[at].focus({ preventScroll: true });
    items[at].scrollIntoView({ block: "start" });
  };
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "j") go(at + 1);
    else if (e.key === "k") go(at - 1);
    else if (e.key === "o" && at >= 0) items[at].querySelectorAll("details").forEach((d) => { d.open = !d.open; });
    else if (e.key === "O") {
      const all = [...document.querySelectorAll("details")];
      const open = all.some((d) => !d.open);
      all.forEach((d) => { d.open = open; });
    }
  });
})();
