// Keyboard: / searches, g and a letter go, j and k move along [data-row], Enter opens, ? explains. Never while typing.
"use strict";

(() => {
  const places = { o: "/", k: "/keys", e: "/errors", r: "/replays", i: "/incidents", u: "/unattributed" };
  let going = false;

  const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;

  function move(step) {
    const rows = [...document.querySelectorAll("[data-row]")];
    if (rows.length === 0) return;
    const focused = rows.indexOf(document.activeElement);
    const current = focused >= 0 ? focused : rows.findIndex((row) => row.hasAttribute("aria-current"));
    const next = Math.min(rows.length - 1, Math.max(0, current + step));
    rows[next].focus();
    rows[next].scrollIntoView({ block: "nearest" });
  }

  function act(key) {
    if (key === "/") document.querySelector("[data-find]")?.focus();
    else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "a") document.querySelector("[data-assign]")?.click();
    else if (key === "e") document.querySelector("[data-amend]")?.click();
    else if (key === ".") document.querySelector(".is-primary")?.focus();
    else if (key === "?") document.querySelector("#help")?.showModal();
    else if (key === "g") going = true;
    else return false;
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const place = going && places[event.key];
    going = false;
    if (place) {
      event.preventDefault();
      window.location.assign(place);
    } else if (act(event.key)) {
      event.preventDefault();
    }
  });

  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.person[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
})();
