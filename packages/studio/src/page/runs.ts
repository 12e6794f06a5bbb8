/** The runs: sessions with what each is at, filtered by state and by text, as they are now. */
import { watch } from "./api.ts";
import { el, timeOf } from "./dom.ts";
import { type Page, type Status, decoded, sessionLink, statusWords, toneOf } from "./page.ts";

interface Run {
  readonly session: string;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly status: Status;
  readonly updated_at: number;
  readonly address?: string;
}
/** A session as the host lists it. One whose log cannot be read has a problem in place of a status. */
type Listed = Omit<Run, "status"> & { readonly status?: Status; readonly problem?: string };
interface Runs {
  readonly sessions: readonly Listed[];
  readonly next?: string;
}

const filters: readonly (readonly [name: string, label: string, holds: (status: Status) => boolean])[] = [
  ["all", "All", () => true],
  ["person", "Waits for a person", ({ waits_for: what, state }) => what === "person" || state === "unknown"],
  ["working", "Working", ({ state }) => state === "working"],
  ["waiting", "Waits for something else", ({ state, waits_for: what }) => state === "waiting" && what !== "person"],
  ["failed", "Failed", ({ state }) => state === "failed" || state.startsWith("unreadable")],
  ["done", "Done", ({ state }) => state === "done" || state === "cancelled"],
];

const pageSize = 100;

const runOf = ({ status, problem = "", ...run }: Listed): Run => ({
  ...run,
  status: status ?? { state: `unreadable: ${problem}` },
});

const row = ({ session, title, tags, status, updated_at: at, address }: Run): HTMLElement =>
  el(
    "li",
    { class: "run" },
    el(
      "a",
      { href: sessionLink(session) },
      el("span", { class: "name" }, title ?? session),
      title === undefined ? undefined : el("code", { class: "soft" }, session),
      ...tags.map((tag) => el("span", { class: "tag" }, tag)),
      el("span", { class: `status ${toneOf(status)}` }, statusWords(status)),
      address === undefined ? undefined : el("span", { class: "soft" }, `at ${address}`),
      at === 0 ? undefined : timeOf(at),
    ),
  );

const hasText = ({ session, title = "", tags }: Run, text: string): boolean =>
  [session, title, ...tags].some((one) => one.toLowerCase().includes(text));

/** Shows the list of sessions. Sessions come by name from the store; a page of them is sorted by their last change. */
export const runsPage: Page = ({ main, reached, signal, rest }) => {
  let runs: readonly Run[] = [];
  let next: string | undefined;
  const [after = "", wanted = "all"] = rest.split("/").map(decoded);
  let filter = wanted;
  const list = el("ul", { class: "runs", "aria-live": "off" });
  const search = el("input", {
    type: "search",
    placeholder: "Name, title or tag",
    "aria-label": "Find in this page of sessions",
  });
  const tabs = el("div", { class: "filters", role: "group", "aria-label": "Filter by state" });
  const foot = el("nav", { class: "foot", "aria-label": "Pages" });
  const draw = (): void => {
    const [, , holds] = filters.find(([name]) => name === filter) ?? filters[0]!;
    const text = search.value.trim().toLowerCase();
    const found = runs.filter((run) => holds(run.status) && hasText(run, text));
    const rows = found.toSorted((a, b) => b.updated_at - a.updated_at).map(row);
    list.replaceChildren(...(rows.length === 0 ? [el("li", { class: "empty" }, "No session here.")] : rows));
    for (const one of tabs.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one.value === filter));
    foot.replaceChildren(
      ...(after === "" ? [] : [el("a", { href: `#/runs//${filter}`, class: "link" }, "First page")]),
      ...(next === undefined
        ? []
        : [el("a", { href: `#/runs/${encodeURIComponent(next)}/${filter}`, class: "link" }, "Next page")]),
    );
  };
  for (const [name, label] of filters) {
    const one = el("button", { type: "button", value: name }, label);
    one.addEventListener("click", () => {
      filter = name;
      draw();
    });
    tabs.append(one);
  }
  search.addEventListener("input", draw);
  main.replaceChildren(el("h1", {}, "Runs"), tabs, search, list, foot);
  const changed = (found: Runs): void => {
    runs = found.sessions.map(runOf);
    ({ next } = found);
    draw();
  };
  const query = new URLSearchParams({ limit: String(pageSize), ...(after === "" ? {} : { after }) });
  void watch<Runs>(`/v1/sessions?${query.toString()}`, { changed, reached, signal });
};
