import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json } from "../options.ts";

/** `gauntlet size`: which tier a workload needs. */
export const sizeCommand = defineCommand({
  command: "size <workload>",
  describe: "Tell which tier a workload needs, by simulation of the limits; --verify runs it",
  builder: (yargs) =>
    yargs
      .positional("workload", { type: "string", demandOption: true, describe: "workload file, or a shipped one" })
      .options({
        "ttft-ms": { type: "number", default: 500, requiresArg: true, describe: "time to first token that is assumed" },
        "tokens-per-s": {
          type: "number",
          default: 50,
          requiresArg: true,
          describe: "pace of the tokens that is assumed",
        },
        verify: {
          type: "boolean",
          default: false,
          describe: "run it on the account, and predict again with what was measured",
        },
        target: { type: "string", requiresArg: true, describe: "with --verify: target file" },
        account: { type: "string", default: "valid", requiresArg: true, describe: "with --verify: valid, a tier, …" },
        seed: { type: "number", default: 1, requiresArg: true, describe: "seed of what is random in the workload" },
        json,
      }),
  run: async (argv) => {
    const { size } = await useCase.size();
    return withControl((control) => size(argv, control), { quiet: argv.json });
  },
});
