import { useCase } from "../../app/index.ts";
import { defineCommand } from "../define-command.ts";
import { json } from "../options.ts";

export const historyCommand = defineCommand({
  command: "history <paths..>",
  describe: "Keep runs in one file, and show and gate the trends of their metrics",
  examples: [
    ["gauntlet history gauntlet-runs", "import run folders, and show the trends of what they measured"],
    ["gauntlet history gauntlet-history.db --metric ttft_ms --gate", "what the file has; exit code 1 if it got worse"],
  ],
  builder: (yargs) =>
    yargs
      .positional("paths", {
        type: "string",
        array: true,
        demandOption: true,
        describe: "folders of runs, folders with such folders, or one history file",
      })
      .options({
        db: {
          type: "string",
          default: "gauntlet-history.db",
          requiresArg: true,
          describe: "file into which folders are imported (SQLite)",
        },
        metric: {
          type: "string",
          array: true,
          nargs: 1,
          default: [] as string[],
          describe: "metric to show, or how its name begins; may be repeated",
        },
        since: { type: "string", requiresArg: true, describe: "run id or date: leave older runs out" },
        margin: {
          type: "number",
          default: 10,
          requiresArg: true,
          describe: "smaller changes of latencies and rates do not matter, percent",
        },
        gate: { type: "boolean", default: false, describe: "exit 1 if a metric got worse, 4 if it is not decided" },
        html: { type: "string", requiresArg: true, describe: "file to render the trends into" },
        json,
      }),
  run: async (argv) => (await useCase.history()).history(argv),
});
