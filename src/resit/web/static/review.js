// The review of a class: what a reviewer says is saved at once. What is not saved yet waits in localStorage and is sent until it is.
import { Outbox } from "./outbox.js";

const main = document.getElementById("review");
const cells = [...main.querySelectorAll(".cell")];
const byId = (id) => document.getElementById(id);
const byKey = new Map(cells.map((cell) => [cell.dataset.image, cell]));
const [state, hint, zoom, both] = ["state", "hint", "zoom", "both"].map(byId);
const { place, csrf, who } = main.dataset;
const revision = Number(main.dataset.revision);
const LONG_PRESS = 450;
const REFRESH = 10000;
let held = { images: {}, pairs: [], class: "", history: [], more: 0 }; // as the server has it
let recent = []; // what was said here since
let turn = 0; // counts what was said and asked: an answer from before it is out of date
const undone = []; // what takes back each thing that was said here
let at = 0; // cell with the keyboard's focus
let first = null; // the first image of a pair that is being chosen
let leaving = false;

const outbox = new Outbox({
  who,
  csrf,
  task: place,
  base: "/review",
  kind: "marks",
  tell(kind, waiting) {
    const texts = {
      saved: "Saved",
      saving: "Saving…",
      offline: `Offline: ${waiting} waiting`,
      out: "Not saved: open your link again",
      refused: "Not saved: reload the page",
      gone: "Not saved: reload the page",
    };
    state.textContent = texts[kind];
    state.className = `state ${{ saved: "", saving: "waits" }[kind] ?? "offline"}`;
    if (kind === "saved" || kind === "gone") refresh();
  },
});

// What holds, with what was said here since.
function now() {
  const images = { ...held.images };
  let said = held.class;
  const pairs = new Map(held.pairs.map((pair) => [[pair.one, pair.other].sort().join(), pair]));
  for (const mark of recent) {
    if (mark.kind === "image") images[mark.image] = mark.verdict;
    else if (mark.kind === "class") said = mark.verdict;
    else if (mark.kind === "looked") for (const key of mark.images) images[key] ||= "right";
    else {
      const key = [mark.image, mark.other].sort().join();
      if (mark.verdict === "same" || mark.verdict === "near") {
        pairs.set(key, { one: mark.image, other: mark.other, verdict: mark.verdict, words: `${named(mark.image)} and ${named(mark.other)}` });
      } else pairs.delete(key);
    }
  }
  return { images, class: said, pairs: [...pairs.values()] };
}

const named = (key) => byKey.get(key)?.dataset.name ?? "an image that is not on this page";

function show() {
  const { images, class: said, pairs } = now();
  const near = new Set(pairs.flatMap((pair) => [pair.one, pair.other]));
  for (const cell of cells) {
    const verdict = images[cell.dataset.image] ?? "";
    if (cell.dataset.kind === "new") cell.setAttribute("aria-pressed", String(verdict === "wrong"));
    cell.dataset.said = verdict;
    cell.toggleAttribute("data-near", near.has(cell.dataset.image));
    const words = [cell.dataset.name, verdict && (verdict === "wrong" ? "wrong" : "looked at"), near.has(cell.dataset.image) && "near-duplicate"];
    cell.setAttribute("aria-label", words.filter(Boolean).join(", "));
  }
  const fresh = cells.filter((cell) => cell.dataset.kind === "new");
  const count = (verdict) => fresh.filter((cell) => cell.dataset.said === verdict).length;
  const counted = [`${fresh.length - count("")} of ${fresh.length} looked at`, count("wrong") && `${count("wrong")} wrong`];
  byId("count").textContent = counted.filter(Boolean).join(", ");
  const odd = byId("problematic");
  odd.setAttribute("aria-pressed", String(said === "problematic"));
  byId("undo").disabled = !undone.length;
  showPairs(pairs);
  if (zoom.open) showZoom();
}

function showPairs(pairs) {
  const list = byId("pairs").querySelector("ul");
  byId("pairs").hidden = !pairs.length;
  list.replaceChildren(
    ...pairs.map((pair) => {
      const item = document.createElement("li");
      item.append(`${pair.words}: ${pair.verdict === "same" ? "the same image" : "near-duplicates"} `);
      if (pair.one && pair.other) {
        const button = document.createElement("button");
        button.className = "plain";
        button.textContent = "Take back";
        button.setAttribute("aria-label", `Take back: ${pair.words}`);
        button.addEventListener("click", () => say(pairMark(pair.one, pair.other, "different")));
        item.append(button);
      }
      return item;
    }),
  );
}

