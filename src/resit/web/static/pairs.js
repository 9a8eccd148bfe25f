// The review of near-duplicates: one pair after another. What is not saved yet waits in localStorage and is sent until it is.
import { Outbox } from "./outbox.js";

const byId = (id) => document.getElementById(id);
const main = byId("pairs");
const [stage, state, mix] = ["stage", "state", "mix"].map(byId);
const { csrf, who } = main.dataset;
const modes = [...document.querySelectorAll("[data-mode]:is(button)")];
const buttons = [...document.querySelectorAll("[data-verdict]")];
const SIDES = ["one", "two"];
const BLINK = 400; // milliseconds for which each image is seen: 1.25 flashes a second
const FEW = 4; // pairs ahead below which more are asked for
const KEPT = 100; // pairs that one can go back to
const LOADED = 12; // of these, whose images stay loaded
const SLOWEST = 15000;
const REFRESH = 10000; // where nothing waits
const motion = matchMedia("(prefers-reduced-motion: reduce)");

let counts = JSON.parse(main.dataset.first); // as the server told them last
let judged = new Map(); // by metric, pairs that waited, and got a verdict here since
const trail = []; // pairs that were seen, each with the verdict that it was given here
let at = -1; // the one that is shown
let ahead = []; // pairs to come; their images are loaded
let skipped = []; // pairs put off that the server does not know of yet
let again = false; // whether to be given pairs again that one was unsure of
let [asking, wanted] = [false, false]; // whether more pairs are being asked for, and whether to ask once more
let [failures, lost] = [0, false];
let later = null;

const outbox = new Outbox({
  who,
  csrf,
  task: "pairs",
  base: "",
  kind: "verdicts",
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
    if (kind === "saved" && !current()) fill(true);
  },
});

const current = () => trail[at];
const address = (pair, side) => `/pairs/${pair.id}/${side}/large`;

// Images -----------------------------------------------------------------------------------------------------------------

// An image that does not come is asked for again, unless the server says that it cannot be shown.
function load(pair, side) {
  pair.images ??= {};
  if (pair.images[side]) return pair.images[side];
  const image = new Image();
  pair.images[side] = image;
  image.draggable = false;
  image.alt = words(pair, side);
  let tries = 0;
  image.addEventListener("load", () => {
    image.dataset.problem = "";
    image.classList.toggle("tiny", Math.max(image.naturalWidth, image.naturalHeight) <= 128);
    if (pair === current()) showImages();
  });
  image.addEventListener("error", async () => {
    tries += 1;
    const answer = await fetch(address(pair, side), { credentials: "same-origin" }).catch(() => null);
    const told = answer && !answer.ok ? (await answer.json().catch(() => ({}))).error : "";
    image.dataset.problem = told || "The image is not loaded yet.";
    if (pair === current()) showImages();
    if (answer?.status === 404 && !answer.headers.has("retry-after")) return;
    setTimeout(() => (image.src = `${address(pair, side)}?${tries}`), Math.min(SLOWEST, 500 * 2 ** Math.min(tries, 5)));
  });
  image.src = address(pair, side);
  return image;
}

const loaded = (pair, side) => load(pair, side).complete && load(pair, side).naturalWidth > 0;
const seen = (pair) => SIDES.every((side) => loaded(pair, side));

function showImages() {
  const pair = current();
  for (const side of SIDES) {
    const image = load(pair, side);
    const frame = byId(side);
    if (loaded(pair, side)) frame.replaceChildren(image);
    else {
      const text = document.createElement("p");
      text.textContent = image.dataset.problem || "Loading…";
      frame.replaceChildren(text);
    }
  }
  showButtons();
}

function showButtons() {
  for (const button of buttons) button.setAttribute("aria-disabled", String(!may(button.dataset.verdict)));
}

// Nobody judges what they do not see.
const may = (verdict) => Boolean(current()) && (seen(current()) || verdict === "unsure");

// What is shown ----------------------------------------------------------------------------------------------------------

function words(pair, side) {
  const place = SIDES.indexOf(side);
  const classes = pair.classes[place].map((name) => `“${name}”`).join(", ");
  const of = classes ? ` of class ${classes}` : "";
  if (side === "two" && pair.reference) return `In reference set “${pair.reference}”${classes ? `, class ${classes}` : ""}`;
  return `${side === "one" ? "Candidate" : "Another candidate"}${of}`;
}

function what(pair, side) {
  const found = [document.createElement("strong"), document.createElement("span")];
  const [first, ...rest] = words(pair, side).split(/(?= of class |, class )/);
  found[0].textContent = first;
  found[1].textContent = rest.join("");
  if (side === "two" && pair.reference) {
    const fixed = document.createElement("span");
    fixed.className = "quiet";
    fixed.textContent = " (cannot be removed)";
    found.push(fixed);
  }
  return found;
}

