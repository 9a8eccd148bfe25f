"use strict";
// The scatter: Vega draws the specification of the chosen scale in the page's own colours.
const scatter = (() => {
  const [charts, views, turns] = [new Map(), new Map(), new Map()];
  let ringed = "";
  const scheme = matchMedia("(prefers-color-scheme: dark)");

  function theme(colours) {
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(name).trim();
    const font = css.fontFamily;
    const text = { labelColor: colour("--soft"), titleColor: colour("--ink"), labelFont: font, titleFont: font };
    return {
      background: "transparent",
      view: { stroke: null },
      range: { category: colours },
      axis: { ...text, labelFontSize: 12, titleFontSize: 13, titleFontWeight: 500, titlePadding: 10,
        gridColor: colour("--line"), domain: false, ticks: false, labelPadding: 6 },
      style: {
        diagonal: { color: colour("--soft"), strokeDash: [5, 4], strokeWidth: 1.2 },
        fit: { color: colour("--fit"), strokeWidth: 2 },
        band: { color: colour("--fit"), fillOpacity: 0.18 },
        interval: { color: colour("--soft"), strokeWidth: 1 },
        model: { strokeWidth: 1.5 },
        at: { color: colour("--ink"), opacity: 1, strokeWidth: 2.5 },
      },
    };
  }

  function read(id) {
    if (!charts.has(id)) {
      const chart = JSON.parse(document.getElementById("data-" + id).textContent);
      chart.models = chart.models.map((row) => Object.fromEntries(row.map((value, i) => [chart.fields[i], value])));
      charts.set(id, chart);
    }
    return charts.get(id);
  }

  async function draw(article, scale) {
    const box = article.querySelector(".scatter");
    const chart = read(article.id);
    const near = article.querySelector(".near")?.checked;
    const { spec, near: close, band } = chart.scales[scale];
    const height = Math.max(300, Math.min(540, Math.round(box.clientWidth * 0.72)));
    const whole = { ...(near ? close : spec), width: "container", height,
      autosize: { type: "fit-x", contains: "padding" }, datasets: { models: chart.models, band } };
    const options = { actions: false, ast: true, renderer: chart.crowd ? "canvas" : "svg", config: theme(chart.colours[scheme.matches ? "dark" : "light"]),
      tooltip: { theme: scheme.matches ? "dark" : "light" } };
    const turn = (turns.get(article.id) || 0) + 1;
    turns.set(article.id, turn);
    const drawn = await vegaEmbed(box, whole, options);
    if (turns.get(article.id) !== turn) return drawn.finalize();
    views.get(article.id)?.finalize();
    views.set(article.id, drawn);
    drawn.view.addEventListener("click", (_, item) => {
      if (item?.datum?.key) box.dispatchEvent(new CustomEvent("model", { bubbles: true, detail: item.datum.key }));
    });
    await find(article, document.getElementById("find").value);
    await ring(article, ringed);
    box.dataset.drawn = near ? scale + "-near" : scale;
  }

  function find(article, text) {
    return views.get(article.id)?.view.signal("find", text.trim()).runAsync();
  }

  function ring(article, key) {
    ringed = key;
    return views.get(article.id)?.view.signal("at", key).runAsync();
  }

  // Names of the models from left to right.
  function order(article) {
    return read(article.id).models.toSorted((a, b) => a.x - b.x || a.y - b.y).map((model) => model.key);
  }

  return { draw, find, ring, order, scheme };
})();
