/** What codecs can't see: a version that nobody reads, and places at which nothing stands. */
import { type BatchShape, type RequestShape, type SnapshotShape, snapshotVersion } from "./shape.ts";
import type { BodyShape, CallShape } from "./call.ts";

const bodyOf = (shape: CallShape): BodyShape | undefined => ("body" in shape ? shape.body : undefined);

const manifestsOf = (shape: CallShape): readonly number[] => {
  const body = bodyOf(shape);
  const own = "manifest" in shape ? [shape.manifest] : [];
  return body === undefined ? own : [...own, body.manifest];
};

const misfitOfCall = (shape: CallShape, { tools, waits }: SnapshotShape): string | undefined => {
  const manifest = manifestsOf(shape).find((place) => place >= tools.length);
  if (manifest !== undefined) return `call \`${shape.id}\`: no tool ${manifest} among ${tools.length}`;
  if (shape.phase === "pending" && shape.wait >= waits.length) return `call \`${shape.id}\`: no wait ${shape.wait}`;
  const body = bodyOf(shape);
  const isDouble = body !== undefined && new Set(body.settled.map(([key]) => key)).size !== body.settled.length;
  return isDouble ? `call \`${shape.id}\`: two settled effects have one key` : undefined;
};

const misfitOfBatch = (batch: BatchShape, shape: SnapshotShape): string | undefined => {
  const size = batch.calls.length;
  const place = [...batch.parallel, ...batch.serial].find((index) => index >= size);
  if (place !== undefined) return `no call ${place} in a batch of ${size}`;
  const { parallel, serial, launchedParallel, launchedSerial, prepared = 0 } = batch;
  if (launchedParallel > parallel.length || launchedSerial > serial.length || prepared > size) {
    return `a batch of ${size} is farther than its end`;
  }
  for (const call of batch.calls) {
    const misfit = misfitOfCall(call, shape);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
};

const batchesOf = (request: RequestShape): readonly BatchShape[] => {
  if (request.phase === "running") return [request.batch];
  return request.phase === "flow" ? request.steps : [];
};

export const misfitOf = (shape: SnapshotShape): string | undefined => {
  const { version, tools, catalog, waits, requests, children } = shape;
  if (version !== snapshotVersion) return `expected version ${snapshotVersion}, found ${version}`;
  if (catalog > tools.length) return `a catalog of ${catalog} among ${tools.length} tools`;
  const held = requests.flatMap((request) => (request.phase === "replying" ? [] : request.waits));
  const place = held.find((index) => index >= waits.length);
  if (place !== undefined) return `no wait ${place} among ${waits.length}`;
  const batches = requests.flatMap(batchesOf);
  for (const batch of [...batches, ...children]) {
    const misfit = misfitOfBatch(batch, shape);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
};
