import { Client } from "@pawl/wire";
import { closeCodes, protocolVersion } from "@pawl/wire/frame";

const session = new Client({ url: "ws://127.0.0.1:1", token: "t" }).session("s");
console.log(typeof session.call, protocolVersion, closeCodes.unauthorized);
process.exit(); // It would go on trying to connect.
