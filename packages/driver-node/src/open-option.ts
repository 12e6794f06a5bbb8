/** What a program says of a runtime, looked at before a journal is opened. */
import { Refused, admittedOptions, defaultBounds, defaultPatience, strangerIn } from "@pawl/runtime";
import type { OpenOptions } from "./open.ts";

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
export const admittedOpen = (options: OpenOptions): OpenOptions => {
  const stranger =
    strangerIn("", options, known) ??
    strangerIn("bounds.", options.bounds ?? {}, defaultBounds) ??
    strangerIn("patience.", options.patience ?? {}, defaultPatience) ??
    strangerIn("linger.", options.linger ?? {}, linger);
  if (stranger !== undefined) throw new Refused("invalid_option", stranger);
  return admittedOptions(options);
};
