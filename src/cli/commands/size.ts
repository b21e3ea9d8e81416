import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json } from "../options.ts";

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
      .positional("workload", { type: "string", demandOption: true, describe: "workload file, or a shipped one" })
      .options({
        "ttft-ms": { type: "number", default: 500, requiresArg: true, describe: "assumed time to first token, ms" },
        "tokens-per-s": {
          type: "number",
          default: 50,
          requiresArg: true,
          describe: "assumed token rate",
        },
        verify: {
          type: "boolean",
          default: false,
          describe: "run it on an account, and compare the prediction with the measurement",
        },
        target: { type: "string", requiresArg: true, describe: "with --verify: target file" },
        account: {
          type: "string",
          default: "valid",
          requiresArg: true,
          describe: "with --verify: account to load: valid, growth, …",
        },
        seed: { type: "number", default: 1, requiresArg: true, describe: "seed of everything random in the workload" },
        json,
      }),
  run: async (argv) => {
    const { size } = await useCase.size();
    return withControl((control) => size(argv, control), { quiet: argv.json });
  },
});
