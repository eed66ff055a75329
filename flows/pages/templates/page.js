"use strict";
// Keys, the link to what is shown, copies, and which words prove which argument. The page works without it.
const marked = [...document.querySelectorAll("[data-row]")];
const rows = marked.length ? marked : [...document.querySelectorAll("main td a, main .tile a, main .rows a, main .reading a, main summary")];
const folds = [...document.querySelectorAll("main details")];
const wasOpen = folds.map((fold) => fold.open);
const isList = document.querySelector("[data-static]") !== null; // its address is its filter
let at = -1;
let after = "";

function move(step) {
  if (!rows.length) return;
  const shown = rows.filter((row) => row.offsetParent !== null);
  at = Math.max(0, Math.min(shown.length - 1, at + step));
  for (const row of rows) (row.closest("tr") ?? row).classList.remove("at");
  const row = shown[at];
  (row.closest("tr") ?? row).classList.add("at");
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  keepState();
}

// What is shown stands in the address: the row that is chosen, and what is folded another way than at first.
function keepState() {
  if (isList) return;
  const turned = folds.flatMap((fold, place) => (fold.open === wasOpen[place] ? [] : [place]));
  const state = new URLSearchParams();
  if (at >= 0) state.set("row", at);
  if (turned.length) state.set("folds", turned.join("."));
  const text = state.toString();
  if (text || location.hash.includes("=")) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

function showState() {
  if (isList || !location.hash.includes("=")) return;
  const state = new URLSearchParams(location.hash.slice(1));
  for (const place of (state.get("folds") ?? "").split(".").filter(Boolean)) if (folds[place]) folds[place].open = !wasOpen[place];
  if (state.has("row")) { at = -1; move(Number(state.get("row")) + 1); }
}

async function copy(name) {
  const text = name ? document.getElementById(name)?.textContent : location.href;
  if (text === undefined) return;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  const told = document.getElementById("copied");
  if (told) told.textContent = name ? `Copied, ${text.length.toLocaleString("en")} characters.` : "The link is copied.";
}

function foldAll() {
  const inside = folds.filter((fold) => fold.closest("section"));
  const open = !inside.some((fold) => fold.open);
  for (const fold of inside) fold.open = open;
}

function follow(selector) {
  document.querySelector(selector)?.click();
}

const help = document.getElementById("help");
const keys = {
  j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
  ArrowLeft: () => follow("a[rel=prev]"), ArrowRight: () => follow("a[rel=next], a.after"),
  u: () => follow(".where .up"), "?": () => help.showModal(),
  o: foldAll, c: () => copy("as-json"), t: () => copy("as-test"), y: () => copy(""), g: () => { after = "g"; },
  "/": () => {
    const words = document.getElementById("words");
    if (words) words.select();
    else follow(".bar nav a");
  },
};
const pages = { s: 1, e: 2, r: 3, b: 4 };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (after === "g") {
    after = "";
    if (event.key in pages) follow(`.bar nav a:nth-child(${pages[event.key]})`);
    else if (event.key === "h") follow(".bar .brand");
    return;
  }
  if (event.key === "Enter" && event.target.matches(".turn")) event.target.querySelector("summary")?.click();
  if (!(event.key in keys)) return;
  if (at < 0 && ["ArrowDown", "ArrowUp"].includes(event.key)) return; // the page scrolls until a row is chosen
  event.preventDefault();
  keys[event.key]();
});
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button.dataset.copy));
document.querySelector("[data-fold]")?.addEventListener("click", foldAll);
for (const fold of folds) fold.addEventListener("toggle", keepState);
addEventListener("hashchange", showState);
showState();
document.getElementById("keys").addEventListener("click", () => help.showModal());

// The words that prove an argument, and the argument, light up together.
function light(event) {
  const marked = event.target.closest?.("[data-marks]");
  const wanted = event.type === "pointerout" || event.type === "focusout" ? [] : marked?.dataset.marks.split(" ") ?? [];
  for (const one of document.querySelectorAll("[data-marks]")) {
    one.classList.toggle("lit", one !== marked && one.dataset.marks.split(" ").some((number) => wanted.includes(number)));
  }
}
for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) document.addEventListener(type, light);

const filters = document.getElementById("filters");
if (filters) {
  const more = document.getElementById("more-filters");
  if (matchMedia("(min-width: 720px)").matches) more.open = true;
  const ask = () => {
    for (const field of filters.querySelectorAll("[name]")) field.disabled = field.value === "";
    filters.submit();
  };
  if (filters.dataset.static !== undefined) {
    filterHere();
  } else {
    for (const field of filters.querySelectorAll("select")) field.addEventListener("change", ask);
    filters.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
    addEventListener("pageshow", () => { for (const field of filters.querySelectorAll("[name]")) field.disabled = false; });
  }
}

// In files nobody answers a form: all samples of the copy are in the list, and are filtered here. The filter stands in the address.
function filterHere() {
  const items = [...document.querySelectorAll("[data-facets]")].map((item) => (
    { item, facets: new Set(JSON.parse(item.dataset.facets)), words: item.textContent.toLowerCase() }
  ));
  const apply = () => {
    const wanted = [...new URLSearchParams(location.hash.slice(1))].filter(([, value]) => value);
    const words = (new Map(wanted).get("words") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const facets = wanted.filter(([name]) => name !== "words").map((pair) => pair.join("="));
    let shown = 0;
    for (const { item, facets: own, words: text } of items) {
      item.hidden = !(facets.every((facet) => own.has(facet)) && words.every((word) => text.includes(word)));
      shown += item.hidden ? 0 : 1;
    }
    document.getElementById("shown").textContent = shown.toLocaleString("en");
    for (const field of filters.querySelectorAll("[name]")) {
      field.value = new Map(wanted).get(field.name) ?? "";
      field.classList.toggle("given", field.value !== "" && field.name !== "words");
    }
    at = -1;
  };
  const tell = () => {
    const set = [...new FormData(filters)].filter(([, value]) => value);
    location.hash = new URLSearchParams(set).toString();
  };
  filters.addEventListener("submit", (event) => { event.preventDefault(); tell(); });
  filters.addEventListener("input", tell);
  addEventListener("hashchange", apply);
  apply();
}
