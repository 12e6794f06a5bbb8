/** Opens a runtime over a journal file in this Node process. */
import { randomUUID } from "node:crypto";
import type { Tracer } from "@opentelemetry/api";
import { type HostPort, Runtime, type RuntimeOptions, Refused } from "@pawl/runtime";
import {
  type Roots,
  type ValueCodec,
  sealedJournal,
  admittedOptions,
  defaultBounds,
  defaultPatience,
  unknownKeyIn,
} from "@pawl/runtime/driver";
import { diskAttachments } from "./journal/disk-blob.ts";
import { inMemory, journalPathOf } from "./journal/path.ts";
import { nodePlatform } from "./platform.ts";
import { rootsOf } from "./journal/root-secret.ts";
import { type SqliteJournal, sqliteJournal } from "./journal/journal.ts";
import { tracedJournal, spansOf } from "./telemetry/spans.ts";
import { sharedRuntime } from "./shared.ts";
import { errorsToConsole } from "./telemetry/log.ts";

/**
 * Options of `openRuntime`, without the ports that it provides itself.
 *
 * Defaults: a `lease` of 30 s keeps other processes away from its scopes; blobs are swept once a day (`sweep`); errors
 * are printed to the console (`log`). Attachments are kept in `{file}.attachments` unless `host` keeps them. With a
 * `codec` only `host` can keep them: without its store they end with the process.
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
  | "upgrade"
  | "codeVersion"
> {
  /** The journal file; created if missing. `:memory:` keeps the journal in memory until the process ends. */
  readonly file: string;
  /** The folder of large values. Default: `{file}.blobs`. All processes on the journal must name the same one. */
  readonly blobs?: string;
  /** Maximum size of the file in bytes. When it is full, calls fail or wait until there is room. */
  readonly maxBytes?: number;
  /** Makes spans for calls, batches, effects and commits. Without one no spans are made. */
  readonly tracer?: Tracer;
  /** Encodes values before they are stored, for example encrypts them. */
  readonly codec?: ValueCodec;
  /**
   * One runtime for this file in this process, opened when it is used first. Whoever opens the file again, as a module does
   * that a development server has loaded anew, gets the same runtime, which takes the new tools; other options stay as
   * they were. A build that only loads the module opens nothing.
   */
  readonly shared?: boolean;
}

export interface OpenRuntime {
  readonly runtime: Runtime;
  /** Stops all work, as a crash would, and resolves once everything recorded is on disk. */
  readonly close: () => Promise<void>;
}

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
  upgrade: 1,
  codeVersion: 1,
  file: 1,
  blobs: 1,
  maxBytes: 1,
  tracer: 1,
  codec: 1,
  shared: 1,
};

const linger: Record<keyof NonNullable<OpenOptions["linger"]>, 1> = { ms: 1, most: 1 };

/** Rejects unknown fields: a misspelt name would silently be ignored. */
export const checkedOptions = (options: OpenOptions): OpenOptions => {
  const unknown =
    unknownKeyIn("", options, known) ??
    unknownKeyIn("bounds.", options.bounds ?? {}, defaultBounds) ??
    unknownKeyIn("patience.", options.patience ?? {}, defaultPatience) ??
    unknownKeyIn("linger.", options.linger ?? {}, linger);
  if (unknown !== undefined) throw new Refused("invalid_option", unknown);
  return admittedOptions(options);
};

/** A dead process is noticed at once; only one that hangs keeps its lease this long. */
const leaseMs = 30_000;
const dayMs = 24 * 60 * 60 * 1000;

/** Opens a journal and its root secret, or neither. */
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

/** Adds the store of attachments, unless values are sealed: attachments on disk would not be. */
const hostOf = ({ file, codec, host = {} }: OpenOptions): HostPort => {
  if (host.attachments !== undefined || codec !== undefined || file === inMemory) return host;
  return { ...host, attachments: diskAttachments(`${journalPathOf(file)}.attachments`) };
};

/** Opens a runtime over a journal file, with its large values, its attachments and its root secret beside it. */
export const openRuntime = (options: OpenOptions): OpenRuntime => {
  const { shared = false, ...checked } = checkedOptions(options);
  return shared ? sharedRuntime(checked, openOwn) : openOwn(checked);
};

const openOwn = (options: Omit<OpenOptions, "shared">): OpenRuntime => {
  const { file, blobs, maxBytes, tracer, codec, ...told } = options;
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
    log: errorsToConsole,
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
