/** A page that only talks to a host loads a small client, and nothing of the core. */
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";
import { expect, it } from "vitest";

const mostKb = 30;

const build = async () => {
  const bundle = await rolldown({
    input: fileURLToPath(new URL("../src/client.ts", import.meta.url)),
    platform: "browser",
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  return output.filter((file): file is OutputChunk => file.type === "chunk");
};

const kbOf = (chunks: readonly OutputChunk[]): number =>
  brotliCompressSync(chunks.map(({ code }) => code).join("\n")).length / 1024;

it("has at most 30 KB, and no state machine", async () => {
  const chunks = await build();
  expect(kbOf(chunks)).toBeLessThan(mostKb);
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  expect(modules.some((id) => id.endsWith("wire/src/client/client.ts"))).toBe(true);
  expect(modules.filter((id) => /sansio-core\/src\/(?:machine|concerns)\.ts$/.test(id))).toEqual([]);
});
