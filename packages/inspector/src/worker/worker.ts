/** `@pawl/inspector/worker`: the entry of the worker. A page creates a worker of this module and passes it to the inspector. */
import { messageTurn } from "@pawl/runtime/driver";
import { LogService } from "./log-service.ts";
import type { FromWorker, ToWorker } from "./message.ts";

const port = globalThis as unknown as Worker;
const service = new LogService((message: FromWorker) => port.postMessage(message), messageTurn);
port.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => service.receive(data));
