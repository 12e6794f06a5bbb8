/** A deny list of addresses outside the public network: this machine, private networks, cloud metadata. */

type Range = readonly [address: string, bits: number];

/** Private, loopback and link-local ranges, then the shared, documentation, benchmark, multicast and reserved ones. */
const refusedV4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Excludes leading zeros: some resolvers read them as octal. */
const byte = /^(?:0|[1-9]\d{0,2})$/;

const v4Of = (address: string): number | undefined => {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => byte.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((value, part) => value * 256 + Number(part), 0);
};

const isInV4 = (address: number, [base, bits]: Range): boolean =>
  Math.floor(address / 2 ** (32 - bits)) === Math.floor((v4Of(base) ?? 0) / 2 ** (32 - bits));

const isRefusedV4 = (address: number): boolean => refusedV4.some((range) => isInV4(address, range));

const listOf = (part: string): readonly string[] => (part === "" ? [] : part.split(":"));

/** Rewrites a trailing dotted IPv4 part as two IPv6 groups. */
const withoutDottedPart = (address: string): string | undefined => {
  const dotted = /(?:^|:)(?<v4>[\d.]+\.[\d.]+)$/.exec(address)?.groups?.["v4"];
  if (dotted === undefined) return address;
  const v4 = v4Of(dotted);
  if (v4 === undefined) return undefined;
  const [high, low] = [Math.floor(v4 / 0x1_0000), v4 % 0x1_0000];
  return `${address.slice(0, -dotted.length)}${high.toString(16)}:${low.toString(16)}`;
};

/** Parses an IPv6 address into its eight groups. */
const groupsOf = (address: string): readonly number[] | undefined => {
  const text = withoutDottedPart(address);
  if (text === undefined) return undefined;
  const [head = "", tail, ...more] = text.split("::");
  const [before, after] = [listOf(head), listOf(tail ?? "")];
  const gap = 8 - before.length - after.length;
  if (more.length > 0 || (tail === undefined ? gap !== 0 : gap < 1)) return undefined;
  const groups = [...before, ...Array.from({ length: gap }, () => "0"), ...after];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
};

/** Returns the IPv4 address inside an IPv6 one: compatible, mapped, translated, NAT64, 6to4 or ISATAP. */
const embeddedV4 = (groups: readonly number[]): number | undefined => {
  const at = (i: number): number => (groups[i] ?? 0) * 0x1_0000 + (groups[i + 1] ?? 0);
  const start = groups.slice(0, 6).map((group) => group.toString(16));
  if (["0:0:0:0:0:0", "0:0:0:0:0:ffff", "0:0:0:0:ffff:0", "64:ff9b:0:0:0:0"].includes(start.join(":"))) return at(6);
  if (groups[0] === 0x2002) return at(1);
  return ((groups[4] ?? 0) & 0xfdff) === 0 && groups[5] === 0x5efe ? at(6) : undefined;
};

/** Accepts 2000::/3 without the blocks reserved for protocols and documentation. */
const isGlobalV6 = ([first = 0, second = 0]: readonly number[]): boolean => {
  const isReserved = first === 0x2001 && (second < 0x200 || second === 0xdb8);
  return first >>> 13 === 1 && !isReserved && !(first === 0x3fff && second < 0x1000);
};

/** Returns true for an address outside the public network, and for any text that is not an address. */
export const isRefusedAddress = (address: string): boolean => {
  const v4 = v4Of(address);
  if (v4 !== undefined) return isRefusedV4(v4);
  const groups = groupsOf(address);
  if (groups === undefined) return true;
  const embedded = embeddedV4(groups);
  if (embedded !== undefined && isRefusedV4(embedded)) return true;
  const isEmbeddedAlone = embedded !== undefined && (groups[0] ?? 0) >>> 13 !== 1 && groups[5] !== 0x5efe;
  return !isEmbeddedAlone && !isGlobalV6(groups);
};

const metadataNames: ReadonlySet<string> = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** Returns true for the host names of cloud metadata services, which hand out credentials of the machine. */
export const isRefusedName = (name: string): boolean => metadataNames.has(name.toLowerCase().replace(/\.+$/, ""));

/** The error of a request that was not sent: its target is not a public address. */
export class EgressRefused extends Error {
  override readonly name = "EgressRefused";
  readonly code = "egress_refused";

  constructor(host: string, address = host) {
    const target = host === address ? host : `${host} (${address})`;
    super(`${target} is not a public address; the host can permit it with the \`allow\` option`);
  }
}