function note(text) {
  byId("note").textContent = text;
}

const figure = (value) => Number(value.toPrecision(3)).toString();

function show() {
  const pair = current();
  byId("look").hidden = !pair;
  byId("none").hidden = Boolean(pair);
  if (pair) {
    for (const side of SIDES) byId(`what-${side}`).replaceChildren(...what(pair, side));
    byId("near").replaceChildren("Distance ", Object.assign(document.createElement("b"), { textContent: figure(pair.distance) }), ` (${pair.metric})`);
    byId("told").textContent = `${words(pair, "one")}. ${words(pair, "two")}. Distance by ${pair.metric}: ${figure(pair.distance)}.`;
    note(pair.verdict ? `You said “${pair.verdict}”. Judge it anew, or go forward.` : pair.doubted ? "Somebody was unsure of this pair." : "");
    showImages();
  } else {
    showNone();
    showButtons();
  }
  for (const button of buttons) button.setAttribute("aria-pressed", String(pair?.verdict === button.dataset.verdict));
  byId("back").disabled = at === 0 || !trail.length;
  byId("skip").textContent = pair?.verdict ? "Forward" : "Skip";
  byId("skip").disabled = !pair;
  showCounts();
  blink();
}

function showNone() {
  const { left, elsewhere } = open();
  let title = "Nothing waits for you";
  let text = counts.message;
  if (lost) [title, text] = ["The connection is lost", "What you said is kept, and sent when the connection is back. More pairs come then."];
  else if (!counts.ready) [title, text] = ["One moment", "The list of pairs is being made. In large builds that takes a minute or two; this page goes on by itself."];
  else if (asking || outbox.waiting().length) [title, text] = ["One moment", "The next pairs come."];
  else if (counts.doubted && counts.doubted >= left - elsewhere) [title, text] = ["Nothing else waits for you", `You were unsure of ${counted(counts.doubted, "pair")}. Somebody else had better look.`];
  else if (elsewhere) [title, text] = ["Nothing waits for you now", `${away(elsewhere)}. What they leave comes here by itself.`];
  byId("none-title").textContent = title;
  byId("none-text").textContent = text;
  byId("doubted").hidden = !(counts.ready && counts.doubted && !asking && !lost);
}

const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

const away = (n) => `${counted(n, "pair")} ${n === 1 ? "is" : "are"} with somebody else for now`;

// Pairs without a verdict, and how many of them others have.
function open() {
  const left = Math.max(0, counts.left - [...judged.values()].reduce((sum, n) => sum + n, 0));
  return { left, elsewhere: Math.min(left, counts.elsewhere) };
}

function judge(metric, n) {
  judged.set(metric, (judged.get(metric) ?? 0) + n);
}

function showCounts() {
  const { left, elsewhere } = open();
  const waiting = left - elsewhere;
  const told = waiting || !elsewhere ? [`${counted(waiting, "pair")} wait${waiting === 1 ? "s" : ""}`] : [];
  if (elsewhere) told.push(away(elsewhere));
  byId("how-far").textContent = counts.ready ? told.join(" · ") : "";
  const rows = counts.progress.map((one) => {
    const label = document.createElement("label");
    const bar = document.createElement("progress");
    const done = Math.min(one.pairs, one.judged + (judged.get(one.metric) ?? 0));
    bar.max = Math.max(1, one.pairs);
    bar.value = one.pairs ? done : 1;
    label.append(`${one.metric} up to ${figure(one.target)}: ${done.toLocaleString("en")} of ${one.pairs.toLocaleString("en")} judged `, bar);
    return label;
  });
  byId("progress").replaceChildren(...rows);
}

// Ways to look -----------------------------------------------------------------------------------------------------------

let timer = null;

function look(mode) {
  stage.dataset.mode = stage.dataset.mode === mode ? "beside" : mode;
  for (const button of modes) button.setAttribute("aria-pressed", String(button.dataset.mode === stage.dataset.mode));
  blink();
}

function blink() {
  const mode = stage.dataset.mode;
  clearInterval(timer);
  byId("slide").hidden = mode !== "over";
  byId("still").hidden = !(mode === "blink" && motion.matches);
  byId("two").style.opacity = mode === "over" ? mix.value / 100 : "";
  stage.dataset.seen = mode === "blink" ? "one" : "";
  if (mode === "blink" && !motion.matches && current()) timer = setInterval(turn, BLINK);
}

function turn() {
  stage.dataset.seen = stage.dataset.seen === "one" ? "two" : "one";
}

// Verdicts ---------------------------------------------------------------------------------------------------------------

