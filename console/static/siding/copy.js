// Copies exact text: of the element that data-copy names, or of the address in data-copy-from. Says whether it worked.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-from]");
  if (!button) return;
  event.preventDefault();
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(await exactText(button));
    button.textContent = "Copied";
  } catch {
    button.textContent = "Could not copy";
  }
  setTimeout(() => {
    button.textContent = before;
  }, 1500);
});

async function exactText(button) {
  if (button.dataset.copy) return document.querySelector(button.dataset.copy).value;
  const answer = await fetch(button.dataset.copyFrom, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(String(answer.status));
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await answer.arrayBuffer());
}
