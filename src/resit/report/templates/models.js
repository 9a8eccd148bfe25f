"use strict";
// One model at a time: by the slider, from left to right, or by a click on its point. A ring shows where it is.
const models = (() => {
  let names = [];
  let key = "";

  const words = (cell) => cell.textContent.replace(/\s+/g, " ").trim();

  function told(article) {
    const row = [...article.querySelectorAll("table.sortable tbody tr")].find((one) => one.cells[0].textContent === key);
    const heads = row.closest("table").tHead.rows[0].cells;
    return [...row.cells].slice(1).map((cell, i) => [words(heads[i + 1]), words(cell)]);
  }

  function show(article) {
    const [slider, text] = [article.querySelector(".stepper"), article.querySelector(".told")];
    const known = names.includes(key);
    scatter.ring(article, known ? key : "");
    if (!known) {
      slider.removeAttribute("aria-valuetext");
      text.replaceChildren(names.length ? text.dataset.empty : "No model is found.");
      return;
    }
    slider.value = names.indexOf(key);
    const facts = told(article);
    slider.ariaValueText = [key, ...facts.map((fact) => fact.join(" "))].join(", ");
    const span = (name, ...children) => {
      const made = Object.assign(document.createElement("span"), { className: name });
      made.append(...children);
      return made;
    };
    const strong = document.createElement("strong");
    strong.append(key);
    text.replaceChildren(span("", strong), ...facts.map(([head, fact]) => span("", span("soft", head), " ", fact)));
  }

  // The models that the slider goes through: those of these rows.
  function among(article, rows) {
    const found = new Set(rows.map((row) => row.cells[0].textContent));
    names = scatter.order(article).filter((name) => found.has(name));
    const [slider, text] = [article.querySelector(".stepper"), article.querySelector(".told")];
    text.dataset.empty ??= text.textContent;
    slider.max = Math.max(names.length - 1, 0);
    slider.disabled = !names.length;
    show(article);
  }

  function pick(article, name) {
    key = name;
    show(article);
  }

  const slides = (event) => event.target.matches(".stepper") && names.length > 0;
  const step = (event) => slides(event) && pick(event.target.closest("article"), names[event.target.value]);
  document.addEventListener("input", step);
  document.addEventListener("focusin", step);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && slides(event)) pick(event.target.closest("article"), "");
  });
  document.addEventListener("model", (event) => pick(event.target.closest("article"), event.detail));

  return { among };
})();
