import {
  defineCommand,
  grouped,
  json,
  LENGTHS_S,
  many,
  number,
  out,
  seed,
  text,
  withControl,
} from "../../terminal/index.ts";

export const compareCommand = defineCommand({
  command: "compare [a] [b]",
  describe: "Compare two builds of a gateway, or two stored runs: speed and behaviour",
  examples: [
    [
      'gauntlet compare old.yaml new.yaml --start-a "node old/server.js" --start-b "node new/server.js"',
      "two builds; without the --start options, they must already be running",
    ],
    ["gauntlet compare gauntlet-runs/before gauntlet-runs/after", "two stored runs"],
  ],
  builder: (yargs) =>
    yargs
      .positional("a", { type: "string", describe: "target file of the first build, or folder of a stored run" })
      .positional("b", { type: "string", describe: "the same for the second build" })
      .options({
        ...grouped("Starting the builds", {
          "start-a": text(
            "command that starts the first build; unless <a> names its target file, it must start `gauntlet gateway`",
          ),
          "start-b": text("the same for the second build"),
        }),
        ...grouped("Load", {
          pairs: {
            ...number(
              "rounds, at least 10; in each, the first build runs two blocks (one is the control), and the second build runs one",
              { min: 1, max: 10_000 },
            ),
            default: 10,
          },
          "block-s": { ...number("length of a block, seconds", LENGTHS_S), default: 10 },
          rate: number("requests per second; default: from the limits of the target", {
            min: 0,
            max: 1e9,
            fractions: true,
          }),
          workload: text("workload file that each block runs"),
          seed,
        }),
        ...grouped("Stored runs", {
          "noise-factor": number(
            "a latency counts as changed only beyond this factor; default: 2.5, for runs on different days",
            { min: 1.1, max: 100, fractions: true },
          ),
        }),
        ...grouped("Behaviour", { suites: many("suite whose behaviour is compared; may be repeated") }),
        ...grouped("Output", { json, out }),
      }),
  run: async (argv) => {
    const { compare } = await import("./run.ts");
    return withControl((control) => compare(argv, control), { quiet: argv.json });
  },
});
