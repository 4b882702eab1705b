"use strict";

// Completes the example with this instance's own address, and shows its health.

for (const span of document.querySelectorAll(".origin")) span.textContent = location.origin;

async function showHealth() {
  const health = await (await fetch("/v4/api/health", { cache: "no-store" })).json();
  const status = document.getElementById("status");
  const height = health.height === null ? "nothing indexed yet" : `block ${health.height.toLocaleString("en")}`;
  status.dataset.status = health.status;
  status.textContent = `${health.network}, ${height}, ${health.status}`;
}

// Without an answer the page shows no status.
showHealth().catch(() => {});

// The console may be switched off.
async function showConsole() {
  const answer = await fetch("/console/site.css", { method: "HEAD" });
  document.getElementById("console").hidden = !answer.ok;
}
showConsole().catch(() => {});

// So may the explorer. Where it requires a sign-in it answers with a redirect.
async function showExplorer() {
  const answer = await fetch("/explorer", { method: "HEAD", redirect: "manual" });
  const isThere = answer.ok || answer.type === "opaqueredirect";
  for (const id of ["explorer", "search"]) document.getElementById(id).hidden = !isThere;
}
showExplorer().catch(() => {});

// The policy of this page forbids sending forms, so the search navigates to its result.
document.querySelector("#search form").addEventListener("submit", (event) => {
  event.preventDefault();
  location.assign(`/explorer/search?q=${encodeURIComponent(new FormData(event.target).get("q"))}`);
});
