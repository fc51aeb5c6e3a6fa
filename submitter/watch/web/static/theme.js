// Before the first paint, or a dark page would flash white.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("npurun-theme"); } catch { /* a browser that keeps nothing */ }
  if (chosen) document.documentElement.dataset.theme = chosen;
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      const dark = getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";
      const next = dark ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      try { localStorage.setItem("npurun-theme", next); } catch { /* then for this page only */ }
      dispatchEvent(new Event("themechange"));
    });
  });
})();
