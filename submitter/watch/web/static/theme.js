"use strict";
// Dark or light: as chosen here, else as the system has it. Runs before anything is drawn, so that nothing flashes.
(() => {
  const KEY = "npurun-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try { return localStorage.getItem(KEY); } catch { return null; } // a browser that keeps nothing
  }

  function apply(theme = chosen()) {
    root.dataset.theme = theme || (system.matches ? "dark" : "light");
    document.dispatchEvent(new Event("theme"));
  }

  function toggle() {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem(KEY, theme); } catch { /* for this page only, then */ }
    apply(theme);
  }

  apply();
  system.addEventListener("change", () => apply());
  addEventListener("storage", (event) => { if (event.key === KEY) apply(); });
  document.addEventListener("DOMContentLoaded", () => document.getElementById("theme").addEventListener("click", toggle));
})();
