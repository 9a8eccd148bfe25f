// The exam: one image, one class. Every answer is saved; what is not saved yet waits in localStorage and is sent until it is.
import { Outbox } from "./outbox.js";

const get = (id) => document.getElementById(id);
const [exam, image, find, found, none, said, state, sure] = ["exam", "image", "find", "found", "none", "said", "state", "sure"].map(get);
const places = [...document.querySelectorAll(".place")];
const kinds = [...document.querySelectorAll(".kind")].map((button) => ({
  button,
  id: button.dataset.class,
  name: button.querySelector(".name").textContent,
  text: button.dataset.find.toLowerCase(),
}));
const nameOf = new Map(kinds.map((kind) => [kind.id, kind.name]));
const MOST = 8; // classes that are offered at once
const LISTED = 10; // images without an answer that the dialog names
const { exam: number, csrf, who } = exam.dataset;
let at = 0;
let chosen = 0; // among the classes that are offered
let offered = [];
let busy = false;

const isAnswered = (place) => "answer" in place.dataset;
const answered = () => places.filter(isAnswered).length;
const answerOf = (place) => (place.dataset.answer === "" ? "I do not know" : nameOf.get(place.dataset.answer));

const outbox = new Outbox({
  who,
  csrf,
  task: number,
  base: "/exam",
  kind: "answers",
  tell(kind, waiting) {
    const texts = {
      saved: "Saved",
      saving: "Saving…",
      offline: `Offline: ${waiting} waiting`,
      out: "Not saved: open your link again",
      refused: "Not saved: reload the page",
      gone: "This exam was handed in elsewhere",
    };
    show(texts[kind], { saved: "", saving: "waits" }[kind] ?? "offline");
    if (kind === "gone" && !busy) location.reload();
  },
});

function show(text, kind) {
  state.textContent = text;
  state.className = `state ${kind}`;
}

function told() {
  get("count").textContent = `${answered()} of ${places.length} answered`;
  said.textContent = isAnswered(places[at]) ? `Your answer: ${answerOf(places[at])}` : "No answer yet";
  for (const kind of kinds) kind.button.setAttribute("aria-pressed", String(places[at].dataset.answer === kind.id));
  for (const [index, place] of places.entries()) {
    place.setAttribute("aria-label", `Image ${index + 1}: ${isAnswered(place) ? "answered" : "no answer"}`);
    if (index === at) place.setAttribute("aria-current", "true");
    else place.removeAttribute("aria-current");
  }
}

const address = (place) => `/exam/${number}/${place.dataset.image}/large`;

function go(index) {
  at = Math.max(0, Math.min(places.length - 1, index));
  get("number").textContent = at + 1;
  image.classList.remove("broken");
  image.alt = `Image ${at + 1} of ${places.length}`;
  image.src = address(places[at]);
  get("back").disabled = at === 0;
  get("next").disabled = at === places.length - 1;
  find.value = "";
  offer();
  told();
  if (places[at + 1]) new Image().src = address(places[at + 1]);
}

// Where fingers point, the field would bring a keyboard up over the image.
function focusField() {
  if (matchMedia("(pointer: fine)").matches) find.focus({ preventScroll: true });
}

function mark(place, classId) {
  if (!answered()) get("rules").open = false;
  place.dataset.answer = classId ?? "";
}

function answer(classId) {
  if (busy) return;
  const place = places[at];
  if (place.dataset.answer !== (classId ?? "")) {
    mark(place, classId);
    outbox.add([{ place: at, class_id: classId }]);
  }
  if (at < places.length - 1) {
    go(at + 1);
    focusField();
  } else {
    find.value = "";
    offer();
    told();
    get("done").focus();
  }
}

// Names that begin with what was typed first, then words that do, then all that have it anywhere.
function rank(kind, typed) {
  if (kind.name.toLowerCase().startsWith(typed)) return 0;
  if (kind.text.split(/[\s,;_-]+/).some((word) => word.startsWith(typed))) return 1;
  return kind.text.includes(typed) ? 2 : 3;
}

function offer() {
  const typed = find.value.trim().toLowerCase();
  const ranked = typed ? kinds.map((kind) => [rank(kind, typed), kind]).filter(([fit]) => fit < 3) : [];
  offered = ranked.sort((one, other) => one[0] - other[0]).slice(0, MOST).map(([, kind]) => kind);
  chosen = 0;
  none.hidden = !typed || offered.length > 0;
  found.hidden = !offered.length;
  find.setAttribute("aria-expanded", String(offered.length > 0));
  found.replaceChildren(...offered.map((kind, index) => {
    const option = document.createElement("li");
    option.role = "option";
    option.id = `option-${index}`;
    option.append(...[...kind.button.children].map((part) => part.cloneNode(true)));
    option.addEventListener("click", () => answer(kind.id));
    return option;
  }));
  pointed();
}

