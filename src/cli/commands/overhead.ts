import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { baseline, json, out, policy, seed } from "../options.ts";

export const overheadCommand = defineCommand({
  command: "overhead",
  describe: "Measure what gateways add to the latency of their upstream",
  examples: [
    [
      "gauntlet overhead --target gauntlet.yaml --upstream http://127.0.0.1:9100/upstream/v1",
      "a gateway that calls `gauntlet upstream --port 9100`",
    ],
    [
      "gauntlet overhead --target gauntlet.yaml other.yaml --direct provider.yaml",
      "two gateways in front of another upstream",
    ],
  ],
  builder: (yargs) =>
    yargs.options({
      target: { type: "string", array: true, default: [] as string[], describe: "target files of the gateways" },
      upstream: { type: "string", requiresArg: true, describe: "base address of the upstream that the gateways call" },
      direct: { type: "string", requiresArg: true, describe: "target file of the upstream, in place of --upstream" },
      start: {
        type: "string",
        requiresArg: true,
        describe: "command that starts the first gateway; GAUNTLET_UPSTREAM has the address of its upstream",
      },
      pid: {
        type: "number",
        requiresArg: true,
        describe: "process of the first gateway: its CPU time, memory and open files are measured (Linux)",
      },
      concurrency: {
        type: "string",
        default: "1,8,32,128",
        requiresArg: true,
        describe: "numbers of clients, each with one request in flight",
      },
      "prompt-bytes": {
        type: "string",
        default: "1000,100000,1000000",
        requiresArg: true,
        describe: "sizes of the prompt; all but the first with the fewest clients only",
      },
      dialect: {
        type: "string",
        choices: ["chat", "messages"] as const,
        requiresArg: true,
        describe: "default: the first that all gateways serve",
      },
      rounds: {
        type: "number",
        default: 16,
        requiresArg: true,
        describe: "rounds; in each, every gateway runs a block and the upstream two",
      },
      "block-s": {
        type: "number",
        default: 0.4,
        requiresArg: true,
        describe: "approximate length of a block, seconds",
      },
      frontier: {
        type: "boolean",
        default: true,
        describe: "also measure at rising rates; --no-frontier leaves it out",
      },
      anyway: {
        type: "boolean",
        default: false,
        describe: "measure even if the machine is busy; the verdict mentions it",
      },
      policy,
      baseline,
      seed,
      out,
      json,
    }),
  run: async (argv) => {
    const { overhead } = await useCase.overhead();
    return withControl((control) => overhead(argv, control), { quiet: argv.json });
  },
});
