// Pages with steps that run in the background: shown again when the one that runs has ended.
const EVERY = 1500;
const running = document.querySelector("[data-job=running]");

async function look() {
  let found;
  try {
    const answer = await fetch("/jobs", { credentials: "same-origin", signal: AbortSignal.timeout(10000) });
    if (answer.status === 401 || answer.status === 403) return;
    found = answer.ok ? await answer.json() : undefined;
  } catch {
    found = undefined; // the server is away: it is asked again
  }
  if (found && !found.running) location.reload();
  else {
    const words = running.querySelector(".words");
    if (found && words) words.textContent = found.running.message;
    setTimeout(look, EVERY);
  }
}

if (running) setTimeout(look, EVERY);

// A form is sent once, also where its button is pressed twice.
for (const form of document.querySelectorAll("form[data-wait]")) {
  form.addEventListener("submit", () => {
    for (const button of document.querySelectorAll("form[data-wait] button")) setTimeout(() => (button.disabled = true));
  });
}
