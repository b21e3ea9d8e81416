import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json, out, seed } from "../options.ts";

export const compareCommand = defineCommand({
  command: "compare [a] [b]",
  describe: "Compare two builds: slower, or behaving differently",
  builder: (yargs) =>
    yargs
      .positional("a", { type: "string", describe: "target file of the first build, or folder of a stored run" })
      .positional("b", { type: "string", describe: "of the second" })
      .options({
        "start-a": { type: "string", requiresArg: true, describe: "command that starts the first build" },
        "start-b": { type: "string", requiresArg: true, describe: "command that starts the second build" },
        pairs: { type: "number", default: 10, requiresArg: true, describe: "rounds in which both run a block" },
        "block-s": { type: "number", default: 10, requiresArg: true, describe: "seconds of a block" },
        rate: { type: "number", requiresArg: true, describe: "requests per second; default from the target's limits" },
        workload: { type: "string", requiresArg: true, describe: "workload file of a block" },
        suites: {
          type: "string",
          array: true,
          nargs: 1,
          default: [] as string[],
          describe: "suite of the behaviour part; may be repeated",
        },
        seed,
        out,
        json,
      }),
  run: async (argv) => {
    const { compare } = await useCase.compare();
    return withControl((control) => compare(argv, control), { quiet: argv.json });
  },
});
