/**
 * `claudeSession`: a session of the Claude Agent SDK on a session of pawl. The SDK runs its loop in a process of its own; what it
 * does and what it says is on record here:
 *
 *   tools        are called through pawl, once each (tools.ts)
 *   approvals    whatever the SDK asks about waits for a person, as `ctx.approve` does
 *   transcript   in the store of the session (transcript.ts); the SDK goes on from there
 *   process      ends with this one (guarded-spawn.ts)
 *
 * A turn whose process died goes on: the calls of pawl's tools that it waited for are ended first, and their results put into
 * the transcript, so that the model is not asked again for what it has said.
 */
import type { CanUseTool, Options, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { type DefinedTool, type Runtime, type Session, type ToolDefinition, Refused, defineTool } from "@pawl/runtime";
import { type Json, hashText } from "@pawl/tool-value";
import { guardedSpawn } from "./guarded-spawn.ts";
import { callOnce, pawlToolOf, requestOf, serverOf } from "./tools.ts";
import { type Entry, Transcripts } from "./transcript.ts";
import { type Block, LatestTurn, Written } from "./turn.ts";

export interface ClaudeSessionOptions {
  /** Tools of pawl for the model. Their approvals are their own. */
  readonly tools?: readonly (ToolDefinition | DefinedTool)[];
  /** Says which tools of the SDK run without a person being asked, where the SDK asks. Default: none. */
  readonly allow?: (tool: string, input: Readonly<Record<string, unknown>>) => boolean;
}

export interface ClaudeSession {
  /** Options for `query`, to be spread among one's own. */
  readonly options: Pick<
    Options,
    | "mcpServers"
    | "canUseTool"
    | "sessionStore"
    | "sessionStoreFlush"
    | "sessionId"
    | "resume"
    | "spawnClaudeCodeProcess"
  >;
  /** Returns the `prompt` for `query`; nothing where the turn that this text began is under way, and goes on by itself. */
  readonly prompt: (text: string) => string | AsyncIterable<SDKUserMessage>;
  /** The session of pawl: it lists approvals, and takes decisions. */
  readonly session: Session;
}

/** Makes the SDK's id of a session, which is a UUID, of the name that it has here. */
const uuidOf = (name: string): string => {
  const hex = hashText(name);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const asks = defineTool<{ readonly title: string; readonly args: Json }, undefined, Promise<Json>>({
  name: "claude_agent_asks",
  durable: true,
  execute: async (question, ctx) => (await ctx.approve(question)) as unknown as Json,
}) as DefinedTool;

type Decided =
  | { readonly approved: true; readonly args: Record<string, unknown> }
  | { readonly approved: false; readonly reason: string };

const askedOf = (toolUseId: string): string => `${requestOf(toolUseId)}:asked`;

const approvalsOf =
  (session: Session, allow: NonNullable<ClaudeSessionOptions["allow"]>): CanUseTool =>
  async (tool, input, { toolUseID: id, signal }) => {
    if (pawlToolOf(tool) !== undefined || allow(tool, input)) return { behavior: "allow", updatedInput: input };
    const request = askedOf(id);
    const stop = (): void => void session.cancel({ request }).catch(() => undefined); // The person may have decided meanwhile.
    signal.addEventListener("abort", stop, { once: true });
    const question = { title: `${tool} (${id})`, args: input };
    const decided = (await session.call(asks, question, { id: request })) as unknown as Decided;
    signal.removeEventListener("abort", stop);
    if (decided.approved) return { behavior: "allow", updatedInput: decided.args };
    return { behavior: "deny", message: decided.reason };
  };

/** Makes the entry of a result, as the SDK would have written it. */
const resultEntry = (
  after: Entry,
  { id = "" }: Block,
  { content, isError }: Awaited<ReturnType<typeof callOnce>>,
): Entry => ({
  ...Object.fromEntries(["sessionId", "cwd", "version", "gitBranch", "userType"].map((field) => [field, after[field]])),
  type: "user",
  uuid: uuidOf(`result of ${id}`),
  parentUuid: after.uuid,
  isSidechain: false,
  timestamp: new Date().toISOString(),
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: isError === true }] },
});

/** Ends the calls that a turn was waiting for when its process died, and puts their results into its transcript. */
const completed = async (session: Session, transcripts: Transcripts, sessionId: string): Promise<LatestTurn> => {
  const turn = new LatestTurn((await transcripts.load({ sessionId })) ?? []);
  const results: Entry[] = [];
  for (const { use } of turn.open) {
    const { id = "", name = "", input } = use;
    const tool = pawlToolOf(name);
    if (tool === undefined) await dropQuestion(session, id);
    else {
      const after = results.at(-1) ?? turn.last;
      if (after !== undefined) results.push(resultEntry(after, use, await callOnce(session, id, tool, input)));
    }
  }
  if (results.length > 0) await transcripts.append({ projectKey: "", sessionId }, results);
  return turn;
};

/** Takes back what a person was asked: the model is asked again, and its call has another id. */
const dropQuestion = async (session: Session, toolUseId: string): Promise<void> => {
  try {
    await session.cancel({ request: askedOf(toolUseId) });
  } catch (thrown) {
    if (!(thrown instanceof Refused && thrown.code === "request_unknown")) throw thrown;
  }
};

/** Says nothing until a turn is over: the SDK leaves its process when its prompt ends. */
const nothingUntil = (over: Promise<void>): AsyncIterable<SDKUserMessage> => ({
  [Symbol.asyncIterator]: () => ({ next: () => over.then(() => ({ done: true, value: undefined })) }),
});

/** Opens a session for `query`. After a crash it goes on where it stood, here or on another machine. */
export const claudeSession = async (
  runtime: Runtime,
  id: string,
  { tools = [], allow = () => false }: ClaudeSessionOptions = {},
): Promise<ClaudeSession> => {
  const session = await runtime.session(id, { tools: [...tools, asks] });
  const written = new Written();
  const transcripts = new Transcripts(session.store, (entries) => written.note(entries));
  const sessionId = uuidOf(id);
  const turn = await completed(session, transcripts, sessionId);
  const goesOn: Readonly<Record<string, string>> = turn.isUnderWay ? { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: "1" } : {};
  return {
    session,
    options: {
      mcpServers: { pawl: serverOf(session, tools, written) },
      canUseTool: approvalsOf(session, allow),
      sessionStore: transcripts,
      sessionStoreFlush: "eager",
      spawnClaudeCodeProcess: guardedSpawn(goesOn),
      ...(turn.last === undefined ? { sessionId } : { resume: sessionId }),
    },
    prompt: (text) => (turn.isUnderWay && turn.beganWith(text) ? nothingUntil(written.over) : text),
  };
};
