/** Opens a runtime in this Node process, over a journal file or a PostgreSQL database. */
import { randomUUID } from "node:crypto";
import type { Tracer } from "@opentelemetry/api";
import {
  type AttachmentStore,
  type HostPort,
  type Journal,
  Refused,
  Registry,
  Runtime,
  type RuntimeOptions,
} from "@pawl/runtime";
import type { PostgresOptions } from "@pawl/journal-postgres";
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
import { postgresAt } from "./journal/postgres.ts";
import { sqliteJournal } from "./journal/journal.ts";
import { sharedRuntime } from "./shared.ts";
import { tracedJournal } from "./telemetry/commit.ts";
import { spansOf } from "./telemetry/spans.ts";
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
  | "turns"
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
  readonly file?: string;
  /** The database, in place of a file: hosts on many machines share it. Needs the package `@pawl/journal-postgres`. */
  readonly postgres?: string | PostgresOptions;
  /** The folder of large values. Default: `{file}.blobs`. All processes on the journal must name the same one. */
  readonly blobs?: string;
  /** Maximum size of the file in bytes. When it is full, calls fail or wait until there is room. */
  readonly maxBytes?: number;
  /** Makes spans for calls, batches, effects and commits. Without one no spans are made. */
  readonly tracer?: Tracer;
  /** Puts arguments and results of tools into their spans. */
  readonly traceContent?: boolean;
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

/** The fields of the options. */
export const openFields: Record<keyof OpenOptions, 1> = {
  tools: 1,
  host: 1,
  options: 1,
  patience: 1,
  lease: 1,
  linger: 1,
  background: 1,
  turns: 1,
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
  postgres: 1,
  blobs: 1,
  maxBytes: 1,
  tracer: 1,
  traceContent: 1,
  codec: 1,
  shared: 1,
};

const linger: Record<keyof NonNullable<OpenOptions["linger"]>, 1> = { ms: 1, most: 1 };

/** Rejects unknown fields: a misspelt name would silently be ignored. */
export const checkedOptions = (options: OpenOptions): OpenOptions => {
  const unknown =
    unknownKeyIn("", options, openFields) ??
    unknownKeyIn("bounds.", options.bounds ?? {}, defaultBounds) ??
    unknownKeyIn("patience.", options.patience ?? {}, defaultPatience) ??
    unknownKeyIn("linger.", options.linger ?? {}, linger);
  if (unknown !== undefined) throw new Refused("invalid_option", unknown);
  return admittedOptions(options);
};

/** A dead process is noticed at once; only one that hangs keeps its lease this long. */
const leaseMs = 30_000;
const dayMs = 24 * 60 * 60 * 1000;

type Place = { readonly [K in "file" | "postgres" | "blobs" | "maxBytes"]: OpenOptions[K] | undefined };

/** A journal with what lies beside it. */
interface Store {
  readonly journal: Journal & { readonly close: () => Promise<void> };
  readonly roots: Roots;
  /** Absent where the host must keep attachments itself. */
  readonly attachments?: AttachmentStore;
}

/** Opens a journal file and its root secret, or neither. */
const fileStore = (named: string, { blobs, maxBytes }: Place): Store => {
  const file = journalPathOf(named);
  const beside = { ...(blobs !== undefined && { blobs }), ...(maxBytes !== undefined && { maxBytes }) };
  const journal = sqliteJournal(file, { writer: true, ...beside });
  try {
    const roots = rootsOf(file);
    return file === inMemory
      ? { journal, roots }
      : { journal, roots, attachments: diskAttachments(`${file}.attachments`) };
  } catch (thrown) {
    void journal.close();
    throw thrown;
  }
};

const storeOf = (place: Place): Store => {
  const { file, postgres, blobs, maxBytes } = place;
  if (postgres === undefined) return fileStore(file as string, place); // One that is none is refused as a path.
  if (file !== undefined)
    throw new Refused("invalid_option", "`openRuntime` takes `file` or `postgres`, and received both");
  if (blobs !== undefined || maxBytes !== undefined)
    throw new Refused(
      "invalid_option",
      "`blobs` and `maxBytes` are of a journal file: PostgreSQL keeps large values itself",
    );
  const journal = postgresAt(postgres);
  return { journal, roots: journal.roots, attachments: journal.attachments };
};

/** Adds the store of attachments, unless values are sealed: attachments beside the journal would not be. */
const hostOf = ({ codec, host = {} }: OpenOptions, { attachments }: Store): HostPort =>
  host.attachments !== undefined || codec !== undefined || attachments === undefined ? host : { ...host, attachments };

/** Refuses tools with a background body where nothing keeps the files of their runs: the work would be lost at its end. */
const admitBackground = ({ tools, host }: OpenOptions): void => {
  if (host?.artifacts !== undefined) return;
  const listed = tools instanceof Registry ? tools.definitions() : (tools ?? []);
  const runner = listed.find((tool) => tool?.background !== undefined);
  if (runner === undefined) return;
  const why = `tool \`${runner.name}\` has a background body, and this runtime has no place for the files of its runs`;
  throw new Refused(
    "invalid_option",
    `${why}: give \`host.artifacts\`, as \`sessionTools({ files }).host\` of @pawl/tools does`,
  );
};

/** Opens a runtime over a journal, with its large values, its attachments and its root secret beside it. */
export const openRuntime = (options: OpenOptions): OpenRuntime => {
  const { shared = false, ...checked } = checkedOptions(options);
  admitBackground(options);
  return shared ? sharedRuntime(checked, openOwn) : openOwn(checked);
};

const openOwn = (options: Omit<OpenOptions, "shared">): OpenRuntime => {
  const { file, postgres, blobs, maxBytes, tracer, traceContent = false, codec, ...told } = options;
  const store = storeOf({ file, postgres, blobs, maxBytes });
  const { journal, roots } = store;
  const telemetry = tracer && spansOf(tracer, { content: traceContent });
  const stored = tracer === undefined ? journal : tracedJournal(journal, tracer, telemetry);
  const traced = telemetry === undefined ? {} : { telemetry };
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
    host: hostOf(options, store),
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
