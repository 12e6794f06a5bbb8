/** A worker with an agent in each object. What its tools do, they tell a ledger outside. */
import { ToolError, defineTool } from "@pawl/runtime";
import { type ScopeOptions } from "../../src/index.ts";
import { Scope } from "../../src/scope.ts";

interface Env {
  readonly AGENT: DurableObjectNamespace<Agent>;
  readonly LEDGER: string;
}

const toolsOf = (ledger: string) => {
  const note = async (what: string, key: string): Promise<string> => {
    const answer = await fetch(ledger, { method: "POST", body: JSON.stringify({ what, key }) });
    if (!answer.ok) throw new ToolError(`the ledger answered ${answer.status}`);
    return what;
  };
  return [
    defineTool<{ readonly trip: string; readonly steps: number }>({
      name: "travel",
      durable: true,
      execute: async ({ trip, steps }, ctx) => {
        const done: string[] = [];
        for (let i = 1; i <= steps; i++) done.push(await ctx.run(`step-${i}`, ({ key }) => note(`${trip}/${i}`, key)));
        await ctx.sleep(300);
        const call = { call_id: "c", tool_id: "tool:pack", tool_name: "pack", args: { trip }, prepared_payload: null };
        await ctx.processes.start({ id: trip, input: { type: "tool_call", call } });
        const packed = await ctx.processes.await(trip);
        const both = await ctx.all(["a", "b"].map((name) => ctx.run(name, ({ key }) => note(`${trip}/${name}`, key))));
        return [...done, packed.type === "success" ? (packed.value ?? null) : packed.type, ...both];
      },
    }),
    defineTool<{ readonly trip: string }>({
      name: "pack",
      durable: true,
      execute: async ({ trip }, ctx) => {
        await ctx.sleep(100);
        return ctx.run("pack", ({ key }) => note(`${trip}/packed`, key));
      },
    }),
    defineTool<{ readonly trip: string }>({
      name: "pay",
      durable: true,
      needsApproval: true,
      execute: ({ trip }, ctx) => ctx.run("pay", ({ key }) => note(`${trip}/paid`, key)),
    }),
  ];
};

export class Agent extends Scope<Env> {
  /** Another in each incarnation. */
  readonly #birth = crypto.randomUUID();

  birth(): string {
    return this.#birth;
  }

  protected options(): ScopeOptions {
    return { tools: toolsOf(this.env.LEDGER), codeVersion: "1", secrets: [new Uint8Array(32).fill(9)] };
  }

  protected objects(): Env["AGENT"] {
    return this.env.AGENT;
  }

  /** Calls a tool, and waits for its reply. */
  async ask(request: string, tool: string, args: unknown): Promise<unknown> {
    const session = await this.session();
    const [reply] = await session.request(request, [{ label: "c", tool, args: args as never }]);
    return reply?.output.outcome;
  }

  /** Counts the calls that wait for approval. */
  async waiting(): Promise<number> {
    const session = await this.session();
    return (await session.approvals()).length;
  }

  /** Returns whether nothing is left for the alarm to look after. */
  async isQuiet(): Promise<boolean> {
    return (await this.ctx.storage.getAlarm()) === null;
  }

  /** Approves the first call that waits for it, and says if there was one. */
  async approve(): Promise<boolean> {
    const session = await this.session();
    const [waiting] = await session.approvals();
    if (waiting !== undefined) await session.approve(waiting.call, { hash: waiting.hash, by: "test" });
    return waiting !== undefined;
  }

  /** Returns how a verb on another scope is refused. */
  async refusals(other: string): Promise<readonly string[]> {
    const runtime = await this.runtime();
    const verbs = [
      () => runtime.has(other),
      () => runtime.awaitingApproval(),
      () => runtime.processes.read("elsewhere"),
      () => runtime.session(other.replace("session:", "")),
    ];
    const codes = verbs.map((verb) => verb().then(String, ({ code }: { readonly code: string }) => code));
    return Promise.all(codes);
  }

  /** Ends this object, as the platform does. */
  evict(): void {
    this.ctx.abort("the test ends this object");
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const named = searchParams.get("scope");
    if (named !== null) return env.AGENT.get(env.AGENT.idFromName(named)).fetch(request);
    const { scope, verb, of } = (await request.json()) as {
      readonly scope: string;
      readonly verb: "ask" | "birth" | "waiting" | "isQuiet" | "approve" | "refusals" | "evict";
      readonly of: readonly never[];
    };
    const agent = env.AGENT.get(env.AGENT.idFromName(scope)) as unknown as Record<
      string,
      (...of: readonly unknown[]) => Promise<unknown>
    >;
    try {
      return Response.json({ answer: (await agent[verb]?.(...of)) ?? null });
    } catch (thrown) {
      return Response.json({ error: thrown instanceof Error ? thrown.message : String(thrown) }, { status: 500 });
    }
  },
};
