/** A desk in a worker: a page makes one of this file, and hands it to the inspector. */
import type { FromDesk, ToDesk } from "./message.ts";
import { nextTurn } from "./turn.ts";
import { DeskWork } from "./work.ts";

const port = globalThis as unknown as Worker;
const work = new DeskWork((message: FromDesk) => port.postMessage(message), nextTurn);
port.addEventListener("message", ({ data }: MessageEvent<ToDesk>) => work.hear(data));
