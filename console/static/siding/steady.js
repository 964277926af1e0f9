// A live part marked data-steady does not change under the pointer or the keyboard: what you are about to click stays.
"use strict";

document.addEventListener("htmx:beforeSwap", (event) => {
  const target = event.detail.target;
  if (!target.hasAttribute("data-steady")) return;
  if (target.matches(":hover") || target.contains(document.activeElement)) event.detail.shouldSwap = false;
});
