/** The vectors of RFC 4231, and those of RFC 5869 for SHA-256. */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { hkdf, hmac, utf8 } from "../src/index.ts";

const many = (byte: number, count: number): Uint8Array => new Uint8Array(count).fill(byte);
const from = (first: number, count: number): Uint8Array => Uint8Array.from({ length: count }, (_, i) => first + i);

const largeKey = "Test Using Larger Than Block-Size Key - Hash Key First";
const largeBoth =
  "This is a test using a larger than block-size key and a larger than block-size data. " +
  "The key needs to be hashed before being used by the HMAC algorithm.";

it.each([
  [many(0x0b, 20), utf8("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
  [
    utf8("Jefe"),
    utf8("what do ya want for nothing?"),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  ],
  [many(0xaa, 20), many(0xdd, 50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
  [from(1, 25), many(0xcd, 50), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"],
  [many(0xaa, 131), utf8(largeKey), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"],
  [many(0xaa, 131), utf8(largeBoth), "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"],
])("HMAC is that of RFC 4231: %#", (key, message, expected) => {
  expect(bytesToHex(hmac(key, message))).toBe(expected);
});

const short = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
const long =
  "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09" +
  "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87";
const bare = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8";

it.each([
  [many(0x0b, 22), from(0, 13), from(0xf0, 10), 42, short],
  [from(0, 80), from(0x60, 80), from(0xb0, 80), 82, long],
  [many(0x0b, 22), many(0, 0), many(0, 0), 42, bare],
])("HKDF is that of RFC 5869: %#", (secret, salt, info, length, expected) => {
  expect(hkdf(secret, salt, info, length)).toEqual(hexToBytes(expected));
});
