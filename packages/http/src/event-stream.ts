/**
 * Server-sent events. Items are taken only when the reader has room for them (backpressure), so a slow reader costs no
 * memory here. An item with an id can be gone on from: a reader that comes again says the last one as `Last-Event-ID`.
 */
export interface ServerEvent {
  readonly id?: string;
  readonly event: string;
  /** JSON, on one line. */
  readonly data: string;
}

export interface StreamHow {
  /** Ends the stream: the reader has left, its token has expired, or the host closes. */
  readonly over: AbortSignal;
  /** The interval of comments that keep proxies from closing a quiet connection. */
  readonly keepAliveMs: number;
  /** Returns the text of a failure that comes when the stream has begun. */
  readonly problem: (thrown: unknown) => string;
  /** Hears that the stream has ended. */
  readonly ended: () => void;
}

/** Time for which an answer's headers wait for its first item: what fails at once is answered as a problem. */
const firstMs = 50;

/** The pause before a page's `EventSource` asks again. */
const start = "retry: 1000\n\n";
const keepAlive = ": \n\n";

const textOf = ({ id, event, data }: ServerEvent): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;

type First = IteratorResult<ServerEvent> | undefined;

/** Waits for the first item, for a short time. Rejects where the items fail at once. */
const firstOf = (next: Promise<IteratorResult<ServerEvent>>): Promise<First> => {
  const { promise, resolve, reject } = Promise.withResolvers<First>();
  const timer = setTimeout(() => resolve(undefined), firstMs);
  next.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
};

type Controller = ReadableStreamDefaultController<Uint8Array>;

const sourceOf = (
  items: AsyncIterator<ServerEvent>,
  first: Promise<IteratorResult<ServerEvent>>,
  { over, keepAliveMs, problem, ended }: StreamHow,
) => {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<ServerEvent>> | undefined = first;
  let timer: ReturnType<typeof setInterval> | undefined;
  let end: (() => void) | undefined;
  const stop = (): void => {
    clearInterval(timer);
    if (end === undefined) return;
    over.removeEventListener("abort", end);
    end = undefined;
    ended();
  };
  const write = (controller: Controller, text: string): void => controller.enqueue(encoder.encode(text));
  return {
    start: (controller: Controller): void => {
      write(controller, start);
      timer = setInterval(() => (controller.desiredSize ?? 0) > 0 && write(controller, keepAlive), keepAliveMs);
      end = () => {
        stop();
        controller.close();
        void items.return?.();
      };
      over.addEventListener("abort", end, { once: true });
      if (over.aborted) end();
    },
    pull: async (controller: Controller): Promise<void> => {
      try {
        const taken = await (next ?? items.next());
        next = undefined;
        if (over.aborted) return;
        if (taken.done !== true) return write(controller, textOf(taken.value));
      } catch (thrown) {
        if (over.aborted) return;
        write(controller, textOf({ event: "problem", data: problem(thrown) }));
      }
      stop();
      controller.close();
    },
    cancel: async (): Promise<void> => {
      stop();
      await items.return?.();
    },
  };
};

/** Answers with items as server-sent events. Rejects where they fail at once. */
export const eventStream = async (items: AsyncIterator<ServerEvent>, how: StreamHow): Promise<Response> => {
  const next = items.next();
  const first = await firstOf(next);
  const body = new ReadableStream(sourceOf(items, first === undefined ? next : Promise.resolve(first), how), {
    highWaterMark: 1,
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" },
  });
};
