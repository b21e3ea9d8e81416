import { join } from "node:path";
import type { Gateway, GatewayRun } from "./gateway.ts";
import { inferrail } from "./inferrail.ts";
import { litellm } from "./litellm.ts";
import { startProgram } from "./program.ts";

/** The suites that compare what a gateway does, and what it records, with what its providers saw. */
const RUNS: readonly GatewayRun[] = ["upstream", "ledger"].map((suite) => ({
  name: suite,
  command: ["conform", suite, "--target", "upstream.yaml"],
  mustDecide: true,
}));

/** An edit of a configuration: the address in `field` becomes that of the provider of `gauntlet upstream`. */
function toUpstream(file: string, field: string) {
  const address = new RegExp(`(${field}: "http://[^"/]+)`, "g");
  return (path: string, text: string) => (path === file ? text.replaceAll(address, "$1/upstream") : text);
}

/** LiteLLM, with its spend logs as the ledger. */
export const litellmScripted: Gateway = {
  ...litellm,
  name: "litellm-upstream",
  title: "LiteLLM, scripted provider",
  example: { name: "litellm", edit: toUpstream("config.yaml", "api_base") },
  expected: "expected-upstream.yaml",
  scripted: true,
  onlyByName: true,
  runs: RUNS,
  profiles: undefined,
};

/** One process of inferrail, with its receipts as the ledger. */
export const inferrailScripted: Gateway = {
  ...inferrail,
  name: "inferrail-upstream",
  title: "inferrail, scripted provider",
  example: { name: "inferrail", edit: toUpstream("inferrail.yaml", "base_url") },
  expected: "expected-upstream.yaml",
  otherPorts: [],
  scripted: true,
  runs: RUNS,
  profiles: undefined,
  async start({ example, tools, logs, port, env }) {
    const serve = [join(tools, "inferrail", "bin", "inferrail"), "serve", "--config", "inferrail.yaml"];
    const program = startProgram({
      name: "inferrail",
      // Only in this mode can receipts be read over HTTP. Its data folder also has the token for them.
      command: [
        "sh",
        "-c",
        `INFERRAIL_GATEWAY_TOKEN=$(cat keys/valid.key) exec ${serve.join(" ")} --app-mode --port ${port}`,
      ],
      cwd: example,
      logs,
      env: { ...env, XDG_DATA_HOME: join(example, "data") },
    });
    await program.untilReady(`http://127.0.0.1:${port}/health`, 60_000);
    return program;
  },
};
