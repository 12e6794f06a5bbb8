/** Ways out of the host: spellings of addresses that are refused, and links that are swapped for folders. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { isRefusedAddress, isRefusedName } from "@pawl/egress";
import type { Siege } from "../siege.ts";

type Bytes = readonly [number, number, number, number];

/** An address of this machine, a private network, a link, a provider, or of nobody. */
const refusedOf = ({ random }: Siege): Bytes => {
  const any = (): number => random.below(256);
  const ranges: readonly Bytes[] = [
    [127, any(), any(), any()],
    [10, any(), any(), any()],
    [192, 168, any(), any()],
    [172, 16 + random.below(16), any(), any()],
    [169, 254, any(), any()],
    [100, 64 + random.below(64), any(), any()],
    [0, any(), any(), any()],
    [224 + random.below(32), any(), any(), any()],
    [198, 18 + random.below(2), any(), any()],
    [169, 254, 169, 254],
    [168, 63, 129, 16],
  ];
  return ranges[random.below(ranges.length)] ?? [127, 0, 0, 1];
};

const hex = (n: number): string => n.toString(16);
const wordsOf = ([a, b, c, d]: Bytes): readonly [string, string] => [hex(a * 256 + b), hex(c * 256 + d)];
const numberOf = ([a, b, c, d]: Bytes): number => ((a * 256 + b) * 256 + c) * 256 + d;

/** Spells an address as a URL may have it. */
const spellings: readonly ((address: Bytes, siege: Siege) => string)[] = [
  (address) => address.join("."),
  (address) => String(numberOf(address)),
  (address) => `0x${hex(numberOf(address))}`,
  (address) => `0${numberOf(address).toString(8)}`,
  (address, { random }) =>
    address
      .map((n) => [String(n), `0x${hex(n)}`, `0${n.toString(8)}`, `0x${hex(n).toUpperCase()}`][random.below(4)])
      .join("."),
  ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  (address) => `${address.join(".")}.`,
  (address) =>
    [...address.join(".")]
      .map((one) => (one === "." ? "。" : String.fromCodePoint((one.codePointAt(0) ?? 0) + 0xfee0)))
      .join(""),
  (address) => address.join("%2e"),
  (address) => `[::ffff:${address.join(".")}]`,
  (address) => `[::ffff:${wordsOf(address).join(":")}]`,
  (address) => `[0:0:0:0:0:FFFF:${wordsOf(address).join(":").toUpperCase()}]`,
  (address) => `[::${wordsOf(address).join(":")}]`,
  (address) => `[::ffff:0:${wordsOf(address).join(":")}]`,
  (address) => `[64:ff9b::${wordsOf(address).join(":")}]`,
  (address) => `[2002:${wordsOf(address).join(":")}::]`,
  (address, { random }) => `[2a00:${hex(random.below(65_536))}::5efe:${wordsOf(address).join(":")}]`,
  (_, { random }) =>
    `[${["::1", "::", "fe80::1", `fd${hex(16 + random.below(240))}::1`, "ff02::1", "fec0::1", "64:ff9b:1::1"][random.below(7)] ?? "::1"}]`,
];

/** Returns the host that a URL with such a spelling names; undefined where it is no URL. */
const hostIn = (spelling: string): string | undefined => {
  try {
    return new URL(`http://${spelling}/`).hostname.replace(/^\[|\]$/g, "");
  } catch {
    return undefined;
  }
};

const spelled = (siege: Siege): string => {
  const spell = spellings[siege.random.below(spellings.length)];
  return spell?.(refusedOf(siege), siege) ?? "localhost";
};

/** Serves this machine, and counts who comes. */
const canary = async () => {
  let visits = 0;
  const server = createServer((_, response) => {
    visits += 1;
    response.end("inside");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, visits: () => visits, close: () => (server.closeAllConnections(), server.close()) };
};

/** Asks for addresses inside, in many spellings: of the guard by the thousand, and of the host's own tool. */
export const spellAddresses = async (siege: Siege): Promise<void> => {
  for (let n = 0; n < 5000; n += 1) {
    const spelling = spelled(siege);
    const host = hostIn(spelling);
    const isRefused = host === undefined || isRefusedAddress(host) || isRefusedName(host);
    siege.try(isRefused ? undefined : `the guard lets ${spelling} through, as ${host}`);
  }
  const { port, visits, close } = await canary();
  const session = siege.client().session("ssrf");
  const loopback: Bytes = [127, 0, 0, 1];
  const hosts = spellings
    .map((spell) => spell(loopback, siege))
    .concat("localhost", "LOCALHOST.", "metadata.google.internal");
  await Promise.all(
    hosts.map(async (host) => {
      const args = { url: `http://${host}:${port}/` };
      const [reply] = await session.request(`s${siege.random.below(1e9)}`, [{ label: "c", tool: "web_fetch", args }]);
      const said = JSON.stringify(reply?.output ?? {});
      siege.try(said.includes("inside") ? `web_fetch of ${host} got in` : undefined);
    }),
  );
  if (visits() > 0) siege.say(`${visits()} requests reached a server of this machine`);
  close();
};

/** Renames, also where a tool that writes has made the folder anew meanwhile. */
const putInPlace = (from: string, to: string): void => {
  for (;;)
    try {
      return renameSync(from, to);
    } catch (thrown) {
      if (!existsSync(from)) throw thrown;
      rmSync(to, { recursive: true, force: true });
    }
};

/** Swaps a folder for a link that leads out, again and again, while the host's tools read and write in it. */
export const swapLinks = async (siege: Siege): Promise<void> => {
  const root = join(siege.folder, "files");
  const outside = join(siege.folder, "outside");
  const name = `d${siege.random.below(1e9)}`;
  const [folder, link, spare] = [join(root, name), join(root, `${name}-link`), join(root, `${name}-spare`)];
  mkdirSync(folder, { recursive: true });
  mkdirSync(outside, { recursive: true });
  writeFileSync(join(folder, "secret.txt"), "inside");
  writeFileSync(join(outside, "secret.txt"), "the-secret");
  symlinkSync(outside, link);
  const over = new AbortController();
  const swapping = (async () => {
    for (; !over.signal.aborted; await new Promise(setImmediate)) {
      renameSync(folder, spare);
      putInPlace(link, folder);
      await new Promise(setImmediate);
      renameSync(folder, link);
      putInPlace(spare, folder);
    }
  })();
  const session = siege.client().session("links");
  const uses = [
    { label: "read", tool: "read_file", args: { path: `/${name}/secret.txt` } },
    { label: "write", tool: "write_file", args: { path: `/${name}/made.txt`, content: "made" } },
    { label: "grep", tool: "grep_files", args: { pattern: "the-secret", path_pattern: "*" } },
    { label: "list", tool: "list_directory", args: { path: `/${name}` } },
  ];
  for (let n = 0; n < 40; n += 1) {
    const replies = await session.request(`l${siege.random.below(1e9)}`, uses);
    for (const { label, output } of replies) {
      const isOut = label === "read" && JSON.stringify(output).includes("the-secret");
      const isFound = label === "grep" && JSON.stringify(output).includes("outside");
      siege.try(isOut || isFound ? `${label} led out: ${JSON.stringify(output).slice(0, 300)}` : undefined);
    }
  }
  over.abort();
  await swapping;
  const made = readdirSync(outside);
  if (made.length > 1) siege.say(`a tool wrote outside: ${made.join(", ")}`);
};
