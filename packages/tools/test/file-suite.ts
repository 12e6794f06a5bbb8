/** The conformance suite of file stores. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FileError, type FileStore } from "@pawl/tools";

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = { encoding: "text" } as const;
export const readText = async (files: FileStore, path: string): Promise<string | undefined> => {
  const file = await files.read(path);
  return file === undefined ? undefined : new TextDecoder().decode(file.bytes);
};
/** Returns the kind of the error, or "done". */
export const outcome = async (act: Promise<unknown>): Promise<string> => {
  try {
    await act;
    return "done";
  } catch (error) {
    if (error instanceof FileError) return error.kind;
    throw error;
  }
};

/** Runs the tests against an empty store from `open`. `outside` is a folder with `secret.txt` that no path may reach. */
export const fileSuite = (open: () => Promise<FileStore>, outside: () => string): void => {
  it("read back as written, under each spelling of their path", async () => {
    const files = await open();
    expect(await files.write("/workspace/a/b.txt", bytes("one"), text)).toBe(true);
    for (const path of ["/a/b.txt", "a/b.txt", "/workspace/a/./b.txt", "//a//b.txt"]) {
      expect(await files.read(path)).toMatchObject({ path: "/a/b.txt", encoding: "text", isReadonly: false });
    }
    expect([await files.read("/a"), await files.read("/a/b.txt/c"), await files.read("/")]).toEqual(
      Array(3).fill(undefined),
    );
    expect(await files.stat("/a/b.txt")).toMatchObject({ name: "b.txt", isDirectory: false, size: 3 });
    expect(await files.stat("/a")).toMatchObject({ name: "a", isDirectory: true, size: 0 });
    expect(await files.stat("/")).toMatchObject({ path: "/", name: "workspace", isDirectory: true });
    expect([await files.stat("/c"), await files.stat("/a/b.txt/c")]).toEqual([undefined, undefined]);
  });

  it("are replaced only if they hold the expected bytes", async () => {
    const files = await open();
    expect(await files.write("/a", bytes("2"), { ...text, expected: bytes("1") })).toBe(false);
    expect(await files.write("/d/a", bytes("2"), { ...text, expected: bytes("1") })).toBe(false);
    expect(await files.stat("/d")).toBeUndefined();
    await files.write("/a", bytes("1"), text);
    const both = ["2", "3"].map((to) => files.write("/a", bytes(to), { ...text, expected: bytes("1") }));
    expect(await Promise.all(both)).toEqual([true, false]);
    expect(await readText(files, "/a")).toBe("2");
  });

  it("refuse paths of the wrong kind", async () => {
    const files = await open();
    await files.write("/f", bytes("x"), text);
    await files.createDirectory("/d/e");
    await files.createDirectory("/d/e");
    expect(await outcome(files.write("/d", bytes(""), text))).toBe("is_directory");
    expect(await outcome(files.write("/", bytes(""), text))).toBe("is_directory");
    expect(await outcome(files.write("/f/g", bytes(""), text))).toBe("not_directory");
    expect(await outcome(files.createDirectory("/f"))).toBe("not_directory");
    expect(await outcome(files.list("/f"))).toBe("not_directory");
    expect(await outcome(files.list("/none"))).toBe("not_found");
    expect(await outcome(files.delete("/d", false))).toBe("not_empty");
    expect(await outcome(files.delete("/", false))).toBe("not_empty");
    expect([await files.delete("/none", true), await files.delete("/none/x", true)]).toEqual([false, false]);
    expect([await files.delete("/d/e", false), await files.delete("/f", false)]).toEqual([true, true]);
    await files.write("/d/x/y", bytes(""), text);
    expect([await files.delete("/d", true), await files.stat("/d")]).toEqual([true, undefined]);
    await files.write("/z/y", bytes(""), text);
    expect([await files.delete("/", true), await files.list("/")]).toEqual([true, []]);
  });

  it("are listed and searched in the same order", async () => {
    const files = await open();
    for (const path of ["/b/2.ts", "/b-1", "/a.txt", "/B2", "/é", "/b/1.md"])
      await files.write(path, bytes("x\nhit\r\n"), text);
    await files.write("/bin", new Uint8Array([0, 104, 105, 116]), { encoding: "base64" });
    const names = async (path: string): Promise<readonly string[]> => (await files.list(path)).map(({ name }) => name);
    expect(await names("/")).toEqual(["B2", "a.txt", "b", "b-1", "bin", "é"]);
    expect(await names("/b")).toEqual(["1.md", "2.ts"]);
    const hits = await files.grep("^h.t\\r?$");
    expect(hits.map(({ path }) => path)).toEqual(["/B2", "/a.txt", "/b-1", "/b/1.md", "/b/2.ts", "/é"]);
    expect(hits[0]).toEqual({ path: "/B2", line_number: 2, line: "hit" });
    expect((await files.grep("hit", "/workspace/b/*.ts")).map(({ path }) => path)).toEqual(["/b/2.ts"]);
    expect(await outcome(files.grep("("))).toBe("pattern");
  });

  it("are searched in linear time, whatever the pattern and the glob", async () => {
    const files = await open();
    await files.write(`/${"a".repeat(250)}/${"a".repeat(250)}`, bytes(`${"a".repeat(50_000)}!`), text);
    const startedAt = performance.now();
    expect(await files.grep("^(a+)+$")).toEqual([]);
    expect(await files.grep("a", "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b")).toEqual([]);
    expect(await files.grep("a", "**a**a**a**a**a**a**a**a**a**b")).toEqual([]);
    expect(await files.grep("!$", "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a")).toHaveLength(1);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await outcome(files.grep("(?=a)"))).toBe("pattern");
    expect(await outcome(files.grep("a", "?".repeat(30_000)))).toBe("pattern");
  });

  it("have no path that leaves the root, or that some disk takes for another one", async () => {
    const files = await open();
    const paths = [
      "../outside/secret.txt",
      "/a/../../x",
      "/workspace/../x",
      "..",
      "a\0b",
      "a\\b",
      "C:/x",
      "cafe\u0301",
      "\ud800",
    ];
    for (const path of paths) {
      expect([path, await outcome(files.read(path))]).toEqual([path, "path"]);
      expect([path, await outcome(files.write(path, bytes("x"), text))]).toEqual([path, "path"]);
      expect([path, await outcome(files.delete(path, true))]).toEqual([path, "path"]);
    }
    const absolute = join(outside(), "secret.txt");
    expect(await files.read(absolute)).toBeUndefined();
    await files.write(absolute, bytes("inside"), text);
    expect(readFileSync(absolute, "utf8")).toBe("secret");
  });
};
