/** Frames: broken, mutated, deep, wide and huge. */
import type { Siege } from "../siege.ts";
import { tokenOf } from "../siege.ts";
import { type Heard, Socket } from "../socket.ts";

const scope = "session:fuzz/a";
const run = { scope, executor: "e", call: "r:c", attempt: 1, run: 1 };

/** Frames as an honest client sends them. */
const frames: readonly object[] = [
  { type: "call", id: 1, scope, request: "r", calls: [{ id: "c", tool: "echo", args: { a: [1, "x", null] } }] },
  { type: "open", id: 1, scope },
  { type: "replies", id: 1, scope, request: "r" },
  { type: "acknowledge", id: 1, scope, request: "r" },
  { type: "cancel_request", id: 1, scope, request: "r" },
  { type: "cancel_call", id: 1, scope, call: "r:c" },
  { type: "resolve", id: 1, scope, token: "t", resolution: { status: "ok", payload: 1 } },
  { type: "resolve_by_id", id: 1, scope, key: "k", resolution: { status: "ok", payload: 1 } },
  { type: "approve", id: 1, scope, call: "r:c", hash: "h" },
  { type: "reject", id: 1, scope, call: "r:c", hash: "h", reason: "no" },
  { type: "approvals", id: 1, scope },
  { type: "awaiting_approval", id: 1, scope: "session:" },
  { type: "signal", id: 1, scope: "process:p", name: "n", payload: 1, signal_id: "s" },
  { type: "observe", id: 1, scope, after: 0, window: 10 },
  { type: "watch", id: 1, scope, window: 10 },
  { type: "seen", id: 1, cursor: 3 },
  { type: "unobserve", id: 1 },
  { type: "execute", id: 1, executor: "e", tools: ["tool:remote"] },
  { type: "progress", ...run, text: "t", kind: "k" },
  { type: "settle", id: 1, ...run, output: { outcome: { status: "success", payload: 1 } }, duration_ms: 1 },
  { type: "receive", id: 1, name: "n" },
  { type: "decline_move", id: 1, scope, nonce: "n" },
  { type: "move_answer", n: 1 },
  { type: "ping", n: 1 },
];

const odd: readonly [unknown, ...unknown[]] = [
  null,
  -1,
  1e308,
  2 ** 53,
  0.5,
  "",
  "\u0000\u202e\ud800",
  "__proto__",
  "constructor",
  [],
  {},
  [[]],
  true,
  "x".repeat(5000),
  "session:",
  "process:fuzz/../a",
];

const pick = <A>({ random }: Siege, from: readonly A[]): A => from[random.below(from.length)] as A;

/** Changes one place of a value, at any depth. */
const mutated = (siege: Siege, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || siege.random.below(4) === 0) return pick(siege, odd);
  if (Array.isArray(value)) return value.map((item, i) => (i === 0 ? mutated(siege, item) : item));
  const entries = Object.entries(value);
  const at = siege.random.below(entries.length + 2);
  if (at === entries.length)
    return { ...value, [pick(siege, ["__proto__", "toString", "extra", "id"])]: pick(siege, odd) };
  if (at > entries.length) return Object.fromEntries(entries.slice(1));
  return Object.fromEntries(
    entries.map(([key, part], i) => [key, i === at && key !== "type" ? mutated(siege, part) : part]),
  );
};

/** Changes bytes of a text: deletes, doubles, or replaces some. */
const garbled = ({ random }: Siege, text: string): string => {
  const at = random.below(text.length);
  const some = String.fromCharCode(random.below(random.below(2) === 0 ? 128 : 65_536));
  return [text.slice(0, at), text.slice(0, at) + some + text.slice(at + 1), text + text.slice(at), some + text][
    random.below(4)
  ] as string;
};

const frameOf = (siege: Siege): string => {
  const frame = JSON.stringify(mutated(siege, pick(siege, frames)));
  return siege.random.below(3) === 0 ? garbled(siege, frame) : frame;
};

const problemOf = ({ type, code }: Heard): string | undefined =>
  type === "error" && code === "internal_error" ? "a frame led to an internal error" : undefined;

const greeted = (siege: Siege): Promise<Socket | undefined> =>
  Socket.greeted(siege.url, tokenOf({ by: "eve", scopes: ["session:fuzz/", "process:fuzz/"] }));

/** Sends hundreds of changed frames over connections that are opened again when the host has had enough of one. */
export const fuzzFrames = async (siege: Siege): Promise<void> => {
  for (let sockets = 0; sockets < 5; sockets += 1) {
    const socket = await greeted(siege);
    if (socket === undefined) return siege.say("a client with a token was not welcomed");
    for (let n = 0; n < 200 && socket.isOpen; n += 1) {
      const frame = frameOf(siege);
      socket.send(frame);
      siege.try();
      if (n % 20 === 19) await socket.ask({ type: "ping", n: 1_000_000 + n, id: -1 }, 1);
    }
    const pong = await (socket.send({ type: "ping", n: 77 }),
    socket.until(({ type, n }) => type === "pong" && n === 77));
    if (pong === undefined && socket.isOpen) siege.say("a host answered no ping after changed frames");
    for (const heard of socket.heard) {
      const problem = problemOf(heard);
      if (problem !== undefined) siege.say(`${problem}: ${JSON.stringify(heard).slice(0, 300)}`);
    }
    for (const text of socket.garbage) siege.say(`a host sent what is no JSON: ${text}`);
    socket.reset();
  }
};

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);

/** Texts that are small to send and large to read. */
const bombs: readonly ((size: number) => string)[] = [
  (size) => nested(size, "[", "]"),
  (size) => `${'{"a":'.repeat(size)}1${"}".repeat(size)}`,
  (size) => `[${Array.from({ length: size }, () => "[]").join(",")}]`,
  (size) => `{${Array.from({ length: size }, (_, i) => `"k${i}":0`).join(",")}}`,
  (size) => `"${"\\u0000".repeat(size)}"`,
  (size) => `"${"\u202e".repeat(size)}"`,
  (size) => `1${"0".repeat(size)}`,
  (size) => `[${Array.from({ length: size }, () => "1e400").join(",")}]`,
  (size) => `{"__proto__":${nested(Math.min(size, 50), "[", "]")}}`,
];

/** Puts such texts into the arguments of a call: it is answered, whatever the answer is. */
export const bombFrames = async (siege: Siege): Promise<void> => {
  const socket = await greeted(siege);
  if (socket === undefined) return siege.say("a client with a token was not welcomed");
  let open: Socket | undefined = socket;
  for (const [n, bomb] of bombs.entries()) {
    const id = n + 1;
    const args = bomb(10 ** (2 + siege.random.below(4)));
    if (open?.isOpen !== true) open = await greeted(siege);
    open?.send(
      `{"type":"call","id":${id},"scope":"session:fuzz/bomb","request":"${siege.random.below(1e9)}",` +
        `"calls":[{"id":"c","tool":"echo","args":${args}}]}`,
    );
    const heard = await open?.until((said) => said.id === id || said.code === "invalid_frame");
    const isAnswered = heard !== undefined || open?.isOpen !== true;
    siege.try(isAnswered ? heard && problemOf(heard) : `bomb ${n} of ${args.length} characters was not answered`);
    open?.reset();
  }
};
