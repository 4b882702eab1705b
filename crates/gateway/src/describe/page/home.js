"use strict";

// Completes the example with this instance's own address, and says how the instance is.

for (const span of document.querySelectorAll(".origin")) span.textContent = location.origin;

async function showHealth() {
  const health = await (await fetch("/v4/api/health", { cache: "no-store" })).json();
  const status = document.getElementById("status");
  const height = health.height === null ? "nothing indexed yet" : `block ${health.height.toLocaleString("en")}`;
  status.dataset.status = health.status;
  status.textContent = `${health.network}, ${height}, ${health.status}`;
}

// Without an answer the page says nothing about it.
showHealth().catch(() => {});

// The console may be switched off.
async function showConsole() {
  const answer = await fetch("/console/site.css", { method: "HEAD" });
  document.getElementById("console").hidden = !answer.ok;
}
showConsole().catch(() => {});
