/** One session as a person reads it: what waits now and why, and its requests with the calls of each. */
import { Refused, ask, send, watch } from "./api.ts";
import { ago, announce, button, el, textOf, timeOf } from "./dom.ts";
import { shown } from "./form.ts";
import { type Page, type Status, decoded, statusWords, toneOf } from "./page.ts";

interface LiveCall {
  readonly call: string;
  readonly tool: string;
  readonly waits: string;
  readonly effects: readonly string[];
  readonly until?: number;
}
interface Session {
  readonly session: string;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly status: Status;
  readonly calls: readonly LiveCall[];
  readonly seq: number;
  readonly updated_at: number;
}
interface RequestStatus extends Status {
  readonly request: string;
  readonly created_at: number;
  readonly seq: number;
}
interface Reply {
  readonly call: string;
  readonly tool: string;
  readonly args: unknown;
  readonly output: { readonly outcome: { readonly status: string; readonly payload?: unknown } };
  readonly duration_ms: number;
}

const tones: { readonly [status: string]: string } = { success: "fine", failure: "failed", cancelled: "calm" };

const payloadText = (payload: unknown): string => {
  if (typeof payload !== "object" || payload === null || !("message" in payload)) return textOf(payload);
  const { code, message } = payload as { readonly code?: unknown; readonly message: unknown };
  return `${textOf(message)}${typeof code === "string" ? ` (${code})` : ""}`;
};

const replyRow = ({ tool, args, output: { outcome }, duration_ms: ms }: Reply): HTMLElement =>
  el(
    "li",
    { class: "call" },
    el(
      "header",
      {},
      el("h3", {}, tool),
      el("span", { class: `status ${tones[outcome.status] ?? "calm"}` }, outcome.status),
      el("span", { class: "soft" }, `${ms} ms`),
    ),
    shown(args),
    el("pre", { class: "value" }, payloadText(outcome.payload)),
  );

const liveRow = ({ call, tool, waits, effects, until }: LiveCall, isAllowed: boolean, path: string): HTMLElement =>
  el(
    "li",
    { class: "call" },
    el("header", {}, el("h3", {}, tool), el("code", { class: "soft" }, call)),
    el("p", {}, `waits for ${waits}`, until === undefined ? "" : `, until ${ago(until)}`),
    effects.length === 0 ? undefined : el("ul", { class: "effects" }, ...effects.map((one) => el("li", {}, one))),
    isAllowed
      ? button(
          "Cancel call",
          { class: "quiet" },
          () => void cancelled(`${path}/calls/${encodeURIComponent(call)}`, `call ${call}`),
        )
      : undefined,
  );

const cancelled = async (path: string, what: string): Promise<void> => {
  try {
    await send(path, "DELETE");
    announce(`${what}: cancelled`);
  } catch (thrown) {
    announce(thrown instanceof Refused ? thrown.message : "The host did not answer: try again.", "failed");
  }
};

const isOver = ({ state }: Status): boolean => state === "done" || state === "failed" || state === "cancelled";

/** One request of the list. Its replies are read when somebody opens it. */
class RequestRow {
  readonly element: HTMLDetailsElement;
  readonly #path: string;
  readonly #status = el("span", {});
  readonly #when = el("span", { class: "soft" });
  readonly #body = el("div", { class: "request-body" });
  readonly #isAllowed: boolean;
  #current: RequestStatus;

  constructor(status: RequestStatus, path: string, isAllowed: boolean) {
    this.#current = status;
    this.#isAllowed = isAllowed;
    this.#path = `${path}/requests/${encodeURIComponent(status.request)}`;
    const summary = el("summary", {}, el("span", { class: "name" }, status.request), this.#status, this.#when);
    this.element = el("details", { class: "request" }, summary, this.#body);
    this.element.addEventListener("toggle", () => void this.#draw());
    this.show(status);
  }

  show(status: RequestStatus): void {
    this.#current = status;
    this.#status.className = `status ${toneOf(status)}`;
    this.#status.textContent = statusWords(status);
    this.#when.replaceChildren(timeOf(status.created_at));
    void this.#draw();
  }

  async #draw(): Promise<void> {
    if (!this.element.open) return;
    const status = this.#current;
    if (!isOver(status)) {
      const stop = button("Cancel request", { class: "quiet" }, () => void cancelled(this.#path, status.request));
      return this.#body.replaceChildren(this.#isAllowed ? stop : el("p", { class: "soft" }, "It goes on."));
    }
    try {
      const { replies = [] } = (await (await ask(this.#path)).json()) as { readonly replies?: readonly Reply[] };
      this.#body.replaceChildren(el("ul", { class: "calls" }, ...replies.map(replyRow)));
    } catch (thrown) {
      const why = thrown instanceof Refused ? thrown.message : "The host did not answer.";
      this.#body.replaceChildren(el("p", { class: "problem" }, why));
    }
  }
}

/** Shows one session, and keeps it as it is now. */
export const sessionPage: Page = ({ main, me, reached, signal, rest }) => {
  const id = decoded(rest);
  const path = `/v1/sessions/${encodeURIComponent(id)}`;
  const isAllowed = me.rights.includes("call");
  const title = el("h1", {}, id);
  const status = el("p", {});
  const tags = el("p", { class: "tags" });
  const live = el("ul", { class: "calls" });
  const liveHead = el("h2", {}, "Now");
  const requests = el("div", { class: "requests" });
  const rows = new Map<string, RequestRow>();
  const back = el("a", { href: "#/runs", class: "link" }, "All runs");
  main.replaceChildren(back, title, status, tags, liveHead, live, el("h2", {}, "Requests"), requests);

  const readRequests = async (): Promise<void> => {
    if (!isAllowed && !me.rights.includes("observe")) return;
    const found = (await (await ask(`${path}/requests?limit=1000`, { signal })).json()) as {
      readonly requests: readonly RequestStatus[];
    };
    for (const one of found.requests) {
      const row = rows.get(one.request);
      if (row !== undefined) {
        row.show(one);
        continue;
      }
      const made = new RequestRow(one, path, isAllowed);
      rows.set(one.request, made);
      requests.prepend(made.element);
      if (rows.size === found.requests.length && found.requests.length < 4) made.element.open = true;
    }
  };

  const changed = (found: Session): void => {
    title.textContent = found.title ?? found.session;
    status.replaceChildren(
      el("span", { class: `status ${toneOf(found.status)}` }, statusWords(found.status)),
      el("span", { class: "soft" }, `, event ${found.seq}, `),
      timeOf(found.updated_at),
    );
    tags.replaceChildren(...found.tags.map((tag) => el("span", { class: "tag" }, tag)));
    liveHead.hidden = found.calls.length === 0;
    live.replaceChildren(...found.calls.map((call) => liveRow(call, isAllowed, path)));
    readRequests().catch(() => undefined); // The watch says that the host is away, and asks again.
  };
  void watch<Session>(path, { changed, reached, signal });
};
