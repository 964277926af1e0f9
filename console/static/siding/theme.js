// The theme at once, without a round trip. Without this script the same form asks the server for it.
"use strict";

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-theme-form]");
  const choice = event.submitter?.value;
  if (!form || !choice) return;
  event.preventDefault();
  if (choice === "system") {
    delete document.documentElement.dataset.theme;
    document.cookie = "theme=; path=/; max-age=0; samesite=lax";
  } else {
    document.documentElement.dataset.theme = choice;
    document.cookie = `theme=${choice}; path=/; max-age=31536000; samesite=lax`;
  }
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.value === choice));
  }
});
