/** One Node process that runs tools over a journal file. */
import { randomUUID } from "node:crypto";
import type { Tracer } from "@opentelemetry/api";
import {
  type HostPort,
  type Roots,
  Runtime,
  type RuntimeOptions,
  type ValueCodec,
  sealedJournal,
  Refused,
  admittedOptions,
  defaultBounds,
  defaultPatience,
  strangerIn,
} from "@pawl/runtime";
import { diskAttachments } from "./journal/disk-blob.ts";
import { inMemory, journalPathOf } from "./journal/path.ts";
import { nodePlatform } from "./platform.ts";
import { rootsOf } from "./journal/root-secret.ts";
import { type SqliteJournal, sqliteJournal } from "./journal/journal.ts";
import { tracedJournal, spansOf } from "./telemetry/spans.ts";
import { errorsShown } from "./telemetry/log.ts";

const known: Record<keyof OpenOptions, 1> = {
  tools: 1,
  host: 1,
  options: 1,
  patience: 1,
  lease: 1,
  linger: 1,
  background: 1,
  log: 1,
  bounds: 1,
  mover: 1,
  executorLeaseMs: 1,
  retention: 1,
  snapshotAfter: 1,
  blobChars: 1,
  sweep: 1,
  file: 1,
  blobs: 1,
  maxBytes: 1,
  tracer: 1,
  codec: 1,
};

const linger: Record<keyof NonNullable<OpenOptions["linger"]>, 1> = { ms: 1, most: 1 };

/** A name that there is not would be as good as unsaid. */
export const checkedOptions = (options: OpenOptions): OpenOptions => {
  const unknown =
    strangerIn("", options, known) ??
    strangerIn("bounds.", options.bounds ?? {}, defaultBounds) ??
    strangerIn("patience.", options.patience ?? {}, defaultPatience) ??
    strangerIn("linger.", options.linger ?? {}, linger);
  if (unknown !== undefined) throw new Refused("invalid_option", unknown);
  return admittedOptions(options);
};

/**
 * What a runtime is told besides its ports. Its `lease`, of 30 s unless it says otherwise, keeps others away from its
 * scopes; it sweeps blobs once a day, unless `sweep` says otherwise; its `log` shows errors on the console, unless it is
 * another one. Bytes of attachments are kept in `{file}.attachments`, unless its `host` keeps them; with a `codec` only the
 * host can: without its store they end with the process.
 */
export interface OpenOptions extends Pick<
  RuntimeOptions,
  | "tools"
  | "host"
  | "options"
  | "patience"
  | "lease"
  | "linger"
  | "background"
  | "log"
  | "bounds"
  | "mover"
  | "executorLeaseMs"
  | "retention"
  | "snapshotAfter"
  | "blobChars"
  | "sweep"
> {
  /** The journal; made where there is none. `:memory:` is one on no disk, which ends with the process. */
  readonly file: string;
  /** The folder of large values; `{file}.blobs` where it is not said. Whoever opens the journal names the same. */
  readonly blobs?: string;
  /** How large the file may grow, in bytes; then it is full, and calls fail or wait until there is room again. */
  readonly maxBytes?: number;
  /** Makes spans of calls, batches, effects and commits; without one nothing is made. */
  readonly tracer?: Tracer;
  /** How values are written into the journal, and read again. */
  readonly codec?: ValueCodec;
}

export interface OpenRuntime {
  readonly runtime: Runtime;
  /** Ends what runs, as if by a crash, and resolves when all that was stepped is on disk. */
  readonly close: () => Promise<void>;
}

/** A process that has ended is known at once; only one that stands still is waited for. */
const leaseMs = 30_000;
const dayMs = 24 * 60 * 60 * 1000;

/** A journal with the root of its keys; without a root it is not open. */
const opened = (
  named: string,
  beside: Pick<OpenOptions, "blobs" | "maxBytes">,
): { readonly journal: SqliteJournal; readonly roots: Roots } => {
  const file = journalPathOf(named);
  const journal = sqliteJournal(file, { writer: true, ...beside });
  try {
    return { journal, roots: rootsOf(file) };
  } catch (thrown) {
    void journal.close();
    throw thrown;
  }
};

/** Bytes of attachments lie open: where values are sealed the host says where they are kept. */
const hostOf = ({ file, codec, host = {} }: OpenOptions): HostPort => {
  if (host.attachments !== undefined || codec !== undefined || file === inMemory) return host;
  return { ...host, attachments: diskAttachments(`${journalPathOf(file)}.attachments`) };
};

/** Opens a runtime over a journal file, with its large values, its attachments and its root secret beside it. */
export const openRuntime = (options: OpenOptions): OpenRuntime => {
  const { file, blobs, maxBytes, tracer, codec, ...told } = checkedOptions(options);
  const beside = { ...(blobs !== undefined && { blobs }), ...(maxBytes !== undefined && { maxBytes }) };
  const { journal, roots } = opened(file, beside);
  const stored = tracer === undefined ? journal : tracedJournal(journal, tracer);
  const traced = tracer === undefined ? {} : { telemetry: spansOf(tracer) };
  const runtime = new Runtime({
    journal: codec === undefined ? stored : sealedJournal(stored, codec),
    platform: nodePlatform,
    instance: `node:${process.pid}:${randomUUID()}`,
    roots,
    ...traced,
    lease: { ttlMs: leaseMs },
    sweep: { everyMs: dayMs },
    log: errorsShown,
    ...told,
    host: hostOf(options),
  });
  const close = async (): Promise<void> => {
    try {
      await runtime.close();
    } finally {
      await journal.close();
    }
  };
  return { runtime, close };
};
