"use strict";
// Asks the page again at each change and shows what it says; the page works without it, by its button to check.
const form = document.querySelector("form.edits");
let asked = 0;

async function check(target) {
  const number = (asked += 1);
  const body = new URLSearchParams(new FormData(form));
  body.set("act", "check");
  const answer = await fetch(location.pathname, { method: "POST", body });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (number !== asked || !page.getElementById("checked")) return;
  document.getElementById("checked").replaceWith(page.getElementById("checked"));
  if (!("tool" in target.dataset)) return;
  const at = document.activeElement?.id; // another tool has other fields
  document.getElementById("turns").replaceWith(page.getElementById("turns"));
  document.getElementById(at)?.focus();
}

form?.addEventListener("change", (event) => check(event.target));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    document.getElementById("submit")?.click();
  }
});
