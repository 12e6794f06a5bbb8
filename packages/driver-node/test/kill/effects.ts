/** The world outside of the killed processes: a step's effect is on disk before the step ends. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";

/** An outside effect: the step, process and time. */
export interface Done {
  readonly scope: string;
  readonly call: string;
  readonly key: string;
  readonly instance: string;
  readonly at: number;
}

const write = (path: string, flags: "a" | "wx", text: string): void => {
  const file = openSync(path, flags);
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
};

const isExisting = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";

export class Effects {
  readonly #lines: string;
  readonly #service: string;

  constructor(folder: string) {
    this.#lines = join(folder, "effects.txt");
    this.#service = join(folder, "service");
    mkdirSync(this.#service, { recursive: true });
  }

  /** Records an effect, as often as it happens. */
  tell({ scope, call, key, instance, at }: Done): void {
    write(this.#lines, "a", `${[scope, call, key, instance, at].join("\t")}\n`);
  }

  /** A service with idempotency keys. */
  serve(key: string): void {
    try {
      write(join(this.#service, Buffer.from(key).toString("base64url")), "wx", "served");
    } catch (thrown) {
      if (!isExisting(thrown)) throw thrown;
    }
  }

  get served(): readonly string[] {
    return readdirSync(this.#service).map((name) => Buffer.from(name, "base64url").toString());
  }

  get done(): readonly Done[] {
    if (!existsSync(this.#lines)) return [];
    const lines = readFileSync(this.#lines, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const [scope = "", call = "", key = "", instance = "", at] = line.split("\t");
      return { scope, call, key, instance, at: Number(at) };
    });
  }
}
