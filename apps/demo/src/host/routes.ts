/** What the page asks the demo's server besides its files: a token for the host, its mail, and its session back. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runtime } from "@pawl/runtime";
import { type Codec, type Json, describe, parse, read, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { BringBackCodec, MailAnswerCodec, MailCodec } from "../engine/mail.ts";
import type { MailBox } from "./mail-box.ts";

export interface Routes {
  readonly runtime: Runtime;
  readonly mail: MailBox;
  readonly token: () => string;
  readonly origin: () => string;
}

type Route = (request: IncomingMessage, response: ServerResponse, routes: Routes) => Promise<void>;

/** A letter holds a whole log at the most. */
const mostBytes = 64 * 1024 * 1024;

const textOf = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > mostBytes) throw new Error(`a request of more than ${mostBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
};

const bodyOf = async <A>(request: IncomingMessage, codec: Codec<A>): Promise<A> => {
  const body = E.chain((json: Json) => read(codec, json))(parse(await textOf(request)));
  if (E.isLeft(body)) throw new Error(describe(body.left));
  return body.right;
};

const answer = (response: ServerResponse, status: number, json?: Json): void => {
  response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  response.end(json === undefined ? undefined : stringify(json));
};

const give: Route = async (_, response, { token }) => answer(response, 200, { token: token() });

const nextMail: Route = async ({ url = "" }, response, { mail }) => {
  const session = new URL(url, "http://localhost").searchParams.get("session") ?? "";
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const next = await mail.next(session, gone.signal);
  if (response.destroyed) return;
  answer(response, next === undefined ? 204 : 200, next && (MailCodec.encode(next) as Json));
};

const takeAnswer: Route = async (request, response, { mail }) => {
  mail.answer(await bodyOf(request, MailAnswerCodec));
  answer(response, 200, {});
};

const bringBack: Route = async (request, response, { runtime }) => {
  const { session } = await bodyOf(request, BringBackCodec);
  await runtime.move(`session:${session}`, `tab:${session}`);
  answer(response, 200, {});
};

const routes: { readonly [path: string]: Route } = {
  "GET /host.json": give,
  "GET /mail/next": nextMail,
  "POST /mail/answer": takeAnswer,
  "POST /bring-back": bringBack,
};

/** Whether a request was for one of these. Pages from elsewhere are refused: a browser says where they are from. */
export const serveRoutes = (request: IncomingMessage, response: ServerResponse, of: Routes): boolean => {
  const { method = "GET", url = "/", headers } = request;
  const route = routes[`${method} ${new URL(url, "http://localhost").pathname}`];
  if (route === undefined) return false;
  const site = headers["sec-fetch-site"];
  const isForeign =
    (headers.origin !== undefined && headers.origin !== of.origin()) ||
    (site !== undefined && site !== "same-origin" && site !== "none") ||
    headers.host !== new URL(of.origin()).host;
  if (isForeign) answer(response, 403);
  else
    void route(request, response, of).catch((thrown: unknown) => {
      if (!response.headersSent) answer(response, 500, { message: String(thrown) });
    });
  return true;
};