function pointed() {
  [...found.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === chosen)));
  if (offered.length) find.setAttribute("aria-activedescendant", `option-${chosen}`);
  else find.removeAttribute("aria-activedescendant");
}

find.addEventListener("input", offer);
for (const kind of kinds) kind.button.addEventListener("click", () => answer(kind.id));
places.forEach((place, index) => place.addEventListener("click", () => {
  go(index);
  focusField();
}));
get("unknown").addEventListener("click", () => answer(null));
get("back").addEventListener("click", () => go(at - 1));
get("next").addEventListener("click", () => go(at + 1));

document.addEventListener("keydown", (event) => {
  if (sure.open || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const onFind = event.target === find;
  const empty = !find.value;
  if (event.key === "PageDown" || (event.key === "ArrowRight" && empty)) go(at + 1);
  else if (event.key === "PageUp" || (event.key === "ArrowLeft" && empty)) go(at - 1);
  else if (onFind && event.key === "ArrowDown" && offered.length) {
    chosen = (chosen + 1) % offered.length;
    pointed();
  } else if (onFind && event.key === "ArrowUp" && offered.length) {
    chosen = (chosen + offered.length - 1) % offered.length;
    pointed();
  } else if (onFind && event.key === "Enter") {
    if (offered.length) answer(offered[chosen].id);
  } else if (event.key === "?" && empty) answer(null);
  else if (event.key === "Escape" && !empty) {
    find.value = "";
    offer();
  } else if (!onFind && event.key.length === 1 && event.key !== " " && event.key !== "?") {
    find.focus(); // and the key types there
    return;
  } else return;
  event.preventDefault();
});

// Example images come when their group is opened.
for (const group of document.querySelectorAll(".group")) {
  const fill = () => {
    if (!group.open || !get("all").open) return;
    for (const box of group.querySelectorAll(".examples:empty")) {
      const first = Number(box.dataset.first);
      for (let step = 0; step < Number(box.dataset.count); step += 1) {
        const example = new Image();
        example.loading = "lazy";
        example.alt = "";
        example.src = `/exam/${number}/example/${first + step}/small`;
        box.append(example);
      }
    }
  };
  group.addEventListener("toggle", fill);
  get("all").addEventListener("toggle", fill);
}

// An image that does not come is asked for again.
let tries = 0;
image.addEventListener("load", () => {
  tries = 0;
  image.classList.remove("broken");
});
image.addEventListener("error", () => {
  const failed = at;
  tries += 1;
  image.classList.add("broken");
  setTimeout(() => {
    if (at === failed) image.src = `${address(places[at])}?${tries}`;
  }, Math.min(30000, 1000 * 2 ** tries));
});

function goTo(index) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = index + 1;
  button.setAttribute("aria-label", `Go to image ${index + 1}`);
  button.addEventListener("click", () => {
    sure.close("no");
    go(index);
    focusField();
  });
  return button;
}

// What the dialog says before the exam is handed in, and a way to each image that has no answer.
function ask() {
  const left = [...places.keys()].filter((index) => !isAnswered(places[index]));
  const unknown = places.filter((place) => place.dataset.answer === "").length;
  get("sure-text").textContent = left.length
    ? `Hand in? ${left.length} of ${places.length} images ${left.length === 1 ? "has" : "have"} no answer and will count as wrong.`
    : `Hand in? All ${places.length} images have an answer.`;
  get("sure-unknown").textContent = `You said “I do not know” of ${unknown}, which will count as wrong too.`;
  get("sure-unknown").hidden = !unknown;
  const more = left.length > LISTED ? [` and ${left.length - LISTED} more`] : [];
  get("sure-left").replaceChildren("No answer: ", ...left.slice(0, LISTED).map(goTo), ...more);
  get("sure-left").hidden = !left.length;
}

get("done").addEventListener("click", async () => {
  if (busy || sure.open) return;
  ask();
  sure.returnValue = "no";
  sure.showModal();
  await new Promise((after) => sure.addEventListener("close", after, { once: true }));
  if (sure.returnValue !== "yes") return;
  busy = true;
  get("done").disabled = true;
  const finished = await outbox.finish({ answered: answered() });
  if (finished === "finished") location.reload();
  else {
    busy = false;
    get("done").disabled = false;
    show(finished, "offline");
  }
});

for (const { place, class_id: classId } of outbox.waiting()) if (places[place]) mark(places[place], classId);
go(Math.max(0, places.findIndex((place) => !isAnswered(place))));
focusField();
get("done").disabled = false;
outbox.send();
