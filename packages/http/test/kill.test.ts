/** A host that is killed with SIGKILL under clients that wait: they ask again, and nothing happens twice or is lost. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { heard } from "./rig.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-http-"));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  readonly http: string;
  readonly port: string;
  readonly token: string;
  readonly kill: () => Promise<void>;
}

const started = async (port = "0"): Promise<Started> => {
  const program = join(import.meta.dirname, "host-process.ts");
  const child = spawn(process.execPath, [program, join(folder, "journal.db"), port], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    child.once("exit", (code) => reject(new Error(`the host ended with ${code}`)));
  });
  const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string };
  const gone = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  const kill = (): Promise<void> => (child.kill("SIGKILL"), gone);
  return { http: url.replace(/^ws/, "http"), port: new URL(url).port, token, kill };
};

const submit = (request: string, tool: string, wait = 20): readonly [string, RequestInit] => [
  `/v1/sessions/s/requests/${request}`,
  {
    method: "POST",
    headers: { prefer: `wait=${wait}` },
    body: JSON.stringify({ calls: [{ id: "c", tool, args: { request } }] }),
  },
];

it("nothing is lost or done twice for clients over HTTP when their host is killed and comes back", async () => {
  let host = await started();
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${host.http}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json", ...init.headers },
    });
  /** Asks until somebody answers, as a client does whose host is away. */
  const again = async (path: string, init: RequestInit = {}): Promise<Response> => {
    for (;;) {
      const response = await ask(path, init).catch(() => undefined);
      if (response !== undefined && response.status < 500) return response;
      await pause(20);
    }
  };
  await ask(...submit("paying", "pays", 0));
  await ask(...submit("asking", "asks", 0));
  const waiting = again(...submit("working", "works"));
  const log = await heard(await ask("/v1/sessions/s/events?form=log"), 12);
  await host.kill();
  host = await started(host.port);

  const answer = (await (await waiting).json()) as { readonly status: object; readonly replies: readonly object[] };
  expect(answer).toMatchObject({
    status: { state: "done" },
    replies: [{ output: { outcome: { payload: { request: "working" } } } }],
  });
  const page = (await (await again("/v1/approvals")).json()) as {
    readonly sessions: readonly { readonly approvals: readonly { readonly call: string; readonly hash: string }[] }[];
  };
  const [{ call, hash } = { call: "", hash: "" }] = page.sessions[0]?.approvals ?? [];
  expect(call).toBe("asking:c");
  const decision = { method: "POST", body: JSON.stringify({ decision: "approve", hash }) };
  expect((await ask(`/v1/sessions/s/approvals/${encodeURIComponent(call)}`, decision)).status).toBe(204);
  const token = [...log, ...(await heard(await ask(`/v1/sessions/s/events?form=log&after=${log.at(-1)?.id}`), 3))]
    .flatMap(({ data }) => /v3\.[\w.-]+/.exec(JSON.stringify(data)) ?? [])
    .at(0);
  const json = { "content-type": "application/json" };
  const paid = { method: "POST", headers: json, body: JSON.stringify({ amount: 3 }) };
  expect(await (await fetch(`${host.http}/v1/waits/${token}`, paid)).json()).toEqual({ status: "accepted" });
  await host.kill();
  host = await started(host.port);

  expect((await again(`/v1/sessions/s/approvals/${encodeURIComponent(call)}`, decision)).status).toBe(204);
  expect(await (await fetch(`${host.http}/v1/waits/${token}`, paid)).json()).toEqual({ status: "accepted" });
  const payloadOf = async (request: string, tool: string) => {
    const view = (await (await again(...submit(request, tool))).json()) as {
      readonly replies: readonly { readonly output: { readonly outcome: { readonly payload: unknown } } }[];
    };
    return view.replies.map(({ output }) => output.outcome.payload);
  };
  expect(await payloadOf("paying", "pays")).toEqual([{ amount: 3 }]);
  expect(await payloadOf("asking", "asks")).toEqual([{ request: "asking" }]);
  expect(await (await again(...submit("working", "works"))).json()).toEqual(answer);
  const submitted = (await heard(await ask("/v1/sessions/s/events?form=log"), 20)).filter(
    ({ data }) => (data as { readonly event: { readonly type: string } }).event.type === "request.submitted",
  );
  expect(submitted).toHaveLength(3);
  await host.kill();
});
