(() => {
  "use strict";
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const remembered = "vicinal-theme";

  // Storage is refused to some pages opened from disk; the choice is then forgotten, nothing else.
  const recall = () => { try { return localStorage.getItem(remembered); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem(remembered, theme); } catch { return; } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

  const chosen = recall();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  function themeButton() {
    const button = document.querySelector("button.theme");
    const label = () => {
      button.querySelector("span").textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
    };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      label();
    });
    prefersDark.addEventListener("change", label);
    button.hidden = false;
    label();
  }

  function announce(words) {
    document.getElementById("announcement").textContent = words;
  }

  function sortBy(table, heads, place) {
    const head = heads[place];
    const first = head.dataset.first;
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    const isNumber = head.dataset.kind === "number";
    const key = (row) => {
      const text = row.cells[place].dataset.key;
      return text === undefined ? null : isNumber ? Number(text) : text;
    };
    const compare = (a, b) => (isNumber ? a - b : a.localeCompare(b, undefined, { numeric: true }));
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [key(row), row]);
    rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b)));
    body.append(...rows.map(([, row]) => row));
    heads.forEach((each) => each.setAttribute("aria-sort", each === head ? order : "none"));
    announce(`Sorted by ${head.querySelector("button").textContent.trim()}, ${order}.`);
  }

  function sortableTables() {
    for (const table of document.querySelectorAll("table")) {
      const heads = Array.from(table.tHead.rows[0].cells);
      if (!table.querySelector("tbody th")) continue;
      heads.forEach((head, place) => {
        const button = head.querySelector("button");
        button.disabled = false;
        button.addEventListener("click", () => sortBy(table, heads, place));
      });
    }
  }

  // One stop of the Tab key per chart; the arrow keys walk through its points.
  function walkableCharts() {
    for (const chart of document.querySelectorAll("svg.chart")) {
      const spots = Array.from(chart.querySelectorAll(".spot"));
      spots.slice(1).forEach((spot) => spot.setAttribute("tabindex", "-1"));
      chart.addEventListener("keydown", (event) => {
        const at = spots.indexOf(document.activeElement);
        const to = {
          ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: spots.length - 1,
        }[event.key];
        if (at < 0 || to === undefined) return;
        event.preventDefault();
        const next = spots[(to + spots.length) % spots.length];
        spots[at].setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    }
  }

  function tips() {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("aria-hidden", "true");
    tip.hidden = true;
    document.body.append(tip);
    const hide = () => { tip.hidden = true; };
    const show = (target) => {
      const spot = target.closest?.(".spot");
      if (!spot) return hide();
      tip.textContent = spot.getAttribute("aria-label");
      tip.hidden = false;
      const box = (spot.querySelector(".marker, .open") ?? spot).getBoundingClientRect();
      const left = Math.min(Math.max(box.left + box.width / 2 - tip.offsetWidth / 2, 8), root.clientWidth - tip.offsetWidth - 8);
      const above = box.top - tip.offsetHeight - 10;
      tip.style.left = `${left}px`;
      tip.style.top = `${above > 4 ? above : box.bottom + 10}px`;
    };
    for (const title of document.querySelectorAll(".spot > title")) title.remove();
    document.addEventListener("pointerover", (event) => show(event.target));
    document.addEventListener("focusin", (event) => show(event.target));
    document.addEventListener("focusout", hide);
    document.addEventListener("scroll", () => { if (!tip.hidden) show(document.activeElement); }, { passive: true });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  }

  function copyButton() {
    const button = document.querySelector("button.copy");
    if (!button) return;
    const code = document.querySelector(".command code");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
      }
      announce(button.textContent);
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    themeButton();
    sortableTables();
    walkableCharts();
    tips();
    copyButton();
  });
})();
