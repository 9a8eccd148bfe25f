// Clicks on their way to the server. They lie in localStorage until the server says that they are saved, and go out in order.
const AT_ONCE = 100;
const LONGEST = 15000;

export class Outbox {
  constructor({ who, csrf, task, tell, base = "/vote", kind = "clicks" }) {
    Object.assign(this, { csrf, task, tell, base, kind, tries: 0, sending: null });
    this.prefix = kind === "clicks" ? `resit ${who} ` : `resit ${kind} ${who} `;
    this.key = this.prefix + task;
    addEventListener("online", () => this.send());
    addEventListener("offline", () => this.waiting().length && this.tell("offline", this.waiting().length));
    addEventListener("beforeunload", (event) => {
      if (this.waiting().length && !this.stored) event.preventDefault();
    });
    this.memory = new Map(); // where there is no localStorage
    this.stored = true;
  }

  // Other windows write there too: it is read anew each time.
  read(key) {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "[]");
    } catch {
      return this.memory.get(key) ?? [];
    }
  }

  write(key, clicks) {
    try {
      if (clicks.length) localStorage.setItem(key, JSON.stringify(clicks));
      else localStorage.removeItem(key);
    } catch {
      this.stored = false;
      this.memory.set(key, clicks);
    }
  }

  waiting() {
    return this.read(this.key);
  }

  add(changes) {
    const fresh = changes.map((change) => ({ event: crypto.randomUUID?.() ?? name(), ...change }));
    this.write(this.key, [...this.waiting(), ...fresh]);
    this.send();
  }

  // Sends all that waits, this page's first; there is one sender at a time.
  send() {
    clearTimeout(this.timer);
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  async sendAll() {
    for (;;) {
      const key = this.waiting().length ? this.key : this.others()[0];
      if (!key) break;
      this.tell(this.tries ? "offline" : "saving", this.waiting().length);
      const clicks = this.read(key).slice(0, AT_ONCE);
      const answer = await this.post(`${key.slice(this.prefix.length)}/${this.kind}`, { [this.kind]: clicks });
      const status = answer?.status ?? 0;
      if (status === 401 || status === 403) {
        this.tell(status === 401 ? "out" : "refused", this.waiting().length);
        return;
      }
      if (!(answer?.ok || (status >= 400 && status < 500 && status !== 408 && status !== 429))) {
        this.tries += 1;
        this.tell("offline", this.waiting().length);
        this.timer = setTimeout(() => this.send(), Math.min(LONGEST, 500 * 2 ** this.tries) * (0.75 + Math.random() / 2));
        return;
      }
      this.tries = 0;
      const sent = new Set(clicks.map((click) => click.event));
      this.write(key, this.read(key).filter((click) => !sent.has(click.event)));
      if (!answer.ok && key === this.key) {
        this.tell("gone", 0);
        return;
      }
    }
    this.tell("saved", 0);
  }

  // Pages left with clicks that were not saved: the browser was closed, or the connection lost.
  others() {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(this.prefix) && key !== this.key);
    } catch {
      return [];
    }
  }

  // "finished", or why not in words, or nothing where the connection is lost.
  async finish(body) {
    await this.send();
    await this.send();
    if (this.waiting().length) return `Not done yet: some ${this.kind} are not saved. Try again when you are online.`;
    this.tell("saving", 0);
    const answer = await this.post(`${this.task}/finish`, body);
    if (answer?.ok) {
      this.tell("saved", 0);
      return "finished";
    }
    if (!answer || answer.status >= 500) {
      return `Not done yet: the server does not answer. Your ${this.kind} are saved; try again.`;
    }
    return (await answer.json().catch(() => ({}))).error ?? "Not done: reload the page.";
  }

  async post(path, body) {
    try {
      return await fetch(`${this.base}/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-csrf-token": this.csrf },
        body: JSON.stringify(body),
        keepalive: true,
        credentials: "same-origin",
        signal: AbortSignal.timeout(20000),
      });
    } catch {
      return null;
    }
  }
}

// crypto.randomUUID is there only on secure pages; plain http to another machine is none.
function name() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
