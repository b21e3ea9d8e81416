import { useCase } from "../../app/index.ts";
import { defineCommand } from "../define-command.ts";
import { flag, json, many, number, text } from "../options.ts";

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
        db: { ...text("file into which folders are imported (SQLite)"), default: "gauntlet-history.db" },
        metric: many("metric to show, or how its name begins; may be repeated"),
        since: text("run id or date: leave older runs out"),
        margin: { ...number("smaller changes of latencies and rates do not matter, percent"), default: 10 },
        gate: flag("exit 1 if a metric got worse, 4 if it is not decided"),
        html: text("file to render the trends into"),
        json,
      }),
  run: async (argv) => (await useCase.history()).history(argv),
});
