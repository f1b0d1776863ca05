"use strict";

// Names for what assistive technology lists, and blocks of code that can be scrolled with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");
  for (const box of document.querySelectorAll("pre, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});

// A list of versions, if this one is in a folder beside others: build.py makes versions.json.
document.addEventListener("DOMContentLoaded", async () => {
  const root = document.documentElement.dataset.content_root ?? "./";
  const brand = document.querySelector(".sidebar-brand");
  if (!brand || !location.protocol.startsWith("http")) return;
  const answer = await fetch(`${root}../versions.json`).catch(() => null);
  if (!answer?.ok) return;
  const here = new URL(root, location.href);
  const select = document.createElement("select");
  select.className = "versions";
  select.setAttribute("aria-label", "Version");
  for (const version of await answer.json()) {
    const folder = new URL(`../${version}/`, here).href;
    select.add(new Option(version, folder, false, folder === here.href));
  }
  select.addEventListener("change", async () => {
    const same = select.value + location.href.slice(here.href.length);
    const known = await fetch(same, { method: "HEAD" }).catch(() => null);
    location.href = known?.ok ? same : `${select.value}index.html`;
  });
  brand.after(select);
});
