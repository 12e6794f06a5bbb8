/**
 * `chatHandlers`: the routes of a chat, in the form of the web (`Request` in, `Response` out), for any server.
 *
 *   POST    /api/chat                   a turn: its message as it comes; or decisions on what the turn asked
 *   GET     /api/chat/{id}/stream       the turn that is under way, from its beginning (`useChat({ resume: true })`)
 *     ?startIndex=12                    from a chunk on (`WorkflowChatTransport`): recorded chunks alone, whose numbers stay
 *   DELETE  /api/chat/{id}              stops it. A page that goes away does not
 *
 * Nothing of a turn is in memory here: it is in the log of its session, so that any process that has the session serves
 * any page of it.
 */
import type { Runtime, Session } from "@pawl/runtime";
import { type UIMessage, type UIMessageChunk, createUIMessageStreamResponse } from "ai";
import { type Place, begunTurn, endedOrLive, latestTurn, partFromStart, partOf, requestOf } from "./turn.ts";
import { decideOn, hasDecisions } from "./decisions.ts";
import type { chatTool } from "./chat-tool.ts";

/** A request to the chat, and the chat that it names. */
export interface ChatRequest {
  /** The chat, as the page names it. */
  readonly id: string;
  readonly request: Request;
}

export interface ChatHost {
  /** The tool that answers, made by `chatTool`. */
  readonly tool: ReturnType<typeof chatTool>;
  /**
   * Returns the session of a chat, or undefined where whoever asks may not see it. Default: the chat's own id. Whoever knows
   * the id of a chat reads it then, so a server with more than one user gives its own.
   */
  readonly session?: (chat: ChatRequest) => string | undefined | Promise<string | undefined>;
  /** Says who decides on approvals. Default: `page`. */
  readonly by?: (chat: ChatRequest) => string | Promise<string>;
}

export interface ChatHandlers {
  readonly POST: (request: Request) => Promise<Response>;
  readonly GET: (request: Request) => Promise<Response>;
  readonly DELETE: (request: Request) => Promise<Response>;
}

interface Posted {
  readonly id?: unknown;
  readonly messages: readonly UIMessage[];
  readonly trigger?: unknown;
}

const refused = (status: number, error: string): Response => Response.json({ error }, { status });

const isMessage = (one: unknown): boolean =>
  typeof one === "object" && one !== null && "id" in one && "role" in one && "parts" in one && Array.isArray(one.parts);

/** Reads what a page posts, and says what is wrong with it. */
const postedIn = async (request: Request): Promise<Posted | string> => {
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    return "the body of the request: expected JSON";
  }
  const { messages } = (body ?? {}) as { readonly messages?: unknown };
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage))
    return "`messages`: expected the messages of a chat, each with `id`, `role` and `parts`";
  return body as Posted;
};

/** Finds the chat in an address: `/api/chat/{id}/stream`, `/api/chat/{id}`. A part of a turn has its number in it. */
const placeIn = ({ url }: Request): Place | undefined => {
  const { pathname, searchParams } = new URL(url);
  const found = searchParams.get("id") ?? /\/([^/]+)(?:\/stream)?\/?$/.exec(pathname)?.[1];
  if (found === undefined) return undefined;
  const [, id = "", part] = /^(.*?)(?:~(\d+))?$/.exec(decodeURIComponent(found)) ?? [];
  return { id, part: Number(part ?? 1) };
};

const answered = (stream: ReadableStream<UIMessageChunk>, { id, part }: Place, tail?: number): Response =>
  createUIMessageStreamResponse({
    stream,
    headers: {
      "x-workflow-run-id": part === 1 ? id : `${id}~${part}`,
      ...(tail === undefined ? {} : { "x-workflow-stream-tail-index": String(tail) }),
    },
  });

/** Returns the routes of a chat whose turns the tool answers. */
export const chatHandlers = (runtime: Runtime, host: ChatHost): ChatHandlers => {
  const { tool, session: sessionOf = ({ id }) => id, by = () => "page" } = host;
  const open = async (chat: ChatRequest): Promise<Session | undefined> => {
    const name = await sessionOf(chat);
    return name === undefined ? undefined : runtime.session(name);
  };
  const POST = async (request: Request): Promise<Response> => {
    const posted = await postedIn(request);
    if (typeof posted === "string") return refused(400, posted);
    const { messages } = posted;
    const id = typeof posted.id === "string" ? posted.id : (messages[0] as UIMessage).id;
    const chat = { id, request };
    const session = await open(chat);
    if (session === undefined) return refused(404, `there is no chat ${JSON.stringify(id)} here`);
    // A page that does not say why it asks counts the chunks that it gets: it is given those whose numbers stay.
    const from = posted.trigger === undefined ? 0 : undefined;
    const latest = await latestTurn(session);
    if (latest !== undefined && hasDecisions(messages)) {
      const part = await decideOn(session, latest, messages, await by(chat));
      if (part !== undefined) return answered(partOf(session, latest, part, from), { id, part });
    }
    const isAgain = posted.trigger === "regenerate-message";
    const before = isAgain && latest !== undefined ? await endedOrLive(session, latest) : latest;
    const turn = await begunTurn(session, tool, requestOf(messages, isAgain, before), messages);
    return answered(partOf(session, turn, 1, from), { id, part: 1 });
  };
  const GET = async (request: Request): Promise<Response> => {
    const place = placeIn(request);
    const session = place && (await open({ id: place.id, request }));
    if (place === undefined || session === undefined) return refused(404, "there is no such chat here");
    const turn = await latestTurn(session);
    if (turn === undefined) return new Response(undefined, { status: 204 });
    const start = new URL(request.url).searchParams.get("startIndex");
    if (start === null) {
      if (!turn.isLive) return new Response(undefined, { status: 204 });
      return answered(partFromStart(session, turn), { id: place.id, part: 1 });
    }
    const at = Number(start);
    if (!Number.isSafeInteger(at))
      return refused(400, `\`startIndex\`: expected a whole number, found ${JSON.stringify(start)}`);
    return answered(partOf(session, turn, place.part, at), place);
  };
  const DELETE = async (request: Request): Promise<Response> => {
    const place = placeIn(request);
    const session = place && (await open({ id: place.id, request }));
    const turn = session && (await latestTurn(session));
    if (turn?.isLive === true) await session?.cancel({ request: turn.request }, "page");
    return new Response(undefined, { status: 204 });
  };
  return { POST, GET, DELETE };
};
