/** Tokens that were not given, and rights that were not. */
import { createHmac } from "node:crypto";
import { signToken } from "@pawl/driver-node";
import { hostSecret } from "../../../packages/driver-node/test/kill/order.ts";
import { type Siege, tokenOf } from "../siege.ts";
import { Socket } from "../socket.ts";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=.+/ \n\u0000é";

const withLetter = ({ random }: Siege, text: string): string => {
  const at = random.below(text.length);
  return text.slice(0, at) + (letters[random.below(letters.length)] ?? "A") + text.slice(at + 1);
};

const encoded = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString("base64url");

const claims = { by: "eve", scopes: [""], rights: ["call", "observe", "move"], expires_at: 4_000_000_000_000 };

/** Signs claims as a host does, whatever they say. */
const signedAs = (text: string): string =>
  `pawl1.${text}.${createHmac("sha256", hostSecret).update(`pawl1.${text}`).digest("base64url")}`;

/** Ways to make a token that no host gave. */
const forgeries: readonly ((siege: Siege, good: string) => string)[] = [
  withLetter,
  (siege, good) => withLetter(siege, withLetter(siege, good)),
  ({ random }, good) => good.slice(0, random.below(good.length)),
  (siege, good) => good + (letters[siege.random.below(letters.length)] ?? "A"),
  (_, good) => good.replace("pawl1", "pawl2"),
  (_, good) => `pawl1.${encoded(claims)}.${good.split(".")[2] ?? ""}`,
  () => `pawl1.${encoded(claims)}.`,
  (_, good) => `pawl1.${good.split(".")[1] ?? ""}`,
  (_, good) => [...good.split(".").slice(0, 2), Buffer.alloc(32).toString("base64url")].join("."),
  ({ random }) => signToken([new Uint8Array(32).fill(random.below(9))], { ...claims, rights: ["call"] }),
  () => signedAs(encoded({ ...claims, expires_at: 1_000_000_000_001 })),
  () => signedAs(encoded({ ...claims, expires_at: Infinity })),
  () => signedAs(encoded({ ...claims, rights: ["root"] })),
  () => signedAs(encoded({ ...claims, scopes: "session:" })),
  () => signedAs(encoded([claims])),
  () => "",
];

/** Says hello with forged tokens. */
export const forgeTokens = async (siege: Siege): Promise<void> => {
  const good = tokenOf({ by: "eve" });
  for (let n = 0; n < 20; n += 1)
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const forge = forgeries[siege.random.below(forgeries.length)] ?? withLetter;
        const token = forge(siege, good);
        if (token === good) return;
        const socket = await Socket.greeted(siege.url, token);
        siege.try(socket && `a forged token was welcomed: ${token}`);
        socket?.reset();
      }),
    );
};

const questions = (scope: string): readonly { readonly type: string; readonly [field: string]: unknown }[] => [
  { type: "open", scope },
  { type: "call", scope, request: "stolen", calls: [{ id: "c", tool: "echo", args: {} }] },
  { type: "replies", scope, request: "secret" },
  { type: "acknowledge", scope, request: "secret" },
  { type: "cancel_request", scope, request: "secret" },
  { type: "cancel_call", scope, call: "secret:c" },
  { type: "resolve_by_id", scope, key: "k", resolution: { status: "ok", payload: 1 } },
  { type: "approve", scope, call: "secret:c", hash: "h" },
  { type: "approvals", scope },
  { type: "awaiting_approval", scope },
  { type: "observe", scope, after: 0, window: 100 },
  { type: "watch", scope, from: { scope, seq: 0, index: 0 }, window: 100 },
  { type: "move", scope, to: "ws://127.0.0.1:1/", token: "t" },
];

const refusals: ReadonlySet<unknown> = new Set(["permission_denied", "invalid_frame", "scope_unknown"]);

/**
 * Asks everything of a session whose attachment is wanted: with a token of another session, and with a token of all
 * sessions that lacks the right. Whatever is heard, no bytes and no name of the other session are in it.
 */
export const overstepRights = async (siege: Siege): Promise<void> => {
  const owner = siege.client();
  const secret = `secret-${siege.random.below(1e9)}`;
  const [reply] = await owner
    .session("team/owner")
    .request("secret", [{ label: "c", tool: "attach", args: { text: secret } }]);
  const kept = JSON.stringify(reply?.output ?? {});
  const hash = /[\da-f]{64}/.exec(kept)?.[0];
  if (hash === undefined) return siege.say(`an attachment was not made: ${kept}`);
  const tokens = [
    tokenOf({ by: "eve", scopes: ["session:own/"] }),
    tokenOf({ by: "eve", scopes: ["session:team/owner-", "session:team/o/"] }),
    tokenOf({ by: "eve", scopes: ["session:own/"], rights: ["move"] }),
    tokenOf({ by: "eve", rights: ["execute"] }),
  ];
  for (const token of tokens) {
    const socket = await Socket.greeted(siege.url, token);
    if (socket === undefined) return siege.say("a client with a token was not welcomed");
    let id = 0;
    for (const scope of ["session:team/owner", "session:team/owner\u0000", "SESSION:own/", "session:"])
      for (const question of questions(scope)) {
        const heard = await socket.ask({ ...question, id: (id += 1) });
        const isRefused = heard?.type === "error" && refusals.has(heard.code);
        siege.try(isRefused ? undefined : `${question.type} of ${scope} was not refused: ${JSON.stringify(heard)}`);
      }
    const all = JSON.stringify(socket.heard);
    if (all.includes(hash) || all.includes(secret)) siege.say("a stranger heard of an attachment");
    socket.reset();
  }
};
