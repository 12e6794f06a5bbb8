import { agentHost, defineAgent, scriptedModel } from "@pawl/agent";
import { aiSdkModel } from "@pawl/agent/ai-sdk";
import { openRuntime } from "@pawl/driver-node";

const agent = defineAgent({ model: scriptedModel(["Hello there."]) });
const { runtime, close } = openRuntime({ file: ":memory:", ...agentHost([agent]) });
const turn = agent.turn(await runtime.session("s"), "hi", { id: "t" });
console.log(await turn.text(), typeof aiSdkModel);
await close();
