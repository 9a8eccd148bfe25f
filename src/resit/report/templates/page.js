"use strict";
// One comparison is shown at a time; the tools at the top choose which, and find models in all of its parts. The address
// follows what is chosen: #c1, or #c1/probit/near.
(() => {
  const articles = [...document.querySelectorAll("article.comparison")];
  const [set, metric, find, status] = ["set", "metric", "find", "status"].map((id) => document.getElementById(id));
  let scale = "linear";

  const shown = () => articles.find((article) => !article.hidden);
  const say = (text) => { status.textContent = text; };
  const name = (article) => article.querySelector("h2").textContent;

  function search() {
    const article = shown();
    const rows = tables.filter(article, find.value);
    scatter.find(article, find.value);
    models.among(article, rows);
    if (!find.value.trim()) return say("");
    const all = article.querySelectorAll("table.sortable tbody tr").length;
    const told = (row) => [...row.querySelectorAll("th, .score")].map((cell) => cell.firstChild.textContent.trim()).join(" ");
    const first = rows.slice(0, 2).map(told);
    const more = rows.length > first.length ? ", …" : "";
    return say(`${rows.length} of ${all} models${rows.length ? ": " + first.join("; ") + more : ""}`);
  }

  function rescale(article) {
    for (const radio of article.querySelectorAll(".switch input")) radio.checked = radio.value === scale;
    for (const figure of article.querySelectorAll("[data-scale]")) figure.hidden = figure.dataset.scale !== scale;
    scatter.draw(article, scale);
  }

  function choose(article) {
    for (const other of articles) other.hidden = other !== article;
    set.value = article.dataset.set;
    for (const option of metric.options) {
      option.disabled = !articles.some((a) => a.dataset.set === set.value && a.dataset.metric === option.value);
    }
    metric.value = article.dataset.metric;
    rescale(article);
    search();
  }

  function pick() {
    const same = articles.filter((article) => article.dataset.set === set.value);
    const article = same.find((a) => a.dataset.metric === metric.value) || same[0];
    choose(article);
    note();
    if (!find.value.trim()) say(`Showing ${name(article)}.`);
  }

  function note() {
    const near = shown().querySelector(".near")?.checked;
    const parts = [shown().id, ...(near || scale !== "linear" ? [scale] : []), ...(near ? ["near"] : [])];
    history.replaceState(null, "", "#" + parts.join("/"));
  }

  // Shows what the address asks for; what it leaves open stays as it is.
  function follow() {
    const [id, wanted, near] = location.hash.slice(1).split("/");
    const article = articles.find((one) => one.id === id);
    if (!article) return false;
    const box = article.querySelector(".near");
    if (wanted && box) box.checked = near === "near";
    if (article.querySelector(`.switch input[value="${CSS.escape(wanted || scale)}"]`)) scale = wanted || scale;
    choose(article);
    if (wanted) article.scrollIntoView();
    return true;
  }

  set.addEventListener("change", pick);
  metric.addEventListener("change", pick);
  find.addEventListener("input", search);
  scatter.scheme.addEventListener("change", () => scatter.draw(shown(), scale));
  addEventListener("hashchange", () => {
    if (!follow()) return;
    note();
    if (!find.value.trim()) say(`Showing ${name(shown())}.`);
  });
  document.addEventListener("change", (event) => {
    const scales = event.target.closest(".switch");
    if (!scales && !event.target.matches(".near")) return;
    if (scales) scale = event.target.value;
    rescale(shown());
    note();
    if (scales) say(`Axes, slope and R² on the ${scale} scale.`);
  });
  document.addEventListener("click", (event) => {
    const heading = event.target.closest(".sortable th[aria-sort]");
    if (heading) say(tables.sort(heading));
    const link = event.target.closest("[data-show]");
    if (link) choose(document.getElementById(link.dataset.show)); // before the browser goes there
  });
  if (!follow()) choose(articles[0]);
  document.documentElement.classList.add("ready");
})();