const isOpen = (verdict) => Number(!verdict || verdict === "unsure");

function say(verdict) {
  const pair = current();
  if (!pair) return;
  if (!may(verdict)) {
    note("Wait until both images are shown. If that does not come, skip the pair.");
    return;
  }
  judge(pair.metric, isOpen(pair.verdict) - isOpen(verdict));
  pair.verdict = verdict;
  outbox.add([{ pair: pair.id, verdict }]);
  at = trail.length - 1;
  if (trail[at].verdict) onward();
  else show();
}

// On to the next pair that has no verdict.
function onward() {
  const next = ahead.shift();
  if (next) trail.push(next);
  while (trail.length > KEPT) trail.shift();
  at = next ? trail.length - 1 : -1;
  const old = trail.at(-LOADED);
  if (old) old.images = null;
  fill();
  show();
}

function back() {
  if (at < 0) at = trail.length - 1;
  else if (at > 0) at -= 1;
  show();
}

function skip() {
  const pair = current();
  if (!pair) return;
  if (at < trail.length - 1) {
    at += 1;
    show();
    return;
  }
  if (!pair.verdict) skipped.push(trail.pop().id);
  onward();
}

// Asks for more pairs; one question at a time.
async function fill(now = false) {
  if (asking || (!now && ahead.length >= FEW)) {
    wanted ||= now;
    return;
  }
  clearTimeout(later);
  [asking, wanted] = [true, false];
  const told = { held: held(), skip: skipped, again };
  skipped = [];
  const answer = await outbox.post("pairs/next", told);
  const found = answer?.ok ? await answer.json().catch(() => null) : null;
  asking = false;
  if (found) take(found, told.held);
  else {
    skipped = [...told.skip, ...skipped];
    failed(answer?.status ?? 0);
  }
  if (wanted) fill(true);
}

// Pairs that this page has: the one that waits for a verdict, those to come, and those whose verdicts are not saved yet.
function held() {
  const open = trail.length && !trail.at(-1).verdict ? [trail.at(-1)] : [];
  return [...new Set([...[...open, ...ahead].map((one) => one.id), ...outbox.waiting().map((one) => one.pair)])].slice(0, 200);
}

function failed(status) {
  failures += 1;
  lost = status === 0 || status >= 500;
  if (status === 401 || status === 403) {
    state.textContent = status === 401 ? "Signed out: open your link again" : "Reload the page";
    state.className = "state offline";
  } else later = setTimeout(() => fill(true), Math.min(SLOWEST, 500 * 2 ** failures));
  if (!current()) show();
}

function take(found, had = []) {
  [counts, failures, lost, again] = [found, 0, false, false];
  judged = new Map();
  const unsaved = new Set(outbox.waiting().filter((one) => !isOpen(one.verdict)).map((one) => one.pair));
  for (const id of unsaved) judge(trail.find((pair) => pair.id === id)?.metric, 1);
  const known = new Set([...had, ...held(), ...skipped]);
  ahead.push(...found.pairs.filter((pair) => !known.has(pair.id)));
  for (const pair of ahead) for (const side of SIDES) load(pair, side);
  if (current()) showCounts();
  else if (ahead.length) onward();
  else show();
  clearTimeout(later);
  if (!found.ready) later = setTimeout(() => fill(true), 1000);
  else if (!current()) later = setTimeout(() => fill(true), REFRESH);
}

// Keys and buttons -------------------------------------------------------------------------------------------------------

const KEYS = {
  s: () => say("same"),
  n: () => say("near"),
  d: () => say("different"),
  u: () => say("unsure"),
  o: () => look("over"),
  f: () => look("difference"),
  b: () => (stage.dataset.mode === "blink" && motion.matches ? turn() : look("blink")),
  z: back,
  Backspace: back,
  ArrowLeft: back,
  ArrowRight: skip,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!Object.hasOwn(KEYS, key) || (event.target === mix && key.startsWith("Arrow"))) return;
  event.preventDefault();
  if (!event.repeat || key.startsWith("Arrow")) KEYS[key]();
});
for (const button of buttons) button.addEventListener("click", () => say(button.dataset.verdict));
for (const button of modes) button.addEventListener("click", () => look(button.dataset.mode));
byId("back").addEventListener("click", back);
byId("skip").addEventListener("click", skip);
byId("switch").addEventListener("click", turn);
byId("look-again").addEventListener("click", () => {
  again = true;
  fill(true);
});
mix.addEventListener("input", blink);
motion.addEventListener("change", blink);
addEventListener("online", () => fill(true));
document.addEventListener("visibilitychange", () => !document.hidden && !current() && fill(true));

trail.push(...counts.before);
take(counts);
outbox.send();
