/** A worker with an agent in each object: it drafts a text in steps, and publishes it once a person has approved. */
import { type ScopeOptions } from "@pawl/driver-cloudflare";
import { Scope } from "@pawl/driver-cloudflare/scope";
import { defineTool } from "@pawl/runtime";

interface Env {
  readonly AGENT: DurableObjectNamespace<Agent>;
}

const publish = defineTool<{ readonly title: string }>({
  name: "publish",
  durable: true,
  execute: async ({ title }, ctx) => {
    const chapters: string[] = [];
    for (const chapter of ["beginning", "middle", "end"])
      chapters.push(await ctx.run(`write the ${chapter}`, () => `the ${chapter} of ${title}`));
    const decided = await ctx.approve({ title: `Publish ${title}?`, args: { chapters } });
    return decided.approved ? `published by ${decided.by}: ${chapters.join(", ")}` : "not published";
  },
});

export class Agent extends Scope<Env> {
  protected options(): ScopeOptions {
    return { tools: [publish], codeVersion: "1" };
  }

  protected objects(): Env["AGENT"] {
    return this.env.AGENT;
  }

  /** Calls the tool, and waits for its reply: however often this object is killed, the same request gets the same reply. */
  async publish(request: string, title: string): Promise<unknown> {
    const session = await this.session();
    const [reply] = await session.request(request, [{ label: "c1", tool: "publish", args: { title } }]);
    return reply?.output.outcome;
  }

  /** Lists the titles of what waits for a person. */
  async waiting(): Promise<readonly string[]> {
    const session = await this.session();
    return (await session.approvals()).map(({ tool }) => tool);
  }

  /** Approves all that waits. */
  async approve(by: string): Promise<void> {
    const session = await this.session();
    for (const asked of await session.approvals()) await asked.approve({ by });
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    const agent = env.AGENT.get(env.AGENT.idFromName("session:ann"));
    if (pathname === "/publish") return Response.json(await agent.publish("turn-1", "a short story"));
    if (pathname === "/waiting") return Response.json(await agent.waiting());
    await agent.approve("ann");
    return new Response("approved\n");
  },
};
