import { useCase } from "../../app/index.ts";
import { defineCommand } from "../define-command.ts";
import { json } from "../options.ts";

export const historyCommand = defineCommand({
  command: "history <paths..>",
  describe: "Store runs in one file, and show how their metrics change over time",
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
          describe: "metric to show, or a prefix of metric names; may be repeated",
        },
        since: { type: "string", requiresArg: true, describe: "run id or date: leave older runs out" },
        margin: {
          type: "number",
          default: 10,
          requiresArg: true,
          describe: "smaller changes of latencies and rates are ignored, percent",
        },
        gate: {
          type: "boolean",
          default: false,
          describe: "exit code 1 if a metric got worse, 4 if one is not decided",
        },
        html: { type: "string", requiresArg: true, describe: "HTML file to write the trends to" },
        json,
      }),
  run: async (argv) => (await useCase.history()).history(argv),
});
