"use strict";
// The scatter: Vega draws the specification of the chosen scale in the page's own colours.
const scatter = (() => {
  const [charts, views, turns] = [new Map(), new Map(), new Map()];
  const scheme = matchMedia("(prefers-color-scheme: dark)");

  function theme() {
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(name).trim();
    const font = css.fontFamily;
    const text = { labelColor: colour("--soft"), titleColor: colour("--ink"), labelFont: font, titleFont: font };
    return {
      background: "transparent",
      view: { stroke: null },
      axis: { ...text, labelFontSize: 12, titleFontSize: 13, titleFontWeight: 500, titlePadding: 10,
        gridColor: colour("--line"), domain: false, ticks: false, labelPadding: 6 },
      style: {
        diagonal: { color: colour("--soft"), strokeDash: [5, 4], strokeWidth: 1.2 },
        fit: { color: colour("--fit"), strokeWidth: 2 },
        band: { color: colour("--fit"), fillOpacity: 0.18 },
        interval: { color: colour("--soft"), strokeWidth: 1 },
        model: { strokeWidth: 1.5 },
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
    const options = { actions: false, ast: true, renderer: chart.crowd ? "canvas" : "svg", config: theme(),
      tooltip: { theme: scheme.matches ? "dark" : "light" } };
    const turn = (turns.get(article.id) || 0) + 1;
    turns.set(article.id, turn);
    const drawn = await vegaEmbed(box, whole, options);
    if (turns.get(article.id) !== turn) return drawn.finalize();
    views.get(article.id)?.finalize();
    views.set(article.id, drawn);
    await find(article, document.getElementById("find").value);
    box.dataset.drawn = near ? scale + "-near" : scale;
  }

  function find(article, text) {
    return views.get(article.id)?.view.signal("find", text.trim()).runAsync();
  }

  return { draw, find, scheme };
})();
