import { httpHandler, openApi } from "@pawl/http";
import { nodePlatform } from "@pawl/driver-node";
import { Runtime, memoryJournal } from "@pawl/runtime";

const secret = new Uint8Array(32).fill(7);
const roots = { newest: { kid: "k1", secret } };
const runtime = new Runtime({ journal: memoryJournal(), platform: nodePlatform, tools: [], instance: "i1", roots });
const handler = httpHandler({ runtime, secrets: [secret], log: () => undefined });
const response = await handler(new Request("https://pawl.example/v1/approvals"));
const { code } = (await response.json()) as { readonly code: string };
console.log(response.status, code, (openApi() as { readonly openapi: string }).openapi);
await runtime.close();
