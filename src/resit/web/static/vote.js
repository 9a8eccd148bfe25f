// The voting page: marks images, and saves every click. What is not saved yet waits in localStorage and is sent until it is.
import { Outbox } from "./outbox.js";

const grid = document.getElementById("grid");
const cells = [...grid.querySelectorAll(".cell")];
const state = document.getElementById("state");
const count = document.getElementById("count");
const undoButton = document.getElementById("undo");
const doneButton = document.getElementById("done");
const zoom = document.getElementById("zoom");
const large = document.getElementById("large");
const sure = document.getElementById("sure");
const { task, csrf, who } = grid.dataset;
const LONG_PRESS = 450;
const history = [];
let at = 0; // cell with the keyboard's focus
let anchor = null; // where a range begins
let busy = false;

const isMarked = (index) => cells[index].getAttribute("aria-pressed") === "true";
const marked = () => cells.filter((_, index) => isMarked(index)).map((cell) => Number(cell.dataset.position));

function show(index, selected) {
  cells[index].setAttribute("aria-pressed", String(selected));
}

function told() {
  const n = marked().length;
  count.textContent = `${n} marked`;
  undoButton.disabled = !history.length;
  if (zoom.open) {
    zoom.classList.toggle("marked", isMarked(at));
    document.getElementById("mark").textContent = isMarked(at) ? "Unmark" : "Mark";
  }
}

const outbox = new Outbox({
  who,
  csrf,
  task,
  tell(kind, waiting) {
    const texts = {
      saved: "Saved",
      saving: "Saving…",
      offline: `Offline: ${waiting} waiting`,
      out: "Not saved: open your link again",
      refused: "Not saved: reload the page",
      gone: "This page was finished elsewhere",
    };
    state.textContent = texts[kind];
    state.className = `state ${{ saved: "", saving: "waits" }[kind] ?? "offline"}`;
    if (kind === "gone" && !busy) location.reload();
  },
});

function change(changes, remember = true) {
  const real = changes.filter(([index, selected]) => isMarked(index) !== selected);
  if (!real.length || busy) return;
  for (const [index, selected] of real) show(index, selected);
  if (remember) history.push(real);
  told();
  outbox.add(real.map(([index, selected]) => ({ position: Number(cells[index].dataset.position), selected })));
}

function toggle(index, range) {
  if (range && anchor !== null && anchor !== index) {
    const [first, last] = [Math.min(anchor, index), Math.max(anchor, index)];
    const selected = isMarked(anchor);
    change(Array.from({ length: last - first + 1 }, (_, step) => [first + step, selected]));
  } else {
    change([[index, !isMarked(index)]]);
    anchor = index;
  }
}

function undo() {
  const last = history.pop();
  if (last) change(last.map(([index, selected]) => [index, !selected]), false);
  told();
}

function focusOn(index) {
  cells[at].tabIndex = -1;
  at = Math.max(0, Math.min(cells.length - 1, index));
  cells[at].tabIndex = 0;
  if (zoom.open) enlarge();
  else cells[at].focus();
}

function columns() {
  const top = cells[0].offsetTop;
  const next = cells.findIndex((cell) => cell.offsetTop > top);
  return next < 0 ? cells.length : next;
}

function enlarge() {
  large.src = cells[at].dataset.large;
  large.alt = cells[at].getAttribute("aria-label");
  if (!zoom.open) {
    zoom.showModal();
    large.focus();
  }
  told();
}

async function done() {
  if (busy || sure.open) return;
  if (!marked().length) {
    sure.returnValue = "no";
    sure.showModal();
    await new Promise((after) => sure.addEventListener("close", after, { once: true }));
    if (sure.returnValue !== "yes") return;
  }
  busy = true;
  doneButton.disabled = true;
  const finished = await outbox.finish({ selected: marked() });
  if (finished === "finished") location.reload();
  else {
    busy = false;
    doneButton.disabled = false;
    if (finished) {
      alertWith(finished);
    }
  }
}

function alertWith(text) {
  state.textContent = text;
  state.className = "state offline";
}

// Pointer: a click marks, a long press enlarges.
let press = null;
let pressed = false; // a long press has just been: the click after it marks nothing
grid.addEventListener("pointerdown", (event) => {
  const cell = event.target.closest(".cell");
  pressed = false;
  if (!cell || event.button !== 0) return;
  clearTimeout(press);
  press = setTimeout(() => {
    pressed = true;
    focusOn(cells.indexOf(cell));
    enlarge();
  }, LONG_PRESS);
});
for (const name of ["pointerup", "pointercancel", "pointerleave", "scroll"]) {
  addEventListener(name, () => clearTimeout(press), { passive: true });
}
addEventListener("pointermove", (event) => {
  if (Math.abs(event.movementX) + Math.abs(event.movementY) > 8) clearTimeout(press);
}, { passive: true });
grid.addEventListener("contextmenu", (event) => event.preventDefault());
grid.addEventListener("click", (event) => {
  const cell = event.target.closest(".cell");
  if (!cell || pressed) {
    pressed = false;
    return;
  }
  focusOn(cells.indexOf(cell));
  toggle(at, event.shiftKey);
});

document.addEventListener("keydown", (event) => {
  if (sure.open || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, summary, a")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const onOther = event.target.closest("button") && !event.target.closest(".cell");
  const row = columns();
  const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - row, ArrowDown: at + row, Home: 0, End: cells.length - 1 };
  if (key in steps) {
    if (steps[key] >= 0 && steps[key] < cells.length) focusOn(steps[key]);
  } else if (key === "Enter" || key === "x") {
    if (onOther) return; // the button does what it says
    toggle(at, event.shiftKey);
  } else if (key === " " || key === "z") {
    if (onOther && key === " ") return;
    zoom.open ? zoom.close() : enlarge();
  }
  else if (key === "u") undo();
  else if (key === "d" && !zoom.open) done();
  else return;
  event.preventDefault();
});
document.getElementById("mark").addEventListener("click", () => toggle(at, false));
zoom.addEventListener("close", () => cells[at].focus());
undoButton.addEventListener("click", undo);
doneButton.addEventListener("click", done);

// An image that does not come is asked for again.
for (const cell of cells) {
  const image = cell.querySelector("img");
  const again = (tries) => {
    if (image.complete && image.naturalWidth) {
      cell.classList.remove("broken");
      return;
    }
    cell.classList.add("broken");
    setTimeout(() => {
      image.src = `${image.src.split("?")[0]}?${tries}`;
    }, Math.min(30000, 1000 * 2 ** tries));
  };
  let tries = 0;
  image.addEventListener("error", () => again(++tries));
  image.addEventListener("load", () => cell.classList.remove("broken"));
  if (image.complete && !image.naturalWidth) again(++tries);
}

for (const { position, selected } of outbox.waiting()) {
  const index = cells.findIndex((cell) => Number(cell.dataset.position) === position);
  if (index >= 0) show(index, selected);
}
told();
doneButton.disabled = false;
outbox.send();

// The images of the next page are loaded while this one is looked at.
async function loadAhead() {
  try {
    const answer = await fetch("/vote/ahead");
    if (answer.ok) for (const address of (await answer.json()).images) new Image().src = address;
  } catch {
    // Without a connection they come with their page.
  }
}
if (document.readyState === "complete") loadAhead();
else addEventListener("load", loadAhead);
