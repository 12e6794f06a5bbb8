/** A session with everything of `sessionTools`, over files that outlive its hosts. */
import { MemoryFiles, type SessionToolOptions, sessionTools } from "@pawl/tools";
import type { SessionMessage, ToolDefinition } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import { type Body, finished, runner } from "../../../runtime/test/background/world.ts";
import { type Process, World } from "../../../runtime/test/world.ts";

export { type Body, finished, runner };

export class ToolWorld extends World {
  readonly files = new MemoryFiles(() => 0);
  readonly heard: SessionMessage[] = [];
  #requests = 0;

  begin(own: readonly ToolDefinition[] = [], more: Omit<SessionToolOptions, "tools"> = {}): Process {
    const { tools, host } = sessionTools({ files: () => this.files, tools: own, now: this.platform.now, ...more });
    return this.start(tools, { host: { ...host, tell: async (said: SessionMessage) => void this.heard.push(said) } });
  }

  /** Runs one call to its outcome, while time passes in steps of half a second. */
  async call(process: Process, tool: string, args: Json, session = "s"): Promise<{ status: string; payload: never }> {
    const request = `r${(this.#requests += 1)}`;
    const opened = await process.runtime.session(session);
    const replied = opened.request(request, [{ label: "c", tool, args }]);
    const state = { isThere: false };
    const note = (): void => void (state.isThere = true);
    replied.then(note, note);
    for (let i = 0; i < 400 && !state.isThere; i++) {
      await this.quiet(6);
      this.platform.advance(500);
    }
    const [reply] = await replied;
    return reply?.output.outcome as never;
  }

  async text(path: string): Promise<string> {
    return new TextDecoder().decode((await this.files.read(path))?.bytes);
  }
}