function showHistory() {
  byId("history-n").textContent = held.history.length + held.more;
  const items = held.history.map((one) => {
    const item = document.createElement("li");
    const time = document.createElement("time");
    time.dateTime = one.time;
    time.textContent = new Date(one.time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    const person = document.createElement("strong");
    person.textContent = one.person;
    item.append(time, " ", person, ` ${one.words}`);
    return item;
  });
  if (held.more) items.push(Object.assign(document.createElement("li"), { textContent: `and ${held.more} before` }));
  byId("history").replaceChildren(...items);
}

let timer = null;
async function refresh() {
  clearTimeout(timer);
  const begun = ++turn;
  try {
    const answer = await fetch(`/review/${place}/${revision}/state`, { credentials: "same-origin", signal: AbortSignal.timeout(20000) });
    if (answer.ok) {
      const found = await answer.json();
      if (begun !== turn) return; // something was said meanwhile: it asks again when it is saved
      held = found;
      recent = outbox.waiting();
      byId("newer").hidden = found.last === revision;
      show();
      showHistory();
    }
  } catch {
    // the connection is lost: it is asked again
  }
  clearTimeout(timer);
  timer = setTimeout(() => (document.hidden ? null : refresh()), REFRESH);
}
addEventListener("visibilitychange", () => document.hidden || refresh());

const imageMark = (key, verdict) => ({ kind: "image", image: key, verdict });
const pairMark = (one, other, verdict) => ({ kind: "pair", image: one, other, verdict });

// What makes it as it was before something is said.
function inverse(mark) {
  const { images, class: said, pairs } = now();
  if (mark.kind === "image") return imageMark(mark.image, images[mark.image] === "wrong" ? "wrong" : "right");
  if (mark.kind === "class") return { kind: "class", verdict: said || "fine" };
  const ends = [mark.image, mark.other].sort().join();
  const before = pairs.find((pair) => [pair.one, pair.other].sort().join() === ends);
  return pairMark(mark.image, mark.other, before?.verdict ?? "different");
}

function say(mark, remember = true) {
  if (leaving) return;
  if (remember) undone.push(inverse(mark));
  turn += 1;
  recent.push(mark);
  outbox.add([{ revision, ...mark }]);
  show();
}

function undo() {
  const last = undone.pop();
  if (last) say(last, false);
}

function told(text) {
  hint.textContent = text;
  hint.hidden = !text;
}

function wrong(index) {
  const cell = cells[index];
  if (!cell) return;
  if (cell.dataset.kind !== "new") {
    told("The original’s images are not judged here.");
    return;
  }
  told("");
  say(imageMark(cell.dataset.image, cell.getAttribute("aria-pressed") === "true" ? "right" : "wrong"));
}

// Near-duplicates: the first image, the second one, then how near they are.
function choose(index) {
  const cell = cells[index];
  if (!cell) return;
  if (first === null) {
    first = index;
    cell.classList.add("chosen");
    byId("near").setAttribute("aria-pressed", "true");
    told(`${cell.dataset.name} and which other image? Choose it, or press Esc.`);
    return;
  }
  if (first === index) {
    stopChoosing();
    return;
  }
  const pair = [cells[first], cell];
  if (pair.every((one) => one.dataset.kind !== "new")) {
    told("One of the two must be a new image.");
    return;
  }
  byId("both-title").textContent = `${pair[0].dataset.name} and ${pair[1].dataset.name}`;
  for (const [id, one] of [["one", pair[0]], ["two", pair[1]]]) {
    byId(id).src = one.dataset.large;
    byId(id).alt = one.dataset.name;
  }
  both.returnValue = "";
  both.showModal();
}

function stopChoosing() {
  if (first !== null) cells[first].classList.remove("chosen");
  first = null;
  byId("near").setAttribute("aria-pressed", "false");
  told("");
}

both.addEventListener("close", () => {
  if (both.returnValue && first !== null) say(pairMark(cells[first].dataset.image, cells[at].dataset.image, both.returnValue));
  stopChoosing();
  cells[at].focus();
});

async function votes() {
  const button = byId("votes");
  if (button.getAttribute("aria-pressed") === "true") {
    button.setAttribute("aria-pressed", "false");
    for (const cell of cells) cell.querySelector(".told").hidden = true;
    return;
  }
  try {
    const answer = await fetch(`/review/${place}/${revision}/votes`, { credentials: "same-origin", signal: AbortSignal.timeout(60000) });
    if (!answer.ok) throw new Error(answer.status);
    const found = (await answer.json()).told;
    for (const cell of cells) {
      const words = cell.querySelector(".told");
      words.replaceChildren(...(found[cell.dataset.image] ?? []).map((text) => Object.assign(document.createElement("span"), { textContent: text })));
      words.hidden = !words.childNodes.length;
    }
    button.setAttribute("aria-pressed", "true");
    told("");
  } catch {
    told("The votes did not come. Try again in a moment.");
  }
}

async function done() {
  if (leaving || both.open || zoom.open) return;
  const fresh = cells.filter((cell) => cell.dataset.kind === "new").map((cell) => cell.dataset.image);
  if (fresh.length && cells.some((cell) => cell.dataset.kind === "new" && !cell.dataset.said)) {
    say({ kind: "looked", images: fresh }, false);
  }
  leaving = true;
  byId("done").disabled = true;
  await outbox.send();
  await outbox.send();
  if (outbox.waiting().length || state.classList.contains("offline")) {
    leaving = false;
    byId("done").disabled = false;
    told("Not saved yet: it is sent when the server answers again. Then go on.");
  } else location.assign(main.dataset.next);
}

function focusOn(index) {
  cells[at].tabIndex = -1;
  at = Math.max(0, Math.min(cells.length - 1, index));
  cells[at].tabIndex = 0;
  if (zoom.open) enlarge();
  else cells[at].focus();
}

// The cell a row above or below, in the same column or the one nearest to it.
function vertical(step) {
  const box = (cell) => cell.getBoundingClientRect();
  const here = box(cells[at]);
  const rows = [...new Set(cells.map((cell) => Math.round(box(cell).top)))].sort((a, b) => a - b);
  const row = rows[rows.indexOf(Math.round(here.top)) + step];
  const there = cells.map((_, index) => index).filter((index) => Math.round(box(cells[index]).top) === row);
  const far = (index) => Math.abs(box(cells[index]).left - here.left);
  return there.length ? there.reduce((best, index) => (far(index) < far(best) ? index : best)) : at;
}

function showZoom() {
  const cell = cells[at];
  zoom.classList.toggle("wrong", cell.dataset.said === "wrong");
  byId("mark").hidden = cell.dataset.kind !== "new";
  byId("mark").textContent = cell.dataset.said === "wrong" ? "Not wrong" : "Wrong";
  byId("large-name").textContent = cell.getAttribute("aria-label");
}

function enlarge() {
  byId("large").src = cells[at].dataset.large;
  byId("large").alt = cells[at].dataset.name;
  if (!zoom.open) zoom.showModal();
  showZoom();
}

// A click marks a new image, shows an original large, and while a pair is chosen chooses; a long press enlarges.
let press = null;
let pressed = false;
main.addEventListener("pointerdown", (event) => {
  const cell = event.target.closest(".cell");
  pressed = false;
  clearTimeout(press);
  if (!cell || event.button !== 0) return;
  press = setTimeout(() => {
    pressed = true;
    focusOn(cells.indexOf(cell));
    enlarge();
  }, LONG_PRESS);
});
for (const name of ["pointerup", "pointercancel", "scroll"]) addEventListener(name, () => clearTimeout(press), { passive: true });
addEventListener("pointermove", (event) => {
  if (Math.abs(event.movementX) + Math.abs(event.movementY) > 8) clearTimeout(press);
}, { passive: true });
main.addEventListener("contextmenu", (event) => event.target.closest(".cell") && event.preventDefault());
main.addEventListener("click", (event) => {
  const cell = event.target.closest(".cell");
  if (!cell || pressed) {
    pressed = false;
    return;
  }
  focusOn(cells.indexOf(cell));
  act(at);
});

const isChoosing = () => byId("near").getAttribute("aria-pressed") === "true";

function act(index) {
  if (isChoosing()) choose(index);
  else if (cells[index].dataset.kind === "new") wrong(index);
  else enlarge();
}

const KEYS = {
  w: () => wrong(at),
  k: () => zoom.open || choose(at),
  v: votes,
  p: problematic,
  u: undo,
  d: done,
  n: () => location.assign(main.dataset.after),
  b: () => location.assign(main.dataset.before),
  z: () => (zoom.open ? zoom.close() : cells.length && enlarge()),
};

function problematic() {
  say({ kind: "class", verdict: byId("problematic").getAttribute("aria-pressed") === "true" ? "fine" : "problematic" });
}

function inBoth(key) {
  if (key === "s" || key === "k") both.close(key === "s" ? "same" : "near");
  return key === "s" || key === "k";
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, summary")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (both.open) {
    if (inBoth(key)) event.preventDefault();
    return;
  }
  const steps = { ArrowLeft: () => at - 1, ArrowRight: () => at + 1, ArrowUp: () => vertical(-1), ArrowDown: () => vertical(1), Home: () => 0, End: () => cells.length - 1 };
  if (key in steps && cells.length) focusOn(steps[key]());
  else if (key === " " || key === "Enter") {
    if (event.target.closest("button, a") && !event.target.closest(".cell")) return; // it does what it says
    if (zoom.open) wrong(at);
    else if (cells.length) act(at);
  } else if (key === "Escape" && isChoosing() && !zoom.open) stopChoosing();
  else if (KEYS[key] && cells.length) KEYS[key]();
  else if (KEYS[key] && "dnbpu".includes(key)) KEYS[key]();
  else return;
  event.preventDefault();
});

byId("near").addEventListener("click", () => {
  if (isChoosing()) stopChoosing();
  else {
    byId("near").setAttribute("aria-pressed", "true");
    told("Choose the first of the two images, or press Esc.");
  }
});
byId("votes").addEventListener("click", votes);
byId("problematic").addEventListener("click", problematic);
byId("undo").addEventListener("click", undo);
byId("done").addEventListener("click", done);
byId("mark").addEventListener("click", () => wrong(at));
zoom.addEventListener("close", () => cells[at].focus());

recent = outbox.waiting();
show();
refresh();
byId("done").disabled = false;
outbox.send();
