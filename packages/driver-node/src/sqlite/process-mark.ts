/** Which process holds a lease, so that one that has ended is known at once, before its lease has run out. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Fields of `/proc/<pid>/stat` behind the name, which may hold anything: the state, and when the process began. */
const statOf = (pid: number): { readonly state: string; readonly began: string } | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", began: fields[19] ?? "" };
  } catch {
    return undefined; // No such process, or no such file system: the caller knows which.
  }
};

/** Where process numbers mean the same as here: one boot and one namespace of Linux, or one machine elsewhere. */
const realm = (): string =>
  process.platform === "linux"
    ? `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
    : hostname();

const markOfThis = (): string | undefined => {
  try {
    return [realm(), process.pid, statOf(process.pid)?.began ?? ""].join("|");
  } catch {
    return undefined; // A system that hides such things: its leases run out by the clock.
  }
};
let own: { readonly mark: string | undefined } | undefined;

/** The mark of this process; none where it can not be told from another. It stays the same for as long as that lives. */
export const ownMark = (): string | undefined => (own ??= { mark: markOfThis() }).mark;

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return !(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH");
  }
};

/** Whether the process of a mark has surely ended. Of one in another realm nobody here can say. */
export const hasEnded = (mark: string): boolean => {
  const [where, number, began] = mark.split("|");
  const pid = Number(number);
  if (where !== ownMark()?.split("|")[0] || !Number.isSafeInteger(pid)) return false;
  const stat = statOf(pid);
  if (stat === undefined) return !isThere(pid);
  return stat.began !== began || stat.state === "Z" || stat.state === "X";
};
