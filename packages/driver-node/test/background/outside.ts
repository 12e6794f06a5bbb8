/** The world outside of the hosts: files that outlive them, one line for each effect. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export class Outside {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Appends an effect. */
  note(kind: string, what: string): void {
    appendFileSync(join(this.folder, `${kind}.txt`), `${what}\n`);
  }

  noted(kind: string): readonly string[] {
    const file = join(this.folder, `${kind}.txt`);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  }

  #fileOf(path: string): string {
    return join(this.folder, "files", path);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.#fileOf(path)), { recursive: true });
    writeFileSync(this.#fileOf(path), text);
  }

  read(path: string): string | undefined {
    return existsSync(this.#fileOf(path)) ? readFileSync(this.#fileOf(path), "utf8") : undefined;
  }
}
