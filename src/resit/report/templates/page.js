"use strict";
// One comparison is shown at a time; the tools at the top choose which, and find models in all of its parts.
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
    if (!find.value.trim()) return say("");
    const all = article.querySelectorAll("table.sortable tbody tr").length;
    const told = (row) => [...row.querySelectorAll("th, .score")].map((cell) => cell.firstChild.textContent.trim()).join(" ");
    const first = rows.slice(0, 2).map(told);
    const more = rows.length > first.length ? ", …" : "";
    return say(`${rows.length} of ${all} models${rows.length ? ": " + first.join("; ") + more : ""}`);
  }

  function choose(article) {
    for (const other of articles) other.hidden = other !== article;
    set.value = article.dataset.set;
    for (const option of metric.options) {
      option.disabled = !articles.some((a) => a.dataset.set === set.value && a.dataset.metric === option.value);
    }
    metric.value = article.dataset.metric;
    for (const radio of article.querySelectorAll(".switch input")) radio.checked = radio.value === scale;
    scatter.draw(article, scale);
    search();
  }

  function pick() {
    const same = articles.filter((article) => article.dataset.set === set.value);
    const article = same.find((a) => a.dataset.metric === metric.value) || same[0];
    choose(article);
    if (!find.value.trim()) say(`Showing ${name(article)}.`);
  }

  set.addEventListener("change", pick);
  metric.addEventListener("change", pick);
  find.addEventListener("input", search);
  scatter.scheme.addEventListener("change", () => scatter.draw(shown(), scale));
  document.addEventListener("change", (event) => {
    if (event.target.matches(".near")) scatter.draw(shown(), scale);
    if (!event.target.closest(".switch")) return;
    scale = event.target.value;
    scatter.draw(shown(), scale);
    say(`Axes on the ${scale} scale.`);
  });
  document.addEventListener("click", (event) => {
    const heading = event.target.closest(".sortable th[aria-sort]");
    if (heading) say(tables.sort(heading));
    const link = event.target.closest("[data-show]");
    if (link) {
      choose(document.getElementById(link.dataset.show));
      say(`Showing ${name(shown())}.`);
    }
  });
  choose(articles.find((article) => "#" + article.id === location.hash) || articles[0]);
  document.documentElement.classList.add("ready");
})();
