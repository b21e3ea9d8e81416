import {
  baseline,
  defineCommand,
  flag,
  grouped,
  json,
  LENGTHS_S,
  number,
  optionalArray,
  out,
  policy,
  seed,
  text,
  withControl,
} from "../../terminal/index.ts";

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
      ...grouped("Gateways and their upstream", {
        target: {
          type: "string",
          ...optionalArray,
          describe: "target files of the gateways",
        },
        upstream: text("base address of the upstream that the gateways call"),
        direct: text("target file of the upstream, instead of --upstream"),
        start: text("command that starts the first gateway; GAUNTLET_UPSTREAM has the address of its upstream"),
        pid: number("process of the first gateway: its CPU time, memory and open files are measured (Linux)"),
      }),
      ...grouped("Measurement", {
        concurrency: { ...text("numbers of clients, each with one request in flight"), default: "1,8,32,128" },
        "prompt-bytes": {
          ...text("sizes of the prompt; all but the first with the fewest clients only"),
          default: "1000,100000,1000000",
        },
        dialect: {
          type: "string",
          choices: ["chat", "messages"] as const,
          requiresArg: true,
          describe: "default: the first that all gateways serve",
        },
        rounds: { ...number("rounds; in each, every gateway runs a block and the upstream two"), default: 16 },
        "block-s": { ...number("approximate length of a block, seconds", LENGTHS_S), default: 0.4 },
        frontier: {
          type: "boolean",
          default: true,
          describe: "also measure at rising rates; --no-frontier skips it",
        },
        seed,
      }),
      ...grouped("Judging", {
        policy,
        baseline,
        anyway: flag("measure even if the machine is busy; the verdict mentions it"),
      }),
      ...grouped("Output", { json, out }),
    }),
  run: async (argv) => {
    const { overhead } = await import("./run.ts");
    return withControl((control) => overhead(argv, control), { quiet: argv.json });
  },
});
