// Copying, and updates with new blocks. Everything else works without scripts.
const copyButtons = (root) => {
  for (const button of root.querySelectorAll("button.copy")) button.hidden = false;
};
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = "Copied";
  } catch {
    // Without permission for the clipboard the text is selected, to be copied by hand.
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }
});
copyButtons(document);

// A page of the explorer is reloaded with each new block, and its content replaced. Opened
// parts stay open; while a field is being filled in, or text is selected, nothing is replaced.
const main = document.querySelector("main[data-tip]");
if (main) {
  let wanted = main.dataset.tip;
  let loading = false;
  const isBusy = () => main.contains(document.activeElement?.closest("input, select, textarea")) || !getSelection().isCollapsed;
  const load = async () => {
    if (loading || document.hidden || isBusy()) return;
    loading = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok || answer.redirected) return;
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main[data-tip]");
      if (!next || isBusy()) return;
      for (const opened of main.querySelectorAll("details[open][id]")) {
        const same = next.querySelector(`#${CSS.escape(opened.id)}`);
        if (same) same.open = true;
      }
      const focused = main.contains(document.activeElement) ? document.activeElement.id : "";
      main.replaceChildren(...next.childNodes);
      main.dataset.tip = next.dataset.tip;
      copyButtons(main);
      document.dispatchEvent(new CustomEvent("content"));
      if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    } finally {
      loading = false;
    }
  };
  const feed = new EventSource("/explorer/feed");
  feed.addEventListener("tip", (event) => {
    wanted = JSON.parse(event.data).id;
    if (wanted !== main.dataset.tip) load();
  });
  // A reload that was postponed, because the page was hidden or in use, is made up for.
  const every = Number(main.dataset.refresh) * 1000;
  let loaded = Date.now();
  setInterval(() => {
    if (wanted !== main.dataset.tip || (every && Date.now() - loaded >= every)) {
      loaded = Date.now();
      load();
    }
  }, 2000);
}
