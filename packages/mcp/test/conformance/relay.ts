/** What the suite starts for each client scenario: hands it to the client's process, and ends as it ended there. */
import { request } from "node:http";

const [, , port, url] = process.argv;
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context } = process.env;
const asked = request({ host: "127.0.0.1", port: Number(port), method: "POST" }, (response) => {
  response.pipe(process.stderr);
  response.on("end", () => {
    process.exitCode = response.statusCode === 200 ? 0 : 1;
  });
});
asked.end(JSON.stringify({ url, scenario, context }));
