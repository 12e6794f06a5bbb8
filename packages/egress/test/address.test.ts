import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { EgressRefused, isRefusedAddress, isRefusedName } from "../src/index.ts";
import { guardedFetch } from "../src/node/index.ts";

const refused = {
  "this machine": ["127.0.0.1", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::FFFF:7F00:1"],
  unspecified: ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"],
  private: ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  "unique local": ["fc00::", "fd00:ec2::254", "fdff:ffff::1", "fec0::1"],
  "link-local": ["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf::1"],
  shared: ["100.64.0.0", "100.127.255.255", "100.100.100.200"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
  reserved: [
    "240.0.0.0",
    "255.255.255.255",
    "192.0.0.170",
    "192.0.2.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
  ],
  "documentation and protocols": [
    "203.0.113.1",
    "2001:db8::1",
    "3fff::1",
    "2001::1",
    "2001:2::1",
    "2001:20::1",
    "100::1",
  ],
  "of a cloud's platform": ["168.63.129.16", "192.88.99.1"],
  "IPv4 in IPv6": [
    "::10.0.0.1",
    "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "2002:a00:1::",
    "2002:c0a8:101::1",
  ],
  "in local NAT64": ["64:ff9b:1::808:808", "64:ff9b:0:1::808:808"],
  ISATAP: ["2a00:1450::5efe:10.0.0.1", "2a00:1450::200:5efe:7f00:1"],
  "in an unusual spelling": ["0177.0.0.1", "010.8.8.8", "0x8.8.8.8", "134744072", "8.8.8", "1.2.3.4.5", "256.1.1.1"],
  "no address": [
    "",
    "localhost",
    ":",
    ":::",
    "1::2::3",
    "1:2:3",
    "1:2:3:4:5:6:7:8:9",
    "g::1",
    "::1.2.3",
    "::ffff:010.8.8.8",
  ],
};

const accepted = [
  "8.8.8.8",
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
];
accepted.push(
  "169.253.1.1",
  "169.255.1.1",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.1.1",
  "192.169.1.1",
  "198.17.1.1",
  "198.20.0.1",
);
accepted.push(
  "223.255.255.255",
  "2a00:1450:4001::1",
  "2606:4700::1111",
  "2001:4860:4860::8888",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
);
accepted.push("2002:808:808::1", "::8.8.8.8");

describe("an address", () => {
  it.each(Object.entries(refused))("that is %s is refused", (_, addresses) => {
    expect(addresses.filter((address) => !isRefusedAddress(address))).toEqual([]);
  });
  it("of the public network is accepted, right up to the refused ranges", () => {
    expect(accepted.filter(isRefusedAddress)).toEqual([]);
  });
  it("is refused by name for the metadata services of clouds", () => {
    expect(["metadata.google.internal", "Metadata.Google.Internal.", "metadata"].map(isRefusedName)).toEqual([
      true,
      true,
      true,
    ]);
    expect(["metadata.example.com", "google.com"].map(isRefusedName)).toEqual([false, false]);
  });
});

const mixed = async (): Promise<readonly string[]> => ["8.8.8.8", "192.168.1.1"];

describe("a guarded fetch", () => {
  it("names the address that it refused, and follows no redirect", async () => {
    const server = createServer((_, response) => void response.writeHead(302, { location: "/next" }).end("moved"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const wrong = guardedFetch()(url);
    await expect(wrong).rejects.toBeInstanceOf(EgressRefused);
    await expect(wrong).rejects.toThrow(
      "127.0.0.1 is not a public address; the host can permit it with the `allow` option",
    );
    await expect(guardedFetch({ resolve: mixed })("http://mixed.test")).rejects.toThrow(
      "mixed.test (192.168.1.1) is not",
    );
    await expect(guardedFetch()("file:///etc/passwd")).rejects.toBeInstanceOf(EgressRefused);
    const response = await guardedFetch({ allow: () => true })(url, { method: "POST", body: "x" });
    expect([response.status, response.headers.get("location"), await response.text()]).toEqual([302, "/next", "moved"]);
    await new Promise((resolve) => server.close(resolve));
  });
});
