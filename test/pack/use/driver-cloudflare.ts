import { type ObjectState, openScope } from "@pawl/driver-cloudflare";

/** An object without a name, and with nothing stored. */
const nameless: ObjectState = {
  id: {},
  waitUntil: () => undefined,
  storage: {
    sql: { databaseSize: 0, exec: () => ({ toArray: () => [] }) },
    transactionSync: (work) => work(),
    sync: async () => undefined,
    getAlarm: async () => null,
    setAlarm: async () => undefined,
  },
};
const peer = () => ({ deliver: async () => undefined });
const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown ? String(thrown.code) : "none";
try {
  openScope(nameless, { tools: [], peer });
} catch (thrown) {
  const wanted = thrown instanceof Error ? /session:/.exec(thrown.message)?.[0] : "";
  console.log(codeOf(thrown), `${wanted}ann`);
}
