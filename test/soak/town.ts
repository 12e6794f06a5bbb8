/** Two hosts on one journal file, one of which is killed now and then, and the customers that use them. */
import { mkdtempSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Life } from "../../packages/driver-node/test/kill/life.ts";
import { Place } from "../../packages/driver-node/test/kill/place.ts";

const program = join(import.meta.dirname, "host.ts");
/** Downtime of a killed host. */
const awayMs = 1000;

class Host {
  readonly name: string;
  readonly #folder: string;
  #life: Life | undefined;
  #lives = 0;
  url: string | undefined;

  constructor(name: string, folder: string) {
    this.name = name;
    this.#folder = folder;
  }

  async begin(): Promise<void> {
    const life = new Life(["--expose-gc"], program);
    this.#life = life;
    this.#lives += 1;
    this.url = await life.begin({ folder: this.#folder, instance: `${this.name}-${this.#lives}`, commits: "thread" });
  }

  async end(): Promise<void> {
    this.url = undefined;
    this.#life?.kill();
    await this.#life?.ended;
  }

  /** Undefined if the host is killed before it answers. */
  async weight(): Promise<{ readonly heap: number; readonly resident: number } | undefined> {
    const life = this.#life;
    if (this.url === undefined || life === undefined) return undefined;
    return Promise.race([life.weight().catch(() => undefined), life.ended.then(() => undefined)]);
  }
}

export class Town {
  readonly folder = mkdtempSync(join(tmpdir(), "pawl-soak-"));
  readonly steady = new Host("steady", this.folder);
  readonly other = new Host("other", this.folder);
  readonly #places = new Map<Place, string | undefined>();
  killed = 0;

  async begin(): Promise<void> {
    await Promise.all([this.steady.begin(), this.other.begin()]);
  }

  get #urls(): readonly string[] {
    return [this.steady.url, this.other.url].filter((url) => url !== undefined);
  }

  /** Returns the addresses of both hosts, starting with the n-th. */
  visit(n: number): Place {
    const place = new Place();
    this.moveTo(place, this.#urls[n % this.#urls.length]);
    return place;
  }

  urlOf(place: Place): string | undefined {
    return this.#places.get(place);
  }

  /** Removes the address of a stopped host. */
  moveTo(place: Place, url: string | undefined): void {
    const known = url !== undefined && this.#urls.includes(url) ? url : this.#urls[0];
    this.#places.set(place, known);
    place.moveTo(known);
  }

  leave(place: Place): void {
    place.close();
    this.#places.delete(place);
  }

  /** Kills a host with SIGKILL and starts it again. */
  async kill(host: Host): Promise<void> {
    const gone = host.url;
    await host.end();
    this.killed += 1;
    for (const [place, url] of this.#places) if (url === gone) this.moveTo(place, undefined);
    await pause(awayMs);
    await host.begin();
  }

  /** Bytes of the journal and the files beside it. */
  get fileBytes(): number {
    const names = readdirSync(this.folder).filter((name) => name.startsWith("journal.db"));
    return names.reduce(
      (sum, name) => sum + (statSync(join(this.folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  }

  async end(): Promise<void> {
    for (const place of this.#places.keys()) this.leave(place);
    await Promise.all([this.steady.end(), this.other.end()]);
  }
}
