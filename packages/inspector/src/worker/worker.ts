/** A desk in a worker: a page makes one of this file, and hands it to the inspector. */
import { messageTurn } from "@pawl/runtime";
import type { FromDesk, ToDesk } from "./message.ts";
import { DeskWork } from "./log-service.ts";

const port = globalThis as unknown as Worker;
const work = new DeskWork((message: FromDesk) => port.postMessage(message), messageTurn);
port.addEventListener("message", ({ data }: MessageEvent<ToDesk>) => work.hear(data));
