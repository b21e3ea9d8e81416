import { defineCommand, flag, grouped, json, number, out, SEEDS, text, withControl } from "../../terminal/index.ts";

/** `gauntlet size`: which tier a workload needs. */
export const sizeCommand = defineCommand({
  command: "size <workload>",
  describe: "Predict which tier a workload needs, by simulating the limits",
  examples: [
    ["gauntlet size workload.yaml --ttft-ms 400 --tokens-per-s 60", "from assumed speeds"],
    ["gauntlet size workload.yaml --verify --target gauntlet.yaml", "and run it to compare"],
  ],
  builder: (yargs) =>
    yargs
      .positional("workload", { type: "string", demandOption: true, describe: "workload file, or a built-in one" })
      .options({
        ...grouped("Prediction", {
          "ttft-ms": {
            ...number("assumed time to first token, ms", { min: 0, max: 24 * 3_600_000, fractions: true }),
            default: 500,
          },
          "tokens-per-s": { ...number("assumed token rate", { min: 0.001, max: 1e9, fractions: true }), default: 50 },
          seed: { ...number("seed of everything random in the workload", SEEDS), default: 1 },
        }),
        ...grouped("Measurement", {
          verify: flag("run it on an account, and compare the prediction with the measurement"),
          target: text("with --verify: target file"),
          account: { ...text("with --verify: account to load: valid, growth, …"), default: "valid" },
        }),
        ...grouped("Output", {
          json,
          out: { ...out, describe: "folder for result.json and report.html; default: neither is written" },
        }),
      }),
  run: async (argv) => {
    const { size } = await import("./run.ts");
    return withControl((control) => size(argv, control), { quiet: argv.json });
  },
});
