"use strict";
// Tables sort by their headings; what is not available goes last in either direction.
const tables = (() => {
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function value(row, column, numeric) {
    const cell = row.cells[column];
    if (!numeric) return cell.textContent;
    return cell.dataset.v === "" ? null : Number(cell.dataset.v);
  }

  function compare(a, b, numeric, sign) {
    if (!numeric) return sign * order.compare(a, b);
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (a - b);
  }

  function sort(heading) {
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const numeric = heading.classList.contains("number");
    const down = heading.ariaSort === "ascending" || (heading.ariaSort === "none" && numeric);
    const sign = heading.ariaSort === "descending" || !down ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [value(row, column, numeric), row]);
    rows.sort((a, b) => compare(a[0], b[0], numeric, sign));
    table.tBodies[0].append(...rows.map((pair) => pair[1]));
    for (const other of heading.parentElement.cells) other.ariaSort = "none";
    heading.ariaSort = sign === 1 ? "ascending" : "descending";
    return `Sorted by ${heading.textContent}, ${heading.ariaSort}.`;
  }

  function filter(article, text) {
    const wanted = text.trim().toLowerCase();
    const rows = [...article.querySelectorAll("table.sortable tbody tr")];
    const found = new Set();
    for (const row of rows) {
      const key = row.cells[0].textContent;
      row.hidden = !`${key} ${row.dataset.family}`.toLowerCase().includes(wanted);
      if (!row.hidden) found.add(key);
    }
    for (const line of article.querySelectorAll("li[data-key]")) line.hidden = !found.has(line.dataset.key);
    return rows.filter((row) => !row.hidden);
  }

  return { sort, filter };
})();
